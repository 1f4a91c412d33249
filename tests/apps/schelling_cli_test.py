"""The command line of schelling.

Usage: schelling_cli_test.py <path of schelling>. Exits with 77 (skipped) if it needs a GPU and there is none.
"""

import unittest

import command_line


class SchellingTest(command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--width N=512", "--height N=512", "--red X=0.45", "--blue X=0.45", "--similar X=0.5", "--patience N=0",
               "--newcomers X=0", "--steps N=200", "--variant placed=placed")
    whole_numbers = dict.fromkeys(("--width", "--height"), command_line.POSITIVE) | {"--patience": command_line.NATURAL}
    real_numbers = dict.fromkeys(("--red", "--blue", "--similar", "--newcomers"), command_line.FRACTION)
    shares = ("--red", "--blue")
    variants = {"placed": "agents placed on a lattice"}
    placed_variants = ("placed",)
    log_file = "segregation.csv"
    chart_file = "segregation.png"
    picture_file = "schelling.png"
    columns = ("red", "blue", "unhappy", "similar")
    exported = ("red", "blue")
    counts = ("red", "blue", "unhappy")
    phases = ("look", "move", "settle")
    small_run = ("--width", "24", "--height", "18", "--similar", "0.7", "--patience", "3", "--newcomers", "0.05")
    size = "24 x 18 cells"
    picture_size = (24 * 22, 18 * 22)
    large_run = ("--width", "256", "--height", "256", "--steps", "20")

    def check_rows(self, rows):
        for _, red, blue, unhappy, similar in rows:
            self.assertLessEqual(int(red) + int(blue), 24 * 18)
            self.assertLessEqual(int(unhappy), int(red) + int(blue))
            self.assertTrue(0 <= float(similar) <= 1)

    def test_cities_of_too_many_cells_are_refused(self):
        self.assert_refused("--width", "65536", "--height", "32768", mentions="2^31")

    def test_exported_agents_have_their_group(self):
        (self.folder / "out").mkdir()
        for step, agents in self.export().items():
            _, red, blue, *_ = self.rows(self.steps)[step]
            for group, count in (("Red", red), ("Blue", blue)):
                self.assertEqual(sum(agent["class"] == group for agent in agents), int(count))

    def test_exported_agents_say_for_how_many_steps_they_have_been_unhappy(self):
        (self.folder / "out").mkdir()
        for step, agents in self.export().items():
            longest = max(int(agent["unhappy"]) for agent in agents)
            self.assertTrue(min(step, 1) <= longest <= step, (step, longest))


if __name__ == "__main__":
    command_line.main(SchellingTest)
