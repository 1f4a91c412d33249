#!/usr/bin/python3
"""public_names.py: what is a public name, and what the comparison says of changes. The headers here are made up."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parent / "public_names.py"
SKIPPED = 77
HEADER = """
#pragma once
#define DYNASOAR_MAKE(Name) struct Name {}
#define DYNASOAR_HELP_(Name) Name
#define __device__
namespace dynasoar {
namespace detail {
struct Private { int hidden(); };
class Base { public: void inherited(int count); Base(); protected: void unreachable(); };
}
/// A comment with (braces) {}.
template <class T>
class Box final : public detail::Base {
 public:
  explicit Box(T first) : first_(first) {}
  __device__ inline T get(/* nothing */ int index = 0) const { return first_; }
  friend bool operator==(const Box&, const Box&) { return true; }
  friend bool helper(const Box&) { return true; }
  T twice_();
 protected:
  void refill();
 private:
  void secret();
  T first_;
};
enum class Colour { red, green };
inline constexpr int kSize = 3;
using Count = unsigned;
void forward(Box<int>& box);
}
namespace other { void elsewhere(); }
"""
CMAKE = """
option(DYNASOAR_FAST "help" ON)
set(DYNASOAR_RARE x CACHE STRING "help")
mark_as_advanced(DYNASOAR_RARE)
add_library(dynasoar::dynasoar ALIAS dynasoar)
"""


class PublicNamesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("dsl/include/dynasoar/detail", "allocator/include/dynasoar/platform", "docs", "cmake"):
            (self.root / name).mkdir(parents=True)
        self.write("dsl/include/dynasoar/box.h", HEADER)
        self.write("CMakeLists.txt", CMAKE)
        self.write("CHANGELOG.md", "# Changelog\n")
        self.run_program("write")

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def run_program(self, what, code=0, more=()):
        result = subprocess.run([PROGRAM, what, self.root, *more], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(result.returncode, code, result)
        return result.stdout + result.stderr

    def change(self, old, new):
        self.assertIn(old, HEADER)
        self.write("dsl/include/dynasoar/box.h", HEADER.replace(old, new))

    def test_the_list_has_what_users_can_name(self):
        lines = (self.root / "docs/public-names.txt").read_text(encoding="utf-8").splitlines()
        self.assertEqual([line for line in lines if line and not line.startswith("#")], [
            "[box.h]", "class Box = template <class T> class Box final", "enum Colour = enum class Colour",
            "enumerator Colour::green", "enumerator Colour::red", "function Box::Box = explicit Box(T)",
            "function Box::get = __device__ T get(int = 0) const", "function Box::inherited = void inherited(int)",
            "function Box::operator== = friend bool operator==(const Box&, const Box&)", "function Box::refill = void refill()",
            "function forward = void forward(Box<int>&)", "macro DYNASOAR_MAKE", "type Count = using Count = unsigned",
            "variable kSize = constexpr int kSize = 3", "[CMake]", "option DYNASOAR_FAST", "target dynasoar::dynasoar"])

    def test_without_a_change_there_is_nothing_to_do(self):
        self.assertIn("0 changes", self.run_program("check"))

    def test_a_body_a_comment_and_a_parameter_name_are_no_change(self):
        self.change("int index = 0) const { return first_; }", "int number = 0) const { return T{}; }  // new")
        self.run_program("check")

    def test_a_private_name_is_no_change(self):
        self.change("int hidden();", "int hidden(); int more();")
        self.run_program("check")

    def test_a_renamed_function_is_gone_and_new(self):
        self.change("void forward(", "void onward(")
        text = self.run_program("check", code=1)
        self.assertIn("public name function forward (box.h) is gone", text)
        self.assertIn("public name function onward (box.h) is new", text)
        self.assertIn("public_names.py write .` and add a line to CHANGELOG.md", text)

    def test_another_signature_is_a_change(self):
        self.change("int index = 0", "int index")
        self.assertIn("function Box::get (box.h) has changed:\n  - __device__ T get(int = 0) const\n"
                      "  + __device__ T get(int) const\n", self.run_program("check", code=1))

    def test_a_lost_option_is_gone(self):
        self.write("CMakeLists.txt", CMAKE.replace('option(DYNASOAR_FAST "help" ON)', ""))
        self.assertIn("public name option DYNASOAR_FAST (CMake) is gone", self.run_program("check", code=1))

    def test_a_deprecated_name_says_what_to_use_and_is_in_the_changelog(self):
        self.change("void forward(", "[[deprecated]] void forward(")
        self.run_program("write")
        text = self.run_program("check", code=1)
        self.assertIn("[[deprecated(\"use ...\")]]", text)
        self.assertIn("say so in CHANGELOG.md", text)
        self.change("void forward(", '[[deprecated("use onward")]] void forward(')
        self.write("CHANGELOG.md", "### Changed\n\n- Use `onward` instead of `forward`.\n")
        self.run_program("write")
        self.run_program("check")

    def test_a_header_that_does_not_compile_is_an_error(self):
        self.change("using Count = unsigned;", "using Count = unsinged;")
        text = self.run_program("check", code=1)
        self.assertIn("the headers do not compile:", text)
        self.assertIn("unsinged", text)

    def test_hana_may_be_anywhere_and_is_not_part_of_the_project(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            hana = pathlib.Path(elsewhere) / "boost/hana_elsewhere.hpp"
            hana.parent.mkdir()
            hana.write_text("using Made = unsigned;\n", encoding="utf-8")
            self.change("namespace dynasoar {\n", "#include <boost/hana_elsewhere.hpp>\nnamespace dynasoar {\n")
            self.assertIn("'boost/hana_elsewhere.hpp' file not found", self.run_program("check", code=1))
            self.assertIn("0 changes", self.run_program("check", more=[elsewhere]))
            hana.write_text("using Made = __a_builtin_of_newer_compilers;\n", encoding="utf-8")
            text = self.run_program("check", code=SKIPPED, more=[elsewhere])
            self.assertIn("skipped: libclang does not understand headers that are not ours", text)
            self.assertIn("__a_builtin_of_newer_compilers", text)

    def test_without_its_library_the_binding_is_of_no_use(self):
        program = ("from clang import cindex; cindex.Config.set_library_file('/nowhere/libclang.so')\n"
                   f"import runpy; runpy.run_path({str(PROGRAM)!r}, run_name='__main__')")
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(result.returncode, SKIPPED, result)
        self.assertRegex(result.stdout, "^skipped: .*python3-clang-14.*/nowhere/libclang.so")


if __name__ == "__main__":
    if subprocess.run([PROGRAM], capture_output=True, check=False).returncode == SKIPPED:
        sys.exit(SKIPPED)
    unittest.main()
