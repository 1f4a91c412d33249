"""The command line of wa-tor.

Usage: wa_tor_cli_test.py <path of wa-tor>. Exits with 77 (skipped) if wa-tor needs a GPU and there is none.
"""

import unittest

import command_line


class WaTorTest(command_line.LossTests, command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--width N=1024", "--height N=1024", "--fish X=0.25", "--sharks X=0.25", "--compact-above X=1", "--steps N=300",
               "--transport auto|peer|nccl|staged=auto",
               "--variant placed|cells|agents=placed")
    whole_numbers = dict.fromkeys(("--width", "--height"), command_line.POSITIVE)
    real_numbers = dict.fromkeys(("--fish", "--sharks", "--compact-above"), command_line.FRACTION)
    shares = ("--fish", "--sharks")
    variants = {"placed": "agents placed on a lattice", "cells": "cells and agents as objects", "agents": "agents as objects"}
    placed_variants = ("placed",)
    picture_file = "wa-tor.png"
    large_grid = ("--variant", "placed")
    columns = counts = ("fish", "sharks")
    exported = ("fish", "sharks")
    phases = ("fish ask", "fish move", "sharks ask", "sharks move")
    small_run = ("--width", "24", "--height", "18")
    size = "24 x 18 cells"
    picture_size = (24 * 22, 18 * 22)
    large_run = ("--width", "256", "--height", "256", "--steps", "60")
    run_that_saves = ("--width", "512", "--height", "256", "--checkpoint", "c", "--checkpoint-every", "1")

    def check_rows(self, rows):
        for row in rows:
            self.assertLessEqual(int(row[1]) + int(row[2]), 24 * 18)

    def test_placed_agents_are_not_compacted(self):
        self.assert_refused("--variant", "placed", "--compact-above", "0.3", mentions="--compact-above")

    def test_oceans_of_too_many_cells_are_refused(self):
        for others in (("--variant", "cells"), ("--variant", "agents"), ("--baseline", "soa"), ("--baseline", "reference")):
            self.assert_refused("--width", "65536", "--height", "32768", *others, mentions="2^31 - 1 cells, which only --variant placed can have")

    def test_a_heap_without_a_size_keeps_within_the_limit_of_the_address_space(self):
        self.assertEqual(self.lost_run(**self.with_little_memory(2 * 2**30))[0], 0)

    def test_large_oceans_have_a_pixel_per_cell(self):
        self.simulate("--width", "700", "--height", "3", "--steps", "0", "--baseline", "soa")
        self.assertEqual(command_line.png_size(self.folder / "wa-tor.png"), (700, 3))
        self.rows(0)

    def test_progress_on_a_terminal_is_erased_at_the_end(self):
        size = ("--width", "256", "--height", "256", "--steps", "200")
        with self.process_on_terminal(*size, "--baseline", "reference") as (process, terminal):
            text = command_line.read_terminal(terminal)
            self.assertEqual(process.wait(command_line.PATIENCE), 0)
        self.assertRegex(text.decode(), rf"^({command_line.PROGRESS_LINE})+{command_line.ERASED_LINE}$")


if __name__ == "__main__":
    command_line.main(WaTorTest)
