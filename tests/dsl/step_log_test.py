"""What pandas and Python's json read in the files that test_dsl_step_log writes.

Usage: step_log_test.py <path of test_dsl_step_log>. Exits with 77 (skipped), and says so, if pandas is not installed
(Debian: python3-pandas) or the program needs a GPU and there is none.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXIT_SKIPPED = 77
DISTRIBUTION_PYTHON = "/usr/bin/python3"  # which has the distribution's packages
NAMES = ["step", "people", 'debt, "all" of it', "most", " mean\\height ", "infinite", "age_0_25", "age_25_50", "age_50_75", "age_75_100"]
FIRST = [0, 0, 0, None, None, 0, 0, 0, 0, 0]
SECOND = [1, 2, -(2**61) - 1, 11529215046068469770, 2.0**58, None, 0, 0, 0, 1]


def write_files(folder):
    return subprocess.run([PROGRAM, "--test-case=other programs: files for them", "--no-skip"], check=False, capture_output=True,
                          env=os.environ | {"DYNASOAR_STEP_LOG": folder}, text=True)


class FilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name)
        write_files(folder.name).check_returncode()

    def test_csv(self):
        table = pandas.read_csv(self.path / "log.csv", dtype={"most": "UInt64"})
        self.assertEqual(list(table.columns), NAMES)
        self.assertEqual(table["step"].tolist(), [0, 1])
        for column, expected in zip(NAMES, zip(FIRST, SECOND)):
            for value, number in zip(table[column], expected):
                if column == "infinite" and number is None:
                    self.assertEqual(value, float("inf"))
                elif number is None:
                    self.assertTrue(pandas.isna(value), column)
                else:
                    self.assertEqual(value, number, column)
        self.assertEqual(str(table["people"].dtype), "int64")

    def test_json_lines(self):
        lines = (self.path / "log.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line, parse_constant=self.fail) for line in lines]
        self.assertEqual([list(row) for row in rows], [NAMES, NAMES])
        self.assertEqual([list(row.values()) for row in rows], [FIRST, SECOND])
        self.assertEqual(list(pandas.read_json(self.path / "log.jsonl", lines=True).columns), NAMES)


def main():
    if importlib.util.find_spec("pandas") is None:
        if os.path.exists(DISTRIBUTION_PYTHON) and sys.base_prefix != "/usr":
            os.execv(DISTRIBUTION_PYTHON, [DISTRIBUTION_PYTHON, *sys.argv])
        print("skipped: pandas is not installed")
        sys.exit(EXIT_SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        probe = write_files(folder)
        if probe.returncode == EXIT_SKIPPED:
            print(probe.stdout)
            sys.exit(EXIT_SKIPPED)
    globals()["pandas"] = importlib.import_module("pandas")
    unittest.main(argv=sys.argv[:1])


PROGRAM = os.path.abspath(sys.argv[1])
if __name__ == "__main__":
    main()
