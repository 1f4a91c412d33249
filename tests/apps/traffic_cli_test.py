"""The command line of traffic: its own options, what it refuses, and its files. What all programs share is tested with
wa-tor.

Usage: traffic_cli_test.py <path of traffic> <path of town.net.xml>. Exits with 77 (skipped) if traffic needs a GPU and
there is none.
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
TOWN = str(pathlib.Path(sys.argv[2]).resolve())
OPTIONS = ("--network --intersections --producers --destinations --green --density --production --dawdling --seed "
           "--save-network --steps --heap --variant --baseline --csv --chart --picture").split()
IMPLEMENTATIONS = [("--variant", "cells"), ("--variant", "cars"), ("--baseline", "soa"), ("--baseline", "aos"),
                   ("--baseline", "reference")]
SMALL = ["--intersections", "15", "--steps", "12", "--density", "0.1"]
TEXT = ("traffic 1\nintersection 0 0 5\nintersection 3 1 0\nstreet 0 1 12 7 0\nstreet 1 0 9 5 0 2 0\nturn 0 1\n"
        "turn 1 0\nproducer 0 3\ndestination 1 4\n")


def run(*arguments, cwd):
    return subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def rows(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.reader(file))


def png_size(path):
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR", f"{path} is not a PNG file"
    return struct.unpack(">II", data[16:24])


class TrafficTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def write(self, name, text):
        (self.path / name).write_text(text, encoding="ascii")

    def assert_refused(self, *arguments, mentions):
        """Exit code 2 and one line that mentions what is wrong; nothing is simulated or left behind."""
        with self.subTest(arguments=arguments):
            before = set(self.path.iterdir())
            result = run(*arguments, cwd=self.path)
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("traffic: "), result.stderr)
            self.assertIn(mentions, result.stderr)
            self.assertEqual(set(self.path.iterdir()), before)

    def test_help_mentions_every_option_with_its_default(self):
        result = run("--help", cwd=self.path)
        self.assertEqual(result.returncode, 0)
        for option in OPTIONS:
            self.assertIn(option, result.stdout)
        for default in ("FILE=none", "N=100", "X=0.02", "X=0.003", "N=5", "X=0 ", "X=0.2", "N=42", "N=300",
                        "cells|cars=cells", "FILE=traffic.csv", "FILE=traffic-history.png", "FILE=traffic.png"):
            self.assertIn(default, result.stdout)

    def test_wrong_values_are_refused(self):
        for value in ("-1", "many", "1000001", "1.5"):
            self.assert_refused(f"--intersections={value}", mentions="--intersections")
        for option in ("--producers", "--destinations", "--density", "--production", "--dawdling"):
            for value in ("-0.1", "1.1", "nan", "few", ""):
                self.assert_refused(f"{option}={value}", mentions=option)
        self.assert_refused("--green", "1000001", mentions="--green")
        self.assert_refused("--producers", "0.6", "--destinations", "0.5", mentions="--producers + --destinations")
        self.assert_refused("--variant", "streets", mentions="cells")
        self.assert_refused("--save-network", "missing/a.txt", mentions="missing/a.txt")

    def test_options_of_other_networks_are_refused(self):
        self.write("ring.txt", TEXT)
        self.assert_refused("--network", "ring.txt", "--intersections", "5", mentions="--intersections")
        for option in ("--producers", "--destinations", "--green"):
            self.assert_refused("--network", "ring.txt", option, "0", mentions=option)

    def test_networks_that_cannot_be_read_are_refused(self):
        self.assert_refused("--network", "missing.txt", mentions="missing.txt: cannot be opened")
        self.assert_refused("--network", ".", mentions=".: cannot be")
        self.write("broken.txt", TEXT.replace("turn 1 0", "turn 1 7"))
        self.assert_refused("--network", "broken.txt",
                            mentions="broken.txt:7:8: there is no street 7 in the lines above")
        self.write("broken.net.xml", "<net>\n  <edge id='a' from='b' to='c'/>\n</net>\n")
        self.assert_refused("--network", "broken.net.xml",
                            mentions="broken.net.xml:2:3: <edge>: there is no junction 'b'")
        self.write("text.xml", TEXT)
        self.assert_refused("--network", "text.xml", mentions="text.xml:")
        self.write("empty.txt", "")
        self.assert_refused("--network", "empty.txt", mentions="empty.txt:1:1: expected 'traffic 1'")

    def test_files_are_the_same_for_all_implementations(self):
        results = []
        for implementation in IMPLEMENTATIONS:
            with self.subTest(implementation=implementation):
                result = run(*SMALL, *implementation, cwd=self.path)
                self.assertEqual(result.returncode, 0, result)
                table = rows(self.path / "traffic.csv")
                self.assertEqual(table[0], ["step", "cars", "moving", "speeds"])
                self.assertEqual([row[0] for row in table[1:]], [str(step) for step in range(13)])
                self.assertGreater(int(table[-1][1]), int(table[-1][2]))
                self.assertGreater(int(table[-1][3]), int(table[-1][2]))
                self.assertEqual(png_size(self.path / "traffic-history.png"), (1920, 1080))
                self.assertLessEqual(max(png_size(self.path / "traffic.png")), 1700)
                for word in ("cars", "moving", "cars prepare", "cars move", "traffic.csv (13 rows)"):
                    if implementation != ("--baseline", "reference"):
                        self.assertIn(word, result.stdout)
                results.append((table, (self.path / "traffic.png").read_bytes()))
        self.assertTrue(all(result == results[0] for result in results), "implementations differ")

    def test_a_saved_network_is_the_same_network(self):
        sources = [([*SMALL, "--seed", "7"], ["--seed", "7"]),
                   (["--network", TOWN, "--producers", "0.1", "--green", "3"], [])]
        for source, rest in sources:
            with self.subTest(source=source):
                common = ["--steps", "9", "--density", "0.2", "--picture", "none", "--chart", "none"]
                first = run(*source, *common, "--save-network", "a.txt", cwd=self.path)
                self.assertEqual(first.returncode, 0, first)
                self.assertIn("a.txt", first.stdout)
                table = rows(self.path / "traffic.csv")
                second = run("--network", "a.txt", *rest, *common, "--save-network", "b.txt", cwd=self.path)
                self.assertEqual(second.returncode, 0, second)
                self.assertEqual(rows(self.path / "traffic.csv"), table)
                self.assertEqual((self.path / "a.txt").read_bytes(), (self.path / "b.txt").read_bytes())

    def test_a_town_of_sumo_is_simulated(self):
        result = run("--network", TOWN, "--steps", "10", "--density", "0.1", cwd=self.path)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("cells and cars as objects, town.net.xml, 60 intersections, 164 streets,",
                      result.stdout.splitlines()[0])
        self.assertGreater(int(rows(self.path / "traffic.csv")[-1][2]), 0)
        self.assertEqual(max(png_size(self.path / "traffic.png")), 1668)

    def test_degenerate_networks_run(self):
        self.write("ring.txt", TEXT)
        self.write("nothing.txt", "traffic 1\n")
        self.write("cell.txt", "traffic 1\nintersection 2 2 1\nstreet 0 0 1 9 0\nturn 0 0\n")
        for arguments in (["--intersections", "0"], ["--intersections", "1"], ["--network", "ring.txt"],
                          ["--network", "nothing.txt"], ["--network", "cell.txt", "--density", "1"],
                          ["--intersections", "4", "--producers", "1", "--production", "1", "--destinations", "0"]):
            for implementation in IMPLEMENTATIONS:
                with self.subTest(arguments=arguments, implementation=implementation):
                    result = run(*arguments, *implementation, "--steps", "3", "--quiet", "--chart", "none",
                                 cwd=self.path)
                    self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
                    self.assertEqual(len(rows(self.path / "traffic.csv")), 5)
                    self.assertGreaterEqual(min(png_size(self.path / "traffic.png")), 100)

    def test_a_heap_that_is_too_small_ends_the_run_with_advice(self):
        size = ["--intersections", "60", "--density", "0.5", "--steps", "2", "--quiet"]
        for variant in ("cells", "cars"):
            result = run(*size, "--variant", variant, "--heap", "64KiB", cwd=self.path)
            self.assertEqual(result.returncode, 3, result)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            advice = re.search(r"--heap (\d+MiB)", result.stderr)
            self.assertIsNotNone(advice, result.stderr)
            self.assertEqual(run(*size, "--variant", variant, "--heap", advice[1], cwd=self.path).returncode, 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        probe = run("--intersections", "1", "--steps", "0", cwd=folder)
        if probe.returncode == 1 and "no GPU" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
