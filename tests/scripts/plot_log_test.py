#!/usr/bin/python3
"""scripts/plot-log: which panels a log gets, what is drawn, and what is refused. All numbers here are made up.

Usage: plot_log_test.py <path of plot-log>. Runs with the distribution's Python, as the script does. Exits with 77 where
that has no matplotlib.
"""

import importlib.machinery
import importlib.util
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SKIPPED = 77  # what ctest counts as skipped
PROGRAM = pathlib.Path(sys.argv[1]).resolve()
if importlib.util.find_spec("matplotlib") is None:
    print("skipped: matplotlib is not installed (scripts/install-dependencies --charts)")
    sys.exit(SKIPPED)
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("plot_log", str(PROGRAM))
plot_log = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot_log", loader))
loader.exec_module(plot_log)

CSV = 'step,people,ill,"debt, all",most,age_0_10,age_10_20,age_20_1e+05\n' + "".join(
    f"{i},{1000 + i},{900 - i},{-5 * i},{'' if i < 3 else i},{i},{2 * i},{3 * i}\n" for i in range(10))


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def run_script(self, *arguments, code=0):
        result = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(result.returncode, code, result)
        return result


class ReadTest(Folder):
    def test_csv_and_json_lines_are_the_same(self):
        steps, columns = plot_log.read_log(self.write("log.csv", CSV))
        self.assertEqual(steps, list(range(10)))
        self.assertEqual(columns["debt, all"], [-5 * i for i in range(10)])
        self.assertTrue(math.isnan(columns["most"][2]))
        lines = [{"step": i, **{name: None if math.isnan(values[i]) else values[i] for name, values in columns.items()}}
                 for i in range(10)]
        again = plot_log.read_log(self.write("log.jsonl", "".join(json.dumps(line) + "\n" for line in lines)))
        self.assertEqual(repr(again), repr((steps, columns)))

    def test_what_is_not_finite_is_a_gap(self):
        _, columns = plot_log.read_log(self.write("log.csv", "step,a\n0,nan\n1,inf\n2,-inf\n3,7\n"))
        self.assertEqual([math.isnan(value) for value in columns["a"]], [True, True, True, False])

    def test_what_is_no_log_is_refused(self):
        for name, text, message in (
                ("log.txt", "", "ends in .csv"), ("log.csv", "", "must be 'step'"), ("log.csv", "a,b\n1,2\n", "must be 'step'"),
                ("log.csv", "step,a\n", "0 rows"), ("log.csv", "step\n1\n", "0 columns"),
                ("log.csv", "step,a\n0,x\n", "line 2: 'x' in column 'a' is not a number"),
                ("log.csv", "step,a\n0,1,2\n", "line 2 has 3 cells for 2 columns"),
                ("log.csv", "step,a,a\n0,1,2\n", "two columns 'a'"), ("log.csv", "step,a\n1,1\n1,2\n", "must increase"),
                ("log.csv", "step,a\n,1\n", "must increase"), ("log.csv", 'step,a\n0,"1\n', "not a table"),
                ("log.jsonl", "{\n", "line 1 is not a JSON object"), ("log.jsonl", "[1]\n", "line 1 is not a JSON object"),
                ("log.jsonl", '{"step": 0, "a": 1, "a": 2}\n', "two columns 'a'"),
                ("log.jsonl", '{"step": 0, "a": [1]}\n', "is not a number"),
                ("log.jsonl", '{"step": 0, "a": 1}\n{"step": 1, "b": 1}\n', "line 2 has other columns")):
            with self.subTest(text=text):
                result = self.run_script(self.write(name, text), code=2)
                self.assertIn(message, result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertFalse((self.folder / "log.svg").exists())
        self.assertIn("No such file", self.run_script("missing.csv", code=2).stderr)


class PanelTest(unittest.TestCase):
    def test_bins_that_follow_each_other_are_a_histogram(self):
        histograms, others = plot_log.histograms_of(["n", "age_0_10", "age_10_20", "b_-1.5_0", "b_0_1e+05", "c_0_1", "d_0_1", "d_2_3"])
        self.assertEqual(histograms, {"age": [("age_0_10", 0, 10), ("age_10_20", 10, 20)],
                                      "b": [("b_-1.5_0", -1.5, 0), ("b_0_1e+05", 0, 1e5)]})
        self.assertEqual(others, ["n", "c_0_1", "d_0_1", "d_2_3"])

    def test_columns_of_similar_size_share_a_panel(self):
        columns = {"a": [1000, 1], "b": [-900], "c": [3], "d": [math.nan], "e": [math.nan, 2], "f": [0]}
        self.assertEqual(plot_log.panels_of(columns, list(columns)), [["a", "b"], ["c", "e"], ["d", "f"]])
        many = {str(i): [1] for i in range(9)}
        self.assertEqual([len(panel) for panel in plot_log.panels_of(many, list(many))], [8, 1])


class DrawTest(Folder):
    def texts(self, path):
        return {node.text for node in xml.etree.ElementTree.parse(path).iter() if node.text and node.text.strip()}

    def test_every_column_is_a_line_and_every_histogram_a_panel(self):
        log = self.write("log.csv", CSV)
        self.run_script(log)
        texts = self.texts(self.folder / "log.svg")
        self.assertLessEqual({"log.csv", "step", "people", "ill", "debt, all", "most", "age", "objects"}, texts)
        self.assertNotIn("age_0_10", texts)
        figure = plot_log.draw(*plot_log.read_log(log), "title")
        panels = [axes for axes in figure.axes if axes.get_lines() or axes.collections and axes.get_ylabel() == "age"]
        self.assertEqual([[line.get_label() for line in axes.get_lines()] for axes in panels],
                         [["people", "ill"], ["debt, all", "most"], []])
        debt = panels[1].get_lines()[0]
        self.assertEqual([(x, y) for x, y in zip(debt.get_xdata(), debt.get_ydata())], [(i, -5 * i) for i in range(10)])
        mesh = panels[2].collections[0]
        self.assertEqual(mesh.get_array().reshape(3, 10).tolist(), [[k * i for i in range(10)] for k in (1, 2, 3)])

    def test_columns_and_the_file_can_be_chosen(self):
        log = self.write("log.csv", CSV)
        self.run_script(log, "--columns", "ill", "--out", "x.svg")
        self.assertTrue({"ill"} <= self.texts(self.folder / "x.svg"))
        self.assertFalse({"people", "age"} & self.texts(self.folder / "x.svg"))
        self.run_script(log, "--columns", "age", "most", "--out", "y.png")
        self.assertEqual((self.folder / "y.png").read_bytes()[:4], b"\x89PNG")
        self.assertIn("no column 'wealth', but: people, ill", self.run_script(log, "--columns", "wealth", code=2).stderr)
        self.assertIn("must end in .svg or .png", self.run_script(log, "--out", "x.pdf", code=2).stderr)
        self.assertIn("cannot write", self.run_script(log, "--out", "missing/x.svg", code=1).stderr)

    def test_a_single_row_is_drawn(self):
        self.run_script(self.write("log.csv", "step,a,h_0_1,h_1_2\n5,1,2,3\n"))
        self.assertIn("a", self.texts(self.folder / "log.svg"))

    def test_the_same_log_makes_the_same_file(self):
        log = self.write("log.csv", CSV)
        for name in ("a.svg", "b.svg"):
            self.run_script(log, "--out", name)
        self.assertEqual((self.folder / "a.svg").read_bytes(), (self.folder / "b.svg").read_bytes())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
