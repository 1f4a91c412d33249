"""Cells and tables of Markdown: rounding, units, ranges, ratios and names, as all tables show them.

All other modules of tables use it.
"""

NO_VALUE = "–"
# Names of stored results, the longest first, and what pages show instead.
SHOWN_NAMES = {
    "SoA by hand": "hand-written SoA", "AoS by hand": "hand-written AoS", "dense by hand": "hand-written, dense",
    "nodes only by hand": "hand-written, nodes only", "the same bytes by hand": "hand-written kernel that writes as many bytes",
    "write and fsync by hand": "hand-written write and fsync", "read by hand": "hand-written read",
    "copy to the host by hand": "hand-written copy to the host", "switch by hand": "hand-written switch", "by hand": "hand-written"}


def rounded(value):
    """Three significant digits, without an exponent: 0.0123, 1.00, 1050."""
    digits, exponent = f"{value:.2e}".split("e")
    return f"{float(f'{digits}e{exponent}'):.{max(0, 2 - int(exponent))}f}"


def rounded_or_none(value):
    """`–` of None, `0` of 0, and other numbers rounded."""
    return NO_VALUE if value is None else "0" if value == 0 else rounded(value)


def with_unit(record):
    """The median and its unit: `3.25 TB/s`."""
    return f"{rounded(record['median'])} {record['unit']}"


def spread(record):
    """The cells median, min to max, unit."""
    return [rounded(record["median"]), f"{rounded(record['minimum'])} to {rounded(record['maximum'])}", record["unit"]]


def ratio(record, base):
    """The quotient of two medians."""
    return rounded(record["median"] / base["median"])


def grouped(number):
    """`1 048 576`: digits in groups of three."""
    return f"{number:,}".replace(",", " ")


def text_of_size(size):
    """`2048 x 2560, 500 steps`, `20000 bodies, 300 steps`."""
    numbers = {name: value for name, value in size.items() if name != "steps"}
    what = f"{size['width']} x {size['height']}" if "width" in size else ", ".join(
        f"{value} {name}" for name, value in numbers.items())
    return f"{what}, {size['steps']} steps"


def without_repetition(items):
    return list(dict.fromkeys(items))


def markdown(header, rows):
    lines = [[readable(str(cell)) for cell in line] for line in (header, *rows)]
    lines.insert(1, ["---"] * len(header))
    return "\n".join("|" + "|".join(f" {cell} " if cell != "---" else cell for cell in line) + "|" for line in lines)


def readable(cell):
    """Stored results call hand-written code `SoA by hand`; pages call it `hand-written SoA`."""
    for stored, shown in SHOWN_NAMES.items():
        cell = cell.replace(stored, shown)
    return cell
