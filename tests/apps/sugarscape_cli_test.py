"""The command line of sugarscape.

Usage: sugarscape_cli_test.py <path of sugarscape>. Exits with 77 (skipped) if sugarscape needs a GPU and there is none.
"""

import unittest

import command_line


class SugarscapeTest(command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--width N=1024", "--height N=1024", "--male X=0.12", "--female X=0.15", "--steps N=300",
               "--variant placed|cells|agents=placed", "--transport auto|peer|nccl|staged=auto")
    whole_numbers = dict.fromkeys(("--width", "--height"), command_line.POSITIVE)
    real_numbers = dict.fromkeys(("--male", "--female"), command_line.FRACTION)
    shares = ("--male", "--female")
    variants = {"placed": "cells and agents placed on a lattice", "cells": "cells and agents as objects",
                "agents": "agents as objects"}
    placed_variants = ("placed",)
    picture_file = "sugarscape.png"
    columns = counts = ("agents", "males", "females", "sugar")
    exported = ("agents",)
    phases = ("sugar spreads", "agents ask", "agents move", "males propose", "fathers ask", "births")
    small_run = ("--width", "40", "--height", "30")
    steps = 30
    size = "40 x 30 cells"
    picture_size = (40 * 13, 30 * 13)
    large_run = ("--width", "256", "--height", "256", "--steps", "3")

    def check_rows(self, rows):
        numbers = [[int(value) for value in row] for row in rows]
        self.assertTrue(all(row[1] == row[2] + row[3] <= 40 * 30 for row in numbers))
        self.assertEqual(numbers[0][4], 0)
        self.assertTrue(all(0 < row[4] <= 40 * 30 * 3500 for row in numbers[1:]))

    def test_landscapes_of_too_many_cells_are_refused(self):
        self.assert_refused("--width", "65536", "--height", "32768", mentions="2^31")

    def test_the_shares_of_males_and_females_change_the_run(self):
        tables = []
        for options in ([], ["--male", "0.3"], ["--female", "0"]):
            self.simulate_small_run(*command_line.NO_PICTURES, *options)
            tables.append(self.rows(self.steps))
        self.assertEqual(len({str(table) for table in tables}), 3)
        self.assertTrue(all(row[3] == "0" for row in tables[2]))


if __name__ == "__main__":
    command_line.main(SugarscapeTest)
