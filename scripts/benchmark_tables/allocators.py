"""The tables allocators/NAME and the pages in docs/allocator-benchmarks: results of dynasoar-allocator-benchmark.

docs/allocator-benchmarks.md has the tables, which compare SoaAllocator with the best of the other allocators. Each experiment has a page
with all that it has measured. scripts/make-tables writes both; published.py links to the pages.
"""

import benchmark_results

from .applications import APPLICATIONS, TIME
from .cells import NO_VALUE, grouped, markdown, ratio, rounded_or_none, with_unit, without_repetition
from .records import NOT_FINISHED, Problem, check_table, origin

PAGE = "docs/allocator-benchmarks.md"
PAGES = "docs/allocator-benchmarks"  # folder of the pages of experiments, to which PAGE links
PREFIX = "allocators/"
MAX_COLUMNS = 6  # values of parameters that a page of an experiment shows


def evenly_chosen(items, most):
    """At most so many of the items, the first and the last among them."""
    if len(items) <= most:
        return items
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def parameter_texts(records):
    """What tells a record's place in its series, and the places' texts in their order, without what all have in common."""
    names = sorted({name for record in records for name in record["parameters"]})
    varied = [name for name in names if len({record["parameters"].get(name) for record in records}) > 1]

    def key(record):
        return tuple((name, record["parameters"].get(name, 0)) for name in varied)

    texts = {key(record): ", ".join(f"{name} {value}" for name, value in key(record)) for record in records}
    return key, dict(sorted(texts.items()))


def shared_parameters(records):
    """`MiB 1024, bytes 64`: what is the same in all records."""
    first = records[0]["parameters"]
    shared = {name: value for name, value in first.items()
              if all(record["parameters"].get(name) == value for record in records)}
    return ", ".join(f"{name} {value}" for name, value in sorted(shared.items()))


def metric_table(experiment, metric, records):
    """A row for each allocator, in the order of the results, a column for each value of the parameters."""
    key, texts = parameter_texts(records)
    columns = evenly_chosen(list(texts), MAX_COLUMNS)
    medians = {(record["variant"], key(record)): record["median"] for record in records}
    rows = [[allocator, *(rounded_or_none(medians.get((allocator, column))) for column in columns)]
            for allocator in without_repetition(record["variant"] for record in records)]
    shared = shared_parameters(records)
    unit = f" in {records[0]['unit']}" if records[0]["unit"] else ""
    title = f"`{experiment}`: **{metric}**{unit}" + (f" ({shared})" if shared else "")
    return title + ":\n\n" + markdown(["allocator", *(texts[column] or "median" for column in columns)], rows)


def experiment_records(experiment, device, results):
    """The records of an experiment, which has to be of one run."""
    records = [record for record in results if record["benchmark"] == experiment]
    if not records:
        raise Problem(f"no results of the experiment '{experiment}' on {device}; run dynasoar-allocator-benchmark there")
    origins = without_repetition(origin(record) for record in records)
    if len(origins) > 1:
        raise Problem(f"the experiment {experiment} needs results of one run, and these are of several: "
                      + " | ".join(origins))
    return records


def line_of_origin(records):
    most = max(record["repetitions"] for record in records)
    return f"{origin(records[0])}, " + (f"up to {most} repetitions." if most > 1 else "measured once.")


def experiment_tables(experiment, device, results):
    """All that an experiment has measured on a device: a table for each metric, and which allocators did not finish."""
    records = experiment_records(experiment, device, results)
    measured = [record for record in records if record["metric"] != NOT_FINISHED]
    parts = [metric_table(experiment, metric, [record for record in measured if record["metric"] == metric])
             for metric in without_repetition(record["metric"] for record in measured)]
    stopped = {}
    for record in records:
        if record["metric"] == NOT_FINISHED:
            stopped.setdefault(record["unit"], []).append(record["variant"])
    parts += [f"{', '.join(allocators)}: {reason}." for reason, allocators in stopped.items()]
    return "\n\n".join([*parts, line_of_origin(records)])


def page_of_experiment(experiment):
    return f"{PAGES}/{experiment.replace('_', '-')}.md"


def experiment_pages(devices, page):
    """File -> text of the page of each experiment. @param page   the text that has to link to all of them, or None"""
    pages = {}
    for experiment in without_repetition(record["benchmark"] for results in devices.values() for record in results):
        file = page_of_experiment(experiment)
        link = file.removeprefix("docs/")
        if page is not None and f"({link})" not in page:
            raise Problem(f"{PAGE} does not link to {link}, the page of the experiment {experiment}; add a link")
        tables = [experiment_tables(experiment, device, results) for device, results in sorted(devices.items())
                  if any(record["benchmark"] == experiment for record in results)]
        pages[file] = "\n\n".join([
            f"# Allocators compared: {experiment}",
            f"After reading this page you know all results of the experiment `{experiment}`, for each allocator. "
            "[Allocators compared](../allocator-benchmarks.md) says what it measures, and has the chart. `scripts/make-tables` writes "
            "this page.", *tables]) + "\n"
    return pages


PLACED = "_placed"  # ends the names of experiments with objects on a lattice, which may be missing

# What allocators/summary compares: a row's text, experiment, metric and parameters that have to be equal.
COMPARISONS = [
    *((f"application: {app['name']}", f"application_{benchmark}", TIME, {}) for benchmark, app in APPLICATIONS.items()
      if benchmark not in ("schelling", "flocking", "epidemic", "ants", "tumour", "forest_fire", "life_soups")),
    *((f"application: {app['name']}, on a lattice", f"application_{benchmark}{PLACED}", TIME, {})
      for benchmark, app in APPLICATIONS.items()
      if benchmark not in ("n_body", "collision", "structure", "flocking", "epidemic", "ants", "tumour", "life_soups")),
    *((f"creating and deleting an object, 16 384 threads with {count} each", "linux_scalability", "allocation and deallocation",
       {"objects per thread": count}) for count in (1, 4, 16, 64, 256, 512, 1024)),
    *((f"creating and deleting an object, {grouped(threads)} threads with {2**23 // threads} each", "linux_scalability_threads",
       "allocation and deallocation", {"threads": threads}) for threads in (8192, 32768, 131072, 524288)),
    *((f"heap used when the first object is refused, objects of {classes}", "memory_usage", "heap used at the first refusal",
       {"classes": count}) for classes, count in (("one class", 1), ("three classes", 3))),
    ("cells of the largest Wa-Tor in 64 MiB", "largest_ocean", "cells", {}),
    *((f"loop over {grouped(2**22)} objects {when}", "enumeration", f"loop {when}", {"objects": 2**22})
      for when in ("after changes", "without changes"))]

# Billion allocations per second that others measured with public implementations on an H200, at 2^16 and 2^20 threads.
PUBLIC_RATES = {"scatter": (8.4, 26), "scatter-separate": (5.1, 0.42), "halloc": (2.6, 2.6), "xmalloc": (0.07, 0.15),
                "circular": (0.001, None), "circular-fused": (0.001, None), "circular-multi": (0.18, 0.025),
                "circular-fused-multi": (0.22, 0.007), "toolkit-bare": (0.013, 0.0035)}
OURS = "soa"


def records_of(experiment, metric, parameters, device, results):
    """Allocator -> its record."""
    return {record["variant"]: record for record in experiment_records(experiment, device, results)
            if record["metric"] == metric and parameters.items() <= record["parameters"].items()}


def summary(device, results):
    rows = []
    for label, experiment, metric, parameters in COMPARISONS:
        if experiment.endswith(PLACED) and all(record["benchmark"] != experiment for record in results):
            continue
        records = records_of(experiment, metric, parameters, device, results)
        if OURS not in records or len(records) < 2:
            raise Problem(f"the experiment {experiment} has no '{metric}' of {OURS} and another allocator with {parameters} on "
                          f"{device}; run scripts/benchmark --allocators")
        ours = records.pop(OURS)
        less = benchmark_results.less_is_better(ours)
        best = (min if less else max)(records.values(), key=lambda record: record["median"])
        rows.append([label, with_unit(ours), with_unit(best), best["variant"],
                     ratio(best, ours) if less else ratio(ours, best)])
    return ["measured", "`SoaAllocator`", "best of the others", "which", "`SoaAllocator` is better by a factor of"], rows


def public_implementations(device, results):
    rows = []
    found = [records_of("threads", "allocations", {"bytes": 64, "threads": threads}, device, results)
             for threads in (2**16, 2**20)]
    for allocator, public in PUBLIC_RATES.items():
        rows.append([allocator])
        for records, theirs in zip(found, public):
            ours = records.get(allocator)
            rows[-1] += [with_unit(ours) if ours else NO_VALUE, f"{theirs} G/s" if theirs else NO_VALUE]
    return ["allocator", "65 536 threads", "public implementation", "1 048 576 threads", "public implementation"], rows


TABLES = {"summary": summary, "public": public_implementations}


def table(name, devices):
    """A table of TABLES for each device."""
    check_table(PREFIX, name, TABLES)
    return "\n\n".join(f"{markdown(*TABLES[name](device, results))}\n\n{line_of_origin(results)}"
                       for device, results in sorted(devices.items()))
