"""scripts/make-tables: what it writes, what --check finds, and what it says about results it cannot use.

Usage: make_tables_test.py <path of make-tables>. All numbers here are made up.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(PROGRAM).parent))
import benchmark_results
from benchmark_tables import heap, loops, published
from benchmark_tables.allocators import evenly_chosen
from benchmark_tables.ranks import line_through

SIZES = [{"width": 2048, "height": 2560, "steps": 500}, {"width": 1024, "height": 1024, "steps": 100},
         {"width": 4096, "height": 4096, "steps": 100}]
# Size and variants with objects of the other applications.
APPLICATIONS = {"n_body": ({"bodies": 20000, "steps": 300}, ["bodies as objects"]),
                "collision": ({"bodies": 40000, "steps": 200}, ["bodies as objects"]),
                "game_of_life": ({"width": 1714, "height": 1647, "steps": 300},
                                 ["alive cells and candidates as objects", "cells as objects, too"]),
                "generation": ({"width": 5000, "height": 5000, "steps": 300},
                               ["alive cells and candidates as objects", "cells as objects, too"]),
                "structure": ({"nodes": 1500000, "steps": 20}, ["nodes and springs as objects"]),
                "sugarscape": ({"width": 1700, "height": 1700, "steps": 300},
                               ["agents as objects", "cells and agents as objects"]),
                "traffic": ({"intersections": 17500, "steps": 1000},
                            ["cars as objects", "cells, streets and cars as objects"]),
                "schelling": ({"width": 2048, "height": 2048, "steps": 500}, ["agents placed on a lattice"]),
                "flocking": ({"boids": 4000, "steps": 1000}, ["boids as objects"]),
                "epidemic": ({"people": 4000, "steps": 1000}, ["people as objects"]),
                "ants": ({"ants": 4000, "cells": 16384, "steps": 1000}, ["ants and cells as objects"]),
                "tumour": ({"cells": 4000, "steps": 500}, ["cells as objects"]),
                "forest_fire": ({"width": 2048, "height": 2048, "steps": 500}, ["trees placed on a lattice"])}
DETAILS = "".join(f"# {name}\n<!-- results:{name} -->\n<!-- /results:{name} -->\n"
                  for name in ("field_loop", "sparse_loop", "neighbour_loop", "empty_loop", "allocation", "mixed_allocation",
                               "waves", "scale", "dispatch", "polymorphism", "checkpoint", "picture", "compaction", "wa_tor_compaction", "full_heap", "checked", "wa_tor",
                               "applications"))
README = "before\n<!-- results:summary -->\nold text\n<!-- /results:summary -->\nafter\n"


def record(benchmark, variant, parameters, metric, unit, median, **changes):
    return {"benchmark": benchmark, "variant": variant, "parameters": parameters, "metric": metric, "unit": unit,
            "median": median, "minimum": median / 2, "maximum": median * 2, "repetitions": 5,
            "device": "NVIDIA Made-Up GPU", "driver": "1.2", "cuda": "99.9", "compiler": "made-up compiler",
            "date": "2000-01-02", "commit": "0123456789abcdef0123456789abcdef01234567"} | changes


def all_records(**changes):
    records = [record("empty_loop", variant, {"loops": 1000}, "time per loop", "us", median, **changes)
               for variant, median in (("parallel_do", 1234.5), ("parallel_do, lists kept", 500), ("parallel_do, recorded", 600),
                                       ("parallel_do, recorded, lists kept", 400))]
    for loop in ("1 float", "3 floats", "7 floats", "8 floats", "1, 4 and 8 bytes", "base class"):
        for how, median in (("objects", 3), ("by hand", 4)):
            records.append(record("field_loop", f"{loop} {how}", {"objects": 2**27}, "useful bandwidth", "TB/s", median,
                                  **changes))
    for variant, median in (("7 floats by hand", 5), ("1, 4 and 8 bytes objects", 6), ("1, 4 and 8 bytes by hand", 8)):
        records.append(record("field_loop", f"{variant}, loads first", {"objects": 2**27}, "useful bandwidth", "TB/s",
                              median, **changes))
    for taken, median in ((100, 6), (75, 8.5), (50, 12.5), (25, 22)):
        for variant, factor in (("objects", 1), ("by hand", 2)):
            records.append(record("sparse_loop", variant, {"percent taken": taken, "slots": 2**26}, "time per object", "ps",
                                  median * factor, **changes))
    for order in ("next", "window", "anywhere"):
        for how, median in (("objects", 30), ("by hand, 64-bit indices", 20), ("by hand, 32-bit indices", 15)):
            for first in ("", ", loads first"):
                records.append(record("neighbour_loop", f"{order}, {how}{first}", {"objects": 2**25}, "time per object", "ps",
                                      median - len(first), **changes))
    for first in ("", ", loads first"):
        records.append(record("neighbour_loop", f"window, objects by make_new{first}", {"objects": 2**25}, "time per object",
                              "ps", 60, **changes))
    for variant, median in (("write and fsync by hand", 1), ("read by hand", 4), ("copy to the host by hand", 50),
                            ("checksum by one thread", 6), ("save", 0.9), ("load", 2.5), ("save, compression level 1", 0.8),
                            ("load, compression level 1", 1.5)):
        records.append(record("checkpoint", variant, {"objects": 2**26}, "rate", "GB/s", median, **changes))
    for variant, median in (("Wa-Tor, agents as objects", 0.05), ("Wa-Tor, cells and agents as objects", 0.06),
                            ("Sugarscape, agents as objects", 0.07), ("a million boids", 0.1)):
        for metric, factor in (("made on the device", 1), ("made and copied to the host", 40)):
            records.append(record("picture", variant, {"width": 2048, "height": 2048}, metric, "ms", median * factor, **changes))
    for classes in (1, 2, 4):
        for variant in ("class by index", "class at random"):
            for metric, unit in (("rate of creation", "G/s"), ("rate of deletion", "G/s"), ("slots used", "%")):
                records.append(record("mixed_allocation", variant, {"classes": classes, "objects": 2**24}, metric, unit,
                                      10 * classes, **changes))
    for variant, objects in (("1 % die, as many are born", 2**22), ("25 % die, as many are born", 2**22),
                             ("x 4, then / 4", 2**20)):
        for metric, unit, median in (("time of a round", "us", 2**20 * 1e-4), ("objects at the end", "million", 1),
                                     ("slots used at the end", "%", 70)):
            records.append(record("waves", variant, {"objects": objects, "rounds": 16}, metric, unit, median, **changes))
    for objects in (10**4, 2 * 10**4, 5 * 10**4, 10**5, 2 * 10**5):
        for variant, median in (("create", 90), ("objects", 6), ("by hand", 5)):
            records.append(record("scale", variant, {"objects": objects}, "time per object", "ps", median, **changes))
    for classes in (1, 2, 4, 8):
        for order, factor in (("sorted", 1), ("mixed", 2))[:2 if classes > 1 else 1]:
            for how, median in (("call", 12), ("parallel_do", 6), ("virtual functions", 30), ("switch by hand", 8)):
                records.append(record("dispatch", f"{how}, {order}", {"classes": classes, "objects": 2**23}, "time per call",
                                      "ps", median * factor, **changes))
    faster = "times as fast as virtual functions"
    for workload, size in loops.WORKLOADS.items():
        for how, median in (("virtual functions", 30), ("objects", 12)):
            records.append(record("polymorphism", f"{workload}, {how}", size, "time of all steps", "ms", median, **changes))
        records.append(record("polymorphism", workload, size, faster, "times", 2.5, **changes))
    records.append(record("polymorphism", "geometric mean", {"workloads": len(loops.WORKLOADS)}, faster, "times", 2.25, **changes))
    for log in (20, 25):
        size = {"bytes": 32, "objects": 2**log}
        records.append(record("allocation", "create", size, "rate", "G/s", 0.0123, **changes))
        records.append(record("allocation", "delete", size, "rate", "G/s", 9.996, **changes))
        for variant in ("delete in random order", "parallel_new, all fields written", "the same bytes by hand"):
            records.append(record("allocation", variant, size, "rate", "G/s", 7, **changes))
        records.append(record("allocation", "block use", size, "slots used", "%", 90, **changes))
    for variant in ("no pointers", "a pointer to each object"):
        for metric in ("compaction", "compaction with nothing to do", "loop before", "loop after", "fragmentation before",
                       "fragmentation after"):
            records.append(record("compaction", variant, {"bytes": 32, "objects": 65600000}, metric,
                                  "%" if metric.startswith("fragmentation") else "ms", 2.5, **changes))
    for variant in ("agents as objects", "cells and agents as objects"):
        for how in ("", ", above 30 %", ", above 5 %"):
            for metric, unit in (("time of all steps", "ms"), ("slots used at the end", "%")):
                records.append(record("wa_tor_compaction", variant + how, SIZES[0], metric, unit, 70, **changes))
    for size in SIZES:
        for variant, median in (("agents as objects", 400), ("cells and agents as objects", 800), ("SoA by hand", 200),
                                ("AoS by hand", 300)):
            records.append(record("wa_tor", variant, size, "time of all steps", "ms", median, **changes))
            if variant.endswith("objects"):
                records.append(record("wa_tor", variant, size, "slots used at the end", "%", 75, **changes))
    for benchmark, (size, variants) in APPLICATIONS.items():
        for variant in [*variants, "SoA by hand"]:
            median = 100 if variant in variants else 150
            records.append(record(benchmark, variant, size, "time of all steps", "ms", median, **changes))
    for taken in (500, 900, 990, 999, 1000):
        for metric, median in (("median", 1), ("99.9 % of calls", 2.5), ("longest call", 30), ("refused", taken)):
            records.append(record("full_heap", "make_new", {"per thousand taken": taken, "slots": 2**25}, metric,
                                  "calls" if metric == "refused" else "us", median, **changes))
    for original in list(records):
        if original["benchmark"] in ("field_loop", "allocation", "wa_tor"):
            records.append(original | {"benchmark": "checked " + original["benchmark"],
                                       "median": original["median"] * (3 if original["unit"] == "ms" else 0.5)})
    return records


class Parts(unittest.TestCase):
    def test_what_is_chosen_evenly_has_both_ends(self):
        self.assertEqual(evenly_chosen([3, 1, 2], 3), [3, 1, 2])
        self.assertEqual(evenly_chosen(list(range(10)), 4), [0, 3, 6, 9])
        self.assertEqual(evenly_chosen(list(range(4)), 3), [0, 2, 3])
        self.assertEqual(evenly_chosen(list(range(101)), 2), [0, 100])

    def test_lines_have_the_least_relative_errors(self):
        fixed, slope = line_through([(0, 1), (1, 1), (1, 3)])
        self.assertAlmostEqual(fixed, 1)
        self.assertAlmostEqual(slope, 0.2)

    def test_blocks_of_the_paper_hold_classes_up_to_64_times_the_smallest(self):
        def find(benchmark, variant, size, metric):
            return record(benchmark, variant, size, metric, "%", 50)

        with unittest.mock.patch.object(heap, "CLASS_SIZES", ["4 and 256", "4 and 257"]):
            _, rows = heap.geometry(find, None)
        self.assertEqual([row[3] == "does not fit" for row in rows], [False, True])


class MakeTables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("README.md", README)
        self.write("docs/benchmarks.md", DETAILS)

    def write(self, file, content):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = benchmark_results.text_of(content)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")

    def read(self, file):
        return (self.root / file).read_text(encoding="utf-8")

    def run_program(self, *arguments):
        return subprocess.run([sys.executable, PROGRAM, "--root", str(self.root), *arguments], capture_output=True, text=True,
                              check=False)

    def make(self, records):
        self.write("benchmarks/results/made-up.json", records)
        result = self.run_program()
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def assert_fails(self, *words, arguments=()):
        before = self.read("README.md"), self.read("docs/benchmarks.md")
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith("make-tables: "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(before, (self.read("README.md"), self.read("docs/benchmarks.md")))

    def test_replaces_what_is_between_the_markers_and_nothing_else(self):
        self.make(all_records())
        text = self.read("README.md")
        self.assertTrue(text.startswith("before\n<!-- results:summary -->\n\n| measured |"), text)
        self.assertTrue(text.endswith("\n\n<!-- /results:summary -->\nafter\n"), text)
        self.assertNotIn("old text", text)

    def test_makes_the_detailed_tables(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| 7 floats | objects | 3.00 | 1.50 to 6.00 | TB/s | 0.750 |\n", text)
        self.assertIn("| 33 554 432 | create | 0.0123 | 0.00615 to 0.0246 | G/s |\n", text)
        self.assertIn("| 2048 x 2560, 500 steps | agents as objects | 400 | 200 to 800 | ms | 75.0 % | 2.00 | – | – |\n", text)
        self.assertIn("| a pointer to each object | loop after | 2.50 | 1.25 to 5.00 | ms |\n", text)
        self.assertIn("| cells and agents as objects, above 5 % | 70.0 | 35.0 to 140 | ms | 70.0 % |\n", text)
        self.assertIn("| 7 floats | hand-written, loads first | 5.00 | 2.50 to 10.0 | TB/s | 0.600 |", text)
        self.assertIn("NVIDIA Made-Up GPU, driver 1.2, CUDA 99.9, compiler made-up compiler, 2000-01-02, commit 0123456, "
                      "5 repetitions.\n", text)

    def test_predicts_what_holes_cost_from_the_sectors_that_objects_are_in(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| 100 % | 6.00 ps | 6.00 ps | 24.0 | 24.0 | 12.0 ps | 0.500 | – | – |\n", text)
        # 1 - 0.5 ** 8 of the sectors of 8 floats, 1 - 0.5 ** 32 of the lines of 32 have an object
        self.assertIn("| 50 % | 12.5 ps | 12.0 ps | 47.8 | 48.0 | 25.0 ps | 0.500 | – | – |\n", text)

    def test_new_variants_have_rows_once_they_are_measured(self):
        self.make(all_records())
        self.assertNotIn("Wa-Tor, 2048 x 2560, 500 steps | agents placed", self.read("docs/benchmarks.md"))
        size = {"width": 2048, "height": 2560, "steps": 500}
        placed = [record("wa_tor", "agents placed on a lattice", size, metric, unit, median)
                  for metric, unit, median in (("time of all steps", "ms", 100), ("slots used at the end", "%", 30))]
        computing = [record("sparse_loop", variant, {"percent taken": 50, "slots": 2**26}, "time per object", "ps", median)
                     for variant, median in (("objects, computing", 40), ("by hand, computing", 80))]
        self.make(all_records() + placed + computing)
        text = self.read("docs/benchmarks.md")
        self.assertIn("| agents placed on a lattice | 100 | 50.0 to 200 | ms | 30.0 % | 0.500 | – | – |\n", text)
        self.assertIn("| Wa-Tor, 2048 x 2560, 500 steps | agents placed on a lattice | 100 ms | 200 ms | 2.00 | – |\n", text)
        self.assertIn("| 25.0 ps | 0.500 | 40.0 ps | 0.500 |\n", text)

    def test_compares_neighbours_with_both_lengths_of_an_index(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| any of all | as usual | 30.0 ps | 20.0 ps | 1.50 | 15.0 ps | 2.00 |\n", text)
        self.assertIn("| any of all | loads first | 17.0 ps | 7.00 ps | 2.43 | 2.00 ps | 8.50 |\n", text)
        self.assertIn("| any of the same 1024, created by `make_new` | as usual | 60.0 ps | 20.0 ps | 3.00 | 15.0 ps | 4.00 |\n",
                      text)

    def test_shows_checkpoints_beside_plain_copies(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| hand-written read | 4.00 | 2.00 to 8.00 | GB/s |\n", text)
        self.assertIn("| load | 2.50 | 1.25 to 5.00 | GB/s |\n", text)

    def test_shows_what_pictures_take(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| a million boids | 0.100 | 0.0500 to 0.200 | ms | 4.00 ms |\n", text)

    def test_objects_that_load_first_are_compared_with_their_like(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| 1, 4 and 8 bytes | objects, loads first | 6.00 | 3.00 to 12.0 | TB/s | 0.750 |\n", text)

    def test_waves_show_the_time_per_birth_or_death(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| 25 % die, as many are born | 4 194 304 | 105 | 52.4 to 210 | us | 50.0 ps | 70.0 % |\n", text)
        self.assertIn("| x 4, then / 4 | 1 048 576 | 105 | 52.4 to 210 | us | 16.7 ps | 70.0 % |\n", text)

    def test_compares_calls_with_a_switch_by_hand(self):
        self.make(all_records())
        page = self.read("docs/benchmarks.md")
        self.assertIn("| classes | order in the array | `call` | / hand-written | `parallel_do` | / hand-written | virtual functions | / hand-written "
                      "| hand-written switch |\n", page)
        self.assertIn("| 1 | – | 12.0 ps | 1.50 | 6.00 ps | 0.750 | 30.0 ps | 3.75 | 8.00 ps |", page)
        self.assertIn("| 8 | mixed | 24.0 ps | 1.50 | 12.0 ps | 0.750 | 60.0 ps | 3.75 | 16.0 ps |", page)
        self.assertNotIn("| 1 | mixed |", page)

    def test_compares_objects_with_virtual_functions(self):
        self.make(all_records())
        page = self.read("docs/benchmarks.md")
        self.assertIn("| workload | virtual functions | objects | times as fast as virtual functions |\n", page)
        self.assertIn("| PageRank, edges and nodes | 30.0 ms | 12.0 ms | 2.50 |\n", page)
        self.assertIn("| geometric mean | – | – | 2.25 |\n", page)

    def test_scale_shows_powers_of_ten_and_ends_where_the_memory_does(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        rows = [line for line in text.splitlines() if line.endswith("| 90.0 ps | 6.00 ps | 5.00 ps | 1.20 |")]
        self.assertEqual([row.split("|")[1].strip() for row in rows], ["10 000", "100 000", "200 000"])

    def test_scale_needs_its_first_size(self):
        self.write("benchmarks/results/a.json", [r for r in all_records() if r["benchmark"] != "scale"])
        self.assert_fails("no result for 'scale, create, objects=10000", "run the benchmark scale")

    def test_shows_what_checks_cost_and_how_long_calls_take(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| loop over objects, base class | 3.00 TB/s | 1.50 TB/s | 2.00 |\n", text)
        self.assertIn("| Wa-Tor, 2048 x 2560, 500 steps, agents as objects | 400 ms | 1200 ms | 3.00 |\n", text)
        self.assertIn("| 99.9 % | 1.00 us | 2.50 us | 30.0 us | 60 us | 999 |\n", text)

    def test_what_checks_cost_is_of_the_run_that_measured_it(self):
        newer = [r | {"median": 2 * r["median"]} for r in all_records(date="2000-01-03", commit="fedcba9876543210")
                 if not r["benchmark"].startswith("checked ")]
        self.write("benchmarks/results/a.json", newer)
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| loop over objects, base class | 3.00 TB/s | 1.50 TB/s | 2.00 |\n", text)
        self.assertIn("| 7 floats | objects | 6.00 |", text)

    def test_rounds_to_three_digits_without_exponents(self):
        self.make(all_records())
        text = self.read("docs/benchmarks.md")
        self.assertIn("| delete | 10.0 | 5.00 to 20.0 |", text)
        self.assertIn("| parallel_do | 1230 | 617 to 2470 | us |", text)

    def test_compares_with_the_original_only_on_its_gpu(self):
        self.make(all_records(device="NVIDIA H200"))
        text = self.read("docs/benchmarks.md")
        self.assertIn("| agents as objects | 400 | 200 to 800 | ms | 75.0 % | 2.00 | 799 ms | 2.00 |", text)
        self.assertIn("| hand-written AoS | 300 | 150 to 600 | ms | – | 1.50 | – | – |", text)
        self.assertIn("| collision, 40000 bodies, 200 steps | bodies as objects | 100 ms | 150 ms | 1.50 | 41.5 |", text)

    def test_applications_may_have_been_measured_one_by_one(self):
        records = all_records()
        newer = [entry | {"date": "2000-01-03", "commit": "fedcba9876"} for entry in records if entry["benchmark"] == "n_body"]
        self.write("benchmarks/results/newer.json", newer)
        self.make(records)
        text = self.read("docs/benchmarks.md")
        self.assertIn("\n\nn_body: NVIDIA Made-Up GPU, driver 1.2, CUDA 99.9, compiler made-up compiler, 2000-01-03, commit "
                      "fedcba9, 5 repetitions.\n", text)
        self.assertIn("\n\nants, collision, epidemic, flocking, forest_fire, game_of_life, generation, schelling, structure, sugarscape, traffic, tumour, wa_tor: NVIDIA Made-Up", text)
        self.assertLess(text.index("2000-01-02, commit 0123456"), text.index("n_body: NVIDIA"))  # by their lines

    def test_an_application_that_was_not_measured_yet_is_left_out(self):
        self.write("apps/forest_fire/README.md", "<!-- results:forest_fire -->\n<!-- /results:forest_fire -->\n")
        self.make([entry for entry in all_records() if entry["benchmark"] != "forest_fire"])
        self.assertIn("\n\nNot measured on NVIDIA Made-Up GPU yet.\n\n", self.read("apps/forest_fire/README.md"))
        self.assertNotIn("| forest fire", self.read("docs/benchmarks.md"))
        self.assertIn("| flocking, 4000 boids", self.read("docs/benchmarks.md"))
        self.write("benchmarks/results/made-up.json", [entry for entry in all_records()
                                                       if entry["benchmark"] != "forest_fire" or entry["variant"] != "SoA by hand"])
        self.assert_fails("no result for 'forest_fire, SoA by hand, height=2048", "run the benchmark forest_fire")

    def test_what_is_compared_was_measured_together(self):
        records = all_records()
        objects = [entry | {"date": "2000-01-03"} for entry in records
                   if entry["benchmark"] == "n_body" and entry["variant"] == "bodies as objects"]
        self.write("benchmarks/results/newer.json", objects)
        self.write("benchmarks/results/a.json", records)
        self.assert_fails("the table applications needs results of one run")

    def test_running_twice_changes_nothing_and_check_agrees(self):
        self.make(all_records())
        before = self.read("README.md"), self.read("docs/benchmarks.md")
        self.make(all_records())
        self.assertEqual(before, (self.read("README.md"), self.read("docs/benchmarks.md")))
        self.assertEqual(self.run_program("--check").returncode, 0)

    def test_check_names_the_file_that_is_not_up_to_date_and_leaves_it_alone(self):
        self.make(all_records())
        self.write("README.md", self.read("README.md").replace("3.00 TB/s", "5.00 TB/s"))
        self.assert_fails("not up to date", ": README.md;", "run scripts/make-tables", arguments=["--check"])

    def test_the_newest_results_of_a_gpu_count(self):
        self.write("benchmarks/results/a.json", all_records(date="2000-01-03", driver="newest"))
        self.make(all_records())
        self.assertIn("driver newest,", self.read("README.md"))
        self.assertNotIn("driver 1.2", self.read("README.md"))

    def test_every_gpu_has_its_table_and_processors_have_none(self):
        self.write("benchmarks/results/other.json", all_records(device="NVIDIA Other GPU"))
        self.write("benchmarks/results/processor.json", all_records(device="Made-up processor"))
        self.make(all_records())
        text = self.read("README.md")
        self.assertEqual(text.count("| measured |"), 2)
        self.assertIn("NVIDIA Other GPU, driver", text)
        self.assertNotIn("processor", text)

    def test_wa_tor_readme_is_rewritten_if_it_has_markers(self):
        self.write("apps/wa_tor/README.md", "<!-- results:wa_tor -->\n<!-- /results:wa_tor -->\n")
        self.make(all_records())
        self.assertIn("| hand-written SoA | 200 |", self.read("apps/wa_tor/README.md"))

    def allocator_record(self, allocator, threads, median, metric="allocation", **changes):
        return record("threads", allocator, {"threads": threads, "bytes": 64}, metric, "ns", median, **changes)

    def make_allocator_page(self, records, page="[All figures](allocator-benchmarks/threads.md)\n"):
        """The page of the experiment threads."""
        self.write("docs/allocator-benchmarks.md", page)
        if records:
            self.write("benchmarks/results/made-up-allocators.json", records)
        self.make(all_records())
        return self.read("docs/allocator-benchmarks/threads.md")

    def test_compares_allocators_in_any_experiment(self):
        text = self.make_allocator_page([self.allocator_record("soa", 1024, 2), self.allocator_record("soa", 4096, 1.5),
                                         self.allocator_record("other", 4096, 0)])
        self.assertTrue(text.startswith("# Allocators compared: threads\n\n"), text)
        self.assertIn("`threads`: **allocation** in ns (bytes 64):\n\n| allocator | threads 1024 | threads 4096 |\n", text)
        self.assertIn("| soa | 2.00 | 1.50 |\n| other | – | 0 |\n", text)
        self.assertIn("2000-01-02, commit 0123456, up to 5 repetitions.\n", text)

    def test_names_no_unit_if_there_is_none_and_says_that_an_experiment_ran_once(self):
        text = self.make_allocator_page([self.allocator_record("soa", 1024, 2, repetitions=1) | {"unit": ""}])
        self.assertIn("`threads`: **allocation** (bytes 64, threads 1024):\n", text)
        self.assertIn("2000-01-02, commit 0123456, measured once.\n", text)

    def test_shows_some_of_a_long_series_the_first_and_the_last_among_them(self):
        text = self.make_allocator_page([self.allocator_record("soa", threads, 1) for threads in range(1, 51)])
        header = next(line for line in text.splitlines() if line.startswith("| allocator |"))
        self.assertTrue(header.startswith("| allocator | threads 1 |") and header.endswith("| threads 50 |"), header)
        self.assertEqual(header.count("threads"), 6)

    def test_says_which_allocators_did_not_finish(self):
        stopped = [record("threads", name, {}, "not finished", reason, 60)
                   for name, reason in (("slow", "stopped after 60 s"), ("lost", "crashed"), ("slower", "stopped after 60 s"))]
        text = self.make_allocator_page([self.allocator_record("soa", 1024, 2), *stopped])
        self.assertIn("\nslow, slower: stopped after 60 s.\n\nlost: crashed.\n", text)
        self.assertNotIn("| slow |", text)

    def test_pages_of_allocators_are_checked_and_those_without_results_removed(self):
        self.make_allocator_page([self.allocator_record("soa", 1024, 2)])
        self.write("docs/allocator-benchmarks/old.md", "# old")
        self.assert_fails("not up to date", ": docs/allocator-benchmarks/old.md;", arguments=["--check"])
        self.assertEqual(self.run_program().returncode, 0)
        self.assertFalse((self.root / "docs/allocator-benchmarks/old.md").exists())
        self.assertEqual(self.run_program("--check").returncode, 0)
        self.write("docs/allocator-benchmarks/threads.md", "# changed")
        self.assert_fails("not up to date", ": docs/allocator-benchmarks/threads.md;", arguments=["--check"])

    def test_every_page_of_allocators_is_linked(self):
        self.make_allocator_page([self.allocator_record("soa", 1024, 2)])
        self.write("docs/allocator-benchmarks.md", "[All figures](allocator-benchmarks/other.md)\n")
        self.assert_fails("docs/allocator-benchmarks.md does not link to allocator-benchmarks/threads.md")

    def test_leaves_pages_of_allocators_alone_until_there_are_results(self):
        self.write("docs/allocator-benchmarks/threads.md", "old text")
        marked = "<!-- results:allocators/summary -->\nold table\n<!-- /results:allocators/summary -->\n"
        self.assertEqual(self.make_allocator_page([], marked), "old text")
        self.assertEqual(self.read("docs/allocator-benchmarks.md"), marked)
        self.assertEqual(self.run_program("--check").returncode, 0)

    def original_record(self, variant, benchmark, metric, median, threads=1024, size=64, unit="ns", **changes):
        commit = "theirs 1.0" if variant.endswith(", original") else "0123456789abcdef0123456789abcdef01234567"
        spread = {"minimum": median * 0.95, "maximum": median * 1.05}
        parameters = {"bytes": size} | ({"threads": threads} if threads else {})
        return record(benchmark, variant, parameters, metric, unit, median, commit=commit, **(spread | changes))

    def make_originals(self, table, records, run="originals"):
        """The text of a page with the table originals/TABLE, or that of another run."""
        self.write("docs/allocator-benchmarks/originals.md", f"<!-- results:{run}/{table} -->\n<!-- /results:{run}/{table} -->\n")
        self.write(f"benchmarks/results/made-up-{run}.json", records)
        self.make(all_records())
        return self.read("docs/allocator-benchmarks/originals.md")

    def times_of_originals(self):
        """Halloc's original is slower at 1024 threads, faster at 65536, and then hardly slower and hardly faster."""
        return [self.original_record(variant, "one_kernel", "malloc and free", median, threads)
                for variant, medians in (("soa, ours", (2, 2, 2, 2)), ("halloc, ours", (4, 6, 4, 4)), ("halloc, original", (10, 3, 4.1, 3.9)))
                for threads, median in zip((1024, 65536, 2**20, 2**21), medians)]

    def test_compares_originals_with_ours(self):
        records = self.times_of_originals()
        text = self.make_originals("ratios", records)
        self.assertIn("| measured | bytes | threads | halloc / halloc |\n", text)
        self.assertIn("| `one_kernel`, malloc and free | 64 | 1 024 | 2.50 |\n", text)
        self.assertIn("| `one_kernel`, malloc and free | 64 | 65 536 | 0.500 |\n", text)
        self.assertIn("commit 0123456 of our allocators, up to 5 repetitions.\n", text)
        self.assertIn("| halloc | halloc | 4 of 4 | 1 | 1 | 2 | 0.500 | 1.00 | 2.50 |\n", self.make_originals("summary", records))
        self.assertIn("| halloc | soa | 4 of 4 | 4 | 0 | 0 | 1.50 | 2.00 | 5.00 |\n", self.make_originals("soa_summary", records))
        self.assertIn("| halloc | halloc | `one_kernel`, malloc and free | 64 bytes, 65 536 threads: 2.00 |\n",
                      self.make_originals("faster", records))
        self.assertIn("| `one_kernel`, malloc and free | 64 | 1 024 | 2.00 ns | 1 | 10.0 ns | halloc | 5.00 | 5.00 |\n",
                      self.make_originals("soa", records))
        self.assertIn("| soa, ours | 2.00 | 2.00 | 2.00 | 2.00 |\n| halloc, ours | 4.00 | 6.00 | 4.00 | 4.00 |\n"
                      "| halloc, original | 10.0 | 3.00 | 4.10 | 3.90 |\n",
                      self.make_originals("figures", records))

    def test_a_later_run_has_tables_of_its_own_and_need_not_include_soa_allocator(self):
        self.make_originals("faster", self.times_of_originals())
        later = [self.original_record(variant, "one_kernel", "malloc and free", median, 1024)
                 for variant, median in (("halloc, ours", 30), ("halloc, original", 10))]
        self.assertIn("| halloc | halloc | `one_kernel`, malloc and free | 64 bytes, 1 024 threads: 3.00 |\n",
                      self.make_originals("faster", later, run="originals-later"))

    def test_shows_empty_kernels_beside_originals_but_not_among_the_allocators(self):
        records = [*self.times_of_originals(), *(self.original_record("none, toolkit", "empty_kernel", "time per thread", 8 / threads, threads)
                                                 for threads in (2048, 1024))]
        self.assertIn("|\n| 1 024 | 0.00781 ns | 0.00742 to 0.00820 |\n| 2 048 | 0.00391 ns |", self.make_originals("empty_kernel", records))
        self.assertNotIn("none", self.make_originals("figures", records))

    def test_originals_that_refuse_or_damage_have_no_ratio(self):
        for metric in ("refused", "damaged, timed runs"):
            records = [*self.times_of_originals(), self.original_record("halloc, original", "one_kernel", metric, 7, unit="pieces")]
            self.assertIn("| 64 | 1 024 | † |\n", self.make_originals("ratios", records))
            self.assertIn("| halloc, original | 10.0 † | 3.00 | 4.10 | 3.90 |\n", self.make_originals("figures", records))
            self.assertIn("| halloc | halloc | 3 of 4 | 0 | 1 | 2 |", self.make_originals("summary", records))
        self.assertIn("| halloc, original | overwritten memory | `one_kernel` (64 bytes, 1 024 threads: 7 in all timed runs) |\n",
                      self.make_originals("faults", records))
        misaligned = self.original_record("halloc, original", "one_kernel", "misaligned", 7, unit="pieces")
        self.assertIn("| 64 | 1 024 | 2.50 |\n", self.make_originals("ratios", [*self.times_of_originals(), misaligned]))

    def test_says_why_figures_of_originals_are_missing(self):
        times = [one for one in self.times_of_originals() if one["variant"] != "halloc, original" or one["parameters"]["threads"] == 1024]
        for reason, cell, text in (("CUDA error: bad address", "CUDA error", "CUDA error: bad address"),
                                   ("stopped after 4 s", "stopped", "did not finish within 4 s")):
            records = [*times, self.original_record("halloc, original", "one_kernel", "not finished", 0, 2**20, unit=reason)]
            ratios = self.make_originals("ratios", records)
            self.assertIn("| 64 | 1 024 | 2.50 |\n", ratios)
            self.assertIn("| 64 | 65 536 | – |\n", ratios)
            self.assertIn(f"| 64 | 1 048 576 | {cell} |\n", ratios)
            self.assertIn(f"| 64 | 2 097 152 | {cell} |\n", ratios)
            self.assertIn(f"| halloc, original | {text} | `one_kernel` (64 bytes, 1 048 576 threads) |\n", self.make_originals("faults", records))

    def test_shows_how_much_of_a_heap_originals_can_use_twice(self):
        used, second = "heap used at the first refusal", "heap used at the first refusal, second time"
        records = [*self.times_of_originals(),
                   *(self.original_record(variant, "heap_use", metric, median, 16384, unit="%") for variant, metric, median in (
                       ("soa, ours", used, 100), ("soa, ours", second, 99.6), ("halloc, ours", used, 87.5),
                       ("halloc, original", used, 80), ("halloc, original", second, 0))),
                   self.original_record("halloc, ours", "heap_use", "not finished", 4, None, unit="stopped after 4 s")]
        text = self.make_originals("heap_use", records)
        self.assertIn("| allocator | 64 bytes | 64 bytes, second time |\n", text)
        self.assertIn("| soa, ours | 100 % | 99.6 % |\n| halloc, ours | 87.5 % | stopped |\n| halloc, original | 80.0 % | 0 % |\n", text)
        faults = self.make_originals("faults", records)
        self.assertIn("| `heap_use` (64 bytes: 80.0 %, then 0 %) |\n", faults)
        self.assertNotIn("soa, ours", faults)

    def test_originals_are_of_one_run_and_say_whose_they_are(self):
        records = self.times_of_originals()
        self.make_originals("ratios", records)
        for changes, message in (({"date": "2000-01-03"}, "one run"), ({"variant": "halloc"}, "must end with ', ours'")):
            self.write("benchmarks/results/made-up-originals.json", [records[0] | changes, *records[1:]])
            self.assert_fails(message)
        self.write("benchmarks/results/made-up-originals.json", [records[0] | {"commit": "fedcba"}, *records[1:]])
        self.assert_fails("one commit of ours")
        self.write("benchmarks/results/made-up-originals.json", records)
        self.write("docs/allocator-benchmarks/originals.md", "<!-- results:originals/wrong -->\n<!-- /results:originals/wrong -->\n")
        self.assert_fails("no table 'originals/wrong'", "originals/ratios")

    def test_pages_of_originals_are_kept_beside_those_of_experiments(self):
        self.make_originals("ratios", self.times_of_originals())
        self.make_allocator_page([self.allocator_record("soa", 1024, 2)])
        self.assertIn("| 2.50 |", self.read("docs/allocator-benchmarks/originals.md"))

    def flame_records(self):
        """Times of FLAME GPU 2's examples, and of our models of them. Circles run more steps here."""
        commit = {"commit": "fedcba9876543210, 2.0 of 2000-01-01"}
        theirs = [record("flame_gpu", model, size, "time of a step", "ms", median, **commit) for model, size, median in (
            ("life", {"width": 1024, "height": 1024, "steps": 200}, 1), ("circles", {"agents": 131072, "steps": 200}, 8))]
        theirs.append(record("flame_gpu", "circles", {"agents": 131072, "steps": 200}, "time of a step, first tenth included", "ms", 80, **commit))
        ours = [record("flame_gpu", variant, size, "time of a step", "ms", median) for variant, size, median in (
            ("life, a cell at every place", {"width": 1024, "height": 1024, "steps": 200}, 0.1),
            ("life, live cells placed", {"width": 1024, "height": 1024, "steps": 200}, 0.02),
            ("life, live cells placed", {"width": 4096, "height": 4096, "steps": 200}, 0.5),
            ("circles", {"agents": 16384, "steps": 1000}, 1), ("circles", {"agents": 131072, "steps": 300}, 16))]
        return theirs, ours

    def make_flame(self, theirs, ours):
        self.write("docs/benchmarks-flame-gpu.md", "<!-- results:flame_gpu -->\n<!-- /results:flame_gpu -->\n")
        self.write("benchmarks/results/made-up.json", all_records() + ours)
        if theirs:
            self.write("benchmarks/results/made-up-flame-gpu-2.json", theirs)
        return self.run_program()

    def test_compares_models_with_those_of_flame_gpu_2_of_the_same_size(self):
        result = self.make_flame(*self.flame_records())
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        text = self.read("docs/benchmarks-flame-gpu.md")
        self.assertIn("| model | agents or places | steps | FLAME GPU 2 | DynaSOAr | times as fast |\n|---|---|---|---|---|---|\n"
                      "| life, a cell at every place | 1024 x 1024 | 200 | 1.00 ms | 0.100 ms | 10.0 |\n"
                      "| life, live cells placed | 1024 x 1024 | 200 | 1.00 ms | 0.0200 ms | 50.0 |\n"
                      "| circles | 131 072 | 200; DynaSOAr: 300 | 8.00 ms | 16.0 ms | 0.500 |\n\n", text)
        self.assertIn("FLAME GPU 2: NVIDIA Made-Up GPU, driver 1.2, CUDA 99.9, compiler made-up compiler, 2000-01-02, "
                      "commit fedcba9, 2.0 of 2000-01-01, 5 repetitions.\n\nDynaSOAr: ", text)
        self.assertIn("commit 0123456, 5 repetitions.\n", text)

    def test_tables_of_flame_gpu_2_that_cannot_be_made_say_why(self):
        theirs, ours = self.flame_records()
        for their_records, our_records, words in (
                (theirs, ours[1:], "no result of 'life, a cell at every place', 1024 x 1024, on NVIDIA Made-Up GPU"),
                ([theirs[0] | {"variant": "ants"}], ours, "is of 'ants'; known are life, boids, circles, Sugarscape"),
                ([theirs[0] | {"date": "2000-01-03"}, *theirs[1:]], ours, "results of FLAME GPU 2 of one run"),
                (theirs, [ours[0] | {"date": "2000-01-03"}, *ours[1:]], "results of DynaSOAr of one run")):
            result = self.make_flame(their_records, our_records)
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)

    def test_the_table_of_flame_gpu_2_is_left_as_it_is_where_there_are_no_results(self):
        self.assertEqual(self.make_flame([], []).returncode, 0)
        self.assertEqual(self.read("docs/benchmarks-flame-gpu.md"), "<!-- results:flame_gpu -->\n<!-- /results:flame_gpu -->\n")

    def test_compares_allocators_in_one_run_only(self):
        self.make_allocator_page([self.allocator_record("soa", 1024, 2)])
        self.write("benchmarks/results/made-up-allocators.json",
                   [self.allocator_record("soa", 1024, 2), self.allocator_record("other", 1024, 2, commit="fedcba9876")])
        self.assert_fails("the experiment threads needs results of one run")

    def test_compares_soa_allocator_with_the_best_of_the_others(self):
        sizes = {"linux_scalability": ("allocation and deallocation", "ns", "objects per thread", (1, 4, 16, 64, 256, 512, 1024)),
                 "linux_scalability_threads": ("allocation and deallocation", "ns", "threads", (8192, 32768, 131072, 524288)),
                 "memory_usage": ("heap used at the first refusal", "%", "classes", (1, 3)),
                 "largest_ocean": ("cells", "million", "MiB", (64,)),
                 "enumeration": ("loop after changes", "us", "objects", (2**22,)),
                 **{f"application_{name}": ("time of all steps", "ms", "steps", (100,))
                    for name in ("wa_tor", "n_body", "collision", "game_of_life", "generation", "structure", "sugarscape", "traffic",
                                 "forest_fire_placed")}}
        records = [record(experiment, allocator, {name: value}, metric, unit, median)
                   for experiment, (metric, unit, name, values) in sizes.items() for value in values
                   for allocator, median in (("first", 30), ("soa", 20), ("second", 25), ("third", 10))]
        records += [one | {"metric": "loop without changes"} for one in records if one["benchmark"] == "enumeration"]
        links = "".join(f"(allocator-benchmarks/{name.replace('_', '-')}.md)" for name in sizes)
        self.write("docs/allocator-benchmarks.md", links + "<!-- results:allocators/summary -->\n<!-- /results:allocators/summary -->")
        self.write("benchmarks/results/a-allocators.json", records)
        self.make(all_records())
        text = self.read("docs/allocator-benchmarks.md")
        self.assertIn("| application: Wa-Tor | 20.0 ms | 10.0 ms | third | 0.500 |\n", text)
        self.assertIn("| application: forest fire, on a lattice | 20.0 ms | 10.0 ms | third | 0.500 |\n", text)
        self.assertNotIn("Wa-Tor, on a lattice", text)  # not measured
        self.assertIn("| cells of the largest Wa-Tor in 64 MiB | 20.0 million | 30.0 million | first | 0.667 |\n", text)
        self.assertIn("| creating and deleting an object, 32 768 threads with 256 each | 20.0 ns | 10.0 ns | third | 0.500 |\n", text)
        self.assertEqual(text.count("| third | 0.500 |"), 8 + 1 + 7 + 4 + 2)
        self.write("benchmarks/results/a-allocators.json", [one for one in records if one["benchmark"] != "largest_ocean"
                                                            or one["variant"] != "soa"])
        self.assert_fails("the experiment largest_ocean has no 'cells' of soa and another allocator", "run scripts/benchmark --allocators")
        self.write("benchmarks/results/a-allocators.json", [one for one in records if one["benchmark"] != "largest_ocean"])
        self.assert_fails("no results of the experiment 'largest_ocean'", "run dynasoar-allocator-benchmark")

    def test_compares_allocators_with_public_implementations(self):
        marked = "(allocator-benchmarks/threads.md)<!-- results:allocators/public -->\n<!-- /results:allocators/public -->"
        self.make_allocator_page([record("threads", "scatter", {"bytes": 64, "threads": 2**log}, "allocations", "G/s", log)
                                  for log in (16, 18)], marked)
        text = self.read("docs/allocator-benchmarks.md")
        self.assertIn("| scatter | 16.0 G/s | 8.4 G/s | – | 26 G/s |\n", text)
        self.write("benchmarks/results/a-allocators.json",
                   [record("threads", "scatter", {"bytes": 64, "threads": 2**16}, "allocations", "G/s", 16, device="NVIDIA Other GPU")])
        self.make_allocator_page([], marked)
        text = self.read("docs/allocator-benchmarks.md")
        self.assertLess(text.index("NVIDIA Made-Up GPU"), text.index("NVIDIA Other GPU"))
        self.write("docs/allocator-benchmarks.md", marked.replace("public", "guess"))
        self.assert_fails("there is no table 'allocators/guess'; there are allocators/summary, allocators/public")

    def test_shows_the_shapes_of_requests_that_were_measured(self):
        self.write("docs/benchmarks.md", DETAILS + "<!-- results:request_shapes -->\n<!-- /results:request_shapes -->\n")
        self.make(all_records())
        self.assertIn("\n\nNot measured on NVIDIA Made-Up GPU yet.\n\n", self.read("docs/benchmarks.md"))
        def shape(variant, heap, size, median):
            return record("request_shapes", variant, heap | size, "creation and deletion", "ns", median)

        size = {"objects per thread": 64, "threads": 16384}
        one, large, two, five = ({"classes": 1, "bytes": 64}, {"classes": 1, "bytes": 128}, {"classes": 2, "bytes": 64},
                                 {"classes": 5, "bytes": 64})
        self.make(all_records() + [shape("created, then deleted", one, size, 0.1), shape("created, then deleted", large, size, 0.2),
                                   shape("created, then deleted", two, size, 0.3), shape("four classes in a warp", five, size, 0.4),
                                   shape("own kernel: created, then deleted", five, size | {"threads of a block": 256}, 0.5)])
        text = self.read("docs/benchmarks.md")
        self.assertIn("| created, then deleted | 16 384 | 64 | – | 0.100 ns | 0.200 ns | 0.300 ns | – |\n"
                      "| four classes in a warp | 16 384 | 64 | – | – | – | – | 0.400 ns |\n"
                      "| own kernel: created, then deleted | 16 384 | 64 | 256 | – | – | – | 0.500 ns |\n", text)
        sizes = {"16 384": (64, 512), "65 536": (64, 1), "262 144": (16,), "1 024": (1,)}
        self.make(all_records() + [shape("created, then deleted", two, {"objects per thread": each, "threads": int(threads.replace(" ", ""))}, 0.3)
                                   for threads, numbers in sizes.items() for each in numbers])
        text = self.read("docs/benchmarks.md")
        for threads, numbers in sizes.items():
            for each in numbers:
                self.assertIn(f"| created, then deleted | {threads} | {each} | – | – | – | 0.300 ns | – |", text)

    def test_says_which_benchmark_to_run_if_a_result_is_missing(self):
        self.write("benchmarks/results/a.json", [r for r in all_records() if r["variant"] != "SoA by hand"])
        self.assert_fails("no result for 'wa_tor, SoA by hand, height=2560", "run the benchmark wa_tor")

    def test_a_file_has_what_is_common_once_and_a_line_for_each_record(self):
        records = [record("b", "v", {"n": 1}, "m", "ns", 1.23456, compiler="one"), record("b", "w", {}, "m", "ns", 123456, compiler="two")]
        text = benchmark_results.text_of(records)
        self.assertEqual(text.splitlines()[3:], ['"records": [', '["b","v",{"n":1},"m","ns",1.235,0.6173,2.469,5,"one"],',
                                                 '["b","w",{},"m","ns",123500.0,61730.0,246900.0,5,"two"]', ']', '}'])
        self.assertEqual(text.count("NVIDIA Made-Up GPU"), 1)
        self.assertEqual(benchmark_results.parse(text, "x")[1], records[1] | {"median": 123500, "minimum": 61730, "maximum": 246900})

    def test_no_results_at_all(self):
        self.assert_fails("no results of an NVIDIA GPU", "run scripts/benchmark")

    def test_unknown_results(self):
        for changes, words in (({"benchmark": "guess"}, "unknown benchmark 'guess'"),
                               ({"variant": "guess"}, "unknown variant: guess; run the benchmark empty_loop"),
                               ({"metric": "guess"}, "unknown metric: guess"),
                               ({"parameters": {"loops": 7}}, "unknown parameters: {'loops': 7}")):
            records = all_records()
            records[0] |= changes
            self.write("benchmarks/results/a.json", records)
            self.assert_fails("a.json", words)

    def test_results_of_different_runs_are_not_compared(self):
        records = all_records()
        next(r for r in records if r["variant"] == "SoA by hand")["commit"] = "fedcba9876543210"
        self.write("benchmarks/results/a.json", records)
        self.assert_fails("needs results of one run", "commit fedcba9", "commit 0123456")

    def test_two_results_of_the_same_day(self):
        self.write("benchmarks/results/a.json", all_records())
        self.write("benchmarks/results/b.json", all_records())
        self.assert_fails("b.json", "two results of 2000-01-02", "remove one")

    def test_of_two_commits_of_a_day_the_last_counts(self):
        self.make(all_records() + all_records(commit="fedcba9876543210"))
        self.assertIn("commit fedcba9", self.read("docs/benchmarks.md"))
        self.assertNotIn("commit 0123456", self.read("docs/benchmarks.md"))

    def test_files_that_are_not_results(self):
        whole = {"run": {}, "columns": benchmark_results.RUN + benchmark_results.COLUMNS, "records": []}
        for content, words in (("[", "is not JSON"), ("[]", "does not have a 'run'"), ({"run": {}}, "'columns' and 'records'"),
                               (whole | {"columns": ["median"]}, "records have no device, driver"),
                               (whole | {"records": [["x"]]}, "a record has 1 values for 15 columns")):
            self.write("benchmarks/results/a.json", content)
            self.assert_fails("a.json", words, "run scripts/benchmark")

    def claims(self, *claims, **section):
        """Writes benchmarks/published.toml with one section `made_up`, and its page."""
        lines = ["[made_up]", *(f'{key} = "{value}"' for key, value in ({"title": "A paper", "hardware": "A GPU"} | section).items())]
        self.write("benchmarks/published.toml", "\n".join([*lines, *(f"[[made_up.claims]]\n{claim}" for claim in claims)]))
        self.write("docs/reproduction.md", "".join(f"<!-- results:published/{name} -->\n<!-- /results:published/{name} -->\n"
                                                   for name in ("made_up", "summary")))

    @staticmethod
    def claim(holds, measured, more="", name="it is fast"):
        return f'claim = "{name}"\npublished = "text"\nmeasured = {{ {measured} }}\nholds = "{holds}"\n{more}'

    def reproduction(self, *claims, records=()):
        self.claims(*claims)
        if records:
            self.write("benchmarks/results/made-up-allocators.json", list(records))
            self.write("docs/allocator-benchmarks.md", "(allocator-benchmarks/threads.md)\n")
        self.make(all_records())
        return self.read("docs/reproduction.md")

    THREADS = 'benchmark = "threads", variant = "soa", metric = "allocation"'

    def test_compares_claims_with_values_and_with_ratios_of_results_that_differ_in_one_thing(self):
        records = [self.allocator_record(name, threads, median) for name, threads, median in (
            ("soa", 1024, 2), ("other", 1024, 5), ("third", 1024, 1), ("soa", 4096, 4), ("other", 4096, 4))]
        link = "[`threads`](allocator-benchmarks/threads.md)"
        over = '"other", metric = "allocation", over = { variant = "soa" }'
        text = self.reproduction(
            self.claim(">= 3", self.THREADS + ", parameters = { threads = 1024 }", "number = 4\nremark = 'why'"),
            self.claim("1 to 3", self.THREADS),
            self.claim("<= 2", f'benchmark = "thr*", variant = {over}', name="ratios"),
            self.claim(">= 2.5", f'benchmark = "threads", variant = {over}', 'pick = "most"\nnumber = 5', "most"),
            self.claim(">= 2.5", f'benchmark = "threads", variant = {over}', 'pick = "least"\nnumber = 5', "least"),
            self.claim("<= 1", self.THREADS + ', over = { variant = "*" }'),
            self.claim("2 to 2", self.THREADS + ", parameters = { threads = [4096, 7] }, over = { parameters = { threads = 1024 } }"),
            records=records)
        self.assertIn(f"| it is fast | text | 2.00 ns | 0.500 | >= 3 | no | {link} | why |\n", text)
        self.assertIn(f"| 2.00 to 4.00 ns | – | 1 to 3 | partly (1 of 2) | {link} |  |\n", text)
        self.assertIn("| ratios | text | 1.00 to 2.50 | – | <= 2 | partly (1 of 2) | [`thr*`](allocator-benchmarks.md) |  |\n", text)
        self.assertIn(f"| most | text | 1.00 to 2.50 | 0.500 | >= 2.5 | yes | {link} |  |\n", text)
        self.assertIn(f"| least | text | 1.00 to 2.50 | 0.200 | >= 2.5 | no | {link} |  |\n", text)
        self.assertIn(f"| 0.400 to 2.00 | – | <= 1 | partly (2 of 3) | {link} |  |\n", text)
        self.assertIn(f"| 2.00 | – | 2 to 2 | yes | {link} |  |\n", text)
        self.assertIn("\nPublished: A GPU.\n\nOurs: NVIDIA Made-Up GPU, driver 1.2,", text)
        self.assertIn("| A paper | 7 | 2 | 3 | 2 | 0 |\n| all | 7 | 2 | 3 | 2 | 0 |\n\nOurs: NVIDIA Made-Up GPU.\n", text)

    def test_says_which_claims_were_not_measured(self):
        text = self.reproduction(
            'claim = "unknown"\npublished = "7 %"\nremark = "Not tried."',
            self.claim(">= 1", 'benchmark = "elsewhere", variant = "a", metric = "b"'),
            self.claim(">= 1", 'benchmark = "threads", variant = "slow", metric = "allocation", over = { variant = "soa" }'),
            records=[self.allocator_record("soa", 1024, 2), record("threads", "slow", {}, "not finished", "stopped after 3 s", 3)])
        self.assertIn("| unknown | 7 % | – | – | – | not measured | – | Not tried. |\n", text)
        self.assertIn("| – | – | >= 1 | not measured | [`elsewhere`](allocator-benchmarks/elsewhere.md) |  |\n", text)
        self.assertIn("| slow: stopped after 3 s | – | >= 1 | not measured |", text)
        self.assertIn("| A paper | 3 | 0 | 0 | 0 | 3 |\n", text)

    def test_claims_are_compared_with_the_newest_results_of_programs(self):
        loop = 'benchmark = "empty_loop", variant = "parallel_do", metric = "time per loop"'
        older = [one | {"median": 2} for one in all_records(date="2000-01-01", commit="fedcba9876543210")]
        self.write("benchmarks/results/older.json", older)
        text = self.reproduction(self.claim(">= 1", loop), self.claim("<= 4", loop + ', over = { variant = "*kept" }'),
                                 self.claim(">= 1", 'benchmark = "n_body", variant = "bodies*", metric = "time of all steps"'))
        self.assertIn("| 1230 us | – | >= 1 | yes | [`empty_loop`](benchmarks-loops.md) |  |\n", text)
        self.assertIn(" | yes | [`n_body`](benchmarks-applications.md) |  |\n", text)
        self.assertIn("| 2.47 to 3.08 | – | <= 4 | yes |", text)
        self.assertEqual(self.run_program("--check").returncode, 0)
        self.claims(self.claim("<= 1", loop))
        self.assert_fails("not up to date", ": docs/reproduction.md;", arguments=["--check"])

    def test_claims_link_to_pages_that_have_tables_of_the_benchmark(self):
        project = pathlib.Path(PROGRAM).parent.parent
        for page, benchmarks in [*published.BENCHMARK_PAGES.items(), (published.APPLICATION_PAGE, ["applications", "small_models"])]:
            for benchmark in benchmarks:
                self.assertIn(f"<!-- results:{benchmark} -->", (project / page).read_text(encoding="utf-8"))

    def test_ratios_of_claims_need_results_of_one_run(self):
        self.claims(self.claim(">= 1", 'benchmark = "empty_loop", variant = "parallel_do", metric = "time per loop", '
                                       'over = { variant = "*kept" }'))
        records = all_records()
        next(one for one in records if one["variant"] == "parallel_do")["commit"] = "fedcba9876543210"
        self.write("README.md", "no table")
        self.write("docs/benchmarks.md", "no table")
        self.write("benchmarks/results/a.json", records)
        self.assert_fails("a claim of benchmarks/published.toml needs results of one run", "empty_loop", "commit fedcba9", "commit 0123456")

    def test_mistakes_in_claims(self):
        self.make(all_records())
        loop = 'benchmark = "empty_loop", variant = "parallel_do", metric = "time per loop"'
        where = "section 'made_up', claim 'it is fast'"
        for claim, words in ((self.claim("> 3", loop), (where, "'holds' must be like '>= 3', '<= 3' or '2 to 3', and not '> 3'")),
                             (self.claim(">= 3", loop, "hold = 1"), (where, "unknown key 'hold'")),
                             (self.claim(">= 3", loop + ", over = { benchmark = 'x' }"), (where, "unknown key 'benchmark'")),
                             (self.claim(">= 3", "benchmark = 'empty_loop', variant = 'x'"), ("the key 'metric' is missing",)),
                             (self.claim(">= 3", loop, "pick = 'both'"), ("'pick' must be 'least' or 'most'",)),
                             ('claim = "it is fast"\npublished = "1"', ("the key 'remark' is missing",)),
                             (self.claim(">= 3", loop.replace("parallel_do", "parallel_d")),
                              ("no results for the claim 'it is fast', though there are results of empty_loop", "correct its 'measured'")),
                             ("claim = ", ("benchmarks/published.toml is not TOML",))):
            self.claims(claim)
            self.assert_fails(*words)
        self.claims(self.claim(">= 3", loop), year="2019")
        self.assert_fails("section 'made_up': unknown key 'year'")
        self.claims(self.claim(">= 3", loop))
        self.write("docs/reproduction.md", "<!-- results:published/guess -->\n<!-- /results:published/guess -->\n")
        self.assert_fails("there is no table 'published/guess'; there are published/summary, published/made_up")

    def host_records(self):
        host = {"device": "Made-Up CPU"}
        size = {"objects": 1000, "threads": 4}
        records = [record("host_loop", f"7 floats {how}", size, "useful bandwidth", "GB/s", median, **host)
                   for how, median in (("objects", 30), ("by hand", 20))]
        records.append(record("host_loop", "7 floats objects", size, "times as fast as by hand", "", 1.5, **host))
        return records + [record("host_threads", variant, size | {"threads": n}, "rate", "M/s", rate * n, **host)
                          for variant, rate in (("create", 10), ("delete", 3)) for n in (4, 2, 1)]

    def lattice_records(self):
        size = {"width": 64, "height": 32, "threads": 4, "steps": 3}
        host = {"device": "Made-Up CPU"}
        records = [record("host_lattices", f"life, {how}", size, "time of a step", "us", median, **host)
                   for how, median in (("cells placed", 40), ("by hand", 20))]
        return records + [record("host_lattices", "life, cells placed", size, "times as fast as by hand", "", 0.5, **host)]

    def compile_records(self):
        return [record("compile", variant, {}, "time", "s", median, device="Made-Up CPU", compiler=compiler, repetitions=count)
                for compiler, factor, count in (("g++", 1, 3), ("nvcc", 4, 5))
                for variant, median in (("Wa-Tor as objects", 6 * factor), ("Wa-Tor by hand", 3 * factor))]

    def make_host(self, *tables):
        self.write("benchmarks/results/gpu.json", all_records())
        self.write("README.md", README + "".join(f"<!-- results:host/{name} -->\n<!-- /results:host/{name} -->\n" for name in tables))
        return self.run_program()

    def test_tables_of_cpus_compare_with_by_hand_and_with_one_thread(self):
        self.write("benchmarks/results/a-host.json", self.host_records())
        self.write("benchmarks/results/b-compile.json", self.compile_records())
        result = self.make_host("loops", "threads", "compile")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        text = self.read("README.md")
        self.assertIn("| fields | objects | hand-written | times as fast as hand-written | min to max |\n|---|---|---|---|---|\n"
                      "| 7 floats | 30.0 GB/s | 20.0 GB/s | 1.50 | 0.750 to 3.00 |\n\n"
                      "Made-Up CPU, up to 4 threads, 1 000 objects, compiler made-up compiler, 2000-01-02, commit 0123456, 5 repetitions.",
                      text)
        self.assertIn("| 1 | 10.0 M/s | 1.00 | 3.00 M/s | 1.00 |\n| 2 | 20.0 M/s | 2.00 | 6.00 M/s | 2.00 |\n"
                      "| 4 | 40.0 M/s | 4.00 | 12.0 M/s | 4.00 |\n", text)
        self.assertIn("| source | g++ | nvcc |\n|---|---|---|\n| Wa-Tor as objects | 6.00 s | 24.0 s |\n"
                      "| Wa-Tor hand-written | 3.00 s | 12.0 s |\n| objects / hand-written | 2.00 | 2.00 |\n\n"
                      "Made-Up CPU, 2000-01-02, commit 0123456, up to 5 repetitions.", text)
        # Records of CPUs are no results of a GPU.
        self.assertNotIn("Made-Up CPU", self.read("docs/benchmarks.md"))

    def test_tables_of_cpus_are_in_the_order_of_their_files(self):
        for name in "hbgdface":
            self.write(f"benchmarks/results/{name}-host.json", [one | {"device": f"Processor {name}"} for one in self.host_records()])
        self.assertEqual(self.make_host("loops").returncode, 0)
        self.assertEqual(re.findall(r"Processor (\w),", self.read("README.md")), list("abcdefgh"))

    def test_lattices_on_cpus_are_compared_with_by_hand_once_they_are_measured(self):
        self.write("benchmarks/results/a-host.json", self.host_records())
        self.assertEqual(self.make_host("lattices").returncode, 0)
        self.assertIn("Not measured yet.", self.read("README.md"))
        self.write("benchmarks/results/a-host.json", self.host_records() + self.lattice_records())
        self.assertEqual(self.make_host("lattices").returncode, 0)
        self.assertIn("| model | cells | time of a step | hand-written | times as fast as hand-written | min to max |\n|---|---|---|---|---|---|\n"
                      "| life, cells placed | 64 x 32 | 40.0 us | 20.0 us | 0.500 | 0.250 to 1.00 |\n\n"
                      "Made-Up CPU, up to 4 threads, compiler made-up compiler, 2000-01-02, commit 0123456, 5 repetitions.",
                      self.read("README.md"))

    def test_tables_of_cpus_that_cannot_be_made_say_what_to_run(self):
        self.write("benchmarks/results/a-host.json", self.host_records())
        for table, words in (("compile", "has results of compile; run scripts/compile-times"),
                             ("guess", "there is no table 'host/guess'; there are host/loops, host/threads, host/lattices, host/compile")):
            result = self.make_host(table)
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)
        self.write("benchmarks/results/a-host.json", self.compile_records())
        self.assertIn("has results of host_loop; run scripts/benchmark --host again", self.make_host("loops").stderr)

    def test_tables_of_cpus_are_left_as_they_are_where_there_are_no_results(self):
        self.assertEqual(self.make_host("loops").returncode, 0)
        self.assertIn("<!-- results:host/loops -->\n<!-- /results:host/loops -->", self.read("README.md"))

    def rank_records(self, **changes):
        """A step takes 20 us and 10 ps for each place of a rank; exchanges with `peer` add 1 us on one rank and 6 or 5 us on two."""
        records = []
        for ranks in (1, 2):
            for ocean, height, width, cost in (("weak", 1000 * ranks, 1000, 6), ("strong", 1000, 2000, 5)):
                size = {"ranks": ranks, "width": width, "height": height}
                loops = 0.02 + 1e-8 * width * height / ranks
                records += [record(f"wa_tor {ocean}", variant, size, "time per step", "ms", median, **changes)
                            for variant, median in (("no exchange, no ghosts", loops + 0.01), ("no exchange, no ghosts, recorded", loops),
                                                    ("peer, recorded", loops + (cost if ranks == 2 else 1) / 1000),
                                                    ("nccl, recorded", loops + 0.01), ("staged", loops + 0.11))]
        for variant, median in (("peer", 9), ("peer, recorded", 8), ("staged", 100)):
            records += [record("exchange", variant, {"ranks": 2, "bytes_per_neighbour": size}, "time per exchange", "us", median, **changes)
                        for size in (64, 4096, 2**20) if (variant, size) != ("staged", 2**20)]
        return records

    def make_ranks(self, *tables, **files):
        self.write("benchmarks/results/gpu.json", all_records())
        for name, records in files.items():
            self.write(f"benchmarks/results/{name.replace('_', '-')}.json", records)
        self.write("docs/scaling.md", "".join(f"<!-- results:ranks/{name} -->\n<!-- /results:ranks/{name} -->\n" for name in tables))
        return self.run_program()

    def test_oceans_on_ranks_are_compared_with_one_rank_without_exchange(self):
        result = self.make_ranks("weak", "strong", a_ranks=self.rank_records())
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        weak, strong = self.read("docs/scaling.md").split("<!-- /results:ranks/weak -->")
        self.assertIn("| exchange | ranks | time of a step | min to max | unit | exchange and ghosts | efficiency |\n", weak)
        self.assertIn("| no exchange, no ghosts, recorded | 2 | 0.0300 | 0.0150 to 0.0600 | ms | – | 1.00 |\n", weak)
        self.assertIn("| peer, recorded | 1 | 0.0310 | 0.0155 to 0.0620 | ms | 1.00 us | 0.968 |\n"
                      "| peer, recorded | 2 | 0.0360 | 0.0180 to 0.0720 | ms | 6.00 us | 0.833 |\n", weak)
        # Steps that are not recorded are compared with such steps.
        self.assertIn("| staged | 2 | 0.140 | 0.0700 to 0.280 | ms | 100 us | 0.286 |\n", weak)
        self.assertIn("| unit | exchange and ghosts | speedup |\n", strong)
        self.assertIn("| no exchange, no ghosts, recorded | 2 | 0.0300 | 0.0150 to 0.0600 | ms | – | 1.33 |\n", strong)
        self.assertIn("| peer, recorded | 2 | 0.0350 | 0.0175 to 0.0700 | ms | 5.00 us | 1.14 |\n", strong)
        self.assertIn("NVIDIA Made-Up GPU, driver 1.2, CUDA 99.9, compiler made-up compiler, 2000-01-02, commit 0123456, 5 repetitions.", strong)

    def test_exchanges_have_a_column_for_each_transport(self):
        self.assertEqual(self.make_ranks("exchange", a_ranks=self.rank_records()).returncode, 0)
        self.assertIn("| ranks | bytes for each neighbour | peer | peer, recorded | staged |\n|---|---|---|---|---|\n"
                      "| 2 | 64 B | 9.00 us | 8.00 us | 100 us |\n| 2 | 4 KiB | 9.00 us | 8.00 us | 100 us |\n"
                      "| 2 | 1 MiB | 9.00 us | 8.00 us | – |\n", self.read("docs/scaling.md"))

    def test_expectations_are_those_of_the_fitted_model(self):
        self.assertEqual(self.make_ranks("model", "expected", a_ranks=self.rank_records()).returncode, 0)
        text = self.read("docs/scaling.md")
        self.assertIn("| loops, for each place of a rank | 10.0 ps |\n| loops, for each step | 20.0 us |\n", text)
        self.assertIn("| exchange and ghosts, 2000 places wide, peer, on 2 ranks | 5.00 us |\n", text)
        self.assertIn("| weak | peer | 4 | 0.0360 ms | 3.33 | 0.833 | 3.33 us |\n| weak | peer | 8 | 0.0360 ms | 6.67 | 0.833 | 3.33 us |\n"
                      "| weak | nccl | 4 |", text)
        self.assertIn("| weak | nccl | 64 | 0.0400 ms | 48.0 | 0.750 | 3.33 us |\n", text)
        # 20 us + 0.5e6 * 10 ps + 5 us; even without exchange, the efficiency would be below 0.9.
        self.assertIn("| strong | peer | 4 | 0.0300 ms | 1.33 | 0.333 | – |\n", text)
        self.assertNotIn("| peer | 64 |", text)  # does not reach other hosts
        self.assertNotIn("| staged |", text)  # is not recorded

    def test_the_model_says_how_far_it_is_from_the_measurements(self):
        records = self.rank_records()
        for one in records:
            if one["variant"] == "no exchange, no ghosts, recorded" and one["parameters"] == {"ranks": 1, "width": 1000, "height": 1000}:
                one["median"] *= 1.1
        self.assertEqual(self.make_ranks("model", a_ranks=records).returncode, 0)
        self.assertRegex(self.read("docs/scaling.md"), r"without exchange \| (5|6|7)\.\d\d % \|\n")

    def test_results_of_ranks_may_be_in_several_files_of_one_run(self):
        records = self.rank_records()
        files = {f"gpu_{ranks}_ranks": [one for one in records if one["parameters"]["ranks"] == ranks] for ranks in (1, 2)}
        self.assertEqual(self.make_ranks("weak", **files).returncode, 0)
        self.assertIn("| peer, recorded | 2 | 0.0360 |", self.read("docs/scaling.md"))
        files["gpu_2_ranks"] = [one | {"commit": "fedcba9"} for one in files["gpu_2_ranks"]]
        self.assertIn("gpu-2-ranks.json: the tables ranks/ need results of one commit and day", self.make_ranks("weak", **files).stderr)
        files["gpu_2_ranks"] = files["gpu_1_ranks"]
        self.assertIn("gpu-2-ranks.json: there are two results of wa_tor weak, no exchange, no ghosts, ", self.make_ranks("weak", **files).stderr)

    def test_tables_of_ranks_that_cannot_be_made_say_what_to_run(self):
        records = self.rank_records()
        without_one = [one for one in records if one["parameters"]["ranks"] == 2]
        no_exchange = [one for one in records if one["benchmark"] != "exchange"]
        one_size = [one for one in no_exchange if one["benchmark"] == "wa_tor weak"]
        no_ranks = [one | {"parameters": {}} for one in records[:1]]
        for table, wanted, words in (
                ("guess", records, "there is no table 'ranks/guess'; there are ranks/weak, ranks/strong, ranks/weak-large, ranks/strong-small, ranks/exchange, ranks/"),
                ("weak", without_one, "no result of wa_tor weak, no exchange, no ghosts, on 1 ranks; run `mpirun -n 1 dynasoar-benchmark-ranks"),
                ("exchange", no_exchange, "the table ranks/exchange has no results; run dynasoar-benchmark-ranks without --only"),
                ("model", one_size, "needs recorded runs without exchange, of at least two numbers of places"),
                ("weak", no_ranks, "does not say on how many ranks"),
                ("weak", [records[0] | {"benchmark": "guess"}], "unknown benchmark 'guess'; known are exchange; wa_tor weak; wa_tor strong; wa_tor weak, large")):
            result = self.make_ranks(table, a_ranks=wanted)
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)

    def test_tables_of_ranks_are_left_as_they_are_where_there_are_no_results_of_gpus(self):
        for files in ({}, {"a_ranks": self.rank_records(device="Made-Up CPU")}):
            self.assertEqual(self.make_ranks("weak", **files).returncode, 0)
            self.assertEqual(self.read("docs/scaling.md"), "<!-- results:ranks/weak -->\n<!-- /results:ranks/weak -->\n")

    def test_unknown_table(self):
        self.write("benchmarks/results/a.json", all_records())
        self.write("README.md", README.replace("summary", "guess"))
        self.assert_fails("README.md: there is no table 'guess'", "summary, field_loop")

    def test_markers_without_partner(self):
        self.write("benchmarks/results/a.json", all_records())
        self.write("README.md", README.replace("<!-- /results:summary -->", ""))
        self.assert_fails("README.md", "do not come in pairs")

    def test_no_markers(self):
        self.write("benchmarks/results/a.json", all_records())
        self.write("README.md", "nothing")
        self.write("docs/benchmarks.md", "nothing")
        self.assert_fails("has markers")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
