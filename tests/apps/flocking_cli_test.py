"""The command line of flocking.

Usage: flocking_cli_test.py <path of flocking>. Exits with 77 (skipped) if it needs a GPU and there is none.
"""

import unittest

import command_line


class FlockingTest(command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--boids N=4000", "--neighbours X=30", "--sort-every N=0", "--steps N=500", "--variant boids=boids")
    whole_numbers = {"--boids": (1, 2**28), "--sort-every": (0, 2**31 - 1)}
    real_numbers = {"--neighbours": (1, 1000)}
    variants = {"boids": "boids as objects"}
    baselines = command_line.ApplicationTests.baselines | {"reference": "sequential reference in double precision"}
    log_file = "flock.csv"
    chart_file = "order.png"
    picture_file = "flocking.png"
    columns = ("boids", "order", "speed")
    exported = ("boids",)
    counts = ("boids",)
    phases = ("sort", "fly")
    small_run = ("--boids", "120")
    size = r"120 boids in a world 5\.0 wide"
    picture_size = (1024, 1024)
    large_run = ("--boids", "20000", "--steps", "1")

    def test_a_sorted_flock_is_the_same_flock(self):
        self.simulate_small_run()
        unsorted = self.rows(self.steps)
        self.simulate_small_run("--sort-every", "2")
        self.assertEqual(self.rows(self.steps), unsorted)

    def test_baselines_are_not_sorted(self):
        self.assert_refused("--baseline", "soa", "--sort-every", "2", mentions="--sort-every")

    def test_all_implementations_agree(self):
        """Overrides the comparison: the reference computes in double precision."""
        tables = []
        for implementation in self.implementations():
            self.simulate_small_run(*implementation)
            tables.append(self.rows(self.steps))
        *exact, reference = tables
        for table in exact[1:]:
            self.assertEqual(table, exact[0])
        for row, expected in zip(exact[0], reference):
            self.assertEqual(row[:2], expected[:2])
            for value, other in zip(row[2:], expected[2:]):
                self.assertAlmostEqual(float(value), float(other), places=5)


if __name__ == "__main__":
    command_line.main(FlockingTest)
