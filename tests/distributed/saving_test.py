"""Whatever rank is killed while several save a checkpoint, and whenever: the checkpoint is the old one or the new one, and the next
save succeeds and leaves no other files.

Usage: saving_test.py <saving_program> <mpiexec>
"""

import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1])
MPIEXEC = sys.argv[2]
RANKS = 2
MOST_OPERATIONS = 40  # more than a rank makes


def run(path, *arguments, ranks):
    launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    process = subprocess.run([*launcher, PROGRAM, path, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, timeout=60)
    return process.returncode, process.stdout


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def files_of_save(number):
    return ["run", *(f"run.save{number}.rank{rank}" for rank in range(RANKS))]


class Killed(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dynasoar_saving_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.start = self.folder / "start"
        self.start.mkdir()
        status, output = run(self.start / "run", 0, 0, ranks=RANKS)
        self.assertEqual(status, 0, output)
        self.assertEqual(names(self.start), files_of_save(1))

    def kill(self, victim, operation):
        """Returns whether the rank was killed, and the step of the checkpoint that is there then."""
        folder = self.folder / f"{victim}_{operation}"
        shutil.copytree(self.start, folder)
        status, output = run(folder / "run", victim, operation, ranks=RANKS)
        shown = f"rank {victim}, operation {operation}: status {status}, said:\n{output}"
        self.assertIn("step 5 is right", output, shown)
        was_killed = "saved" not in output
        self.assertEqual(status != 0, was_killed, shown)
        status, output = run(folder / "run", ranks=1)
        shown += f"then, alone: status {status}, said:\n{output}"
        self.assertEqual(status, 0, shown)
        self.assertRegex(output, "step (5|10) is right", shown)
        step = int(output.split()[1])
        status, output = run(folder / "run", 0, 0, ranks=RANKS)
        shown += f"then, once more: status {status}, said:\n{output}"
        self.assertIn(f"step {step} is right", output, shown)
        self.assertEqual(status, 0, shown)
        left = names(folder)
        self.assertEqual(len(left), 1 + RANKS, shown + f"left: {left}")
        return was_killed, step

    def test_the_checkpoint_is_the_old_or_the_new_one(self):
        for victim in (0, 1):
            steps = []
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                for first in range(1, MOST_OPERATIONS, 4):
                    results = list(pool.map(lambda operation: self.kill(victim, operation), range(first, first + 4)))
                    steps += [step for was_killed, step in results if was_killed]
                    if not all(was_killed for was_killed, _ in results):
                        break
            print(f"rank {victim} was killed {len(steps)} times, and left the steps {steps}")
            self.assertEqual(steps, sorted(steps))
            self.assertGreaterEqual(len(steps), 3)
            self.assertEqual(set(steps), {5, 10} if victim == 0 else {5})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
