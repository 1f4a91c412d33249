"""Tables of the applications on GPUs, beside hand-written code and original implementations: docs/benchmarks-applications.md and
the pages in apps. Also small models, and the pictures of models in docs/watch.md.

device.py shows and checks them. Each function makes a table: `find(benchmark, variant, parameters, metric)` is the record of that name.
"""

from .cells import NO_VALUE, ratio, rounded, spread, text_of_size, with_unit
from .records import Benchmark, NotMeasured

# The applications: sizes, and for each variant the milliseconds of the original implementation at each size, measured
# by the project on the same kind of GPU; None where they were not.
ORIGINAL_DEVICE = "NVIDIA H200"
SOA, AOS = "SoA by hand", "AoS by hand"
APPLICATIONS = {
    "wa_tor": {"name": "Wa-Tor",
               "sizes": [{"width": 2048, "height": 2560, "steps": 500}, {"width": 4096, "height": 4096, "steps": 100},
                         {"width": 1024, "height": 1024, "steps": 100}],
               "variants": {"agents as objects": [799, None, 78], "cells and agents as objects": [1053, None, 118],
                            "agents placed on a lattice": [None] * 3, SOA: [376, None, 21], AOS: [1306, None, None]}},
    "n_body": {"name": "n-body",
               "sizes": [{"bodies": 20000, "steps": 300}, {"bodies": 200000, "steps": 3}],
               "variants": {"bodies as objects": [2243, None], SOA: [2324, None], AOS: [3369, None]}},
    "collision": {"name": "collision",
                  "sizes": [{"bodies": 40000, "steps": 200}],
                  "variants": {"bodies as objects": [4145], SOA: [4620], AOS: [6839]}},
    "game_of_life": {"name": "game of life",
                     "sizes": [{"width": 1714, "height": 1647, "steps": 300}],
                     "variants": {"cells placed on a lattice": [None],
                                  "alive cells and candidates as objects": [192], "cells as objects, too": [224],
                                  "a cell placed everywhere": [None],
                                  SOA: [56], AOS: [56], "dense by hand, a byte per cell": [12],
                                  "dense by hand, 64 cells in a word": [12]}},
    "life_soups": {"name": "game of life, soups",
                   "sizes": [{"width": 1000, "height": 1000, "steps": 300}, {"width": 4096, "height": 4096, "steps": 100}],
                   "variants": {variant: [None, None] for variant in (
                       "cells placed on a lattice", "cells as objects, too", "a cell placed everywhere", SOA, AOS, "dense by hand, a byte per cell",
                       "dense by hand, 64 cells in a word")}},
    "generation": {"name": "generation",
                   "sizes": [{"width": 5000, "height": 5000, "steps": 300}],
                   "variants": {"cells placed on a lattice": [None],
                                "alive cells and candidates as objects": [None], "cells as objects, too": [None],
                                SOA: [None], AOS: [None], "dense by hand, two bytes per cell": [None]}},
    "structure": {"name": "structure",
                  "sizes": [{"nodes": 1500000, "steps": 20}],
                  "variants": {"nodes and springs as objects": [670], SOA: [221], AOS: [372],
                               "nodes only by hand, one loop for two": [None]}},
    "sugarscape": {"name": "Sugarscape",
                   "sizes": [{"width": 1700, "height": 1700, "steps": 300}],
                   "variants": {"agents as objects": [469], "cells and agents placed on a lattice": [None],
                                "cells and agents as objects": [807], SOA: [199], AOS: [851]}},
    "traffic": {"name": "traffic",
                "sizes": [{"intersections": 17500, "steps": 1000}],
                "variants": {"cars as objects": [None], "cells and cars placed on a lattice": [None],
                             "cells, streets and cars as objects": [565], SOA: [413], AOS: [543]}},
    "schelling": {"name": "Schelling",
                  "sizes": [{"width": 2048, "height": 2048, "steps": 500}, {"width": 3000, "height": 3000, "steps": 100}],
                  "variants": {variant: [None, None] for variant in (
                      "agents placed on a lattice", SOA, AOS)}},
    "flocking": {"name": "flocking",
                 "sizes": [{"boids": 4000, "steps": 1000}, {"boids": 10**6, "steps": 20}, {"boids": 4 * 10**6, "steps": 10}],
                 "variants": {variant: [None, None, None] for variant in (
                     "boids as objects", "boids as objects, sorted every 10 steps", SOA, AOS)}},
    "epidemic": {"name": "epidemic",
                 "sizes": [{"people": 4000, "steps": 1000}, {"people": 10**6, "steps": 100}],
                 "variants": {variant: [None, None] for variant in ("people as objects", SOA, AOS)}},
    "ants": {"name": "ants",
             "sizes": [{"ants": 4000, "cells": 128**2, "steps": 1000}, {"ants": 10**6, "cells": 2048**2, "steps": 100}],
             "variants": {variant: [None, None] for variant in ("ants and cells as objects", SOA, AOS)}},
    "tumour": {"name": "tumour",
               "sizes": [{"cells": 4000, "steps": 500}, {"cells": 10**6, "steps": 50}],
               "variants": {variant: [None, None] for variant in ("cells as objects", SOA, AOS)}},
    "forest_fire": {"name": "forest fire",
                    "sizes": [{"width": 2048, "height": 2048, "steps": 500}, {"width": 4096, "height": 4096, "steps": 100}],
                    "variants": {variant: [None, None] for variant in (
                        "trees placed on a lattice", SOA, AOS)}}}
TIME, USED, STEP_TIME = "time of all steps", "slots used at the end", "time of a step"
OTHER_METRICS = ["least traffic per time", STEP_TIME] + [
    f"{what} at the end" for what in ("bodies", "alive", "springs", "agents", "cars", "people", "ants", "cells", "trees")]


def original_time(device, benchmark, variant, size):
    """The original's milliseconds, or None where they were not measured."""
    if device != ORIGINAL_DEVICE:
        return None
    application = APPLICATIONS[benchmark]
    return application["variants"][variant][application["sizes"].index(size)]


def is_by_hand(variant):
    return "by hand" in variant


def application(benchmark):
    """The table of an application."""

    def table(find, device):
        rows = []
        for size in APPLICATIONS[benchmark]["sizes"]:
            by_hand = find(benchmark, SOA, size, TIME)
            for variant in APPLICATIONS[benchmark]["variants"]:
                time = find(benchmark, variant, size, TIME)
                if time is None:
                    continue
                used = NO_VALUE if is_by_hand(variant) else with_unit(find(benchmark, variant, size, USED))
                old = original_time(device, benchmark, variant, size)
                compared = [f"{old} ms", rounded(old / time["median"])] if old else [NO_VALUE, NO_VALUE]
                rows.append([text_of_size(size), variant, *spread(time), used, ratio(time, by_hand), *compared])
        return ["size", "variant", "median", "min to max", "unit", "slots used", "time / SoA by hand", "original",
                "original / time"], rows

    return table


def applications(find, device):
    """One row for each variant with objects, at the size that the original was measured at. None of new applications."""
    rows = []
    for benchmark, app in APPLICATIONS.items():
        size = app["sizes"][0]
        try:
            by_hand = find(benchmark, SOA, size, TIME)
        except NotMeasured:
            continue
        for variant in APPLICATIONS[benchmark]["variants"]:
            if is_by_hand(variant):
                continue
            time = find(benchmark, variant, size, TIME)
            if time is None:
                continue
            old = original_time(device, benchmark, variant, size)
            rows.append([f"{app['name']}, {text_of_size(size)}", variant, with_unit(time), with_unit(by_hand),
                         ratio(by_hand, time), rounded(old / time["median"]) if old else NO_VALUE])
    return ["application", "variant", "time", "SoA by hand", "times as fast as SoA by hand", "times as fast as the original"], rows


# Models that are so small that launches bound them, and their variants.
SMALL_MODELS = {"Wa-Tor": ({"width": 300, "height": 200, "steps": 1000},
                           ["agents as objects", "agents placed on a lattice", "cells and agents as objects", SOA]),
                "n-body": ({"bodies": 1000, "steps": 1000}, ["bodies as objects", SOA]),
                "flocking": ({"boids": 4000, "steps": 1000}, ["boids as objects", SOA]),
                **{model: ({"width": 200, "height": 200, "steps": 1000}, [*variants, SOA]) for model, variants in (
                    ("Sugarscape", ["agents as objects", "cells and agents placed on a lattice"]),
                    ("Schelling", ["agents placed on a lattice"]),
                    ("forest fire", ["trees placed on a lattice"]))}}


def small_models(find, _):
    rows = []
    for model, (size, variants) in SMALL_MODELS.items():
        by_hand = find("small_models", f"{model}, {SOA}", size, STEP_TIME)
        for variant in variants:
            time = find("small_models", f"{model}, {variant}", size, STEP_TIME)
            rows.append([f"{model}, {text_of_size(size)}", variant, *spread(time),
                         NO_VALUE if variant == SOA else ratio(time, by_hand)])
    return ["model", "variant", "median", "min to max", "unit", "time / SoA by hand"], rows


PICTURE = Benchmark(
    variants=["Wa-Tor, agents as objects", "Wa-Tor, cells and agents as objects", "Sugarscape, agents as objects", "a million boids"],
    metrics=["made on the device", "made and copied to the host"],
    parameters=[{"width": 2048, "height": 2048}])


def picture(find, _):
    size = PICTURE.parameters[0]
    rows = []
    for variant in PICTURE.variants:
        made, copied = (find("picture", variant, size, metric) for metric in PICTURE.metrics)
        rows.append([variant, *spread(made), with_unit(copied)])
    return ["picture of 2048 x 2048 pixels", "made on the device", "min to max", "unit", "and copied to the host"], rows


BENCHMARKS = {
    **{benchmark: Benchmark(list(app["variants"]), [TIME, USED, *OTHER_METRICS], app["sizes"]) for benchmark, app in APPLICATIONS.items()},
    "small_models": Benchmark([f"{model}, {variant}" for model, (_, variants) in SMALL_MODELS.items() for variant in variants],
                              [TIME, USED, STEP_TIME], [size for size, _ in SMALL_MODELS.values()]),
    "picture": PICTURE}
TABLES = {"applications": applications, **{benchmark: application(benchmark) for benchmark in APPLICATIONS},
          "small_models": small_models, "picture": picture}
# See device.py.
NEW_VARIANTS = {"a cell placed everywhere", "agents placed on a lattice", "boids as objects, sorted every 10 steps",
                "cells and agents placed on a lattice",
                "cells and cars placed on a lattice", "cells placed on a lattice", "trees placed on a lattice"}
OLD_VARIANTS = {"alive cells and candidates as objects"}
