"""Runs tests of a build, with one fault or none, each in a folder of its own."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

LEAST_SECONDS = 20  # before a test counts as one that does not end
SLOWER = 5  # or so many times as long as it takes without faults
LONGEST = 600  # seconds without a fault; tests that take longer are not used
MOST_LEFT_OUT = 5  # cases of a program that cannot succeed on this machine
NOT_BUILT = "is not built"
MOST_MEMORY = 16 << 20  # KiB for each process, because some faults allocate without end


class Test:
    def __init__(self, description, build):
        self.build = f"{build}/"
        properties = {p["name"]: p["value"] for p in description.get("properties", [])}
        self.name = description["name"]
        self.command = list(description.get("command", []))
        self.environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        self.folder = properties.get("WORKING_DIRECTORY")
        self.skipped_code = properties.get("SKIP_RETURN_CODE")
        self.skipped_text = properties.get("SKIP_REGULAR_EXPRESSION", [])
        self.disabled = properties.get("DISABLED", False)
        self.needs_others = bool(properties.get("FIXTURES_REQUIRED") or properties.get("FIXTURES_SETUP"))
        self.is_doctest = len(self.command) == 1 and pathlib.Path(self.command[0]).name.startswith("test_")
        if self.is_doctest:
            self.command.append("--abort-after=1")
        self.seconds = 0.0
        self.reached = set()

    def skips(self, code, text):
        return code == self.skipped_code is not None or any(re.search(part, text) for part in self.skipped_text)

    def limit(self):
        return max(LEAST_SECONDS, SLOWER * self.seconds)


def tests_of(build, wanted, made):
    """@param made   what ninja makes, relative to the folder. @return the tests that can run, and why the others cannot"""
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True)
    tests, left_out = [], {}
    for test in [Test(description, build) for description in json.loads(listed.stdout)["tests"]]:
        if not wanted(test.name):
            continue
        missing = [word for word in test.command
                   if word.removeprefix(f"{build}/") in made and not pathlib.Path(word).exists()]
        if not test.command or missing:
            left_out[test.name] = NOT_BUILT
        elif test.disabled or test.needs_others:
            left_out[test.name] = "is disabled" if test.disabled else "shares a file with another one"
        else:
            tests.append(test)
    return tests, left_out


def run(test, limit, cancelled, fault=None, reached=None):
    """@return the exit code, negative for a signal, or None if it did not end; the seconds; and the end of the output"""
    with tempfile.TemporaryDirectory(prefix="dynasoar-fault-", ignore_cleanup_errors=True) as folder:
        environment = {**os.environ, "OMP_WAIT_POLICY": "passive", **test.environment, "TMPDIR": folder,
                       "PYTHONDONTWRITEBYTECODE": "1"}
        for name, value in (("DYNASOAR_FAULT", fault), ("DYNASOAR_FAULTS_REACHED", reached)):
            environment.pop(name, None)
            if value is not None:
                environment[name] = str(value)
        # What a test would write beside its program, it writes here.
        # Signals that a background job of a shell ignores, such as this one may be, are some that tests send.
        command = ["sh", "-c", f'ulimit -d {MOST_MEMORY}; exec "$@"', "sh", "env", "--default-signal=HUP,INT,QUIT,TERM"]
        command += [word if pathlib.Path(word).exists() or not word.startswith(test.build) else os.path.join(folder, "made")
                    for word in test.command]
        os.chmod(folder, 0o755)  # some tests go on as another user
        begin = time.time()
        with open(os.path.join(folder, "output"), "w+b") as output:
            child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code = wait(child, begin + limit, cancelled)
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)  # what it started, too
                except ProcessLookupError:
                    pass
                child.wait()
            output.seek(max(0, output.seek(0, os.SEEK_END) - 3000))
            text = output.read().decode(errors="replace")
        return code, time.time() - begin, text


def wait(child, end, cancelled):
    """@return the exit code, or None if the child did not end in time, or if it is not needed any more"""
    while time.time() < end and not cancelled():
        try:
            return child.wait(0.5)
        except subprocess.TimeoutExpired:
            pass
    return None


def record(test, faults, cancelled):
    """Runs a test without a fault and notes which places it reaches. @return why it cannot be used, or None

    Cases of doctest that fail even so are left out from then on.
    """
    with tempfile.NamedTemporaryFile(prefix="dynasoar-reached-") as file:
        left_out = []
        for _ in range(MOST_LEFT_OUT + 1):
            file.truncate(0)
            file.truncate(max(fault.number for fault in faults) + 1)
            code, test.seconds, text = run(test, LONGEST, cancelled, reached=file.name)
            failed = re.findall(r"^TEST CASE:  (.+)$", text, re.MULTILINE)
            if not test.is_doctest or code in (0, None, test.skipped_code) or not failed:
                break
            left_out.append(failed[-1].replace(",", "?"))  # commas separate names
            test.command[2:] = ["--test-case-exclude=" + ",".join(left_out)]
        if test.skips(code, text):
            return f"skips itself: {text.strip().splitlines()[-1] if text.strip() else ''}"
        if code != 0:
            return f"fails without a fault ({'did not end' if code is None else f'exit code {code}'}): {text.strip()[-300:]}"
        bytes_ = pathlib.Path(file.name).read_bytes()
        test.reached = {fault.number for fault in faults if bytes_[fault.number]}
        return None


def judge(fault, test, cancelled):
    """@return how a test notices a fault, or None"""
    code, seconds, _ = run(test, test.limit(), cancelled, fault=fault)
    if code is None:
        return dict(test=test.name, how="did not end", seconds=round(seconds, 1))
    # Twice, so that a test that fails now and then finds nothing.
    if code not in (0, test.skipped_code) and run(test, test.limit(), cancelled, fault=fault)[0] != 0:
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return dict(test=test.name, how=how, seconds=round(seconds, 1))
    return None
