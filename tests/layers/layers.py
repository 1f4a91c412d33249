"""Reads the tree's includes: files include only what docs/architecture.md lets them.

Usage: layers.py <project folder>

Prints a line for each place where a rule is broken and says how to fix it; fails if there is one.
"""

import functools
import pathlib
import re
import sys

# What the files of a layer may include, besides those of their own layer. `malloc` are the other allocators, `dsl` the
# DSL. From the lowest layer to the highest; none may include one that stands after it.
MAY_INCLUDE = {
    "base": [],
    "platform": ["base"],
    "loops": ["base", "platform"],
    "classes": ["base", "platform", "loops"],
    "checks": ["base", "platform", "classes"],
    "heap": ["base", "platform", "loops", "classes", "checks"],
    "checkpoint": ["base", "platform", "classes", "checks", "heap"],
    "malloc": ["base", "platform", "loops", "classes", "checks", "heap"],
    "static_analysis": [],  # a program that reads other programs
    "dsl": ["base", "platform", "loops", "classes", "checks", "heap", "checkpoint"],
    # The hand-written versions that the models are compared with use the platform.
    "apps": ["dsl", "platform"],
    "benchmarks": ["dsl", "malloc", "platform", "apps"],
    # Tests may include what the layer may whose name their folder has, and that layer; others:
    "tests": ["dsl", "malloc", "platform", "apps"],
    "tests/dsl": ["dsl", "malloc", "platform"],
    "tests/classes": ["dsl", "classes", "platform"],
    "tests/heap": ["dsl", "heap", "classes", "platform"],
    "tests/checkpoint": ["dsl", "checkpoint", "heap", "platform"],
    "tests/malloc": ["dsl", "malloc", "heap", "platform"],
    "tests/fuzz": ["dsl", "checkpoint", "heap"],
    "tests/model_checking": ["heap", "classes", "platform"],
}
# Every file may include these two, and tuning.h nothing but the other one.
TUNING = "allocator/include/dynasoar/tuning.h"
CONFIG = "allocator/include/dynasoar/platform/config.h"

# Single includes that no rule covers: file or folder, header, reason.
EXCEPTIONS = [
    ("apps/common/include/app/allocator.h", "malloc/aos_allocator.h", "--allocator chooses among all allocators"),
    ("benchmarks/checkpoint.cpp", "checkpoint/checksum.h", "measures what the checksum costs"),
    ("tests/dsl/inspect_test.cpp", "detail/svg.h", "tests the colours of its pictures"),
    ("tests/distributed/exchange_watch_test.cpp", "detail/exchange_watch.h", "tests it without the GPUs that its users need"),
    ("tests/distributed/exchange_watch_test.cpp", "detail/device_messages.h", "the same"),
]

PUBLIC = "dsl/include/dynasoar"
MOST_PUBLIC_HEADERS = 30  # those of programs among them
UMBRELLA = PUBLIC + "/dynasoar.h"  # includes headers for its users
# What a header includes for its users: public header, header, reason.
FOR_USERS = [
    ("soa_base.h", "detail/field_functions.h", "std::max and others take fields"),
    ("checkpoint.h", "checkpoint/error.h", "callers of load() catch CheckpointError"),
    ("objects.h", "heap/soa_allocator.h", "T::Allocator must be complete"),
    ("detail/bound_heap.h", "heap/heap_storage.h", "A::Storage must be complete"),
    ("program/object_simulation.h", "dynasoar.h", "models are written with it"),
]
INCLUDE_FOLDERS = ["dsl/include", "allocator/include", "allocator/malloc/include", "apps/common/include", "apps"]
ROOTS = ["allocator", "dsl", "apps", "tests", "benchmarks"]
# Trees of their own: made up to break rules, or compiled as a user's program.
LEFT_OUT = ["tests/layers", "tests/install", "tests/compile_fail", "tests/compatibility"]

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:[<"]([^">]+)[">]|DYNASOAR_BACKEND_HEADER\((\S+)\))', re.M)
CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b((?:\\\n|.)*)", re.M)
BACKEND = re.compile(r"DYNASOAR_CUDA_BACKEND|__CUDACC\w*|__CUDA_ARCH\w*|__NVCC__|CUDART_VERSION|DYNASOAR_TARGET_USES_CUDA")
BACKENDS = ("cuda", "host")
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:[^"\\\n]|\\.)*")', re.S)
NOISE = re.compile(r"\[\[.*?\]\]|\b(?:alignas|__launch_bounds__|requires)\s*\((?:[^()]|\([^()]*\))*\)", re.S)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+).*(?:\\\n.*)*", re.M)
DIRECTIVE = re.compile(r"^\s*#(?:\\\n|.)*", re.M)
TYPE = re.compile(r"\b(?:class|struct|union|enum|concept|using)\s+(?:class\s+|typename\s+)?(?:\w+::)*(\w+)")
NAME = re.compile(r"(\w+)\s*(?:<[^()]*>)?\s*$")  # before a parenthesis, an initializer or the end


def without_template_heads(code):
    """Without `template <...>`, whose parameters are nobody's names."""
    parts, end = [], 0
    for match in re.finditer(r"\btemplate\s*<", code):
        if match.start() < end:
            continue
        parts.append(code[end:match.start()])
        depth, end = 1, match.end()
        while depth > 0 and end < len(code):
            depth += {"<": 1, ">": -1}.get(code[end], 0)
            end += 1
    return "".join(parts) + code[end:]


def at_namespace_scope(code):
    """Without what stands in the braces of anything but a namespace."""
    kept, scopes, begin = [], [], 0  # scopes: whether each open brace is a namespace's
    for match in re.finditer(r"[{};]", code):
        if match[0] == "{":
            before = code[begin:match.start()]
            if all(scopes):
                kept.append(before + "{")
            scopes.append(bool(re.search(r"\bnamespace\b[\w:\s]*$", before)))
        else:
            if all(scopes):
                kept.append(code[begin:match.end()])
            if match[0] == "}" and scopes:
                scopes.pop()
        begin = match.end()
    return "".join(kept) + code[begin:]


class File:
    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        self.code = COMMENT.sub(lambda match: match[1] or " ", text)
        self.includes = [match[1] or match[2] for match in INCLUDE.finditer(self.code)]
        self.backend_headers = [match[2] for match in INCLUDE.finditer(self.code) if match[2]]

    @functools.cached_property
    def declared(self):
        names = {match[1] for match in MACRO.finditer(self.code)}
        code = NOISE.sub("", at_namespace_scope(without_template_heads(DIRECTIVE.sub("", self.code))))
        for statement in re.split(r"[{};]", code):
            if re.match(r"\s*(?:inline\s+)?namespace\b", statement):
                continue
            if match := TYPE.search(statement) or NAME.search(re.split(r"[=(\[]", statement)[0]):
                names.add(match[1])
        return names - {"static_assert", "dynasoar", "detail", "requires"}

    @functools.cached_property
    def words(self):
        return set(re.findall(r"\w+", INCLUDE.sub("", self.code)))


def layer_of(path):
    parts = path.split("/")
    if match := re.match(r"allocator/(?:malloc/)?(?:include/dynasoar/|src/|(?=static_analysis/))(\w+)/", path):
        return match[1]
    if parts[0] != "tests":
        return parts[0]
    return next((name for name in ("/".join(parts[:2]), parts[1]) if name in MAY_INCLUDE), "tests")


class Tree:
    def __init__(self, root):
        self.root = root
        paths = [path for folder in ROOTS for path in sorted((root / folder).rglob("*")) if path.suffix in (".h", ".cpp")]
        self.files = {file.path: file for file in (File(root, path) for path in paths)
                      if not file.path.startswith(tuple(folder + "/" for folder in LEFT_OUT))}

    def find(self, file, header):
        """The project's files that an include line means: none if it is another's header, two if the backend decides."""
        folder = pathlib.PurePosixPath(file.path).parent
        if header in file.backend_headers:
            return [place for backend in BACKENDS if (place := (folder / backend / header).as_posix()) in self.files]
        places = [(folder / header).as_posix(), *(f"{include}/{header}" for include in INCLUDE_FOLDERS)]
        return [place for place in places if place in self.files][:1]

    def included(self, file):
        return [(header, path) for header in file.includes for path in self.find(file, header)]


def is_excepted(file, path):
    name = re.sub(r"^.*/include/dynasoar/", "", path)
    return any((file == place or file.startswith(place + "/")) and
               (name == header or header.endswith("/") and name.startswith(header))
               for place, header, _ in EXCEPTIONS)


def wrong_layers(tree):
    for file in tree.files.values():
        layer = layer_of(file.path)
        if layer not in MAY_INCLUDE and file.path != TUNING:
            yield f"{file.path}: the folder '{layer}' is no layer; put it into MAY_INCLUDE of tests/layers/layers.py"
            continue
        for _, path in tree.included(file):
            if path in (TUNING, CONFIG) or is_excepted(file.path, path):
                continue
            other = layer_of(path)
            is_private = other == "dsl" and "/detail/" in path and layer != "dsl"
            if is_private or other != layer and other not in MAY_INCLUDE.get(layer, []) and other in MAY_INCLUDE:
                what = "a private header of the DSL" if is_private else f"of the layer '{other}'"
                allowed = ", ".join(MAY_INCLUDE.get(layer, [])) or "no other"
                yield (f"{file.path}: includes {path}, {what}; the layer '{layer}' may include: {allowed}. Move the code to "
                       f"the layer that it belongs to")


def missing_headers(tree):
    for file in tree.files.values():
        for header in file.includes:
            wanted = 2 if header in file.backend_headers else 1 if header.startswith("dynasoar/") else 0
            if len(tree.find(file, header)) < wanted:
                yield f"{file.path}: includes {header}, which is not there" + (" in cuda/ and host/" if wanted == 2 else "")


def interface_of(path):
    """A header and its implementations for the backends include each other; they are one thing."""
    return re.sub(r"/(?:cuda|host)/(?=[^/]+$)", "/", path)


def cycles(tree):
    edges = {}
    for file in tree.files.values():
        edges.setdefault(interface_of(file.path), set()).update(
            interface_of(path) for _, path in tree.included(file) if interface_of(path) != interface_of(file.path))
    done, way = set(), []

    def visit(path):
        if path in way:
            return [way[way.index(path):] + [path]]
        if path in done:
            return []
        way.append(path)
        found = [cycle for other in sorted(edges.get(path, ())) for cycle in visit(other)]
        way.pop()
        done.add(path)
        return found

    for path in sorted(edges):
        for cycle in visit(path):
            yield "these include each other in a circle: " + " -> ".join(cycle)


def backend_conditions(tree):
    for file in tree.files.values():
        if layer_of(file.path) in ("platform", "benchmarks") or file.path.startswith("tests/"):
            continue
        for match in CONDITION.finditer(file.code):
            if BACKEND.search(match[1]):
                line = file.code.count("\n", 0, match.start()) + 1
                yield (f"{file.path}: an #if on the backend (number {line} without comments): {match[0].strip()}; only "
                       "platform/ may ask. Use `if constexpr (kCudaBackend)`, a function of platform/, or "
                       "DYNASOAR_BACKEND_HEADER")


def unused_includes(tree):
    for file in tree.files.values():
        if not file.path.startswith(PUBLIC + "/") or file.path == UMBRELLA:
            continue
        for header in dict.fromkeys(file.includes):
            paths = tree.find(file, header)
            if any(interface_of(path) == file.path for path in paths):
                continue
            name = file.path.removeprefix(PUBLIC + "/")
            if any((name, header) == (user, "dynasoar/" + other) for user, other, _ in FOR_USERS):
                continue
            declared = set()
            for path in paths:
                declared |= tree.files[path].declared
                for _, implementation in tree.included(tree.files[path]):
                    if interface_of(implementation) == path:
                        declared |= tree.files[implementation].declared
            if paths and not declared & file.words:
                yield f"{file.path}: uses nothing of {header}; do not include it"


def public_headers(tree):
    count = sum(path.startswith(PUBLIC + "/") and "/detail/" not in path for path in tree.files)
    if count > MOST_PUBLIC_HEADERS:
        yield (f"{PUBLIC} has {count} headers; a user should find what there is among {MOST_PUBLIC_HEADERS}. Put what users "
               "do not include into detail/")


RULES = [wrong_layers, missing_headers, cycles, backend_conditions, unused_includes, public_headers]


def main():
    tree = Tree(pathlib.Path(sys.argv[1]).resolve())
    errors = [error for rule in RULES for error in rule(tree)]
    for error in errors:
        print(error)
    print(f"{len(tree.files)} files, {len(errors)} errors")
    return 1 if errors or not tree.files else 0


if __name__ == "__main__":
    sys.exit(main())
