"""Debian's checker of packages finds no mistake in ours, and each program has a man page.

Usage: lintian_test.py <project folder> <folder with packages> <lintian, or a name that ends with -NOTFOUND> [--compiled]

--compiled: there are also the packages of what is compiled. Exits with 77 (skipped) if lintian is not installed and the other
tests passed.
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1])
PACKAGES = sorted(pathlib.Path(sys.argv[2]).glob("*.deb"))
LINTIAN = sys.argv[3]
HAS_LINTIAN = not LINTIAN.endswith("-NOTFOUND")
COMPILED = "--compiled" in sys.argv[4:]
SKIPPED = 77


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
        page = (ROOT / "packaging" / "man" / "dynasoar-models.1").read_text(encoding="utf-8")
        models = set(re.findall(r"^\.TP\n\.B (dynasoar-[\w-]+)$", page, re.M))
        self.assertGreater(len(models), 10)
        self.assertEqual(programs, {"dynasoar-sweep", "dynasoar-plot-log"} | (models if COMPILED else set()))

    @unittest.skipUnless(HAS_LINTIAN, "lintian is not installed (apt-get install lintian)")
    def test_lintian_finds_no_mistake(self):
        said = subprocess.run([LINTIAN, "--profile", "debian", "--allow-root", "--fail-on", "error,warning", *PACKAGES],
                              capture_output=True, text=True, check=False)
        self.assertEqual((said.returncode, said.stdout), (0, ""), said.stderr)


if __name__ == "__main__":
    passed = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result.wasSuccessful()
    sys.exit(1 if not passed else 0 if HAS_LINTIAN else SKIPPED)
