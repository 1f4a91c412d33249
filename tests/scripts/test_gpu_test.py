"""scripts/test-gpu: which tests it runs on which GPU, and what it says of them, with made-up GPUs and tests.

Usage: test_gpu_test.py <path of test-gpu>. Needs no GPU.
"""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
NVIDIA_SMI = """#!/bin/sh
echo "0, Made-up GPU, 1.2"
echo "1, Made-up GPU, 1.2"
"""
# `note` writes the test's name and its GPU to a file.
TESTS = """
add_test(good sh -c "echo good $CUDA_VISIBLE_DEVICES >> notes")
add_test(bad sh -c "echo it is bad; exit 3")
add_test(skips sh -c "exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(not_built no_such_program)
add_test(endless sleep 60)
add_test(costly sh -c "echo costly $CUDA_VISIBLE_DEVICES >> notes")
set_tests_properties(costly PROPERTIES COST 5)
add_test(reads sh -c "test -e saved; echo reads $CUDA_VISIBLE_DEVICES >> notes")
set_tests_properties(reads PROPERTIES FIXTURES_REQUIRED file)
add_test(saves sh -c "sleep 1; touch saved; echo saves $CUDA_VISIBLE_DEVICES >> notes")
set_tests_properties(saves PROPERTIES FIXTURES_SETUP file)
"""


class TestGpuTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/nvidia-smi").write_text(NVIDIA_SMI)
        (self.folder / "bin/nvidia-smi").chmod(0o755)
        (self.folder / "CTestTestfile.cmake").write_text(TESTS)

    def run_program(self, *options, gpu=True):
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}" if gpu else "/no/such/folder"
        result = subprocess.run([sys.executable, PROGRAM, "--built-in", self.folder, *options], capture_output=True,
                                text=True, env={**os.environ, "PATH": path})
        self.text = result.stdout + result.stderr
        return result.returncode

    def notes(self):
        return [line.split() for line in (self.folder / "notes").read_text().splitlines()]

    def test_all_pass(self):
        self.assertEqual(self.run_program("--only", "good|reads"), 0, self.text)
        self.assertIn("3 passed; ", self.text)
        self.assertIn("on 2 x Made-up GPU", self.text)

    def test_failures_are_shown(self):
        report = self.folder / "report.json"
        self.assertEqual(self.run_program("--only", "^(?!endless)", "--report", report), 1)
        for text in ("it is bad", "failed: ", "skipped: skips", "4 passed, 2 failed, 1 skipped"):
            self.assertIn(text, self.text)
        written = json.loads(report.read_text())
        results = {test["name"]: test["result"] for test in written["tests"]}
        self.assertEqual(results, dict(good="passed", bad="failed", skips="skipped", not_built="failed", reads="passed", costly="passed",
                                       saves="passed"))
        self.assertEqual(written["about"]["gpus"], ["Made-up GPU"] * 2)

    def test_fixtures_stay_together(self):
        self.assertEqual(self.run_program("--only", "reads", "--jobs", "1"), 0, self.text)
        (first, on), (second, also_on) = self.notes()
        self.assertEqual((first, second), ("saves", "reads"))
        self.assertEqual(on, also_on)

    def test_nothing_to_run(self):
        self.assertNotEqual(self.run_program("--only", "no such test"), 0)
        self.assertIn("no test matches 'no such test'", self.text)
        self.assertNotEqual(self.run_program("--jobs", "0"), 0)
        self.assertNotEqual(self.run_program(gpu=False), 0)
        self.assertIn("finds no GPU", self.text)

    def test_time_is_over(self):
        self.assertEqual(self.run_program("--only", "good", "--until", "0.000001"), 1)
        self.assertIn("not ended: good", self.text)

    def test_what_runs_too_long_is_stopped(self):
        begin = time.monotonic()
        self.assertEqual(self.run_program("--only", "good|endless", "--until", "3"), 1)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("not ended: endless", self.text)
        self.assertIn("1 passed, 1 not ended", self.text)

    def test_those_of_high_cost_begin_first(self):
        self.assertEqual(self.run_program("--only", "good|costly|reads", "--jobs", "1"), 0, self.text)
        self.assertIn("costly", [name for name, _ in self.notes()][:2])

    def test_results_are_printed_as_tests_end(self):
        self.run_program("--only", "good|bad", "--jobs", "1")
        self.assertRegex(self.text, r"passed +\d+\.\d s  GPU [01]  good\n")


class ProgramsTest(unittest.TestCase):
    """Which programs are built for --only, of a listing as CMake writes it."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        below = self.folder / "tests"
        below.mkdir()
        (below / "CTestTestfile.cmake").write_text(f"""
add_test([=[heap]=] "{below}/test_heap")
add_test([=[heap/lockstep]=] "{below}/test_lockstep")
add_test([=[apps/fish_cli]=] "/usr/bin/python3" "/source/fish_cli_test.py" "{below}/fish")
add_test([=[install]=] "/usr/bin/cmake" "-P" "/source/install.cmake")
set_tests_properties([=[heap]=] PROPERTIES  _BACKTRACE_TRIPLES "/source/CMakeLists.txt;1;add_test;/source/CMakeLists.txt;0;")
""")

    def programs(self, *names):
        loader = importlib.machinery.SourceFileLoader("test_gpu", str(PROGRAM))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("test_gpu", loader))
        loader.exec_module(module)
        return module.programs_of(self.folder, set(names), {"tests/test_heap", "tests/test_lockstep", "tests/fish", "all"})

    def test_those_that_tests_run(self):
        self.assertEqual(self.programs("heap", "apps/fish_cli"), ["tests/fish", "tests/test_heap"])

    def test_everything_if_a_test_runs_none(self):
        self.assertEqual(self.programs("heap", "install"), [])


if __name__ == "__main__":
    unittest.main()
