"""The command line of forest-fire.

Usage: forest_fire_cli_test.py <path of forest-fire>. Exits with 77 (skipped) if it needs a GPU and there is none.
"""

import unittest

import command_line


class ForestFireTest(command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--width N=1024", "--height N=1024", "--trees X=0.4", "--growth X=0.01", "--lightning X=1e-05", "--steps N=500",
               "--variant placed=placed", "--transport auto|peer|nccl|staged=auto")
    whole_numbers = dict.fromkeys(("--width", "--height"), command_line.POSITIVE)
    real_numbers = dict.fromkeys(("--trees", "--growth", "--lightning"), command_line.FRACTION)
    variants = {"placed": "trees placed on a lattice"}
    placed_variants = ("placed",)
    log_file = "trees.csv"
    chart_file = "trees.png"
    picture_file = "forest-fire.png"
    large_grid = ("--variant", "placed")
    columns = counts = exported = ("trees", "fires")
    small_run = ("--width", "24", "--height", "18", "--growth", "0.1", "--lightning", "0.01")
    size = "24 x 18 cells"
    picture_size = (24 * 22, 18 * 22)
    large_run = ("--width", "256", "--height", "256", "--steps", "5")

    def check_rows(self, rows):
        for row in rows:
            self.assertLessEqual(int(row[1]) + int(row[2]), 24 * 18)
        self.assertGreater(int(rows[-1][2]), 0)

    def test_forests_of_too_many_cells_are_refused(self):
        for baseline in self.baselines:
            self.assert_refused("--width", "65536", "--height", "32768", "--baseline", baseline,
                                mentions="2^31 - 1 cells, which only --variant placed can have")


if __name__ == "__main__":
    command_line.main(ForestFireTest)
