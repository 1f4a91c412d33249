#!/usr/bin/python3
"""scripts/make-charts: which panels an experiment gets, and what is drawn. All numbers here are made up.

Usage: make_charts_test.py <path of make-charts>. Runs with the distribution's Python, as the script does. Exits with 77
where that has no matplotlib.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

SKIPPED = 77  # what ctest counts as skipped
PROGRAM = pathlib.Path(sys.argv[1]).resolve()
if importlib.util.find_spec("matplotlib") is None:
    print("skipped: matplotlib is not installed (scripts/install-dependencies --charts)")
    sys.exit(SKIPPED)
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROGRAM.parent))
import benchmark_results

loader = importlib.machinery.SourceFileLoader("make_charts", str(PROGRAM))
make_charts = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_charts", loader))
loader.exec_module(make_charts)


def record(variant, median, metric="time", unit="ms", benchmark="filling", **parameters):
    return {"benchmark": benchmark, "variant": variant, "parameters": parameters, "metric": metric, "unit": unit,
            "median": median, "minimum": median / 2, "maximum": median * 2, "repetitions": 5,
            **dict.fromkeys(benchmark_results.RUN, "made up"), "device": "Made-Up GPU"}


def along_threads(variant, values, **parameters):
    return [record(variant, median, threads=threads, **parameters) for threads, median in values.items()]


class Panels(unittest.TestCase):
    def titles(self, records):
        return [(title, axis, len(of_panel)) for title, axis, of_panel in make_charts.panels_of(records)]

    def test_the_parameter_with_most_values_is_the_axis(self):
        records = [record("soa", 1, size=size, threads=threads) for size in (1, 2, 3, 4) for threads in (1, 2, 4)]
        self.assertEqual(make_charts.axis_of(records), "size")
        self.assertEqual(self.titles(records), [("time, threads 1", "size", 4), ("time, threads 2", "size", 4),
                                                ("time, threads 4", "size", 4)])

    def test_of_parameters_with_equally_many_values_the_last_by_name_is_the_axis(self):
        records = [record("soa", 1, size=n, threads=n) for n in (1, 2, 3)]
        self.assertEqual(make_charts.axis_of(records), "threads")

    def test_three_values_make_a_line_and_two_do_not(self):
        self.assertEqual(make_charts.axis_of(along_threads("soa", {1: 1, 2: 2, 3: 3})), "threads")
        self.assertIsNone(make_charts.axis_of(along_threads("soa", {1: 1, 2: 2})))
        self.assertIsNone(make_charts.axis_of([record("soa", 1)]))

    def test_a_parameter_that_follows_from_the_axis_makes_no_panels_of_its_own(self):
        records = [record("soa", n, threads=n, objects=64 // n) for n in (1, 2, 4)]
        self.assertEqual(self.titles(records), [("time", "threads", 3)])
        records.append(record("soa", 1, threads=1, objects=32))
        self.assertFalse(make_charts.follows("objects", "threads", records))

    def test_a_parameter_of_one_value_is_named_in_the_title(self):
        self.assertEqual(self.titles(along_threads("soa", {1: 1, 2: 2, 4: 3}, size=5)), [("time, size 5", "threads", 3)])

    def test_each_metric_has_its_panel(self):
        records = along_threads("soa", {1: 1, 2: 2, 4: 3}) + [record("soa", n, "memory", "B", threads=n) for n in (1, 2, 4)]
        self.assertEqual(self.titles(records), [("time", "threads", 3), ("memory", "threads", 3)])

    def test_lines_come_before_bars_and_bars_that_are_equal_are_left_out(self):
        same = [record(name, 5, "refused", "") for name in ("soa", "toolkit")]
        differ = [record(name, value, "memory", "B") for name, value in (("soa", 5), ("toolkit", 6))]
        lines = along_threads("soa", {1: 1, 2: 2, 4: 3})
        self.assertEqual(self.titles(same + differ + lines), [("time", "threads", 3), ("memory", None, 2)])
        self.assertEqual(self.titles(same[:1]), [("refused", None, 1)])

    def test_no_more_panels_than_there_is_room_for(self):
        records = [record("soa", n, f"metric {n}") for n in range(20)]
        self.assertEqual([title for title, _, _ in make_charts.panels_of(records)], [f"metric {n}" for n in range(12)])

    def test_axes_are_logarithmic_from_a_ratio_of_eight(self):
        self.assertTrue(make_charts.is_wide([1, 8]))
        self.assertFalse(make_charts.is_wide([1, 7.9]))
        self.assertFalse(make_charts.is_wide([0, 8]))

    def test_soa_is_black_and_all_others_look_different(self):
        names = ["soa", *(f"allocator {n}" for n in range(15))]
        styles = make_charts.styles_of(names)
        self.assertEqual(styles["soa"]["color"], "black")
        self.assertEqual(len({(str(style.get("linestyle")), str(style["color"])) for style in styles.values()}), 16)
        self.assertEqual(styles, make_charts.styles_of(reversed(names)))

    def test_the_note_names_each_allocator_that_was_stopped_once(self):
        stopped = [record(name, 0, "not finished", "took more than 60 s") for name in ("slow", "slower", "slow")]
        self.assertEqual(make_charts.note_of(stopped), "took more than 60 s: slow, slower")
        self.assertEqual(make_charts.note_of([]), "")


class Charts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def arguments(self, files):
        paths = []
        for name, records in files.items():
            paths.append(self.folder / f"{name.replace('_', '-')}.json")
            paths[-1].write_text(records if isinstance(records, str) else benchmark_results.text_of(records), encoding="utf-8")
        return [str(PROGRAM), *map(str, paths), "--output", str(self.folder / "pictures")]

    def run_program(self, **files):
        return subprocess.run(self.arguments(files), capture_output=True, text=True, timeout=120)

    def make(self, **files):
        """The same without another process, for what succeeds. @return the lines that are printed"""
        output = io.StringIO()
        with unittest.mock.patch("sys.argv", self.arguments(files)), contextlib.redirect_stdout(output):
            make_charts.main()
        return output.getvalue().splitlines()

    def chart(self, name):
        """The texts of a chart, and how many points each of its lines with markers has."""
        root = xml.etree.ElementTree.parse(self.folder / "pictures" / f"{name}.svg").getroot()
        texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
        lines = [group for group in root.iter("{http://www.w3.org/2000/svg}g") if group.get("id", "").startswith("line2d")]
        return texts, [len(list(line.iter("{http://www.w3.org/2000/svg}use"))) for line in lines]

    def test_a_chart_for_each_experiment_with_all_allocators(self):
        records = [one for name in ("soa", "toolkit") for one in along_threads(name, {1: 1, 2: 2, 4: 3, 8: 16})]
        records += [one | {"benchmark": "all to all!"} for one in records[:4]]
        result = self.run_program(gpu_allocators=records)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([re.sub(".*/", "", line) for line in result.stdout.splitlines()],
                         ["allocators-filling.svg", "allocators-all-to-all-.svg"])
        texts, points = self.chart("allocators-filling")
        self.assertEqual(points.count(4), 2)
        for text in ("filling, Made-Up GPU", "time", "threads", "ms", "soa", "toolkit"):
            self.assertIn(text, texts)
        self.assertNotIn("toolkit", self.chart("allocators-all-to-all-")[0])

    def test_lines_of_fewer_than_twenty_values_have_a_mark_for_each(self):
        for count, marked in ((19, True), (20, False)):
            self.make(gpu_allocators=along_threads("soa", {n: n for n in range(1, count + 1)}))
            self.assertEqual(count in self.chart("allocators-filling")[1], marked)

    def test_several_runs_have_their_range_drawn_and_a_single_one_has_none(self):
        records = along_threads("soa", {1: 1, 2: 2, 4: 3})
        for runs, drawn in ((records, True), ([one | {"minimum": 1, "maximum": 1} for one in records], False)):
            self.make(gpu_allocators=runs)
            text = (self.folder / "pictures/allocators-filling.svg").read_text(encoding="utf-8")
            self.assertEqual("PolyCollection" in text, drawn)

    def test_the_same_results_make_the_same_file(self):
        files = []
        for _ in range(2):
            self.make(gpu_allocators=along_threads("soa", {1: 1, 2: 2, 4: 3}))
            files.append((self.folder / "pictures/allocators-filling.svg").read_bytes())
        self.assertEqual(files[0], files[1])

    def test_bars_are_sorted_and_named(self):
        self.make(gpu_allocators=[record(name, value) for name, value in (("soa", 2), ("slow", 30), ("fair", 3))])
        texts, _ = self.chart("allocators-filling")
        self.assertEqual([text for text in texts if text in ("soa", "slow", "fair")], ["slow", "fair", "soa"])

    def test_an_experiment_is_that_of_the_last_file(self):
        self.make(a_allocators=along_threads("old", {1: 1, 2: 2, 4: 3}),
                         b_allocators=along_threads("new", {1: 1, 2: 2, 4: 3}))
        texts, _ = self.chart("allocators-filling")
        self.assertIn("new", texts)
        self.assertNotIn("old", texts)

    def test_what_was_stopped_is_noted_and_where_all_was_stopped_there_is_no_chart(self):
        stopped = record("slow", 0, "not finished", "took more than 60 s")
        self.make(gpu_allocators=along_threads("soa", {1: 1, 2: 2, 4: 3}) + [stopped, stopped | {"benchmark": "waves"}])
        self.assertIn("took more than 60 s: slow", self.chart("allocators-filling")[0])
        self.assertEqual([path.name for path in (self.folder / "pictures").iterdir()], ["allocators-filling.svg"])

    def test_time_per_object_has_three_lines(self):
        records = [record(variant, 5, "time", "ps", "scale", objects=objects) for variant in make_charts.SCALE
                   for objects in (10, 100, 1000, 10000, 100000)]
        self.make(gpu=records + [record("x", 1, benchmark="other")], empty=[])
        texts, points = self.chart("scale-gpu")
        self.assertEqual(points.count(5), 3)
        for text in (*make_charts.SCALE.values(), "time per object, ps", "objects of 32 bytes", "Made-Up GPU"):
            self.assertIn(text, texts)
        self.assertEqual(len(list((self.folder / "pictures").iterdir())), 1)

    def test_a_file_without_results_is_named(self):
        for text in ("{", "[1]", "{}"):
            with self.subTest(text=text):
                result = self.run_program(gpu_allocators=text)
                self.assertEqual(result.returncode, 1)
                self.assertRegex(result.stderr, "^make-charts: .*gpu-allocators.json .*; run scripts/benchmark again")

    def test_a_file_that_is_not_there_is_named(self):
        result = subprocess.run([PROGRAM, self.folder / "missing.json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "^make-charts: .*No such file.*missing.json")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
