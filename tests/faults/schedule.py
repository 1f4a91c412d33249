"""Records what tests come to and tries faults with them, on all cores, until the time is over."""
import heapq
import itertools
import os
import re
import threading
import time

import test_runs


def words(text):
    return set(re.split(r"[\W_]+", text)) - {"", "h", "cpp", "include", "src", "dynasoar"}


class Schedule:
    """Tests are recorded first. Then pairs of a fault and a test are run, those first that take little time for the chance
    that the test notices the fault: more, if its name has words in common with the path of the file. So what is left when
    the time is over are the least promising pairs.
    """

    def __init__(self, faults, kept_tests, kept_faults, end, settled):
        """@param end   a time of the clock time.monotonic, or None. @param settled   is called after each fault is found"""
        self.faults = {fault.number: fault for fault in faults}
        self.kept_tests, self.kept_faults, self.end, self.settled = kept_tests, kept_faults, end, settled
        self.changed = threading.Condition()
        self.queue, self.order = [], itertools.count()
        self.running = 0
        self.stopped = False
        self.recorded = []
        self.left_out = {}

    def stop(self):
        self.stopped = True

    def over(self):
        return self.stopped or self.end is not None and time.monotonic() >= self.end

    def run(self, tests, jobs):
        for test in tests:
            # Most of those that are scripts run many programs and take long, so they begin first.
            self.put(-1 if test.is_doctest else -2, self.record, test)
        cores = sorted(os.sched_getaffinity(0))
        threads = [threading.Thread(target=self.work, args=({cores[2 * i % len(cores)], cores[(2 * i + 1) % len(cores)]},))
                   for i in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for test in tests:
            if test not in self.recorded:
                self.left_out.setdefault(test.name, "was not run without a fault, because the time was over")

    def work(self, cores):
        os.sched_setaffinity(0, cores)  # of this thread and its children, which would start a thread for every core
        while (task := self.take()) is not None:
            try:
                task()
            except BaseException:
                self.stop()
                raise
            finally:
                with self.changed:
                    self.running -= 1
                    self.changed.notify_all()

    def put(self, priority, function, *arguments):
        with self.changed:
            heapq.heappush(self.queue, (priority, next(self.order), lambda: function(*arguments)))
            self.changed.notify()

    def take(self):
        """@return what to do next, or None if nothing is left"""
        with self.changed:
            while not self.queue and self.running and not self.over():
                self.changed.wait(1)
            if not self.queue or self.over():
                return None
            self.running += 1
            return heapq.heappop(self.queue)[2]

    def record(self, test):
        known = self.kept_tests.get(test.name)
        if known is None:
            reason = test_runs.record(test, self.faults.values(), self.over)
            if self.over():
                return
            known = self.kept_tests.keep(test.name, dict(reason=reason, seconds=round(test.seconds, 1), reached=sorted(test.reached),
                                                         command=test.command))
            print(f"{test.name}: {test.seconds:.1f} s, {reason or f'comes to {len(test.reached)} places'}", flush=True)
        test.seconds, test.reached, test.command = known["seconds"], set(known["reached"]), known["command"]
        if known["reason"]:
            self.left_out[test.name] = known["reason"]
            return
        with self.changed:
            self.recorded.append(test)
        for number in test.reached & self.faults.keys():
            if test.name not in self.state(number)["passed"]:
                in_common = len(words(test.name) & words(self.faults[number].file))
                self.put(test.seconds / 4 ** in_common, self.judge, number, test)

    def state(self, number):
        return self.kept_faults.get(number) or dict(found=None, passed=[])

    def is_found(self, number):
        return self.state(number)["found"] is not None

    def judge(self, number, test):
        if self.is_found(number):
            return
        found = test_runs.judge(number, test, lambda: self.over() or self.is_found(number))
        if self.over() or self.is_found(number):
            return
        with self.changed:
            before = self.state(number)
            self.kept_faults.keep(number, dict(found=found, passed=before["passed"] + ([] if found else [test.name])))
        if found:
            self.settled()

    def untried(self, number):
        """The names of tests that come to the place of a fault that is not found, but that did not run."""
        if self.is_found(number):
            return []
        return sorted(test.name for test in self.recorded
                      if number in test.reached and test.name not in self.state(number)["passed"])
