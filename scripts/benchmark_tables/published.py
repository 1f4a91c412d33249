"""The tables published/PAPER: what papers claim, beside our results. published/summary counts the claims that were reproduced.

benchmarks/published.toml has the claims, says which results to compare with each, and explains its format. scripts/make-tables
writes the tables to docs/reproduction*.md.
"""

import fnmatch
import re
import tomllib

from . import allocators
from .cells import NO_VALUE, markdown, rounded, rounded_or_none, without_repetition
from .device import BENCHMARKS
from .records import NOT_FINISHED, Problem, check_table, origin

PREFIX = "published/"
CLAIMS = "benchmarks/published.toml"
SECTION_KEYS = {"title", "hardware", "claims"}
CLAIM_KEYS = {"claim", "published", "number", "measured", "pick", "holds", "remark"}
MEASURED_KEYS = {"benchmark", "variant", "metric", "parameters", "over"}
VERDICTS = ["yes", "partly", "no", "not measured"]


def read(root):
    """Name of a section of benchmarks/published.toml -> the section; empty if there is no such file."""
    path = root / CLAIMS
    try:
        sections = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except tomllib.TOMLDecodeError as error:
        raise Problem(f"{CLAIMS} is not TOML: {error}") from error
    for name, section in sections.items():
        check_keys(f"section '{name}'", section, SECTION_KEYS, SECTION_KEYS)
        for claim in section["claims"]:
            where = f"section '{name}', claim '{claim.get('claim')}'"
            needed = {"claim", "published", "holds" if "measured" in claim else "remark"}
            check_keys(where, claim, CLAIM_KEYS, needed)
            if "measured" in claim:
                check_keys(where, claim["measured"], MEASURED_KEYS, {"benchmark", "variant", "metric"})
                check_keys(where, claim["measured"].get("over", {}), {"variant", "metric", "parameters"}, set())
                if claim.get("pick", "most") not in ("least", "most"):
                    raise Problem(f"{CLAIMS}: {where}: 'pick' must be 'least' or 'most'")
                holds(claim["holds"], 1, where)
    return sections


def check_keys(where, table, known, needed):
    for key in sorted(table.keys() - known):
        raise Problem(f"{CLAIMS}: {where}: unknown key '{key}'; known are {', '.join(sorted(known))}")
    for key in sorted(needed - table.keys()):
        raise Problem(f"{CLAIMS}: {where}: the key '{key}' is missing")


def holds(condition, value, where):
    """Whether a value meets `>= 3`, `<= 3` or `2 to 3`."""
    number = r"(\d+(?:\.\d+)?)"
    if match := re.fullmatch(f"(>=|<=) {number}", condition):
        return value >= float(match[2]) if match[1] == ">=" else value <= float(match[2])
    if match := re.fullmatch(f"{number} to {number}", condition):
        return float(match[1]) <= value <= float(match[2])
    raise Problem(f"{CLAIMS}: {where}: 'holds' must be like '>= 3', '<= 3' or '2 to 3', and not '{condition}'")


def as_list(value):
    return value if isinstance(value, list) else [value]


def matches(record, wanted, key):
    """Whether the record's benchmark or variant matches one of the patterns."""
    return any(fnmatch.fnmatchcase(record[key], pattern) for pattern in as_list(wanted[key]))


def selected(records, wanted):
    """The records that `wanted` describes: benchmark and variant are patterns such as `circular*`, or lists of patterns."""
    return [record for record in records
            if record["metric"] == wanted["metric"] and matches(record, wanted, "benchmark") and matches(record, wanted, "variant") and all(
                record["parameters"].get(name) in as_list(value) for name, value in wanted.get("parameters", {}).items())]


def denominator_of(measured):
    """What the denominators of a claim's ratios are, described as in `measured`."""
    over = measured["over"]
    return measured | over | {"parameters": measured.get("parameters", {}) | over.get("parameters", {})}


def claim_values(measured, records):
    """Pairs of a value and its record. A value is a median, or with `over` its ratio to the median of another record of the same run."""
    chosen = selected(records, measured)
    if "over" not in measured:
        return [(record["median"], record) for record in chosen]
    over = measured["over"]

    def fixed(record):
        """What both records of a ratio have in common."""
        parameters = {name: value for name, value in record["parameters"].items() if name not in over.get("parameters", {})}
        return record["benchmark"], parameters, "variant" in over or record["variant"]

    bases = selected(records, denominator_of(measured))
    pairs = [(record, base) for record in chosen for base in bases if base is not record and fixed(base) == fixed(record)]
    for record, base in pairs:
        if origin(record) != origin(base):
            raise Problem(f"a claim of {CLAIMS} needs results of one run, and these of {record['benchmark']} are of several: "
                          f"{origin(record)} | {origin(base)}")
    return [(record["median"] / base["median"], record) for record, base in pairs if base["median"] != 0]


def unfinished(measured, records):
    """`toolkit: stopped after 3 s` for each variant of a claim that did not finish."""
    sides = [measured, denominator_of(measured)] if "over" in measured else [measured]
    found = [record for side in sides
             for record in selected(records, {**side, "metric": NOT_FINISHED, "parameters": {}})]
    return without_repetition(f"{record['variant']}: {record['unit']}" for record in found)


def claim_result(claim, records):
    """The cells ours, ours / published, reproduced of a claim, and the records that were used."""
    measured = claim.get("measured")
    if measured is None or not any(matches(record, measured, "benchmark") for record in records):
        return [NO_VALUE, NO_VALUE, "not measured"], []
    values = claim_values(measured, records)
    if not values:
        reasons = unfinished(measured, records)
        if not reasons:
            raise Problem(f"{CLAIMS}: no results for the claim '{claim['claim']}', though there are results of "
                          f"{', '.join(as_list(measured['benchmark']))}; correct its 'measured'")
        return ["; ".join(reasons), NO_VALUE, "not measured"], []
    numbers = [value for value, _ in values]
    unit = "" if "over" in measured else f" {values[0][1]['unit']}".rstrip()
    least, most = rounded_or_none(min(numbers)), rounded_or_none(max(numbers))
    if "pick" in claim:
        numbers = [max(numbers) if claim["pick"] == "most" else min(numbers)]
    met = sum(holds(claim["holds"], value, claim["claim"]) for value in numbers)
    verdict = "yes" if met == len(numbers) else f"partly ({met} of {len(numbers)})" if met else "no"
    compared = rounded(numbers[0] / claim["number"]) if "number" in claim and len(numbers) == 1 else NO_VALUE
    return [(least if least == most else f"{least} to {most}") + unit, compared, verdict], [record for _, record in values]


# Pages, and which benchmarks of device.py they show. APPLICATION_PAGE shows the others: the applications and small models.
BENCHMARK_PAGES = {"docs/benchmarks-loops.md": {"field_loop", "sparse_loop", "neighbour_loop", "scale", "empty_loop"},
                   "docs/benchmarks-heap.md": {"allocation", "become", "compaction", "full_heap", "geometry", "growth",
                                               "mixed_allocation", "request_shapes", "sort", "wa_tor_compaction", "waves"},
                   "docs/benchmarks-polymorphism.md": {"polymorphism"},
                   "docs/benchmarks-flame-gpu.md": {"flame_gpu"},
                   "docs/how-to/collective-allocations.md": {"collective_allocations"},
                   "docs/checkpoints.md": {"checkpoint"}, "docs/watch.md": {"picture"}}
APPLICATION_PAGE = "docs/benchmarks-applications.md"


def page_of(benchmark):
    if benchmark in BENCHMARKS:
        return next((page for page, benchmarks in BENCHMARK_PAGES.items() if benchmark in benchmarks), APPLICATION_PAGE)
    return allocators.PAGE if "*" in benchmark else allocators.page_of_experiment(benchmark)


def benchmark_links(measured):
    """Links from pages in docs to the figures of a claim's benchmarks."""
    return ", ".join(f"[`{benchmark}`]({page_of(benchmark).removeprefix('docs/')})" for benchmark in as_list(measured["benchmark"]))


def claims_table(section, records):
    rows, origins = [], {}
    for claim in section["claims"]:
        cells, used = claim_result(claim, records)
        for record in used:
            origins.setdefault(origin(record), set()).add(record["benchmark"])
        links = benchmark_links(claim["measured"]) if "measured" in claim else NO_VALUE
        rows.append([claim["claim"], claim["published"], *cells[:2], claim.get("holds", NO_VALUE), cells[2], links, claim.get("remark", "")])
    lines = [f"{'' if len(origins) == 1 else ', '.join(sorted(names)) + ': '}{line}." for line, names in sorted(origins.items())]
    header = ["claim", "published", "ours", "ours / published", "condition", "reproduced", "benchmark", "remarks"]
    return "\n\n".join([markdown(header, rows), f"Published: {section['hardware']}.", *(f"Ours: {line}" for line in lines)])


def claims_summary(sections, records):
    rows = []
    for section in sections.values():
        verdicts = [claim_result(claim, records)[0][-1].split(" (")[0] for claim in section["claims"]]
        rows.append([section["title"], str(len(verdicts)), *(str(verdicts.count(verdict)) for verdict in VERDICTS)])
    rows.append(["all", *(str(sum(int(row[column]) for row in rows)) for column in range(1, len(VERDICTS) + 2))])
    return markdown(["paper", "claims", "reproduced", "partly", "not reproduced", "not measured"], rows)


def table(name, sections, devices, allocator_devices):
    """The table published/NAME for each device."""
    check_table(PREFIX, name, ["summary", *sections])
    tables = []
    for device in sorted(devices.keys() | allocator_devices.keys()):
        records = [found[0] for found in devices.get(device, {}).values()] + allocator_devices.get(device, [])
        tables.append(f"{claims_summary(sections, records)}\n\nOurs: {device}." if name == "summary" else
                      claims_table(sections[name], records))
    return "\n\n".join(tables)
