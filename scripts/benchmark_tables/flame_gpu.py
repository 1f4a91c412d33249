"""The table flame_gpu: our models beside the same models of FLAME GPU 2, in docs/benchmarks-flame-gpu.md.

benchmarks/results/*-flame-gpu-2.json are of FLAME GPU 2's own examples; the benchmark flame_gpu of dynasoar-benchmark
measures our models, whose results device.py reads.
"""

from .applications import STEP_TIME, TIME
from .cells import grouped, markdown, ratio, with_unit, without_repetition
from .records import FLAME_FILES, Benchmark, Problem, origin, repetitions

TABLE = "flame_gpu"
# The examples of FLAME GPU 2, and our variants of each. Of an example of the same size, it may run another number of steps.
FLAME_MODELS = {"life": ["life, a cell at every place", "life, live cells placed"],
                **{model: [model] for model in ("boids", "circles", "Sugarscape")}}
BENCHMARKS = {"flame_gpu": Benchmark(
    variants=[variant for variants in FLAME_MODELS.values() for variant in variants],
    metrics=[TIME, STEP_TIME, "agents at the end"],
    parameters=[*({"width": width, "height": width, "steps": 200} for width in (256, 1024, 4096)),
                *({"agents": agents, "steps": 1000} for agents in (4000, 32000, 16384)),
                {"agents": 131072, "steps": 300}])}


def size_of_model(record):
    """`4 000` or `1024 x 1024`, and the number of steps."""
    numbers = record["parameters"]
    size = f"{numbers['width']} x {numbers['height']}" if "width" in numbers else grouped(numbers["agents"])
    return size, numbers["steps"]


def flame_models(theirs, ours):
    """FLAME GPU 2's examples beside our models of the same size. @param ours   the newest records of the benchmark flame_gpu"""
    rows, used = [], []
    for record in theirs:
        if record["metric"] != STEP_TIME:
            continue
        if record["variant"] not in FLAME_MODELS:
            raise Problem(f"a result of {FLAME_FILES} is of '{record['variant']}'; known are {', '.join(FLAME_MODELS)}")
        size, steps = size_of_model(record)
        for variant in FLAME_MODELS[record["variant"]]:
            model = next((one for one in ours if (one["variant"], one["metric"], size_of_model(one)[0]) == (variant, STEP_TIME, size)), None)
            if model is None:
                raise Problem(f"no result of '{variant}', {size}, on {record['device']}; run scripts/benchmark there")
            own_steps = model["parameters"]["steps"]
            rows.append([variant, size, steps if steps == own_steps else f"{steps}; DynaSOAr: {own_steps}", with_unit(record), with_unit(model),
                         ratio(record, model)])
            used.append(model)
    lines = []
    for library, found in (("FLAME GPU 2", theirs), ("DynaSOAr", used)):
        origins = without_repetition(origin(record) for record in found)
        if len(origins) != 1:
            raise Problem(f"the table {TABLE} needs results of {library} of one run, and these are of several: "
                          + " | ".join(origins))
        lines.append(f"{library}: {origins[0]}, {repetitions({record['repetitions'] for record in found})}")
    return "\n\n".join([markdown(["model", "agents or places", "steps", "FLAME GPU 2", "DynaSOAr", "times as fast"], rows), *lines])


def table(flame_devices, devices):
    """The table for each device. @param devices   what device.py has read"""
    return "\n\n".join(flame_models(theirs, [found[0] for found in devices.get(device, {}).values() if found[0]["benchmark"] == "flame_gpu"])
                       for device, theirs in sorted(flame_devices.items()))
