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
import compact_svg

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

    def test_parameters_in_another_order_are_the_same(self):
        records = along_threads("soa", {1: 1, 2: 2, 4: 3}, b=1, a=2) + along_threads("aos", {1: 1, 2: 2, 4: 3}, a=2, b=1)
        self.assertEqual(self.titles(records), [("time, a 2, b 1", "threads", 6)])

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


class CompactSvg(unittest.TestCase):
    HEAD = ('<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt" height="8pt" '
            'viewBox="0 0 9 8"><metadata>x</metadata>')

    def compact(self, body):
        """The lines between the definitions and the end."""
        text = compact_svg.compact(f"{self.HEAD}{body}</svg>")
        self.assertTrue(text.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="8pt" viewBox="0 0 9 8" '), text)
        xml.etree.ElementTree.fromstring(text)
        lines = text.splitlines()
        self.definitions = lines[:[line.startswith("<defs>") for line in lines].index(True) + 1]
        return lines[len(self.definitions):-1]

    def test_lines_have_one_decimal_and_few_letters(self):
        lines = self.compact('<g id="a"><path d="M 0.04 -0.04 \nL 1.26 2 \nL 3 4 \nz\n" style="fill: none; stroke: #123456"/></g>')
        self.assertEqual(lines, ['<path d="M0 0 1.3 2 3 4z" class="s0"/>'])
        self.assertIn(".s0{fill:none;stroke:#123456}", self.definitions)

    def test_curves_are_kept_and_paths_without_data_are_not(self):
        self.assertEqual(self.compact('<path d="M 0 0 C 1 1 2 2 3.33 3 L 4 4"/><path style="fill: none"/>'),
                         ['<path d="M0 0C1 1 2 2 3.3 3L4 4"/>'])

    def test_points_of_a_series_are_one_path_of_lines_without_length(self):
        shape = '<defs><path id="m1" d="M 0 1.5 C 1 1.5 1.5 1 1.5 0 z" style="stroke: #ff0000"/></defs>'
        use = '<use xlink:href="#m1" x="{}" y="2.22" style="fill: #ff0000; stroke: #ff0000"/>'
        lines = self.compact(f'<g id="line2d_1">{shape}<g clip-path="url(#p1)">{use.format(1)}{use.format(3)}</g></g>')
        self.assertEqual(lines, ['<path d="M1 2.2h0M3 2.2h0" class="s0" clip-path="url(#p1)"/>'])
        self.assertIn(".s0{fill:none;stroke:#ff0000;stroke-width:4;stroke-linecap:round}", self.definitions)

    def test_ticks_of_an_axis_are_one_path_and_those_of_another_axis_are_another(self):
        shape = '<defs><path id="m1" d="M 0 0 \nL 0 3.5 \n" style="stroke: #000000"/></defs>'
        tick = '<g id="xtick"><use xlink:href="#m1" x="{}" y="5" style="stroke: #000000"/><text x="1" y="2">1</text></g>'
        axis = f'<g id="matplotlib.axis_1">{tick.format(1)}{tick.format(2)}</g>'
        lines = self.compact(f'{shape}{axis}<path d="M 0 0 L 1 1"/>{axis}')
        self.assertEqual([line for line in lines if "path" in line],
                         ['<path d="M1 5 1 8.5M2 5 2 8.5" class="s0"/>', '<path d="M0 0 1 1"/>',
                          '<path d="M1 5 1 8.5M2 5 2 8.5" class="s0"/>'])

    def test_paths_that_others_may_cover_keep_their_order(self):
        lines = self.compact('<path d="M 0 0" style="fill: red"/><path d="M 1 1" style="fill: blue"/><path d="M 2 2" style="fill: red"/>')
        self.assertEqual([line[9:13] for line in lines], ["M0 0", "M1 1", "M2 2"])

    def test_texts_lose_the_names_of_fonts_and_rotations_by_nothing(self):
        lines = self.compact('<text style="font: 9px \'A\', \'B\'; text-anchor: middle" x="1.234" y="2" '
                             'transform="rotate(-0 1.234 2)">a &lt; b</text>'
                             '<text style="font-size: 9px; font-family: A, B; text-anchor: middle" transform="rotate(-90 1.234 2)">c</text>')
        self.assertEqual(lines, ['<text class="s0" x="1.2" y="2">a &lt; b</text>',
                                 '<text class="s0" transform="rotate(-90 1.2 2)">c</text>'])
        self.assertIn(".s0{font-size:9px;text-anchor:middle}", self.definitions)

    def test_powers_keep_their_places(self):
        lines = self.compact('<g transform="translate(1.26 2)"><text>\n<tspan x="0" y="-0.06">10</tspan>\n<tspan x="1 2.22" y="-3">12'
                             '</tspan></text></g>')
        self.assertEqual(lines, ['<text transform="translate(1.3 2)"><tspan x="0" y="-0.1">10</tspan>'
                                 '<tspan x="1 2.2" y="-3">12</tspan></text>'])

    def test_areas_that_clip_are_kept(self):
        self.compact('<defs><clipPath id="p1"><rect x="1.23" y="2" width="3" height="4"/></clipPath></defs>')
        self.assertEqual(self.definitions[-1], '<defs><clipPath id="p1"><rect x="1.2" y="2" width="3" height="4"/></clipPath></defs>')


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
        return texts, [path.get("d").count("h0") for path in root.iter("{http://www.w3.org/2000/svg}path") if "h0" in path.get("d")]

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
            self.assertEqual("fill-opacity:0.12" in text, drawn)

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

    def test_the_title_is_above_those_of_the_panels_and_the_legend_below_them(self):
        self.make(gpu_allocators=along_threads("soa", {1: 1, 2: 2, 4: 3}))
        text = (self.folder / "pictures/allocators-filling.svg").read_text(encoding="utf-8")

        def height(words):
            return float(re.search(rf'<text[^>]* y="([\d.]+)"[^>]*>{words}</text>', text)[1])

        title, panel, axis, legend = map(height, ("filling, Made-Up GPU", "time", "threads", "soa"))
        self.assertLess(0, title - 10)  # the height of the letters, in points
        self.assertLess(title, panel - 2 * 9)  # with room for a line
        self.assertLess(panel, axis)
        self.assertLess(axis, legend - 8)

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

    def rank_records(self):
        exchanges = [record(variant, 5, "time per exchange", "us", "exchange", ranks=ranks, bytes_per_neighbour=size)
                     for variant in ("peer", "peer, recorded", "staged") for ranks in (1, 2) for size in (64, 4096, 65536)]
        return exchanges + [record(variant, median, "time per step", "ms", f"wa_tor {ocean}", ranks=ranks, width=8, height=8)
                            for ocean in ("weak", "strong") for ranks in (1, 2)
                            for variant, median in (("no exchange, no ghosts", 5), ("no exchange, no ghosts, recorded", 4), ("peer", 7),
                                                    ("peer, recorded", 6), ("staged", 9))]

    def test_ranks_have_lines_of_exchanges_and_bars_of_steps_on_most_ranks(self):
        records = self.rank_records()
        lines = self.make(a_ranks=records[:18], b_ranks=records[18:])  # of one device
        self.assertEqual([line.rpartition("/")[2] for line in lines], ["ranks-made-up-gpu.svg"])
        texts, points = self.chart("ranks-made-up-gpu")
        self.assertEqual(points.count(3), 3)  # those of 2 ranks
        for text in ("exchange, 2 ranks", "Wa-Tor, 2 ranks", "weak, peer, recorded", "strong, staged", "time of an exchange, us",
                     "time of a step, ms", "Made-Up GPU"):
            self.assertIn(text, texts)
        self.assertNotIn("weak, peer", texts)  # there is a recorded one
        self.assertFalse([text for text in texts if "no exchange" in text])

    def test_bars_of_steps_divide_them_into_loops_and_exchange(self):
        _, axes = make_charts.pyplot.subplots()
        make_charts.draw_steps(axes, [one for one in self.rank_records() if one["parameters"]["ranks"] == 2 and one["benchmark"] == "wa_tor weak"])
        self.assertEqual([(bar.get_x(), bar.get_width()) for bar in axes.patches],
                         [(0, 5), (0, 4), (5, 4), (4, 2)])  # staged and peer: loops, exchanges
        make_charts.pyplot.close()

    def test_ranks_without_exchanges_have_one_panel(self):
        self.make(a_ranks=self.rank_records()[18:])
        self.assertNotIn("exchange, 2 ranks", self.chart("ranks-made-up-gpu")[0])

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


class StoredResults(unittest.TestCase):
    """What is read if no files are named."""

    def read(self, *names):
        """@return the names of the files of allocators, in the order in which they are read"""
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(make_charts, "ROOT", pathlib.Path(folder)), \
                unittest.mock.patch.object(pathlib.Path, "glob", lambda path, _: iter(path / name for name in names)), \
                unittest.mock.patch.object(make_charts, "read_experiments", return_value={}) as read, \
                unittest.mock.patch.object(make_charts, "draw_scales"), \
                unittest.mock.patch.object(sys, "argv", ["make-charts", "--output", folder]):
            make_charts.main()
        return [path.name for path in read.call_args.args[0]]

    def test_the_files_are_read_in_the_order_of_their_names(self):
        names = ["b-allocators.json", "c.json", "c-allocators.json", "a-allocators.json"]
        self.assertEqual(self.read(*names), ["a-allocators.json", "b-allocators.json", "c-allocators.json"])

    def test_no_results_are_an_error_that_says_what_to_run(self):
        with self.assertRaisesRegex(make_charts.Problem, "run scripts/benchmark"):
            self.read()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
