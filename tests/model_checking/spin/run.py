#!/usr/bin/env python3
"""Explores the SPIN models of the allocator's protocol completely, one scenario after the other.

    run.py                      all scenarios
    run.py --quick              those that CI runs, at most two minutes on two cores
    run.py --list               what they are about, and the flags to run them by hand
    run.py --scenario NAME      one of them (may be given several times); shows the trace if it fails
    run.py --endless            instead: that no execution is infinite, whatever the scheduler does
    run.py --mutants            instead: breaks the models as mutants.json says, and expects each to be caught
    run.py --unreached          also: the lines of the models that no scenario reached

Needs spin 6.5 and gcc. The exit code is 0 only if every search was complete and found no error (with --mutants: if every
mutant was caught).
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
MEMORY_LIMIT_MB = 11000
MAX_DEPTH = 20000  # far deeper than any of the searches gets; a search that needs more counts as incomplete

# The words that programs are written in, and their digits in the models.
HEAP_WORDS = {"a1": 1, "a2": 2, "a3": 3, "b1": 4, "b2": 5, "b3": 6, "free": 7, "free_all": 8, "any": 9}
BITMAP_WORDS = {"clear_any": 1, "set_mine": 2, "set": 3, "clear": 4, "try_clear": 5, "set_many": 6, "claim_all": 7,
                "set_many_mine": 8}


@dataclass
class Scenario:
    """A small program per warp, and the heap in which they run."""

    name: str
    sentence: str
    warps: list  # what each does, all at once
    setup: list = field(default_factory=list)  # what warps 0 and 1 do before, one after the other
    model: str = "block_heap.pml"
    quick: bool = False
    endless: bool = False  # small enough for the search for infinite executions
    flags: dict = field(default_factory=dict)

    def defines(self):
        if self.model == "peer_windows.pml":
            return [f"-D{key}={value}" for key, value in self.flags.items()]
        words, prefix = (HEAP_WORDS, "WARP") if self.model == "block_heap.pml" else (BITMAP_WORDS, "THREAD")

        def number(program):
            return int("".join(str(words[word]) for word in reversed(program.split())))

        flags = dict(self.flags)
        for i, program in enumerate(self.setup):
            if program:
                flags[f"SETUP{i}"] = number(program)
        for i, program in enumerate(self.warps):
            flags[f"{prefix}{i}"] = number(program)
        return [f"-D{key}={value}" for key, value in flags.items()]


def heap(name, sentence, warps, setup=(), quick=False, endless=False, **flags):
    return Scenario(name, sentence, list(warps), list(setup), "block_heap.pml", quick, endless, flags)


def bitmap(name, sentence, threads, quick=False, endless=False, **flags):
    return Scenario(name, sentence, list(threads), [], "bitmap.pml", quick, endless, flags)


def windows(name, sentence, ranks, quick=False, endless=False, **flags):
    """The warps of the table are ranks here."""
    return Scenario(name, sentence, [""] * ranks, [], "peer_windows.pml", quick, endless, {"RANKS": ranks, **flags})


SCENARIOS = [
    # One type.
    heap("allocate_allocate", "Three warps allocate in a fresh heap of two pages.",
         ["a1", "a2", "a1"], NPAGES=2, CURRENT=3, ROUNDS=2, MISS=1),
    heap("allocate_free", "Two warps allocate while one frees.",
         ["a1", "a2", "free"], ["a1"], NPAGES=2, ROUNDS=2, MISS=1, endless=True),
    heap("both_2", "Two warps allocate and free, twice.",
         ["a1 free a1 free", "a1 free a1 free"], ROUNDS=2, MISS=1, endless=True),
    heap("both_3", "Three warps allocate and free.",
         ["a1 free", "a1 free", "a1 free"], CURRENT=3, MISS=1, endless=True),
    heap("both_3_two_pages", "Three warps allocate and free, in two pages.",
         ["a1 free", "a1 free", "a2 free"], NPAGES=2, CURRENT=2, MISS=1),
    heap("last_object", "The last object of a block is freed while two warps allocate.",
         ["free", "a1", "a1"], ["a1"], ROUNDS=2, MISS=1, quick=True, endless=True),
    heap("last_object_s3", "The same with three slots, of which two go at once.",
         ["free_all", "a2", "a1"], ["a2"], S=3, ROUNDS=2, MISS=1, endless=True),
    heap("two_emptiers", "Two warps free the last two objects of a block in which a third allocates.",
         ["free", "free", "a1"], ["a2"], ROUNDS=2, MISS=1, quick=True, endless=True),
    heap("two_emptiers_s3", "Two emptiers, one of which fills the block while it finds out that it is not empty.",
         ["free", "free a1", "a1 free"], ["a2"], S=3, MISS=1, endless=True),
    heap("fill_free", "Two warps fill a block while a third frees in it.",
         ["a1", "a1", "free"], ["a1"], ROUNDS=2, MISS=1, quick=True, endless=True),
    heap("fill_free_s3", "The same with three slots, and again.",
         ["a2 free", "a1 free", "free a1"], ["a1"], S=3, MISS=1),
    heap("half_of_opened", "A warp asks for the other half of its old block while another one opens that again.",
         ["a1 free a1", "a1"], ROUNDS=2, MISS=1, quick=True, endless=True),
    heap("displace_current", "A current block is displaced by its warp while others fill it and free in it.",
         ["a2", "a1", "free"], ["a1"], NPAGES=2, MISS=1, quick=True, endless=True),
    heap("displace_shared", "Two warps share a current block and displace each other's.",
         ["a2 free_all", "a2", "free a1"], ["a1"], NPAGES=2, CURRENT=1, MISS=1),
    heap("adopt_shared", "A warp adopts a block that was just listed, while one that shares its entry opens another.",
         ["free", "a1", "a1"], ["a2"], NPAGES=2, CURRENT=1, MISS=1, endless=True),
    heap("reclaim_current", "A current block is emptied and reclaimed while its warp allocates, and opened again.",
         ["a1", "free", "a2"], ["a1"], NPAGES=2, ROUNDS=2, MISS=1, endless=True),
    heap("claim_page", "Two blocks of a page are emptied at once; whoever is last frees the page.",
         ["free_all", "free_all"], ["a2 a2"], STRIDE=2, PER0=2, endless=True),
    heap("claim_page_allocate", "The same while a third warp allocates.",
         ["free_all", "free_all", "a1"], ["a2 a2"], STRIDE=2, PER0=2, ROUNDS=2, MISS=1, quick=True, endless=True),
    heap("claim_page_open", "A page with one empty block is claimed while two warps open blocks.",
         ["free", "a2 free", "a2"], ["a1"], STRIDE=2, PER0=2, ROUNDS=2, MISS=1, endless=True),
    heap("claim_wide_page", "The four blocks of a page, in two containers of the bitmap, are emptied by two warps.",
         ["free free", "free free"], ["a1 a1 a1 a1"], S=1, STRIDE=4, PER0=4, CONTAINER=2, endless=True),
    heap("claim_wide_page_open", "Such a page is claimed while another warp opens and empties one of its blocks.",
         ["free", "a1 free"], ["a1"], S=1, STRIDE=4, PER0=4, CONTAINER=2, ROUNDS=2, quick=True, endless=True),
    heap("claim_wide_page_open_3", "The same with two such warps.",
         ["free", "a1 free", "a1 free"], ["a1"], S=1, STRIDE=4, PER0=4, CONTAINER=2, ROUNDS=2),
    heap("share_page", "Three warps open blocks in a fresh heap of two pages; one fetches pages for all.",
         ["a2 free_all", "a2", "a1"], NPAGES=2, STRIDE=2, PER0=2, CURRENT=3, ROUNDS=2, quick=True, endless=True),
    heap("share_block", "Three warps share a current block in a fresh heap; one at a time opens a page of one block for all.",
         ["a2", "a1 free", "a1"], NPAGES=2, CURRENT=1, ROUNDS=2, endless=True),
    # Two types.
    heap("change_type", "A block is reopened for another type while a warp holds a stale hint.",
         ["a1", "free b1"], ["a1"], TYPES=2, ROUNDS=2, MISS=1, endless=True),
    heap("change_type_full", "A block is reopened for another type and filled, by a stale requester among others.",
         ["a1", "free b1", "b1"], ["a1"], TYPES=2, MISS=1, quick=True, endless=True),
    heap("change_type_twice", "The same, and back again.",
         ["a1 free", "free b1 free", "a1"], ["a1"], TYPES=2, MISS=1),
    heap("change_type_replace", "A replacer lists a block that changes type at that moment.",
         ["a2", "free b1", "a1"], ["a1"], TYPES=2, NPAGES=2, MISS=1),
    heap("convert_page", "A page of two blocks becomes one of one block, and the other way round.",
         ["free b1", "free a1", "a1"], ["a2"], TYPES=2, STRIDE=2, PER0=2, PER1=1, MISS=1),
    heap("open_converted", "A free page of another type is opened, and warps race for its other block.",
         ["a1", "a2", "b1"], ["b1 free"], TYPES=2, STRIDE=2, PER0=2, PER1=1, ROUNDS=2, quick=True,
         endless=True),
    # The heap is full.
    heap("exhaust", "Two warps allocate in a full heap while a third frees and allocates.",
         ["a1", "a1", "free a1"], ["a2"], ROUNDS=2, ROUNDS_PER_SEARCH=1, quick=True, endless=True),
    heap("exhaust_pages", "The same in pages of two blocks.",
         ["a1", "a1", "free_all a1"], ["a2 a2"], STRIDE=2, PER0=2, ROUNDS=2),
    heap("exhaust_other_type", "A heap is full for one type while pages go to and fro between two.",
         ["a1", "free_all b1", "b1 free"], ["a2 b2"], TYPES=2, NPAGES=2),
    heap("exhaust_fill", "The last slots go while warps ask whether the heap is full.",
         ["a1", "a1 a1", "a1 free"], ["a1"], CURRENT=3),
    heap("moving_slot", "A slot is always free, but not always the same.",
         ["a1", "free a1"], ["", "a2 a1"], NPAGES=2),
    heap("hidden_slot", "A slot is free in a block that is not listed yet and is nobody's current block.",
         ["a1", "a2 free", "a1"], ["a2"], NPAGES=2, CURRENT=1, quick=True, endless=True),
    heap("kept_proof", "A proof that the heap is full is used while others free, allocate and prove it again.",
         ["a1", "free a1", "a1"], ["a2 a2 a1"], NPAGES=2, CURRENT=1, quick=True, endless=True),
    heap("kept_proof_reopened", "The block of a proof is closed and opened again.",
         ["a1", "free_all a2", "a1 a1"], ["a2 a1"]),
    heap("kept_proof_types", "A proof for one type is used while a page changes its type.",
         ["a1", "free_all b1", "a1"], ["a2 b2 a1"], TYPES=2, NPAGES=2),
    # All together.
    heap("large", "Three slots, two pages, two types, three warps, a page of two blocks for one type.",
         ["a1 free", "free b1", "a3 free"], ["a2 b1"], S=3, NPAGES=2, STRIDE=2, PER0=2, PER1=1, TYPES=2, MISS=1),
    heap("choice_2", "Two warps do any three things each, with two types.",
         ["any any any", "any any any"], TYPES=2, MISS=1),
    heap("choice_2_pages", "Two things each, with two types and two pages, of two blocks for one type.",
         ["any any", "any any"], TYPES=2, NPAGES=2, STRIDE=2, PER0=2),
    heap("choice_3", "Three warps do anything, one of them twice, with one type.",
         ["any any", "any", "any"], ["a1"], MISS=1),
    # The levels above.
    bitmap("take_and_set", "Three threads take some bit and set it again, twice.",
           ["clear_any set_mine clear_any set_mine"] * 3, INITIAL=9, LEVELS=2, endless=True),
    bitmap("take_and_set_3_levels", "The same on three levels, once.",
           ["clear_any set_mine", "clear_any set_mine", "clear_any clear_any set_mine"], INITIAL=137, LEVELS=3),
    bitmap("set_clear", "Two threads set and clear one bit, in any order, while a third empties and fills containers.",
           ["set set set", "clear clear clear", "try_clear set_mine try_clear set_mine"], INITIAL=2, AT2=1, LEVELS=3,
           quick=True, endless=True),
    bitmap("set_clear_neighbours", "Two bits of one container are set and cleared by three hands.",
           ["set set set", "clear clear clear", "set clear set clear"], AT2=1, LEVELS=3, endless=True),
    bitmap("claim", "Two threads complete a container and claim it, as emptiers of a page do; a third takes any bit.",
           ["set claim_all set_many_mine", "set claim_all set_many_mine", "clear_any set_mine"], AT0=0, AT1=1,
           LEVELS=3, quick=True, endless=True),
    bitmap("set_many", "Bits are set all at once while two threads take what they find.",
           ["set_many claim_all", "clear_any set_mine", "clear_any set_mine"], INITIAL=4, AT0=0, LEVELS=3,
           quick=True, endless=True),
    # Ghosts that go from GPU to GPU.
    windows("own_neighbour", "A rank exchanges ghosts with itself, on both sides.", 1, quick=True, RING=1, EPOCHS=4),
    windows("pair_row", "Two ranks exchange ghosts on one side.", 2, quick=True, RING=0, EPOCHS=4),
    windows("pair_row_later", "The same, and another kernel reads the messages.", 2, quick=True, RING=0, EPOCHS=4, READS=0),
    windows("pair_row_slow", "Two ranks exchange ghosts on one side, and may lose patience.", 2, quick=True, RING=0,
            EPOCHS=4, IMPATIENT=1),
    windows("pair_row_absent", "One of two ranks exchanges once only, on one side.", 2, quick=True, RING=0, EPOCHS=3,
            IMPATIENT=1, LAST_KERNELS=1),
    windows("pair_unequal", "Two ranks exchange ghosts on both sides; one has a thread block for each, the other two.", 2,
            quick=True, RING=1, EPOCHS=3, LONE=1),
    windows("pair_unequal_slow", "The same, and they may lose patience.", 2, RING=1, EPOCHS=3, LONE=1, IMPATIENT=1),
    windows("pair_ring", "Two ranks exchange ghosts on both sides.", 2, RING=1, EPOCHS=3),
    windows("pair_absent", "One of two ranks exchanges once only.", 2, RING=1, EPOCHS=3, IMPATIENT=1, LAST_KERNELS=1),
    windows("three_row_unequal", "Three ranks in a row exchange ghosts; two of them have one thread block for each side.",
            3, quick=True, RING=0, EPOCHS=3, LONE=1),
    windows("three_row", "Three ranks in a row exchange ghosts.", 3, RING=0, EPOCHS=3),
    windows("three_row_absent", "One of three ranks in a row exchanges once only.", 3, RING=0, EPOCHS=3, IMPATIENT=1,
            LAST_KERNELS=1),
    windows("three_ring", "Three ranks in a ring exchange ghosts; two of them have one thread block for each side.", 3,
            RING=1, EPOCHS=3, LONE=1),
    windows("three_absent", "One of three such ranks exchanges once only.", 3, RING=1, EPOCHS=3, LONE=1, IMPATIENT=1,
            LAST_KERNELS=1),
]


def by_name(name):
    for scenario in SCENARIOS:
        if scenario.name == name:
            return scenario
    sys.exit(f"no scenario '{name}'; --list shows them")


@dataclass
class Outcome:
    scenario: str
    processes: int
    states: int = 0
    depth: int = 0
    seconds: float = 0.0
    memory_mb: float = 0.0
    complete: bool = False
    result: str = ""
    trace: str = ""
    lines: dict = field(default_factory=dict)  # line of the model -> whether it was reached

    @property
    def good(self):
        return self.complete and self.result == "ok"


def call(arguments, directory):
    return subprocess.run(arguments, cwd=directory, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def first(pattern, text, default="0"):
    match = re.search(pattern, text, re.MULTILINE)
    return match.group(1) if match else default


def reached_lines(directory, model, output):
    """Which lines of the model the search has reached in at least one place that the line was expanded to."""
    states = set()
    process = ""
    for line in call(["./pan", "-d"], directory).stdout.splitlines():
        if match := re.match(r"(?:proctype|init)\s*(\S*)", line):
            process = match.group(1) or "init"
        elif match := re.search(r"state\s+(\d+) .*" + re.escape(model) + r":(\d+)", line):
            states.add((process, int(match.group(1)), int(match.group(2))))
    missed = set()
    for line in output.splitlines():
        if match := re.match(r"unreached in (?:proctype (\S+)|init)", line):
            process = match.group(1) or "init"
        elif match := re.match(r"\s+" + re.escape(model) + r":(\d+), state (\d+),", line):
            missed.add((process, int(match.group(2))))
    reached = {}
    for process, state, number in states:
        reached[number] = reached.get(number, False) or (process, state) not in missed
    return reached


def explore(scenario, model_dir, endless=False, trace=False):
    """Generates, compiles and runs the search of one scenario."""
    outcome = Outcome(scenario.name, len(scenario.warps))
    with tempfile.TemporaryDirectory(prefix="spin-") as directory:
        shutil.copy(os.path.join(model_dir, scenario.model), directory)
        generated = call(["spin", "-a", *scenario.defines(), scenario.model], directory)
        if generated.returncode != 0 or not os.path.exists(os.path.join(directory, "pan.c")):
            outcome.result = "spin: " + generated.stdout.strip()
            return outcome
        kind = ["-DNP"] if endless else ["-DSAFETY"]
        # Small searches take less time than their compilation.
        optimize = "-O0" if scenario.quick else "-O2"
        compiled = call(["gcc", optimize, "-w", *kind, "-DCOLLAPSE", "-DVECTORSZ=512",
                         f"-DMEMLIM={MEMORY_LIMIT_MB}", "-o", "pan", "pan.c"], directory)
        if compiled.returncode != 0:
            outcome.result = "gcc: " + compiled.stdout.strip()
            return outcome
        output = call(["./pan", f"-m{MAX_DEPTH}", *(["-l"] if endless else [])], directory).stdout
        outcome.states = int(float(first(r"^\s*([\d.e+]+) states, stored", output)))
        outcome.depth = int(first(r"depth reached (\d+)", output))
        outcome.seconds = float(first(r"elapsed time ([\d.e+-]+)", output))
        outcome.memory_mb = float(first(r"([\d.]+)\s+total actual memory usage", output))
        errors = int(first(r"errors: (\d+)", output, "-1"))
        cut_short = re.search(r"max search depth too small|Search not completed|out of memory|reached -DMEMLIM", output)
        outcome.complete = errors == 0 and not cut_short
        if outcome.complete:
            outcome.result = "ok"
        elif errors > 0:
            outcome.result = first(r"^pan:1: (.*?)(?: \(at depth \d+\))?$", output, "error")
        else:
            outcome.result = "incomplete" if cut_short else output.strip()[-200:]
        if errors > 0 and trace:
            outcome.trace = call(["spin", "-t", "-p", "-g", *scenario.defines(), scenario.model], directory).stdout
        outcome.lines = reached_lines(directory, scenario.model, output)
    return outcome


def print_row(outcome):
    print(f"{outcome.scenario:24} {outcome.processes:5} {outcome.states:11,} {outcome.depth:6} {outcome.seconds:8.2f} "
          f"{outcome.memory_mb:9.0f} {'yes' if outcome.complete else 'no':>8}  {outcome.result}", flush=True)


def run_scenarios(scenarios, options):
    print(f"{'scenario':24} {'procs':>5} {'states':>11} {'depth':>6} {'seconds':>8} {'memory MB':>9} {'complete':>8}  "
          "result")
    outcomes = []
    # Small searches need little memory; each of the others may have all there is.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() if options.quick else 1) as pool:
        trace = options.scenario is not None
        for outcome in pool.map(lambda s: explore(s, options.model_dir, options.endless, trace), scenarios):
            print_row(outcome)
            if outcome.trace:
                print(outcome.trace)
            outcomes.append(outcome)
    good = sum(outcome.good for outcome in outcomes)
    print(f"{good} of {len(outcomes)} explored completely without error; "
          f"{sum(outcome.states for outcome in outcomes):,} states, "
          f"{sum(outcome.seconds for outcome in outcomes):.0f} seconds of search")
    if options.unreached:
        print_unreached(scenarios, outcomes, options.model_dir)
    if options.json:
        keys = ["scenario", "processes", "states", "depth", "seconds", "memory_mb", "complete", "result"]
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([{key: getattr(outcome, key) for key in keys} for outcome in outcomes], file, indent=2)
            file.write("\n")
    return good == len(outcomes)


def print_unreached(scenarios, outcomes, model_dir):
    for model in sorted({scenario.model for scenario in scenarios}):
        reached = {}
        for scenario, outcome in zip(scenarios, outcomes):
            if scenario.model == model:
                for number, hit in outcome.lines.items():
                    reached[number] = reached.get(number, False) or hit
        with open(os.path.join(model_dir, model), encoding="utf-8") as file:
            text = file.read().splitlines()
        missing = [number for number, hit in sorted(reached.items()) if not hit]
        print(f"{model}: {len(missing)} of {len(reached)} lines with steps were never reached")
        for number in missing:
            print(f"  {number}: {text[number - 1].strip()}")


def run_mutants(options):
    with open(os.path.join(HERE, "mutants.json"), encoding="utf-8") as file:
        mutants = json.load(file)
    survivors = 0
    results = []
    print(f"{'mutant':34} {'caught by':24} {'states':>10}  property")
    for mutant in mutants:
        if options.mutant and mutant["name"] not in options.mutant:
            continue
        with open(os.path.join(options.model_dir, mutant["model_file"]), encoding="utf-8") as file:
            text = file.read()
        if text.count(mutant["find"]) != 1:
            sys.exit(f"mutant '{mutant['name']}': its text occurs {text.count(mutant['find'])} times in the model")
        with tempfile.TemporaryDirectory(prefix="spin-mutant-") as directory:
            with open(os.path.join(directory, mutant["model_file"]), "w", encoding="utf-8") as file:
                file.write(text.replace(mutant["find"], mutant["replace"]))
            for name in mutant["scenarios"]:
                outcome = explore(by_name(name), directory)
                # Only an error that the search has found counts, not a model that does not compile.
                caught = bool(re.match(r"assertion violated|invalid end state", outcome.result))
                survivors += not caught
                print(f"{mutant['name']:34} {name:24} {outcome.states:10,}  "
                      f"{outcome.result if caught else 'NOT CAUGHT: ' + outcome.result}", flush=True)
                results.append({"mutant": mutant["name"], "scenario": name, "states": outcome.states,
                                "caught": caught, "result": outcome.result})
    print("all caught" if survivors == 0 else f"{survivors} not caught")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)
            file.write("\n")
    return survivors == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the scenarios for CI")
    parser.add_argument("--scenario", action="append", metavar="NAME", help="only this one")
    parser.add_argument("--list", action="store_true", help="list the scenarios")
    parser.add_argument("--endless", action="store_true", help="search for infinite executions, in small scenarios")
    parser.add_argument("--mutants", action="store_true", help="check that broken models are caught")
    parser.add_argument("--mutant", action="append", metavar="NAME", help="with --mutants: only this one")
    parser.add_argument("--unreached", action="store_true", help="print the lines that no scenario reached")
    parser.add_argument("--json", metavar="FILE", help="write the results there, too")
    parser.add_argument("--model-dir", metavar="DIR", default=HERE, help="where the models are, if not beside this file")
    options = parser.parse_args()

    for tool in ("spin", "gcc"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not installed")
    if options.mutants:
        return 0 if run_mutants(options) else 1
    scenarios = SCENARIOS
    if options.scenario:
        scenarios = [by_name(name) for name in options.scenario]
    elif options.endless:
        scenarios = [scenario for scenario in SCENARIOS if scenario.endless]
    if options.quick:
        scenarios = [scenario for scenario in scenarios if scenario.quick]
    if options.list:
        for scenario in scenarios:
            print(f"{scenario.name}: {scenario.sentence}\n    {scenario.model} {' '.join(scenario.defines())}")
        return 0
    return 0 if run_scenarios(scenarios, options) else 1


if __name__ == "__main__":
    sys.exit(main())
