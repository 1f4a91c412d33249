#!/usr/bin/env python3
"""Plants small faults in the sources, one at a time, and reports those that no test notices.

The tracked files are copied, and each fault is written into the copy behind a switch (see fault.h), so one build has all of
them. Each test runs once without a fault to record which places it reaches; then each fault is tried with the tests that
reach it. Faults are chosen by the seed; those that do not compile are replaced. survivors.json lists faults that no test
can notice, with the reason. The hand-written faults of named_faults.py are planted as well. Exits with 1 if one of these, or
more than 5 % of the others, survive without being listed there, and with 3 if some tests were not tried because the time was
over or a signal came.

  tests/faults/plant.py                       250 faults, all tests but the slowest kinds
  tests/faults/plant.py --tests '^dsl' --only '^dsl/'   the DSL's tests, faults in its sources
  tests/faults/plant.py --faults 0 --tests '^dsl'       the DSL's tests, hand-written faults only
  tests/faults/plant.py --minutes 8           stops by itself; the same with --continue goes on
  tests/faults/plant.py --list                shows the faults and builds nothing
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import signal
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import planted_tree  # noqa: E402
import schedule  # noqa: E402
import test_runs  # noqa: E402

ROOT = HERE.parents[1]
GOAL = 0.95
EXIT_UNFINISHED = 3
STOP_SECONDS = 10  # of the time that is allowed, for the end
# Tests of what compilers say, of other allocators, of the protocol by itself, and those that need a screen or an hour.
NOT_RUN = r"^(install|compile_fail|vectorization|malloc|model_checking|soak|faults|docs/links|apps/view|fuzz/block_heap|" \
          r"heap/(disturbed|lockstep|thread_warp)|dsl/huge_heap)"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--faults", type=int, default=250, help="how many are chosen; default: 250")
    parser.add_argument("--seed", type=int, default=1, help="chooses the faults; default: 1")
    parser.add_argument("--only", default="", metavar="REGEX", help="plant in files whose path matches")
    parser.add_argument("--tests", default="", metavar="REGEX", help="run tests whose name matches")
    parser.add_argument("--fault", type=int, action="append", metavar="NUMBER", help="try only this one; may be repeated")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "faults", help="default: build/faults")
    parser.add_argument("--optimize", default="-O1", help="of the build; default: -O1")
    parser.add_argument("--cmake", action="append", default=[], metavar="ARGUMENT", help="another argument for CMake")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="default: one for each core")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="default: FOLDER/faults.json")
    parser.add_argument("--continue", dest="goes_on", action="store_true",
                        help="go on with what the last call with the same options began: a build, tests, faults")
    parser.add_argument("--minutes", type=float, help="stop after that time, with what was found until then")
    parser.add_argument("--list", action="store_true", help="show the faults and build nothing")
    options = parser.parse_args()
    if options.faults < 0 or options.jobs < 1:
        parser.error("--faults takes a number from 0, and --jobs one from 1")
    if options.minutes is not None and not 0 < options.minutes < 1e6:
        parser.error("--minutes takes a number greater than 0")
    options.end = time.monotonic() + 60 * options.minutes - STOP_SECONDS if options.minutes else None
    options.folder = options.folder.resolve()
    return options


class Progress:
    """What was found out, in a file: machines are lent for minutes."""

    def __init__(self, options, faults):
        options.folder.mkdir(parents=True, exist_ok=True)
        self.path = options.folder / "progress.json"
        self.lock = threading.Lock()
        chosen = hashlib.sha256("\n".join(fault.identity() for fault in faults).encode()).hexdigest()
        self.state = {"of": [options.tests, options.optimize, chosen]}
        if options.goes_on and self.path.exists():
            state = json.loads(self.path.read_text())
            # What does not compile is known by more than a number, and is the same among other faults.
            self.state = state if state["of"] == self.state["of"] else {**self.state, "dropped": state.get("dropped", {})}

    def of(self, name):
        """A dictionary to be kept; it is written when anything is kept in one."""
        return Kept(self, self.state.setdefault(name, {}))

    def write(self):
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.state))
        part.replace(self.path)


class Kept:
    def __init__(self, progress, values):
        self.progress, self.values = progress, values

    def get(self, key):
        return self.values.get(str(key))

    def keep(self, key, value):
        with self.progress.lock:
            self.values[str(key)] = value
            self.progress.write()
        return value


def build(options):
    files = planted_tree.tracked_files(ROOT)
    found = planted_tree.candidates(ROOT, files, options.only)
    chosen = planted_tree.choose(found, round(options.faults * planted_tree.SPARE), options.seed,
                                 planted_tree.named(ROOT, options.only))
    if not chosen:
        sys.exit("plant.py: no place for a fault; --only takes a regular expression that matches paths such as 'dsl/src/'")
    if options.list:
        for fault in chosen:
            print(f"{fault.number:4} {fault}")
        sys.exit(0)
    progress = Progress(options, chosen)
    tree = planted_tree.PlantedTree(ROOT, options.folder, chosen, progress.of("dropped"), options.end)
    tree.write(files)
    tree.configure(options.cmake, options.optimize)
    programs = tree.programs_of(wanted(options))
    print(f"{len(chosen)} faults planted; building {len(programs)} programs", flush=True)
    tree.compile(programs, options.jobs)
    return tree, progress


def wanted(options):
    return lambda name: re.search(options.tests, name) and not re.search(NOT_RUN, name)


def most_that_count(faults, number):
    """The first `number` faults and those among them of which only a run shows whether they count; see counted()."""
    chosen, certain = [], 0
    for fault in faults:
        if certain == number:
            break
        chosen.append(fault)
        certain += not fault.place.compiled
    return chosen


def counted(runs, number):
    """The faults that count: what only the compiler evaluates is the same in all processes of a build."""
    reached = set().union(*(test.reached for test in runs.recorded))
    return [fault for fault in runs.faults.values() if fault.number in reached or not fault.place.compiled][:number]


def argument_for(fault, arguments):
    for entry in arguments:
        if (entry["file"], entry["operator"], entry["code"]) == (fault.file, fault.place.operator, fault.code):
            if entry.get("original", fault.original) == fault.original:
                return entry["why"]
    return None


def row_of(fault, runs, arguments):
    found = runs.state(fault.number)["found"]
    reached = sorted(test.name for test in runs.recorded if fault.number in test.reached)
    row = dict(number=fault.number, group=fault.group, file=fault.file, line=fault.line, operator=fault.place.operator,
               original=fault.original, faulty=fault.faulty, code=fault.code, reached_by=reached, found=found)
    if found is None:
        row.update(why=argument_for(fault, arguments), untried=runs.untried(fault.number))
    return row


def survives(row):
    return row["found"] is None and row["why"] is None


def is_named(fault):
    return fault.group == planted_tree.NAMED


def write_results(options, runs, rows):
    results = dict(seed=options.seed, recorded={test.name: test.seconds for test in runs.recorded}, not_used=runs.left_out,
                   faults=rows)
    path = options.json or options.folder / "faults.json"
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(results, indent=1) + "\n")
    part.replace(path)


def summarize(rows, runs, tree, seconds):
    for name, reason in sorted(runs.left_out.items()):
        print(f"not used: {name} {reason}")
    for row in filter(survives, rows):
        untried = f"; not tried: {', '.join(row['untried'])}" if row["untried"] else ""
        print(f"SURVIVES {row['number']}: {runs.faults[row['number']]}"
              f"{untried if row['reached_by'] else '; no test comes there'}")
    found = sum(row["found"] is not None for row in rows)
    survive = sum(map(survives, rows))
    for group in [*planted_tree.GROUPS, planted_tree.NAMED]:
        mine = [row for row in rows if row["group"] == group]
        if mine:
            print(f"{group:10} {sum(row['found'] is not None for row in mine):4} of {len(mine):4} found")
    print(f"{len(rows)} faults: {found} found ({100 * found / max(1, len(rows)):.1f} %), {len(rows) - found - survive} that no "
          f"test can notice, {survive} survive; {len(tree.dropped)} did not compile; {seconds:.0f} s")
    for fault in filter(is_named, tree.dropped):
        print(f"DOES NOT COMPILE: {fault}")
    others = [survives(row) for row in rows if row["group"] != planted_tree.NAMED]
    return survive == sum(others) <= (1 - GOAL) * len(others) and not any(map(is_named, tree.dropped))


def try_faults(options, tree, tests, left_out, progress):
    """@return the rows of the result, and the schedule that tried them"""
    faults = [fault for fault in tree.faults if not options.fault or fault.number in options.fault]
    number = options.faults + sum(map(is_named, faults))
    faults = most_that_count(faults, number)
    arguments = json.loads((HERE / "survivors.json").read_text())
    lock = threading.Lock()

    def rows():
        return [row_of(fault, runs, arguments) for fault in counted(runs, number)]

    def write():
        with lock:
            write_results(options, runs, rows())

    runs = schedule.Schedule(faults, progress.of("tests"), progress.of("tried"), options.end, write)
    runs.left_out.update(left_out)
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: runs.stop())
    runs.run(tests, options.jobs)
    write()
    return rows(), runs


def main():
    options = parse_arguments()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which background jobs of shells ignore
    begin = time.monotonic()
    try:
        tree, progress = build(options)
    except planted_tree.TimeIsOver:
        print("the time was over before all was built; go on with --continue")
        return EXIT_UNFINISHED
    tests, left_out = test_runs.tests_of(tree.build, wanted(options), tree.made())
    unbuilt = [name for name, reason in left_out.items() if reason == test_runs.NOT_BUILT]
    if unbuilt:
        sys.exit(f"plant.py: programs of these tests were not built, so no fault could be found in them: {', '.join(unbuilt)}")
    print(f"built in {time.monotonic() - begin:.0f} s; {len(tests)} tests", flush=True)
    rows, runs = try_faults(options, tree, tests, left_out, progress)
    good = summarize(rows, runs, tree, time.monotonic() - begin)
    if runs.over():
        print("stopped before all was tried; go on with --continue")
        return EXIT_UNFINISHED
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
