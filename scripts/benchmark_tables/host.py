"""The tables host/NAME: loops, allocation and lattices on CPUs, which `scripts/benchmark --host` measures, and times of compilers, of
scripts/compile-times. scripts/make-tables writes them to docs/benchmarks-cpu.md.
"""

import benchmark_results

from .cells import grouped, markdown, ratio, rounded, text_of_size, with_unit, without_repetition
from .records import HOST_FILES, Problem, check_table, repetitions, result_files

PREFIX = "host/"
MAY_BE_MISSING = ["host_lattices"]  # benchmarks that are newer than results in the repository


def read(root):
    """The records of each file."""
    return [benchmark_results.read(path) for pattern in HOST_FILES for path in result_files(root, pattern)]


def host_loops(records):
    rows = []
    for loop in dict.fromkeys(record["variant"].removesuffix(" objects").removesuffix(" by hand") for record in records):
        found = {(record["variant"].removeprefix(f"{loop} "), record["metric"]): record for record in records}
        faster = found["objects", "times as fast as by hand"]
        rows.append([loop, with_unit(found["objects", "useful bandwidth"]), with_unit(found["by hand", "useful bandwidth"]),
                     rounded(faster["median"]), f"{rounded(faster['minimum'])} to {rounded(faster['maximum'])}"])
    return ["fields", "objects", "by hand", "times as fast as by hand", "min to max"], rows


def host_threads(records):
    rates = {(record["variant"], record["parameters"]["threads"]): record for record in records}
    rows = [[str(threads)] + [text for variant in ("create", "delete") for text in (
        with_unit(rates[variant, threads]), ratio(rates[variant, threads], rates[variant, 1]))]
            for threads in sorted({threads for _, threads in rates})]
    return ["threads", "creation", "creation relative to one thread", "deletion", "deletion relative to one thread"], rows


def host_lattices(records):
    rows = []
    found = {(record["variant"], text_of_size(record["parameters"]), record["metric"]): record for record in records}
    for (variant, size, metric), faster in found.items():
        if metric == "times as fast as by hand":
            model = variant.split(", ")[0]
            times = [with_unit(found[name, size, "time of a step"]) for name in (variant, f"{model}, by hand")]
            rows.append([variant, "{width} x {height}".format(**faster["parameters"]), *times, rounded(faster["median"]),
                         f"{rounded(faster['minimum'])} to {rounded(faster['maximum'])}"])
    return ["model", "cells", "time of a step", "by hand", "times as fast as by hand", "min to max"], rows


def host_compile(records):
    compilers = without_repetition(record["compiler"] for record in records)
    times = {(record["variant"], record["compiler"]): record for record in records}
    variants = without_repetition(record["variant"] for record in records)
    rows = [[variant, *(with_unit(times[variant, compiler]) for compiler in compilers)] for variant in variants]
    objects, by_hand = (next(variant for variant in variants if text in variant) for text in ("as objects", "by hand"))
    rows.append(["objects / by hand", *(ratio(times[objects, compiler], times[by_hand, compiler]) for compiler in compilers)])
    return ["source", *compilers], rows


# Benchmark, and what makes the table of its records.
TABLES = {"loops": ("host_loop", host_loops), "threads": ("host_threads", host_threads),
          "lattices": ("host_lattices", host_lattices), "compile": ("compile", host_compile)}


def table(name, files):
    """The table of each file that has one, one below the other. @param files   what read() returns"""
    check_table(PREFIX, name, TABLES)
    benchmark, rows_of = TABLES[name]
    parts = []
    for records in files:
        mine = [record for record in records if record["benchmark"] == benchmark]
        if not mine:
            continue
        first = mine[0]
        size = "" if benchmark == "compile" else f", up to {max(record['parameters']['threads'] for record in mine)} threads"
        size += f", {grouped(first['parameters']['objects'])} objects" if "objects" in first["parameters"] else ""
        size += "" if benchmark == "compile" else f", compiler {first['compiler']}"
        parts.append(f"{markdown(*rows_of(mine))}\n\n{first['device']}{size}, {first['date']}, commit {first['commit'][:7]}, "
                     f"{repetitions({record['repetitions'] for record in mine})}")
    if not parts and benchmark in MAY_BE_MISSING:
        return "Not measured yet."
    if not parts:
        raise Problem(f"no file of {', '.join(HOST_FILES)} has results of {benchmark}; run scripts/compile-times"
                      if benchmark == "compile" else
                      f"no file of {', '.join(HOST_FILES)} has results of {benchmark}; run scripts/benchmark --host again")
    return "\n\n".join(parts)
