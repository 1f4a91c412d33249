"""The command lines of game-of-life and generation: pattern files, rules, edges, and their errors. What all programs
have in common is tested with wa-tor.

Usage: life_cli_test.py <path of game-of-life> <path of generation> <folder of patterns>. Exits with 77 (skipped) if
the programs need a GPU and there is none.
"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LIFE, GENERATION, PATTERNS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
OPTIONS = "--pattern --rule --width --height --density --seed --edge --margin --output --variant --baseline".split()
IMPLEMENTATIONS = [("--variant", "cells"), ("--variant", "agents"), ("--baseline", "soa"), ("--baseline", "aos"),
                   ("--baseline", "reference")]
NO_PICTURES = ["--chart", "none", "--picture", "none", "--quiet"]


def run(program, *arguments, cwd):
    return subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def rows(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.reader(file))


class LifeTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def assert_refused(self, program, *arguments, says):
        """Exit code 2 and one line that says what is wrong; nothing is left behind."""
        with self.subTest(arguments=arguments):
            before = set(self.path.iterdir())
            result = run(program, *arguments, cwd=self.path)
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertTrue(result.stderr.startswith(f"{program.name}: "), result.stderr)
            self.assertIn(says, result.stderr)
            self.assertEqual(set(self.path.iterdir()), before)

    def simulate(self, program, *arguments):
        """The table of a run, without its header."""
        result = run(program, *arguments, *NO_PICTURES, cwd=self.path)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return rows(self.path / "population.csv")[1:]

    def test_help_mentions_every_option_with_its_default(self):
        for program, rule, picture in ((LIFE, "B3/S23", "game-of-life.png"), (GENERATION, "234/34678/24", "generation.png")):
            result = run(program, "--help", cwd=self.path)
            self.assertEqual(result.returncode, 0)
            for option in OPTIONS:
                self.assertIn(option, result.stdout)
            for default in (f"the pattern's, or {rule}", "=grow", "=agents", "FILE=none", f"FILE={picture}"):
                self.assertIn(default, result.stdout)
        self.assertIn("stencil", run(LIFE, "--help", cwd=self.path).stdout)
        self.assertNotIn("stencil", run(GENERATION, "--help", cwd=self.path).stdout)

    def test_wrong_options_are_refused(self):
        self.assert_refused(LIFE, "--rule", "B3/S2x", says="--rule 'B3/S2x', character 6: unexpected 'x'")
        self.assert_refused(LIFE, "--rule", "B0/S23", says="birth on 0 is not supported")
        self.assert_refused(LIFE, "--rule", "345/2/4", says="the program for it is generation")
        self.assert_refused(GENERATION, "--rule", "345/2/266", says="from 2 to 265")
        self.assert_refused(GENERATION, "--baseline", "stencil", says="none, soa, aos, reference")
        self.assert_refused(LIFE, "--edge", "sharp", says="dead, torus, grow")
        self.assert_refused(LIFE, "--margin", "-1", says="--margin")
        self.assert_refused(LIFE, "--width", "-1", says="--width")
        self.assert_refused(LIFE, "--density", "1.5", says="--density")
        self.assert_refused(LIFE, "--width", "65536", "--height", "32768", says="more than 2^31 - 1 cells")
        self.assert_refused(LIFE, "--width", "9", "--height", "9", "--margin", "1200000000", says="more than 2^31 - 1")
        self.assert_refused(LIFE, "--output", "missing/out.rle", says="missing/out.rle")

    def test_wrong_patterns_are_refused(self):
        bad = self.path / "bad.rle"
        bad.write_text("#C a comment\nx = 3, y = 3\nbo$2b?$3o!\n")
        self.assert_refused(LIFE, "--pattern", "bad.rle", says="bad.rle:3:6: unexpected '?'")
        bad.write_text("x = 3, y = 3, rule = LifeHistory\n.D!\n")
        self.assert_refused(LIFE, "--pattern", "bad.rle", says="bad.rle:1:22: unexpected 'L'")
        bad.write_text("x = 3, y = 3, rule = 345/2/4\n3AD!\n")
        self.assert_refused(GENERATION, "--pattern", "bad.rle", says="bad.rle:2:3: row 1 has 4 cells or more")
        bad.write_text("x = 3, y = 3, rule = 345/2/4\n2AD!\n")
        self.assert_refused(GENERATION, "--pattern", "bad.rle", says="bad.rle:2:3: a cell in state 4")
        self.assert_refused(LIFE, "--pattern", "missing.rle", says="cannot read missing.rle: No such file")
        self.assert_refused(LIFE, "--pattern", ".", says="cannot read .: Is a directory")
        self.assert_refused(LIFE, "--pattern", PATTERNS / "brians_brain_ship.rle", says="/2/3 has dying states")
        self.assert_refused(LIFE, "--pattern", PATTERNS / "acorn.rle", "--width", "6",
                            says="--width: 6 is less than the 7 of the pattern")

    def test_a_rule_on_the_command_line_overrides_the_patterns(self):
        (self.path / "p.rle").write_text("x = 3, y = 1, rule = LifeHistory\n3o!\n")
        table = self.simulate(LIFE, "--pattern", "p.rle", "--rule", "B/S", "--steps", "1")
        self.assertEqual([row[1] for row in table], ["3", "0"])

    def test_all_implementations_write_the_same_files(self):
        cases = [(LIFE, ["--width", "40", "--height", "30", "--edge", "torus"], [("--baseline", "stencil")],
                  ["step", "alive", "candidates"]),
                 (GENERATION, ["--pattern", PATTERNS / "brians_brain_ship.rle", "--margin", "9", "--edge", "dead"], [],
                  ["step", "alive", "dying"])]
        for program, arguments, more, header in cases:
            results = []
            for implementation in IMPLEMENTATIONS + more:
                with self.subTest(program=program.name, implementation=implementation):
                    result = run(program, *arguments, *implementation, "--steps", "12", "--output", "end.rle",
                                 cwd=self.path)
                    self.assertEqual(result.returncode, 0, result)
                    self.assertIn("end.rle", result.stdout)
                    self.assertIn("population.csv (13 rows)", result.stdout)
                    picture = (self.path / f"{program.name}.png").read_bytes()
                    self.assertEqual(picture[:4], b"\x89PNG")
                    self.assertEqual((self.path / "population.png").read_bytes()[:4], b"\x89PNG")
                    table = rows(self.path / "population.csv")
                    self.assertEqual(table[0], header)
                    results.append((table, picture, (self.path / "end.rle").read_text()))
            self.assertTrue(all(result == results[0] for result in results), "implementations differ")

    def test_the_output_is_the_pattern_at_the_end_where_it_is(self):
        self.simulate(LIFE, "--pattern", PATTERNS / "glider.rle", "--steps", "400", "--output", "end.rle")
        self.assertEqual((self.path / "end.rle").read_text(),
                         "#N Glider\n#R 100 100\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n")
        # Two halves of a run are the whole.
        self.simulate(LIFE, "--pattern", PATTERNS / "acorn.rle", "--steps", "150", "--output", "half.rle")
        self.simulate(LIFE, "--pattern", "half.rle", "--steps", "150", "--output", "whole.rle")
        self.simulate(LIFE, "--pattern", PATTERNS / "acorn.rle", "--steps", "300", "--output", "expected.rle")
        self.assertEqual((self.path / "whole.rle").read_text(), (self.path / "expected.rle").read_text())

    def test_what_lives_can_die_out(self):
        (self.path / "p.rle").write_text("x = 0, y = 0\n!\n")
        table = self.simulate(LIFE, "--pattern", "p.rle", "--steps", "70", "--output", "end.rle")
        self.assertEqual(table[-1], ["70", "0", "0"])
        self.assertEqual((self.path / "end.rle").read_text(), "x = 0, y = 0, rule = B3/S23\n!\n")

    def test_the_edge_makes_the_difference(self):
        glider = ["--pattern", PATTERNS / "glider.rle", "--width", "9", "--height", "9", "--steps", "60"]
        last = {edge: self.simulate(LIFE, *glider, "--edge", edge)[-1][1] for edge in ("dead", "torus", "grow")}
        self.assertEqual(last, {"dead": "4", "torus": "5", "grow": "5"})  # in the corner it becomes a block
        first_line = run(LIFE, *glider, "--edge", "dead", "--margin", "2", "--steps", "0", cwd=self.path).stdout
        self.assertRegex(first_line, r"^game-of-life: alive cells and candidates as objects, 13 x 13 cells with a dead "
                                     r"edge, rule B3/S23, 0 steps, on the ")

    def test_a_heap_that_is_too_small_ends_the_run_with_advice(self):
        size = ["--width", "256", "--height", "256", "--steps", "20", *NO_PICTURES]
        result = run(GENERATION, *size, "--heap", "64KiB", cwd=self.path)
        self.assertEqual(result.returncode, 3, result)
        advice = re.search(r"--heap (\d+MiB)", result.stderr)
        self.assertIsNotNone(advice, result.stderr)
        self.assertEqual(run(GENERATION, *size, "--heap", advice[1], cwd=self.path).returncode, 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        probe = run(LIFE, "--width", "1", "--height", "1", "--steps", "0", cwd=folder)
        if probe.returncode == 1 and "no GPU" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
