"""Objects that nvcc has compiled, in which code for the host calls a function that is only `__device__`.

nvcc reports such a call in a function, but not always in a template: it gives the function a body for the host that
calls `exit(1)`, and the program ends without a message. Nothing else that nvcc compiles here calls `exit`, so an object
of nvcc's that wants it has such a call.

Usage: host_calls_device_code.py <build folder>. Prints what these objects call exit in; exits with 1 if there are any.
"""
import pathlib
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def wants_exit(path):
    return re.search(r"\bU exit$", output_of("nm", "--undefined-only", path), re.MULTILINE) is not None


def is_of_nvcc(path):
    return ".nv_fatbin" in output_of("objdump", "--section-headers", path)


def callers(path):
    """@return the functions that call exit"""
    code = output_of("objdump", "--disassemble", "--reloc", "--demangle", "--no-show-raw-insn", path)
    found = set()
    function = ""
    for line in code.splitlines():
        if match := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = match[1]
        elif re.search(r"\bR_\S+\s+exit\b", line):
            found.add(function)
    return sorted(found)


def main(folder):
    # Not those of other builds below the folder, which tests may be making.
    targets = (pathlib.Path(folder) / "CMakeFiles" / "TargetDirectories.txt").read_text().split()
    objects = [path for target in targets for path in pathlib.Path(target).rglob("*.cpp.o")]
    if not objects:
        sys.exit(f"no objects in {folder}")
    bad = [path for path in objects if wants_exit(path) and is_of_nvcc(path)]
    for path in bad:
        print(f"{path.relative_to(folder)}: on the host, exit is called in", *callers(path), sep="\n  ")
    print(f"{len(bad)} of {len(objects)} objects")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
