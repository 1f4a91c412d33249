"""A copy of the tracked tree with many faults, each behind its switch, and its build."""
import os
import pathlib
import random
import re
import signal
import subprocess
import time

import cpp_places
import named_faults
import python_places
from places import line_of, plant

# For each group: its share of the faults, its folders or files, and what is left out of these.
GROUPS = {
    "dsl": (0.35, ["dsl/include", "dsl/src"], r"version\.h$"),
    # The protocol has mutants of its own, tests/model_checking/mutants_list.py; block sums and the recording of graphs
    # are for GPUs. allocator/malloc is left out: its allocators are there to be compared with.
    "allocator": (0.2, ["allocator/include", "allocator/src"],
                  r"/(block_heap|bitmap|tally|page_transitions|block_transitions|block_search|fullness)\.(h|cpp)$|/(block_sums|recording|timer)\.h$"),
    # The window's test is alone on a screen.
    "apps": (0.3, ["apps"], r"apps/common/src/view\.cpp$"),
    "scripts": (0.15, ["scripts/sweep", "scripts/make-tables", "scripts/benchmark_tables/", "scripts/make-charts", "scripts/make-docs",
                       "scripts/compare-results", "scripts/benchmark_results.py", "scripts/compact_svg.py",
                       "dsl/gdb/dynasoar_gdb.py"], r"(?!)"),
}
# Those of named_faults.py, which are planted besides the others.
NAMED = "named"
SPARE = 1.4  # so many more are planted than asked for, because some do not compile
CPP = (".h", ".cpp")
# Reads beyond an array end the program, as they do with the sanitizers that the tests also run with.
CHECKS = "-D_GLIBCXX_ASSERTIONS -fsanitize=bounds,signed-integer-overflow,shift -fsanitize-undefined-trap-on-error"


class Fault:
    def __init__(self, group, file, place, text):
        self.group, self.file, self.place = group, file, place
        self.number = None
        self.line = line_of(text, place.start)
        self.original = " ".join(text[place.start:place.end].split())
        self.faulty = " ".join(place.faulty.split())
        # Identifies the place in survivors.json, whatever changes elsewhere in the file.
        self.code = text[text.rfind("\n", 0, place.start) + 1:].split("\n", 1)[0].strip()

    def overlaps(self, other):
        return self.file == other.file and self.place.start < other.place.end and other.place.start < self.place.end

    def identity(self):
        """What is the same when other lines of the file change."""
        return "\n".join((self.file, self.place.operator, self.original, self.faulty, self.code))

    def __str__(self):
        if self.group == NAMED:
            return f"{self.file}:{self.line}: {self.place.operator}"
        change = f"'{self.original[:60]}' becomes '{self.faulty[:60]}'" if self.faulty else f"'{self.original[:80]}' is dropped"
        return f"{self.file}:{self.line}: {self.place.operator}: {change}"


def tracked_files(root):
    command = ["git", "-c", f"safe.directory={root}", "-C", root, "ls-files", "-z"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        listed = [str(path.relative_to(root)) for path in pathlib.Path(root).rglob("*")]
        listed = [name for name in listed if not re.match(r"(build|shared|\.git)", name)]
    return sorted(name for name in listed if name and (pathlib.Path(root) / name).is_file())


def candidates(root, files, only):
    """For each group and each operator, the places in random order."""
    found = {}
    for group, (_, roots, left_out) in GROUPS.items():
        operators = {}
        for name in files:
            if "/cuda/" in name or not name.startswith(tuple(roots)) or re.search(left_out, name) or not re.search(only, name):
                continue
            is_cpp = name.endswith(CPP)
            if not is_cpp and group != "scripts":
                continue
            text = (pathlib.Path(root) / name).read_text()
            finder = cpp_places if is_cpp else python_places
            for place in finder.find_places(text):
                operators.setdefault(place.operator, []).append(Fault(group, name, place, text))
        found[group] = operators
    return found


def named(root, only):
    """The faults that have a name."""
    return [Fault(NAMED, file, place, (pathlib.Path(root) / file).read_text())
            for file, place in named_faults.places(root) if re.search(only, file)]


def choose(found, number, seed, others):
    """`number` faults that overlap neither each other nor the others: the groups by their shares, and in each of them all
    operators in turn. The others come first."""
    chance = random.Random(seed)
    shares = {group: GROUPS[group][0] for group, operators in found.items() if operators}
    chosen = []
    for group, share in shares.items():
        wanted = round(number * share / sum(shares.values()))
        queues = [sorted(places, key=lambda f: (f.file, f.place.start, f.place.end)) for _, places in sorted(found[group].items())]
        for queue in queues:
            chance.shuffle(queue)
        mine = []
        while len(mine) < wanted and any(queues):
            for queue in queues:
                while queue and len(mine) < wanted:
                    fault = queue.pop()
                    if not any(fault.overlaps(other) for other in mine + others):
                        mine.append(fault)
                        break
        chosen += mine
    chance.shuffle(chosen)
    for number, fault in enumerate(others + chosen, 1):
        fault.number = number
    return others + chosen


def write_if_changed(path, content, mode=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
    if mode is not None:
        path.chmod(mode)


class TimeIsOver(Exception):
    pass


class PlantedTree:
    def __init__(self, root, folder, faults, known, end):
        """@param known   keeps which faults do not compile. @param end   of the clock time.monotonic, or None"""
        self.root, self.known, self.end = pathlib.Path(root), known, end
        self.tree, self.build = folder / "tree", folder / "build"
        self.dropped = [fault for fault in faults if known.get(fault.identity())]
        self.faults = [fault for fault in faults if not known.get(fault.identity())]
        self.log = folder / "build.log"

    def write(self, files):
        for name in files:
            source = self.root / name
            write_if_changed(self.tree / name, self.planted(name, source), source.stat().st_mode)
        for path in [p for p in self.tree.rglob("*") if p.is_file()]:
            if str(path.relative_to(self.tree)) not in set(files) and "__pycache__" not in path.parts:
                path.unlink()

    def planted(self, name, source):
        mine = [(fault.number, fault.place) for fault in self.faults if fault.file == name]
        if not mine:
            return source.read_bytes()
        text = plant(source.read_text(), mine, "dynasoar_fault({})")
        return (text if name.endswith(CPP) else python_places.with_switch(text)).encode()

    def run(self, command):
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            try:
                out, err = child.communicate(timeout=max(0, self.end - time.monotonic()) if self.end else None)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGINT)  # on which ninja ends what it runs
                child.communicate()
                raise TimeIsOver from None
            return subprocess.CompletedProcess(command, child.returncode, out, err)

    def configure(self, arguments, optimize):
        header = self.tree / "tests/faults/fault.h"
        done = self.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                         "-DDYNASOAR_CUDA=OFF", "-DDYNASOAR_BENCHMARKS=OFF",
                         "-DDYNASOAR_ALLOCATORS=soa", "-DDYNASOAR_WA_TOR_ALLOCATORS=soa",
                         f"-DCMAKE_CXX_FLAGS=-w -include {header}", f"-DCMAKE_CXX_FLAGS_RELEASE={optimize} -DNDEBUG {CHECKS}",
                         *arguments])
        if done.returncode != 0:
            raise RuntimeError(f"CMake fails\n{done.stdout[-2000:]}{done.stderr[-4000:]}")

    def programs_of(self, tests):
        """The programs that ctest's files name in the commands of tests whose names match, as far as ninja makes them."""
        programs = set()
        for file in self.build.rglob("CTestTestfile.cmake"):
            for line in re.findall(r"^add_test\((.*)\)$", file.read_text(), re.MULTILINE):
                # Versions of CMake quote words as "word" or as [=[word]=].
                name, *words = [word for _, word in re.findall(r'("|\[=*\[)(.*?)(?:"|\]=*\])', line)]
                if tests(name):
                    programs |= {word[len(str(self.build)) + 1:] for word in words if word.startswith(f"{self.build}/")}
        return sorted(programs & self.made())

    def made(self):
        """What ninja makes, relative to the folder of the build."""
        listed = self.run(["ninja", "-C", self.build, "-t", "targets", "all"]).stdout
        return {line.split(":")[0] for line in listed.split("\n")}

    def compile(self, programs, jobs):
        """Builds, and drops the faults that do not compile: of each header alone first, because all others wait for that."""
        if not programs:
            return
        if any(re.match(r"(dsl|allocator)/(.*/)?include/.*\.h$", fault.file) for fault in self.faults):
            self.make(["test_headers_alone"], jobs)
        self.make(programs, jobs)

    def make(self, programs, jobs):
        while programs:
            done = self.run(["ninja", "-C", self.build, "-j", jobs, "-k", 0, *programs])
            with self.log.open("a") as log:
                log.write(done.stdout)
            if done.returncode == 0:
                return
            wrong = self.blamed(done.stdout)
            if not wrong:
                raise RuntimeError(f"the tree does not build, for no fault that was planted; see {self.log}\n"
                                   f"{done.stdout[-3000:]}{done.stderr[-1000:]}")
            self.drop(wrong)

    def blamed(self, output):
        """The faults on the lines that the compiler names: in errors, or, if these are elsewhere, on the way to them."""
        lines = {}
        for file in {fault.file for fault in self.faults}:
            for number, line in enumerate((self.tree / file).read_text().split("\n"), 1):
                for fault in re.findall(r"dynasoar_fault\((\d+)\)", line):
                    for around in range(number - 2, number + 3):  # an expression may be longer than its line
                        lines.setdefault((file, around), {})[int(fault)] = abs(around - number)
        wrong = set()
        for part in re.split(r"^FAILED: ", output, flags=re.MULTILINE)[1:]:
            for errors in (r":(?=\d+:\d+: (?:fatal )?error:)", r":(?=\d+:)"):
                named = {self.nearest(lines, file, int(line))
                         for file, line in re.findall(r"([^\s:]+)" + errors + r"(\d+)", part)} - {None}
                if named:
                    wrong |= named
                    break
        return wrong

    def nearest(self, lines, file, line):
        name = os.path.relpath(os.path.join(self.build, file), self.tree)
        there = lines.get((name, line), {})
        return min(there, key=there.get) if there else None

    def drop(self, numbers):
        print(f"dropped, because they do not compile: {len(numbers)}", flush=True)
        for number in numbers:
            self.known.keep(next(fault for fault in self.faults if fault.number == number).identity(), True)
        self.dropped += [fault for fault in self.faults if fault.number in numbers]
        self.faults = [fault for fault in self.faults if fault.number not in numbers]
        for name in {fault.file for fault in self.dropped if fault.number in numbers}:
            source = self.root / name
            write_if_changed(self.tree / name, self.planted(name, source))
