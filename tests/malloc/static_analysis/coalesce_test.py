"""Rewrites small programs with dynasoar-coalesce, checks the report, and runs them before and after on the CPU.

Usage: coalesce_test.py <dynasoar-coalesce> <folder of examples> <compiler> <option>...
"""

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
HEAD = '#include "gpu_mpi.h"\n#include <algorithm>'
MARK = re.compile(r"// (collective|argument|alone)(?:: (.*))?$")


def run(command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=300, **options)


def rewrite(path, output, *options):
    return run([TOOL, path, "-o", output, *options, "--", "-std=c++20", f"-I{HERE}"])


def marks_of(source):
    """What the comments of a program say: line, what, a part of the reason."""
    found = set()
    for number, line in enumerate(source.splitlines(), 1):
        if match := MARK.search(line):
            found.add((number, match[1], match[2] or ""))
    return found


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name, options in (("before", []), ("after", ["-DREWRITTEN"])):
            cls.compile(HERE / "gpu_mpi.cpp", f"run_{name}.o", *options)
        header = cls.folder / "prefix.h"  # compiled once for all programs
        header.write_text("#include <dynasoar/malloc/collective.h>\n")
        cls.compile(header, "prefix.h.gch", "-Dmain=program_main", "-x", "c++-header")

    @classmethod
    def compile(cls, source, output, *options):
        result = run([*COMPILER, "-O0", "-w", "-std=c++20", f"-I{HERE}", *options, "-c", source, "-o", cls.folder / output])
        assert result.returncode == 0, f"{source}: {result.stderr}"

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

    def check_program(self, source, times):
        before, after = self.folder / "before.cpp", self.folder / "after.cpp"
        before.write_text(source)
        result = rewrite(before, after, *REGISTERED)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.check_report(source, result.stderr)
        outputs = []
        for name in ("before", "after"):
            prefix = ["-include", self.folder / "prefix.h"] if name == "after" else []
            self.compile(self.folder / f"{name}.cpp", f"{name}.o", "-Dmain=program_main", *prefix)
            linked = run([*COMPILER, self.folder / f"{name}.o", self.folder / f"run_{name}.o", "-o", self.folder / name,
                          *LIBRARIES])
            self.assertEqual(linked.returncode, 0, linked.stderr)
            ran = run([self.folder / name])
            self.assertEqual(ran.returncode, 0, f"{name}: {ran.stderr}")
            outputs.append(sorted(ran.stdout.splitlines()))
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(ran.stderr, f"allocated together: {times}\n", after.read_text())


class Programs(Case):
    def test_examples(self):
        for name, times in (("listing.cpp", 3), ("all_to_all.cpp", 3)):
            with self.subTest(name):
                self.check_program((EXAMPLES / name).read_text(), times)

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
        for name, (source, times) in programs.PROGRAMS.items():
            with self.subTest(name):
                self.check_program(HEAD + source, times)

    def test_a_run_notices_ranks_that_do_not_take_part(self):
        for call, reason in (("if (threadIdx.x != 3) dynasoar::collective_malloc(8, true);", "a rank has ended"),
                             ("dynasoar::collective_malloc(threadIdx.x == 3 ? 64 : 8, true);", "asks for another size")):
            source = self.folder / "wrong_call.cpp"
            source.write_text(f"""{HEAD}
                int main(int, char**) {{
                  const dynasoar::CollectiveMemory memory;
                  {call}
                  return 0;
                }}""")
            self.compile(source, "wrong_call.o", "-Dmain=program_main", "-include", self.folder / "prefix.h")
            linked = run([*COMPILER, self.folder / "wrong_call.o", self.folder / "run_after.o", "-o", self.folder / "wrong",
                          *LIBRARIES])
            self.assertEqual(linked.returncode, 0, linked.stderr)
            ran = run([self.folder / "wrong"])
            self.assertEqual(ran.returncode, 1)
            self.assertIn(reason, ran.stderr)

    def test_refused_programs_stay_as_they_are(self):
        for name, (source, reason) in programs.REFUSED.items():
            with self.subTest(name):
                before, after = self.folder / "refused.cpp", self.folder / "refused_after.cpp"
                before.write_text(HEAD + source)
                result = rewrite(before, after)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(reason, result.stderr)
                self.assertEqual(before.read_text(), after.read_text())

    def test_without_registrations_nothing_is_known_of_libraries(self):
        source, _ = programs.PROGRAMS["library functions that the user registers"]
        path = self.folder / "unregistered.cpp"
        path.write_text(HEAD + source)
        result = rewrite(path, self.folder / "unregistered_after.cpp")
        self.assertIn("line 7: 'malloc' is left alone", result.stderr)
        self.assertNotIn("MPI_Alltoall", result.stderr)

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
