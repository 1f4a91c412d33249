"""The command lines of n-body and collision: what is particular to them; wa_tor_cli_test.py has what all programs share.

Usage: bodies_cli_test.py <path of n-body> <path of collision>. Exits with 77 (skipped) if they need a GPU and there is none.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = [str(pathlib.Path(path).resolve()) for path in sys.argv[1:3]]
IMPLEMENTATIONS = [("--variant", "objects"), ("--baseline", "soa"), ("--baseline", "aos"), ("--baseline", "reference")]
THREE = "x,y,vx,vy,mass\n0.5,0.25,0,0,40\n-0.5,0.25,0.0001,0,50.5\n\n0,-1,0,-0.0002,60\n"


def run(program, *arguments, cwd):
    return subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


class BodiesTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def test_tables_have_a_row_for_every_step_and_agree(self):
        for program in PROGRAMS:
            tables = []
            for implementation in IMPLEMENTATIONS:
                with self.subTest(program=program, implementation=implementation):
                    result = run(program, "--bodies", "80", "--steps", "6", *implementation, cwd=self.path)
                    self.assertEqual(result.returncode, 0, result)
                    rows = list(csv.reader((self.path / "bodies.csv").read_text().splitlines()))
                    self.assertEqual(rows[0], ["step", "bodies", "mass", "kinetic_energy", "momentum_x", "momentum_y"])
                    self.assertEqual([row[0] for row in rows[1:]], [str(step) for step in range(7)])
                    tables.append(rows)
                    for name in ("bodies.png", pathlib.Path(program).name + ".png"):
                        self.assertTrue((self.path / name).read_bytes().startswith(b"\x89PNG"))
            for table in tables[1:]:
                for row, expected in zip(table[1:], tables[0][1:]):
                    self.assertEqual(row[:2], expected[:2])
                    for value, other in zip(row[2:4], expected[2:4]):
                        self.assertAlmostEqual(float(value) / float(other), 1, places=5)

    def test_bodies_are_read_and_written(self):
        for program in PROGRAMS:
            (self.path / "in.csv").write_text(THREE)
            result = run(program, "--input", "in.csv", "--steps", "0", "--output", "out.csv", cwd=self.path)
            self.assertEqual(result.returncode, 0, result)
            self.assertIn("3 bodies", result.stdout)
            self.assertEqual((self.path / "out.csv").read_text(), THREE.replace("\n\n", "\n"))
            result = run(program, "--input", "out.csv", "--steps", "3", "--output", "out.csv", cwd=self.path)
            self.assertEqual(result.returncode, 0, result)
            self.assertEqual(len((self.path / "out.csv").read_text().splitlines()), 4)

    def test_columns_may_come_in_any_order(self):
        (self.path / "in.csv").write_text("mass, vy,vx,y,x\r\n40,0,0,0.25,0.5\r\n")
        result = run(PROGRAMS[0], "--input", "in.csv", "--steps", "0", "--output", "out.csv", cwd=self.path)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual((self.path / "out.csv").read_text(), "x,y,vx,vy,mass\n0.5,0.25,0,0,40\n")

    def test_files_that_are_no_bodies_are_refused_with_line_and_column(self):
        header = "x,y,vx,vy,mass\n"
        for text, place, words in (("", "1:1", "empty"), ("x,y,vx,vy,weight\n", "1:11", "'weight'"),
                                   ("x,y,x,vy,mass\n", "1:5", "twice"), ("x,y,vx,vy\n", "1:1", "must name"),
                                   (header, "2:1", "no bodies"), (header + "1,2,3,4\n", "2:1", "there are 4"),
                                   (header + "0,0,0,0,1\n0,0,fast,0,1\n", "3:5", "'fast'"),
                                   (header + "0,0,0,0,nan\n", "2:9", "'nan'"), (header + "0,0,0,0,0\n", "2:9", "mass"),
                                   (header + "0,,0,0,1\n", "2:3", "''")):
            with self.subTest(text=text):
                (self.path / "in.csv").write_text(text)
                result = run(PROGRAMS[0], "--input", "in.csv", cwd=self.path)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertEqual(len(result.stderr.splitlines()), 1)
                self.assertIn(f"in.csv:{place}: ", result.stderr)
                self.assertIn(words, result.stderr)
        result = run(PROGRAMS[0], "--input", "missing.csv", cwd=self.path)
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot read missing.csv", result.stderr)

    def test_outputs_that_cannot_be_written_and_wrong_values_are_refused_before_the_run(self):
        for arguments, words in ((("--output", "missing/out.csv"), "missing/out.csv"), (("--bodies", "0"), "--bodies"),
                                 (("--variant", "cells"), "objects")):
            result = run(PROGRAMS[1], "--steps", "1000000", *arguments, cwd=self.path)
            self.assertEqual(result.returncode, 2, result)
            self.assertIn(words, result.stderr)

    def test_a_heap_that_is_too_small_ends_the_run_with_advice(self):
        result = run(PROGRAMS[0], "--bodies", "20000", "--steps", "1", "--heap", "64KiB", cwd=self.path)
        self.assertEqual(result.returncode, 3, result)
        self.assertRegex(result.stderr, r"run again with --heap \d+MiB")


def main():
    with tempfile.TemporaryDirectory() as folder:
        probe = run(PROGRAMS[0], "--bodies", "1", "--steps", "0", cwd=folder)
        if probe.returncode == 1 and "no GPU" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
