#!/usr/bin/python3
"""scripts/check-docs finds each kind of problem on made-up pages, and none on a page that has none.

Usage: check_docs_test.py <path of check-docs>. Exits with 77 (skipped) if Chromium is not installed.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(sys.argv[1]).resolve()
PAGE = '<!DOCTYPE html><html lang="en"><head><title>x</title><link rel="icon" href="data:,"></head><body><main><h1>x</h1>{}</main></body></html>'
PROBLEMS = {"console": ("<script>console.error('wrong')</script>", "console: "),
            "missing": ("<img src='missing.png' alt='x'>", "ERR_FILE_NOT_FOUND"),
            "elsewhere": ("<img src='http://127.0.0.1:9/x.png' alt='x'>", "asks for http://127.0.0.1:9/x.png"),
            "wide": ("<div style='width: 3000px'>x</div>", "3008 pixels wide, in a window of 1280"),
            "alt": ("<img src='data:image/png;base64,iVBORw0KGgo='>", "image-alt: "),
            "contrast": ("<p style='color: #bbb; background: #fff'>text</p>", "color-contrast: ")}


class CheckDocs(unittest.TestCase):
    def check(self, pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, body in pages.items():
                (pathlib.Path(folder) / f"{name}.html").write_text(PAGE.format(body), encoding="utf-8")
            return subprocess.run([CHECK, folder, "--all"], capture_output=True, text=True, check=False, timeout=300)

    def test_each_kind_of_problem_is_found_where_it_is(self):
        result = self.check({"fine": "<p>text</p>"} | {name: body for name, (body, _) in PROBLEMS.items()})
        self.assertEqual(result.returncode, 1, result)
        for name, (_, message) in PROBLEMS.items():
            self.assertTrue(any(line.startswith(f"{name}.html, ") and message in line for line in result.stdout.splitlines()), f"{name}: {result}")
        self.assertNotIn("fine.html", result.stdout)

    def test_pages_without_problems_are_fine_and_no_pages_are_an_error(self):
        result = self.check({"fine": "<p>text</p>"})
        self.assertEqual((result.returncode, result.stdout), (0, "1 pages, no problem\n"))
        result = self.check({})
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no site in", result.stderr)


if __name__ == "__main__":
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: Debian's packages chromium and chromium-driver are not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
