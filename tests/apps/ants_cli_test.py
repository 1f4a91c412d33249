"""The command line of ants.

Usage: ants_cli_test.py <path of ants>. Exits with 77 (skipped) if it needs a GPU and there is none.
"""

import unittest

import command_line


class AntsTest(command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--ants N=1500", "--side N=192", "--scenario garden|bridge=garden", "--food N=8", "--sight X=6", "--turn X=0.5", "--wobble X=0.5",
               "--threshold X=0.05", "--fading X=0.01", "--diffusion X=0.02", "--evaporation X=0.01", "--births X=0.5",
               "--lifetime N=5000", "--room N=0", "--steps N=1500", "--variant ants=ants")
    whole_numbers = {"--ants": (0, 2**28), "--side": (64, 2**12), "--food": (0, 2**20), "--lifetime": (1, 2**31 - 1), "--room": (0, 2**30)}
    real_numbers = {"--sight": (0, 100), "--turn": (0, 10), "--wobble": (0, 10), "--threshold": (0, 1e6), "--diffusion": (0, 0.5),
                    "--evaporation": (0, 100), **dict.fromkeys(("--fading", "--births"), command_line.FRACTION)}
    placed_variants = ("ants",)
    placed_with_free_objects = True
    variants = {"ants": "ants and cells as objects"}
    log_file = "ants.csv"
    chart_file = "ants-history.png"
    picture_file = "ants.png"
    columns = ("foragers", "carriers", "first gate", "second gate", "food", "stored")
    counts = columns
    exported = ("foragers", "carriers")
    phases = ("walk", "take", "diffuse")
    small_run = ("--ants", "150", "--side", "64", "--food", "3", "--lifetime", "50")
    size = r"150 ants in a garden of 64 x 64 cells"
    picture_size = (1024, 1024)
    large_run = ("--ants", "20000", "--steps", "1")

    def test_options_that_do_not_go_together_are_refused(self):
        self.assert_refused("--ants", "10", "--room", "9", mentions="--room: there is no room")
        self.assert_refused("--scenario", "maze", mentions=("--scenario", "garden", "bridge"))

    def test_more_ants_than_there_is_room_for_end_the_run(self):
        result = self.run_program("--ants", "300", "--side", "64", "--births", "1", "--room", "300", "--steps", "500")
        self.assertEqual(result.returncode, command_line.EXIT_FAILURE, result)
        self.assertIn("room for, which is 300: choose a larger --room", result.stderr)

    def test_a_bridge_has_a_short_and_a_long_branch(self):
        self.simulate("--scenario", "bridge", "--ants", "400", "--side", "64", "--lifetime", "100000", "--steps", "400")
        rows = self.rows(400)
        self.assertGreater(sum(int(row[3]) for row in rows), 0)
        self.assertGreater(sum(int(row[4]) for row in rows), 0)

    def test_a_world_without_ants_goes_on(self):
        self.simulate("--ants", "0", "--side", "64", "--steps", "5")
        self.assertEqual({tuple(row[1:3]) for row in self.rows(5)}, {("0", "0")})


if __name__ == "__main__":
    command_line.main(AntsTest)
