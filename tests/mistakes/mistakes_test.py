"""Compares the messages in docs/how-to/mistakes.md and mistakes-in-loops.md with what the compiler's tests expect, and those
in docs/how-to/mistakes-at-run-time.md with what the program tests/mistakes says: mistakes_test.py ROOT PROGRAM. Numbers
are N on the page."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]
ENTRY = re.compile(r"<!-- mistake (compile|run) (\w+) -->\n```text\n.*?\n```\n\n```text\n(.*?)\n```", re.S)
PAGES = [(kind, (ROOT / "docs/how-to" / name).read_text(encoding="utf-8"))
         for kind, name in (("compile", "mistakes.md"), ("compile", "mistakes-in-loops.md"), ("run", "mistakes-at-run-time.md"))]
ENTRIES = [entry for _, page in PAGES for entry in ENTRY.findall(page)]
CASES = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/compile_fail/**/*.cpp"))


def without_numbers(text):
    return re.sub(r"\d+(\.\d+)?", "N", text.strip())


class MistakesTest(unittest.TestCase):
    def test_there_are_twenty_and_none_is_left_out(self):
        self.assertGreaterEqual(len(ENTRIES), 20)
        for kind, page in PAGES:
            entries = [entry for entry in ENTRY.findall(page) if entry[0] == kind]
            self.assertEqual(len(entries), page.count("<!-- mistake"))
            self.assertEqual(len(entries), len(re.findall(r"^## \d+\. ", page, re.M)))
        self.assertEqual(re.findall(r"^## (\d+)\. ", "".join(page for _, page in PAGES), re.M),
                         [str(number + 1) for number in range(len(ENTRIES))])

    def test_the_page_has_what_the_tests_of_the_compiler_expect(self):
        for kind, name, message in ENTRIES:
            if kind == "compile":
                with self.subTest(name):
                    expected = re.findall(rf"if defined\(MISTAKE_{name}\).*\n *// expect: (.*)", CASES)
                    self.assertEqual([message], expected)

    def test_the_page_has_what_the_program_says(self):
        known = subprocess.run([PROGRAM], capture_output=True, text=True, check=False).stderr.split("names:")[1].split()
        missing = {"made_on_the_host", "global_object"}  # do not compile with CUDA
        self.assertLessEqual({name for kind, name, _ in ENTRIES if kind == "run"} - set(known), missing)
        self.assertLessEqual(set(known), {name for kind, name, _ in ENTRIES if kind == "run"})
        for kind, name, message in ENTRIES:
            if kind == "run" and name in known:
                with self.subTest(name):
                    result = subprocess.run([PROGRAM, name], capture_output=True, text=True, check=False, timeout=60)
                    said = without_numbers(result.stdout + result.stderr)
                    if name == "no_handle":  # a GPU's driver has something to say, too
                        self.assertIn(message, said)
                    else:
                        self.assertEqual(said, message)
                    # What nobody asked for is printed, but a program cannot fail in a destructor.
                    self.assertEqual(result.returncode == 0, name == "nobody_asks")


if __name__ == "__main__":
    probe = subprocess.run([PROGRAM], capture_output=True, text=True, check=False)
    if probe.returncode == 77:
        print(probe.stderr.strip())
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
