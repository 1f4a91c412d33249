"""The command line of epidemic.

Usage: epidemic_cli_test.py <path of epidemic>. Exits with 77 (skipped) if it needs a GPU and there is none.
"""

import unittest

import command_line


class EpidemicTest(command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--people N=20000", "--patients N=5", "--contacts X=10", "--stride X=0.25", "--infection X=0.03", "--recovery X=0.05",
               "--fatality X=0", "--births X=0.0005", "--deaths X=0.0005", "--room N=0", "--steps N=400", "--variant people=people")
    whole_numbers = {"--people": (1, 2**28), "--patients": (0, 2**28), "--room": (0, 2**30)}
    real_numbers = {"--contacts": (0.1, 1000), "--stride": (0, 1e6),
                    **dict.fromkeys(("--infection", "--recovery", "--fatality", "--births", "--deaths"), command_line.FRACTION)}
    variants = {"people": "people as objects"}
    log_file = "epidemic.csv"
    chart_file = "epidemic-history.png"
    picture_file = "epidemic.png"
    columns = counts = exported = ("susceptible", "infected", "recovered")
    phases = ("live", "sort", "meet")
    small_run = ("--people", "150", "--patients", "20", "--infection", "0.1", "--births", "0.01", "--deaths", "0.01")
    size = r"150 people in a world 6\.9 wide"
    picture_size = (1024, 1024)
    large_run = ("--people", "20000", "--steps", "1")

    def test_options_that_do_not_go_together_are_refused(self):
        self.assert_refused("--people", "10", "--patients", "11", mentions="--patients: 11 people of 10")
        self.assert_refused("--people", "10", "--room", "9", mentions="--room: there is no room")
        self.assert_refused("--births", "0.6", "--deaths", "0.5", mentions=("--births", "--deaths"))

    def test_more_people_than_there_is_room_for_end_the_run(self):
        result = self.run_program("--people", "100", "--births", "1", "--deaths", "0", "--room", "1000", "--steps", "10")
        self.assertEqual(result.returncode, command_line.EXIT_FAILURE, result)
        self.assertIn("room for, which is 1000: choose a larger --room", result.stderr)

    def test_a_long_stride_is_half_of_the_world(self):
        rows = []
        for stride in ("1", "1000"):
            self.simulate_small_run("--stride", stride)
            rows.append(self.rows(self.steps))
        self.assertNotEqual(rows[0], rows[1])
        self.simulate_small_run("--stride", "999")
        self.assertEqual(self.rows(self.steps), rows[1])


if __name__ == "__main__":
    command_line.main(EpidemicTest)
