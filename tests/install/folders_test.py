"""Where files are installed: folders that are not below a prefix, and a computer without gzip.

Usage: folders_test.py <project folder> <cmake> <pkg-config> <C++ compiler> <generator>
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
CMAKE, PKG_CONFIG, COMPILER, GENERATOR = sys.argv[2:]


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def configure(self, *options):
        switched_off = [f"-DDYNASOAR_{name}=OFF" for name in ("CUDA", "MPI", "TESTS", "BENCHMARKS")]
        return run(CMAKE, "-S", ROOT, "-B", self.folder / "build", "-G", GENERATOR, f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_BUILD_TYPE=Release",
                   f"-DCMAKE_INSTALL_PREFIX={self.folder}/prefix", *switched_off, *options)

    def flags(self, folder):
        """What pkg-config says if dynasoar.pc is in this folder."""
        folder.mkdir(parents=True)
        shutil.copy(self.folder / "build/dynasoar.pc", folder)
        said = run(PKG_CONFIG, "--cflags", "--libs", "dynasoar", env=os.environ | {"PKG_CONFIG_PATH": str(folder)}).split()
        return [flag[:2] + os.path.normpath(flag[2:]) for flag in said if flag.startswith(("-I", "-L"))]

    def test_each_kind_of_file_may_have_a_folder_of_its_own(self):
        kinds = ("LIB", "LIBEXEC", "INCLUDE", "DATA")
        self.configure("-DDYNASOAR_APPS=ON", *(f"-DCMAKE_INSTALL_{kind}DIR={self.folder}/{kind.lower()}/here" for kind in kinds))
        self.assertEqual(self.flags(self.folder / "lib/here/pkgconfig"), [f"-I{self.folder}/include/here", f"-L{self.folder}/lib/here"])
        link = os.readlink(self.folder / "build/packaging/dynasoar-wa-tor")  # for bin
        self.assertEqual(os.path.normpath(self.folder / "prefix/bin" / link), f"{self.folder}/libexec/here/dynasoar/wa-tor")
        run(CMAKE, "--install", self.folder / "build", "--component", "core")
        self.assertTrue((self.folder / "include/here/dynasoar/dynasoar.h").exists())
        config = (self.folder / "data/here/cmake/dynasoar/dynasoarConfig.cmake").read_text(encoding="utf-8")
        self.assertIn(f'"{self.folder}/include/here"', config)

    def test_only_libraries_may_be_elsewhere_and_without_gzip_there_are_no_packages(self):
        said = self.configure("-DDYNASOAR_APPS=OFF", "-DDYNASOAR_GZIP=", f"-DCMAKE_INSTALL_LIBDIR={self.folder}/lib/here")
        self.assertEqual(self.flags(self.folder / "lib/here/pkgconfig"), [f"-I{self.folder}/prefix/include", f"-L{self.folder}/lib/here"])
        self.assertIn("dynasoar: gzip was not found, so cpack makes no packages", said)
        self.assertFalse((self.folder / "build/CPackConfig.cmake").exists())

    def test_a_prefix_can_be_moved(self):
        self.configure("-DDYNASOAR_APPS=OFF", "-DCMAKE_INSTALL_LIBDIR=lib/triple")
        self.assertTrue((self.folder / "build/CPackConfig.cmake").exists())
        moved = self.folder / "moved"
        self.assertEqual(self.flags(moved / "lib/triple/pkgconfig"), [f"-I{moved}/include", f"-L{moved}/lib/triple"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
