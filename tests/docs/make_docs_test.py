"""scripts/make-docs: what it makes of a page, and the links that it finds to lead nowhere. All pages here are made up.

Usage: make_docs_test.py <path of make-docs>
"""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

loader = importlib.machinery.SourceFileLoader("make_docs", sys.argv[1])
sys.dont_write_bytecode = True
make_docs = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_docs", loader))
loader.exec_module(make_docs)


class Site(unittest.TestCase):
    def broken(self, **pages):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            for page, text in pages.items():
                (folder / f"{page}.html").write_text(text, encoding="utf-8")
            return list(make_docs.broken_links(folder))

    def test_links_within_the_site_are_fine(self):
        self.assertEqual(self.broken(a='<h1 id="x">x</h1><a href="b.html#y">b</a><a href="#x">x</a>', b='<p id="y">y</p>'), [])

    def test_pages_and_places_that_do_not_exist_are_found(self):
        self.assertEqual(len(self.broken(a='<a href="b.html">b</a><a href="#x">x</a><img src="c.png">')), 3)

    def test_other_sites_are_not_asked(self):
        self.assertEqual(self.broken(a='<a href="https://example.org/nothing">x</a>'), [])

    def test_a_link_to_a_file_that_the_project_does_not_have_is_a_problem(self):
        with tempfile.TemporaryDirectory() as folder:
            site = make_docs.Site(pathlib.Path(folder))
            site.target_of(pathlib.Path("docs/tutorial.md"), "../nothing.md", pathlib.Path("docs/tutorial.html"))
            site.target_of(pathlib.Path("docs/tutorial.md"), "../../outside", pathlib.Path("docs/tutorial.html"))
        self.assertEqual(len(site.problems), 2)

    def test_anchors_are_those_of_github(self):
        self.assertEqual(make_docs.anchor_of("What's `new`, and old_ones?"), "whats-new-and-old_ones")

    def test_what_only_tests_read_is_not_shown_and_lists_are_lists(self):
        self.assertEqual(make_docs.for_markdown("<!-- piece x\nint i;\n-->\ntext:\n- one\n- two\n"), "text:\n\n- one\n- two\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
