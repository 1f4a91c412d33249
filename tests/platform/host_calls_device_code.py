"""Objects that nvcc has compiled, in which code for the host calls a function that is only `__device__`.

nvcc reports such a call in a function, but not always in a template: it gives the function a body for the host that
calls `exit(1)`, and the program ends without a message. Nothing else in the project calls `exit`, so an object that
wants it has such a call.

Usage: host_calls_device_code.py <build folder>. Prints what these objects call exit in; exits with 1 if there are any.
"""
import pathlib
import re
import subprocess
import sys


def wants_exit(path):
    symbols = subprocess.run(["nm", "--undefined-only", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"\bU exit$", symbols, re.MULTILINE) is not None


def callers(path):
    """@return the functions that call exit"""
    code = subprocess.run(["objdump", "--disassemble", "--reloc", "--demangle", "--no-show-raw-insn", path], check=True,
                          capture_output=True, text=True).stdout
    found = set()
    function = ""
    for line in code.splitlines():
        if match := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = match[1]
        elif re.search(r"\bR_\S+\s+exit\b", line):
            found.add(function)
    return sorted(found)


def main(folder):
    # Those of CMake's test of the compiler are not ours.
    objects = [path for path in pathlib.Path(folder).rglob("*.cpp.o") if "CompilerId" not in path.parts]
    if not objects:
        sys.exit(f"no objects in {folder}")
    bad = [path for path in objects if wants_exit(path)]
    for path in bad:
        print(f"{path.relative_to(folder)}: on the host, exit is called in", *callers(path), sep="\n  ")
    print(f"{len(bad)} of {len(objects)} objects")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
