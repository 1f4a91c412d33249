"""The command line of structure: its own options, what it refuses, and its files. What all programs share is tested
with wa-tor.

Usage: structure_cli_test.py <path of structure> <path of plate.msh>. Exits with 77 (skipped) if structure needs a GPU
and there is none.
"""

import csv
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
PLATE = str(pathlib.Path(sys.argv[2]).resolve())
OPTIONS = ("--mesh --nodes --springs-per-node --free --pulled --anchor-left --pull-right --pull-speed --strength "
           "--mass --steps --seed --heap --variant --baseline --csv --chart --picture").split()
PARALLEL = [("--variant", "springs"), ("--baseline", "soa"), ("--baseline", "aos")]
IMPLEMENTATIONS = PARALLEL + [("--baseline", "reference")]
SMALL = ["--nodes", "150", "--steps", "12", "--pull-speed", "0.2"]


def run(*arguments, cwd):
    return subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def rows(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.reader(file))


def png_size(path):
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR", f"{path} is not a PNG file"
    return struct.unpack(">II", data[16:24])


class StructureTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def assert_refused(self, *arguments, mentions):
        """Exit code 2 and one line that mentions what is wrong; nothing is simulated or left behind."""
        with self.subTest(arguments=arguments):
            before = set(self.path.iterdir())
            result = run(*arguments, cwd=self.path)
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(result.stdout, "")
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertTrue(result.stderr.startswith("structure: "), result.stderr)
            self.assertIn(mentions, result.stderr)
            self.assertEqual(set(self.path.iterdir()), before)

    def write_mesh(self, name, elements, nodes=3):
        points = "".join(f"{n * 0.5} {n % 2} 0\n" for n in range(nodes))
        tags = "".join(f"{n + 1}\n" for n in range(nodes))
        text = (f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {nodes} 1 {nodes}\n2 1 0 {nodes}\n{tags}{points}"
                f"$EndNodes\n$Elements\n1 {len(elements)} 1 9999\n"
                f"{elements[0][0]} 1 {elements[0][1]} {len(elements)}\n")
        text += "".join(f"{i + 1} {element[2]}\n" for i, element in enumerate(elements)) + "$EndElements\n"
        (self.path / name).write_text(text, encoding="ascii")

    def test_help_mentions_every_option_with_its_default(self):
        result = run("--help", cwd=self.path)
        self.assertEqual(result.returncode, 0)
        for option in OPTIONS:
            self.assertIn(option, result.stdout)
        for default in ("FILE=none", "N=1000", "X=1.75", "X=0.65", "X=0.25", "X=0.05", "X=0.5", "X=500", "N=60", "N=42",
                        "FILE=structure.csv", "FILE=structure-history.png", "FILE=structure.png"):
            self.assertIn(default, result.stdout)

    def test_wrong_values_are_refused(self):
        for value in ("-1", "many", "268435457", "1.5"):
            self.assert_refused(f"--nodes={value}", mentions="--nodes")
        for value in ("2.6", "-0.1", "nan", "few", ""):
            self.assert_refused(f"--springs-per-node={value}", mentions="--springs-per-node")
        for value in ("-1", "inf", "nan", "1x"):
            self.assert_refused(f"--strength={value}", mentions="--strength")
            self.assert_refused(f"--pull-speed={value}", mentions="--pull-speed")
        self.assert_refused("--mass", "3.9", mentions="must be a number from 4 to 1e+09, not '3.9'")
        self.assert_refused("--free", "0.8", "--pulled", "0.3", mentions="--free + --pulled")
        self.assert_refused("--free", "1.1", mentions="--free")
        self.assert_refused("--mesh", PLATE, "--anchor-left", "0.6", "--pull-right", "0.5",
                            mentions="--anchor-left + --pull-right")
        self.assert_refused("--variant", "nodes", mentions="springs")

    def test_options_of_meshes_and_random_networks_do_not_mix(self):
        for option in ("--nodes", "--springs-per-node", "--free", "--pulled"):
            self.assert_refused("--mesh", PLATE, option, "1", mentions=option)
        for option in ("--anchor-left", "--pull-right"):
            self.assert_refused(option, "0.5", mentions="--mesh")

    def test_meshes_that_cannot_be_read_are_refused(self):
        self.assert_refused("--mesh", "missing.msh", mentions="missing.msh: cannot be opened")
        (self.path / "broken.msh").write_text("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 x\n", encoding="ascii")
        self.assert_refused("--mesh", "broken.msh", mentions="broken.msh:5:3: expected the number of nodes")
        self.assert_refused("--mesh", ".", mentions="$MeshFormat")
        self.write_mesh("hub.msh", [(1, 1, f"1 {n}") for n in range(2, 35)], nodes=34)
        self.assert_refused("--mesh", "hub.msh",
                            mentions="hub.msh: node 0 at (0.000000, 0.000000) has more than 32 springs")

    def test_files_are_the_same_for_all_implementations(self):
        tables, pictures = [], []
        for implementation in IMPLEMENTATIONS:
            with self.subTest(implementation=implementation):
                result = run(*SMALL, *implementation, cwd=self.path)
                self.assertEqual(result.returncode, 0, result)
                table = rows(self.path / "structure.csv")
                self.assertEqual(table[0], ["step", "springs", "nodes"])
                self.assertEqual([row[0] for row in table[1:]], [str(step) for step in range(13)])
                self.assertEqual(table[1], ["0", "262", "150"])
                self.assertLess(int(table[-1][1]), 262)
                self.assertEqual(png_size(self.path / "structure-history.png"), (1920, 1080))
                self.assertLessEqual(max(png_size(self.path / "structure.png")), 1700)
                for word in ("springs", "nodes", "search", "deletion", "structure.csv (13 rows)"):
                    if implementation != ("--baseline", "reference"):
                        self.assertIn(word, result.stdout)
                tables.append(table)
                if implementation in PARALLEL:
                    pictures.append((self.path / "structure.png").read_bytes())
        self.assertTrue(all(table == tables[0] for table in tables), "implementations differ")
        self.assertTrue(all(picture == pictures[0] for picture in pictures), "implementations differ")

    def test_a_mesh_is_pulled_apart(self):
        result = run("--mesh", PLATE, "--steps", "25", "--pull-speed", "0.02", "--strength", "0.01", "--mass", "50",
                     "--baseline", "soa", cwd=self.path)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("structure-of-arrays baseline, plate.msh, 990 nodes, 2,824 springs, seed 42, 25 steps",
                      result.stdout.splitlines()[0])
        table = rows(self.path / "structure.csv")
        self.assertEqual(table[1], ["0", "2824", "990"])
        self.assertLess(int(table[-1][1]), 2824)
        width, height = png_size(self.path / "structure.png")
        self.assertEqual(width, 1600)
        self.assertLess(height, 900)

    def test_degenerate_networks_run(self):
        self.write_mesh("edge.msh", [(1, 1, "1 2")], nodes=2)
        for arguments in (["--nodes", "0"], ["--nodes", "1"], ["--nodes", "40", "--springs-per-node", "0"],
                          ["--mesh", "edge.msh"], ["--nodes", "40", "--strength", "0"]):
            for implementation in IMPLEMENTATIONS:
                with self.subTest(arguments=arguments, implementation=implementation):
                    result = run(*arguments, *implementation, "--steps", "3", "--quiet", "--chart", "none",
                                 cwd=self.path)
                    self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
                    self.assertEqual(len(rows(self.path / "structure.csv")), 5)
                    self.assertGreaterEqual(min(png_size(self.path / "structure.png")), 100)

    def test_a_heap_that_is_too_small_ends_the_run_with_advice(self):
        size = ["--nodes", "3000", "--steps", "2", "--quiet"]
        result = run(*size, "--heap", "256KiB", cwd=self.path)
        self.assertEqual(result.returncode, 3, result)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        advice = re.search(r"--heap (\d+MiB)", result.stderr)
        self.assertIsNotNone(advice, result.stderr)
        self.assertEqual(run(*size, "--heap", advice[1], cwd=self.path).returncode, 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        probe = run("--nodes", "1", "--steps", "0", cwd=folder)
        if probe.returncode == 1 and "no GPU" in probe.stderr:
            print("skipped:", probe.stderr.strip())
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
