#!/usr/bin/python3
"""scripts/check-docs finds each kind of problem on made-up pages, and none on a page that has none.

Usage: check_docs_test.py <path of check-docs> <folder in which make-docs has made a site>
Exits with 77 (skipped) if Chromium or the Python packages of make-docs are not installed.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
SKIPPED = 77
PAGE = '<!DOCTYPE html><html lang="en"><head><title>x</title><link rel="icon" href="data:,"></head><body><main><h1>x</h1>{}</main></body></html>'
PROBLEMS = {"console": ("<script>console.error('wrong')</script>", "console: "),
            "missing": ("<img src='missing.png' alt='x'>", "ERR_FILE_NOT_FOUND"),
            "elsewhere": ("<img src='http://127.0.0.1:9/x.png' alt='x'>", "asks for http://127.0.0.1:9/x.png"),
            "wide": ("<div style='width: 3000px'>x</div>", "3008 pixels wide, in a window of 1280"),
            "alt": ("<img src='data:image/png;base64,iVBORw0KGgo='>", "image-alt: "),
            "contrast": ("<p style='color: #bbb; background: #fff'>text</p>", "color-contrast: ")}


class CheckDocs(unittest.TestCase):
    def check(self, pages):
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:  # next to the Python packages
            for name, body in pages.items():
                (pathlib.Path(folder) / f"{name}.html").write_text(PAGE.format(body), encoding="utf-8")
            return subprocess.run([CHECK, folder, "--all"], capture_output=True, text=True, check=False, timeout=300)

    def test_each_kind_of_problem_is_found_where_it_is(self):
        result = self.check({"fine": "<p>text</p>"} | {name: body for name, (body, _) in PROBLEMS.items()})
        self.assertEqual(result.returncode, 1, result)
        for name, (_, message) in PROBLEMS.items():
            self.assertTrue(any(line.startswith(f"{name}.html, ") and message in line for line in result.stdout.splitlines()), f"{name}: {result}")
        self.assertNotIn("fine.html", result.stdout)

    def test_pages_without_problems_are_fine_and_without_pages_the_check_is_skipped(self):
        result = self.check({"fine": "<p>text</p>"})
        self.assertEqual((result.returncode, result.stdout), (0, "1 pages, no problem\n"))
        result = self.check({})
        self.assertEqual(result.returncode, SKIPPED, result)
        self.assertRegex(result.stdout, "skipped: there is no site in .*: run scripts/make-docs")


if __name__ == "__main__":
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: Debian's packages chromium and chromium-driver are not installed")
        sys.exit(SKIPPED)
    if not (BUILD / "docs-python/installed").exists():
        print("skipped: scripts/make-docs has not installed its Python packages")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
