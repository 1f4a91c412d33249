"""The command line of traffic.

Usage: traffic_cli_test.py <path of traffic> <path of town.net.xml>. Exits with 77 (skipped) if traffic needs a GPU and
there is none.
"""

import unittest

import command_line

TOWN = command_line.path_argument(2)
RING = ("traffic 1\nintersection 0 0 5\nintersection 3 1 0\nstreet 0 1 12 7 0\nstreet 1 0 9 5 0 2 0\nturn 0 1\n"
        "turn 1 0\nproducer 0 3\ndestination 1 4\n")


class TrafficTest(command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--network FILE=none", "--intersections N=100", "--producers X=0.02", "--destinations X=0.003",
               "--green N=5", "--density X=0", "--production X=0.02", "--dawdling X=0.2", "--save-network FILE=none",
               "--steps N=300", "--variant placed|cells|cars=placed")
    whole_numbers = {"--intersections": (0, 1000000), "--green": (0, 1000000)}
    real_numbers = dict.fromkeys(("--producers", "--destinations", "--density", "--production", "--dawdling"),
                                 command_line.FRACTION)
    shares = ("--producers", "--destinations")
    output_options = ("--save-network",)
    variants = {"placed": "cells and cars placed on a lattice", "cells": "cells and cars as objects", "cars": "cars as objects"}
    placed_variants = ("placed",)
    placed_with_free_objects = True  # streets
    log_file = "traffic.csv"
    chart_file = "traffic-history.png"
    picture_file = "traffic.png"
    columns = counts = ("cars", "moving", "speeds")
    exported = ("cars",)
    phases = ("new cars", "cars prepare", "cars move")
    small_run = ("--intersections", "15", "--density", "0.1")
    size = r"random network, 15 intersections, \d+ streets, [\d,]+ cells, seed 42"
    large_run = ("--intersections", "60", "--density", "0.5", "--steps", "2")

    def check_rows(self, rows):
        cars, moving, speeds = (int(value) for value in rows[-1][1:])
        self.assertGreater(cars, moving)
        self.assertGreater(speeds, moving)

    def check_picture_size(self, size):
        self.assertLessEqual(max(size), 1700)
        self.assertGreaterEqual(min(size), 100)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="ascii")

    def test_a_picture_has_the_destinations_and_what_is_fast(self):
        pictures = []
        for change in (("", ""), ("destination 1 4", "destination 1 2"), ("street 0 1 12 7", "street 0 1 12 6")):
            (self.folder / "ring").write_text(RING.replace(*change) if change[0] else RING)
            self.simulate("--network", "ring", "--steps", "0", "--chart", "none", "--log", "none", "--picture", "p.png")
            pictures.append((self.folder / "p.png").read_bytes())
        self.assertEqual(len(set(pictures)), 3)

    def test_options_of_other_networks_are_refused(self):
        self.write("ring.txt", RING)
        self.assert_refused("--network", "ring.txt", "--intersections", "5", mentions="--intersections")
        for option in ("--producers", "--destinations", "--green"):
            self.assert_refused("--network", "ring.txt", option, "0", mentions=option)
        self.assert_refused("--network", "ring.txt", "--save-network", "./ring.txt", mentions="--network and --save-network are the same file")

    def test_networks_that_cannot_be_read_are_refused(self):
        self.assert_refused("--network", "missing.txt", mentions="cannot read missing.txt: No such file")
        self.assert_refused("--network", ".", mentions="cannot read .: Is a directory")
        self.write("broken.txt", RING.replace("turn 1 0", "turn 1 7"))
        self.assert_refused("--network", "broken.txt",
                            mentions="broken.txt:7:8: there is no street 7 in the lines above")
        self.write("broken.net.xml", "<net>\n  <edge id='a' from='b' to='c'/>\n</net>\n")
        self.assert_refused("--network", "broken.net.xml",
                            mentions="broken.net.xml:2:3: <edge>: there is no junction 'b'")
        self.write("text.xml", RING)
        self.assert_refused("--network", "text.xml", mentions="text.xml:")
        self.write("empty.txt", "")
        self.assert_refused("--network", "empty.txt", mentions="empty.txt:1:1: expected 'traffic 1'")

    def test_a_saved_network_is_the_same_network(self):
        for source, seed in ((["--intersections", "15", "--seed", "7"], ["--seed", "7"]),
                             (["--network", TOWN, "--producers", "0.1", "--green", "3"], [])):
            with self.subTest(source=source):
                common = ["--steps", "9", "--density", "0.2", *command_line.NO_PICTURES]
                result = self.simulate(*source, *common, "--save-network", "a.txt")
                self.assertIn("a.txt", result.stdout)
                rows = self.rows(9)
                self.simulate("--network", "a.txt", *seed, *common, "--save-network", "b.txt")
                self.assertEqual(self.rows(9), rows)
                self.assertEqual((self.folder / "a.txt").read_bytes(), (self.folder / "b.txt").read_bytes())

    def test_a_town_of_sumo_is_simulated(self):
        result = self.simulate("--network", TOWN, "--steps", "10", "--density", "0.1")
        self.assertIn("cells and cars placed on a lattice, town.net.xml, 60 intersections, 164 streets,",
                      result.stdout.splitlines()[0])
        self.assertGreater(int(self.rows(10)[-1][2]), 0)
        self.assertEqual(max(command_line.png_size(self.folder / "traffic.png")), 1668)

    def test_degenerate_networks_run(self):
        self.write("ring.txt", RING)
        self.write("nothing.txt", "traffic 1\n")
        self.write("cell.txt", "traffic 1\nintersection 2 2 1\nstreet 0 0 1 9 0\nturn 0 0\n")
        for arguments in (["--intersections", "0"], ["--intersections", "1"], ["--network", "ring.txt"],
                          ["--network", "nothing.txt"], ["--network", "cell.txt", "--density", "1"],
                          ["--intersections", "4", "--producers", "1", "--production", "1", "--destinations", "0"]):
            for implementation in self.implementations():
                with self.subTest(arguments=arguments, implementation=implementation):
                    result = self.simulate(*arguments, *implementation, "--steps", "3", "--quiet", "--chart", "none")
                    self.assertEqual((result.stdout, result.stderr), ("", ""))
                    self.rows(3)
                    self.check_picture_size(command_line.png_size(self.folder / "traffic.png"))


if __name__ == "__main__":
    command_line.main(TrafficTest)
