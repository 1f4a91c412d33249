"""Tables of loops over objects and of calls of their methods, on GPUs, beside hand-written code: docs/benchmarks-loops.md and
docs/benchmarks-polymorphism.md.

device.py shows and checks them. Each function makes a table: `find(benchmark, variant, parameters, metric)` is the record of that name.
"""

from .cells import NO_VALUE, grouped, ratio, rounded, spread, with_unit
from .records import Benchmark, Problem

LOOPS = ["1 float", "3 floats", "7 floats", "8 floats", "1, 4 and 8 bytes", "base class"]
LOADS_FIRST = {"7 floats": ["by hand"], "1, 4 and 8 bytes": ["objects", "by hand"]}  # who has a variant that loads first
FIELD_LOOP = Benchmark(
    variants=[f"{loop} {how}" for loop in LOOPS for how in ("objects", "by hand")]
             + [f"{loop} {how}, loads first" for loop, whose in LOADS_FIRST.items() for how in whose],
    metrics=["useful bandwidth"],
    parameters=[{"objects": 2**27}])


def field_loop(find, _):
    rows = []
    for loop in LOOPS:
        def measured(how, loop=loop):
            return find("field_loop", f"{loop} {how}", FIELD_LOOP.parameters[0], "useful bandwidth")

        by_hand = measured("by hand")
        rows.append([loop, "objects", *spread(measured("objects")), ratio(measured("objects"), by_hand)])
        rows.append([loop, "by hand", *spread(by_hand), NO_VALUE])
        for how in LOADS_FIRST.get(loop, []):
            first = measured(f"{how}, loads first")
            compared = ratio(first if how == "objects" else measured("objects"), measured("by hand, loads first"))
            rows.append([loop, f"{how}, loads first", *spread(first), compared])
    return ["fields", "variant", "median", "min to max", "unit", "objects / by hand"], rows


COMPUTING = ["objects, computing", "by hand, computing"]
SPARSE_LOOP = Benchmark(
    variants=["objects", "by hand", *COMPUTING],
    metrics=["time per object"],
    parameters=[{"percent taken": taken, "slots": 2**26} for taken in (100, 75, 50, 25)])


def share_touched(taken, slots):
    """The share of pieces of so many slots in which there is an object, if a slot has one with probability `taken`."""
    return 1 - (1 - taken) ** slots


def sparse_loop(find, _):
    floats, accesses = 4, 6  # bytes of a field; loads and stores per object
    rows = []
    full = None
    for size in SPARSE_LOOP.parameters:
        objects, by_hand, *computing = (find("sparse_loop", variant, size, "time per object")
                                        for variant in SPARSE_LOOP.variants)
        full = full or objects
        taken = size["percent taken"] / 100
        sectors, pieces, lines = (share_touched(taken, piece // floats) / taken for piece in (32, 64, 128))
        rows.append([f"{size['percent taken']} %", with_unit(objects), f"{rounded(full['median'] * pieces)} {full['unit']}",
                     f"{rounded(accesses * floats * sectors)}", f"{rounded(accesses * floats * lines)}", with_unit(by_hand),
                     ratio(objects, by_hand),
                     *([with_unit(computing[0]), ratio(*computing)] if all(computing) else [NO_VALUE, NO_VALUE])])
    return ["slots taken", "time per object", "predicted", "bytes per object, sectors", "bytes per object, lines", "by hand",
            "objects / by hand", "objects, computing", "computing, objects / by hand"], rows


NEIGHBOURS = {"next": "the next one", "window": "any of the same 1024", "anywhere": "any of all"}
BY_MAKE_NEW = "objects by make_new"  # has the window only
SORTED = f"{BY_MAKE_NEW}, sorted"  # has the window only
SORTED_NEIGHBOURS = [f"window, {SORTED}{first}" for first in ("", ", loads first")]
COMPRESSED = "objects, compressed pointers"
COMPRESSED_NEIGHBOURS = [f"{loop}{first}" for loop in (*(f"{order}, {COMPRESSED}" for order in NEIGHBOURS),
                                                       f"window, {COMPRESSED} by make_new") for first in ("", ", loads first")]
NEIGHBOUR_LOOPS = ["objects", "by hand, 64-bit indices", "by hand, 32-bit indices"]
NEIGHBOUR_LOOP = Benchmark(
    variants=[f"{order}, {how}{first}" for order in NEIGHBOURS for how in NEIGHBOUR_LOOPS for first in ("", ", loads first")]
             + [f"window, {BY_MAKE_NEW}{first}" for first in ("", ", loads first")]
             + SORTED_NEIGHBOURS + COMPRESSED_NEIGHBOURS,
    metrics=["time per object"],
    parameters=[{"objects": 2**25}])


def neighbour_loop(find, _):
    rows = []
    for order, text, created in [*((order, text, NEIGHBOUR_LOOPS[0]) for order, text in NEIGHBOURS.items()),
                                 ("window", f"{NEIGHBOURS['window']}, created by `make_new`", BY_MAKE_NEW),
                                 ("window", f"{NEIGHBOURS['window']}, created by `make_new`, then sorted", SORTED),
                                 *((order, f"{text}, compressed pointers", COMPRESSED) for order, text in NEIGHBOURS.items()),
                                 ("window", f"{NEIGHBOURS['window']}, created by `make_new`, compressed pointers",
                                  f"{COMPRESSED} by make_new")]:
        for first in ("", ", loads first"):
            objects, long, short = (
                find("neighbour_loop", f"{order}, {how}{first}", NEIGHBOUR_LOOP.parameters[0], "time per object")
                for how in (created, *NEIGHBOUR_LOOPS[1:]))
            if objects is None:
                continue
            rows.append([text, first.removeprefix(", ") or "as usual", with_unit(objects), with_unit(long),
                         ratio(objects, long), with_unit(short), ratio(objects, short)])
    return ["neighbour", "code", "objects", "by hand, 64-bit indices", "objects / by hand", "by hand, 32-bit indices",
            "objects / by hand"], rows


STEP_VALUE_LOOPS = ["parallel_do, recorded, with a number of the step", "parallel_do, recorded, with a value that the host sets"]
EMPTY_LOOP = Benchmark(
    variants=["parallel_do", "parallel_do, lists kept", "parallel_do, recorded", "parallel_do, recorded, lists kept",
              *STEP_VALUE_LOOPS],
    metrics=["time per loop"],
    parameters=[{"loops": 1000}])


def empty_loop(find, _):
    found = {variant: find("empty_loop", variant, EMPTY_LOOP.parameters[0], "time per loop") for variant in EMPTY_LOOP.variants}
    rows = [[variant, *spread(record)] for variant, record in found.items() if record is not None]
    return ["measured", "median", "min to max", "unit"], rows


SCALE = Benchmark(
    variants=["create", "objects", "by hand"],
    metrics=["time per object"],
    parameters=[{"objects": digit * 10**power} for power in range(4, 10) for digit in (1, 2, 5)][:-1])


def scale(find, _):
    """Powers of ten and the last size; sizes that did not fit into the GPU's memory are missing."""
    rows = []
    for size in SCALE.parameters:
        try:
            create, objects, by_hand = (find("scale", variant, size, "time per object") for variant in SCALE.variants)
        except Problem:
            if not rows:
                raise
            break
        rows.append([grouped(size["objects"]), with_unit(create), with_unit(objects), with_unit(by_hand),
                     ratio(objects, by_hand)])
    shown = [row for row in rows if row[0].startswith("1") or row is rows[-1]]
    return ["objects", "creation, per object", "loop, per object", "hand-written loop", "objects / by hand"], shown


DISPATCHES = ["call", "parallel_do", "virtual functions", "switch by hand"]
DISPATCH = Benchmark(
    variants=[f"{how}, {order}" for how in DISPATCHES for order in ("sorted", "mixed")],
    metrics=["time per call"],
    parameters=[{"classes": classes, "objects": 2**23} for classes in (1, 2, 4, 8)])


def dispatch(find, _):
    rows = []
    for size in DISPATCH.parameters:
        for order in ("sorted", "mixed"):
            if size["classes"] == 1 and order == "mixed":
                continue
            *others, by_hand = (find("dispatch", f"{how}, {order}", size, "time per call") for how in DISPATCHES)
            rows.append([size["classes"], order if size["classes"] > 1 else NO_VALUE,
                         *(text for other in others for text in (with_unit(other), ratio(other, by_hand))),
                         with_unit(by_hand)])
    return ["classes", "order in the array", *(text for how in DISPATCHES[:-1] for text in (f"`{how}`" if " " not in how else how,
            "/ by hand")), DISPATCHES[-1]], rows


GRAPH = {"edges": 2**21}
# Workloads of the benchmark polymorphism, and their sizes with the steps that are timed.
WORKLOADS = {"traffic": {"intersections": 17500, "steps": 998},
             "game of life": {"width": 1000, "height": 1000, "steps": 298},
             "generation": {"width": 1000, "height": 1000, "steps": 298},
             "structure": {"nodes": 300000, "steps": 18}, "n-body": {"bodies": 20000, "steps": 28},
             "collision": {"bodies": 20000, "steps": 48},
             **{f"{algorithm}, {what}": GRAPH | {"steps": steps}
                for algorithm, steps in (("breadth-first search", 3), ("connected components", 3), ("PageRank", 18))
                for what in ("edges", "edges and nodes")},
             "ray tracer": {"shapes": 503, "width": 1024, "height": 768, "steps": 8}}
WORKLOAD_MEAN = {"geometric mean": {"workloads": len(WORKLOADS)}}
POLYMORPHISM = Benchmark(
    variants=[f"{workload}{how}" for workload in WORKLOADS for how in ("", ", virtual functions", ", objects")] + list(WORKLOAD_MEAN),
    metrics=["time of all steps", "times as fast as virtual functions"],
    parameters=[*WORKLOADS.values(), *WORKLOAD_MEAN.values()])


def polymorphism(find, _):
    time, faster = POLYMORPHISM.metrics
    rows = [[workload, *(with_unit(find("polymorphism", f"{workload}, {how}", size, time)) for how in ("virtual functions", "objects")),
             rounded(find("polymorphism", workload, size, faster)["median"])] for workload, size in WORKLOADS.items()]
    rows += [[mean, NO_VALUE, NO_VALUE, rounded(find("polymorphism", mean, size, faster)["median"])] for mean, size in WORKLOAD_MEAN.items()]
    return ["workload", "virtual functions", "objects", faster], rows


BENCHMARKS = {"field_loop": FIELD_LOOP, "sparse_loop": SPARSE_LOOP, "neighbour_loop": NEIGHBOUR_LOOP, "empty_loop": EMPTY_LOOP,
              "scale": SCALE, "dispatch": DISPATCH, "polymorphism": POLYMORPHISM}
TABLES = {"field_loop": field_loop, "sparse_loop": sparse_loop, "neighbour_loop": neighbour_loop, "empty_loop": empty_loop,
          "scale": scale, "dispatch": dispatch, "polymorphism": polymorphism}
NEW_VARIANTS = {*COMPUTING, *SORTED_NEIGHBOURS, *COMPRESSED_NEIGHBOURS, *STEP_VALUE_LOOPS}  # see device.py
