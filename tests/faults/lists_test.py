"""The hand-written faults can be planted, and survivors.json lists only places that exist.

Usage: lists_test.py <project folder>
"""
import json
import pathlib
import sys
import unittest

import named_faults

ROOT = pathlib.Path(sys.argv[1])


class ListsTest(unittest.TestCase):
    def test_each_hand_written_fault_has_its_place(self):
        self.assertEqual(len(list(named_faults.places(ROOT))), len(named_faults.NAMED))

    def test_each_survivor_is_in_its_file(self):
        survivors = json.loads((ROOT / "tests/faults/survivors.json").read_text(encoding="utf-8"))
        self.assertTrue(survivors)
        for survivor in survivors:
            with self.subTest(**survivor):
                path = ROOT / survivor["file"]
                self.assertTrue(path.is_file(), "there is no such file: remove the entry")
                self.assertIn(survivor["code"], path.read_text(encoding="utf-8"), "the line has changed: remove the entry")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
