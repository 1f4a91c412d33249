"""Debian's checker of packages finds no mistake in ours, and each program has a man page.

Usage: lintian_test.py <folder with packages> <lintian, or a name that ends with -NOTFOUND> [--compiled]

--compiled: there are also the packages of what is compiled. Exits with 77 (skipped) if lintian is not installed.
"""

import pathlib
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(sys.argv[1])
LINTIAN = sys.argv[2]
COMPILED = "--compiled" in sys.argv[3:]
SKIPPED = 77
PACKAGES = sorted(FOLDER.glob("*.deb"))
MODELS = 14


def files_of(package):
    listed = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], capture_output=True, check=True).stdout
    return subprocess.run(["tar", "--list"], input=listed, capture_output=True, check=True).stdout.decode().split()


class Lintian(unittest.TestCase):
    def test_there_is_a_package_of_everything(self):
        names = {package.name.partition("_")[0] for package in PACKAGES}
        compiled = {"libdynasoar-cpu-dev", "dynasoar-models"} if COMPILED else set()
        self.assertEqual(names, {"libdynasoar-dev", "libdynasoar-allocators-dev"} | compiled)

    def test_each_program_has_a_man_page(self):
        programs = set()
        for package in PACKAGES:
            files = files_of(package)
            found = {pathlib.Path(file).name for file in files if file.startswith("./usr/bin/") and not file.endswith("/")}
            programs |= found
            self.assertLessEqual({f"./usr/share/man/man1/{name}.1.gz" for name in found}, set(files), package)
        self.assertEqual(len(programs), 2 + MODELS * COMPILED, programs)

    def test_lintian_finds_no_mistake(self):
        said = subprocess.run([LINTIAN, "--profile", "debian", "--allow-root", "--fail-on", "error,warning", *PACKAGES],
                              capture_output=True, text=True, check=False)
        self.assertEqual((said.returncode, said.stdout), (0, ""), said.stderr)


if __name__ == "__main__":
    if LINTIAN.endswith("-NOTFOUND"):
        print("skipped: lintian is not installed (apt-get install lintian)")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
