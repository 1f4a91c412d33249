"""code_blocks.py finds what it has to find. All pages here are made up."""

import pathlib
import sys
import tempfile
import unittest

import code_blocks
import links

PROGRAM = "```cpp\n#include <cstdio>\nint main() {\n  std::puts(\"17\");\n}\n```\n"


def parse(text):
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.md"
        page.write_text(text, encoding="utf-8")
        return code_blocks.programs_of(page)


class Pages(unittest.TestCase):
    def refused(self, text, message):
        with self.assertRaisesRegex(code_blocks.PageError, message):
            parse(text)

    def test_a_program_has_the_output_of_the_text_block_behind_it(self):
        programs, others = parse(PROGRAM + "It prints\n```text\n17\n```\n")
        self.assertEqual([program.expected for program in programs], ["17\n"])
        self.assertEqual(others, [])

    def test_code_that_is_no_program_must_say_how_it_compiles(self):
        self.refused("```cpp\nhandle.synchronize();\n```\n", "say with a comment")

    def test_pieces_become_one_program_with_those_that_are_not_shown(self):
        programs, _ = parse("<!-- piece first\nvoid f() {\n-->\n<!-- piece last\n}\n-->\n<!-- compile first this last -->\n"
                            "```cpp\ng();\n```\n")
        self.assertEqual("".join(text for text, _, _ in programs[0].pieces), "void f() {\ng();\n}\n")
        self.assertFalse(programs[0].runs)

    def test_a_piece_that_nobody_has_named_is_an_error(self):
        self.refused("<!-- compile first this -->\n```cpp\ng();\n```\n", "no piece 'first'")

    def test_a_page_can_use_the_pieces_of_another_page_and_errors_name_the_page_that_a_piece_is_from(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "first.md").write_text("<!-- piece head -->\n```cpp\n#include <cstdio>\nint f() { return 17; }\n```\n", encoding="utf-8")
            page = root / "second.md"
            page.write_text("<!-- pieces of first.md -->\n<!-- compile head this -->\n```cpp\nint g() { return f(); }\n```\n", encoding="utf-8")
            code_blocks.write_unit(code_blocks.programs_of(page)[0], root / "pages.cpp", root)
            text = (root / "pages.cpp").read_text(encoding="utf-8")
            page.write_text("<!-- pieces of third.md -->\n", encoding="utf-8")
            with self.assertRaisesRegex(code_blocks.PageError, "second.md:1: there is no page 'third.md'"):
                code_blocks.programs_of(page)
        self.assertRegex(text, r'#line 3 "first.md"\n\nint f\(\) \{ return 17; \}\n#line 4 "second.md"\nint g\(\)')

    def test_another_librarys_code_is_left_out_only_if_a_comment_says_so(self):
        self.assertEqual(parse("<!-- not compiled: another library -->\n```cpp\nother();\n```\n")[0], [])

    def test_code_without_a_language_and_indented_code_are_errors(self):
        self.refused("```\nx\n```\n", "in no language")
        self.refused("text\n\n    x = 1\n", "indented code")

    def test_a_block_that_does_not_end_is_an_error(self):
        self.refused("```cpp\nx\n", "does not end")

    def test_main_may_return_nothing_and_includes_come_first(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "page.cpp"
            code_blocks.write_unit(parse(PROGRAM)[0], output, output.parent)
            text = output.read_text(encoding="utf-8")
        self.assertLess(text.index("#include <cstdio>"), text.index("namespace block_0"))
        self.assertIn("return 0; }", text)

    def test_what_is_printed_is_compared_without_regard_to_spaces_and_dots_stand_for_anything(self):
        self.assertTrue(code_blocks.as_pattern("Cell  5 ... end\n").fullmatch("Cell 5 1 2 3 end"))
        self.assertFalse(code_blocks.as_pattern("Cell 5 end\n").fullmatch("Cell 6 end"))

    def test_a_program_that_prints_something_else_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_text("#!/bin/sh\necho 18\n", encoding="utf-8")
            program.chmod(0o700)
            entry = {"arguments": [], "page": "page.md", "line": 1}
            self.assertEqual(code_blocks.run(str(program), [entry | {"prints": "17\n"}]), 1)
            self.assertEqual(code_blocks.run(str(program), [entry | {"prints": "18\n"}]), 0)

    def test_shell_blocks_with_wrong_syntax_or_scripts_that_do_not_exist_are_found(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        self.assertEqual(code_blocks.check_shell(root, "scripts/test --quick\n"), [])
        self.assertTrue(code_blocks.check_shell(root, "scripts/toast\n"))
        self.assertTrue(code_blocks.check_shell(root, "cmake --preset nothing\n"))
        self.assertTrue(code_blocks.check_shell(root, "if true\n"))

    def test_toml_blocks_that_are_no_file_of_an_application_are_found(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        text = (root / "apps/wa_tor/sweep.toml").read_text(encoding="utf-8")
        self.assertEqual(code_blocks.check_toml(root, text), [])
        self.assertEqual(code_blocks.check_toml(root, text + "repetitions = 4\n"), ["no file apps/*/*.toml has these lines"])

    def test_cmake_blocks_with_commands_that_do_not_exist_are_found(self):
        self.assertEqual(code_blocks.check_cmake("project(x)\n", {"project"}), [])
        self.assertTrue(code_blocks.check_cmake("projekt(x)\n", {"project"}))


class Links(unittest.TestCase):
    def problems(self, text):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder).resolve() / "page.md"
            page.write_text(text, encoding="utf-8")
            return links.problems_of(page.parent, page)

    def test_links_to_files_and_headings_that_exist_are_fine(self):
        self.assertEqual(self.problems("# What's `new`?\n[x](page.md) [y](#whats-new) [z](page.md#whats-new)\n"), [])

    def test_links_to_files_and_headings_that_do_not_exist_are_found(self):
        self.assertEqual(len(self.problems("# New\n[x](other.md) [y](#old) [z](page.md#older)\n")), 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
