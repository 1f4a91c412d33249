"""Tables of the heap on GPUs: creation and deletion, compaction, sorting, growth, checkpoints and collective allocations.
They are in docs/benchmarks-heap.md, docs/checkpoints.md and docs/how-to/collective-allocations.md.

device.py shows and checks them. Each function makes a table: `find(benchmark, variant, parameters, metric)` is the record of that name.
"""

from .cells import NO_VALUE, grouped, ratio, rounded, spread, with_unit
from .records import Benchmark, NotMeasured, Problem

ALLOCATION = Benchmark(
    variants=["create", "delete", "delete in random order", "parallel_new, all fields written", "the same bytes by hand", "block use"],
    metrics=["rate", "slots used"],
    parameters=[{"bytes": 32, "objects": 2**20}, {"bytes": 32, "objects": 2**25}])


def allocation(find, _):
    rows = []
    for size in ALLOCATION.parameters:
        for variant in ALLOCATION.variants:
            metric = "slots used" if variant == "block use" else "rate"
            rows.append([grouped(size["objects"]), variant, *spread(find("allocation", variant, size, metric))])
    return ["objects", "measured", "median", "min to max", "unit"], rows


MIXED_ALLOCATION = Benchmark(
    variants=["class by index", "class at random"],
    metrics=["rate of creation", "rate of deletion", "slots used"],
    parameters=[{"classes": classes, "objects": 2**24} for classes in (1, 2, 4)])


def mixed_allocation(find, _):
    rows = []
    for size in MIXED_ALLOCATION.parameters:
        for variant in MIXED_ALLOCATION.variants:
            if size["classes"] == 1 and variant == "class at random":
                continue
            rows.append([size["classes"], variant if size["classes"] > 1 else NO_VALUE,
                         *(with_unit(find("mixed_allocation", variant, size, metric))
                           for metric in MIXED_ALLOCATION.metrics)])
    return ["classes", "class of a lane", "creation", "deletion", "slots used"], rows


SHAPES = ["created in a kernel, deleted in the next", "created, then deleted", "created and deleted at once",
          "two created, one deleted", "four classes in a warp", "20 of 32 lanes", "unequal numbers", "by chance"]
SHAPE_SIZES = [(16384, 64), (16384, 512), (65536, 64), (262144, 16), (65536, 1), (1024, 1)]  # threads, objects of each
OWN_KERNEL_SIZE = {"objects per thread": 64, "threads": 16384}
SHAPE_PARAMETERS = ([{"objects per thread": each, "threads": threads} for threads, each in SHAPE_SIZES]
                    + [OWN_KERNEL_SIZE | {"threads of a block": threads} for threads in (64, 256, 1024)])
SHAPE_HEAPS = {"one class": {"classes": 1, "bytes": 64}, "one class of 128 bytes": {"classes": 1, "bytes": 128},
               "two classes": {"classes": 2, "bytes": 64}, "five classes": {"classes": 5, "bytes": 64}}
REQUEST_SHAPES = Benchmark(
    variants=SHAPES + [f"own kernel: {shape}" for shape in SHAPES[1:3]],
    metrics=["creation and deletion"],
    parameters=[size | heap for heap in SHAPE_HEAPS.values() for size in SHAPE_PARAMETERS])


def request_shapes(find, _):
    """A row for each shape and size, a column for each heap; not each shape has each size, nor each heap."""
    rows = []
    for variant in REQUEST_SHAPES.variants:
        for size in SHAPE_PARAMETERS:
            times = []
            for heap in SHAPE_HEAPS.values():
                try:
                    times.append(with_unit(find("request_shapes", variant, size | heap, "creation and deletion")))
                except NotMeasured:
                    raise
                except Problem:
                    times.append(NO_VALUE)
            if times != [NO_VALUE] * len(SHAPE_HEAPS):
                rows.append([variant, grouped(size["threads"]), size["objects per thread"],
                             size.get("threads of a block", NO_VALUE), *times])
    return ["requests", "threads", "objects per thread", "threads of a thread block", *SHAPE_HEAPS], rows


ROUNDS = {"1 % die, as many are born": 2**22, "25 % die, as many are born": 2**22, "x 4, then / 4": 2**20}  # objects before it
WAVES = Benchmark(
    variants=list(ROUNDS),
    metrics=["time of a round", "objects at the end", "slots used at the end"],
    parameters=[{"objects": objects, "rounds": 16} for objects in (2**20, 2**22)])


def waves(find, _):
    rows = []
    for variant, objects in ROUNDS.items():
        size = {"objects": objects, "rounds": 16}
        time, used = (find("waves", variant, size, metric) for metric in ("time of a round", "slots used at the end"))
        changed = 2 * objects * (3 if variant.startswith("x") else int(variant.split()[0]) / 100)
        rows.append([variant, grouped(objects), *spread(time), f"{rounded(time['median'] * 1e6 / changed)} ps",
                     with_unit(used)])
    return ["round", "objects before it", "median", "min to max", "unit", "time per birth or death",
            "slots used at the end"], rows


FULL_HEAP = Benchmark(
    variants=["make_new"],
    metrics=["median", "99.9 % of calls", "longest call", "refused"],
    parameters=[{"per thousand taken": taken, "slots": 2**25} for taken in (500, 900, 990, 999, 1000)])


def full_heap(find, _):
    rows = []
    for size in FULL_HEAP.parameters:
        median, most, longest, refused = (find("full_heap", "make_new", size, metric) for metric in FULL_HEAP.metrics)
        rows.append([f"{size['per thousand taken'] / 10:g} %", with_unit(median), with_unit(most), with_unit(longest),
                     f"{longest['maximum']:.0f} us", f"{refused['median']:.0f}"])
    return ["slots taken", "median call", "99.9 % of calls take at most", "longest call of a run, median of the runs",
            "longest call of all runs", "calls refused"], rows


COMPACTION = Benchmark(
    variants=["no pointers", "a pointer to each object"],
    metrics=["compaction", "compaction with nothing to do", "loop before", "loop after", "fragmentation before",
             "fragmentation after"],
    parameters=[{"bytes": 32, "objects": 65600000}])


def compaction(find, _):
    size = COMPACTION.parameters[0]
    rows = [[variant, metric, *spread(find("compaction", variant, size, metric))]
            for variant in COMPACTION.variants for metric in COMPACTION.metrics]
    return ["pointers to the objects", "measured", "median", "min to max", "unit"], rows


WA_TOR_COMPACTION = Benchmark(
    variants=[f"{ocean}{how}" for ocean in ("agents as objects", "cells and agents as objects")
              for how in ("", ", above 30 %", ", above 5 %")],
    metrics=["time of all steps", "slots used at the end"],
    parameters=[{"width": 2048, "height": 2560, "steps": 500}])


def wa_tor_compaction(find, _):
    rows = []
    size = WA_TOR_COMPACTION.parameters[0]
    for variant in WA_TOR_COMPACTION.variants:
        time, used = (find("wa_tor_compaction", variant, size, metric) for metric in WA_TOR_COMPACTION.metrics)
        rows.append([variant, *spread(time), with_unit(used)])
    return ["variant, compacted above", "median", "min to max", "unit", "slots used"], rows


SORT_KEYS = ["random keys", "keys in order but for 64 places"]
SORT = Benchmark(
    variants=[*SORT_KEYS, "by hand"],
    metrics=["sort", "sort with nothing to do", "radix sort of the keys", "copy of the objects", "sort in a recorded step"],
    parameters=[{"bytes": 32, "objects": 2**25}])


def sort(find, _):
    size = SORT.parameters[0]
    copy = find("sort", "by hand", size, "copy of the objects")
    rows = []
    for keys in SORT_KEYS:
        time, idle, radix = (find("sort", keys, size, metric) for metric in SORT.metrics[:3])
        rows.append([keys, with_unit(time), with_unit(idle), with_unit(radix), with_unit(copy),
                     rounded(time["median"] / (radix["median"] + copy["median"]))])
    return ["keys", "sort", "sort with nothing to do", "CUB's radix sort of the keys", "copy of the objects",
            "sort / (radix sort + copy)"], rows


BECOME = Benchmark(
    variants=["all objects", "1 % of the objects"],
    metrics=["become", "create, copy, destroy", "become of the handle, with pointers"],
    parameters=[{"bytes": 36, "objects": 2**24}])


def become(find, _):
    rows = []
    for who in BECOME.variants:
        device, by_hand, host = (find("become", who, BECOME.parameters[0], metric) for metric in BECOME.metrics)
        rows.append([who, with_unit(device), with_unit(by_hand), ratio(device, by_hand), with_unit(host)])
    return ["which", "`become`", "create, copy, destroy", "`become` / create, copy, destroy", "`handle.become`, with all pointers"], rows


CLASS_SIZES = ["4 and 400", "4 and 512", "16 and 28", "16 and 36", "9 and 100"]  # bytes of two classes
GEOMETRY_VARIANTS = ["small objects", "large objects", "the paper's blocks, large objects"]
GEOMETRY = Benchmark(
    variants=[f"{sizes} bytes, {what}" for sizes in CLASS_SIZES for what in GEOMETRY_VARIANTS],
    metrics=["heap that objects can fill", "useful bandwidth of a loop"],
    parameters=[{"MiB": 2048}])


def geometry(find, _):
    share, speed = GEOMETRY.metrics
    size = GEOMETRY.parameters[0]
    rows = []
    for sizes in CLASS_SIZES:
        small, large, papers = (f"{sizes} bytes, {what}" for what in GEOMETRY_VARIANTS)
        fits = int(sizes.split()[-1]) <= 64 * int(sizes.split()[0])
        loop = find("geometry", large, size, speed)
        rows.append([sizes, *(with_unit(find("geometry", objects, size, share)) for objects in (small, large)),
                     with_unit(find("geometry", papers, size, share)) if fits else "does not fit",
                     with_unit(loop), with_unit(find("geometry", papers, size, speed)) if fits else NO_VALUE])
    return ["bytes of the classes", "heap used, small objects", "heap used, large objects", "heap used, large objects, paper's blocks",
            "loop over large objects", "loop over large objects, paper's blocks"], rows


GROWING_LOOPS = [f"{how}, heap of 1 GiB{can_grow}" for how in ("parallel_do", "parallel_do and synchronize", "parallel_do, recorded")
                 for can_grow in ("", " that can grow")]
GROWTH = Benchmark(
    variants=GROWING_LOOPS + ["create, heap with room", "create, heap grows", "reserve"],
    metrics=["time per loop", "rate"],
    parameters=[{"loops": 1000}, {"objects": 2**25}, *({"GiB": size} for size in (1, 8, 32))])


def growth(find, __):
    loops, objects, *_ = GROWTH.parameters
    rows = [[variant, *spread(find("growth", variant, loops, "time per loop"))] for variant in GROWING_LOOPS]
    rows += [[f"{variant}, 2^25 objects of 32 bytes", *spread(find("growth", variant, objects, "rate"))]
             for variant in ("create, heap with room", "create, heap grows")]
    return ["measured", "median", "min to max", "unit"], rows


CHECKPOINT = Benchmark(
    variants=["write and fsync by hand", "read by hand", "copy to the host by hand", "checksum by one thread",
              "save", "load", "save, compression level 1", "load, compression level 1"],
    metrics=["rate"],
    parameters=[{"objects": 2**26}])


def checkpoint(find, _):
    size = CHECKPOINT.parameters[0]
    rows = [[variant, *spread(find("checkpoint", variant, size, "rate"))] for variant in CHECKPOINT.variants]
    return ["measured", "median", "min to max", "unit"], rows


# The workloads of dynasoar-coalesce, of which scripts/time-collective stores the times.
TOOLKIT_MALLOC = "malloc of the toolkit"
COLLECTIVE_MALLOCS = ["HeaderBlockMalloc", "BlockMalloc", "WarpMalloc"]
COLLECTIVE_SIZES = {**{kernel: [{"floats": floats, "threads": 1024} for floats in (100, 200, 400)] for kernel in ("linear", "quadratic")},
                    "all_to_all": [{"floats": 1, "threads": threads} for threads in (32, 64, 128, 256, 512, 1024)],
                    "with_log": [{"floats": 100, "threads": 1024}]}
COLLECTIVE_TIME = "time of a kernel"
COLLECTIVE_ALLOCATIONS = Benchmark(
    variants=[f"{kernel}, {malloc}" for kernel in COLLECTIVE_SIZES for malloc in (TOOLKIT_MALLOC, *COLLECTIVE_MALLOCS)],
    metrics=[COLLECTIVE_TIME],
    parameters=[size for sizes in COLLECTIVE_SIZES.values() for size in sizes])


def collective_allocations(find, _):
    rows = []
    for kernel, sizes in COLLECTIVE_SIZES.items():
        for size in sizes:
            by_toolkit, *collective = (find("collective_allocations", f"{kernel}, {malloc}", size, COLLECTIVE_TIME)
                                       for malloc in (TOOLKIT_MALLOC, *COLLECTIVE_MALLOCS))
            rows.append([f"`{kernel}`", f"{size['threads']}", f"{size['floats']}", with_unit(by_toolkit),
                         *(f"{with_unit(record)}; {ratio(by_toolkit, record)}" for record in collective)])
    return ["kernel", "threads of a block", "floats", TOOLKIT_MALLOC, *(f"`{malloc}`" for malloc in COLLECTIVE_MALLOCS)], rows


BENCHMARKS = {"allocation": ALLOCATION, "mixed_allocation": MIXED_ALLOCATION, "request_shapes": REQUEST_SHAPES, "waves": WAVES,
              "full_heap": FULL_HEAP, "compaction": COMPACTION, "wa_tor_compaction": WA_TOR_COMPACTION, "sort": SORT, "become": BECOME,
              "geometry": GEOMETRY, "growth": GROWTH, "checkpoint": CHECKPOINT, "collective_allocations": COLLECTIVE_ALLOCATIONS}
TABLES = {"allocation": allocation, "mixed_allocation": mixed_allocation, "request_shapes": request_shapes, "waves": waves,
          "full_heap": full_heap, "compaction": compaction, "wa_tor_compaction": wa_tor_compaction, "sort": sort, "become": become,
          "geometry": geometry, "growth": growth, "checkpoint": checkpoint, "collective_allocations": collective_allocations}
