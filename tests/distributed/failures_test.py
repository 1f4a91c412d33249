"""What happens when something happens to one rank of several: the run ends on all ranks, in time, with a message.

Usage: failures_test.py <failing_program> <mpiexec, or none>
"""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

PROGRAM = pathlib.Path(sys.argv[1])
MPIEXEC = sys.argv[2]
RANKS = 3
START_SECONDS = 10  # to start and end processes, on a machine that does other things
LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")

FAILURE, ANY = "not 0", "any"  # exit status

# What happens, on which rank, patience in seconds, seconds until the run has ended, exit status, what is printed and what is not.
CASES = {
    "nothing": (1, 20, 0, 0, [r"rank 0 is done", r"rank 1 is done", r"rank 2 is done"], [r"dynasoar"]),
    "exception": (1, 20, 2, 1, [r"main: the exception of a rank", r"exception has left the scope of the Communicator of rank 1 of 3"], []),
    "exception at end": (1, 20, 2, 1, [r"main: the exception of a rank", r"Communicator of rank 1 of 3"], []),
    "exception at end, and main() returns 0": (1, 20, 2, 1, [r"Communicator of rank 1 of 3"], []),
    "exception that nobody catches": (1, 20, 2, FAILURE, [r"the exception of a rank"], []),
    "agreed exception": (1, 20, 1, 1, [r"main: rank 1 had the exception of a rank"], [r"dynasoar"]),
    "exit": (1, 20, 2, 1, [r"for rank 1, which has called exit\(\) or returned from main"], [r"is done"]),
    "exit of all": (1, 20, 0, 0, [], [r"dynasoar", r"is done"]),
    "return": (1, 20, 2, 1, [r"rank \d of 3 on \S+ waits in \w+ for rank 1, which has destroyed its Communicator"], []),
    "return of rank 0": (0, 20, 2, 1, [r"waits in \w+ for rank 0, which has destroyed its Communicator"], []),
    # The launchers notice these; MPICH's does not take the first for an error, and does not know ranks.
    "_exit": (1, 20, 2, ANY, [], [r"is done"]),
    "killed": (1, 20, 2, FAILURE, [r"rank 1|Killed \(signal 9\)"], [r"is done"]),
    "signal": (1, 20, 1, 0, [r"rank 0 has stopped", r"rank 1 has stopped", r"rank 2 has stopped"], [r"dynasoar"]),
    "stopped": (1, 1, 4, 1, [r"rank [02] of 3 on \S+ has waited 1(\.\d)? s in exchange for rank 1,"], [r"is done"]),
    "hang in step": (2, 1, 4, 1, [r"rank [01] of 3 on \S+ has waited 1(\.\d)? s in exchange for rank 2,"], [r"is done"]),
    "hang after exchange": (2, 1, 4, 1, [r"rank 0 of 3 on \S+ has waited 1(\.\d)? s in agree for rank 2,"], [r"is done"]),
    "hang of rank 0 after exchange": (0, 1, 4, 1, [r"rank \d of 3 on \S+ has waited 1(\.\d)? s in agree for rank 0,"], [r"is done"]),
    "hang while rank 0 is late": (2, 2, 6, 1, [r"rank 0 of 3 on \S+ has waited 2(\.\d)? s in agree for rank 2,"], [r"for rank 0,", r"is done"]),
    "hang at end": (1, 1, 4, 1, [r"rank 0 of 3 on \S+ has waited 1(\.\d)? s in exit for rank 1,"], []),
    "hang before MPI_Init": (1, 3, 4, 1, [r"has waited 3 s in MPI_Init for other ranks"], []),
    "no communicator": (1, 1, 4, 1, [r"s in Communicator::Communicator for rank 1\."], [r"is done"]),
    "other call": (1, 20, 1, 1, [r"rank 0 of 3 on \S+ calls agree as collective call number \d+, but rank 1 calls barrier as number \d+"], [r"is done"]),
    "own MPI": (1, 20, 0, 0, [r"rank 0 is done", r"rank 1 is done", r"rank 2 is done"], [r"dynasoar"]),
}


def environment(**more):
    return {name: value for name, value in os.environ.items() if name not in LAUNCHERS} | more


def is_running(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX" and str(PROGRAM.name)[:15] in status


def run(what, victim, patience, **more):
    what = re.sub(" of rank 0", "", what)
    command = [PROGRAM, what, str(victim), str(patience)]
    if MPIEXEC != "none" and not more:
        command = [MPIEXEC, "-n", str(RANKS), *command]
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(**more))
    try:
        output, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, output, time.monotonic() - begin


@unittest.skipIf(MPIEXEC == "none", "this build has no MPI")
class Failures(unittest.TestCase):
    def test_each_ends_in_time_with_a_message_that_names_the_rank_and_without_a_process_left(self):
        # They wait most of the time.
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            ended = {what: pool.submit(run, what, *case[:2]) for what, case in CASES.items()}
            for what, (victim, patience, most_seconds, expected_status, printed, not_printed) in CASES.items():
                with self.subTest(what):
                    status, output, seconds = ended[what].result()
                    shown = f"{what}: status {status} after {seconds:.1f} s, said:\n{output}"
                    if expected_status == FAILURE:
                        self.assertNotEqual(status, 0, shown)
                    elif expected_status != ANY:
                        self.assertEqual(status, expected_status, shown)
                    self.assertLess(seconds, most_seconds + START_SECONDS, shown)
                    for pattern in printed:
                        self.assertRegex(output, pattern, shown)
                    for pattern in not_printed:
                        self.assertNotRegex(output, pattern, shown)
                    left = [int(pid) for pid in re.findall(r"^pid (\d+)", output, re.M)]
                    deadline = time.monotonic() + 5
                    while any(map(is_running, left)) and time.monotonic() < deadline:
                        time.sleep(0.1)
                    self.assertEqual([pid for pid in left if is_running(pid)], [], shown)
                    print(f"{what}: {seconds:.1f} s")


    def test_time_in_which_all_ranks_are_stopped_does_not_count(self):
        program = subprocess.Popen([MPIEXEC, "-n", str(RANKS), PROGRAM, "slow", "0", "1"], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env=environment())
        try:
            ranks = [int(program.stdout.readline().split()[1]) for _ in range(RANKS)]
            time.sleep(1)
            for sent, seconds in ((signal.SIGSTOP, 2.5), (signal.SIGCONT, 0)):
                for pid in ranks:
                    os.kill(pid, sent)
                time.sleep(seconds)
            output, _ = program.communicate(timeout=60)
        finally:
            program.kill()
        self.assertEqual(program.returncode, 0, output)
        self.assertEqual(output.count("is done"), RANKS, output)


class Launchers(unittest.TestCase):
    def test_without_a_launcher_the_program_is_alone(self):
        status, output, _ = run("nothing", 1, 20, ALONE="")
        self.assertEqual(status, 0, output)
        self.assertIn("rank 0 is done", output)

    def test_exit_and_exceptions_of_a_rank_that_is_alone_are_those_of_any_program(self):
        for what, expected in {"exit": 0, "exception": 1, "agreed exception": 1, "signal": 0}.items():
            status, output, _ = run(what, 0, 20, ALONE="")
            self.assertEqual(status, expected, output)
            self.assertNotIn("dynasoar", output)

    def test_a_launcher_of_another_mpi_is_noticed(self):
        for variable in ("PMI_SIZE", "SLURM_STEP_NUM_TASKS"):
            status, output, _ = run("nothing", 1, 20, **{variable: "4"})
            self.assertEqual(status, 1, output)
            self.assertIn(f"a launcher has started several processes ({variable}=4 in the environment)", output)
            self.assertNotIn("is done", output)
            self.assertIn("DYNASOAR_MPI=ON" if MPIEXEC == "none" else "belongs to another MPI", output)

    def test_a_launcher_of_one_process_is_not_in_the_way(self):
        status, output, _ = run("nothing", 1, 20, PMI_SIZE="1")
        self.assertEqual(status, 0, output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
