"""The command lines of the programs that several ranks can run: they write what one process writes, and end together.

Usage: programs_test.py <mpiexec> <wa-tor> <forest-fire> <game-of-life> <generation> <sugarscape>. Exits with 77 (skipped) if the
programs need a GPU and there is none.
"""

import filecmp
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MPIEXEC = sys.argv[1]
WA_TOR, FOREST_FIRE, GAME_OF_LIFE, GENERATION, SUGARSCAPE = (pathlib.Path(path).resolve() for path in sys.argv[2:7])
EXIT_FAILURE, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_SKIPPED = 1, 2, 130, 77
PATIENCE = 60  # seconds
NO_PICTURES = ("--chart", "none", "--picture", "none")
EXPORT = ("--export", "objects.csv", "--export-every", "6")
OCEAN = ("--width", "70", "--height", "40")
LAND = ("--width", "70", "--height", "160")

# The options of runs whose files are compared, beside those that all programs have.
RUNS = [
    (WA_TOR, (*OCEAN, "--steps", "14", "--frames", "frames", "--every", "5", *EXPORT), (1, 2, 3, 4)),
    (FOREST_FIRE, ("--width", "130", "--height", "21", "--steps", "12", "--growth", "0.1", "--lightning", "0.01", *EXPORT), (1, 3, 4)),
    (GAME_OF_LIFE, ("--width", "130", "--height", "22", "--steps", "12", "--edge", "torus", "--output", "end.rle", *EXPORT), (1, 2, 4)),
    (GAME_OF_LIFE, ("--width", "64", "--height", "22", "--margin", "2", "--steps", "12", "--edge", "dead"), (3,)),
    (GENERATION, ("--width", "130", "--height", "22", "--steps", "12", "--edge", "torus", "--rule", "345/2/4", *EXPORT), (1, 2, 4)),
    (SUGARSCAPE, (*LAND, "--steps", "30", "--frames", "frames", "--every", "10", *EXPORT), (1, 2, 3, 4, 7)),
]


def files(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def table(output, name):
    """The rows of a table of the summary, without how much memory each takes."""
    rows = re.search(rf"^{name} .*\n((?:  .+\n)+)", output, re.M)[1].splitlines()
    return [row.split()[:5 if name == "Population" else 4] for row in rows]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_ranks(self, ranks, program, *arguments, folder="."):
        """@param ranks   0: without mpiexec"""
        cwd = self.folder / folder
        cwd.mkdir(exist_ok=True)
        launcher = (MPIEXEC, "-n", str(ranks)) if ranks else ()
        return subprocess.run([*launcher, program, *arguments], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def said(self, result, name="wa-tor"):
        """What the program has printed as an error, without what mpiexec says."""
        return [line for line in result.stderr.splitlines() if line.startswith(f"{name}: ")]

    def test_all_numbers_of_ranks_write_the_same(self):
        for number, (program, arguments, all_ranks) in enumerate(RUNS):
            alone = self.run_ranks(0, program, *arguments, folder=f"{number} alone")
            self.assertEqual(alone.returncode, 0, alone)
            for ranks in all_ranks:
                with self.subTest(program=program.name, arguments=arguments, ranks=ranks):
                    result = self.run_ranks(ranks, program, *arguments, folder=f"{number} {ranks}")
                    self.assertEqual(result.returncode, 0, result)
                    one, several = self.folder / f"{number} alone", self.folder / f"{number} {ranks}"
                    self.assertEqual(files(several), files(one))
                    for path in files(one):
                        self.assertTrue(filecmp.cmp(one / path, several / path, shallow=False), path)
                    self.assertEqual(table(result.stdout, "Population"), table(alone.stdout, "Population"))
                    self.assertEqual(table(result.stdout, "Placed class"), table(alone.stdout, "Placed class"))
                    self.assertEqual(result.stdout.count("Population"), 1, result.stdout)
                    line, rows = f", on {ranks} ranks, the first on the ", re.findall(r"^  ranks +(\d+)$", result.stdout, re.M)
                    self.assertEqual(line in result.stdout.splitlines()[0], ranks > 1, result.stdout)
                    self.assertEqual(rows, [str(ranks)] if ranks > 1 else [])

    def test_what_ranks_cannot_do_is_refused_once(self):
        for program, arguments, message in (
                (WA_TOR, ("--steps", "ten"), "--steps: must be a whole number"),
                (WA_TOR, ("--variant", "cells"), "--variant cells is for one process: take --variant placed, or start the program without"),
                (WA_TOR, ("--baseline", "soa"), "--baseline soa is for one process: leave it out, or start the program without"),
                (WA_TOR, ("--view",), "--view is for one process: leave it out, or start the program without mpirun"),
                (WA_TOR, ("--height", "17"), "17 rows are too few for 3 ranks, each of which needs 6 at least: start 2 ranks at most"),
                (WA_TOR, ("--height", "11"), "11 rows are too few for 3 ranks, .*: start the program without mpirun, as one process"),
                (SUGARSCAPE, ("--height", "65"), "65 rows are too few for 3 ranks, each of which needs 22 at least: start 2 ranks at most"),
                (SUGARSCAPE, ("--variant", "agents"), "--variant agents is for one process: take --variant placed, or start"),
                (WA_TOR, ("--log", "missing/log.csv"), "--log: .*missing/log.csv"),
                (WA_TOR, ("--checkpoint", "missing/ocean"), "--checkpoint: .*missing/ocean"),
                (WA_TOR, ("--transport", "tcp"), "--transport: must be one of auto, peer, nccl, staged, not 'tcp'"),
                (GAME_OF_LIFE, (), "--edge grow is for one process: take --edge dead or --edge torus, or start"),
                (GENERATION, ("--edge", "dead", "--variant", "cells"), "--variant cells is for one process: take --variant placed, or")):
            with self.subTest(program=program.name, arguments=arguments):
                result = self.run_ranks(3, program, *arguments)
                self.assertEqual(result.returncode, EXIT_USAGE, result)
                lines = self.said(result, program.name)
                self.assertEqual(len(lines), 1, result.stderr)
                self.assertRegex(lines[0], f"^{program.name}: {message}")
                self.assertEqual(files(self.folder), [])

    def transports(self, result):
        """Those that the summary names."""
        return re.findall(r"^  transport +(\w+)$", result.stdout, re.M)

    def test_each_transport_can_be_forced(self):
        """The summary names it, the results are the same, and what is impossible is refused once."""
        for program, arguments in ((WA_TOR, OCEAN), (SUGARSCAPE, ("--width", "70", "--height", "48")), (FOREST_FIRE, ("--width", "130", "--height", "21")),
                                   (GAME_OF_LIFE, ("--width", "130", "--height", "22", "--edge", "torus")),
                                   (GENERATION, ("--width", "130", "--height", "22", "--edge", "torus"))):
            run = lambda *forced, p=program, a=arguments: self.run_ranks(2, p, *a, "--steps", "8", "--log", "log.csv", *NO_PICTURES, *forced)
            result = run()
            self.assertEqual(result.returncode, 0, result)
            self.assertEqual(len(self.transports(result)), 1, result.stdout)
            self.assertIn(self.transports(result)[0], ("peer", "nccl", "staged"))
            expected = self.rows(self.folder / "log.csv")
            for transport in ("auto", "staged", "peer", "nccl"):
                with self.subTest(program=program.name, transport=transport):
                    forced = run("--transport", transport)
                    if transport in ("peer", "nccl") and forced.returncode != 0:  # it depends on the machine
                        self.assertEqual(forced.returncode, EXIT_USAGE, forced)
                        self.assertEqual(len(self.said(forced, program.name)), 1, forced.stderr)
                        self.assertRegex(self.said(forced, program.name)[0], f"^{program.name}: --transport {transport}: rank [01]: .+; leave it out")
                        continue
                    self.assertEqual(forced.returncode, 0, forced)
                    self.assertEqual(self.transports(forced), self.transports(result) if transport == "auto" else [transport])
                    self.assertEqual(self.rows(self.folder / "log.csv"), expected)

    def test_a_program_that_runs_alone_has_no_transport(self):
        for ranks in (0, 1):
            with self.subTest(ranks=ranks):
                result = self.run_ranks(ranks, WA_TOR, *OCEAN, "--steps", "2", "--transport", "staged")
                self.assertEqual(result.returncode, EXIT_USAGE, result)
                self.assertEqual(self.said(result), ["wa-tor: --transport staged is for several processes: leave it out, or start them "
                                                     "with mpirun, such as mpirun -n 4"], result.stderr)
        result = self.run_ranks(0, WA_TOR, *OCEAN, "--steps", "2", "--transport", "auto")
        self.assertEqual((result.returncode, self.transports(result)), (0, []), result)

    def test_as_many_ranks_as_the_rows_allow(self):
        self.assertEqual(self.run_ranks(2, WA_TOR, "--width", "70", "--height", "12", "--steps", "2").returncode, 0)

    def test_help_is_printed_once(self):
        result = self.run_ranks(3, WA_TOR, "--help")
        self.assertEqual((result.returncode, result.stdout), (0, self.run_ranks(0, WA_TOR, "--help").stdout), result)

    def test_ranks_with_different_options_are_refused_once(self):
        command = [MPIEXEC, "-n", "1", WA_TOR, "--seed", "1", ":", "-n", "2", WA_TOR, "--seed", "2"]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, EXIT_USAGE, result)
        self.assertEqual(len(self.said(result)), 1, result.stderr)
        self.assertIn("rank 0 has 'wa-tor --seed 1', ranks 1 and 2 have 'wa-tor --seed 2'", self.said(result)[0])

    def children(self, process):
        """The ranks. Any thread of the launcher may have started them."""
        lists = pathlib.Path(f"/proc/{process.pid}/task").glob("*/children")
        return sorted(int(pid) for children in lists for pid in children.read_text().split())

    def rows(self, path):
        return path.read_text().splitlines() if path.exists() else []

    def interrupt(self, rank, *arguments):
        """Sends SIGTERM to a rank, or to the launcher if it is None. @return what the run has printed, and its exit code"""
        log = self.folder / "population.csv"
        log.unlink(missing_ok=True)
        command = [MPIEXEC, "-n", "3", WA_TOR, *OCEAN, *NO_PICTURES, "--steps", "1000000000", "--quiet", *arguments]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                deadline = time.monotonic() + PATIENCE
                while len(self.rows(log)) < 10:
                    self.assertIsNone(process.poll())
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.05)
                if rank is None:
                    process.send_signal(signal.SIGTERM)
                else:
                    os.kill(self.children(process)[rank], signal.SIGTERM)
                errors = process.communicate(timeout=PATIENCE)[1]
            finally:
                process.kill()
        return errors, process.returncode

    def test_a_signal_to_one_rank_ends_all_at_the_same_step(self):
        for rank in range(3):
            with self.subTest(rank=rank):
                errors, code = self.interrupt(rank, "--checkpoint", "ocean")
                self.assertEqual(code, EXIT_INTERRUPTED, errors)
                lines = [line for line in errors.splitlines() if "interrupted" in line]
                self.assertEqual(len(lines), 1, errors)
                last = int(re.search(r"^wa-tor: interrupted after step (\d+) of 1000000000$", lines[0])[1])
                self.assertEqual(len(self.rows(self.folder / "population.csv")), last + 2)
                self.check_that_it_goes_on(last)

    def test_a_signal_to_the_launcher_leaves_a_checkpoint(self):
        errors, _ = self.interrupt(None, "--checkpoint", "ocean")
        last = re.search(r"wa-tor: interrupted after step (\d+) of 1000000000", errors)
        self.assertIsNotNone(last, errors)
        self.check_that_it_goes_on(int(last[1]))

    def check_that_it_goes_on(self, first):
        """From the checkpoint, on other numbers of ranks, as one run that was not interrupted."""
        steps = ("--steps", str(first + 6))
        expected = self.run_ranks(0, WA_TOR, *OCEAN, *steps, "--log", "expected.csv", "--picture", "expected.png", "--chart", "none")
        self.assertEqual(expected.returncode, 0, expected)
        for ranks in (0, 2, 4):
            result = self.run_ranks(ranks, WA_TOR, *OCEAN, *steps, "--restore", "ocean", "--log", "log.csv", "--picture", "end.png", "--chart", "none")
            self.assertEqual(result.returncode, 0, result)
            self.assertEqual(self.rows(self.folder / "log.csv")[1:], self.rows(self.folder / "expected.csv")[first + 1:])
            self.assertTrue(filecmp.cmp(self.folder / "end.png", self.folder / "expected.png", shallow=False))

    def test_checkpoints_that_do_not_fit_are_refused_once(self):
        self.assertEqual(self.run_ranks(3, WA_TOR, *OCEAN, "--steps", "3", "--checkpoint", "ocean").returncode, 0)
        for arguments, message, code in ((("--seed", "7"), "--seed: the run in ocean has 42, not 7", EXIT_USAGE),
                                         (("--steps", "2"), "--steps: the run in ocean has made 3 steps", EXIT_USAGE),
                                         (("--restore", "missing"), "missing", EXIT_FAILURE)):
            with self.subTest(arguments=arguments):
                result = self.run_ranks(2, WA_TOR, *OCEAN, "--restore", "ocean", *arguments)
                self.assertEqual(result.returncode, code, result)
                self.assertEqual(len(self.said(result)), 1, result.stderr)
                self.assertIn(message, self.said(result)[0])

    def test_generation_goes_on_from_a_checkpoint(self):
        options = ("--width", "130", "--height", "22", "--edge", "torus", "--rule", "345/2/4")
        self.assertEqual(self.run_ranks(0, GENERATION, *options, "--steps", "9", "--output", "one.rle").returncode, 0)
        self.assertEqual(self.run_ranks(3, GENERATION, *options, "--steps", "4", "--checkpoint", "c").returncode, 0)
        result = self.run_ranks(2, GENERATION, *options, "--steps", "9", "--restore", "c", "--output", "two.rle")
        self.assertEqual(result.returncode, 0, result)
        self.assertTrue(filecmp.cmp(self.folder / "one.rle", self.folder / "two.rle", shallow=False))

    def test_sugarscape_goes_on_from_checkpoints_of_other_numbers_of_ranks(self):
        """Before and after the first children are born."""
        def run(ranks, steps, name, *arguments):
            result = self.run_ranks(ranks, SUGARSCAPE, *LAND, "--steps", str(steps), "--export", f"{name}.csv", "--export-every", "32",
                                    "--picture", f"{name}.png", "--chart", "none", *arguments)
            self.assertEqual(result.returncode, 0, result)

        run(0, 32, "one")
        run(3, 12, "two", "--checkpoint", "c")
        for ranks, steps in ((7, 26), (0, 29), (2, 32)):
            run(ranks, steps, "two", "--restore", "c", "--checkpoint", "c")
        for end in ("-000032.csv", ".png"):
            self.assertTrue(filecmp.cmp(self.folder / f"one{end}", self.folder / f"two{end}", shallow=False), end)


if __name__ == "__main__":
    if "no GPU is available" in subprocess.run([WA_TOR, "--steps", "0", "--log", "none", *NO_PICTURES], capture_output=True, text=True, check=False).stderr:
        sys.exit(EXIT_SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
