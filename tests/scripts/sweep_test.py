#!/usr/bin/python3
"""scripts/sweep with programs that do what is asked of them: succeed, fail, hang, take memory.

Usage: sweep_test.py <path of sweep> [<path of wa-tor> <path of its sweep.toml>]
"""

import csv
import importlib.util
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

SWEEP = str(pathlib.Path(sys.argv[1]).resolve())
WA_TOR = [pathlib.Path(argument).resolve() for argument in sys.argv[2:4]]

# Writes a log of two rows, `speed` and `speed` + `seed`, and notes beside the sweep that it was here.
PROGRAM = r"""#!/usr/bin/python3
import os, sys, time
arguments = sys.argv[1:]
if "--help" in arguments:
    print("--speed --seed --log --quiet --threads --chart --picture --do --note --steps --flag")
    sys.exit(0)
names = [a[2:] for a in arguments if a.startswith("--")]
def value(name, default):
    return arguments[arguments.index("--" + name) + 1] if "--" + name in arguments else default
speed, seed, do = float(value("speed", 1)), int(value("seed", 0)), value("do", "")
with open(value("note", "/dev/null"), "a") as note:
    note.write(" ".join(arguments) + "\n")
if do == "fail":
    print("something is wrong\nthe ocean is dry")
    sys.exit(3)
if do == "die":
    os.kill(os.getpid(), 11)
if do == "hang" and seed == 2:
    time.sleep(1000)
if do == "sleep":
    time.sleep(0.4)
if do == "memory":
    block = bytearray(200 << 20)
    for i in range(0, len(block), 4096): block[i] = 1
    time.sleep(0.5)
with open(value("log", "log.csv"), "w") as log:
    log.write(f"step,fish,sharks\n0,{speed},1\n1,{speed + seed},2\n")
"""


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class SweepTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(self.program.stat().st_mode | stat.S_IEXEC)
        self.note = self.folder / "note"

    def write(self, text):
        (self.folder / "s.toml").write_text(f'options.note = "{self.note}"\n' + text)

    def sweep(self, *arguments, environment=None):
        return subprocess.run([SWEEP, "s.toml", self.program, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, env=os.environ | (environment or {}))

    def started(self):
        return self.note.read_text().splitlines() if self.note.exists() else []

    def runs(self):
        return read_csv(self.folder / "s/runs.csv")

    def test_all_combinations_run_with_all_seeds(self):
        self.write('repetitions = 3\nseed = 10\ngrid.speed = [0.5, 2]\n[[combinations]]\nspeed = 7\nflag = true\n')
        result = self.sweep()
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("9 runs, 0 failed", result.stdout)
        rows = self.runs()
        self.assertEqual(sorted((row["speed"], row["flag"], row["seed"]) for row in rows),
                         sorted((speed, flag, str(seed)) for speed, flag in (("0.5", ""), ("2", ""), ("7", "True"))
                                for seed in (10, 11, 12)))
        for row in rows:
            self.assertEqual(row["status"], "done")
            self.assertEqual(float(row["fish"]), float(row["speed"]) + int(row["seed"]))
            self.assertEqual(float(row["sharks"]), 2)
            self.assertGreater(int(row["peak_memory"]), 1 << 20)
            record = json.loads((self.folder / "s" / row["folder"] / "record.json").read_text())
            self.assertEqual("--flag" in record["arguments"], row["flag"] == "True")
            self.assertIn("--threads", record["arguments"])
        self.assertEqual(len(self.started()), 9)

    def test_statistics_are_those_of_the_repetitions(self):
        self.write('repetitions = 3\nlast = 2\nmeasures = ["fish"]\ngrid.speed = [4]\n')
        self.assertEqual(self.sweep().returncode, 0)
        (row,) = read_csv(self.folder / "s/summary.csv")
        # Means of speed and speed + seed, for the seeds 1, 2 and 3: 4.5, 5 and 5.5.
        self.assertEqual((row["measure"], row["runs"], row["failed"]), ("fish", "3", "0"))
        self.assertEqual([float(row[name]) for name in ("mean", "standard_deviation", "least", "most")], [5, 0.5, 4.5, 5.5])

    def test_failures_are_recorded_and_the_rest_goes_on(self):
        self.write('repetitions = 2\ngrid.do = ["fail", "", "die", "hang"]\n')
        result = self.sweep("--timeout", "2", "--jobs", "2")
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("8 runs, 5 failed", result.stdout)
        self.assertIn("exit code 3: the ocean is dry", result.stderr)
        errors = {(row["do"], row["seed"]): row["error"] for row in self.runs()}
        self.assertEqual(errors[("fail", "1")], "exit code 3: the ocean is dry")
        self.assertEqual(errors[("die", "2")], "ended by SIGSEGV")
        self.assertEqual(errors[("hang", "2")], "took more than 2 s")
        self.assertEqual([errors[key] for key in ((("", "1")), ("", "2"), ("hang", "1"))], ["", "", ""])
        # Once more: nothing is repeated, unless one says so.
        count = len(self.started())
        self.assertEqual(self.sweep().returncode, 1)
        self.assertEqual(len(self.started()), count)
        self.assertEqual(self.sweep("--retry-failed", "--timeout", "1").returncode, 1)
        self.assertEqual(len(self.started()), count + 5)

    def test_an_interrupted_sweep_goes_on(self):
        self.write('repetitions = 12\noptions.do = "sleep"\n')
        with subprocess.Popen([SWEEP, "s.toml", self.program, "--jobs", "2"], cwd=self.folder, stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as process:
            end = time.monotonic() + 60
            while len(list(self.folder.glob("s/runs/*/record.json"))) < 4 and time.monotonic() < end:
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130, errors)
        finished = {path.parent.name: path.stat().st_mtime_ns for path in self.folder.glob("s/runs/*/record.json")}
        self.assertRegex(errors, rf"interrupted after {len(finished)} of 12 runs; the same command goes on")
        self.assertLess(len(finished), 12)
        self.assertEqual(len(self.runs()), len(finished))
        before = len(self.started())
        self.assertEqual(self.sweep().returncode, 0)
        self.assertEqual(len(self.started()), before + 12 - len(finished))
        for name, written in finished.items():
            self.assertEqual((self.folder / "s/runs" / name / "record.json").stat().st_mtime_ns, written)

    def test_more_repetitions_and_combinations_run_beside_those_that_are_done(self):
        self.write('repetitions = 2\ngrid.speed = [1, 2]\n')
        self.sweep()
        self.write('repetitions = 3\ngrid.speed = [1, 2, 3]\n')
        self.assertEqual(self.sweep().returncode, 0)
        self.assertEqual(len(self.started()), 9)
        self.assertEqual(len(self.runs()), 9)

    def test_another_build_of_the_program_is_noticed(self):
        self.write('repetitions = 2\n')
        self.sweep()
        self.program.write_text(PROGRAM + "\n# new\n")
        result = self.sweep()
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("2 finished runs", result.stderr)
        self.assertIn("another build of the program: give another --out, or delete", result.stderr)
        self.assertEqual(self.sweep("--out", "other").returncode, 0)

    def most_at_once(self):
        """By the times in the records."""
        records = [(path.stat().st_mtime, json.loads(path.read_text())["seconds"])
                   for path in self.folder.glob("s/runs/*/record.json")]
        return max(sum(end - seconds < other_end - 0.1 and end > other_end for end, seconds in records) + 1
                   for other_end, _ in records)

    def test_memory_bounds_how_many_run_at_once(self):
        self.write('repetitions = 6\noptions.do = "memory"\n')
        self.assertEqual(self.sweep("--jobs", "6", "--memory", "500MiB").returncode, 0)
        self.assertEqual(self.most_at_once(), 2)
        self.write('repetitions = 6\noptions.do = "memory"\nmemory = "100MiB"\n')
        self.assertEqual(self.sweep("--jobs", "6", "--memory", "500MiB", "--out", "t").returncode, 0)
        (self.folder / "s").rename(self.folder / "old")
        (self.folder / "t").rename(self.folder / "s")
        self.assertGreater(self.most_at_once(), 2)

    def test_memory_of_a_gpu_counts_as_well(self):
        smi = self.folder / "bin/nvidia-smi"
        smi.parent.mkdir()
        smi.write_text('#!/bin/sh\ncase "$1" in *memory.free*) echo 1000 ;; esac\n')
        smi.chmod(0o755)
        self.write('repetitions = 6\noptions.do = "sleep"\ngpu_memory = "400MiB"\n')
        path = {"PATH": f"{smi.parent}:{os.environ['PATH']}"}
        self.assertEqual(self.sweep("--jobs", "6", environment=path).returncode, 0)
        self.assertEqual(self.most_at_once(), 2)

    def test_a_dry_run_runs_nothing(self):
        self.write('repetitions = 2\ngrid.speed = [1, 2]\n')
        result = self.sweep("--dry-run")
        self.assertEqual(len(result.stdout.splitlines()), 4)
        self.assertEqual(sum("--speed 2 --seed 2 --log log.csv --quiet" in line for line in result.stdout.splitlines()), 1)
        self.assertEqual(self.started(), [])
        self.assertFalse((self.folder / "s").exists())

    def test_a_chart_is_drawn_where_matplotlib_is(self):
        self.write('repetitions = 3\ngrid.speed = [1, 2, 3]\nchart.y = ["fish"]\n')
        result = self.sweep()
        if importlib.util.find_spec("matplotlib"):
            chart = (self.folder / "s/chart.svg").read_text(encoding="utf-8")
            self.assertTrue(">--speed</text>" in chart and ">fish</text>" in chart)
        else:
            self.assertIn("no chart: matplotlib is not installed", result.stdout)

    def test_wrong_files_are_refused(self):
        for text, message in (('grid.speed = []', "[grid] speed: expected a list of at least one value"),
                              ('grid.speed = 3', "[grid] speed: expected a list"),
                              ('grid.speed = [1, 1]', "[grid] speed: a value is there twice"),
                              ('grid.sped = [1]', "program has no option --sped"),
                              ('options.seed = 3', "'seed' is set by the sweep itself: say seed = N"),
                              ('repetition = 3', "'repetition' is none of"),
                              ('repetitions = 0', "repetitions: expected a whole number of at least 1, not 0"),
                              ('repetitions = "3"', "repetitions: expected a whole number"),
                              ('measures = "fish"', "measures: expected a list"),
                              ('memory = "lots"', "memory: 'lots' is no size, such as 512MiB"),
                              ('grid.speed = [1]\nchart.x = "fish"', "[chart] x: 'fish' is none of the options that vary: speed"),
                              ('[[combinations]]\nspeed = [1]', "[[combinations]] 1: expected options with single values"),
                              ('[[combinations]]\nspeed = 1\n[[combinations]]\nspeed = 1', "one of them is there twice"),
                              ('grid = 3', "[grid]: expected a table"), ('speed = ', "s.toml: Invalid value")):
            with self.subTest(text=text):
                self.write(text + "\n")
                result = self.sweep()
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(message, result.stderr)
                self.assertEqual(self.started(), [])

    def test_measures_that_are_not_there_fail_the_run(self):
        self.write('measures = ["whales"]\n')
        result = self.sweep()
        self.assertEqual(result.returncode, 1)
        self.assertIn("measures: the log has no column 'whales', but: fish, sharks", self.runs()[0]["error"])

    def test_wrong_command_lines_are_refused(self):
        self.write("")
        for arguments, message in ((["s.toml", "missing"], "missing is not a program"),
                                   (["missing.toml", self.program], "cannot read missing.toml: No such file"),
                                   (["s.toml", self.program, "--jobs", "0"], "--jobs: expected at least 1"),
                                   (["s.toml", self.program, "--timeout", "0"], "--timeout: expected more than 0"),
                                   (["s.toml", self.program, "--out", "s.toml/x"], "give another --out"),
                                   (["s.toml", "/bin/true"], "true has no option --log"),
                                   (["s.toml", "/bin/false"], "does not tell the program's options")):
            with self.subTest(arguments=arguments):
                result = subprocess.run([SWEEP, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertIn(message, result.stderr)

    @unittest.skipUnless(WA_TOR, "without an application")
    def test_an_application(self):
        program, file = WA_TOR
        probe = subprocess.run([program, "--steps", "0"], cwd=self.folder, capture_output=True, text=True)
        if "no GPU" in probe.stderr:
            self.skipTest("needs a GPU")
        text = file.read_text(encoding="utf-8").replace("repetitions = 10", "repetitions = 2").replace("steps = 1000", "steps = 20")
        (self.folder / "s.toml").write_text(text.replace("last = 200", "last = 5"))
        result = subprocess.run([SWEEP, "s.toml", program], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result)
        rows = self.runs()
        self.assertEqual(len(rows), 36)
        self.assertTrue(all(float(row["sharks_mean"]) > 0 for row in rows))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
