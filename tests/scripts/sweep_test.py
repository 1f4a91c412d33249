#!/usr/bin/python3
"""scripts/sweep with programs that do what is asked of them: succeed, fail, hang, take memory.

Usage: sweep_test.py <path of sweep> [<path of wa-tor> <path of its sweep.toml>]
"""

import csv
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

SWEEP = str(pathlib.Path(sys.argv[1]).resolve())
sys.dont_write_bytecode = True
sweep = importlib.machinery.SourceFileLoader("sweep", SWEEP).load_module()
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
WA_TOR = [pathlib.Path(argument).resolve() for argument in sys.argv[2:4]]

# Writes a log whose last two rows have `speed` and `speed` + `seed`, and notes beside the sweep that it was here.
PROGRAM = r"""#!/usr/bin/python3
import os, shutil, subprocess, sys, time
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
if do == "family":
    child = subprocess.Popen(["sleep", "1000"])
    with open(value("note", "") + ".family", "a") as note:
        note.write(f"{os.getpid()}\n{child.pid}\n")
    if seed < 3: time.sleep(1000)
if do.startswith("remove "):
    shutil.rmtree(do[7:])
if do.startswith("log "):
    with open(value("log", "log.csv"), "wb") as log:
        log.write(eval(do[4:]))
    sys.exit(0)
if do.startswith("run "):
    exec(do[4:])
if do == "memory":
    block = bytearray(200 << 20)
    for i in range(0, len(block), 4096): block[i] = 1
    time.sleep(0.5)
with open(value("log", "log.csv"), "w") as log:
    log.write(f"step,fish,sharks\n0,1e6,9\n1,{speed},1\n2,{speed + seed},2\n")
"""


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def is_alive(pid):
    """Whether there is such a process that has not ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


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

    def sweep(self, *arguments, environment=None, **options):
        return subprocess.run([SWEEP, "s.toml", self.program, *arguments],
                              **{"cwd": self.folder, "capture_output": True, "text": True, "timeout": 120,
                                 "env": os.environ | (environment or {})} | options)

    def fails(self, **expected):
        """Makes the sweep, of which the runs named by `do` must fail with these reasons, and all others succeed. Then
        once more: nothing is repeated, and the results are the same."""
        result = self.sweep()
        self.assertEqual((result.returncode, "Traceback" in result.stderr), (1, False), result)
        rows = self.runs()
        for row in rows:
            self.assertEqual(row["status"], "failed" if row["do"] in expected else "done", row)
            self.assertIn(expected.get(row["do"], ""), row["error"])
        self.assertEqual({row["do"] for row in rows if row["status"] == "failed"}, expected.keys())
        self.assertIn("standard_deviation", (self.folder / "s/summary.csv").read_text())
        self.assertEqual((self.folder / "s/chart.svg").exists(), HAS_MATPLOTLIB)
        started = len(self.started())
        again = self.sweep()
        self.assertEqual((again.returncode, again.stdout), (1, result.stdout), again)
        self.assertEqual((len(self.started()), self.runs()), (started, rows))

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

    def test_an_empty_cell_is_a_missing_value(self):
        logs = ["log b'step,fish,age\\n1,2,7\\n2,1,4\\n3,0,\\n'", "log b'step,fish,age\\n1,0,\\n2,0, \\n3,0,\\n'"]
        self.write(f"last = 2\nseed = 5\n[[combinations]]\nspeed = 1\ndo = {json.dumps(logs[0])}\n"
                   f"[[combinations]]\nspeed = 2\ndo = {json.dumps(logs[1])}\n")
        for _ in range(2):  # the second time, records are read
            result = self.sweep()
            self.assertEqual((result.returncode, len(self.started())), (0, 2), result)
            self.assertEqual([[row[name] for name in ("fish", "age", "fish_mean", "age_mean")] for row in self.runs()],
                             [["0.0", "", "0.5", "4.0"], ["0.0", "", "0.0", ""]])
            self.assertEqual([(row["measure"], row["runs"], row["mean"]) for row in read_csv(self.folder / "s/summary.csv")],
                             [("fish", "1", "0.5"), ("age", "1", "4.0"), ("fish", "1", "0.0"), ("age", "0", "")])
        self.assertEqual((self.folder / "s/chart.svg").exists(), HAS_MATPLOTLIB)

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
            wait_until(lambda: len(list(self.folder.glob("s/runs/*/record.json"))) >= 4)
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

    def family_of(self, *arguments, signals=(), **options):
        """Begins a sweep whose two runs each have a child, sends it signals, and expects that all of them end."""
        with subprocess.Popen([SWEEP, "s.toml", self.program, *arguments], cwd=self.folder, stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, **options) as process:
            note = self.folder / "note.family"
            self.assertTrue(wait_until(lambda: note.exists() and len(note.read_text().splitlines()) == 4))
            pids = note.read_text().split()
            for number in signals:
                process.send_signal(number)
            errors = process.communicate(timeout=60)[1]
        self.assertTrue(wait_until(lambda: not any(map(is_alive, pids))), errors)
        note.unlink()
        return process.returncode, errors

    def test_nothing_outlives_a_sweep_that_ends(self):
        self.write('repetitions = 2\noptions.do = "family"\nmemory = "1MiB"\n')
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            code, errors = self.family_of("--jobs", "2", signals=[number])
            self.assertEqual(code, 130)
            self.assertIn("interrupted after 0 of 2 runs", errors)
        self.assertEqual(self.family_of("--jobs", "2", signals=[signal.SIGKILL])[0], -signal.SIGKILL)
        self.assertEqual(list(self.folder.glob("s/runs/*/record.json")), [])
        code, errors = self.family_of("--jobs", "2", "--timeout", "1")
        self.assertEqual((code, errors.count("took more than 1 s")), (1, 2))
        # What was ignored at the start stays ignored.
        ignore = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
        code, errors = self.family_of("--jobs", "2", "--timeout", "2", "--retry-failed", signals=[signal.SIGHUP], **ignore)
        self.assertEqual((code, errors.count("took more than 2 s")), (1, 2))

    def test_nothing_outlives_a_run_that_ends(self):
        self.write('seed = 3\noptions.do = "family"\n')
        self.assertEqual(self.sweep().returncode, 0)
        self.assertTrue(wait_until(lambda: not any(map(is_alive, (self.folder / "note.family").read_text().split()))))

    def test_runs_that_do_not_stop_are_killed(self):
        ignore = "run import signal; signal.signal(15, signal.SIG_IGN); open(value('note', 0) + 2 * 'x', 'w'); time.sleep(1000)"
        self.write(f"options.do = {json.dumps(ignore)}\n")
        with subprocess.Popen([SWEEP, "s.toml", self.program], cwd=self.folder, stderr=subprocess.PIPE, text=True) as process:
            self.assertTrue(wait_until((self.folder / "notexx").exists))
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGTERM)  # who asks twice does not wait
            process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)

    def test_a_bad_log_fails_its_run_and_no_other(self):
        def log(rows):
            return f"log b'step,fish,sharks\\n1,2,3\\n{rows}'"

        logs = {log("2,nan,3\\n"): "'nan' in column 'fish' of its log is not a finite number",
                log("2,3,-inf\\n"): "'-inf' in column 'sharks' of its log is not a finite number",
                log("2,1e999,3\\n"): "'1e999' in column 'fish' of its log is not a finite number",
                log("2,1_0,3\\n"): "'1_0' in column 'fish'",
                log("2,fish,3\\n"): "'fish' in column 'fish'", log("2,3\\n"): "line 3 of its log has 2 values for 3 columns",
                log("2,3,4,5\\n"): "line 3 of its log has 4 values for 3 columns", log("2,3,4"): "its log ends in the middle of a line",
                log("2,\\xff,3\\n"): "its log is not a table: 'utf-8' codec", log("2,\\0,3\\n"): "its log has a NUL byte",
                log('2,"3"4,5\\n'): "its log is not a table", log("2,3,4\\n") + " + b'9' * 200000 + b',1,2\\n'": "field larger than field limit",
                "log b''": "its log has no rows", "log b'step,fish\\n'": "its log has no rows",
                "log b'step,fish,fish\\n1,2,3\\n'": "its log has two columns 'fish'", "log b'9' * 3000000": "a line that is too long",
                "run os.mkdir('log.csv'); sys.exit(0)": "log.csv is not a file", "run os.mkfifo('log.csv'); sys.exit(0)": "log.csv is not a file",
                "run sys.exit(0)": "cannot read log.csv: No such file or directory",
                "run os.symlink('/dev/zero', 'log.csv'); sys.exit(0)": "log.csv is not a file"}
        good = ["", "log b'step,fish,sharks\\n1,nan,x\\n\\n2,+3.,.4e1\\n'", "log b'\\xef\\xbb\\xbfstep,fish,sharks\\r\\n1,1e-999,3\\r\\n'"]
        self.write(f"grid.speed = [1, 2]\ngrid.do = {json.dumps([*logs, *good])}\nchart.y = ['fish']\nmeasures = ['fish', 'sharks']\n")
        self.fails(**logs)

    def test_runs_that_cannot_begin_or_end_fail_alone(self):
        folder = self.folder / "s"
        faults = {"remove .": "exit code 1: cannot read output.txt: No such file", f"remove {folder}": "exit code 1: cannot read output.txt",
                  "run shutil.rmtree(os.getcwd()); sys.exit(0)": "cannot read log.csv: No such file",
                  "run print('a\\x1b[31mb' + 'c' * 9999); sys.exit(1)": "exit code 1: ccc",
                  "run print('\\x1b[31m'); sys.exit(1)": "exit code 1: \\x1b[31m",
                  "run os.kill(os.getpid(), 40)": "ended by signal 40"}
        self.write(f"grid.speed = [1, 2]\ngrid.do = {json.dumps(['', *faults, 'sleep'])}\nchart.y = ['fish']\n")
        result = self.sweep("--jobs", "1")
        self.assertEqual((result.returncode, "Traceback" in result.stderr, "\x1b" in result.stderr), (1, False, False), result)
        self.assertIn("16 runs, 12 failed", result.stdout)
        for row in self.runs():
            self.assertIn(faults.get(row["do"], ""), row["error"])
            self.assertLess(len(row["error"]), 400)
        # Its record went with the folder that was removed: the same command repeats that run.
        self.assertEqual(self.sweep("--jobs", "1").returncode, 1)
        self.assertEqual({row["do"]: row["status"] for row in self.runs()},
                         {"": "done", "sleep": "done"} | dict.fromkeys(faults, "failed"))

    def test_a_program_that_is_gone_fails_the_runs_that_are_left(self):
        self.write(f"repetitions = 3\noptions.do = {json.dumps(f'run os.remove({str(self.program)!r})')}\n")
        program = self.program.read_bytes()
        result = self.sweep("--jobs", "1")
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("could not be started: No such file or directory", self.runs()[1]["error"])
        self.program.write_bytes(program)
        self.program.chmod(0o755)
        self.assertEqual([row["status"] for row in self.runs()], ["done", "failed", "failed"])

    def test_what_is_no_record_fails_its_run_and_no_other(self):
        self.write('repetitions = 3\nmeasures = ["fish"]\ngrid.speed = [1, 2]\nchart.y = ["fish"]\n')
        self.assertEqual(self.sweep().returncode, 0)
        path = self.folder / "s" / self.runs()[0]["folder"] / "record.json"
        record = json.loads(path.read_text())
        texts = ["null", "[]", "{}", "7", '"x"', "", "[" * 100000, path.read_text()[:-20], "\xff", '{"status": "done"}',
                 json.dumps(record | {"measures": None}), json.dumps(record | {"measures": {"fish": 7}}),
                 json.dumps(record | {"measures": {"fish": {"last": 1, "mean": float("nan")}}}),
                 json.dumps(record | {"measures": {"fish": {"last": 10**400, "mean": 1}}}),
                 json.dumps(record | {"status": "finished"}), json.dumps(record | {"seconds": "1"}),
                 json.dumps(record | {"peak_memory": None}), json.dumps(record | {"program": 3}),
                 json.dumps(record | {"status": "failed"}), json.dumps(record | {"arguments": []}), "9" * 5000,
                 lambda: path.mkdir(), lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero"), lambda: path.symlink_to("x")]
        for text in texts:
            with self.subTest(text=text if callable(text) else text[:100]):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
                if callable(text):
                    text()
                else:
                    path.write_text(text, encoding="latin-1")
                count = len(self.started())
                result = self.sweep()
                self.assertEqual((result.returncode, "Traceback" in result.stderr), (1, False), result)
                self.assertIn("6 runs, 1 failed", result.stdout)
                self.assertRegex(self.runs()[0]["error"], "record.json.*; --retry-failed repeats the run")
                self.assertEqual([row["runs"] for row in read_csv(self.folder / "s/summary.csv")], ["2", "3"])
                self.assertEqual(len(self.started()), count)
        self.assertEqual(self.sweep("--retry-failed").returncode, 0)
        self.assertEqual(len(self.started()), 7)

    def test_a_full_disk_ends_no_sweep(self):
        (self.folder / "s.toml").write_text("repetitions = 2\ngrid.speed = [1, 2]\n")
        # Logs can be written, but neither records nor tables.
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))}
        result = self.sweep(**limit)
        self.assertEqual((result.returncode, "Traceback" in result.stderr), (1, False), result)
        self.assertIn("4 runs, 4 failed", result.stdout)
        self.assertEqual(result.stderr.count("cannot write its record: File too large"), 4)
        self.assertIn("cannot write the tables", result.stderr)
        self.assertEqual([*self.folder.rglob("*.new"), *self.folder.rglob("record.json")], [])
        self.assertEqual(self.sweep().returncode, 0)
        self.assertEqual([row["status"] for row in self.runs()], ["done"] * 4)

    def test_messages_that_cannot_be_written_end_no_sweep(self):
        self.write('repetitions = 2\ngrid.do = ["fail", ""]\n')
        for number, redirection in enumerate(("1>&- 2>&- 0<&-", "2>/dev/full", "2>&- 0<&-")):
            command = f"exec '{SWEEP}' s.toml ./program --out o{number} {redirection}"
            result = subprocess.run(["sh", "-c", command], cwd=self.folder, stdout=subprocess.DEVNULL, timeout=60)
            self.assertEqual((redirection, result.returncode), (redirection, 1))
            rows = read_csv(self.folder / f"o{number}/runs.csv")
            self.assertEqual([row["status"] for row in rows], ["failed", "done", "failed", "done"])
        with open("/dev/full", "w") as full:
            result = subprocess.run([SWEEP, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr),
                         (1, "sweep: cannot write to standard output: No space left on device\n"))
        self.write('repetitions = 2\n')
        with open("/dev/full", "w") as full:
            result = self.sweep(capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.splitlines()[-1], "sweep: cannot write to standard output: No space left on device")

    def test_the_locale_does_not_matter(self):
        fail = "run print(chr(228), file=open(2, 'w', encoding='latin-1')); sys.exit(1)"
        self.write(f"repetitions = 2\ngrid.speed = [0.5, 1e-7]\ngrid.do = ['straße', {json.dumps(fail)}]\n")
        names = ("C.UTF-8", "C", "de_DE.UTF-8", "tr_TR.ISO-8859-9")
        locales, has_commas = self.folder / "locales", shutil.which("localedef") is not None
        locales.mkdir()
        for name in names[2:]:
            language, charset = name.split(".")
            has_commas = has_commas and subprocess.run(["localedef", "-i", language, "-f", charset, locales / name],
                                                       capture_output=True, check=False).returncode == 0
        results = []
        for number, locale in enumerate(names):
            environment = {"LC_ALL": locale, "LANGUAGE": "de", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
            if has_commas:
                environment["LOCPATH"] = str(locales)
                point = subprocess.run(["locale", "decimal_point"], env=os.environ | environment, capture_output=True, text=True, check=True)
                self.assertEqual(point.stdout.strip(), "." if number < 2 else ",")
            result = self.sweep("--out", f"o{number}", environment=environment, text=False)
            self.assertEqual(result.returncode, 1, result)
            rows = read_csv(self.folder / f"o{number}/runs.csv")
            for row in rows:
                del row["seconds"], row["peak_memory"]
            chart = self.folder / f"o{number}/chart.svg"
            results.append((rows, result.stdout.replace(f"o{number}".encode(), b"o"), chart.read_bytes() if HAS_MATPLOTLIB else b"",
                            (self.folder / f"o{number}/summary.csv").read_text(encoding="utf-8")))
        self.assertEqual(results, [results[0]] * 4)
        self.assertEqual(results[0][0][0]["do"], "straße")
        if not has_commas:
            self.skipTest("passed, but with no locale that has a decimal comma: localedef (package locales) cannot make de_DE and tr_TR")

    def test_texts_with_separators_come_back_from_the_table(self):
        values = ['a,b', 'say "x"', "two\nlines", "a\rb", " x ", "'", ";"]
        self.write(f"grid.do = {json.dumps(values)}\n")
        self.assertEqual(self.sweep().returncode, 0)
        self.assertEqual([row["do"] for row in self.runs()], values)
        self.assertEqual([row["do"] for row in read_csv(self.folder / "s/summary.csv")][::2], values)

    def test_sizes_have_binary_units(self):
        for text, size in (("7", 7), ("7B", 7), ("3KiB", 3 * 1024), ("3 MiB", 3 * 1024**2), ("1.5GiB", 3 * 2**29), ("2TiB", 2**41)):
            self.assertEqual(sweep.bytes_of(text, "memory"), size)
        for text in ("", "GiB", "1GB", "1kib", "-1", "1e9", "1.", "\u0663", "9" * 400, "1 2", "inf"):
            with self.assertRaisesRegex(sweep.Problem, "memory: .* is no size"):
                sweep.bytes_of(text, "memory")

    def test_runs_times_threads_fill_the_processors(self):
        for threads, combinations, processors, jobs in ((1, [], 8, 8), (2, [], 8, 4), (3, [], 8, 2), (8, [], 8, 1), (9, [], 8, 1),
                                                        (1, [{"threads": 4}, {"threads": 2}], 8, 2), (0, [], 3, 3)):
            file = {"options": {"threads": threads}, "combinations": combinations}
            self.assertEqual(sweep.jobs_of(file, processors), jobs)
        self.assertEqual(sweep.jobs_of({"options": {}, "combinations": [{}]}, 5), 5)

    def test_memory_is_for_as_many_as_the_largest_run_fits(self):
        class Gpu:
            free = None

        room = sweep.Room(100, None, None, Gpu)
        self.assertTrue(room.allows(0) and not room.allows(1))  # nobody knows yet what a run needs
        room.saw(50, 0)
        self.assertTrue(room.allows(1) and not room.allows(2))
        room.saw(20, 0)
        self.assertFalse(room.allows(2))
        self.assertEqual(sweep.Room(100, 25, None, Gpu).allows(3), True)
        self.assertEqual(sweep.Room(99, 25, None, Gpu).allows(3), False)
        Gpu.free = 1000
        self.assertEqual([sweep.Room(100, 1, 300, Gpu).allows(n) for n in (0, 1, 2, 3)], [True, True, True, False])
        for given in (300, None):  # what is given holds, whatever was seen
            room = sweep.Room(100, 1, given, Gpu)
            room.saw(1, 300)
            self.assertEqual([room.allows(n) for n in (1, 2, 3)], [True, True, False])
            room.saw(1, 600)
            self.assertEqual(room.allows(1), given is not None)

    def test_measures_are_of_the_last_rows(self):
        log = self.folder / "log.csv"
        log.write_text("step,fish,sharks\n1,10,1\n2,20,2\n3,60,4\n")
        for last, mean in ((1, 60), (2, 40), (3, 30), (4, 30)):
            self.assertEqual(sweep.measures_of(log, ["fish"], last), {"fish": {"last": 60, "mean": mean}})
        self.assertEqual(list(sweep.measures_of(log, None, 1)), ["fish", "sharks"])
        log.write_text("step,fish\n1,1e308\n2,1.5e308\n")
        self.assertEqual(sweep.measures_of(log, None, 2)["fish"]["mean"], 1.25e308)

    def test_statistics_know_boundaries(self):
        self.assertEqual(sweep.statistics_of([]), ["", "", "", ""])
        self.assertEqual(sweep.statistics_of([3.0]), [3, "", 3, 3])
        self.assertEqual(sweep.statistics_of([1.0, 2.0, 6.0]), [3, 7**0.5, 1, 6])
        self.assertEqual(sweep.statistics_of([1.7e308, -1.7e308]), [0, "", -1.7e308, 1.7e308])
        self.assertEqual([sweep.text_of_seconds(seconds) for seconds in (0, 59.9, 61, 3599, 3600, 36061)],
                         ["0:00", "0:59", "1:01", "59:59", "1:00:00", "10:01:01"])

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

    def test_no_more_run_at_once_than_jobs_are_allowed(self):
        self.write('repetitions = 6\noptions.do = "sleep"\nmemory = "1MiB"\n')
        self.assertEqual(self.sweep("--jobs", "2").returncode, 0)
        self.assertEqual(self.most_at_once(), 2)

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
        smi.write_text('#!/bin/sh\ncase "$1" in *memory.free*) echo 1000 ;; *) printf "12, [N/A]\\n[Not Found], 5\\n" ;; esac\n')
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

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib (Debian: python3-matplotlib)")
    def test_a_chart_is_drawn_where_matplotlib_is(self):
        self.write('repetitions = 3\ngrid.speed = [1, 2, 3]\nchart.y = ["fish"]\n')
        self.sweep()
        chart = (self.folder / "s/chart.svg").read_text(encoding="utf-8")
        self.assertTrue(">--speed</text>" in chart and ">fish</text>" in chart)
        self.assertEqual(chart.count(">fish</text>"), 1)  # no legend for a single line
        self.assertRegex(chart, r">0(\.0)?</text>")  # from which values are judged
        self.write('repetitions = 3\ngrid.speed = [3, 1, 2]\nchart.y = ["fish"]\n')
        self.assertEqual(self.sweep("--out", "mixed").returncode, 0)
        self.assertEqual((self.folder / "mixed/chart.svg").read_text(encoding="utf-8"), chart)
        self.write('grid.speed = [1, 2]\nchart.y = ["fish", "sharks"]\n')
        self.assertEqual(self.sweep("--out", "two").returncode, 0)
        chart = (self.folder / "two/chart.svg").read_text(encoding="utf-8")
        for text in ("fish", "sharks", "measures"):
            self.assertEqual(chart.count(f">{text}</text>"), 1)

    def test_without_matplotlib_everything_but_the_chart_is_written(self):
        (self.folder / "hidden").mkdir()
        (self.folder / "hidden/matplotlib.py").write_text("raise ImportError\n")
        self.write('grid.speed = [1, 2]\n')
        result = self.sweep(environment={"PYTHONPATH": str(self.folder / "hidden")})
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("no chart: matplotlib is not installed (scripts/install-dependencies --charts)", result.stdout)
        self.assertFalse((self.folder / "s/chart.svg").exists())
        self.assertEqual([row["status"] for row in read_csv(self.folder / "s/runs.csv")], ["done", "done"])

    def test_wrong_files_are_refused(self):
        for text, message in (('grid.speed = []', "[grid] speed: expected a list of at least one value"),
                              ('grid.speed = 3', "[grid] speed: expected a list"),
                              ('grid.speed = [1, 1]', "[grid] speed: a value is there twice"),
                              ('grid.sped = [1]', "program has no option --sped"),
                              ('options.seed = 3', "'seed' is set by the sweep itself: say seed = N"),
                              ('repetition = 3', "'repetition' is none of"),
                              ('repetitions = 0', "repetitions: expected a whole number of at least 1, not 0"),
                              ('repetitions = "3"', "repetitions: expected a whole number"),
                              ('repetitions = true', "repetitions: expected a whole number"),
                              ('repetitions = 1000001', "repetitions: 1000001 is too large; the greatest that is allowed is 1000000"),
                              ('last = 0', "last: expected a whole number of at least 1"), ('seed = -1', "seed: expected a whole"),
                              (f'last = {10**30}', "the greatest that is allowed is 2147483648"),
                              (f"grid.a = {[*range(1001)]}\ngrid.b = {[*range(1000)]}", "[grid]: it has more than 1000000 combinations"),
                              (f"seed = {2**63}", f"the greatest that is allowed is {2**63 - 1}"),
                              (f"seed = {'[' * 100000}", "s.toml: "),
                              ('chart = 3', "[chart]: expected x"), ('chart.z = "speed"', "[chart]: expected x"),
                              ('chart.y = "fish"', "[chart]: expected x"),
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

    def test_a_pipe_is_no_sweep(self):
        os.mkfifo(self.folder / "s.toml")
        result = self.sweep()
        self.assertEqual((result.returncode, result.stdout), (2, ""), result)
        self.assertIn("s.toml is a FIFO; a sweep is described by a file, which stays", result.stderr)

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
    unittest.main(argv=sys.argv[:1], failfast="DYNASOAR_FAULT" in os.environ)
