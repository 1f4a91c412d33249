"""Records of results: which files have them, those of GPUs, and from which run a record is. Also the errors of all modules.

All modules but cells.py use it. scripts/benchmark_results.py reads and describes the format of the files.
"""

import re
from typing import NamedTuple

import benchmark_results

RESULTS = "benchmarks/results"
# Its files by the tables that show them. All other files are of dynasoar-benchmark: benchmark_tables/device.py.
ALLOCATOR_FILES = "*-allocators.json"
ORIGINAL_FILES = {"originals/": "*-originals.json", "originals-later/": "*-originals-later.json"}  # by the beginning of a table's name
FLAME_FILES = "*-flame-gpu-2.json"
HOST_FILES = ["*-host.json", "*-compile.json"]
RANK_FILES = "*-ranks.json"
FILES_OF_OTHER_PROGRAMS = [ALLOCATOR_FILES, *ORIGINAL_FILES.values(), FLAME_FILES, *HOST_FILES, RANK_FILES]

NOT_FINISHED = "not finished"  # a metric; the reason is the record's unit


class Problem(Exception):
    """Something the user has to repair; the text says how."""


class NotMeasured(Problem):
    """There are no results of a benchmark at all."""


class Benchmark(NamedTuple):
    """What there is to show of a benchmark, as dynasoar-benchmark names it. Anything else, such as results of `--small`, is an error."""
    variants: list
    metrics: list
    parameters: list


def name_of(benchmark, variant, parameters, metric):
    settings = ", ".join(f"{name}={value}" for name, value in sorted(parameters.items()))
    return f"{benchmark}, {variant}, {settings}, {metric}"


def check_table(prefix, name, known):
    if name not in known:
        raise Problem(f"there is no table '{prefix}{name}'; there are " + ", ".join(prefix + key for key in known))


def result_files(root, pattern):
    return sorted((root / RESULTS).glob(pattern))


def gpu_records(paths):
    """Each record of an NVIDIA GPU with the path of its file."""
    for path in paths:
        for record in benchmark_results.read(path):
            if "NVIDIA" in record["device"]:
                yield path, record


def gpu_records_by_device(root, pattern):
    """Device -> its records."""
    devices = {}
    for _, record in gpu_records(result_files(root, pattern)):
        devices.setdefault(record["device"], []).append(record)
    return devices


def origin(record):
    """Where a record comes from, for the line below its table. Equal for all records of one run."""
    commit = re.sub(r"^([0-9a-f]{7})[0-9a-f]*", r"\1", record["commit"])
    return (f"{record['device']}, driver {record['driver']}, CUDA {record['cuda']}, compiler {record['compiler']}, "
            f"{record['date']}, commit {commit}")


def repetitions(counts):
    """How often things were measured, for the same line."""
    return f"{'' if len(counts) == 1 else 'up to '}{max(counts)} repetitions."
