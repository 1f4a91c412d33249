"""The tables originals/NAME and originals-later/NAME: allocators of other authors beside ours in the same kernels.

benchmarks/results/*-originals.json have the results, *-originals-later.json those of a later run of some allocators. scripts/make-tables
writes the tables to docs/allocator-benchmarks/originals*.md. A variant is `NAME, ours`, `NAME, original` or `NAME, toolkit`.
"""

import statistics

from .allocators import OURS
from .cells import NO_VALUE, grouped, markdown, ratio, rounded, rounded_or_none, spread, with_unit, without_repetition
from .records import NOT_FINISHED, ORIGINAL_FILES, Problem, check_table, origin

# Ours and an original that are of one paper.
PAPER_PAIRS = [("scatter", "scatteralloc"), ("scatter", "mallocmc-xmallocsimd"), ("scatter-separate", "mallocmc-noop"),
                ("halloc", "halloc"), ("xmalloc", "xmalloc"), ("circular", "regeff-cmalloc"), ("circular-fused", "regeff-cfmalloc"),
                ("circular-multi", "regeff-cmmalloc"), ("circular-fused-multi", "regeff-cfmmalloc")]
OUROBOROS = [f"ouroboros-{kind}{queue}" for kind in ("page", "chunk") for queue in ("", "-va", "-vl")]
RW_MALLOC_PAIRS = [("rw-malloc", original) for original in OUROBOROS]
FAULTS = {"refused": "refused requests although memory was free", "damaged": "overwritten memory",
          "misaligned": "addresses that are not multiples of 16 bytes"}
SMALLEST_LOSS = 0.5  # percentage points of a heap that is filled a second time
FAULTY, STOPPED, FAILED = "†", "stopped", "CUDA error"  # in the place of a figure
HEAP_USE, HEAP_USED = "heap_use", "heap used at the first refusal"


def configuration(record):
    """What was measured where: experiment, bytes (0 of mixed sizes), threads (0 of all)."""
    return record["benchmark"], record["parameters"].get("bytes", 0), record["parameters"].get("threads", 0)


def text_of_configuration(bytes_of_piece, threads):
    texts = [f"{bytes_of_piece} bytes"] if bytes_of_piece else []
    return ", ".join([*texts, *([f"{grouped(threads)} threads"] if threads else [])])


class Originals:
    """The results of one file: the allocators of other authors and ours, measured by one program."""

    def __init__(self, files, device, records):
        for record in records:
            if record["variant"].rpartition(", ")[2] not in ("ours", "original", "toolkit"):
                raise Problem(f"a result of {files} is of '{record['variant']}', which must end with ', ours', "
                              "', original' or ', toolkit'")
        runs = without_repetition(origin({**record, "commit": "" if record["variant"].endswith(", original") else record["commit"]})
                                  for record in records)
        ours = [record for record in records if record["variant"].endswith(", ours")]
        if len({run.rpartition(", commit")[0] for run in runs}) > 1 or len({record["commit"] for record in ours}) != 1:
            raise Problem(f"results of {files} for {device} must be of one run and one commit of ours, and these are of "
                          "several: " + " | ".join(runs))
        self.line = (f"{origin(ours[0])} of our allocators, up to {max(record['repetitions'] for record in records)} repetitions.")
        self.records = records
        self.times = {(record["variant"], record["metric"], *configuration(record)): record for record in records if record["unit"] == "ns"}
        self.reasons = [record for record in records if record["metric"] == NOT_FINISHED]
        self.faulty = {(record["variant"], *configuration(record)) for record in records
                       if record["metric"].split(", ")[0] in ("refused", "damaged")}
        self.variants = [variant for variant in without_repetition(record["variant"] for record in records)
                         if any(record["variant"] == variant and record["metric"] != NOT_FINISHED for record in records)]

    def rows(self):
        """(benchmark, metric, bytes, threads) of all times, in the order of SoaAllocator's results, or of ours if there are none."""
        of_soa = [key[1:] for key in self.times if key[0] == f"{OURS}, ours"] or without_repetition(
            key[1:] for key in self.times if key[0].endswith(", ours"))
        kernels = without_repetition((benchmark, metric) for metric, benchmark, _, _ in of_soa)
        return [(benchmark, metric, size, threads) for benchmark, metric in kernels
                for size, threads in sorted(key[2:] for key in of_soa if key[:2] == (metric, benchmark))]

    def time(self, variant, row):
        """The record of a time that was measured without requests refused or memory damaged, else None."""
        benchmark, metric, size, threads = row
        return None if (variant, benchmark, size, threads) in self.faulty else self.times.get((variant, metric, benchmark, size, threads))

    def placeholder(self, variant, benchmark, size, threads):
        """What stands in the place of a figure that is missing."""
        for record in self.reasons:
            if record["variant"] == variant and configuration(record)[:2] == (benchmark, size) and configuration(record)[2] <= threads:
                return STOPPED if record["unit"].startswith("stopped") else FAILED
        return NO_VALUE

    def cell(self, variant, row):
        benchmark, metric, size, threads = row
        record = self.times.get((variant, metric, benchmark, size, threads))
        if record is None:
            return self.placeholder(variant, benchmark, size, threads)
        return rounded(record["median"]) + ("" if self.time(variant, row) else f" {FAULTY}")


def figures(run):
    """A table for each metric of each experiment: a row for each allocator, a column for each size."""
    paired = without_repetition(name for ours, original in PAPER_PAIRS for name in (f"{ours}, ours", f"{original}, original"))
    order = [f"{OURS}, ours", *paired]
    variants = sorted((variant for variant in run.variants if not variant.startswith("none,")),
                      key=lambda variant: order.index(variant) if variant in order else len(order))
    tables = []
    for benchmark, metric in without_repetition(row[:2] for row in run.rows()):
        places = [row[2:] for row in run.rows() if row[:2] == (benchmark, metric)]
        rows = [[variant, *(run.cell(variant, (benchmark, metric, *one)) for one in places)] for variant in variants]
        tables.append(f"`{benchmark}`: **{metric}** in ns:\n\n"
                      + markdown(["allocator", *(text_of_configuration(*one) for one in places)], rows))
    return "\n\n".join(tables)


def ratios(run, pairs):
    """How many times as long an original takes as ours, a column for each pair that ran."""
    pairs = [(f"{ours}, ours", f"{original}, original") for ours, original in pairs
             if f"{ours}, ours" in run.variants and f"{original}, original" in run.variants]
    rows = []
    for row in run.rows():
        benchmark, metric, size, threads = row
        cells = []
        for ours, original in pairs:
            if run.time(ours, row) and run.time(original, row):
                cells.append(ratio(run.time(original, row), run.time(ours, row)))
            else:
                missing = ours if not run.time(ours, row) else original
                cells.append(FAULTY if (missing, metric, benchmark, size, threads) in run.times
                             else run.placeholder(missing, benchmark, size, threads))
        rows.append([f"`{benchmark}`, {metric}", size or "mixed", grouped(threads), *cells])
    names = [f"{original.split(',')[0]} / {ours.split(',')[0]}" for ours, original in pairs]
    return markdown(["measured", "bytes", "threads", *names], rows)


def summary(run, pairs):
    """How often which of two allocators is faster. Overlapping ranges do not count for either."""
    rows = []
    for ours, original in pairs:
        times = [(run.time(f"{ours}, ours", row), run.time(f"{original}, original", row)) for row in run.rows()]
        times = [(mine, theirs) for mine, theirs in times if mine and theirs]
        if not times:
            continue
        factors = sorted(theirs["median"] / mine["median"] for mine, theirs in times)
        faster = sum(mine["maximum"] < theirs["minimum"] for mine, theirs in times)
        slower = sum(theirs["maximum"] < mine["minimum"] for mine, theirs in times)
        rows.append([original, ours, f"{len(times)} of {len(run.rows())}", faster, slower, len(times) - faster - slower,
                     rounded(factors[0]), rounded(statistics.median(factors)), rounded(factors[-1])])
    return markdown(["original", "ours", "compared", "ours faster", "original faster", "ranges overlap",
                     "original / ours, least", "original / ours, median", "original / ours, most"], rows)


def pairs_with_soa(run):
    return [(OURS, variant.removesuffix(", original")) for variant in run.variants if variant.endswith(", original")]


def beside_soa(run):
    """SoaAllocator beside the fastest of the others' allocators that neither refused requests nor damaged memory there."""
    rows = []
    for row in run.rows():
        soa = run.time(f"{OURS}, ours", row)
        found = [record for record in (run.time(variant, row) for variant in run.variants if variant.endswith(", original")) if record]
        if soa is None or not found:
            continue
        best = min(found, key=lambda record: record["median"])
        worst = max(found, key=lambda record: record["median"])
        rows.append([f"`{row[0]}`, {row[1]}", row[2] or "mixed", grouped(row[3]), with_unit(soa), len(found), with_unit(best),
                     best["variant"].split(",")[0], ratio(best, soa), ratio(worst, soa)])
    return markdown(["measured", "bytes", "threads", "`SoaAllocator`", "originals with a figure", "fastest of them", "which",
                     "fastest / `SoaAllocator`", "slowest / `SoaAllocator`"], rows)


def heap_use(run):
    used = {(record["variant"], record["parameters"]["bytes"], record["metric"]): record for record in run.records
            if record["benchmark"] == HEAP_USE and record["unit"] == "%"}
    sizes = sorted({size for _, size, _ in used})
    columns = [(size, metric) for size in sizes for metric in (HEAP_USED, f"{HEAP_USED}, second time")]
    rows = []
    for variant in run.variants:
        if variant.endswith(", toolkit"):
            continue
        rows.append([variant, *(f"{rounded_or_none(used[variant, *column]['median'])} %" if (variant, *column) in used
                                else run.placeholder(variant, HEAP_USE, column[0], 2**31) for column in columns)])
    return markdown(["allocator", *(f"{size} bytes{', second time' if 'second' in metric else ''}" for size, metric in columns)], rows)


def faults(run):
    """A row for each thing that an allocator did: who, what, where."""
    rows = {}
    filled = {(record["variant"], record["parameters"]["bytes"]): record["median"] for record in run.records if record["metric"] == HEAP_USED}
    for record in run.records:
        what, _, when = record["metric"].partition(", ")
        benchmark, size, threads = configuration(record)
        where = text_of_configuration(size, threads)
        if what == "misaligned":
            rows.setdefault((record["variant"], FAULTS[what]), {}).setdefault(benchmark, set()).add(where)
        elif record["metric"] == f"{HEAP_USED}, second time":
            first = filled[record["variant"], size]
            if record["median"] < first - SMALLEST_LOSS:
                rows.setdefault((record["variant"], "could use less of the heap the second time"), {}).setdefault(
                    benchmark, []).append(f"{size} bytes: {rounded(first)} %, then {rounded_or_none(record['median'])} %")
        elif what in FAULTS:
            text = f"{where}: {record['median']:.0f}" + (f" in all {when}" if when == "timed runs" else f" {when}" if when else "")
            rows.setdefault((record["variant"], FAULTS[what]), {}).setdefault(benchmark, []).append(text)
        elif what == NOT_FINISHED:
            reason = record["unit"].replace("stopped after", "did not finish within")
            rows.setdefault((record["variant"], reason), {}).setdefault(benchmark, []).append(where)

    def text(benchmark, places):
        sizes = f" ({len(places)} {'size' if len(places) == 1 else 'sizes'})" if isinstance(places, set) else f" ({'; '.join(places)})" if any(places) else ""
        return f"`{benchmark}`{sizes}"

    return markdown(["allocator", "fault", "where"],
                    [[variant, what, NO_VALUE if "all" in found else ", ".join(text(*one) for one in found.items())]
                     for (variant, what), found in sorted(rows.items(), key=lambda row: [*run.variants, row[0][0]].index(row[0][0]))])


def faster_originals(run):
    """Where the slowest run of an original took less time than the fastest of ours."""
    rows = []
    for ours, original in PAPER_PAIRS:
        found = {}
        for row in run.rows():
            mine, theirs = run.time(f"{ours}, ours", row), run.time(f"{original}, original", row)
            if mine and theirs and theirs["maximum"] < mine["minimum"]:
                found.setdefault(row[:2], []).append((mine["median"] / theirs["median"], text_of_configuration(*row[2:])))
        for (benchmark, metric), places in found.items():
            rows.append([original, ours, f"`{benchmark}`, {metric}", "; ".join(f"{text}: {rounded(factor)}" for factor, text in places),
                         max(places)[0]])
    rows.sort(key=lambda row: row[-1], reverse=True)
    return markdown(["original", "ours", "measured", "ours / original"], [row[:-1] for row in rows])


def empty_kernel(run):
    found = sorted(((key[4], record) for key, record in run.times.items() if key[0] == "none, toolkit"), key=lambda one: one[0])
    return markdown(["threads", "time per thread", "min to max"],
                    [[grouped(threads), with_unit(record), spread(record)[1]] for threads, record in found])


TABLES = {"empty_kernel": empty_kernel, "rw_malloc_summary": lambda run: summary(run, RW_MALLOC_PAIRS),
          "summary": lambda run: summary(run, PAPER_PAIRS), "soa_summary": lambda run: summary(run, pairs_with_soa(run)),
          "figures": figures, "ratios": lambda run: ratios(run, PAPER_PAIRS), "rw_malloc": lambda run: ratios(run, RW_MALLOC_PAIRS),
          "soa": beside_soa, "heap_use": heap_use, "faults": faults, "faster": faster_originals}


def table(prefix, name, devices):
    """The table originals/NAME or originals-later/NAME for each device."""
    check_table(prefix, name, TABLES)
    runs = [Originals(ORIGINAL_FILES[prefix], device, records) for device, records in sorted(devices.items())]
    return "\n\n".join(f"{TABLES[name](run)}\n\n{run.line}" for run in runs)
