"""The files in benchmarks/results: what the scripts that read or write them share.

A file is JSON with one line for each record. What all records have in common stands once, in front of them:

    {
    "run": {"device":"NVIDIA H200","driver":"580.159.04","cuda":"13.0.88","compiler":...,"date":"2026-11-26","commit":...},
    "columns": ["benchmark","variant","parameters","metric","unit","median","minimum","maximum","repetitions"],
    "records": [
    ["field_loop","1 float objects",{"objects":134217728},"useful bandwidth","TB/s",3.252,3.231,3.27,9],
    ...
    ]
    }

Measured numbers have four significant digits. benchmarks/report.cpp writes the same format.
"""

import json

RUN = ["device", "driver", "cuda", "compiler", "date", "commit"]
COLUMNS = ["benchmark", "variant", "parameters", "metric", "unit", "median", "minimum", "maximum", "repetitions"]
MEASURED = ["median", "minimum", "maximum"]

# Whether less is better, or None if neither less nor more is: by the unit, or, of units that do not decide, by the metric.
LESS_BY_UNIT = {**dict.fromkeys(["ps", "ns", "us", "ms", "s", "MiB"], True),
                **dict.fromkeys(["TB/s", "GB/s", "GiB/s", "G/s", "M/s", "G words/s", "Gflop/s"], False)}
LESS_BY_METRIC = {
    **dict.fromkeys(["slots used", "slots used at the end", "heap that objects can fill", "heap used at the first refusal",
                     "heap used at the first refusal, second time",
                     "objects at the first refusal", "utilization", "filled when a request is refused", "cells",
                     "times as fast as by hand", "times as fast as virtual functions"], False),
    **dict.fromkeys([*(f"{what}{when}" for what in ("refused", "damaged", "misaligned") for when in ("", ", timed runs", ", at the end")),
                     "fragmentation", "fragmentation after", "external fragmentation", "unusable",
                     "coefficient of variation", "TAS", "WAS",
                     *(f"{what}, {used}" for what in ("malloc", "free", "malloc and free") for used in ("registers", "stack"))],
                    True),
    **dict.fromkeys(["fragmentation before", "mean size", "deviation of sizes", "references per triangle", "allocations",
                     "TAS, computed", "WAS, bound", "not finished",
                     "rounds of moves in a step",
                     *(f"{what} at the end" for what in ("objects", "alive", "bodies", "springs", "agents", "cars", "people", "ants", "cells", "trees"))],
                    None)}


class BadFile(Exception):
    """A file is not one of results; the text says why."""


def parse(text, name):
    """The records of a file as dictionaries, each with all fields of RUN and COLUMNS. @param name   for error messages"""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise BadFile(f"{name} is not JSON: {error}; run scripts/benchmark again") from error
    if not isinstance(content, dict) or {"run", "columns", "records"} - content.keys():
        raise BadFile(f"{name} does not have a 'run', 'columns' and 'records'; run scripts/benchmark again")
    run, columns, rows = content["run"], content["columns"], content["records"]
    missing = [field for field in RUN + COLUMNS if field not in run and field not in columns]
    if missing:
        raise BadFile(f"{name}: records have no {', '.join(missing)}; run scripts/benchmark again")
    for row in rows:
        if len(row) != len(columns):
            raise BadFile(f"{name}: a record has {len(row)} values for {len(columns)} columns: {row}; "
                          "run scripts/benchmark again")
    return [{**run, **dict(zip(columns, row))} for row in rows]


def less_is_better(record):
    """True, False, or None where neither is better. @throws KeyError of a metric that is not listed above"""
    unit = record["unit"]
    return LESS_BY_UNIT[unit] if unit in LESS_BY_UNIT else LESS_BY_METRIC[record["metric"]]


def read(path):
    return parse(path.read_text(encoding="utf-8"), path)


def text_of(records):
    """The text of a file. Fields of RUN that differ between the records become columns."""
    def common(field):
        return all(record[field] == records[0][field] for record in records)

    def cell(record, field):
        return float(f"{record[field]:.4g}") if field in MEASURED else record[field]

    def text(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    run = {field: records[0][field] for field in RUN if records and common(field)}
    columns = COLUMNS + [field for field in RUN if field not in run]
    rows = ",\n".join(text([cell(record, field) for field in columns]) for record in records)
    return f'{{\n"run": {text(run)},\n"columns": {text(columns)},\n"records": [\n{rows}\n]\n}}\n'
