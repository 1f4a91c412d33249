"""The example docs/examples/own_program: a program of one's own has what docs/how-to/own-program.md says.

Usage: own_program_test.py <path of rabbits> <path of sweep> <path of its sweep.toml>. Exits with 77 (skipped) if rabbits needs a GPU
and there is none.
"""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RABBITS, SWEEP, SWEEP_FILE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
SKIPPED = 77


def read_csv(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.reader(file))


class PageTest(unittest.TestCase):
    def test_the_page_shows_the_example(self):
        example = SWEEP_FILE.parent
        page = (example.parents[1] / "how-to" / "own-program.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```(cpp|cmake)\n(.*?)```", page, re.DOTALL)
        self.assertGreaterEqual(len(blocks), 5)
        for language, text in blocks:
            name = {"cpp": "main.cpp", "cmake": "CMakeLists.txt"}[language]
            self.assertIn(text, (example / name).read_text(encoding="utf-8"), name)


class OwnProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, code=0):
        result = subprocess.run([RABBITS, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(result.returncode, code, result)
        return result

    def test_the_log_has_a_row_for_every_step(self):
        result = self.run_program("--seed", "3", "--steps", "10", "--log", "x.csv")
        header, *rows = read_csv(self.folder / "x.csv")
        self.assertEqual(header, ["step", "rabbits", "newborn", "mean age"])
        self.assertEqual([row[0] for row in rows], [str(step) for step in range(11)])
        self.assertEqual(rows[0], ["0", "1000", "1000", "0"])
        self.assertTrue(all(0.8 * step < float(row[3]) < step for step, row in enumerate(rows) if step > 0), rows)
        self.assertTrue(all(0 < int(row[2]) < 100 for row in rows[1:]), rows)
        self.assertRegex(result.stdout, r"^rabbits: objects, 1000 at the start, 10 steps, on ")
        self.assertIn("Written: x.csv (11 rows)", result.stdout)

    def test_a_mean_of_nothing_is_an_empty_cell(self):
        result = self.run_program("--deaths", "1", "--births", "0", "--steps", "2", "--log", "x.csv")
        self.assertEqual(read_csv(self.folder / "x.csv")[1:], [["0", "1000", "1000", "0"], ["1", "0", "0", ""], ["2", "0", "0", ""]])
        self.assertRegex(result.stdout, r"\n  mean age +0 +- +0 +0\n")
        self.run_program("--deaths", "1", "--births", "0", "--steps", "1", "--log", "x.jsonl")
        self.assertEqual([json.loads(line)["mean age"] for line in (self.folder / "x.jsonl").read_text().splitlines()], [0, None])

    def test_only_options_that_the_program_has_are_offered(self):
        # On one line. CLI11 shows defaults as --seed N=42 or, from 2.2 on, as --seed N [42].
        text = re.sub(r"(--\S+ \S+) \[([^\]]*)\] ", r"\1=\2 ", " ".join(self.run_program("--help").stdout.split()))
        for option in ("--rabbits N=1000", "--seed N=42", "--steps N=300", "--log FILE=rabbits.csv", "--checkpoint FILE=none", "--quiet"):
            self.assertIn(f" {option} ", text)
        for option in ("--variant", "--allocator", "--baseline", "--picture", "--chart", "--view"):
            self.assertNotIn(option, text)

    def test_a_restored_run_has_the_same_log(self):
        self.run_program("--seed", "3", "--steps", "10", "--log", "whole.csv")
        self.run_program("--seed", "3", "--steps", "4", "--log", "begin.csv", "--checkpoint", "c")
        self.run_program("--seed", "3", "--steps", "10", "--log", "end.csv", "--restore", "c", "--threads", "1")
        self.assertEqual(read_csv(self.folder / "end.csv")[1:], read_csv(self.folder / "whole.csv")[5:])

    def test_a_run_with_other_options_is_not_restored(self):
        self.run_program("--seed", "3", "--steps", "4", "--checkpoint", "c")
        for option, message in (("--births=0.5", "--births: the run in c has 0.03, not 0.5"), ("--seed=4", "--seed: the run in c has 3, not 4")):
            result = self.run_program("--seed", "3", "--steps", "10", "--restore", "c", option, code=2)
            self.assertEqual(result.stderr, f"rabbits: {message}\n")

    def test_objects_are_exported(self):
        self.run_program("--steps", "10", "--log", "x.csv", "--export", "rabbits.csv", "--export-every", "5")
        counts = [int(row[1]) for row in read_csv(self.folder / "x.csv")[1::5]]
        self.assertEqual([len(read_csv(self.folder / f"rabbits-{step:06}.csv")) - 1 for step in (0, 5, 10)], counts)

    def test_a_heap_that_is_too_small_ends_the_run(self):
        result = self.run_program("--rabbits", "1000000", "--heap", "1MiB", code=3)
        self.assertRegex(result.stderr, r"too small for this warren .*; run again with --heap 64MiB\n$")

    def test_a_sweep_runs_it(self):
        subprocess.run([sys.executable, SWEEP, SWEEP_FILE, RABBITS, "--out", self.folder / "out"], check=True, timeout=100,
                       capture_output=True)
        summary = read_csv(self.folder / "out" / "summary.csv")
        self.assertEqual(len(summary), 4, summary)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as probe:
        result = subprocess.run([RABBITS, "--steps", "0", "--log", "none"], cwd=probe, capture_output=True, text=True, check=False)
    if result.returncode == 1 and "no GPU" in result.stderr:
        print("skipped:", result.stderr.strip())
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
