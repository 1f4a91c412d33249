"""Writes sources that show that every header compiles alone, and prints their paths for CMake.

    headers_alone.py <output folder> <host or cuda> <header>...

A source includes headers each of which includes the one before it, directly or not. Such a header finds nothing that it does
not include itself, so it compiles there if and only if it compiles alone, and a third of the sources are enough.
"""

import pathlib
import re
import sys


def split(path):
    """The folder that the compiler searches, and the rest of the path."""
    root, _, name = str(path).rpartition("/include/")
    return root + "/include", name


def names_included(path, name, backend):
    """Names of the headers that this one includes in every build: not those between an #if and its #endif."""
    depth, names = 0, []
    for line in path.read_text(encoding="utf-8").splitlines():
        if re.match(r"#\s*if", line):
            depth += 1
        elif re.match(r"#\s*endif", line):
            depth -= 1
        elif depth == 0 and (found := re.match(r"#include <(dynasoar/.+)>", line)):
            names.append(found[1])
        elif depth == 0 and (found := re.match(r"#include DYNASOAR_BACKEND_HEADER\((.+)\)", line)):
            names.append(f"{pathlib.PurePosixPath(name).parent}/{backend}/{found[1]}")
    return names


class Includes:
    """What each header includes, directly or not."""

    def __init__(self, roots, backend):
        self.roots, self.backend, self.known = roots, backend, {}

    def all_of(self, name):
        if name not in self.known:
            self.known[name] = set()  # for circles, which tests/layers find
            path = next((root / name for root in self.roots if (root / name).exists()), None)
            direct = names_included(path, name, self.backend) if path else []
            self.known[name] = set(direct).union(*(self.all_of(other) for other in direct))
        return self.known[name]


def chains(names, includes):
    """As few lists of names as possible, in which each header includes the one before it: a matching of names with names."""
    after, before = {}, {}

    def extend(name, seen):
        for larger in names:
            if name in includes.all_of(larger) and larger not in seen:
                seen.add(larger)
                if larger not in before or extend(before[larger], seen):
                    after[name], before[larger] = larger, name
                    return True
        return False

    for name in names:
        extend(name, set())
    result = []
    for name in names:
        if name not in before:
            result.append([name])
            while result[-1][-1] in after:
                result[-1].append(after[result[-1][-1]])
    return result


def main(output, backend, *headers):
    output = pathlib.Path(output)
    output.mkdir(parents=True, exist_ok=True)
    roots = sorted({pathlib.Path(split(header)[0]) for header in headers})
    names = sorted(split(header)[1] for header in headers)
    sources = []
    for chain in chains(names, Includes(roots, backend)):
        source = output / (re.sub(r"\W", "_", chain[-1]) + ".cpp")
        text = "// Each includes the one before it.\n" + "".join(f"#include <{name}>\n" for name in chain)
        if not source.exists() or source.read_text(encoding="utf-8") != text:
            source.write_text(text, encoding="utf-8")
        sources.append(str(source))
    print(";".join(sources), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
