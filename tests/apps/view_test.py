"""Windows of --view, on a display of their own (Xvfb), with keys and clicks from xdotool.

Usage: view_test.py <path of wa-tor> <path of flocking> [<folder for screenshots>]. Exits with 77 (skipped), and says
so, if a program that this needs is not installed (Debian: xvfb, xdotool, imagemagick), the programs were built without
SDL2, or they need a GPU and there is none.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

EXIT_USAGE = 2
EXIT_SKIPPED = 77
PATIENCE = 60  # seconds
SCREEN = (1100, 1060)
WATER = (9, 30, 66)

WA_TOR = pathlib.Path(sys.argv[1]).resolve()
FLOCKING = pathlib.Path(sys.argv[2]).resolve()
SCREENSHOTS = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {PATIENCE} s")


class Display:
    """An X server without a screen.

    With -noreset: otherwise the server starts afresh whenever its last client leaves, and drops a client that connects
    meanwhile. Each xdotool that ends before the program has connected would be such a last client.
    """

    def __init__(self):
        reader, writer = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-noreset", "-displayfd", str(writer), "-screen", "0",
                                        f"{SCREEN[0]}x{SCREEN[1]}x24"],
                                       pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as file:
            number = file.readline().strip()
        if not number:
            raise AssertionError("Xvfb does not start")
        # Leaks of X11's and SDL's libraries are not what this is about.
        self.environment = os.environ | {"DISPLAY": f":{number}", "SDL_VIDEODRIVER": "x11",
                                         "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}

    def close(self):
        self.server.terminate()
        self.server.wait(PATIENCE)

    def run(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, check=True).stdout

    def press(self, key):
        self.run("xdotool", "key", key)

    def click(self, x, y, button=1):
        self.run("xdotool", "mousemove", str(x), str(y))
        self.run("xdotool", "click", str(button))

    def pixels(self, name):
        """The screen, row by row, as bytes of red, green and blue; kept as a picture if there is a folder for it."""
        if SCREENSHOTS:
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            self.run("import", "-window", "root", SCREENSHOTS / f"{name}.png")
        return self.run("import", "-window", "root", "-depth", "8", "rgb:-")


class ViewTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.display = Display()
        self.addCleanup(self.display.close)

    def start(self, program, *arguments):
        self.output = open(self.folder / "output", "w+", encoding="utf-8")
        self.addCleanup(self.output.close)
        self.process = subprocess.Popen([program, "--view", *arguments], cwd=self.folder, env=self.display.environment,
                                        stdout=self.output, stderr=subprocess.STDOUT)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)

        def shows_window():
            if self.process.poll() is not None:
                output = (self.folder / "output").read_text(encoding="utf-8", errors="replace")
                self.fail(f"{program.name} ended with {self.process.returncode} before it showed a window:\n{output}")
            return subprocess.run(["xdotool", "search", "--onlyvisible", "--name", program.name],
                                  env=self.display.environment, capture_output=True).stdout
        wait_for(shows_window, "a window")

        def hears_keys():  # a window that has just been opened may miss some
            self.display.press("s")
            time.sleep(0.2)
            return list(self.folder.glob(f"{program.name}-*.png"))
        wait_for(hears_keys, "a window that hears keys")

    def saved_step(self, program):
        """What the key s saves says the step."""
        for path in self.folder.glob(f"{program.name}-*.png"):
            path.unlink()
        self.display.press("s")
        path, *_ = wait_for(lambda: list(self.folder.glob(f"{program.name}-*.png")), "a saved picture")
        return int(re.fullmatch(program.name + r"-(\d{6})\.png", path.name)[1])

    def paused_step(self, program):
        """Presses the space bar, and waits until the program has seen it."""
        self.display.press("space")

        def is_paused():
            first = self.saved_step(program)
            time.sleep(0.3)
            return self.saved_step(program) == first
        wait_for(is_paused, "a pause")
        return self.saved_step(program)

    def settled_pixels(self, name):
        """The screen once it does not change any more."""
        last = None

        def is_settled():
            nonlocal last
            before, last = last, self.display.pixels(name)
            time.sleep(0.2)
            return last == before
        wait_for(is_settled, "a picture")
        return last

    def close(self):
        self.display.press("q")
        self.assertEqual(self.process.wait(PATIENCE), 0)

    def test_pause_single_steps_and_the_end(self):
        self.start(WA_TOR, "--width", "60", "--height", "50", "--steps", "100000", "--log", "log.csv")
        step = self.paused_step(WA_TOR)
        for number in (1, 2):
            self.display.press("n")
            wait_for(lambda number=number: self.saved_step(WA_TOR) == step + number, "a step")
        self.display.press("minus")
        self.display.press("space")
        wait_for(lambda: self.saved_step(WA_TOR) > step + 2, "more steps")
        self.close()
        rows = (self.folder / "log.csv").read_text().splitlines()
        self.assertEqual(len(rows), 2 + int(rows[-1].split(",")[0]))
        self.assertTrue((self.folder / "wa-tor.png").exists())

    def test_the_ocean_is_seen_and_can_be_looked_at_closely(self):
        self.start(WA_TOR, "--width", "60", "--height", "50", "--steps", "20")
        wait_for(lambda: self.saved_step(WA_TOR) == 20, "the last step")
        self.display.press("h")
        whole = self.settled_pixels("wa-tor")
        water = sum(whole[i:i + 3] == bytes(WATER) for i in range(0, len(whole), 3))
        rows = (self.folder / "population.csv").read_text().splitlines()
        free = 1 - sum(int(value) for value in rows[-1].split(",")[1:]) / 3000
        self.assertAlmostEqual(water / (1000 * 833), free, delta=0.02)

        self.display.click(SCREEN[0] // 2, SCREEN[1] // 2)
        clicked = self.settled_pixels("wa-tor-click")
        self.assertNotEqual(clicked, whole)
        self.display.press("Escape")
        self.assertEqual(self.settled_pixels("wa-tor-again"), whole)
        for _ in range(4):
            self.display.click(SCREEN[0] // 2, SCREEN[1] // 2, button=4)
        self.assertNotEqual(self.settled_pixels("wa-tor-zoomed"), whole)
        self.display.press("0")
        self.assertEqual(self.settled_pixels("wa-tor-again"), whole)
        self.close()
        self.assertIn("20 steps", (self.folder / "output").read_text(encoding="utf-8"))

    def test_boids_are_seen(self):
        self.start(FLOCKING, "--boids", "800", "--steps", "15")
        wait_for(lambda: self.saved_step(FLOCKING) == 15, "the last step")
        sky = bytes((13, 18, 32))
        pixels = self.settled_pixels("flocking")
        colored = sum(pixels[i:i + 3] not in (sky, b"\0\0\0") for i in range(0, len(pixels), 3))
        self.assertGreater(colored, 800 * 4)
        self.close()

    def test_a_display_that_goes_away_ends_the_run_with_a_checkpoint(self):
        self.start(WA_TOR, "--width", "60", "--height", "50", "--steps", "100000", "--checkpoint", "run.checkpoint",
                   "--checkpoint-every", "1000000")
        wait_for(lambda: self.saved_step(WA_TOR) > 3, "some steps")
        self.display.server.terminate()
        self.assertEqual(self.process.wait(PATIENCE), 1)
        rows = (self.folder / "population.csv").read_text().splitlines()
        last = int(rows[-1].split(",")[0])
        self.assertIn(f"the checkpoint is of step {last}", (self.folder / "output").read_text(encoding="utf-8"))
        result = subprocess.run([WA_TOR, "--width", "60", "--height", "50", "--steps", "0", "--restore", "run.checkpoint"],
                                cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn(f"has made {last:,} step", result.stderr)

    def test_windows_that_cannot_be_opened(self):
        environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        result = subprocess.run([WA_TOR, "--view"], cwd=self.folder, env=environment | {"SDL_VIDEODRIVER": "x11"},
                                capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((result.returncode, result.stdout), (EXIT_USAGE, ""), result)
        self.assertRegex(result.stderr, r"^wa-tor: --view: cannot open a window: .*--animation write pictures\n$")
        for driver in ("dummy", "offscreen"):  # of SDL, which show nothing
            result = subprocess.run([WA_TOR, "--view"], cwd=self.folder, env=environment | {"SDL_VIDEODRIVER": driver},
                                    capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((result.returncode, result.stdout), (EXIT_USAGE, ""), result)
            self.assertRegex(result.stderr, r"wa-tor: --view: cannot open a window: .*--animation write pictures\n$")
        result = subprocess.run([WA_TOR, "--view", "--baseline", "soa"], cwd=self.folder, env=self.display.environment,
                                capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(result.returncode, EXIT_USAGE, result)
        self.assertIn("--view is for variants with objects", result.stderr)


def reason_to_skip():
    for tool in ("Xvfb", "xdotool", "import"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    with tempfile.TemporaryDirectory() as folder:
        probe = subprocess.run([WA_TOR, "--view", "--steps", "0"], cwd=folder, capture_output=True, text=True,
                               env=os.environ | {"DISPLAY": ":none", "SDL_VIDEODRIVER": "x11"}, timeout=PATIENCE)
    for reason in ("no GPU", "without SDL2"):
        if reason in probe.stderr:
            return probe.stderr.strip()
    return None


if __name__ == "__main__":
    if reason := reason_to_skip():
        print("skipped:", reason)
        sys.exit(EXIT_SKIPPED)
    unittest.main(argv=sys.argv[:1])
