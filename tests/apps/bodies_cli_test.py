"""The command lines of n-body and collision.

Usage: bodies_cli_test.py <path of n-body> <path of collision>. Exits with 77 (skipped) if they need a GPU and there is
none.
"""

import os
import threading
import time
import unittest

import command_line

HEADER = "x,y,vx,vy,mass\n"
THREE = HEADER + "0.5,0.25,0,0,40\n-0.5,0.25,0.0001,0,50.5\n\n0,-1,0,-0.0002,60\n"


class BodiesTests(command_line.CheckpointTests, command_line.ApplicationTests):
    whole_numbers = {"--bodies": (1, 2**28)}
    output_options = ("--output",)
    variants = {"objects": "bodies as objects"}
    baselines = command_line.ApplicationTests.baselines | {"reference": "sequential reference in double precision"}
    log_file = "bodies.csv"
    chart_file = "bodies.png"
    columns = ("bodies", "mass", "kinetic_energy", "momentum_x", "momentum_y")
    exported = ("bodies",)
    counts = ("bodies",)
    small_run = ("--bodies", "80")
    steps = 6
    size = "80 bodies"
    picture_size = (1024, 1024)
    large_run = ("--bodies", "5000", "--steps", "1")
    animated = ("--steps", "3000", "--every", "1000")
    checkpoint_run = ("--threads", "1")

    def assert_goes_on_like_one_run(self, first_row, rows, picture, expected):
        """Bit for bit with one thread of the CPU; on a GPU the order in which objects are created is anyone's."""
        if "on the GPU" in self.simulate(*self.small_run, "--steps", "0").stdout:
            self.assert_rows_agree(rows, expected[0][first_row:])
        else:
            super().assert_goes_on_like_one_run(first_row, rows, picture, expected)

    def assert_rows_agree(self, rows, expected):
        """Overrides the comparison: sums of floating-point numbers depend on the order of the objects."""
        self.assertEqual(len(rows), len(expected))
        for row, other_row in zip(rows, expected):
            self.assertEqual(row[:2], other_row[:2])
            for value, other in zip(row[2:4], other_row[2:4]):
                self.assertAlmostEqual(float(value) / float(other), 1, places=5)

    def check_places(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for place, other in zip(found, expected):
            for value, other_value in zip(place, other):
                self.assertAlmostEqual(value, other_value, places=5)

    def test_an_export_does_not_disturb_the_run(self):
        if "on the GPU" in self.simulate(*self.small_run, "--steps", "0").stdout:
            self.skipTest("on a GPU no two runs are alike bit for bit")
        self.empty_folder()
        super().test_an_export_does_not_disturb_the_run()

    def test_all_implementations_agree(self):
        """Overrides the comparison of files."""
        tables = []
        for implementation in self.implementations():
            self.simulate_small_run(*implementation)
            tables.append(self.rows(self.steps))
        for table in tables[1:]:
            self.assert_rows_agree(table, tables[0])

    def test_bodies_are_read_and_written(self):
        (self.folder / "in.csv").write_text(THREE)
        result = self.simulate("--input", "in.csv", "--steps", "0", "--output", "out.csv")
        self.assertIn("3 bodies", result.stdout)
        self.assertEqual((self.folder / "out.csv").read_text(), THREE.replace("\n\n", "\n"))
        self.simulate("--input", "out.csv", "--steps", "3", "--output", "later.csv")
        self.assertEqual(len((self.folder / "later.csv").read_text().splitlines()), 4)

    def test_columns_may_come_in_any_order(self):
        (self.folder / "in.csv").write_text("mass, vy,vx,y,x\r\n40,0,0,0.25,0.5\r\n")
        self.simulate("--input", "in.csv", "--steps", "0", "--output", "out.csv")
        self.assertEqual((self.folder / "out.csv").read_text(), HEADER + "0.5,0.25,0,0,40\n")

    def test_files_are_read_as_other_programs_write_them(self):
        for text in ("\ufeffx,y,vx,vy,mass\r\n+0.5,0.25,0,1e-50,40\r\n", "x,y,vx,vy,mass\r0.5,.25,-0.0,-1e-999,+4e1",
                     "x, y, vx, vy, mass\n 0.5 ,2.5e-1,\t0,0,40\n\n"):
            (self.folder / "in.csv").write_text(text, encoding="utf-8", newline="")
            self.simulate("--input", "in.csv", "--steps", "0", "--output", "out.csv")
            self.assertEqual((self.folder / "out.csv").read_text().replace("-0", "0"), HEADER + "0.5,0.25,0,0,40\n")
        limits = HEADER + "100000,-100000,1e+06,-1e+06,1e+14\n-100000,100000,-1e+06,1e+06,1e-30\n"
        (self.folder / "in.csv").write_text(limits)
        self.simulate("--input", "in.csv", "--steps", "2", "--output", "out.csv")
        for name, content in (("gzip", b"\x1f\x8b\x08"), ("zip", b"PK\x03\x04"), ("xz", b"\xfd7zXZ\0"),
                              ("zstd", b"\x28\xb5\x2f\xfd"), ("bzip2", b"BZh91AY")):
            (self.folder / "in.csv").write_bytes(content)
            self.assert_refused("--input", "in.csv", mentions=f"in.csv is compressed with {name}: unpack it first")
        (self.folder / "in.csv").write_text(HEADER, encoding="utf-16")
        self.assert_refused("--input", "in.csv", mentions="in.csv is text in UTF-16")
        self.assert_refused("--input", "/dev/zero", mentions="/dev/zero is not a text file")
        self.assert_refused("--input", ".", mentions="cannot read .: Is a directory")

    def test_a_pipe_is_read_once_a_program_writes_to_it_and_not_waited_for_for_ever(self):
        os.mkfifo(self.folder / "pipe")
        self.assert_refused("--input", "pipe", mentions="cannot read pipe: it is a FIFO, and no program has opened it for writing for 5 s")

        def write():
            with open(self.folder / "pipe", "w", encoding="ascii") as pipe:
                time.sleep(6)  # a writer may take longer than one is waited for
                pipe.write(THREE)

        writer = threading.Thread(target=write)
        writer.start()
        self.simulate("--input", "pipe", "--steps", "0", "--output", "out.csv")
        writer.join()
        self.assertEqual((self.folder / "out.csv").read_text(), THREE.replace("\n\n", "\n"))

    def test_files_that_are_no_bodies_are_refused_with_line_and_column(self):
        for text, message in (("", "1:1: the file is empty"),
                              ("x,y,vx,vy,weight\n", "1:11: 'weight' is not a column"),
                              ("x,y,x,vy,mass\n", "1:5: the column x is there twice"),
                              ("x,y,vx,vy\n", "1:1: the first line must name x, y, vx, vy and mass"),
                              (HEADER, "2:1: there are no bodies"),
                              (HEADER + "1,2,3,4\n", "2:1: 5 numbers are expected, but there are 4"),
                              (HEADER + "0,0,0,0,1\n0,0,fast,0,1\n", "3:5: 'fast' is not a number"),
                              (HEADER + "0,0,0,0,nan\n", "2:9: 'nan' is not a number"),
                              (HEADER + "0,0,1e99,0,1\n", "2:5: '1e99' is not a number, or too large"),
                              (HEADER + "0,0,\x1b[2J,0,1\n", "2:5: '\\x1b[2J' is not a number"),
                              (HEADER + "0,0,0,0,-1\n", "2:9: a mass must be greater than 0: from 1e-30 to 1e+14, not -1"),
                              (HEADER + "0,0,0,0,1e-50\n", "2:9: a mass must be greater than 0: from 1e-30 to 1e+14, not 1e-50"),
                              (HEADER + "0,0,0,0,1.989e30\n", "2:9: mass must be from 1e-30 to 1e+14, not 1.989e30"),
                              (HEADER + "0,0,0,0,1.01e14\n", "2:9: mass must be from 1e-30 to 1e+14, not 1.01e14"),
                              (HEADER + "0,0,0,0,0.99e-30\n", "2:9: mass must be from 1e-30 to 1e+14, not 0.99e-30"),
                              (HEADER + "1.496e11,0,0,0,1\n", "2:1: x must be from -100000 to 100000, not 1.496e11"),
                              (HEADER + "0,-1.01e5,0,0,1\n", "2:3: y must be from -100000 to 100000"),
                              (HEADER + "0,0,1.01e6,0,1\n", "2:5: vx must be from -1e+06 to 1e+06"),
                              (HEADER + "0,0,0,-1.01e6,1\n", "2:7: vy must be from -1e+06 to 1e+06"),
                              (HEADER + "0,0,0,0,0\n", "2:9: a mass must be greater than 0"),
                              (HEADER + "0,,0,0,1\n", "2:3: '' is not a number")):
            (self.folder / "in.csv").write_text(text)
            self.assert_refused("--input", "in.csv", mentions=f"in.csv:{message}")
        self.assert_refused("--input", "missing.csv", mentions="cannot read missing.csv")

    def test_bodies_do_not_take_the_place_of_those_that_were_read(self):
        (self.folder / "bodies.csv").write_text(THREE)
        self.assert_refused("--log", "none", "--input", "bodies.csv", "--output", "./bodies.csv", mentions="--input and --output are the same")


class NBodyTest(BodiesTests, unittest.TestCase):
    program = command_line.path_argument(1)
    other_program = command_line.path_argument(2)
    options = ("--bodies N=2000", "--cut-off X=0", "--input FILE=none", "--output FILE=none", "--steps N=300",
               "--variant objects=objects")
    real_numbers = {"--cut-off": (0, 3)}
    picture_file = "n-body.png"
    phases = ("attract", "move")

    def test_a_cut_off_changes_what_bodies_do(self):
        tables = []
        for cut_off in ("0", "0.001", "3"):
            self.simulate_small_run("--cut-off", cut_off)
            tables.append(self.rows(self.steps))
        self.assert_rows_agree(tables[2], tables[0])
        energies = [float(table[-1][3]) for table in tables]
        self.assertNotAlmostEqual(energies[1] / energies[0], 1, places=5)


class CollisionTest(BodiesTests, unittest.TestCase):
    program = command_line.path_argument(2)
    other_program = command_line.path_argument(1)
    options = ("--bodies N=2000", "--input FILE=none", "--output FILE=none", "--steps N=200",
               "--variant objects=objects")
    picture_file = "collision.png"
    phases = ("attract", "move", "seek", "merge", "leave")

    def test_a_run_that_leaves_the_range_of_its_arithmetic_fails_with_the_step(self):
        (self.folder / "in.csv").write_text(HEADER + "0.1,0,0,0,1e14\n-0.1,0,0,0,1e14\n" * 10000)
        result = self.run_program("--input", "in.csv", "--steps", "3", "--quiet", *command_line.NO_PICTURES)
        self.assertEqual(result.returncode, command_line.EXIT_FAILURE, result)
        self.assertIn("after step 1 a body is farther than 900000 from the middle", result.stderr)


if __name__ == "__main__":
    command_line.main(NBodyTest)
