"""A place where a fault can be planted, and the edit that plants it; used by cpp_places.py and python_places.py."""
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Place:
    """`template` replaces text[start:end]; the word FAULT in it becomes the switch of the fault's number."""

    operator: str
    start: int
    end: int
    template: str
    faulty: str  # what the text becomes while the fault is active, for reports
    compiled: bool = False  # in a function that may be evaluated by the compiler only


def plant(text, numbered, switch):
    """The text with faults. `numbered` are pairs of number and place, which do not overlap."""
    for number, place in sorted(numbered, key=lambda pair: pair[1].start, reverse=True):
        text = text[:place.start] + re.sub(r"\bFAULT\b", switch.format(number), place.template) + text[place.end:]
    return text


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def changed_number(text):
    """Another number of the same type, or None. Zero becomes one, and others are one more (doubled if not whole)."""
    digits = text.rstrip("fFuUlLzZ") if not text.lower().startswith("0x") else None
    if not digits:
        return None
    suffix = text[len(digits):]
    plain = digits.replace("'", "").replace("_", "")
    if plain.isdecimal() and not (len(plain) > 1 and plain[0] == "0"):
        return f"{int(plain) + 1}{suffix}"
    try:
        value = float(plain)
    except ValueError:
        return None
    return f"{2 * value if value else 1.0}{suffix}"
