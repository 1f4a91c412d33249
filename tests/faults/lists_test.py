"""The hand-written faults and the mutants of the headers can be planted, survivors.json lists only places that exist, and
planting leaves other names alone.

Usage: lists_test.py <project folder>
"""
import json
import pathlib
import sys
import unittest

import named_faults
import places

ROOT = pathlib.Path(sys.argv[1])
sys.path.append(str(ROOT / "tests/model_checking"))
import mutants  # noqa: E402
import mutants_list  # noqa: E402


class ListsTest(unittest.TestCase):
    def test_each_hand_written_fault_has_its_place(self):
        self.assertEqual(len(list(named_faults.places(ROOT))), len(named_faults.NAMED))

    def test_each_mutant_of_a_header_has_its_place(self):
        for mutant in mutants_list.MUTANTS:
            with self.subTest(mutant["name"]):
                mutants.mutated(mutant)

    def test_each_survivor_is_in_its_file(self):
        survivors = json.loads((ROOT / "tests/faults/survivors.json").read_text(encoding="utf-8"))
        self.assertTrue(survivors)
        for survivor in survivors:
            with self.subTest(**survivor):
                path = ROOT / survivor["file"]
                self.assertTrue(path.is_file(), "there is no such file: remove the entry")
                self.assertIn(survivor["code"], path.read_text(encoding="utf-8"), "the line has changed: remove the entry")

    def test_planting_keeps_names_that_begin_like_the_switch(self):
        place = places.Place("condition negated", 4, 10, "(not FAULTY if FAULT else FAULTY)", "not FAULTY")
        self.assertEqual(places.plant("x = FAULTY\n", [(7, place)], "fault({})"), "x = (not FAULTY if fault(7) else FAULTY)\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
