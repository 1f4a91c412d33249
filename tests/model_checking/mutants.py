#!/usr/bin/env python3
"""Shows what the model checking finds: breaks the allocator's headers in many ways and checks that each is noticed.

Every mutant of mutants_list.py is applied to a copy of the headers. The Relacy program is compiled against the copy and
run, the scenarios first that are expected to fail; if none does, the tests with disturbed threads and with simulated warps
have a try. Exits with 1 if a mutant survives that is not listed as equivalent, if an equivalent one does not, or if the
shipped headers fail.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from mutants_list import DISTURBED, LOCKSTEP, MUTANTS  # noqa: E402

ROOT = HERE.parents[1]
RELACY = HERE / "relacy"
HEAP_TESTS = ROOT / "tests" / "heap"
HEADERS = ("dynasoar/heap", "dynasoar/classes")
TESTS = {DISTURBED: "block_heap_disturbed_test.cpp", LOCKSTEP: "block_heap_lockstep_test.cpp"}
PARTS = {"block_heap_relacy": "-O1", "bitmap_relacy": "-O1", "occupancy_relacy": "-O1", "explore": "-O2", "main": "-O2",
         "relacy_atomics": "-O2"}
# Those that include a header; of the other headers, only the first one.
PARTS_WITH = {"bitmap.h": ["block_heap_relacy", "bitmap_relacy"], "tally.h": ["block_heap_relacy", "bitmap_relacy"],
              "occupancy.h": ["occupancy_relacy"]}
# A test that does not end in this time shows nothing: half a minute is enough on an idle machine, but its threads yield all
# the time.
TEST_SECONDS = 600


def header_named(file):
    """The path of a header, from the folder of all of them."""
    return next(path for path in (pathlib.Path(folder) / file for folder in HEADERS)
                if (ROOT / "allocator" / "include" / path).exists())


def mutated(mutant):
    """The header with the fault. @throws RuntimeError if the text that it replaces is not there, once"""
    text = (ROOT / "allocator" / "include" / header_named(mutant["file"])).read_text()
    for find, replace in [(mutant["find"], mutant["replace"])] + [mutant[k] for k in ("replace_also",) if k in mutant]:
        if text.count(find) != 1:
            raise RuntimeError(f"{mutant['name']}: its text occurs {text.count(find)} times in {mutant['file']}")
        text = text.replace(find, replace)
    return text


class Workshop:
    """Builds the programs against copies of the headers, in a folder of its own."""

    def __init__(self, folder, compiler):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.compiler = compiler
        self.include = self.folder / "include"
        shutil.copytree(ROOT / "allocator" / "include", self.include)
        self.objects = {}  # of the shipped headers
        # Mutants are compiled without optimization, which takes half as long, and what none of them changes only once.
        self.unchanged = self.folder / "unchanged.h"
        self.unchanged.write_text('#include "relacy_atomics.h"\n#include "explore.h"\n')
        self.compile(self.unchanged, self.folder / "unchanged.h.gch", "-O0", ["-x", "c++-header"])

    def run(self, command, timeout):
        begin = time.time()
        try:
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout)
            return done.returncode, done.stdout + done.stderr, time.time() - begin
        except subprocess.TimeoutExpired:
            return None, "", time.time() - begin

    def compile(self, source, target, optimize="-O1", more=()):
        command = [self.compiler, "-std=c++20", optimize, "-w", f"-I{self.include}", f"-I{ROOT / 'dsl' / 'include'}",
                   f"-I{RELACY}", *more, "-c", source, "-o", target]
        status, text, _ = self.run(command, 600)
        if status != 0:
            raise RuntimeError(f"{source.name} does not compile\n{text[:2000]}")

    def link(self, command):
        status, text, _ = self.run(command, 600)
        if status != 0:
            raise RuntimeError(text[:2000])

    def compile_shipped(self, name):
        self.compile(RELACY / f"{name}.cpp", self.folder / f"{name}.o", PARTS[name])
        return self.folder / f"{name}.o"

    def relacy_program(self, changed):
        """The program against the mutated headers, of which `changed` is one."""
        objects = dict(self.objects)
        for name in [] if changed is None else PARTS_WITH.get(changed, ["block_heap_relacy"]):
            objects[name] = self.folder / f"{name}.mutant.o"
            self.compile(RELACY / f"{name}.cpp", objects[name], "-O0", ["-include", self.unchanged])
        program = self.folder / "relacy"
        self.link([self.compiler, *objects.values(), "-o", program])
        return program

    def platform_library(self):
        """The sources of platform/, which see none of the mutated headers: the linker takes those that a test needs."""
        library = self.folder / "platform.a"
        if not library.exists():
            objects = []
            for source in sorted((ROOT / "allocator" / "src" / "platform").glob("*.cpp")):
                objects.append(self.folder / f"{source.stem}.platform.o")
                self.compile(source, objects[-1])
            self.link(["ar", "rcs", library, *objects])
        return library

    def test_program(self, test):
        objects = []
        for source in (ROOT / "tests" / "main.cpp", HEAP_TESTS / TESTS[test]):
            objects.append(self.folder / f"{source.stem}.test.o")
            self.compile(source, objects[-1])
        program = self.folder / "test"
        self.link([self.compiler, "-pthread", *objects, self.platform_library(), "-o", program])
        return program

    def apply(self, mutant):
        (self.include / header_named(mutant["file"])).write_text(mutated(mutant))

    def restore(self, file):
        header = header_named(file)
        shutil.copy(ROOT / "allocator" / "include" / header, self.include / header)


def run_relacy(workshop, program, arguments, timeout):
    """@return (scenario, error, schedules, seconds) of the failure, or None; and the table, empty if it did not end."""
    table = workshop.folder / "result.json"
    table.unlink(missing_ok=True)
    status, text, seconds = workshop.run([program, "--stop", "--trace", "0", "--json", table, *arguments], timeout)
    if status is None:
        return None, []
    if not table.exists():
        if status > 0:
            raise RuntimeError(text[-2000:])
        return ("?", f"ended by signal {-status}", 0, seconds), []
    rows = json.loads(table.read_text())
    for row in rows:
        if row["error"]:
            return (row["scenario"], row["error"], row["schedules"], seconds), rows
    return None, rows


def noticed_by_relacy(workshop, mutant, options):
    if options.quick and not TESTS.keys().isdisjoint(mutant["scenarios"]):
        return None
    program = workshop.relacy_program(mutant["file"])
    named = [word for name in options.scenario or mutant["scenarios"] if name not in TESTS
             for word in ("--scenario", name)]
    attempts = [["--effort", 1, *named]] if named else []
    if not options.scenario:  # nearly all are caught within a few schedules of some scenario
        attempts += [["--effort", options.effort / 100], ["--effort", options.effort]]
    for arguments in attempts:
        caught, _ = run_relacy(workshop, program, arguments, 1200)
        if caught is not None:
            return dict(by="relacy", scenario=caught[0], error=caught[1], schedules=caught[2], seconds=caught[3])
    return None


def noticed_by_tests(workshop, mutant, options):
    if not options.tests or mutant["equivalent"] is not None:
        return None
    for test in [test for test in TESTS if test in mutant["scenarios"]] or TESTS:
        status, _, seconds = workshop.run([workshop.test_program(test)], TEST_SECONDS)
        if status not in (0, None):
            return dict(by=test, scenario="", error="fails", schedules=0, seconds=seconds)
    return None


def judge(workshop, mutant, options):
    """Runs everything against one mutant, until something notices it."""
    workshop.apply(mutant)
    try:
        return noticed_by_relacy(workshop, mutant, options) or noticed_by_tests(workshop, mutant, options)
    finally:
        workshop.restore(mutant["file"])


def control(workshop, options):
    """That the shipped headers pass what the mutants have to fail."""
    caught, rows = run_relacy(workshop, workshop.relacy_program(None), ["--effort", options.effort], 1200)
    passed = caught is None and rows != []
    print(f"the shipped headers: {'passed' if passed else caught and caught[:2]}, {len(rows)} scenarios", flush=True)
    for test in TESTS if options.tests else ():
        status, _, _ = workshop.run([workshop.test_program(test)], TEST_SECONDS)
        print(f"the shipped headers, {test}: {'passed' if status == 0 else 'failed'}", flush=True)
        passed = passed and status == 0
    return passed


def shorten(text, length):
    return text if len(text) <= length else text[: length - 3] + "..."


def show(mutant, result, seconds):
    if result is None:
        verdict = "equivalent" if mutant["equivalent"] else "SURVIVED"
    else:
        verdict = f"{result['scenario'] or result['by']}: {result['error']}, schedule {result['schedules']}"
    print(f"{mutant['name']:24} {mutant['file']:19} {mutant['function']:24} {shorten(mutant['change'], 60):60} "
          f"{seconds:5.1f} s  {verdict}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="this mutant; may be repeated")
    parser.add_argument("--scenario", action="append", metavar="NAME", help="run this one only; may be repeated")
    parser.add_argument("--quick", action="store_true", help="a tenth of the schedules, and equivalent mutants not at all")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth mutant only, for CI; default: 1, all")
    parser.add_argument("--effort", type=float, default=1.0, help="factor on the number of schedules")
    parser.add_argument("--no-tests", dest="tests", action="store_false", help="Relacy only")
    parser.add_argument("--no-control", dest="control", action="store_false", help="do not run the shipped headers")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants judged at a time; default: one per core")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.every < 1:
        parser.error("--every must be at least 1")
    if options.quick:
        options.effort = 0.1
    return options


def chosen_mutants(options):
    if not options.only:
        return [m for m in MUTANTS if not (options.quick and m["equivalent"])][:: options.every]
    chosen = [m for m in MUTANTS if m["name"] in options.only]
    if len(chosen) != len(set(options.only)):
        sys.exit("no such mutant")
    return chosen


def judge_all(mutants, options):
    """@return for each mutant what noticed it; and whether the shipped headers passed"""
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        idle = queue.SimpleQueue()
        shops = list(pool.map(lambda i: Workshop(pathlib.Path(folder) / str(i), options.compiler), range(options.jobs)))
        objects = dict(pool.map(lambda name: (name, shops[0].compile_shipped(name)), PARTS))
        for workshop in shops:
            workshop.objects = objects
            idle.put(workshop)

        def with_workshop(work, *arguments):
            workshop = idle.get()
            try:
                return work(workshop, *arguments)
            finally:
                idle.put(workshop)

        def judge_and_show(workshop, mutant):
            begin = time.time()
            result = judge(workshop, mutant, options)
            show(mutant, result, time.time() - begin)
            return result

        shipped = pool.submit(with_workshop, control, options) if options.control else None
        results = list(pool.map(lambda m: with_workshop(judge_and_show, m), mutants))
        return results, shipped is None or shipped.result()


def main():
    options = parse_arguments()
    mutants = chosen_mutants(options)
    if options.list:
        for m in mutants:
            print(f"{m['name']:24} {m['file']}, {m['function']}: {m['change']}")
        return 0
    begin = time.time()
    results, shipped_pass = judge_all(mutants, options)
    wrong = [] if shipped_pass else ["the shipped headers"]
    wrong += [m["name"] for m, result in zip(mutants, results) if (result is None) != (m["equivalent"] is not None)]
    caught = sum(result is not None for result in results)
    print(f"{len(results)} mutants, {caught} caught, {len(wrong)} not as expected"
          f"{': ' + ', '.join(wrong) if wrong else ''}; {time.time() - begin:.0f} s")
    if options.json:
        keys = ("name", "file", "function", "change", "equivalent")
        table = [{**{key: m[key] for key in keys}, "caught": result} for m, result in zip(mutants, results)]
        pathlib.Path(options.json).write_text(json.dumps(table, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
