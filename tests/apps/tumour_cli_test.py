"""The command line of tumour.

Usage: tumour_cli_test.py <path of tumour>. Exits with 77 (skipped) if it needs a GPU and there is none.
"""

import csv
import re
import struct
import unittest

import command_line


class TumourTest(command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--cells N=1", "--world N=32", "--mobility X=0.2", "--growth X=0.0025", "--division X=0.02", "--hypoxia X=0.3",
               "--necrosis X=0.15", "--death X=0.01", "--shrinking X=0.0005", "--diffusion X=1", "--supply X=0.01", "--uptake X=0.03",
               "--room N=0", "--steps N=1500", "--variant cells=cells")
    whole_numbers = {"--cells": (1, 2**28), "--world": (1, 256), "--room": (0, 2**30)}
    real_numbers = {"--growth": (1e-6, 0.1), "--shrinking": (0, 0.5), "--diffusion": (0, 4 / 3),
                    **dict.fromkeys(("--mobility", "--division", "--hypoxia", "--necrosis", "--death", "--supply", "--uptake"),
                                    command_line.FRACTION)}
    variants = {"cells": "cells as objects"}
    placed_variants = ("cells",)  # the tissue
    placed_with_free_objects = True
    log_file = "tumour.csv"
    chart_file = "tumour-radius.png"
    picture_file = "tumour.png"
    columns = ("proliferating", "hypoxic", "necrotic", "radius", "oxygen")
    counts = exported = columns[:3]
    phases = ("sort", "live", "diffuse")
    small_run = ("--cells", "150", "--world", "5", "--growth", "0.03", "--division", "0.5", "--hypoxia", "0.7", "--necrosis", "0.6",
                 "--uptake", "0.2")
    size = r"150 cells in a world 10 wide"
    picture_size = (1024, 1024)
    large_run = ("--cells", "20000", "--steps", "1")

    def heap_variants(self):
        return self.variants

    def test_the_points_of_an_export_are_where_cells_are_in_space(self):
        common = ("--cells", "40", "--world", "5", "--steps", "0", *command_line.NO_PICTURES)
        for ending in ("csv", "vtp"):
            self.assertEqual(self.run_program(*common, "--export", f"cells.{ending}").returncode, 0)
        with (self.folder / "cells-000000.csv").open(encoding="utf-8") as file:
            cells = [float(row[f"position_.{axis}"]) for row in csv.DictReader(file) for axis in "xyz"]
        content = (self.folder / "cells-000000.vtp").read_bytes()
        offset = int(re.search(rb'Name="Points"[^>]*offset="(\d+)"', content)[1]) + content.index(b"_", content.index(b"<AppendedData")) + 1
        points = struct.unpack_from("<120d", content, offset + 8)  # behind the number of bytes
        self.assertEqual(len(cells), 120)
        in_single_precision = struct.unpack("<120f", struct.pack("<120f", *cells))
        self.assertEqual(sorted(points), sorted(in_single_precision))

    def test_options_that_do_not_go_together_are_refused(self):
        self.assert_refused("--cells", "10", "--room", "9", mentions="--room: there is no room")
        self.assert_refused("--hypoxia", "0.1", "--necrosis", "0.2", mentions=("--necrosis", "--hypoxia"))

    def test_more_cells_than_there_is_room_for_end_the_run(self):
        result = self.run_program("--cells", "100", "--growth", "0.1", "--division", "1", "--room", "1000", "--steps", "20")
        self.assertEqual(result.returncode, command_line.EXIT_FAILURE, result)
        self.assertIn("room for, which is 1000: choose a larger --room", result.stderr)


if __name__ == "__main__":
    command_line.main(TumourTest)
