"""The command line of wa-tor: exit codes, one-line messages, and files that are what they should be.

Usage: wa_tor_cli_test.py <path of wa-tor>. Exits with 77 (skipped) if wa-tor needs a GPU and there is none.
"""

import csv
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
OPTIONS = ("--width --height --steps --seed --fish --sharks --heap --variant --baseline --frames --every --csv --chart "
           "--picture --quiet --threads --help").split()
IMPLEMENTATIONS = [("--variant", "cells"), ("--variant", "agents"), ("--baseline", "soa"), ("--baseline", "aos"),
                   ("--baseline", "reference")]
SMALL = ["--width", "24", "--height", "18", "--steps", "12"]


def run(*arguments, cwd):
    return subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def rows(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.reader(file))


def png_size(path):
    """Width and height of a PNG file, after checking the checksums of all chunks and that its pixels decompress."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is not a PNG file"
    position, pixels, kinds, size = 8, b"", [], None
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        body = data[position + 8:position + 8 + length]
        (checksum,) = struct.unpack(">I", data[position + 8 + length:position + 12 + length])
        assert checksum == zlib.crc32(kind + body), f"{path}: wrong checksum of {kind}"
        kinds.append(kind)
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
        if kind == b"IDAT":
            pixels += body
        position += 12 + length
    assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND", f"{path} is not complete"
    assert len(zlib.decompress(pixels)) >= size[0] * size[1] * 3, f"{path} has too few pixels"
    return size


class WaTorTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def assert_refused(self, *arguments, mentions):
        """Exit code 2 and one line that mentions what is wrong; nothing is simulated or left behind."""
        with self.subTest(arguments=arguments):
            before = set(self.path.iterdir())
            result = run(*arguments, cwd=self.path)
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("wa-tor: "), result.stderr)
            self.assertIn(mentions, result.stderr)
            self.assertEqual(set(self.path.iterdir()), before)

    def test_help_mentions_every_option_with_its_default(self):
        result = run("--help", cwd=self.path)
        self.assertEqual(result.returncode, 0)
        for option in OPTIONS:
            self.assertIn(option, result.stdout)
        for default in ("N=1024", "N=300", "N=42", "X=0.25", "=agents", "=none", "SIZE=0", "FILE=population.csv",
                        "FILE=population.png", "FILE=wa-tor.png", "N=10", "DIR=none"):
            self.assertIn(default, result.stdout)
        self.assertEqual(list(self.path.iterdir()), [])

    def test_wrong_values_are_refused(self):
        for value in ("0", "-3", "ten", "1.5", "99999999999", ""):
            self.assert_refused(f"--width={value}", mentions="--width")
        self.assert_refused("--height", "0", mentions="--height")
        self.assert_refused("--width", "65536", "--height", "32768", mentions="2^31")
        self.assert_refused("--steps", "-1", mentions="--steps")
        self.assert_refused("--seed", "-1", mentions="--seed")
        self.assert_refused("--seed", "18446744073709551616", mentions="--seed")
        for value in ("1.1", "-0.1", "nan", "half"):
            self.assert_refused(f"--fish={value}", mentions="--fish")
        self.assert_refused("--fish", "0.6", "--sharks", "0.5", mentions="--fish + --sharks")
        self.assert_refused("--heap", "12XB", mentions="12XB")
        self.assert_refused("--heap", "99999999999GiB", mentions="--heap")
        self.assert_refused("--variant", "whales", mentions="cells, agents")
        self.assert_refused("--baseline", "fast", mentions="soa")
        self.assert_refused("--every", "0", mentions="--every")
        self.assert_refused("--threads", "-1", mentions="--threads")
        self.assert_refused("--whales", mentions="--whales")
        self.assert_refused("--width", mentions="--width")
        self.assert_refused("whales", mentions="whales")

    def test_outputs_that_cannot_be_written_are_refused_before_the_run(self):
        (self.path / "file").write_text("a file")
        for option in ("--csv", "--chart", "--picture"):
            self.assert_refused("--steps", "1000000000", option, "missing/out", mentions="missing/out")
        self.assert_refused("--steps", "1000000000", "--frames", "file/frames", mentions="file/frames")
        self.assert_refused("--steps", "1000000000", "--frames", "file", mentions="file")

    def test_files_are_complete_and_right_for_every_implementation(self):
        tables = []
        for implementation in IMPLEMENTATIONS:
            with self.subTest(implementation=implementation):
                result = run(*SMALL, *implementation, "--frames", "out/frames", "--every", "5", cwd=self.path)
                self.assertEqual(result.returncode, 0, result)
                table = rows(self.path / "population.csv")
                self.assertEqual(table[0], ["step", "fish", "sharks"])
                self.assertEqual([row[0] for row in table[1:]], [str(step) for step in range(13)])
                self.assertTrue(all(int(row[1]) + int(row[2]) <= 24 * 18 for row in table[1:]))
                self.assertEqual(png_size(self.path / "wa-tor.png"), (24 * 22, 18 * 22))
                self.assertEqual(png_size(self.path / "population.png"), (1920, 1080))
                frames = sorted(path.name for path in (self.path / "out/frames").iterdir())
                self.assertEqual(frames, ["frame-000000.png", "frame-000005.png", "frame-000010.png"])
                self.assertEqual(png_size(self.path / "out/frames/frame-000005.png"), (24 * 22, 18 * 22))
                tables.append((table, (self.path / "wa-tor.png").read_bytes()))
                for word in ("Population", "fish", "sharks", "steps/s", "objects/s", "population.csv (13 rows)"):
                    self.assertIn(word, result.stdout)
                if implementation[0] == "--variant":
                    for word in ("allocations", "frees", "heap", "fragmentation"):
                        self.assertIn(word, result.stdout)
        self.assertTrue(all(table == tables[0] for table in tables), "implementations differ")

    def test_large_oceans_have_a_pixel_per_cell(self):
        result = run("--width", "700", "--height", "3", "--steps", "0", "--baseline", "soa", cwd=self.path)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(png_size(self.path / "wa-tor.png"), (700, 3))
        self.assertEqual(len(rows(self.path / "population.csv")), 2)

    def test_the_first_line_says_what_runs_where(self):
        result = run(*SMALL, "--variant", "cells", "--threads", "1", cwd=self.path)
        self.assertRegex(result.stdout.splitlines()[0],
                         r"^wa-tor: cells and agents as objects, 24 x 18 cells, 12 steps, on the "
                         r"(GPU .+|CPU .+, 1 thread)$")

    def test_quiet_prints_nothing(self):
        result = run(*SMALL, "--quiet", cwd=self.path)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertTrue((self.path / "population.csv").exists())

    def test_none_writes_nothing(self):
        result = run(*SMALL, "--csv", "none", "--chart", "none", "--picture", "none", cwd=self.path)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(list(self.path.iterdir()), [])

    def test_progress_is_plain_lines_if_it_is_not_on_a_terminal(self):
        result = run(*SMALL, "--steps", "200", "--baseline", "reference", cwd=self.path)
        lines = result.stderr.splitlines()
        self.assertTrue(1 <= len(lines) <= 10, result.stderr)
        self.assertTrue(all(re.match(r"step \d+/200  fish [\d,]+  sharks [\d,]+", line) for line in lines))
        self.assertNotIn("\r", result.stderr)

    def test_progress_is_redrawn_in_place_on_a_terminal(self):
        controller, terminal = pty.openpty()
        arguments = ["--width", "256", "--height", "256", "--steps", "200", "--baseline", "reference"]
        with subprocess.Popen([PROGRAM, *arguments], cwd=self.path, stdout=subprocess.DEVNULL,
                              stderr=terminal) as process:
            os.close(terminal)
            text = b""
            try:
                while block := os.read(controller, 4096):
                    text += block
            except OSError:  # how Linux reports that the other side is closed
                pass
            self.assertEqual(process.wait(timeout=300), 0)
        os.close(controller)
        self.assertIn(b"\r", text)
        self.assertIn(b"step ", text)
        self.assertNotIn(b"\n", text)
        self.assertTrue(text.endswith(b"\r\x1b[K"), text[-40:])

    def test_a_heap_that_is_too_small_ends_the_run_with_advice(self):
        for variant in ("cells", "agents"):
            with self.subTest(variant=variant):
                size = ["--width", "256", "--height", "256", "--steps", "60", "--variant", variant]
                result = run(*size, "--heap", "64KiB", "--quiet", cwd=self.path)
                self.assertEqual(result.returncode, 3, result)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                advice = re.search(r"--heap (\d+MiB)", result.stderr)
                self.assertIsNotNone(advice, result.stderr)
                self.assertEqual(rows(self.path / "population.csv")[0], ["step", "fish", "sharks"])
                self.assertEqual(run(*size, "--heap", advice[1], "--quiet", cwd=self.path).returncode, 0)

    def test_interrupts_end_the_run_in_good_order(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                table = self.path / "population.csv"
                table.unlink(missing_ok=True)
                arguments = ["--width", "64", "--height", "64", "--steps", "1000000000"]
                with subprocess.Popen([PROGRAM, *arguments], cwd=self.path, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) as process:
                    deadline = time.monotonic() + 60
                    while time.monotonic() < deadline and not (table.exists() and len(table.read_text()) > 200):
                        time.sleep(0.02)
                    process.send_signal(number)
                    output, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130, errors)
                steps = int(re.search(r"interrupted after step (\d+) of", errors)[1])
                self.assertEqual([row[0] for row in rows(table)[1:]], [str(step) for step in range(steps + 1)])
                self.assertEqual(png_size(self.path / "wa-tor.png"), (512, 512))
                self.assertEqual(png_size(self.path / "population.png"), (1920, 1080))
                self.assertIn("Population", output)


def main():
    with tempfile.TemporaryDirectory() as folder:
        probe = run("--width", "1", "--height", "1", "--steps", "0", cwd=folder)
        if probe.returncode == 1 and "no GPU" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
