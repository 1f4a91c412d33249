#!/usr/bin/env python3
"""Plants small faults in the sources, one at a time, and reports those that no test notices.

The tracked files are copied, and each fault is written into the copy behind a switch (see fault.h), so one build has all of
them. Each test runs once without a fault to record which places it reaches; then each fault is tried with the tests that
reach it. Faults are chosen by the seed; those that do not compile are replaced. survivors.json lists faults that no test
can notice, with the reason. Exits with 1 if more than 5 % survive without being listed there.

  tests/faults/plant.py                       250 faults, all tests but the slowest kinds
  tests/faults/plant.py --tests '^dsl' --only '^dsl/'   the DSL's tests, faults in its sources
  tests/faults/plant.py --list                shows the faults and builds nothing
"""
import argparse
import concurrent.futures
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
import test_runs  # noqa: E402

ROOT = HERE.parents[1]
GOAL = 0.95
# Tests of what compilers say, of other allocators, of the protocol by itself, and those that need a screen or an hour.
NOT_RUN = r"^(install|compile_fail|vectorization|malloc|model_checking|soak|docs/links|apps/view|fuzz/block_heap|" \
          r"heap/(disturbed|lockstep|thread_warp)|dsl/huge_heap)"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--faults", type=int, default=250, help="how many; default: 250")
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
    parser.add_argument("--list", action="store_true", help="show the faults and build nothing")
    options = parser.parse_args()
    if options.faults < 1 or options.jobs < 1:
        parser.error("--faults and --jobs take numbers from 1")
    options.folder = options.folder.resolve()
    return options


class Progress:
    """What was found out, in a file: machines are lent for minutes."""

    def __init__(self, options):
        options.folder.mkdir(parents=True, exist_ok=True)
        self.path = options.folder / "progress.json"
        self.lock = threading.Lock()
        of = [options.seed, options.faults, options.only, options.tests, options.optimize]
        self.state = {"of": of}
        if options.goes_on and self.path.exists():
            state = json.loads(self.path.read_text())
            self.state = state if state["of"] == of else self.state

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
    chosen = planted_tree.choose(found, round(options.faults * planted_tree.SPARE), options.seed)
    if not chosen:
        sys.exit("plant.py: no place for a fault; --only takes a regular expression that matches paths such as 'dsl/src/'")
    if options.list:
        for fault in chosen:
            print(f"{fault.number:4} {fault}")
        sys.exit(0)
    progress = Progress(options)
    tree = planted_tree.PlantedTree(ROOT, options.folder, chosen, progress.of("dropped"))
    tree.write(files)
    tree.configure(options.cmake, options.optimize)
    programs = tree.programs_of(wanted(options))
    print(f"{len(chosen)} faults planted; building {len(programs)} programs", flush=True)
    tree.compile(programs, options.jobs)
    return tree, progress


def wanted(options):
    return lambda name: re.search(options.tests, name) and not re.search(NOT_RUN, name)


def record(test, faults, kept):
    """@return why the test cannot be used, or None"""
    known = kept.get(test.name)
    if known is None:
        reason = test_runs.record(test, faults)
        known = kept.keep(test.name, dict(reason=reason, seconds=round(test.seconds, 1), reached=sorted(test.reached),
                                          command=test.command))
        print(f"{test.name}: {test.seconds:.1f} s, {reason or f'comes to {len(test.reached)} places'}", flush=True)
    test.seconds, test.reached, test.command = known["seconds"], set(known["reached"]), known["command"]
    return known["reason"]


def record_all(pool, tests, faults, left_out, kept):
    """@return the tests that can be used"""
    reasons = list(pool.map(lambda test: record(test, faults, kept), tests))
    left_out.update({test.name: reason for test, reason in zip(tests, reasons) if reason})
    return [test for test, reason in zip(tests, reasons) if not reason]


def argument_for(fault, arguments):
    for entry in arguments:
        if (entry["file"], entry["operator"], entry["code"]) == (fault.file, fault.place.operator, fault.code):
            if entry.get("original", fault.original) == fault.original:
                return entry["why"]
    return None


def try_fault(fault, tests, arguments, kept):
    known = kept.get(fault.number)
    found = known["found"] if known else kept.keep(fault.number, dict(found=test_runs.judge(fault, tests)))["found"]
    reached = sorted(test.name for test in tests if fault.number in test.reached)
    row = dict(number=fault.number, group=fault.group, file=fault.file, line=fault.line, operator=fault.place.operator,
               original=fault.original, faulty=fault.faulty, code=fault.code, reached_by=reached, found=found)
    if found is None:
        row["why"] = argument_for(fault, arguments)
        print(f"{'survives, as expected' if row['why'] else 'SURVIVES'} {fault.number}: {fault}"
              f"{'' if reached else '; no test comes there'}", flush=True)
    return row


def summarize(rows, tree, left_out, seconds):
    for name, reason in sorted(left_out.items()):
        print(f"not used: {name} {reason}")
    found = sum(row["found"] is not None for row in rows)
    argued = sum(row["found"] is None and row["why"] is not None for row in rows)
    survive = len(rows) - found - argued
    for group in planted_tree.GROUPS:
        mine = [row for row in rows if row["group"] == group]
        if mine:
            print(f"{group:10} {sum(row['found'] is not None for row in mine):4} of {len(mine):4} found")
    print(f"{len(rows)} faults: {found} found ({100 * found / max(1, len(rows)):.1f} %), {argued} that no test can notice, "
          f"{survive} survive; {len(tree.dropped)} did not compile; {seconds:.0f} s")
    return found + argued >= GOAL * len(rows)


def main():
    options = parse_arguments()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which background jobs of shells ignore
    begin = time.time()
    tree, progress = build(options)
    tests, left_out = test_runs.tests_of(tree.build, wanted(options), tree.made())
    unbuilt = [name for name, reason in left_out.items() if reason == test_runs.NOT_BUILT]
    if unbuilt:
        sys.exit(f"plant.py: programs of these tests were not built, so no fault could be found in them: {', '.join(unbuilt)}")
    print(f"built in {time.time() - begin:.0f} s; {len(tests)} tests", flush=True)
    arguments = json.loads((HERE / "survivors.json").read_text())
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tests = record_all(pool, tests, tree.faults, left_out, progress.of("tests"))
        print(f"recorded after {time.time() - begin:.0f} s", flush=True)
        reached = set().union(*(test.reached for test in tests))
        # Those that only the compiler evaluates are the same in all processes of a build.
        faults = [fault for fault in tree.faults if fault.number in reached or not fault.place.compiled]
        faults = [fault for fault in faults[:options.faults] if not options.fault or fault.number in options.fault]
        tried = progress.of("tried")
        rows = list(pool.map(lambda fault: try_fault(fault, tests, arguments, tried), faults))
    good = summarize(rows, tree, left_out, time.time() - begin)
    (options.json or options.folder / "faults.json").write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
