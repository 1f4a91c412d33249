"""Code blocks of the written pages (README.md, docs/*.md), as programs that tests compile and run.

    code_blocks.py write <project folder> <output folder>   one .cpp for all pages of a folder, expected.json and pages.cmake
    code_blocks.py check <project folder> <cmake>           shell, CMake and TOML blocks, and that no block escapes all this
    code_blocks.py run <program> <output folder> <folder>   runs the programs of a folder's pages
    code_blocks.py example <source> <program>               runs an example, whose first comment says what it prints

A ```cpp block with a `main` is a program of its own. All others, and programs in parts, are put together as HTML comments in front of them say:

    <!-- piece NAME -->             the next block is called NAME
    <!-- piece NAME ... -->         a piece that readers do not see: the text of the comment
    <!-- pieces of PAGE -->         all pieces of another page, which readers have seen there
    <!-- program NAME... -->        these pieces, one after the other, are a program; the next ```cpp block is called `this`
    <!-- compile NAME... -->        these pieces compile
    <!-- not compiled: why -->      the next block is another library's code, or the like
    <!-- output ... -->             what the last program prints, where readers do not see it

What a program prints is compared with the ```text block that follows it, without regard to the number of spaces; `...` stands for anything.
Each program gets a namespace of its own, so that many are compiled together, and the headers only once.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

SKIPPED = 77  # what ctest counts as skipped
LANGUAGES = {"cpp", "cmake", "sh", "text", "toml", "python", "json"}


class PageError(Exception):
    """A page says what cannot be understood."""


def pages(root):
    return [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]


def events(path):
    """Yields ("comment" or a block's language, text, number of the text's first line)."""
    lines = path.read_text(encoding="utf-8").split("\n")
    i = 0
    while i < len(lines):
        if fence := re.match(r"```(\S*)$", lines[i]):
            end = next((j for j in range(i + 1, len(lines)) if lines[j].startswith("```")), None)
            if end is None:
                raise PageError(f"{path}:{i + 1}: this block does not end")
            yield fence[1], "\n".join(lines[i + 1:end]) + "\n", i + 2
            i = end
        elif lines[i].startswith("<!-- "):
            end = next((j for j in range(i, len(lines)) if lines[j].endswith("-->")), None)
            if end is None:
                raise PageError(f"{path}:{i + 1}: this comment does not end")
            yield "comment", "\n".join(lines[i:end + 1])[len("<!-- "):-len("-->")], i + 1
            i = end
        elif re.match(r"    \S", lines[i]) and i > 0 and lines[i - 1] == "":
            raise PageError(f"{path}:{i + 1}: indented code; put it between ```, with its language, so that it is tested")
        i += 1


class Program:
    """Code that compiles, and, if it has a main, what it prints (None: whatever it likes)."""

    def __init__(self, pieces, runs, line):
        self.pieces, self.runs, self.line, self.expected, self.page = pieces, runs, line, None, None


def programs_of(path):
    """The programs of a page, and its other blocks as (language, text, line)."""
    return contents_of(path)[1:]


def contents_of(path):
    """The pieces of a page as {name: (text, line, page)}, its programs, and its other blocks as (language, text, line)."""
    pieces, programs, others = {}, [], []
    pending = None   # a directive for the next block: (word, names)
    printed_by = None  # the program whose output may follow
    for kind, text, line in events(path):
        where = f"{path}:{line}"
        if kind == "comment":
            first, _, rest = text.partition("\n")
            word, *names = first.split()
            if word == "piece" and rest:
                pieces[names[0]] = (rest, line + 1, path)
            elif word == "pieces" and names[:1] == ["of"]:
                source = path.parent / names[1]
                if not source.exists():
                    raise PageError(f"{where}: there is no page '{names[1]}'")
                pieces.update(contents_of(source)[0])
            elif word in ("program", "compile") and "this" not in names:
                printed_by = Program([piece_of(pieces, name, where) for name in names], word == "program", line)
                programs.append(printed_by)
            elif word in ("piece", "program", "compile") or first.startswith("not compiled: "):
                pending = (word, names)
            elif word == "output":
                printed_by.expected = rest
            continue
        if kind not in LANGUAGES:
            raise PageError(f"{where}: a block in no language that is known here: '{kind}'")
        if kind == "cpp":
            word, names = pending or ("program", ["this"])
            pending = None
            if word == "piece":
                pieces[names[0]] = (text, line, path)
            elif word != "not":
                if word == "program" and names == ["this"] and "int main(" not in text:
                    raise PageError(f"{where}: no program: say with a comment before the block how it compiles")
                printed_by = Program([(text, line, path) if name == "this" else piece_of(pieces, name, where) for name in names],
                                     word == "program", line)
                programs.append(printed_by)
        elif kind == "text" and printed_by is not None and printed_by.runs:
            printed_by.expected = text
            printed_by = None
        else:
            others.append((kind, text, line))
    return pieces, programs, others


def piece_of(pieces, name, where):
    if name not in pieces:
        raise PageError(f"{where}: there is no piece '{name}' before this")
    return pieces[name]


def write_unit(programs, output, root):
    """One translation unit with many programs; its main runs the one whose number it is given."""
    includes, bodies = {}, []
    for number, program in enumerate(programs):
        body = [f"namespace block_{number} {{"]
        in_main = False
        for text, line, page in program.pieces:
            body.append(f'#line {line} "{os.path.relpath(page, root)}"')
            for code in text.rstrip("\n").split("\n"):
                if code.startswith("#include"):
                    includes[code] = None
                    code = ""
                if code.startswith("int main()"):
                    in_main = True
                    code = code.replace("main", "block_main", 1)
                elif in_main and code == "}":  # only a function with the name main may do without it
                    in_main = False
                    code = "return 0; }"
                body.append(code)
        bodies.append("\n".join(body) + f"\n}}  // namespace block_{number}\n")
    cases = "".join(f"    case {number}: return block_{number}::block_main();\n"
                    for number, program in enumerate(programs) if program.runs)
    text = "\n".join(["#include <cstdlib>", *includes, "", *bodies]) + f"""
int main(int, char** arguments) {{
  switch (std::atoi(arguments[1])) {{
{cases}    default: return 2;
  }}
}}
"""
    if not output.exists() or output.read_text(encoding="utf-8") != text:
        output.write_text(text, encoding="utf-8")


def write(root, output):
    output.mkdir(parents=True, exist_ok=True)
    units = {}
    for path in pages(root):
        try:
            programs, _ = programs_of(path)
        except PageError as error:  # `check` is the test that fails; the rest can be built
            print(error, file=sys.stderr)
            continue
        for program in programs:
            program.page = path.relative_to(root)
        folder = (path.parent if path.parent != root else root / "docs").relative_to(root)
        units.setdefault(re.sub(r"\W", "_", folder.name), []).extend(programs)
    units = {name: programs for name, programs in units.items() if programs}
    for name, programs in units.items():
        write_unit(programs, output / f"{name}.cpp", root)
    expected = {name: [{"arguments": [str(number)], "page": str(program.page), "line": program.line, "prints": program.expected}
                       for number, program in enumerate(programs) if program.runs] for name, programs in units.items()}
    (output / "expected.json").write_text(json.dumps(expected, indent=1), encoding="utf-8")
    (output / "pages.cmake").write_text(f"set(_folders {' '.join(units)})\n"
                                        f"set(_page_files {' '.join(str(path) for path in pages(root))})\n", encoding="utf-8")


def as_pattern(text):
    """A regular expression for what a block says a program prints."""
    words = " ".join(text.split())
    return re.compile(r"\s*".join(re.escape(part.strip()) if part != "..." else ".*?"
                                  for part in re.split(r"(\.\.\.)", words) if part), re.S)


def run(program, entries):
    failures = 0
    for entry in entries:
        result = subprocess.run([program, *entry["arguments"]], capture_output=True, text=True, check=False)
        printed = re.sub(r"\bblock_\d+::", "", result.stdout)
        if re.search("cudaErrorNoDevice|cudaErrorInsufficientDriver", result.stderr):
            print(f"{entry['page']}:{entry['line']}: there is no GPU")
            return SKIPPED
        fits = entry["prints"] is None or as_pattern(entry["prints"]).fullmatch(" ".join(printed.split()))
        if result.returncode != 0 or not fits:
            failures += 1
            print(f"{entry['page']}:{entry['line']}: exit status {result.returncode}; the page says that it prints\n"
                  f"{entry['prints']}\nbut it printed\n{printed}\n{result.stderr}")
    print(f"{len(entries) - failures} of {len(entries)} programs ran as they should")
    return 1 if failures else 0


def run_example(source, program):
    text = source.read_text(encoding="utf-8")
    if len(text.splitlines()) >= 80:
        raise PageError(f"{source}: an example has less than 80 lines")
    prints = re.search(r"^/// Prints:\n((?:///     .*\n)+)", text, re.M)[1].replace("///", "")
    return run(program, [{"arguments": [], "page": source.name, "line": 1, "prints": prints}])


def check_shell(root, text):
    """What is wrong with a shell block: syntax, scripts and presets that do not exist."""
    problems = []
    parsed = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    if parsed.returncode != 0:
        problems.append(parsed.stderr.strip())
    problems += [f"there is no {script}" for script in re.findall(r"(?<![\w/])(?:scripts|tests)/[\w./-]+", text)
                 if not (root / script).exists()]
    presets = {preset["name"] for preset in json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}
    problems += [f"there is no preset {name}" for name in re.findall(r"--preset (\w+)", text) if name not in presets | {"NAME"}]
    return problems


def check_cmake(text, known):
    """What is wrong with a CMake block: syntax and commands that do not exist. (tests/install run whole CMakeLists.txt.)"""
    commands = set(re.findall(r"^\s*(\w+)\s*\(", text, re.M))
    problems = [f"there is no command {name}" for name in sorted(commands - known)]
    if text.count("(") != text.count(")"):
        problems.append("parentheses do not match")
    return problems


def check_toml(root, text):
    """What is wrong with a sweep's file: its lines must be those of one in apps, which tests run."""
    sources = [path.read_text(encoding="utf-8") for path in root.glob("apps/*/*.toml")]
    return [] if any(text.strip() in source for source in sources) else ["no file apps/*/*.toml has these lines"]


def check(root, cmake):
    commands = subprocess.run([cmake, "--help-command-list"], capture_output=True, text=True, check=True).stdout.split()
    known = {*commands, "dynasoar_compile_as_cuda", "dynasoar_add_allocator", "FetchContent_Declare", "FetchContent_MakeAvailable"}
    problems, count = [], 0
    first, _ = programs_of(root / "README.md")
    if first[0].pieces[0][0].count("\n") > 26:
        problems.append("README.md: the example is too long; keep it at 25 lines")
    for path in pages(root):
        for kind, text, line in programs_of(path)[1]:
            count += 1
            found = check_shell(root, text) if kind == "sh" else check_cmake(text, known) if kind == "cmake" else \
                check_toml(root, text) if kind == "toml" else []
            problems += [f"{path.relative_to(root)}:{line}: {problem}" for problem in found]
    print("\n".join(problems) or f"{count} blocks that are not C++")
    return 1 if problems else 0


def main(command, *arguments):
    if command == "write":
        write(pathlib.Path(arguments[0]), pathlib.Path(arguments[1]))
        return 0
    if command == "check":
        return check(pathlib.Path(arguments[0]), arguments[1])
    if command == "example":
        return run_example(pathlib.Path(arguments[0]), arguments[1])
    expected = json.loads((pathlib.Path(arguments[1]) / "expected.json").read_text(encoding="utf-8"))
    return run(arguments[0], expected[arguments[2]])


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except PageError as error:
        sys.exit(str(error))
