"""Results of dynasoar-benchmark on GPUs, and the tables made of them: all whose names have no `/`.

loops.py, heap.py, applications.py and flame_gpu.py say which results there are, and make the tables; those of several kinds
of benchmarks are here: docs/benchmarks.md and docs/checked-builds.md have them. scripts/make-tables reads the results and
writes the tables; published.py compares claims with the results.
"""

from . import applications, flame_gpu, heap, loops
from .applications import TIME
from .cells import NO_VALUE, markdown, ratio, rounded, text_of_size, with_unit
from .records import FILES_OF_OTHER_PROGRAMS, RESULTS, NotMeasured, Problem, gpu_records, name_of, origin, repetitions, result_files

BENCHMARKS = loops.BENCHMARKS | heap.BENCHMARKS | applications.BENCHMARKS | flame_gpu.BENCHMARKS
# What is also measured in a checked build; its records have "checked " in front of the benchmark's name.
BENCHMARKS |= {f"checked {benchmark}": BENCHMARKS[benchmark] for benchmark in ("field_loop", "allocation", "wa_tor")}

# Variants that results may lack because they are new. Tables leave them out then.
NEW_VARIANTS = loops.NEW_VARIANTS | applications.NEW_VARIANTS
# Variants that are no longer there, but in older results. New results lack them.
OLD_VARIANTS = applications.OLD_VARIANTS


def check_known(record, path):
    benchmark = record["benchmark"]
    if benchmark not in BENCHMARKS:
        raise Problem(f"{path}: unknown benchmark '{benchmark}'; known are {', '.join(BENCHMARKS)}")
    for field, known in zip(("variant", "metric", "parameters"), BENCHMARKS[benchmark]):
        if record[field] not in known:
            raise Problem(f"{path}: {benchmark} has an unknown {field}: {record[field]}; run the benchmark {benchmark} at "
                          "its full size (scripts/benchmark), or teach scripts/make-tables")


def read(root):
    """Device -> name of a record -> the records of that name, the newest first: of one day, the last in the files."""
    elsewhere = {path for pattern in FILES_OF_OTHER_PROGRAMS for path in result_files(root, pattern)}
    devices = {}
    for path, record in gpu_records(path for path in result_files(root, "*.json") if path not in elsewhere):
        check_known(record, path)
        name = name_of(record["benchmark"], record["variant"], record["parameters"], record["metric"])
        others = devices.setdefault(record["device"], {}).setdefault(name, [])
        if any((other["date"], other["commit"]) == (record["date"], record["commit"]) for other in others):
            raise Problem(f"{path}: there are two results of {record['date']} for '{name}' on {record['device']}; "
                          "remove one")
        others.insert(0, record)
        others.sort(key=lambda other: other["date"], reverse=True)
    if not devices:
        raise Problem(f"no results of an NVIDIA GPU in {root / RESULTS}; run scripts/benchmark on a machine that has one")
    return devices


def summary(find, _):
    rows = []
    for loop in loops.LOOPS:
        objects, by_hand = (find("field_loop", f"{loop} {how}", loops.FIELD_LOOP.parameters[0], "useful bandwidth")
                            for how in ("objects", "by hand"))
        rows.append([f"loop over objects, {loop}", with_unit(objects),
                     f"{with_unit(by_hand)} with hand-written arrays: {ratio(objects, by_hand)} times as fast"])
    size = heap.ALLOCATION.parameters[-1]
    objects = f"{rounded(size['objects'] / 1e6)} million objects of {size['bytes']} bytes"
    used = with_unit(find("allocation", "block use", size, "slots used"))
    rows.append([f"creating {objects}", with_unit(find("allocation", "create", size, "rate")), f"{used} of the slots used"])
    rows.append([f"deleting {objects}", with_unit(find("allocation", "delete", size, "rate")), NO_VALUE])
    empty, recorded = (find("empty_loop", variant, loops.EMPTY_LOOP.parameters[0], "time per loop")
                       for variant in ("parallel_do", "parallel_do, recorded"))
    rows.append(["loop without objects", with_unit(empty), f"{with_unit(recorded)} in a recorded step"])
    return ["measured", "result", "compared with"], rows


def checked(find, _):
    """What the same work costs in a checked build: two programs, run one after the other."""
    rows = []

    def compare(label, benchmark, variant, parameters, metric, time_like):
        with_checks = find(f"checked {benchmark}", variant, parameters, metric)
        without = find(benchmark, variant, parameters, metric, beside=with_checks)
        factor = ratio(with_checks, without) if time_like else ratio(without, with_checks)
        rows.append([label, with_unit(without), with_unit(with_checks), factor])

    for loop in loops.LOOPS:
        compare(f"loop over objects, {loop}", "field_loop", f"{loop} objects", loops.FIELD_LOOP.parameters[0],
                "useful bandwidth", False)
    for variant in ("create", "delete"):
        compare(f"{variant}, 2^25 objects", "allocation", variant, heap.ALLOCATION.parameters[-1], "rate", False)
    size = applications.APPLICATIONS["wa_tor"]["sizes"][0]
    for variant in ("agents as objects", "cells and agents as objects"):
        compare(f"Wa-Tor, {text_of_size(size)}, {variant}", "wa_tor", variant, size, TIME, True)
    return ["measured", "without checks", "checked", "times as slow"], rows


TABLES = {"summary": summary, **loops.TABLES, **heap.TABLES, **applications.TABLES, "checked": checked}

# Tables that say so where nothing was measured yet.
MAY_BE_MISSING = [*applications.APPLICATIONS, "request_shapes", "small_models", "sort", "become", "collective_allocations"]

# Tables that compare nothing from one row to the next: each benchmark's results are of one run.
INDEPENDENT_ROWS = ["applications"]


def table_of_device(name, device, records):
    origins = {}  # of results: benchmarks
    counts = set()  # of repetitions

    def find(*key, beside=None):
        """The newest record, or, if there is one, that of the run which `beside` is of; None for new variants."""
        found = records.get(name_of(*key), [])
        record = next((one for one in found if beside and origin(one) == origin(beside)), next(iter(found), None))
        if record is None and key[1] in NEW_VARIANTS | OLD_VARIANTS:
            return None
        if record is None:
            problem = Problem if any(name.startswith(f"{key[0]}, ") for name in records) else NotMeasured
            script = "scripts/time-collective runs it" if key[0] == "collective_allocations" else "scripts/benchmark runs all"
            raise problem(f"no result for '{name_of(*key)}' on {device}; run the benchmark {key[0]} there ({script})")
        origins.setdefault(origin(record), set()).add(key[0])
        counts.add(record["repetitions"])
        return record

    try:
        header, rows = TABLES[name](find, device)
    except NotMeasured:
        if name not in MAY_BE_MISSING:
            raise
        return f"Not measured on {device} yet."
    text = markdown(header, rows)
    if len(origins) == 1:
        return f"{text}\n\n{next(iter(origins))}, {repetitions(counts)}"
    benchmarks = [benchmark for names in origins.values() for benchmark in names]
    if name not in INDEPENDENT_ROWS or len(benchmarks) != len(set(benchmarks)):
        raise Problem(f"the table {name} needs results of one run, and these are of several; run scripts/benchmark: "
                      + " | ".join(sorted(origins)))
    return text + "".join(f"\n\n{', '.join(sorted(origins[line]))}: {line}, {repetitions(counts)}" for line in sorted(origins))


def table(name, devices):
    """A table of TABLES for each device. @param devices   what read() returns"""
    return "\n\n".join(table_of_device(name, device, devices[device]) for device in sorted(devices))
