"""The command line of structure.

Usage: structure_cli_test.py <path of structure> <path of plate.msh>. Exits with 77 (skipped) if structure needs a GPU
and there is none.
"""

import shutil
import unittest

import command_line

PLATE = command_line.path_argument(2)


class StructureTest(command_line.CheckpointTests, command_line.ApplicationTests, unittest.TestCase):
    program = command_line.path_argument(1)
    options = ("--mesh FILE=none", "--nodes N=1000", "--springs-per-node X=1.75", "--free X=0.65", "--pulled X=0.25",
               "--anchor-left X=0.05", "--pull-right X=0.05", "--pull-speed X=0.05", "--strength X=0.5", "--mass X=500",
               "--steps N=60", "--variant springs=springs")
    whole_numbers = {"--nodes": (0, 2**27)}
    real_numbers = {"--springs-per-node": (0, 2.5), "--free": command_line.FRACTION, "--pulled": command_line.FRACTION,
                    "--pull-speed": (0, 1e6), "--strength": (0, 1e9), "--mass": (4, 1e9)}
    shares = ("--free", "--pulled")
    variants = {"springs": "nodes and springs as objects"}
    baselines = {"soa": "structure-of-arrays baseline", "aos": "array-of-structures baseline",
                 "fused": "fused structure-of-arrays baseline", "reference": "sequential reference"}
    inexact_baselines = ("reference",)
    log_file = "structure.csv"
    chart_file = "structure-history.png"
    picture_file = "structure.png"
    columns = counts = ("springs", "nodes")
    exported = ("nodes",)
    phases = ("anchors move", "search", "deletion")
    small_run = ("--nodes", "150", "--pull-speed", "0.2")
    size = "random network, 150 nodes, 262 springs, seed 42"
    large_run = ("--nodes", "3000", "--steps", "2")
    small_heap = "256KiB"

    def check_rows(self, rows):
        self.assertEqual(rows[0], ["0", "262", "150"])
        self.assertLess(int(rows[-1][1]), 262)

    def check_picture_size(self, size):
        self.assertLessEqual(max(size), 1700)
        self.assertGreaterEqual(min(size), 100)

    def write_mesh(self, name, elements, nodes=3):
        points = "".join(f"{n * 0.5} {n % 2} 0\n" for n in range(nodes))
        tags = "".join(f"{n + 1}\n" for n in range(nodes))
        text = (f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {nodes} 1 {nodes}\n2 1 0 {nodes}\n{tags}{points}"
                f"$EndNodes\n$Elements\n1 {len(elements)} 1 9999\n"
                f"{elements[0][0]} 1 {elements[0][1]} {len(elements)}\n")
        text += "".join(f"{i + 1} {element[2]}\n" for i, element in enumerate(elements)) + "$EndElements\n"
        (self.folder / name).write_text(text, encoding="ascii")

    def test_wrong_fractions_of_a_mesh_are_refused(self):
        for option in ("--anchor-left", "--pull-right"):
            self.assert_values_refused(option, command_line.wrong_real_numbers(0, 1), "--mesh", PLATE)
        shutil.copy(PLATE, self.folder / "plate.msh")
        self.assert_refused("--mesh", "plate.msh", "--picture", "./plate.msh", mentions="--mesh and --picture are the same file")
        self.assert_refused("--mesh", PLATE, "--anchor-left", "0.6", "--pull-right", "0.5",
                            mentions="--anchor-left + --pull-right")

    def test_options_of_meshes_and_random_networks_do_not_mix(self):
        for option in ("--nodes", "--springs-per-node", "--free", "--pulled"):
            self.assert_refused("--mesh", PLATE, option, "1", mentions=option)
        for option in ("--anchor-left", "--pull-right"):
            self.assert_refused(option, "0.5", mentions="--mesh")

    def test_meshes_that_cannot_be_read_are_refused(self):
        self.assert_refused("--mesh", "missing.msh", mentions="cannot read missing.msh: No such file")
        (self.folder / "broken.msh").write_text("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 x\n", encoding="ascii")
        self.assert_refused("--mesh", "broken.msh", mentions="broken.msh:5:3: expected the number of nodes")
        self.assert_refused("--mesh", ".", mentions="cannot read .: Is a directory")
        self.write_mesh("hub.msh", [(1, 1, f"1 {n}") for n in range(2, 35)], nodes=34)
        self.assert_refused("--mesh", "hub.msh",
                            mentions="hub.msh: node 0 at (0.000000, 0.000000) has more than 32 springs")

    def test_a_mesh_is_pulled_apart(self):
        result = self.simulate("--mesh", PLATE, "--steps", "25", "--pull-speed", "0.02", "--strength", "0.01",
                               "--mass", "50", "--baseline", "soa")
        self.assertIn("structure-of-arrays baseline, plate.msh, 990 nodes, 2,824 springs, seed 42, 25 steps",
                      result.stdout.splitlines()[0])
        rows = self.rows(25)
        self.assertEqual(rows[0], ["0", "2824", "990"])
        self.assertLess(int(rows[-1][1]), 2824)
        width, height = command_line.png_size(self.folder / "structure.png")
        self.assertEqual(width, 1600)
        self.assertLess(height, 900)

    def test_degenerate_networks_run(self):
        self.write_mesh("edge.msh", [(1, 1, "1 2")], nodes=2)
        for arguments in (["--nodes", "0"], ["--nodes", "1"], ["--nodes", "40", "--springs-per-node", "0"],
                          ["--mesh", "edge.msh"], ["--nodes", "40", "--strength", "0"]):
            for implementation in self.implementations():
                with self.subTest(arguments=arguments, implementation=implementation):
                    result = self.simulate(*arguments, *implementation, "--steps", "3", "--quiet", "--chart", "none")
                    self.assertEqual((result.stdout, result.stderr), ("", ""))
                    self.rows(3)
                    self.check_picture_size(command_line.png_size(self.folder / "structure.png"))


if __name__ == "__main__":
    command_line.main(StructureTest)
