"""The command line of sugarscape: its own options, and files that are what they should be.

What all programs share is tested with wa-tor. Usage: sugarscape_cli_test.py <path of sugarscape>. Exits with 77 (skipped)
if sugarscape needs a GPU and there is none.
"""

import csv
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
IMPLEMENTATIONS = [("--variant", "cells"), ("--variant", "agents"), ("--baseline", "soa"), ("--baseline", "aos"),
                   ("--baseline", "reference")]
SMALL = ["--width", "40", "--height", "30", "--steps", "30"]


def run(*arguments, cwd):
    return subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def rows(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.reader(file))


def png_size(path):
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is not a PNG file"
    return struct.unpack(">II", data[16:24])


class SugarscapeTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def assert_refused(self, *arguments, mentions):
        """Exit code 2 and one line that mentions what is wrong; nothing is simulated or left behind."""
        with self.subTest(arguments=arguments):
            result = run(*arguments, cwd=self.path)
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("sugarscape: "), result.stderr)
            self.assertIn(mentions, result.stderr)
            self.assertEqual(list(self.path.iterdir()), [])

    def test_help_mentions_the_models_options_with_their_defaults(self):
        result = run("--help", cwd=self.path)
        self.assertEqual(result.returncode, 0)
        for option in ("--width", "--height", "--seed", "--male", "--female"):
            self.assertIn(option, result.stdout)
        for default in ("N=1024", "N=300", "N=42", "X=0.12", "X=0.15", "=agents", "FILE=population.csv",
                        "FILE=population.png", "FILE=sugarscape.png"):
            self.assertIn(default, result.stdout)

    def test_wrong_values_are_refused(self):
        for option in ("--width", "--height"):
            for value in ("0", "-3", "ten", "1.5", "99999999999", ""):
                self.assert_refused(f"{option}={value}", mentions=option)
        self.assert_refused("--width", "65536", "--height", "32768", mentions="2^31")
        for value in ("-1", "18446744073709551616", "x"):
            self.assert_refused(f"--seed={value}", mentions="--seed")
        for option in ("--male", "--female"):
            for value in ("1.1", "-0.1", "nan", "half"):
                self.assert_refused(f"{option}={value}", mentions=option)
        self.assert_refused("--male", "0.6", "--female", "0.5", mentions="--male + --female")
        self.assert_refused("--variant", "sugar", mentions="cells, agents")
        self.assert_refused("--baseline", "fast", mentions="soa")

    def test_files_are_complete_and_the_same_for_every_implementation(self):
        results = []
        for implementation in IMPLEMENTATIONS:
            with self.subTest(implementation=implementation):
                result = run(*SMALL, *implementation, "--frames", "frames", "--every", "20", cwd=self.path)
                self.assertEqual(result.returncode, 0, result)
                table = rows(self.path / "population.csv")
                self.assertEqual(table[0], ["step", "agents", "males", "females", "sugar"])
                numbers = [[int(value) for value in row] for row in table[1:]]
                self.assertEqual([row[0] for row in numbers], list(range(31)))
                self.assertTrue(all(row[1] == row[2] + row[3] <= 40 * 30 for row in numbers))
                self.assertEqual(numbers[0][4], 0)
                self.assertTrue(all(0 < row[4] <= 40 * 30 * 3500 for row in numbers[1:]))
                self.assertEqual(png_size(self.path / "sugarscape.png"), (40 * 13, 30 * 13))
                self.assertEqual(png_size(self.path / "population.png"), (1920, 1080))
                self.assertEqual(sorted(path.name for path in (self.path / "frames").iterdir()),
                                 ["frame-000000.png", "frame-000020.png"])
                results.append((table, (self.path / "sugarscape.png").read_bytes()))
                for word in ("agents", "males", "females", "sugar", "steps/s", "population.csv (31 rows)"):
                    self.assertIn(word, result.stdout)
        self.assertTrue(all(result == results[0] for result in results), "implementations differ")

    def test_the_seed_and_the_shares_change_the_run(self):
        tables = []
        for options in ([], ["--seed", "43"], ["--male", "0.3"], ["--female", "0"]):
            self.assertEqual(run(*SMALL, "--quiet", *options, cwd=self.path).returncode, 0)
            tables.append(rows(self.path / "population.csv"))
        self.assertEqual(len({str(table) for table in tables}), 4)
        self.assertTrue(all(row[3] == "0" for row in tables[3][1:]))

    def test_the_first_line_says_what_is_simulated(self):
        result = run(*SMALL, "--variant", "cells", cwd=self.path)
        self.assertRegex(result.stdout.splitlines()[0],
                         r"^sugarscape: cells and agents as objects, 40 x 30 cells, 30 steps, on the (GPU|CPU) .+$")

    def test_a_heap_that_is_too_small_ends_the_run_with_advice(self):
        for variant in ("cells", "agents"):
            with self.subTest(variant=variant):
                size = ["--width", "256", "--height", "256", "--steps", "3", "--variant", variant, "--quiet"]
                result = run(*size, "--heap", "64KiB", cwd=self.path)
                self.assertEqual(result.returncode, 3, result)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                advice = re.search(r"--heap (\d+MiB)", result.stderr)
                self.assertIsNotNone(advice, result.stderr)
                self.assertEqual(run(*size, "--heap", advice[1], cwd=self.path).returncode, 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        probe = run("--width", "1", "--height", "1", "--steps", "0", cwd=folder)
        if probe.returncode == 1 and "no GPU" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
