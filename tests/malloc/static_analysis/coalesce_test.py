"""Rewrites small programs with dynasoar-coalesce, checks the report, and runs them before and after on the CPU.

Usage: coalesce_test.py <dynasoar-coalesce> <folder of examples> <compiler> <option>...
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import programs

HERE = pathlib.Path(__file__).resolve().parent
TOOL, EXAMPLES, *COMPILER = sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:]
REGISTERED = ["--takes-argument=MPI_Alltoall", "--uniform=MPI_Comm_size"]
WRONG_CALLS = [f"int main(int, char**) {{ const dynasoar::CollectiveMemory memory; {call} return 0; }}" for call in (
    "if (threadIdx.x != 3) dynasoar::collective_malloc(8, true);",
    "dynasoar::collective_malloc(threadIdx.x == 3 ? 64 : 8, true);")]
MARK = re.compile(r"// (collective|argument|alone)(?:: (.*))?$")


def run(command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=300, **options)


def with_head(source):
    """The source behind two includes; <algorithm>, which clang reads for most of a test's time, only if it is used."""
    return f'#include "gpu_mpi.h"\n#include <{"algorithm" if re.search("std::(min|max)", source) else "initializer_list"}>{source}'


def rewrite(path, output, *options):
    return run([TOOL, path, "-o", output, *options, "--", "-std=c++20", f"-I{HERE}"])


def marks_of(source):
    """What the comments of a program say: line, what, a part of the reason."""
    found = set()
    for number, line in enumerate(source.splitlines(), 1):
        if match := MARK.search(line):
            found.add((number, match[1], match[2] or ""))
    return found


def together(sources):
    """One source of all programs, each in a namespace of its own; the variable PROGRAM says which of them runs."""
    parts = ['#include "gpu_mpi.h"', "#include <algorithm>", "#define main program_main"]
    parts += [f'namespace program_{i} {{\n#line 1 "program {i}"\n{source}\n}}' for i, source in enumerate(sources)]
    names = ", ".join(f"program_{i}::program_main" for i in range(len(sources)))
    return "\n".join([*parts, f"""int program_main(int argc, char** argv) {{
        int (*const programs[])(int, char**) = {{{names}}};
        return programs[std::atoi(std::getenv("PROGRAM"))](argc, argv);
    }}"""])


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.compile(HERE / "gpu_mpi.cpp", "run_before.o")
        cls.compile(HERE / "gpu_mpi.cpp", "run_after.o", "-DREWRITTEN")

    @classmethod
    def compile(cls, source, output, *options):
        result = run([*COMPILER, "-O0", "-w", "-std=c++20", f"-I{HERE}", *options, "-c", source, "-o", cls.folder / output])
        assert result.returncode == 0, f"{source}: {result.stderr}"

    def build(self, name, sources, *options):
        """An executable of programs: `before` or `after` they have been rewritten."""
        (self.folder / f"{name}.cpp").write_text(together(sources))
        self.compile(self.folder / f"{name}.cpp", f"{name}.o", *options)
        linked = run([*COMPILER, self.folder / f"{name}.o", self.folder / f"run_{name}.o", "-o", self.folder / name, *LIBRARIES])
        self.assertEqual(linked.returncode, 0, linked.stderr)

    def run_program(self, name, number):
        return run([self.folder / name], env={**os.environ, "PROGRAM": str(number)})

    def check_report(self, source, report):
        lines = {}
        for line in report.splitlines():
            if match := re.match(r"line (\d+): (.*)", line):
                lines.setdefault(int(match[1]), []).append(match[2])
        expected = marks_of(source)
        self.assertTrue(expected)
        words = {"collective": "is collective", "argument": "gets the argument", "alone": "is left alone: "}
        for number, what, reason in expected:
            self.assertTrue(any(words[what] in line and reason in line for line in lines.get(number, [])),
                            f"line {number} should be {what}: {reason}; the report:\n{report}")
        said = {(number, what) for number, texts in lines.items() for text in texts
                for what, word in words.items() if word in text}
        self.assertEqual(said, {(number, what) for number, what, _ in expected}, report)

    def rewritten(self, source, *options):
        """The rewritten text, and the report."""
        before, after = self.folder / "before.cpp", self.folder / "after.cpp"
        before.write_text(source)
        result = rewrite(before, after, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return after.read_text(), result.stderr


class Programs(Case):
    def test_kernels(self):
        source = EXAMPLES / "workloads.cu"
        result = rewrite(source, self.folder / "workloads.cu", "--cuda")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.check_report(source.read_text(), result.stderr)
        text = (self.folder / "workloads.cu").read_text()
        for expected in ("int main(int argc, char** argv) {\n  const dynasoar::CollectiveMemory dynasoar_memory;",
                         "float* make_data(int n, bool coalesce = false) {",
                         "dynasoar::collective_malloc(n * sizeof(float), coalesce)", "make_data(n, true);",
                         "dynasoar::collective_free(data);", "std::malloc(results_bytes)", "std::free(results);"):
            self.assertIn(expected, text)

    def test_programs(self):
        cases = {name: ((EXAMPLES / name).read_text(), times) for name, times in (("listing.cpp", 3), ("all_to_all.cpp", 3))}
        cases |= {name: (with_head(source), times) for name, (source, times) in programs.PROGRAMS.items()}
        passed = []
        for name, (source, times) in cases.items():
            with self.subTest(name):
                text, report = self.rewritten(source, *REGISTERED)
                self.check_report(source, report)
                passed.append((name, source, text, times))
        self.build("before", [source for _, source, _, _ in passed])
        self.build("after", [text for _, _, text, _ in passed] + WRONG_CALLS, "-include", "dynasoar/malloc/collective.h")
        for number, (name, _, text, times) in enumerate(passed):
            with self.subTest(name):
                before, after = (self.run_program(which, number) for which in ("before", "after"))
                self.assertEqual((before.returncode, after.returncode), (0, 0), before.stderr + after.stderr)
                self.assertEqual(sorted(before.stdout.splitlines()), sorted(after.stdout.splitlines()))
                self.assertEqual(after.stderr, f"allocated together: {times}\n", text)
        for number, reason in enumerate(("a rank has ended", "asks for another size"), len(passed)):
            with self.subTest(reason):
                ran = self.run_program("after", number)
                self.assertEqual(ran.returncode, 1)
                self.assertIn(reason, ran.stderr)

    def test_a_rewritten_program_compiles_by_itself(self):
        self.rewritten((EXAMPLES / "listing.cpp").read_text(), *REGISTERED)
        self.compile(self.folder / "after.cpp", "alone.o")

    def test_refused_programs_stay_as_they_are(self):
        for name, (source, reason) in programs.REFUSED.items():
            with self.subTest(name):
                before, after = self.folder / "refused.cpp", self.folder / "refused_after.cpp"
                before.write_text(with_head(source))
                result = rewrite(before, after)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(reason, result.stderr)
                self.assertEqual(before.read_text(), after.read_text())

    def test_without_registrations_nothing_is_known_of_libraries(self):
        source, _ = programs.PROGRAMS["library functions that the user registers"]
        path = self.folder / "unregistered.cpp"
        path.write_text(with_head(source))
        result = rewrite(path, self.folder / "unregistered_after.cpp")
        self.assertIn("line 7: 'malloc' is left alone", result.stderr)
        self.assertNotIn("MPI_Alltoall", result.stderr)

    def test_a_file_without_main_is_told_to_set_the_allocator_up(self):
        text, report = self.rewritten(with_head("\nvoid f() { free(malloc(4)); }"))
        self.assertIn("create a dynasoar::CollectiveMemory before the first allocation", report)
        self.assertIn("dynasoar::collective_malloc(4, coalesce)", text)

    def test_a_wrong_program_is_not_rewritten(self):
        path, after = self.folder / "wrong.cpp", self.folder / "wrong_after.cpp"
        path.write_text("int main() { return unknown; }\n")
        result = rewrite(path, after)
        self.assertEqual(result.returncode, 1)
        self.assertIn("nothing is rewritten", result.stderr)
        self.assertFalse(after.exists())


if __name__ == "__main__":
    split = COMPILER.index("--libraries")
    LIBRARIES = COMPILER[split + 1:]
    COMPILER = COMPILER[:split]
    unittest.main(argv=sys.argv[:1])
