"""What the tests of the applications' command lines share: helpers, and the test cases that hold for every application.

A script, such as wa_tor_cli_test.py, has a class for each program. The class derives from ApplicationTests and
unittest.TestCase, describes the program in its attributes, and adds the tests of what is particular to the program. The
script ends with a call of main().
"""

import contextlib
import csv
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

# Exit codes of the programs, as in dynasoar/program/options.h, and of a script whose tests are skipped.
EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_HEAP_TOO_SMALL = 3
EXIT_NOT_WRITTEN = 4
EXIT_INTERRUPTED = 130
EXIT_SKIPPED = 77

CHART_SIZE = (1920, 1080)
ENDLESS = ("--steps", "1000000000")
NO_PICTURES = ("--chart", "none", "--picture", "none")
CHECKPOINT_ITEMS, CHECKPOINT_VALUES = 8, 10  # sections, see docs/checkpoints.md; the first value is the step
DISTRIBUTION_PYTHON = "/usr/bin/python3"  # which has the distribution's packages
READ_HDF5 = """
import h5py, json, sys
with h5py.File(sys.argv[1]) as file:
    (group,) = file.values()
    print(json.dumps([int(group.attrs["step"]),
                      {name: [float(str(value)) for value in data] for name, data in group.items() if data.ndim == 1}]))
"""
PATIENCE = 60  # seconds to wait for what a program does in a moment

# What a program writes to a terminal, as regular expressions: every line erases what is left of the one before it.
PROGRESS_LINE = r"\r[█░]{20} step \d+/\d+  [^\r\n]+\x1b\[K"
ERASED_LINE = r"\r\x1b\[K"

# Least and most values of options.
FRACTION = (0, 1)
NATURAL = (0, 2**31 - 1)
POSITIVE = (1, 2**31 - 1)


def path_argument(number):
    """An argument of the script, as an absolute path."""
    return pathlib.Path(sys.argv[number]).resolve()


def run(program, *arguments, cwd, timeout=300, **options):
    return subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False, **options)


def read_csv(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.reader(file))


def animation(path):
    """Width and height of a WebP animation (nothing for a single picture), and the number of its pictures."""
    data = path.read_bytes()
    assert data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) == 8 + struct.unpack("<I", data[4:8])[0], data[:12]
    position, size, pictures = 12, None, 0
    while position < len(data):
        kind, length = data[position:position + 4], struct.unpack("<I", data[position + 4:position + 8])[0]
        if kind == b"VP8X":
            size = tuple(1 + int.from_bytes(data[position + at:position + at + 3], "little") for at in (12, 15))
        pictures += kind == b"ANMF"
        position += 8 + length + length % 2
    return size, max(1, pictures)  # one that does not move is a picture


def wrong_whole_numbers(least, most):
    """Values to refuse for an option with this range."""
    return (str(least - 1), str(most + 1), "99999999999", "ten", "1.5", "")


def wrong_real_numbers(least, most):
    """Values to refuse for an option with this range."""
    return (str(least - 0.1), str(most + 0.1), "inf", "nan", "half", "1x", "")


def png_size(path):
    """Width and height of a PNG file, after checking the checksums of all chunks and that its pixels decompress."""
    return read_png(path)[0]


def read_png(path):
    """Width and height, and the decompressed rows."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is not a PNG file"
    position, pixels, kinds, size = 8, b"", [], None
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        body = data[position + 8:position + 8 + length]
        (checksum,) = struct.unpack(">I", data[position + 8 + length:position + 12 + length])
        assert checksum == zlib.crc32(kind + body), f"{path}: wrong checksum of {kind}"
        kinds.append(kind)
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
        if kind == b"IDAT":
            pixels += body
        position += 12 + length
    assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND", f"{path} is not complete"
    rows = zlib.decompress(pixels)
    assert len(rows) >= size[0] * size[1] * 3, f"{path} has too few pixels"
    return size, rows


def png_lines(path):
    """The first two and the last two lines of pixels at each edge, of a picture with 3 bytes a pixel."""
    (width, height), data = read_png(path)
    stride, above, rows = 3 * width, bytes(3 * width), []
    assert len(data) == (1 + stride) * height, f"{path} has not 3 bytes a pixel"
    for y in range(height):
        kind, row = data[y * (1 + stride)], bytearray(data[y * (1 + stride) + 1:(y + 1) * (1 + stride)])
        for i in range(stride if kind else 0):
            left, corner = (row[i - 3], above[i - 3]) if i >= 3 else (0, 0)
            nearest = min((left, above[i], corner), key=lambda value: abs(left + above[i] - corner - value))
            row[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2, nearest)[kind]) & 255
        above = bytes(row)
        rows.append(above)
    columns = [b"".join(row[3 * x:][:3] for row in rows) for x in (0, 1, width - 2, width - 1)]
    return {"top": rows[:2], "bottom": rows[-2:], "left": columns[:2], "right": columns[2:]}


def read_terminal(controller, redraws=sys.maxsize):
    """What a program writes to a pseudoterminal until it has begun to redraw a line so often, or ends."""
    text = b""
    with contextlib.suppress(OSError):  # how Linux reports that the other side is closed
        while text.count(b"\r") < redraws and select.select([controller], [], [], PATIENCE)[0]:
            text += os.read(controller, 4096)
    return text


def checkpoint_checksum(data):
    """As docs/checkpoints.md defines it."""
    mask, factor = 2**64 - 1, 0x9E3779B97F4A7C15

    def mixed(value, word):
        product = (value ^ word) * factor & mask
        return (product << 31 | product >> 33) & mask

    lanes = [(i + 1) * factor & mask for i in range(8)]
    for number, (word,) in enumerate(struct.iter_unpack("<Q", data + bytes(-len(data) % 64))):
        lanes[number % 8] = mixed(lanes[number % 8], word)
    result = len(data)
    for lane in lanes:
        result = mixed(result, lane)
    return result ^ result >> 32


def forge_checkpoint(path, section, old, new):
    """Replaces the first `old` in a section by `new`, which is as long, and makes all checksums right again."""
    assert len(old) == len(new), (old, new)
    data, header_sums, position, is_done = bytearray(path.read_bytes()), b"", 64, False
    while position < len(data):
        kind, stored = struct.unpack_from("<I12xQ", data, position)
        begin = position + 40
        contents = bytes(data[begin:begin + stored])
        if kind == section and old in contents and not is_done:
            contents, is_done = contents.replace(old, new, 1), True
            data[begin:begin + stored] = contents
            struct.pack_into("<Q", data, position + 24, checkpoint_checksum(contents))
            struct.pack_into("<Q", data, position + 32, checkpoint_checksum(bytes(data[position:position + 32])))
        header_sums += data[position + 32:begin]
        position = begin + stored
    assert is_done, f"{path} has no {old} in section {section}"
    struct.pack_into("<Q", data, 40, checkpoint_checksum(header_sums))
    struct.pack_into("<Q", data, 56, checkpoint_checksum(bytes(data[:56])))
    path.write_bytes(data)


class CheckpointTests:
    """What also holds for applications that can be saved: a base before ApplicationTests."""

    checkpoint_run = ()  # arguments beside small_run, if results depend on the number of threads
    other_program = None  # whose checkpoints are refused
    wrong_option = ("--seed", "7")

    def outputs_of(self, *arguments):
        """The rows after the header, and the picture."""
        self.simulate_small_run(*self.checkpoint_run, *arguments)
        return read_csv(self.folder / self.log_file)[1:], (self.folder / self.picture_file).read_bytes()

    def assert_goes_on_like_one_run(self, first_row, rows, picture, expected):
        self.assertEqual(rows, expected[0][first_row:])
        self.assertEqual(picture, expected[1])

    def test_a_restored_run_goes_on_like_one_that_was_not_interrupted(self):
        half = self.steps // 2
        for variant in self.variants:
            with self.subTest(variant=variant):
                self.empty_folder()
                expected = self.outputs_of("--variant", variant)
                self.simulate(*self.small_run, *self.checkpoint_run, "--variant", variant, "--steps", str(half),
                              "--checkpoint", "run.checkpoint")
                restored = self.outputs_of("--variant", variant, "--restore", "run.checkpoint")
                self.assert_goes_on_like_one_run(half, *restored, expected)

    def test_a_run_that_was_killed_goes_on_from_its_last_checkpoint(self):
        with self.process(*self.small_run, *self.checkpoint_run, *ENDLESS, "--checkpoint", "run.checkpoint", "--checkpoint-every", "3",
                          stdout=subprocess.DEVNULL) as process:
            self.wait_for_rows(10)
            process.kill()
            process.wait(PATIENCE)
        first = self.step_of_checkpoint()
        self.assertEqual(first % 3, 0)
        self.check_that_it_goes_on(first)

    def test_an_interrupt_writes_a_checkpoint(self):
        with self.process(*self.small_run, *self.checkpoint_run, *ENDLESS, "--checkpoint", "run.checkpoint", "--checkpoint-every", "1000000",
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            self.wait_for_rows(10)
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, EXIT_INTERRUPTED, errors)
        last = int(re.search(r"interrupted after step (\d+) of", errors)[1])
        self.assertEqual(self.step_of_checkpoint(), last)
        self.check_that_it_goes_on(last)

    def step_of_checkpoint(self):
        """As the refusal of fewer steps says it."""
        result = self.run_program(*self.small_run, "--steps", "0", "--restore", "run.checkpoint", timeout=PATIENCE)
        self.assertEqual(result.returncode, EXIT_USAGE, result)
        return int(re.search(r"has made ([\d,]+) steps? already", result.stderr)[1].replace(",", ""))

    def check_that_it_goes_on(self, first):
        steps = ("--steps", str(first + 5))
        self.simulate(*self.small_run, *self.checkpoint_run, *steps, "--restore", "run.checkpoint")
        restored = read_csv(self.folder / self.log_file)[1:], (self.folder / self.picture_file).read_bytes()
        self.simulate(*self.small_run, *self.checkpoint_run, *steps)
        expected = read_csv(self.folder / self.log_file)[1:], (self.folder / self.picture_file).read_bytes()
        self.assert_goes_on_like_one_run(first, *restored, expected)

    def test_a_checkpoint_of_another_program_is_refused_by_name(self):
        if self.other_program is None:
            self.skipTest("only one program is given")
        run(self.other_program, "--steps", "0", "--checkpoint", "other", *NO_PICTURES, "--log", "none", cwd=self.folder)
        self.assert_refused(*self.small_run, "--quiet", "--restore", "other",
                            mentions=f"--restore: other is a checkpoint of the program {self.other_program.name}, not of {self.program.name}")

    def test_a_checkpoint_with_more_steps_than_a_run_can_make_is_refused(self):
        self.simulate_small_run("--checkpoint", "run.checkpoint", "--quiet")
        before = self.steps
        for steps in (2**31, 2**32 - 1):
            forge_checkpoint(self.folder / "run.checkpoint", CHECKPOINT_VALUES, struct.pack("<I", before), struct.pack("<I", steps))
            self.assert_refused(*self.small_run, *ENDLESS, "--quiet", "--restore", "run.checkpoint",
                                mentions=f"--restore: run.checkpoint says that {steps} steps were made")
            before = steps

    def test_what_a_forged_checkpoint_says_of_its_program_cannot_control_the_terminal(self):
        self.simulate_small_run("--checkpoint", "run.checkpoint", "--quiet")
        name = self.program.name.encode()
        forge_checkpoint(self.folder / "run.checkpoint", CHECKPOINT_VALUES, name, b"\x1b" * len(name))
        result = self.run_program(*self.small_run, "--quiet", "--restore", "run.checkpoint")
        self.assertEqual(result.returncode, EXIT_USAGE, result)
        self.assertIn("is a checkpoint of the program ", result.stderr)
        self.assertNotIn("\x1b", result.stderr)

    def test_a_checkpoint_takes_the_place_of_the_one_that_the_run_goes_on_from(self):
        self.simulate_small_run("--checkpoint", "run.checkpoint", "--quiet")
        steps = ("--steps", str(self.steps + 1))
        self.simulate(*self.small_run, *steps, "--restore", "run.checkpoint", "--checkpoint", "run.checkpoint", "--quiet")
        self.assertEqual(self.step_of_checkpoint(), self.steps + 1)

    def test_checkpoints_that_do_not_fit_are_refused(self):
        self.simulate_small_run("--checkpoint", "run.checkpoint", "--quiet")
        (self.folder / "text").write_text("no checkpoint, but long enough to be one" * 10)
        again = (*self.small_run, "--steps", str(self.steps), "--restore", "run.checkpoint", "--quiet")
        for arguments, mentions, code in (
                (self.wrong_option, f"{self.wrong_option[0]}.*: the run in run.checkpoint (has|is of) ", EXIT_USAGE),
                (("--baseline", "reference"), "leave out --baseline", EXIT_USAGE),
                (("--steps", str(self.steps - 1)), f"--steps: the run in run.checkpoint has made {self.steps} steps", EXIT_USAGE),
                (("--restore", "missing"), "cannot read 'missing': No such file", EXIT_FAILURE),
                (("--restore", "text"), "is no checkpoint", EXIT_FAILURE)):
            with self.subTest(arguments=arguments):
                given = list(again)
                if arguments[0] in given:
                    given[given.index(arguments[0]) + 1] = arguments[1]
                else:
                    given += arguments
                result = self.run_program(*given, timeout=PATIENCE)
                self.assertEqual(result.returncode, code, result)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertRegex(result.stderr, mentions)


class LossTests:
    """Messages and outputs that fail while a run goes on: a base before CheckpointTests, for one program, because this is
    code that all of them share."""

    every_output = ("--checkpoint", "out/c", "--checkpoint-every", "2", "--export", "out/e.csv",
                    "--export-every", "2", "--frames", "out/f", "--every", "2")

    run_that_saves: tuple  # whose checkpoint takes a moment to write; the last four arguments are about checkpoints

    def lost_run(self, **streams):
        """A run with streams that cannot be written to. @return its exit code and errors, if they can be read"""
        with self.process(*self.small_run, "--steps", "12", *NO_PICTURES, "--checkpoint", "c", **streams) as process:
            errors = process.communicate(timeout=PATIENCE)[1]
        self.rows(12)
        for name in (self.log_file, "c"):
            for text in (b"step 1", b"Population"):  # of the progress, and of the summary
                self.assertNotIn(text, (self.folder / name).read_bytes())
        return process.returncode, (errors or b"").decode()

    def test_messages_that_cannot_be_written_do_not_end_a_run(self):
        reader, broken = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, broken)
        with open("/dev/full", "wb") as full:
            for errors in (full, broken):
                self.assertEqual(self.lost_run(stdout=subprocess.DEVNULL, stderr=errors)[0], 0)
            for output in (full, broken):
                code, errors = self.lost_run(stdout=output, stderr=subprocess.PIPE)
                self.assertEqual(code, EXIT_NOT_WRITTEN, errors)
                self.assertIn(f"{self.program.name}: standard output: ", errors)
                self.assertRegex(errors.splitlines()[-1], "not everything was written.*standard output")
            with self.process("--help", stdout=full, stderr=subprocess.PIPE) as process:
                self.assertIn(b"standard output", process.communicate(timeout=PATIENCE)[1])
            self.assertEqual(process.returncode, EXIT_FAILURE)

    def test_a_pipe_that_nobody_reads_does_not_stop_a_run(self):
        reader, pipe = os.pipe()
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, pipe)
        os.set_blocking(pipe, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(pipe, b"x" * 4096)
        os.set_blocking(pipe, True)
        self.assertEqual(self.lost_run(stdout=subprocess.DEVNULL, stderr=pipe)[0], 0)
        with self.process(*self.small_run, "--steps", "5", stdout=pipe, stderr=subprocess.PIPE) as process:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(1)  # for a reader, which there may be
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)

    def test_a_log_that_nobody_reads(self):
        os.mkfifo(self.folder / "log.csv")
        self.assert_refused(*self.small_run, *ENDLESS, "--quiet", "--log", "log.csv", mentions=("--log: ", "start the reader first"))
        reader = os.open(self.folder / "log.csv", os.O_RDONLY | os.O_NONBLOCK)
        with self.process(*self.small_run, "--steps", "5", "--quiet", "--log", "log.csv", *NO_PICTURES, "--checkpoint", "c",
                          stderr=subprocess.PIPE, text=True) as process:
            select.select([reader], [], [], PATIENCE)
            os.close(reader)  # perhaps after the last row
            errors = process.communicate(timeout=PATIENCE)[1]
        self.assertIn(process.returncode, (0, EXIT_NOT_WRITTEN), errors)
        self.assertTrue((self.folder / "c").exists())

    def test_closed_streams_are_not_taken_for_files(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            def close(numbers=closed):
                for number in numbers:
                    os.close(number)
            self.assertEqual(self.lost_run(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=close)[0], 0)

    def test_what_is_printed_does_not_get_into_data(self):
        with open(self.folder / "data.csv", "wb") as file:
            for stream, name in (("stdout", "output"), ("stderr", "error")):
                for option in ("--log", "--checkpoint"):
                    with self.process(*ENDLESS, option, "data.csv", **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: file})) as process:
                        errors = process.communicate(timeout=PATIENCE)[1]
                    self.assertEqual(process.returncode, EXIT_USAGE)
                    said = errors if stream == "stdout" else (self.folder / "data.csv").read_bytes()
                    self.assertIn(f"{option} and standard {name} are the same file".encode(), said)

        result = subprocess.run([self.program, *self.small_run, "--steps", "1", "--quiet", "--chart", "none", "--picture", "/dev/stdout"],
                                cwd=self.folder, capture_output=True, timeout=PATIENCE, check=True)
        (self.folder / "picture").write_bytes(result.stdout)
        self.assertEqual(png_size(self.folder / "picture"), self.picture_size)

    def test_a_terminal_that_goes_away_ends_the_run_with_a_checkpoint(self):
        for ignored in (False, True):
            with self.subTest(ignored=ignored):
                self.empty_folder()
                controller, terminal = pty.openpty()
                handling = (lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) if ignored else None
                with self.process(*self.small_run, *ENDLESS, "--checkpoint", "c", stdout=subprocess.DEVNULL, stderr=terminal, preexec_fn=handling) as process:
                    os.close(terminal)
                    self.wait_for_rows(10)
                    os.close(controller)
                    process.send_signal(signal.SIGHUP)
                    if ignored:
                        self.wait_for_rows((self.folder / self.log_file).read_text().count("\n") + 10)
                        process.send_signal(signal.SIGTERM)
                    self.assertEqual(process.wait(PATIENCE), EXIT_INTERRUPTED)
                self.assertTrue((self.folder / "c").exists())

    def test_two_signals_at_a_time_end_the_run_in_good_order(self):
        for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGHUP, signal.SIGCONT), (signal.SIGXCPU, signal.SIGUSR1)):
            with self.process(*self.small_run, *ENDLESS, "--checkpoint", "c", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                self.wait_for_rows(10)
                process.send_signal(first)
                time.sleep(0.01)
                process.send_signal(second)
                self.assertEqual(process.wait(PATIENCE), EXIT_INTERRUPTED)
            self.assertTrue((self.folder / "c").exists())
            self.empty_folder()

    @contextlib.contextmanager
    def saving_process(self, *arguments):
        """A run that saves c after every step, and has done so."""
        with self.process(*self.run_that_saves, *ENDLESS, *NO_PICTURES, *arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
            self.wait_for(lambda: (self.folder / "c").exists())
            yield process

    def wait_for(self, is_true):
        deadline = time.monotonic() + PATIENCE
        while not is_true():
            self.assertLess(time.monotonic(), deadline)

    def stop_it(self, process, while_it_saves):
        """Stops a process, either when it writes c or when it does not."""

        def is_stopped_there():
            if (self.folder / "c.part").exists() != while_it_saves:
                return False
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            if (self.folder / "c.part").exists() == while_it_saves:
                return True
            process.send_signal(signal.SIGCONT)
            return False

        self.wait_for(is_stopped_there)

    def check_checkpoint(self, step=None):
        """That c can be loaded, and is of that step."""
        result = self.run_program(*self.run_that_saves[:-4], "--steps", "0", "--restore", "c")
        loaded = re.search(r"has made ([\d,]+) step", result.stderr)
        self.assertIsNotNone(loaded, result)
        if step is not None:
            self.assertEqual(int(loaded[1].replace(",", "")), step)

    def test_a_signal_while_a_checkpoint_is_written_lets_the_run_finish_it(self):
        with self.saving_process() as process:
            self.stop_it(process, while_it_saves=True)
            self.check_checkpoint()  # the one before
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGCONT)
            errors = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, EXIT_INTERRUPTED, errors)
        self.check_checkpoint(int(re.search(r"interrupted after step (\d+)", errors)[1]))
        self.assertFalse((self.folder / "c.part").exists())

    def test_a_run_that_is_killed_while_it_saves_leaves_the_checkpoint_before(self):
        with self.saving_process() as process:
            self.stop_it(process, while_it_saves=True)
            before = (self.folder / "c").read_bytes()
            process.kill()
            process.wait(PATIENCE)
        self.assertTrue(before == (self.folder / "c").read_bytes())
        self.check_checkpoint()
        self.simulate(*self.run_that_saves, "--steps", "1", *NO_PICTURES, "--quiet")
        self.check_checkpoint(1)
        self.assertFalse((self.folder / "c.part").exists())

    def test_two_runs_that_save_to_the_same_checkpoint_do_not_mix(self):
        with self.saving_process() as first:
            self.stop_it(first, while_it_saves=True)
            before = (self.folder / "c").read_bytes()
            self.assert_refused(*self.run_that_saves, *ENDLESS, "--log", "second.csv",
                                mentions="c.part' is being written by another save; give each its own path")
            first.send_signal(signal.SIGCONT)
            self.stop_it(first, while_it_saves=False)
            before = (self.folder / "c").read_bytes()
            with self.saving_process("--log", "second.csv") as second:
                self.wait_for(lambda: (self.folder / "c").read_bytes() != before)
                first.send_signal(signal.SIGCONT)
                for _ in range(5):  # while both save, each when the other does not
                    self.check_checkpoint()
                for process in (first, second):
                    process.send_signal(signal.SIGTERM)
                    errors = process.communicate(timeout=PATIENCE)[1]
                    self.assertIn(process.returncode, (EXIT_INTERRUPTED, EXIT_NOT_WRITTEN), errors)
        self.check_checkpoint()
        self.assertFalse((self.folder / "c.part").exists())

    def test_an_animation_of_a_run_that_is_interrupted_is_never_half_written(self):
        arguments = (*self.small_run, *NO_PICTURES, "--animation", "a.webp", "--every", "1")
        if "built without libwebp" in self.run_program(*arguments, "--steps", "0", "--log", "none").stderr:
            self.skipTest("needs libwebp (Debian: libwebp-dev) when the program is built")
        path = self.folder / "a.webp"
        before = path.read_bytes()
        with open(path, "rb") as opened, self.process(*arguments, *ENDLESS, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            self.wait_for_rows(30)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(PATIENCE), EXIT_INTERRUPTED)
            # Another file took its name when it was complete: who has opened it before, or is killed meanwhile, has the old one.
            self.assertEqual(opened.read(), before)
        self.assertGreater(animation(path)[1], 1)

    def test_a_folder_that_disappears_costs_what_is_written_meanwhile(self):
        (self.folder / "out").mkdir()
        with self.process(*self.small_run, *ENDLESS, *self.every_output, "--quiet", stderr=subprocess.PIPE, text=True) as process:
            for change in (lambda: (self.folder / "out").rename(self.folder / "gone"), lambda: (self.folder / "gone").rename(self.folder / "out"), lambda: None):
                self.wait_for_more_rows(10)
                change()
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=PATIENCE)[1]
        for option in ("--checkpoint", "--export", "--frames"):
            self.assertEqual(errors.count(f"{self.program.name}: {option}: "), 1, errors)  # not each time
        last = self.check_losses(process, errors, "--checkpoint", "--export", "--frames")
        written = {int(path.name[2:8]) for path in (self.folder / "out").glob("e-*.csv")}
        self.assertIn(last // 2 * 2, written)  # after the folder was back
        self.assertNotEqual(written, set(range(0, last + 1, 2)))

    def test_a_log_on_a_full_disk_goes_on_when_there_is_room(self):
        for has_room in (True, False, False, False):  # where a line may end at the limit by chance
            with self.subTest(has_room=has_room):
                self.empty_folder()
                with self.process(*self.small_run, *ENDLESS, *NO_PICTURES, "--quiet", stderr=subprocess.PIPE, text=True) as process:
                    self.wait_for_rows(10)
                    limit = len((self.folder / self.log_file).read_bytes()) + 50  # in the middle of a line
                    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
                    (report,) = self.read_reports(process, 1)
                    if has_room:
                        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                        self.wait_for_more_rows(10)
                    process.send_signal(signal.SIGTERM)
                    errors = process.communicate(timeout=PATIENCE)[1]
                self.assertIn(f"{self.program.name}: --log: ", report)
                last = int(re.search(r"interrupted after step (\d+)", errors)[1])
                self.assertTrue((self.folder / self.log_file).read_text().endswith("\n"))
                if has_room:
                    self.assertEqual(process.returncode, EXIT_INTERRUPTED, errors)
                    self.rows(last)
                else:
                    self.assertEqual(process.returncode, EXIT_NOT_WRITTEN, errors)
                    self.assertIn("not everything was written, see above: --log", errors)
                    self.assertLess(len(read_csv(self.folder / self.log_file)) - 2, last)

    def test_a_disk_that_is_full_for_a_while_costs_what_is_written_meanwhile(self):
        """The limit on the size of files stands for the disk: it refuses every write, until it is lifted."""
        (self.folder / "out").mkdir()
        with self.process(*self.small_run, *ENDLESS, *NO_PICTURES, *self.every_output, "--quiet", stderr=subprocess.PIPE, text=True) as process:
            self.wait_for_rows(10)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            reports = self.read_reports(process, 4)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            self.wait_for_more_rows(10)
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=PATIENCE)[1]
        for option in ("--checkpoint", "--export", "--frames", "--log"):
            self.assertEqual(sum(f"{self.program.name}: {option}: " in line and ": File too large; " in line for line in reports), 1, reports)
        last = self.check_losses(process, errors, "--checkpoint", "--export", "--frames")  # the rows of the log were kept
        for steps in self.written_steps():
            self.assertEqual(steps[-1], last // 2 * 2)
            self.assertNotEqual(steps, list(range(0, last + 1, 2)))

    def test_files_that_another_process_is_saving_are_left_to_it(self):
        (self.folder / "out/f").mkdir(parents=True)
        with contextlib.ExitStack() as others:
            for path in ("out/e-000004.csv.part", "out/f/frame-000004.png.part"):
                others.enter_context(self.saved_by_another(path))
            process = others.enter_context(
                self.process(*self.small_run, *ENDLESS, *NO_PICTURES, *self.every_output, "--quiet", stderr=subprocess.PIPE, text=True))
            reports = self.read_reports(process, 2)
            with self.saved_by_another("out/c.part"):
                before = (self.folder / "out/c").read_bytes()
                reports += self.read_reports(process, 1)
                self.wait_for_more_rows(10)
                self.assertEqual((self.folder / "out/c").read_bytes(), before)
            self.wait_for_more_rows(10)
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=PATIENCE)[1]
        for option, path in (("--export", "e-000004.csv"), ("--frames", "f/frame-000004.png"), ("--checkpoint", "c")):
            report = rf"{self.program.name}: {option}: .*'out/{path}\.part' is being written by another save; give each its own path"
            self.assertEqual(sum(re.match(report, line) is not None for line in reports), 1, reports)
        last = self.check_losses(process, errors, "--checkpoint", "--export", "--frames")
        self.assertEqual(self.written_steps(), [[step for step in range(0, last + 1, 2) if step != 4]] * 2)

    def read_reports(self, process, number):
        """The next lines of a process's errors, which must come soon."""
        impatience = threading.Timer(PATIENCE, process.kill)
        impatience.start()
        lines = [process.stderr.readline() for _ in range(number)]
        impatience.cancel()
        self.assertNotIn("", lines, "a report is missing")
        return lines

    @contextlib.contextmanager
    def saved_by_another(self, path):
        """A temporary file that belongs to this process, as long as the block lasts."""
        path, is_taken = self.folder / path, False
        while not is_taken:
            with contextlib.suppress(FileExistsError, FileNotFoundError, BlockingIOError), open(path, "xb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_taken = os.path.samestat(os.fstat(file.fileno()), os.stat(path))  # not taken for one that was left behind
                if is_taken:
                    yield
                    path.unlink()

    def check_losses(self, process, errors, *options):
        """That the run was interrupted, has lost something of these options alone, and has saved its last step. @return that step"""
        self.assertEqual(process.returncode, EXIT_NOT_WRITTEN, errors)
        *_, interrupted, losses = errors.splitlines()
        found = re.fullmatch(rf"{self.program.name}: not everything was written, see above: (.*)", losses)
        self.assertIsNotNone(found, errors)
        self.assertEqual(sorted(text.split()[0] for text in found[1].split(", ")), sorted(options))
        last = int(re.search(r"interrupted after step (\d+)", interrupted)[1])
        self.rows(last)
        result = self.run_program(*self.small_run, "--steps", "0", "--restore", "out/c")
        self.assertIn(f"has made {last:,} step", result.stderr)
        return last

    def written_steps(self):
        """Of the files of --export and of the frames, which are complete."""
        self.assertEqual(list((self.folder / "out").rglob("*.part")), [])
        exports, frames = (sorted((self.folder / "out").glob(pattern)) for pattern in ("e-*.csv", "f/frame-*.png"))
        for path in exports:
            self.assertTrue(path.read_text().endswith("\n"), path)
        for path in frames:
            png_size(path)
        return [[int(re.search(r"-(\d+)", path.name)[1]) for path in paths] for paths in (exports, frames)]

    def test_results_that_cannot_be_written_at_the_end_are_reported(self):
        (self.folder / "out").mkdir()
        with self.process(*self.small_run, *ENDLESS, "--log", "out/log.csv", "--chart", "out/chart", "--picture", "picture", "--quiet", stderr=subprocess.PIPE, text=True) as process:
            self.log_file = "out/log.csv"
            self.wait_for_rows(10)
            shutil.rmtree(self.folder / "out")
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, EXIT_NOT_WRITTEN, errors)
        self.assertIn("--log: out/log.csv was removed or replaced", errors)
        self.assertRegex(errors.splitlines()[-1], r"--log, --chart$")
        self.assertEqual(png_size(self.folder / "picture"), self.picture_size)

    def test_a_log_that_another_file_has_replaced_is_reported(self):
        with self.process(*self.small_run, *ENDLESS, *NO_PICTURES, "--quiet", stderr=subprocess.PIPE, text=True) as process:
            self.wait_for_rows(10)
            (self.folder / "other").write_text("other\n")
            (self.folder / "other").replace(self.folder / self.log_file)
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, EXIT_NOT_WRITTEN, errors)
        self.assertIn(f"--log: {self.log_file} was removed or replaced during the run", errors)
        self.assertEqual((self.folder / self.log_file).read_text(), "other\n")

    def test_reports_on_a_terminal_have_lines_of_their_own(self):
        (self.folder / "out").mkdir()
        with self.process_on_terminal(*self.small_run, *ENDLESS, *NO_PICTURES, "--export", "out/e.csv", "--export-every", "50") as (process, terminal):
            text = read_terminal(terminal, redraws=4)
            (self.folder / "out").rename(self.folder / "gone")
            text += read_terminal(terminal, redraws=40)
            process.send_signal(signal.SIGTERM)
            text += read_terminal(terminal)
        self.assertRegex(text.decode(), rf"{ERASED_LINE}{self.program.name}: --export: ")

    def test_streams_that_are_open_are_not_opened_again(self):
        with self.process(*self.small_run, *ENDLESS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.wait_for_rows(1)
            opened = [os.readlink(link) for link in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()]
        self.assertNotIn("/dev/null", opened)

    def wait_for_more_rows(self, number):
        path = self.folder / self.log_file
        self.wait_for_rows(number + (path.read_text().count("\n") if path.exists() else 0))


def main(tests):
    """Runs the tests of the calling script.

    Exits with EXIT_SKIPPED if the programs, of which one is that of the class `tests`, need a GPU and there is none.
    """
    with tempfile.TemporaryDirectory() as folder:
        probe = run(tests.program, *tests.small_run, "--steps", "0", cwd=folder)
    if probe.returncode == EXIT_FAILURE and "no GPU" in probe.stderr:
        print("skipped:", probe.stderr.strip())
        sys.exit(EXIT_SKIPPED)
    unittest.main(argv=sys.argv[:1], failfast="DYNASOAR_FAULT" in os.environ)


class ApplicationTests:
    """Test cases for a program, and what to write more of them with. Every test has an empty folder for its runs.

    Derived classes set the attributes that have no value here, and those whose value here is not the program's.
    """

    program: pathlib.Path  # whose name is the one in its messages

    # Options that not all programs have, or not with the same default, as --help shows them: "--width N=1024".
    options: tuple
    whole_numbers = {}  # of the options, those that take whole numbers, with least and most value
    real_numbers = {}  # of the options, those that take real numbers, with least and most value
    shares = ()  # of the options, two whose sum must not exceed 1
    output_options = ()  # of the options, those that name a file to write

    # Values of --variant and --baseline, with what the first line of the output calls them.
    variants: dict
    baselines = {"soa": "structure-of-arrays baseline", "aos": "array-of-structures baseline",
                 "reference": "sequential reference"}
    placed_variants = ()  # whose objects are on a lattice: with allocator soa, they need no heap
    placed_with_free_objects = False  # whether these have other objects in the heap
    inexact_baselines = ()  # whose pictures are not bit by bit those of the others

    log_file = "population.csv"
    chart_file = "population.png"
    picture_file: str
    large_grid = ()  # options with which a grid may have 2^31 cells; none: it cannot
    columns: tuple  # of the log, after "step"
    exported: tuple  # of the columns, those whose sum is the number of exported objects
    counts: tuple  # of the columns, those that progress shows: numbers of something
    phases = ()  # of a step, those that all implementations but the reference time

    # A run whose steps are fast: arguments, number of steps, what the first line of the output says of its size (a
    # regular expression), width and height of its pictures.
    small_run: tuple
    steps = 12
    size: str
    animated = ("--steps", "12", "--every", "3")  # steps in which something is seen to move
    picture_size: tuple

    # A run whose objects do not fit into a small heap.
    large_run: tuple
    small_heap = "64KiB"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    # What tests are made of.

    def implementations(self):
        """The arguments that choose each of them."""
        return ([("--variant", variant) for variant in self.variants] +
                [("--baseline", baseline) for baseline in self.baselines])

    def allocators(self):
        """Those that the program was compiled for, its own first."""
        choices = re.search(r"--allocator (\S+)=soa ", self.help_text())
        self.assertIsNotNone(choices)
        return choices[1].split("|")

    def help_text(self):
        """On one line. CLI11 shows defaults as --seed N=42 or, from 2.2 on, as --seed N [42]."""
        return re.sub(r"(--\S+ \S+) \[([^\]]*)\] ", r"\1=\2 ", " ".join(self.simulate("--help").stdout.split()))

    def run_program(self, *arguments, **options):
        return run(self.program, *arguments, cwd=self.folder, **options)

    def simulate(self, *arguments):
        """A run that must succeed."""
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, 0, result)
        return result

    def simulate_small_run(self, *arguments):
        return self.simulate(*self.small_run, "--steps", str(self.steps), *arguments)

    @contextlib.contextmanager
    def process(self, *arguments, **streams):
        """The program while it runs, at most until the block ends."""
        with subprocess.Popen([self.program, *arguments], cwd=self.folder, **streams) as process:
            try:
                yield process
            finally:
                process.kill()

    @contextlib.contextmanager
    def process_on_terminal(self, *arguments):
        """Likewise, with its errors on a terminal; the second value is for read_terminal()."""
        controller, terminal = pty.openpty()
        self.addCleanup(os.close, controller)
        with self.process(*arguments, stdout=subprocess.DEVNULL, stderr=terminal) as process:
            os.close(terminal)
            yield process, controller

    def with_little_memory(self, most_bytes):
        """Keyword arguments of process() and run() for a program that may have no more addresses than that."""
        if re.search(b"__[at]san_init|cudaMalloc", self.program.read_bytes()):
            self.skipTest("sanitizers and CUDA reserve more addresses than that")
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))}

    def empty_folder(self):
        shutil.rmtree(self.folder)
        self.folder.mkdir()

    def contents(self):
        """All files with their bytes, and folders and pipes."""
        return {path: path.read_bytes() if path.is_file() else "no file" for path in self.folder.rglob("*")}

    def rows(self, steps):
        """The log without its header, which has a row for the start and each of `steps`."""
        table = read_csv(self.folder / self.log_file)
        self.assertEqual(table[0], ["step", *self.columns])
        self.assertEqual([row[0] for row in table[1:]], [str(step) for step in range(steps + 1)])
        return table[1:]

    def check_rows(self, rows):
        """Checks what is known about a small run's rows. For derived classes."""

    def check_picture_size(self, size):
        """Checks the size of a small run's picture. For derived classes, if it depends on the state."""
        self.assertEqual(size, self.picture_size)

    def assert_refused(self, *arguments, mentions):
        """Exit code 2 and one line that mentions what is wrong, in one text or more; nothing is simulated, changed or
        left behind."""
        with self.subTest(arguments=arguments):
            before = self.contents()
            result = self.run_program(*arguments, timeout=PATIENCE)
            self.assertEqual((result.returncode, result.stdout), (EXIT_USAGE, ""), result)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertTrue(result.stderr.startswith(f"{self.program.name}: "), result.stderr)
            for text in (mentions,) if isinstance(mentions, str) else mentions:
                self.assertIn(text, result.stderr)
            self.assertEqual(self.contents(), before)

    def assert_values_refused(self, option, values, *other_arguments, limit=""):
        """The message names the option and the greatest value that is allowed."""
        for value in values:
            self.assert_refused(*other_arguments, f"{option}={value}", mentions=(f"{option}: ", limit if value else ""))

    def assert_implementations_agree(self, *arguments):
        """All write the same files."""
        expected = {}
        for implementation in self.implementations():
            with self.subTest(implementation=implementation):
                self.empty_folder()
                self.simulate(*arguments, *self.output_arguments(), *implementation, "--quiet")
                files = self.contents()
                expected = expected or files
                self.assertEqual(files.keys(), expected.keys())
                for path in files:
                    if implementation[1] not in self.inexact_baselines or path.name != self.picture_file:
                        self.assertTrue(files[path] == expected[path], f"{path.name} differs")

    def assert_rows_agree(self, rows, expected):
        self.assertEqual(rows, expected)

    def output_arguments(self):
        """Every output option and a file for it."""
        return [argument for option in self.output_options for argument in (option, option.strip("-") + ".out")]

    # What holds for every application.

    def test_help_shows_every_option_with_its_default(self):
        text = self.help_text()
        common = ("--seed N=42", f"--baseline {'|'.join(('none', *self.baselines))}=none", "--heap SIZE=0",
                  "--threads N=0", f"--log FILE={self.log_file}", f"--chart FILE={self.chart_file}",
                  f"--picture FILE={self.picture_file}", "--frames DIR=none", "--animation FILE=none", "--every N=10", "--view", "--export FILE=none",
                  "--export-every N=10", "--checkpoint FILE=none",
                  "--checkpoint-every N=100", "--restore FILE=none", "--quiet", "-h,--help")
        self.assertIn(" 4 done or interrupted but something could not be written, ", text)
        for option in (*self.options, *common):
            self.assertIn(f" {option} ", text)
        self.assertEqual(self.contents(), {})

    def test_pictures_go_to_their_edges(self):
        self.simulate(*self.small_run, "--picture", "p.png")
        for edge, lines in png_lines(self.folder / "p.png").items():
            difference = sum(abs(a - b) for a, b in zip(*lines)) / len(lines[0])
            self.assertLess(difference, 5, f"the {edge} line of the picture is not like the next")

    def test_only_grids_of_fewer_than_2_to_the_31_cells_have_a_picture_by_default(self):
        """It shows in the check of outputs, before there is a grid."""
        if not self.large_grid:
            self.skipTest("its grids have no 2^31 cells")
        same, other = ("--chart", self.picture_file), "--chart and --picture are the same"
        missing = ("--checkpoint", "missing/c")
        largest = ("--width", "2147483647", "--height")
        self.assert_refused(*ENDLESS, *self.large_grid, *largest, "1", *same, *missing, mentions=other)
        self.assert_refused(*ENDLESS, *self.large_grid, *largest, "2", *same, *missing, mentions="missing")
        self.assert_refused(*ENDLESS, *self.large_grid, *largest, "2", *same, *missing, "--picture", self.picture_file, mentions=other)

    def test_wrong_values_are_refused(self):
        common = {"--steps": NATURAL, "--every": POSITIVE, "--export-every": POSITIVE, "--checkpoint-every": POSITIVE, "--threads": (0, 4096)}
        for option, (least, most) in (common | self.whole_numbers).items():
            self.assert_values_refused(option, wrong_whole_numbers(least, most), limit=f" to {most}")
        for option, (least, most) in self.real_numbers.items():
            self.assert_values_refused(option, wrong_real_numbers(least, most), limit=f" to {most:g}")
        if self.shares:
            first, second = self.shares
            self.assert_refused(first, "0.6", second, "0.5", mentions=f"{first} + {second}: must not exceed 1")
            self.simulate(first, "0.5", second, "0.5", *self.small_run, "--steps", "0")
        self.assert_values_refused("--seed", ("-1", "18446744073709551616", "x"), limit=" to 18446744073709551615 (2^64 - 1)")
        self.assert_values_refused("--heap", ("12XB", "17179869184GiB", "99999999999GiB"), limit=" at most 17179869183GiB")
        for option, ending in (("--log", "jsonl"), ("--export", "vtp"), ("--animation", "webp")):
            self.assert_refused(option, "out.txt", mentions=f"{option}: ")
            self.assert_refused(option, "out.txt", mentions=ending)
        self.assert_refused("--variant", "whales", mentions=", ".join(self.variants))
        self.assert_refused("--allocator", "whales", mentions=", ".join(self.allocators()))
        self.assert_refused("--baseline", "fast", mentions=", ".join(("none", *self.baselines)))

    def test_unknown_options_and_missing_values_are_refused(self):
        self.assert_refused("--whales", mentions="--whales is not an option (see")
        for wrong, meant in (("--chekpoint=x", "checkpoint"), ("--EXPORT_EVERY", "export-every"), ("-stesp", "steps"),
                             ("--anim", "animation"), ("quiet", "quiet")):
            self.assert_refused(wrong, mentions=f" is not an option; did you mean --{meant}?")
        self.assert_refused("whales", mentions="whales")
        self.assert_refused("--steps", mentions="--steps")

    def test_outputs_that_cannot_be_written_are_refused_before_the_run(self):
        (self.folder / "file").write_text("a file")
        for option, path in (("--log", "missing/out.csv"), ("--export", "missing/out.csv"), ("--export", "missing/out.vtp"),
                             *((option, "missing/out") for option in ("--chart", "--picture", *self.output_options))):
            self.assert_refused(*ENDLESS, option, path, mentions="missing/out")
        (self.folder / "folder.csv").mkdir()
        self.assert_refused(*ENDLESS, "--log", "folder.csv", mentions="folder.csv")
        for option, ending in (("--log", ".csv"), ("--export", ".csv"), *((option, "") for option in self.written_at_once())):
            for length in (256, 252):  # too long; too long for its temporary file or number
                if (option, length) != ("--log", 252):
                    name = "x" * (length - len(ending)) + ending
                    self.assert_refused(*ENDLESS, option, name, mentions=(option, "File name too long"))
        for path in ("file/frames", "file"):
            self.assert_refused(*ENDLESS, "--frames", path, mentions=path)
        self.assert_refused(*ENDLESS, "--frames", "new", "--log", "missing/out.csv", mentions="missing/out")

    def test_two_outputs_in_one_file_are_refused(self):
        for option, other in (("--log", "--chart"), ("--chart", "--picture"), ("--log", "--picture")):
            self.assert_refused(*ENDLESS, option, "same.csv", other, "./same.csv", mentions=f"{option} and {other} are the same")

        for name, link in (("soft", lambda: (self.folder / "soft").symlink_to("same.csv")),
                           ("hard", lambda: os.link(self.folder / "same.csv", self.folder / "hard"))):
            (self.folder / "same.csv").write_text("data")
            link()
            for option in self.written_at_once():
                self.assert_refused(*ENDLESS, "--log", "same.csv", option, name, mentions=f"--log and {option} are the same")
        (self.folder / "same.csv").unlink()  # what the link leads to need not be there
        self.assert_refused(*ENDLESS, "--log", "same.csv", "--picture", "soft", mentions="--log and --picture are the same")
        self.assert_refused(*ENDLESS, "--chart", "a", "--picture", "a.part", mentions="--picture and the temporary file of --chart")

    def test_an_output_that_is_an_input_is_refused(self):
        (self.folder / "input.csv").write_text("data")
        for option in ("--log", *self.written_at_once()):
            if option != "--checkpoint":
                self.assert_refused(*ENDLESS, "--restore", "input.csv", option, "input.csv", mentions=f"--restore and {option} are the same")

    def test_an_output_that_is_one_of_the_numbered_files_is_refused(self):
        export = (*ENDLESS, "--export", "e.csv", "--export-every", "5")
        self.assert_refused(*export, "--log", "e-000005.csv", mentions="--log and a file of --export are the same")
        self.assert_refused(*export, "--log", "./e-1000000000.csv", mentions="--log and a file of --export are the same")
        self.assert_refused(*export, "--restore", "e-000005.csv", mentions="--restore and a file of --export are the same")
        self.assert_refused(*export, "--picture", "e-000005.csv.part", mentions="--picture and a temporary file of --export")
        self.assert_refused(*ENDLESS, "--frames", "f", "--picture", "f/frame-000020.png", mentions="--picture and a file of --frames")
        (self.folder / "e-000010.csv").symlink_to("log.csv")
        self.assert_refused(*export, "--log", "log.csv", mentions="--log and a file of --export are the same")
        (self.folder / "log.csv").touch()
        self.assert_refused(*export, "--log", "log.csv", mentions="--log and a file of --export are the same")
        os.link(self.folder / "log.csv", self.folder / "e-000015.csv")
        self.assert_refused(*export, mentions="is a link to another one of the files")
        (self.folder / "log.csv").unlink()
        (self.folder / "e-000015.csv").unlink()
        (self.folder / "e-000010.csv").unlink()
        # Other numbers, or more digits than are written, are no such file.
        self.simulate(*self.small_run, "--steps", "5", *export[2:], *NO_PICTURES, "--log", "e-000006.csv", "--quiet")
        self.simulate(*self.small_run, "--steps", "5", *export[2:], *NO_PICTURES, "--log", "e-0000005.csv", "--quiet")

    def written_at_once(self):
        """Options of files that are there as a whole or not at all."""
        return ("--chart", "--picture", "--checkpoint", *self.output_options)

    def test_every_implementation_writes_complete_files(self):
        for implementation in self.implementations():
            with self.subTest(implementation=implementation):
                self.empty_folder()
                result = self.simulate_small_run(*implementation, *self.output_arguments(), "--frames", "out/frames",
                                                 "--every", "5")
                self.check_rows(self.rows(self.steps))
                self.check_picture_size(png_size(self.folder / self.picture_file))
                self.assertEqual(png_size(self.folder / self.chart_file), CHART_SIZE)
                frames = sorted((self.folder / "out/frames").iterdir())
                self.assertEqual([frame.name for frame in frames],
                                 [f"frame-{step:06}.png" for step in range(0, self.steps + 1, 5)])
                for frame in frames:
                    self.check_picture_size(png_size(frame))
                self.check_summary(result.stdout, implementation)

    def test_a_log_may_have_json_lines(self):
        self.simulate_small_run(*NO_PICTURES)
        names, expected = ["step", *self.columns], self.rows(self.steps)
        self.simulate_small_run(*NO_PICTURES, "--log", "log.jsonl")
        with open(self.folder / "log.jsonl", encoding="ascii") as file:
            entries = [json.loads(line, parse_int=str, parse_float=str) for line in file]
        self.assertEqual([list(entry) for entry in entries], [names] * (self.steps + 1))
        self.assert_rows_agree([list(entry.values()) for entry in entries], expected)

    def export(self, *arguments):
        """The objects of each exported step of a small run, as dictionaries."""
        self.simulate_small_run(*NO_PICTURES, *arguments, "--export", "out/agents.csv", "--export-every", "5")
        frames = {}
        for path in sorted((self.folder / "out").iterdir()):
            number = re.fullmatch(r"agents-(\d{6})\.csv", path.name)
            self.assertIsNotNone(number, path.name)
            with open(path, newline="", encoding="utf-8") as file:
                frames[int(number[1])] = list(csv.DictReader(file))
        return frames

    def test_exported_objects_are_all_there_are(self):
        """Likewise with every variant and allocator: as many as are counted, at the same places."""
        places = {}
        for variant in self.variants:
            for allocator in self.allocators()[:2]:
                with self.subTest(variant=variant, allocator=allocator):
                    self.empty_folder()
                    (self.folder / "out").mkdir()
                    frames = self.export("--variant", variant, "--allocator", allocator)
                    self.assertEqual(list(frames), list(range(0, self.steps + 1, 5)))
                    counted = self.rows(self.steps)
                    for step, objects in frames.items():
                        row = dict(zip(["step", *self.columns], counted[step]))
                        self.assertEqual(len(objects), sum(int(row[name]) for name in self.exported))
                        self.assertEqual(len({entry["id"] for entry in objects}), len(objects))
                        axes = ("x", "y") if "x" in objects[0] else ("position_.x", "position_.y")
                        found = sorted(tuple(float(entry[axis]) for axis in axes) for entry in objects)
                        self.check_places(found, places.setdefault(step, found))

    def check_places(self, found, expected):
        self.assertEqual(found, expected)

    def test_an_export_does_not_disturb_the_run(self):
        self.simulate_small_run("--threads", "1")
        expected = self.contents()
        self.simulate_small_run("--threads", "1", "--export", "agents.vtp", "--export-every", "4")
        files = self.contents()
        exported = [self.folder / f"agents-{step:06}.vtp" for step in range(0, self.steps + 1, 4)]
        self.assertEqual({path: files[path] for path in expected}, expected)
        self.assertEqual(sorted(files.keys() - expected.keys()), exported)

    def test_an_export_to_hdf5_has_what_one_to_csv_has(self):
        python = next((path for path in (sys.executable, DISTRIBUTION_PYTHON)
                       if subprocess.run([path, "-c", "import h5py"], stderr=subprocess.DEVNULL).returncode == 0), None)
        if python is None:
            self.skipTest("needs h5py (Debian: python3-h5py)")
        (self.folder / "out").mkdir()
        expected = self.export("--threads", "1")[5]
        result = self.run_program(*self.small_run, "--steps", "5", *NO_PICTURES, "--threads", "1", "--export", "agents.h5", "--export-every", "5")
        if "built without HDF5" in result.stderr:
            self.skipTest("needs HDF5 (Debian: libhdf5-dev) when the program is built")
        self.assertIn("agents.h5 (2 frames)", result.stdout)
        text = subprocess.run([python, "-c", READ_HDF5, self.folder / "agents-000005.h5"], capture_output=True, text=True,
                              check=True).stdout
        step, columns = json.loads(text)
        self.assertEqual(step, 5)
        self.assertEqual(set(columns) | {"class"}, {name for name in expected[0] if not name[-1].isdigit()} | {"class"})
        if "on the GPU" in result.stdout:  # where no two runs have their objects in the same order
            axes = ("x", "y") if "x" in columns else ("position_.x", "position_.y")
            self.check_places(sorted(zip(*(columns[axis] for axis in axes))),
                              sorted(tuple(float(entry[axis]) for axis in axes) for entry in expected))
            return
        self.check_hdf5_columns(columns, expected)

    def check_hdf5_columns(self, columns, expected):
        for name, values in columns.items():
            if name != "class":  # which is text in CSV
                self.assertEqual(values, [float(entry[name]) for entry in expected], name)

    def test_exports_that_cannot_be(self):
        for baseline in self.baselines:
            result = self.run_program(*self.small_run, "--baseline", baseline, "--export", "agents.csv")
            self.assertEqual(result.returncode, EXIT_USAGE, result)
            self.assertIn("--export is for variants with objects: leave out --baseline", result.stderr)
            self.assertEqual(self.contents(), {})
        (self.folder / "agents-000005.csv").mkdir()
        self.assert_refused(*ENDLESS, "--export", "agents.csv", "--export-every", "5", mentions="agents-000005.csv")

    def test_an_animation_has_the_frames(self):
        result = self.run_program(*self.small_run, *self.animated, *NO_PICTURES, "--animation", "out.webp", "--frames", "frames")
        if "built without libwebp" in result.stderr:
            self.skipTest("needs libwebp (Debian: libwebp-dev) when the program is built")
        frames = [path.read_bytes() for path in sorted((self.folder / "frames").iterdir())]
        self.assertIn(f"out.webp ({len(frames)} frames)", result.stdout)
        size, pictures = animation(self.folder / "out.webp")
        self.assertEqual(pictures, 1 + sum(one != other for one, other in zip(frames, frames[1:])))  # others last longer
        if pictures > 1:
            longest = max(getattr(self, "picture_size", (1600,)))
            self.check_picture_size(tuple(round(side * max(1, longest / 640)) for side in size))

    def heap_variants(self):
        """Those that a small heap is too small for."""
        return set(self.variants) - set(self.placed_variants)

    def check_placed(self, output, variant):
        """The table has the placed classes, if there are any. Returns the rows that say what is in the heap."""
        section = re.search(r"^Placed class +objects +places +taken +memory\b.*\n((?:  .+\n)+)", output, re.MULTILINE)
        self.assertEqual(section is not None, variant in self.placed_variants, output)
        total = 0
        for row in section[1].splitlines() if section else []:
            name, objects, places, taken, size, unit, *_ = row.split()
            objects, places = (int(number.replace(",", "")) for number in (objects, places))
            self.assertEqual(taken, f"{100 * objects / places:.1f}%", row)
            self.assertRegex(f"{name} {size} {unit}", r"^[A-Z]\w+ [\d.]+ ([KMG]i)?B$")
            total += objects
        self.assertTrue(section is None or total > 0, output)
        heap = ["allocations", "frees", "heap", "fragmentation"]
        if section and not self.placed_with_free_objects:
            self.assertNotRegex(output, rf"(?m)^  ({'|'.join(heap)})  ")
            return []
        return heap

    def check_summary(self, output, implementation):
        """The table has the rows that it should have, and all files are named."""
        rows = [*self.columns, "steps/s", "objects/s"]
        if implementation[0] == "--variant":
            rows += self.check_placed(output, implementation[1])
        if implementation != ("--baseline", "reference"):
            rows += self.phases
        for row in rows:
            self.assertRegex(output, rf"(?m)^  {row}  ")
            self.assertNotRegex(output, rf"(?m)^  {row}  +0 s(  |$)", "a phase takes some time")
        self.assertIn("\nPopulation ", output)
        files = [f"{self.log_file} ({self.steps + 1} rows)", self.chart_file, self.picture_file,
                 *self.output_arguments()[1::2], f"out/frames ({self.steps // 5 + 1} frames)"]
        self.assertEqual(output.splitlines()[-1], "Written: " + ", ".join(files))

    def test_all_implementations_agree(self):
        self.assert_implementations_agree(*self.small_run, "--steps", str(self.steps), "--seed", "43")

    def other_allocators(self):
        """Those that the program was compiled for beside its own; skips the test if there are none."""
        own, *others = self.allocators()
        self.assertEqual(own, "soa")
        if not others:
            self.skipTest("the program was compiled for no other allocator (scripts/test --stage allocators)")
        return others

    def test_every_allocator_gives_the_same_results(self):
        self.other_allocators()
        for variant in self.variants:
            expected = None
            for allocator in self.allocators():
                with self.subTest(variant=variant, allocator=allocator):
                    result = self.simulate_small_run("--variant", variant, "--allocator", allocator, *NO_PICTURES)
                    says = f", allocator {allocator}, " if allocator != "soa" else f", {self.size}, {self.steps} steps"
                    self.assertRegex(result.stdout.splitlines()[0], says)
                    expected = expected or self.rows(self.steps)
                    self.assert_rows_agree(self.rows(self.steps), expected)

    def test_the_seed_decides_the_run(self):
        tables = []
        for seed in ([], ["--seed", "42"], ["--seed", "43"]):
            self.simulate_small_run("--baseline", "reference", *NO_PICTURES, *seed)
            tables.append(self.rows(self.steps))
        self.assertEqual(tables[0], tables[1])
        self.assertNotEqual(tables[0], tables[2])

    def test_the_first_line_says_what_runs_where(self):
        for option, value in self.implementations():
            with self.subTest(implementation=value):
                result = self.simulate_small_run(option, value, "--threads", "1", *NO_PICTURES)
                name = re.escape((self.variants | self.baselines)[value])
                device = "one CPU thread" if value == "reference" else "the (GPU .+|CPU .+, 1 thread)"
                self.assertRegex(result.stdout.splitlines()[0],
                                 rf"^{self.program.name}: {name}, {self.size}, {self.steps} steps, on {device}$")

    def test_quiet_prints_nothing(self):
        result = self.simulate_small_run("--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.rows(self.steps)

    def test_none_writes_nothing(self):
        paths = [path for option in self.options for path in re.findall(r"^(--\S+) FILE=none$", option)]
        nothing = [argument for path in ("--log", "--frames", "--export", *paths) for argument in (path, "none")]
        self.simulate("--steps", "1", *nothing, *NO_PICTURES)  # other options may exclude the files
        self.assertEqual(self.contents(), {})

    def test_progress_is_plain_lines_if_it_is_not_on_a_terminal(self):
        result = self.simulate(*self.small_run, "--steps", "200", "--baseline", "reference")
        lines = result.stderr.splitlines()
        self.assertTrue(1 <= len(lines) <= 10, result.stderr)
        for line in lines:
            self.assertRegex(line, r"^step \d+/200" + "".join(rf"  {column} [\d,]+" for column in self.counts))
        self.assertNotIn("\r", result.stderr)

    def test_progress_is_redrawn_in_place_on_a_terminal(self):
        with self.process_on_terminal(*self.small_run, *ENDLESS) as (process, terminal):
            text = read_terminal(terminal, redraws=2)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), EXIT_INTERRUPTED)
            text += read_terminal(terminal)
        message = rf"{self.program.name}: interrupted after step \d+ of 1000000000\r\n"
        self.assertRegex(text.decode(), rf"^({PROGRESS_LINE}){{2,}}{ERASED_LINE}{message}$")

    def test_a_heap_that_is_too_small_ends_the_run_with_advice(self):
        if not self.heap_variants():
            self.skipTest("no variant has objects in the heap")
        for variant in self.heap_variants():
            with self.subTest(variant=variant):
                arguments = [*self.large_run, "--variant", variant, "--quiet", *NO_PICTURES]
                result = self.run_program(*arguments, "--heap", self.small_heap)
                self.assertEqual((result.returncode, result.stdout), (EXIT_HEAP_TOO_SMALL, ""), result)
                advice = re.fullmatch(rf"{self.program.name}: .+; run again with (--heap) (\d+MiB)\n", result.stderr)
                self.assertIsNotNone(advice, result.stderr)
                table = read_csv(self.folder / self.log_file)
                self.assertEqual(table[0], ["step", *self.columns])
                valid = f"results are valid up to step {table[-1][0]}" if len(table) > 1 else "there are no results"
                self.assertIn(f" ({valid}); ", result.stderr)
                # A checkpoint is of a step before the one that failed, or there is none.
                incomplete = "; the step that failed is incomplete and was not saved" if len(table) > 1 else ""
                errors = self.run_program(*arguments, "--heap", self.small_heap, "--checkpoint", "c").stderr
                self.assertIn(f" ({valid}, there is no checkpoint{incomplete}); ", errors)
                errors = self.run_program(*arguments, "--heap", self.small_heap, "--checkpoint", "c",
                                          "--checkpoint-every", "1").stderr
                saved = re.search(rf"up to step (\d+), the checkpoint is of step (\d+){incomplete}\); ", errors)
                if saved:
                    self.assertEqual(saved[1], saved[2])
                    self.simulate(*arguments, *advice.groups(), "--restore", "c")
                else:
                    self.assertIn(f"({valid}, there is no checkpoint{incomplete}); ", errors)
                self.simulate(*arguments, *advice.groups())

    def test_interrupts_end_the_run_in_good_order(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                self.empty_folder()
                with self.process(*self.small_run, *ENDLESS, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as process:
                    self.wait_for_rows(10)
                    process.send_signal(number)
                    output, errors = process.communicate(timeout=PATIENCE)
                self.assertEqual(process.returncode, EXIT_INTERRUPTED, errors)
                message = re.fullmatch(rf"{self.program.name}: interrupted after step (\d+) of 1000000000\n", errors)
                self.assertIsNotNone(message, errors)
                self.rows(int(message[1]))
                self.check_picture_size(png_size(self.folder / self.picture_file))
                self.assertEqual(png_size(self.folder / self.chart_file), CHART_SIZE)
                self.assertIn("\nPopulation ", output)

    def wait_for_rows(self, number):
        """Returns when the CSV file of a running program has so many rows."""
        path = self.folder / self.log_file
        deadline = time.monotonic() + PATIENCE

        def lines():
            try:
                return path.read_text().count("\n")
            except FileNotFoundError:  # not there yet, or being replaced
                return 0

        while lines() <= number:
            self.assertLess(time.monotonic(), deadline, f"{path.name} has {lines()} lines")
            time.sleep(0.02)
