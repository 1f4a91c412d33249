#!/usr/bin/python3
"""The list of public names: writes it, or compares it with the headers and the CMake files.

Usage: public_names.py write <project folder> [<folder of boost/hana>]
       public_names.py check <project folder> [<folder of boost/hana>]

The list is docs/public-names.txt. `check` prints what is new, gone or changed and says what to do; fails if there is something.
Pass the folder if compilers do not find Hana by themselves. Exits with 77 (skipped) if the Python package clang.cindex or its
library is missing (Debian, Ubuntu: python3-clang-14; PyPI: libclang), or if the library is too old for the standard headers or Hana.
"""

import functools
import pathlib
import re
import sys


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


try:
    from clang import cindex
except ImportError:
    skip("there is no Python package clang.cindex (apt-get install python3-clang-14)")
try:
    INDEX = cindex.Index.create()
except cindex.LibclangError as problem:
    skip(f"the Python package clang.cindex has no libclang that fits (apt-get install python3-clang-14): {problem}")

LIST = "docs/public-names.txt"
COMMAND = "tests/compatibility/public_names.py write ."
USER_HEADERS = "dsl/include/dynasoar"
INCLUDE_FOLDERS = ["dsl/include", "allocator/include"]
# The headers of the allocator are private. These names of theirs are public, because pages tell users about them.
ALLOCATOR_NAMES = {
    "checkpoint/error.h": {"CheckpointError", "CheckpointFault"},
    "checkpoint/items.h": {"CheckpointItems", "array", "value"},
    "checkpoint/save_and_load.h": {"LoadOptions", "SaveOptions"},
    "checks/misuse.h": {"Misuse", "MisuseError", "MisuseReport", "Offence", "Operation"},
    "heap/refusal.h": {"AllocationError"},
    "heap/soa_allocator.h": {"SoaAllocator"},
    "loops/lattice_shape.h": {"LatticeShape"},
    "loops/places.h": {"Direction", "LatticeVector", "Moore", "Place", "PlaceBlock", "VonNeumann", "opposite", "vector_of"},
    "platform/atomic.h": {"AtomicWord"},
    "platform/config.h": {"DYNASOAR_CHECKED", "DYNASOAR_COUNT_ACCESSES", "DYNASOAR_CUDA_BACKEND", "kChecked", "kCountsAccesses",
                          "kCudaBackend"},
    "platform/error.h": {"Error"},
    "platform/executor.h": {"Executor"},
    "platform/memory.h": {"DeviceArray"},
    "platform/order.h": {"Order"},
    "platform/warp.h": {"PlatformWarp"},
}
# Inline namespaces that are no part of a name: they keep apart what files with different options compile.
UNNAMED = {"with_png", "without_png"}

Kind, Access = cindex.CursorKind, cindex.AccessSpecifier
CLASSES = {Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.UNION_DECL, Kind.CLASS_TEMPLATE, Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
CONSTRUCTORS = {Kind.CONSTRUCTOR, Kind.DESTRUCTOR}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.FUNCTION_TEMPLATE, Kind.CXX_METHOD, Kind.CONVERSION_FUNCTION, *CONSTRUCTORS}
TYPES = {Kind.TYPEDEF_DECL, Kind.TYPE_ALIAS_DECL, Kind.TYPE_ALIAS_TEMPLATE_DECL}
KINDS = {**dict.fromkeys(CLASSES, "class"), **dict.fromkeys(FUNCTIONS, "function"), **dict.fromkeys(TYPES, "type"),
         Kind.ENUM_DECL: "enum", Kind.VAR_DECL: "variable", Kind.FIELD_DECL: "variable", Kind.USING_DECLARATION: "using"}
# What a declaration says to the compiler, not to users.
NOISE = re.compile(r"\[\[(?:maybe_unused|gnu::\w+)\]\] ?|\b(?:inline|DYNASOAR_FOR_WHOEVER_CALLS) ")


def errors_of(unit):
    errors = (str(each) for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Error)
    return list(dict.fromkeys(errors))  # one for each header that repeats them


def parse(root, hana=None):
    headers = sorted(path for path in (root / USER_HEADERS).rglob("*.h") if "detail" not in path.parts)
    text = "".join(f'#include "{path.relative_to(root / "dsl/include").as_posix()}"\n' for path in headers)
    arguments = ["-x", "c++", "-std=c++20", "-DNDEBUG", *(f"-I{root / folder}" for folder in INCLUDE_FOLDERS)]
    if hana:
        arguments.append(f"-I{hana}")  # no -isystem: clang would take /usr/include out of its place in the order
    unit = INDEX.parse("all.cpp", arguments, [("all.cpp", text)], cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    if errors := errors_of(unit):
        look_at_other_headers(unit, root, arguments)
        sys.exit("public_names: the headers do not compile:\n" + "\n".join(errors))
    return unit


def look_at_other_headers(unit, root, arguments):
    """Skips if the headers that the project includes from elsewhere do not compile by themselves."""
    text = "#include <cstddef>\n"  # if clang does not find the standard library, the project has included nothing of it
    for each in unit.get_includes():
        source = pathlib.Path(each.source.name)
        if root in source.parents and root not in pathlib.Path(each.include.name).parents:
            text += source.read_text(encoding="utf-8").splitlines()[each.location.line - 1] + "\n"
    if errors := errors_of(INDEX.parse("other.cpp", arguments, [("other.cpp", text)])):
        skip("libclang does not understand headers that are not ours; use one that is as new as they are:\n" + "\n".join(errors[:5]))


def declaration_of(cursor):
    """The text of a declaration without its body, comments, names of parameters and the like."""
    children = list(cursor.get_children())
    if cursor.kind in CLASSES or cursor.kind == Kind.ENUM_DECL:
        return class_declaration_of(cursor, children)
    body = [child.extent.start.offset for child in children if child.kind == Kind.COMPOUND_STMT]
    end = body[0] if body else cursor.extent.end.offset
    parameters = {child.location.offset for child in children if child.kind == Kind.PARM_DECL and child.spelling}
    tokens = [token for token in cursor.get_tokens()
              if token.kind != cindex.TokenKind.COMMENT and token.extent.start.offset < end]
    if any(token.spelling == "##" for token in tokens):  # a macro made it
        return f"{cursor.result_type.spelling} {cursor.displayname}"
    if cursor.kind == Kind.CONSTRUCTOR or is_constructor_template(cursor):
        tokens = without_initializers(tokens)
    text = text_of(token for token in tokens if token.extent.start.offset not in parameters)
    return " ".join([*annotations_before(cursor), text])


@functools.cache
def bytes_of(path):
    return pathlib.Path(path).read_bytes()


def annotations_before(cursor):
    """Attributes, __host__ and __device__ at the beginning of a declaration, which for clang are no part of it."""
    start = cursor.extent.start
    before = bytes_of(start.file.name)[max(0, start.offset - 500):start.offset].decode(errors="replace")
    words = re.search(r'(?:(?:\[\[(?:[^\]"]|"[^"]*")*\]\]|\b__(?:host|device)__)\s+)*$', before)[0]
    return NOISE.sub("", " ".join(words.split()) + " ").split()


def text_of(tokens):
    text, last = "", None
    for token in tokens:
        text += (" " if last is not None and token.extent.start.offset > last else "") + token.spelling
        last = token.extent.end.offset
    return re.sub(r" (?=[,)])|(?<=\() ", "", NOISE.sub("", text)).strip()


def class_declaration_of(cursor, children):
    """Its head, and those of its bases that are public."""
    head = []
    for token in cursor.get_tokens():
        if token.spelling in (":", "{", ";"):
            break
        if token.kind != cindex.TokenKind.COMMENT:
            head.append(token)
    bases = [text_of(child.get_tokens()) for child in children if child.kind == Kind.CXX_BASE_SPECIFIER]
    bases = [base for base in bases if "detail::" not in base]
    return text_of(head) + (" : " + ", ".join(bases) if bases else "")


def is_constructor_template(cursor):
    """Whose name has the arguments of the class."""
    return cursor.kind == Kind.FUNCTION_TEMPLATE and cursor.spelling.split("<")[0] == cursor.semantic_parent.spelling


def without_initializers(tokens):
    depth, seen = 0, False
    for number, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.spelling, 0)
        seen = seen or token.spelling == ")"
        if seen and depth == 0 and token.spelling == ":":
            return tokens[:number]
    return tokens


def is_private(cursor):
    while cursor is not None:
        if cursor.kind == Kind.NAMESPACE and cursor.spelling == "detail":
            return True
        cursor = cursor.semantic_parent
    return False


class Headers:
    """Finds the public names: entries of header, kind, name and declaration."""

    def __init__(self, root, hana=None):
        self.root = root
        self.entries = set()
        for cursor in parse(root, hana).cursor.get_children():
            self.visit(cursor, "")

    def header_of(self, cursor):
        file = cursor.location.file
        for folder in INCLUDE_FOLDERS if file is not None else []:
            begin = f"{self.root / folder / 'dynasoar'}/"
            if file.name.startswith(begin):
                return folder, file.name.removeprefix(begin)
        return None, None

    def visit(self, cursor, scope):
        folder, header = self.header_of(cursor)
        if header is None:
            return
        if cursor.kind == Kind.NAMESPACE:
            if cursor.spelling != "detail" and (scope or cursor.spelling == "dynasoar"):
                inner = "" if cursor.spelling in UNNAMED else f"{cursor.spelling}::"
                for child in cursor.get_children():
                    self.visit(child, scope + inner)
        elif folder == INCLUDE_FOLDERS[0] or cursor.spelling in ALLOCATOR_NAMES.get(header, ()):
            if cursor.kind == Kind.MACRO_DEFINITION and not cursor.spelling.endswith("_"):
                self.entries.add((header, "macro", cursor.spelling, ""))
            elif scope:
                self.add(cursor, scope, header)

    def add(self, cursor, scope, header):
        name = cursor.spelling
        is_elsewhere = cursor.semantic_parent != cursor.lexical_parent  # declared in its class
        if cursor.kind not in KINDS or not name or name.endswith("_") or is_elsewhere:
            return
        if (cursor.kind in CLASSES or cursor.kind == Kind.ENUM_DECL) and not cursor.is_definition():
            return
        if cursor.kind in CONSTRUCTORS or is_constructor_template(cursor):
            name = ("~" if name.startswith("~") else "") + scope.split("::")[-2]
        if cursor.kind == Kind.CONVERSION_FUNCTION:
            name = "operator"  # whose type is in the declaration
        declaration = declaration_of(cursor)
        self.entries.add((header, KINDS[cursor.kind], scope + name, declaration))
        if cursor.kind in CLASSES:
            self.add_members(cursor, f"{scope}{name}::", header)
        if cursor.kind in TYPES and re.search(r"= detail::\w+(?:<.*>)?$", declaration):
            self.add_private_class(cursor, f"{scope}{name}::", header)
        if cursor.kind == Kind.ENUM_DECL:
            for child in cursor.get_children():
                self.entries.add((header, "enumerator", f"{scope}{name}::{child.spelling}", ""))

    def add_members(self, cursor, scope, header, inherited=False):
        for child in cursor.get_children():
            if child.kind == Kind.CXX_BASE_SPECIFIER and child.access_specifier == Access.PUBLIC:
                self.add_private_class(child, scope, header)
            elif child.kind == Kind.FRIEND_DECL:
                for function in child.get_children():
                    if function.spelling.startswith("operator") and function.is_definition():
                        self.entries.add((header, "function", scope + function.spelling, declaration_of(function)))
            elif child.access_specifier == Access.PUBLIC or child.access_specifier == Access.PROTECTED and not inherited:
                if not (inherited and (child.kind in CONSTRUCTORS or child.spelling == "operator=")):
                    self.add(child, scope, header)

    def add_private_class(self, user, scope, header):
        """What a private class has that is the base of a public class, or has a public name, is public itself."""
        for child in user.get_children():
            if child.kind in (Kind.TYPE_REF, Kind.TEMPLATE_REF):
                definition = child.referenced.get_definition()
                if definition is not None and self.header_of(definition)[1] and is_private(definition):
                    self.add_members(definition, scope, header, inherited=True)
                return


def cmake_entries(root):
    """Targets, functions and options of the build; what is marked as advanced is not for users."""
    paths = [root / "CMakeLists.txt", *sorted((root / "cmake").glob("*.cmake")), *sorted((root / "cmake").glob("*.in"))]
    code = {path: re.sub(r"(?m)#.*", "", path.read_text(encoding="utf-8")) for path in paths if path.is_file()}
    every = "\n".join(code.values())
    advanced = set(" ".join(re.findall(r"mark_as_advanced\(([^)]*)\)", every)).split())
    for text in code.values():
        for target in re.findall(r"add_library\((dynasoar::\w+)", text):
            yield "CMake", "target", target, ""
        for name in re.findall(r"^\s*option\((DYNASOAR_\w+)|^\s*set\((DYNASOAR_\w+)[^()]* CACHE ", text, re.M):
            option = name[0] or name[1]
            if option not in advanced:
                yield "CMake", "option", option, ""
        for component in re.findall(r'"(\w+)" IN_LIST dynasoar_FIND_COMPONENTS', text):
            yield "CMake", "component", component, ""
    yield from (("CMake", "function", name, "") for name in re.findall(r"(?:function|macro)\((dynasoar_compile_as_cuda)\b", every))


HEAD = """\
# The public names of DynaSOAr, which docs/compatibility.md explains. A test compares this file with the headers and the CMake
# files. Do not edit it: run `{command}`, and say in CHANGELOG.md what has changed.
#
# Each line has the kind, the name without dynasoar::, and the declaration. Names of parameters are left out. Members that a
# class has from a private base, or an alias from a private class, are listed as its own.
"""


def format_list(entries):
    """The text of the list: a section for each header. "=" stands before declarations."""
    lines, last = [HEAD.format(command=COMMAND)], None
    for header, kind, name, declaration in sorted(entries, key=lambda entry: (entry[0] == "CMake", entry)):
        if header != last:
            lines.append(f"\n[{header}]\n")
            last = header
        lines.append(f"{kind} {name.removeprefix('dynasoar::') if kind != 'target' else name}"
                     f"{' = ' + declaration if declaration else ''}\n")
    return "".join(lines)


def read_list(text):
    """Declarations by header and name: {(header, "kind name"): {declaration, ...}}."""
    found, header = {}, ""
    for line in text.splitlines():
        if line.startswith("["):
            header = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, declaration = line.partition(" = ")
            if name.endswith(" operator") or "operator" in name:  # operator = has a name with this sign
                name, declaration = re.match(r"(\w+ \S*?operator\S*(?: (?:new|delete|co_await)\S*)?) = (.*)", line).groups()
            found.setdefault((header, name), set()).add(declaration)
    return found


def differences(old, new):
    moved = {name for _, name in old} & {name for _, name in new}
    for header, name in sorted(set(old) | set(new)):
        where = f"{name} ({header})"
        before, after = old.get((header, name)), new.get((header, name))
        if before == after:
            continue
        if before is None:
            yield f"public name {where} is {'moved here' if name in moved else 'new'}"
        elif after is None:
            if name not in moved:
                yield f"public name {where} is gone"
        else:
            yield f"public name {where} has changed:" + "".join(
                f"\n  {sign} {each}" for sign, some in (("-", before - after), ("+", after - before)) for each in sorted(some))


def deprecation_errors(entries, changelog):
    """Deprecated names say what to use, and so does the changelog."""
    for header, kind, name, declaration in sorted(entries):
        if "[[deprecated" in declaration:
            last = name.split("::")[-1]
            if not re.search(r'\[\[deprecated\(\s*"', declaration):
                yield f'{kind} {name} ({header}): write [[deprecated("use ...")]], with the name to use'
            if not re.search(rf"\b{re.escape(last)}\b", changelog):
                yield f"{kind} {name} ({header}) is deprecated: say so in CHANGELOG.md, under Changed"


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("write", "check"):
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[2]).resolve()
    entries = Headers(root, *sys.argv[3:]).entries | set(cmake_entries(root))
    text = format_list(entries)
    path = root / LIST
    if sys.argv[1] == "write":
        path.write_text(text, encoding="utf-8")
        return 0
    changes = list(differences(read_list(path.read_text(encoding="utf-8")), read_list(text)))
    errors = list(deprecation_errors(entries, (root / "CHANGELOG.md").read_text(encoding="utf-8")))
    print("\n".join(changes + errors + [f"{len(entries)} public names, {len(changes)} changes of {LIST}"]))
    if changes:
        print(f"If users are to have these changes: run `{COMMAND}` and add a line to CHANGELOG.md. A name that is not for users "
              "belongs in the namespace dynasoar::detail. docs/compatibility.md says how a public name is removed.")
    return 1 if changes or errors or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
