"""What CMake says of folders with other projects' allocators, DYNASOAR_FOREIGN_ALLOCATORS.

Usage: foreign_folders_test.py <project folder> <cmake>
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
CMAKE = sys.argv[2]
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(allocators LANGUAGES NONE)
include({root}/cmake/DynasoarAllocators.cmake)
dynasoar_define_allocators()
get_property(_names GLOBAL PROPERTY DYNASOAR_FOREIGN_MALLOCS)
message(STATUS "names: ${{_names}}")
"""
POOL = "dynasoar_add_allocator(pool HEADER pool.h CLASS my::Pool)"


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT), encoding="utf-8")

    def add(self, text):
        """The path of a folder with a header, and a CMakeLists.txt that has this text, if any."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "pool.h").touch()
        if text is not None:
            (folder / "CMakeLists.txt").write_text(text, encoding="utf-8")
        return str(folder)

    def configure(self, *texts):
        folders = ";".join(self.add(text) for text in texts)
        result = subprocess.run([CMAKE, "-B", self.folder / "build", "-S", self.folder, "-DDYNASOAR_FOREIGN_ALLOCATORS=" + folders],
                                capture_output=True, text=True, check=False)
        return result.returncode, re.sub(r"\s+", " ", result.stdout + result.stderr)

    def check_refused(self, text, message):
        with self.subTest(message):
            status, output = self.configure(text)
            self.assertNotEqual(status, 0)
            self.assertIn(message, output)

    def test_each_folder_may_have_several_allocators(self):
        status, output = self.configure(POOL, POOL.replace("(pool", "(a") + "\n" + POOL.replace("(pool", "(b"))
        self.assertEqual(status, 0, output)
        self.assertIn("names: pool;a;b", output)

    def test_a_folder_must_have_an_allocator(self):
        self.check_refused(None, "there is no CMakeLists.txt in it; docs/how-to/own-allocator.md says")
        self.check_refused("", "does not call dynasoar_add_allocator()")

    def test_a_name_must_be_new(self):
        for name in ("scatter", "mp-lists", "soa", "all", "fdg", "std"):
            self.check_refused(POOL.replace("(pool", "(" + name), f"the name '{name}' is taken; choose another one")
        self.check_refused(POOL + "\n" + POOL, "the name 'pool' is taken")
        self.check_refused(POOL.replace("(pool", "(mp_lists"), "a name begins with a letter")

    def test_what_is_named_must_be_there(self):
        for old, new, message in (("HEADER pool.h", "", "takes HEADER <file> CLASS <class>"),
                                  ("my::Pool", "my::Pool FREES", "takes HEADER <file> CLASS <class>"),
                                  ("pool.h", "none.h", "none.h'"),
                                  ("my::Pool", "my::Pool SUITE none.h", "there is no file"),
                                  ("my::Pool", "my::Pool<64>", "if it is a template with arguments"),
                                  ("my::Pool", "my::Pool LIBRARIES pol", "'pol' is neither a target of CMake nor")):
            self.check_refused(POOL.replace(old, new), message)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
