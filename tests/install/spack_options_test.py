"""With the options of Spack's recipe, the applications use no library that the recipe does not name.

Usage: spack_options_test.py <project folder> <cmake> <C++ compiler> <generator>
Exits with 77 (skipped) if none of these libraries is installed.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from packaging_test import load_spack_recipe

ROOT, CMAKE, COMPILER, GENERATOR = sys.argv[1:]
SKIPPED = 77


def used(options):
    """The optional libraries that macros tell the sources of, and the folder of the program that needs clang's."""
    with tempfile.TemporaryDirectory() as build:
        command = [CMAKE, "-S", ROOT, "-B", build, "-G", GENERATOR, f"-DCMAKE_CXX_COMPILER={COMPILER}",
                   "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *(f"-D{name}={value}" for name, value in options.items())]
        subprocess.run(command, check=True, capture_output=True)
        commands = (pathlib.Path(build) / "compile_commands.json").read_text(encoding="utf-8")
    return set(re.findall(r"-DDYNASOAR_(APP_SDL|APP_WEBP|HDF5|PNG|ZSTD)\b|/(static_analysis)/", commands))


def options_of_the_recipe(**variants):
    recipe, _ = load_spack_recipe()
    values = {name: variants.get(value, value) for name, value in recipe().cmake_args()}
    return {name: {True: "ON", False: "OFF"}.get(value, value) for name, value in values.items()}


INSTALLED = used(options_of_the_recipe(models=True, view=True) | {
    f"DYNASOAR_{name}_LIBRARY": f"DYNASOAR_{name}_LIBRARY-NOTFOUND" for name in ("CLANG", "HDF5", "PNG", "ZSTD")})


class Options(unittest.TestCase):
    def test_models_use_no_library_that_is_installed_by_chance(self):
        self.assertEqual(used(options_of_the_recipe(models=True, view=False)), set())


if __name__ == "__main__":
    if not INSTALLED:
        print("none of the optional libraries is installed")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
