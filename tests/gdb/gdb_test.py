"""gdb with dsl/gdb/dynasoar_gdb.py shows of objects what dynasoar::print prints of them.

Usage: gdb_test.py <gdb> <program> <path of dynasoar_gdb.py>. Exits with 77 where gdb cannot run programs.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77  # what ctest counts as skipped
OBJECTS = 2 * (3 + 3 + 1 + 1 + 3 + 1 + 3 * 3)


def run_gdb(gdb, program, printers, output):
    commands = ["set style enabled off", "set width 0", "set disable-randomization off", f"source {printers}", "break gdb_test::look_at",
                f"run > {output}", *["print object", "continue"] * OBJECTS, "print (int *) 8"]
    arguments = [argument for command in commands for argument in ("-ex", command)]
    return subprocess.run([gdb, "-nx", "-q", "-batch", *arguments, program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False).stdout


def plain(text):
    """Without what compilers spell differently in names of types for debuggers and in __PRETTY_FUNCTION__."""
    return re.sub(r"(\d)ul\b", r"\1", text.replace("dynasoar::", "").replace("gdb_test::", ""))


def from_gdb(text):
    """What gdb prints, without what it adds to a value: addresses of null, and characters."""
    shown = re.findall(r"^\$\d+ = (.*)$", text, re.M)
    return [re.sub(r" '[^']*'", "", one.replace("= 0x0", "= a null pointer")) for one in shown]


def from_program(text):
    """The lines of dynasoar::print, put together as gdb does. Neighbours differ in their names."""
    objects = []
    for line in text.splitlines():
        if line.endswith("): no fields"):
            objects.append((line.removesuffix(": no fields"), {}))
            continue
        who, field, value = re.match(r"(.*?\)): (\S+) = (.*)$", line).groups()
        if not objects or objects[-1][0] != who:
            objects.append((who, {}))
        fields = objects[-1][1]
        array = field.endswith("]")
        fields.setdefault(field.partition("[")[0], (array, []))[1].append(value)
    texts = [", ".join(f"{name} = " + (f"{{{', '.join(values)}}}" if array else values[0])
                       for name, (array, values) in fields.items()) for _, fields in objects]
    return [f"{who} = {{{text}}}" if text else who for (who, _), text in zip(objects, texts)]


def main():
    gdb, program, printers = sys.argv[1:]
    if not gdb or gdb.endswith("-NOTFOUND"):
        print("skipped: gdb is not installed (scripts/install-dependencies --test)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "output"
        text = run_gdb(gdb, program, printers, output)
        if "ptrace" in text and "not permitted" in text:
            print(f"skipped: gdb may not run programs here:\n{text}")
            return SKIPPED
        if "Python scripting is not supported" in text:
            print("skipped: this gdb has no Python")
            return SKIPPED
        printed = from_program(output.read_text(encoding="utf-8")) if output.exists() else []
    shown = from_gdb(text)
    if not shown or shown.pop() != "(int *) 0x8":
        print(f"gdb shows other pointers in another way than without these printers:\n{text[-1000:]}")
        return 1
    for one, other in zip(shown, printed):
        if plain(one) != plain(other):
            print(f"gdb shows     {one}\nbut should be {other}")
            return 1
    if len(shown) != OBJECTS or len(printed) != OBJECTS:
        print(f"there are {OBJECTS} objects, but gdb shows {len(shown)} and the program prints {len(printed)}:\n{text}")
        return 1
    print(f"{OBJECTS} objects look alike, such as {shown[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
