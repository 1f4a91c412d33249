"""The tables ranks/NAME: one model on several GPUs, results of dynasoar-benchmark-ranks. ranks/model and ranks/expected are a model that
is fitted to them.

The results of one kind of GPU may be in several files, say one for each number of ranks. scripts/make-tables writes the
tables to docs/scaling.md and docs/scaling-estimates.md.
"""

from .cells import NO_VALUE, markdown, ratio, rounded, spread, with_unit, without_repetition
from .records import RANK_FILES, Problem, check_table, gpu_records, name_of, origin, repetitions, result_files

PREFIX = "ranks/"
NO_EXCHANGE = "no exchange, no ghosts"  # what the transports of ghosts are compared with
TRANSPORTS = ["peer", "nccl", "staged"]
RECORDED = ", recorded"
OCEANS_ON_RANKS = ["wa_tor weak", "wa_tor strong"]
OTHER_OCEANS_ON_RANKS = ["wa_tor weak, large", "wa_tor strong, small"]  # the model is not fitted to them


def read(root):
    """Device -> (benchmark, variant, ranks, bytes per neighbour or None) -> record, of GPUs. Of one device, all are of one run."""
    devices = {}
    known = ["exchange", *OCEANS_ON_RANKS, *OTHER_OCEANS_ON_RANKS]
    for path, record in gpu_records(result_files(root, RANK_FILES)):
        if record["benchmark"] not in known:
            raise Problem(f"{path}: unknown benchmark '{record['benchmark']}'; known are {'; '.join(known)}")
        if "ranks" not in record["parameters"]:
            raise Problem(f"{path}: {record['benchmark']} does not say on how many ranks; run dynasoar-benchmark-ranks again")
        records = devices.setdefault(record["device"], {})
        parameters = record["parameters"]
        key = record["benchmark"], record["variant"], parameters["ranks"], parameters.get("bytes_per_neighbour")
        if key in records:
            raise Problem(f"{path}: there are two results of {name_of(*key[:2], parameters, record['metric'])} on "
                          f"{record['device']}; remove one")
        records[key] = record
        first = next(iter(records.values()))
        if origin(first) != origin(record):
            raise Problem(f"{path}: the tables {PREFIX} need results of one commit and day, and those of {record['device']} "
                          f"are of several: {origin(first)} | {origin(record)}")
    return devices


def rank_record(records, benchmark, variant, ranks):
    key = benchmark, variant, ranks, None
    if key not in records:
        raise Problem(f"no result of {benchmark}, {variant}, on {ranks} ranks; run `mpirun -n {ranks} dynasoar-benchmark-ranks "
                      f"--only wa_tor` with --json benchmarks/results/NAME{RANK_FILES.removeprefix('*')}")
    return records[key]


def without_exchange(records, record, ranks):
    """The run without exchanges and ghosts with which to compare a run: recorded or not, as that is."""
    how = RECORDED if record["variant"].endswith(RECORDED) else ""
    return rank_record(records, record["benchmark"], NO_EXCHANGE + how, ranks)


def exchange_cost(records, record):
    """Milliseconds of a step that exchanges and ghosts take."""
    return record["median"] - without_exchange(records, record, record["parameters"]["ranks"])["median"]


def places_per_rank(record):
    """Of a rank, without ghosts."""
    parameters = record["parameters"]
    return parameters["width"] * parameters["height"] / parameters["ranks"]


def microseconds(milliseconds):
    return f"{rounded(milliseconds * 1000)} us"


def ocean_on_ranks(benchmark, compared):
    """A table of an ocean. @param compared   what the time of one rank without exchange by that of a row is"""

    def table(records):
        mine = [record for record in records.values() if record["benchmark"] == benchmark]
        rows = []
        for variant in without_repetition(record["variant"] for record in mine):
            for record in sorted((one for one in mine if one["variant"] == variant), key=lambda one: one["parameters"]["ranks"]):
                cost = NO_VALUE if variant.startswith(NO_EXCHANGE) else microseconds(exchange_cost(records, record))
                rows.append([variant, record["parameters"]["ranks"], *spread(record), cost,
                             ratio(without_exchange(records, record, 1), record)])
        return ["exchange", "ranks", "time of a step", "min to max", "unit", "exchange and ghosts", compared], rows

    return table


def bytes_text(size):
    """`64 B`, `4 KiB`, `64 MiB`."""
    power = 2 if size % 2**20 == 0 else 1 if size % 2**10 == 0 else 0
    return f"{size >> 10 * power} {('B', 'KiB', 'MiB')[power]}"


def rank_exchanges(records):
    """A row for each number of ranks and size, a column for each transport."""
    mine = {key[1:]: record for key, record in records.items() if key[0] == "exchange"}
    variants = without_repetition(variant for variant, _, _ in mine)
    rows = []
    for ranks, size in sorted({key[1:] for key in mine}):
        found = [mine.get((variant, ranks, size)) for variant in variants]
        rows.append([ranks, bytes_text(size), *(with_unit(record) if record else NO_VALUE for record in found)])
    return ["ranks", "bytes for each neighbour", *variants], rows


def line_through(points):
    """Intercept and slope of the line with the least sum of squared relative errors."""
    if len({x for x, _ in points}) < 2:
        raise Problem(f"the table {PREFIX}model needs recorded runs without exchange, of at least two numbers of places for each rank")
    weights = [1 / y**2 for _, y in points]
    x_mean, y_mean = (sum(weight * point[i] for weight, point in zip(weights, points)) / sum(weights) for i in (0, 1))
    slope = (sum(weight * (x - x_mean) * (y - y_mean) for weight, (x, y) in zip(weights, points))
             / sum(weight * (x - x_mean) ** 2 for weight, (x, _) in zip(weights, points)))
    return y_mean - slope * x_mean, slope


class RankModel:
    """Milliseconds of a step = fixed + per_place * places of a rank + what exchanges and ghosts take on most ranks."""

    def __init__(self, records):
        self.records = records
        bounds = [record for record in records.values()
                  if record["benchmark"] in OCEANS_ON_RANKS and record["variant"] == NO_EXCHANGE + RECORDED]
        self.fixed, self.per_place = line_through([(places_per_rank(record), record["median"]) for record in bounds])
        self.error = max(abs(self.loops(places_per_rank(record)) / record["median"] - 1) for record in bounds)
        self.ranks = max(key[2] for key in records if key[0] in OCEANS_ON_RANKS)

    def loops(self, places):
        return self.fixed + self.per_place * places

    def measured(self, benchmark, transport):
        """The record on most ranks, or None."""
        return self.records.get((benchmark, transport + RECORDED, self.ranks, None))


def rank_model(records):
    model = RankModel(records)
    rows = [["loops, for each place of a rank", f"{rounded(model.per_place * 1e9)} ps"],
            ["loops, for each step", microseconds(model.fixed)],
            ["largest error of these two for a run without exchange", f"{rounded(model.error * 100)} %"]]
    for benchmark in OCEANS_ON_RANKS:
        for transport in TRANSPORTS:
            record = model.measured(benchmark, transport)
            if record:
                rows.append([f"exchange and ghosts, {record['parameters']['width']} places wide, {transport}, on {model.ranks} ranks",
                             microseconds(exchange_cost(records, record))])
    return ["part of a recorded step", "time"], rows


EXPECTED_RANKS = [4, 8, 64]
GPUS_OF_A_HOST = 8  # at most: more need a transport that reaches other hosts
TRANSPORTS_BETWEEN_HOSTS = ["nccl"]
WANTED_EFFICIENCY = 0.9


def rank_expectations(records):
    """What the model says of more ranks than were measured."""
    model = RankModel(records)
    rows = []
    for benchmark in OCEANS_ON_RANKS:
        one = rank_record(records, benchmark, NO_EXCHANGE + RECORDED, 1)
        for transport in TRANSPORTS:
            record = model.measured(benchmark, transport)
            for ranks in EXPECTED_RANKS:
                if not record or ranks <= model.ranks or (ranks > GPUS_OF_A_HOST and transport not in TRANSPORTS_BETWEEN_HOSTS):
                    continue
                weak = benchmark == OCEANS_ON_RANKS[0]
                loops = model.loops(places_per_rank(one) / (1 if weak else ranks))
                step = loops + exchange_cost(records, record)
                ideal = one["median"] / (1 if weak else ranks)
                spare = ideal / WANTED_EFFICIENCY - loops
                rows.append([benchmark.split()[1], transport, ranks, f"{rounded(step)} ms", rounded(ideal / step * ranks),
                             rounded(ideal / step), microseconds(spare) if spare > 0 else NO_VALUE])
    return ["ocean", "transport", "GPUs", "expected time of a step", "expected speedup", "expected efficiency",
            f"exchange and ghosts may take, for {WANTED_EFFICIENCY}"], rows


TABLES = {"weak": ocean_on_ranks(OCEANS_ON_RANKS[0], "efficiency"),
          "strong": ocean_on_ranks(OCEANS_ON_RANKS[1], "speedup"),
          "weak-large": ocean_on_ranks(OTHER_OCEANS_ON_RANKS[0], "efficiency"),
          "strong-small": ocean_on_ranks(OTHER_OCEANS_ON_RANKS[1], "speedup"),
          "exchange": rank_exchanges, "model": rank_model, "expected": rank_expectations}


def table(name, devices):
    """A table of TABLES for each device."""
    check_table(PREFIX, name, TABLES)
    parts = []
    for _, records in sorted(devices.items()):
        used = [record for record in records.values() if (record["benchmark"] == "exchange") == (name == "exchange")]
        if not used:
            raise Problem(f"the table {PREFIX}{name} has no results; run dynasoar-benchmark-ranks without --only")
        parts.append(f"{markdown(*TABLES[name](records))}\n\n{origin(used[0])}, "
                     f"{repetitions({record['repetitions'] for record in used})}")
    return "\n\n".join(parts)
