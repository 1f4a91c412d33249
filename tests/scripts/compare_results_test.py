"""scripts/compare-results: what it lists as worse, new and gone, what it compares with, and how it exits.

Usage: compare_results_test.py <path of compare-results>. All numbers here are made up, but for one test of the stored results.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROGRAM.parent))
import benchmark_results

STORED = PROGRAM.parent.parent / "benchmarks/results"


def record(median, metric="time per object", unit="ns", variant="create", **changes):
    return {"benchmark": "allocation", "variant": variant, "parameters": {"objects": 1000}, "metric": metric, "unit": unit,
            "median": median, "minimum": median, "maximum": median, "repetitions": 5, "device": "Made-Up GPU", "driver": "1.2",
            "cuda": "99.9", "compiler": "made-up compiler", "date": "2000-01-02", "commit": "0123456"} | changes


class CompareResults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.results = self.root / "benchmarks/results"
        self.results.mkdir(parents=True)

    def write(self, name, records):
        path = self.results / name
        path.write_text(records if isinstance(records, str) else benchmark_results.text_of(records), encoding="utf-8")
        return str(path)

    def run_program(self, *arguments):
        return subprocess.run([sys.executable, PROGRAM, "--root", self.root, *arguments], capture_output=True, text=True,
                              check=False)

    def compare(self, old, new, status, *arguments):
        """What comparing two lists of records prints."""
        result = self.run_program("--old", self.write("old.json", old), self.write("new.json", new), *arguments)
        self.assertEqual((result.returncode, result.stderr), (status, ""), result.stdout)
        return result.stdout

    def assert_worse(self, old, new, *, worse, **which):
        text = self.compare([record(old, **which)], [record(new, **which)], 1 if worse else 0)
        self.assertIn(f"1 figures compared: {1 if worse else 0} are more than 3 % worse", text)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", self.root, *arguments], check=True,
                       capture_output=True)

    def commit(self):
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "x")

    def test_more_than_three_percent_more_time_is_worse(self):
        for unit in ("ps", "ns", "us", "ms", "s"):
            self.assert_worse(100, 103.1, unit=unit, worse=True)
            self.assert_worse(100, 102.9, unit=unit, worse=False)
            self.assert_worse(100, 50, unit=unit, worse=False)

    def test_more_than_three_percent_less_of_a_rate_is_worse(self):
        for unit in ("TB/s", "GB/s", "GiB/s", "G/s", "M/s", "Gflop/s", "G words/s"):
            self.assert_worse(103.1, 100, unit=unit, worse=True)
            self.assert_worse(102.9, 100, unit=unit, worse=False)
            self.assert_worse(50, 100, unit=unit, worse=False)

    def test_of_percentages_the_metric_decides_and_half_a_point_counts(self):
        for old, new, metric, worse in ((90, 80, "slots used", True), (80, 90, "slots used", False),
                                        (10, 20, "fragmentation", True), (20, 10, "fragmentation", False),
                                        (1, 1.4, "fragmentation", False), (1, 1.5, "fragmentation", True),
                                        (0, 1, "refused", True), (0, 0.1, "refused", False), (0, 0, "refused", False)):
            with self.subTest(metric=metric, old=old, new=new):
                self.assert_worse(old, new, metric=metric, unit="%", worse=worse)

    def test_what_is_neither_better_nor_worse_is_not_compared(self):
        text = self.compare([record(100, "objects at the end", "million")], [record(1, "objects at the end", "million")], 0)
        self.assertIn("0 figures compared", text)

    def test_lists_both_values_the_worst_first(self):
        old = [record(1.5, variant="a"), record(200, variant="b"), record(3, variant="same")]
        new = [record(1.65, variant="a"), record(2000, variant="b"), record(3, variant="same")]
        self.assertIn("3 figures compared: 2 are more than 3 % worse, 0 are better; 0 are new, 0 are gone\n worse:\n"
                      "  allocation, b, objects=1000, time per object: 200 -> 2000 ns, 10 times worse\n"
                      "  allocation, a, objects=1000, time per object: 1.5 -> 1.65 ns, 10.0 % worse\n", self.compare(old, new, 1))

    def test_says_where_ranges_overlap(self):
        new = [record(110, minimum=99)]
        self.assertIn("10.0 % worse, ranges overlap\n", self.compare([record(100)], new, 1))
        self.assertIn("10.0 % worse, ranges overlap\n", self.compare([record(98)], [record(107.8, minimum=98)], 1))
        self.assertIn("10.0 % worse\n", self.compare([record(98)], [record(107.8, minimum=99)], 1))
        rates = [record(100, unit="G/s", minimum=90)], [record(80, unit="G/s", maximum=91)]
        self.assertIn("25.0 % worse, ranges overlap\n", self.compare(*rates, 1))
        rates[0][0]["minimum"] = 92
        self.assertIn("25.0 % worse\n", self.compare(*rates, 1))

    def test_another_limit_and_only_some_figures(self):
        old, new = [record(100), record(100, variant="delete")], [record(104), record(104, variant="delete")]
        self.assertIn("2 are more than 3 %", self.compare(old, new, 1))
        self.assertIn("0 are more than 5 %", self.compare(old, new, 0, "--percent", "5"))
        self.assertIn("1 figures compared: 1 are", self.compare(old, new, 1, "--only", "^allocation, delete"))
        result = self.run_program("--only", "(")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--only '(' is not a regular expression", result.stderr)

    def test_figures_are_the_same_if_name_and_parameters_are(self):
        old = [record(1), record(2, parameters={"threads": 1, "bytes": 2}), record(3, benchmark="lost"),
               record(4, benchmark="lost", variant="delete")]
        new = [record(9, parameters={"objects": 7}), record(2, parameters={"bytes": 2, "threads": 1}), record(5, benchmark="added")]
        self.assertIn("1 figures compared: 0 are more than 3 % worse, 0 are better; 2 are new, 3 are gone\n"
                      " new:\n  added: all 1 figures\n  allocation, create, objects=7, time per object\n"
                      " gone:\n  lost: all 2 figures\n  allocation, create, objects=1000, time per object\n",
                      self.compare(old, new, 1))

    def test_compile_times_are_compared_compiler_by_compiler(self):
        records = [record(time, unit="s", benchmark="compile", compiler=compiler) for time, compiler in ((1, "g++ 12"), (9, "nvcc 13"))]
        text = self.compare(records, [records[0] | {"compiler": "g++ 13"}, records[1] | {"median": 10}], 1)
        self.assertIn("2 figures compared: 1 are more than 3 % worse", text)
        self.assertIn("time per object, nvcc: 9 -> 10 s", text)
        self.assertIn("warning: compiler differs: g++ 12 and nvcc 13, now g++ 13 and nvcc 13", text)

    def test_warns_of_another_gpu_or_driver(self):
        text = self.compare([record(1)], [record(1, device="Other GPU", driver="1.3", date="2001-01-01", commit="fedcba9")], 0)
        self.assertEqual([line.strip() for line in text.splitlines() if "warning" in line],
                         ["warning: device differs: Made-Up GPU, now Other GPU", "warning: driver differs: 1.2, now 1.3"])

    def test_compares_changed_files_with_the_last_commit(self):
        self.write("same.json", [record(1)])
        self.write("changed.json", [record(1)])
        self.commit()
        result = self.run_program()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("there is nothing to compare", result.stdout)
        self.write("changed.json", [record(2)])
        self.write("added.json", [record(1)])
        result = self.run_program()
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertIn("changed.json, compared with HEAD:\n  1 figures compared: 1 are more", result.stdout)
        self.assertIn("added.json, compared with HEAD:\n  it is new, so there is nothing to compare it with\n", result.stdout)
        self.assertNotIn("same.json", result.stdout)
        self.assertNotIn("changed.json", self.run_program(self.results / "same.json").stdout)

    def test_compares_with_another_commit(self):
        self.write("a.json", [record(1)])
        self.commit()
        self.write("a.json", [record(2)])
        self.commit()
        self.assertEqual(self.run_program().returncode, 0)
        result = self.run_program("--old", "HEAD~1")
        self.assertIn("1 -> 2 ns, 100.0 % worse", result.stdout)
        self.assertEqual(result.returncode, 1)

    def test_says_what_cannot_be_compared(self):
        new = self.write("new.json", [record(1)])
        for arguments, words in (([], "is not a git checkout, or has no commit 'HEAD'; give two files"),
                                 (["--old", new], "--old OLD.json needs one FILE"),
                                 (["--old", "/missing.json", new], "No such file"),
                                 ([__file__], "is not JSON"),
                                 ([new], "there is no commit 'HEAD' in")):
            result = self.run_program(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertTrue(result.stderr.startswith("compare-results: "), result.stderr)
            self.assertIn(words, result.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(benchmark_results.text_of([record(1)]))
            file.flush()
            self.assertIn("so no commit has it; give what to compare it with", self.run_program(file.name).stderr)

    def test_a_metric_that_nobody_has_judged_is_named(self):
        result = self.run_program("--old", self.write("old.json", [record(1, "guess", "x")]), self.write("new.json", [record(1, "guess", "x")]))
        self.assertEqual(result.returncode, 2)
        self.assertIn("less of 'guess' is better; add it to scripts/benchmark_results.py", result.stderr)

    def test_knows_all_metrics_that_are_stored(self):
        records = [one for path in STORED.glob("*.json") for one in benchmark_results.read(path)]
        self.assertGreater(len(records), 1000)
        for one in records:
            benchmark_results.less_is_better(one)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
