"""The command lines of game-of-life and generation: pattern files, rules and edges beside what all programs have.

Usage: life_cli_test.py <path of game-of-life> <path of generation> <folder of patterns>. Exits with 77 (skipped) if
the programs need a GPU and there is none.
"""

import unittest

import command_line

PATTERNS = command_line.path_argument(3)


class LifeTests(command_line.CheckpointTests, command_line.ApplicationTests):
    options = ("--pattern FILE=none", "--density X=0.3", "--edge dead|torus|grow=grow", "--margin N=0",
               "--output FILE=none", "--steps N=300", "--variant cells|placed=placed", "--width N=0", "--height N=0",
               "--transport auto|peer|nccl|staged=auto")
    whole_numbers = dict.fromkeys(("--width", "--height", "--margin"), command_line.NATURAL)
    real_numbers = {"--density": command_line.FRACTION}
    output_options = ("--output",)
    variants = {"cells": "cells, alive cells and candidates as objects",
                "placed": "cells placed on a lattice"}
    placed_variants = ("placed",)
    large_grid = ("--variant", "placed", "--edge", "torus")
    picture_size = (40 * 13, 30 * 13)
    large_run = ("--width", "256", "--height", "256", "--steps", "20")

    def simulate_pattern(self, path, steps, *arguments):
        """The rows of a run's CSV file."""
        result = self.simulate("--pattern", path, "--steps", str(steps), *arguments, *command_line.NO_PICTURES,
                               "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        return self.rows(steps)

    def test_a_growing_frame_goes_on_where_it_was(self):
        run = ("--width", "40", "--height", "30", *command_line.NO_PICTURES, "--quiet", "--picture", "out.png")
        for variant in self.variants:
            self.empty_folder()
            expected = None
            for arguments in (("--steps", "150"), ("--steps", "90", "--checkpoint", "run.checkpoint"),
                              ("--steps", "150", "--restore", "run.checkpoint")):
                self.simulate(*run, "--variant", variant, *arguments)
                files = command_line.read_csv(self.folder / self.log_file), (self.folder / "out.png").read_bytes()
                expected = expected or files
            self.assertEqual(files[0][1:], expected[0][91:])
            self.assertEqual(files[1], expected[1])
        restore = (*run, "--restore", "run.checkpoint")
        self.assert_refused(*restore, "--edge", "torus", mentions="--edge")
        self.assert_refused(*restore, "--density", "0.2", mentions="--density: the run in run.checkpoint has 0.3, not 0.2")
        self.simulate(*run, "--edge", "torus", "--steps", "3", "--checkpoint", "run.checkpoint")
        self.assert_refused(*restore, mentions="--edge: the run in run.checkpoint is of something else")

    def test_a_growing_frame_refuses_a_checkpoint_of_another_program_by_name(self):
        if self.other_program is None:
            self.skipTest("only one program is given")
        refusal = f"--restore: other is a checkpoint of the program {self.other_program.name}, not of {self.program.name}"
        for edge in ("grow", "torus"):
            self.empty_folder()
            command_line.run(self.other_program, "--width", "40", "--height", "30", "--edge", edge, "--steps", "0", "--checkpoint", "other",
                             *command_line.NO_PICTURES, "--log", "none", cwd=self.folder)
            self.assert_refused("--restore", "other", "--quiet", mentions=refusal)
        # As those of programs that have no frame: without the value that says where it is.
        command_line.forge_checkpoint(self.folder / "other", command_line.CHECKPOINT_ITEMS, b"notes:", b"other:")
        self.assert_refused("--restore", "other", "--quiet", mentions=refusal)

    def test_wrong_edges_and_sizes_are_refused(self):
        self.assert_refused("--edge", "sharp", mentions="dead, torus, grow")
        for others in ((), ("--edge", "torus", "--variant", "cells"), ("--edge", "torus", "--baseline", "reference")):
            self.assert_refused("--width", "65536", "--height", "32768", *others, mentions="2^31 - 1 cells, which only --variant placed with")
        self.assert_refused("--width", "9", "--height", "9", "--margin", "1200000000", mentions="more than 2^31 - 1")

    def test_a_name_that_is_not_utf_8_does_no_harm(self):
        (self.folder / "p.rle").write_bytes(b"#N Caf\xe9 \x1b[2J \"quoted\"\nx = 3, y = 1, rule = B3/S23\n3o!\n")
        self.simulate("--pattern", "p.rle", "--steps", "2", "--output", "end.rle")
        self.assertEqual((self.folder / "end.rle").read_bytes().splitlines()[0], b"#N Caf\xe9 \x1b[2J \"quoted\"")
        self.assert_refused("--pattern", "p.rle", "--output", "./p.rle", mentions="--pattern and --output are the same file")

    def test_a_few_bytes_do_not_get_a_large_frame_unless_it_is_asked_for(self):
        rule = ("--rule", "B3/S23", "--steps", "1", *command_line.NO_PICTURES)
        (self.folder / "p.rle").write_text("x = 46340, y = 46340\no!\n")
        for edge in ("dead", "torus"):
            self.assert_refused("--pattern", "p.rle", "--edge", edge, *rule,
                                mentions="ask for it with --width 46340 --height 46340, or leave out --edge")
        grown = self.simulate("--pattern", "p.rle", *rule)  # around what lives
        self.assertIn("1 x 1 cells on an unbounded plane", grown.stdout)
        (self.folder / "p.rle").write_text("x = 4097, y = 4096\no!\n")
        self.assert_refused("--pattern", "p.rle", "--edge", "dead", *rule, mentions="--width 4097 --height 4096")
        for arguments in (("--width", "4097"), ("--height", "4096")):  # one alone does not ask for it
            self.assert_refused("--pattern", "p.rle", "--edge", "dead", *rule, *arguments, mentions="--width 4097 --height 4096")
        for size, arguments in (("4096 x 4096", ()), ("4097 x 4096", ("--width", "4097", "--height", "4096"))):
            (self.folder / "p.rle").write_text(f"x = {size[:4]}, y = 4096\no!\n")
            result = self.simulate("--pattern", "p.rle", "--edge", "dead", *rule, *arguments)
            self.assertIn(f"{size} cells with a dead edge", result.stdout)
        # As much as is alive may have a frame: two gliders far from each other do not.
        (self.folder / "p.rle").write_text("bo$2bo$3o20000$20000bbo$20000b2bo$20000b3o!\n")
        self.assert_refused("--pattern", "p.rle", *rule, mentions="--width 20003 --height 20005")

    def test_memory_does_not_follow_the_size_that_a_file_claims(self):
        """In 512 MiB of addresses, a few bytes of file are simulated or refused, whatever their size would take."""
        little = self.with_little_memory(2**29)
        rule = ("--rule", "B3/S23", "--threads", "2", "--steps", "1", "--quiet", *command_line.NO_PICTURES)
        for text, largest in (("x = 46340, y = 46340\no!\n", "46340 x 46340"), ("x = 2147483647, y = 1\no!\n", "2147483647 x 1"),
                              ("1999999999bo!\n", "2000000000 x 1"), ("46339$46339bo!\n", "46340 x 46340"), ("o1000000000bo!\n", "1000000002 x 1")):
            (self.folder / "p.rle").write_text(text)
            for edge in ("grow", "dead", "torus"):
                with self.subTest(text=text, edge=edge):
                    result = self.run_program("--pattern", "p.rle", "--edge", edge, *rule, **little)
                    if edge == "grow" and text.count("o") == 1:
                        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
                    else:
                        self.assertEqual(result.returncode, command_line.EXIT_USAGE, result)
                        self.assertIn(f"a frame of {largest} cells", result.stderr)
        # A frame that is asked for does not fit: the limit is one.
        result = self.run_program("--width", "46340", "--height", "46340", "--edge", "dead", *rule, **little)
        self.assertEqual(result.returncode, command_line.EXIT_FAILURE, result)
        self.assertRegex(result.stderr, "not enough memory|no memory left")

    def test_files_that_are_no_patterns_are_refused(self):
        (self.folder / "bad.rle").write_text("#C a comment\nx = 3, y = 3\nbo$2b?$3o!\n")
        self.assert_refused("--pattern", "bad.rle", mentions="bad.rle:3:6: unexpected '?'")
        (self.folder / "bad.rle").write_text("x = 3, y = 3, rule = LifeHistory\n.D!\n")
        self.assert_refused("--pattern", "bad.rle", mentions="bad.rle:1:22: unexpected 'L': a rule of the name 'LifeHistory'")
        (self.folder / "bad.rle").write_bytes(b"\x1f\x8b\x08\0")
        self.assert_refused("--pattern", "bad.rle", mentions="bad.rle is compressed with gzip: unpack it first")
        self.assert_refused("--rule", "B3/S2\x1b[2J", mentions="--rule 'B3/S2\\x1b[2J', character 6: unexpected '\\x1b'")
        self.assert_refused("--pattern", "missing.rle", mentions="cannot read missing.rle: No such file")
        self.assert_refused("--pattern", ".", mentions="cannot read .: Is a directory")
        self.assert_refused("--pattern", PATTERNS / "acorn.rle", "--width", "6",
                            mentions="--width: 6 is less than the 7 of the pattern")


class GameOfLifeTest(LifeTests, unittest.TestCase):
    program = command_line.path_argument(1)
    other_program = command_line.path_argument(2)
    options = (*LifeTests.options, "--rule RULE=the pattern's, or B3/S23")
    baselines = {"soa": "structure-of-arrays baseline", "aos": "array-of-structures baseline",
                 "dense": "dense baseline", "stencil": "stencil baseline", "reference": "sequential reference"}
    picture_file = "game-of-life.png"
    columns = counts = ("alive", "candidates")
    exported = ("alive",)
    small_run = ("--width", "40", "--height", "30", "--edge", "torus")
    size = "40 x 30 cells on a torus, rule B3/S23"

    def test_wrong_rules_are_refused(self):
        self.assert_refused("--rule", "B3/S2x", mentions="--rule 'B3/S2x', character 6: unexpected 'x'")
        self.assert_refused("--rule", "B0/S23", mentions="birth on 0 is not supported")
        self.assert_refused("--rule", "345/2/4", mentions="the program for it is generation")
        self.assert_refused("--pattern", PATTERNS / "brians_brain_ship.rle", mentions="/2/3 has dying states")

    def test_a_rule_on_the_command_line_overrides_the_patterns(self):
        (self.folder / "p.rle").write_text("x = 3, y = 1, rule = LifeHistory\n3o!\n")
        rows = self.simulate_pattern("p.rle", 1, "--rule", "B/S")
        self.assertEqual([row[1] for row in rows], ["3", "0"])

    def test_the_output_is_the_pattern_at_the_end_where_it_is(self):
        self.simulate_pattern(PATTERNS / "glider.rle", 400, "--output", "end.rle")
        self.assertEqual((self.folder / "end.rle").read_text(),
                         "#N Glider\n#R 100 100\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n")
        # Two halves of a run are the whole.
        self.simulate_pattern(PATTERNS / "acorn.rle", 150, "--output", "half.rle")
        self.simulate_pattern("half.rle", 150, "--output", "whole.rle")
        self.simulate_pattern(PATTERNS / "acorn.rle", 300, "--output", "expected.rle")
        self.assertEqual((self.folder / "whole.rle").read_text(), (self.folder / "expected.rle").read_text())

    def test_what_lives_can_die_out(self):
        (self.folder / "p.rle").write_text("x = 0, y = 0\n!\n")
        rows = self.simulate_pattern("p.rle", 70, "--output", "end.rle")
        self.assertEqual(rows[-1], ["70", "0", "0"])
        self.assertEqual((self.folder / "end.rle").read_text(), "x = 0, y = 0, rule = B3/S23\n!\n")

    def test_the_edge_makes_the_difference(self):
        glider = PATTERNS / "glider.rle"
        frame = ("--width", "9", "--height", "9")
        last = {edge: self.simulate_pattern(glider, 60, *frame, "--edge", edge)[-1][1]
                for edge in ("dead", "torus", "grow")}
        self.assertEqual(last, {"dead": "4", "torus": "5", "grow": "5"})  # in the corner it becomes a block
        output = self.simulate("--pattern", glider, *frame, "--edge", "dead", "--margin", "2", "--steps", "0").stdout
        self.assertRegex(output, r"^game-of-life: cells placed on a lattice, 13 x 13 cells with a dead "
                                 r"edge, rule B3/S23, 0 steps, on the ")


class GenerationTest(LifeTests, unittest.TestCase):
    program = command_line.path_argument(2)
    other_program = command_line.path_argument(1)
    options = (*LifeTests.options, "--rule RULE=the pattern's, or 234/34678/24")
    baselines = {"soa": "structure-of-arrays baseline", "aos": "array-of-structures baseline",
                 "dense": "dense baseline", "reference": "sequential reference"}
    picture_file = "generation.png"
    columns = counts = ("alive", "dying")
    exported = ("alive", "dying")
    small_run = ("--width", "40", "--height", "30", "--edge", "dead")
    size = "40 x 30 cells with a dead edge, rule 234/34678/24"

    def test_wrong_rules_and_states_are_refused(self):
        self.assert_refused("--rule", "345/2/266", mentions="from 2 to 265")
        self.assert_refused("--baseline", "stencil", mentions="none, soa, aos, dense, reference")
        (self.folder / "bad.rle").write_text("x = 3, y = 3, rule = 345/2/4\n3AD!\n")
        self.assert_refused("--pattern", "bad.rle", mentions="bad.rle:2:3: row 1 has 4 cells or more")
        (self.folder / "bad.rle").write_text("x = 3, y = 3, rule = 345/2/4\n2AD!\n")
        self.assert_refused("--pattern", "bad.rle", mentions="bad.rle:2:3: a cell in state 4")

    def test_all_implementations_agree_on_a_pattern_with_a_rule(self):
        self.assert_implementations_agree("--pattern", PATTERNS / "brians_brain_ship.rle", "--margin", "9",
                                          "--edge", "dead", "--steps", "12")


if __name__ == "__main__":
    command_line.main(GameOfLifeTest)
