"""Finds objects compiled by nvcc in which code for the host calls a function that is only `__device__`.

nvcc reports such a call in a function, but not always in a template. Instead, it gives the called function a body for
the host that calls `exit(1)`, and the program ends without a message. If the called function is a template or inline,
an object contains such a body only if the host calls it. If other sources may call the function, the object always
contains such a body. That is a fault only if something in the object calls it.

A program that has to call exit does so in a function called exit_on_purpose.

Usage: host_calls_device_code.py <build folder>. For each faulty object, prints the functions that call exit. Exits
with 1 if there are any.
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


def calls_of(path):
    """@return for each function in the object, the functions that it calls or takes the address of"""
    code = output_of("objdump", "--disassemble", "--reloc", "--demangle", "--no-show-raw-insn", path)
    calls = {}
    function = ""
    for line in code.splitlines():
        if match := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = match[1]
            calls.setdefault(function, set())
        elif match := re.search(r"\bR_\S+\s+(\S.*?)(?:[-+]0x[0-9a-f]+)?$", line):
            calls[function].add(match[1])
    return calls


def external_functions(path):
    lines = output_of("nm", "--defined-only", "--demangle", path).splitlines()
    return {line.split(" T ", 1)[1] for line in lines if " T " in line}


def callers(path):
    """@return the functions that call exit. Excludes external functions that only do this and that nothing calls"""
    calls = calls_of(path)
    stubs = {f for f in external_functions(path) if "exit" in calls.get(f, ())}
    # Compilers merge equal functions, so a stub may consist of a call of another stub.
    while more := {f for f in external_functions(path) - stubs if calls.get(f) and calls[f] <= stubs}:
        stubs |= more
    while used := {f for f in stubs if not calls[f] <= stubs | {"exit"}
                   or any(f in called for other, called in calls.items() if other not in stubs)}:
        stubs -= used
    return sorted(f for f, called in calls.items()
                  if f not in stubs and called & (stubs | {"exit"}) and "exit_on_purpose(" not in f)


def main(folder):
    # Not those of other builds below the folder, which tests may be making.
    targets = (pathlib.Path(folder) / "CMakeFiles" / "TargetDirectories.txt").read_text().split()
    objects = [path for target in targets for path in pathlib.Path(target).rglob("*.cpp.o")]
    if not objects:
        sys.exit(f"no objects in {folder}")
    found = {path: callers(path) for path in objects if wants_exit(path) and is_of_nvcc(path)}
    bad = {path: functions for path, functions in found.items() if functions}
    for path, functions in bad.items():
        print(f"{path.relative_to(folder)}: on the host, exit is called in", *functions, sep="\n  ")
    print(f"{len(bad)} of {len(objects)} objects")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
