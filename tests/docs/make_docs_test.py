#!/usr/bin/python3
"""scripts/make-docs: what it makes of a page, and the links that it finds to lead nowhere. All pages here are made up.

Usage: make_docs_test.py <path of make-docs>
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

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
        # Only these make a place of a value.
        self.assertEqual(self.broken(a='<a class="x" href="#x">x</a>'), ["a.html: #x: there is no such place"])

    def test_pages_and_places_that_do_not_exist_are_found(self):
        self.assertEqual(sorted(self.broken(a='<a href="b.html">b</a><a href="#x">x</a><img src="c.png">')),
                         ["a.html: #x: there is no such place", "a.html: b.html: there is no such page",
                          "a.html: c.png: there is no such page"])

    def test_a_place_is_looked_for_on_the_page_that_the_link_names(self):
        self.assertEqual(self.broken(a='<a href="b.html#x">b</a><p id="x">x</p>', b="<p>b</p>"),
                         ["a.html: b.html#x: there is no such place"])

    def test_names_and_quoted_characters_in_links_are_understood(self):
        self.assertEqual(self.broken(a='<a href="b%20c.html">b</a><a name="x"></a><a href="#x">x</a><a href="">y</a>',
                                     **{"b c": "<p>b</p>"}), [])

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
        self.assertEqual(make_docs.anchor_of("1 &lt; 2: as-is"), "1--2-as-is")

    def test_each_kind_of_file_has_its_page(self):
        for source, page in (("README.md", "index.html"), ("docs/README.md", "docs/index.html"), ("docs/a.md", "docs/a.html"),
                             ("x/a.png", "x/a.png"), ("x/a.svg", "x/a.svg"), ("x/a.webp", "x/a.webp"), ("x/a.h", "x/a.h.html"),
                             ("scripts/test", "scripts/test.html")):
            self.assertEqual(make_docs.page_of(pathlib.PurePath(source)), pathlib.PurePath(page))

    def test_links_lead_up_from_the_page_and_down_to_the_target(self):
        for target, page, link in (("a.html", "index.html", "a.html"), ("index.html", "docs/a.html", "../index.html"),
                                   ("docs/b.html", "apps/life/index.html", "../../docs/b.html")):
            self.assertEqual(make_docs.relative(pathlib.PurePath(target), pathlib.PurePath(page)), link)

    def test_what_only_tests_read_is_not_shown_and_lists_are_lists(self):
        self.assertEqual(make_docs.for_markdown("<!-- piece x\nint i;\n-->\ntext:\n- one\n- two\n"), "text:\n\n- one\n- two\n")

    def test_code_stays_as_it_is(self):
        code = "```cpp\na = b\n- c;\n```\n"
        self.assertEqual(make_docs.for_markdown(code), code)
        self.assertEqual(make_docs.for_markdown("one:\n1. a\n2. b\n"), "one:\n\n1. a\n2. b\n")
        self.assertEqual(make_docs.for_markdown("- a\n- b\n"), "- a\n- b\n")


class Pages(unittest.TestCase):
    """What becomes of a small project."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.site = make_docs.Site(self.root / "site")
        real_root, make_docs.ROOT = make_docs.ROOT, self.root
        self.addCleanup(setattr, make_docs, "ROOT", real_root)
        for name, text in (("docs/README.md", "# All"), ("docs/a.md", "# A"), ("src/x.h", "int a<1> & b;"),
                           ("docs/two words.md", "# Two"), ("empty/file.txt", "text")):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")
        (self.root / "src/p.png").write_bytes(b"\x89PNG\xff")

    def target_of(self, link, source="docs/a.md", page="docs/a.html"):
        return self.site.target_of(pathlib.Path(source), link, pathlib.Path(page))

    def made(self):
        return sorted(str(path.relative_to(self.root / "site")) for path in (self.root / "site").rglob("*.*"))

    def test_links_to_sources_lead_to_their_pages_which_are_made(self):
        self.assertEqual(self.target_of("../src/x.h#L3"), "../src/x.h.html#L3")
        self.assertEqual(self.target_of("../src/p.png"), "../src/p.png")
        self.assertEqual(self.site.problems, [])
        self.assertEqual(self.made(), ["src/p.png", "src/x.h.html"])
        self.assertEqual((self.root / "site/src/p.png").read_bytes(), b"\x89PNG\xff")
        page = (self.root / "site/src/x.h.html").read_text(encoding="utf-8")
        self.assertIn("<title>x.h</title>", page)
        self.assertIn("<h1>src/x.h</h1>", page)
        self.assertIn("int a&lt;1&gt; &amp; b;", page)
        for link in ("index.html", "docs/index.html", "reference/index.html"):
            self.assertIn(f'<a href="../{link}">', page)

    def test_a_page_is_made_once(self):
        self.target_of("../src/x.h")
        (self.root / "site/src/x.h.html").unlink()
        self.target_of("../src/x.h")
        self.assertEqual(self.made(), [])

    def test_other_sites_and_places_on_the_page_stay_as_they_are(self):
        for link in ("https://example.org/a.md", "http://example.org", "mailto:a@example.org", "#place"):
            self.assertEqual(self.target_of(link), link)
        self.assertEqual((self.site.problems, self.made()), ([], []))

    def test_a_folder_without_a_page_is_a_problem(self):
        self.target_of("../empty")
        self.assertEqual(self.site.problems, ["docs/a.md: ../empty: there is no such file in the project"])

    @unittest.skipUnless(importlib.util.find_spec("markdown"), "markdown is not installed for this Python")
    def test_pages_link_to_each_other(self):
        (self.root / "docs/a.md").write_text('# A & B\n\nSee [all](../docs), [two](two%20words.md), [x](#y) and ![p](../src/p.png).\n'
                                             "\n## Y\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", encoding="utf-8")
        self.site.make(pathlib.Path("docs/a.md"))
        page = (self.root / "site/docs/a.html").read_text(encoding="utf-8")
        for part in ("<title>A &amp; B</title>", 'href="../docs/index.html"', 'href="../docs/two words.html"', 'href="#y"',
                     'src="../src/p.png"', '<h2 id="y">', "<td>1</td>"):
            self.assertIn(part, page)
        self.assertEqual(self.made(), ["docs/a.html", "docs/index.html", "docs/two words.html", "src/p.png"])
        self.assertEqual(self.site.problems, [])


    def run_main(self, *arguments):
        """With nothing installed, and a reference of one page. @return what is printed"""
        def make_reference(folder):
            (folder / "reference").mkdir()
            (folder / "reference/index.html").write_text("<p>reference</p>", encoding="utf-8")

        output = io.StringIO()
        with unittest.mock.patch.object(make_docs.subprocess, "run") as run, \
                unittest.mock.patch.object(make_docs, "make_reference", make_reference), contextlib.redirect_stdout(output):
            self.assertEqual(make_docs.main(list(arguments)), 0)
        run.assert_called_once_with([self.root / "scripts/install-dependencies", "--docs"], check=True)
        return output.getvalue()

    @unittest.skipUnless(importlib.util.find_spec("markdown"), "markdown is not installed for this Python")
    def test_the_site_has_all_pages_and_says_where_it_begins(self):
        (self.root / "README.md").write_text("# Top\n", encoding="utf-8")
        folder = self.root / "out"
        (folder / "reference").mkdir(parents=True)
        (folder / "reference/old.html").write_text("<p>old</p>", encoding="utf-8")
        self.assertEqual(self.run_main(str(folder)), f"5 pages, no broken link: {folder}/index.html\n")
        self.assertEqual(sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html")),
                         ["docs/a.html", "docs/index.html", "docs/two words.html", "index.html", "reference/index.html"])
        self.assertIn(f"{self.root}/build/docs/index.html", self.run_main())

    @unittest.skipUnless(importlib.util.find_spec("markdown"), "markdown is not installed for this Python")
    def test_a_site_with_broken_links_is_an_error_that_names_them(self):
        (self.root / "README.md").write_text("# Top\n\n[a](docs/a.md#nowhere) [b](b.md)\n", encoding="utf-8")
        with self.assertRaisesRegex(make_docs.SiteError, r"^links that lead nowhere:\nREADME.md: b.md: there is no such file.*"
                                                         r"(?s:.*)index.html: docs/a.html#nowhere: there is no such place"):
            self.run_main(str(self.root / "out"))


class Reference(unittest.TestCase):
    """With a program in Doxygen's place."""

    def make(self, script):
        with tempfile.TemporaryDirectory() as folder:
            doxygen = pathlib.Path(folder) / "doxygen"
            doxygen.write_text(f"#!/bin/sh\ncat >{folder}/settings\n{script}\n", encoding="utf-8")
            doxygen.chmod(0o755)
            with unittest.mock.patch.dict("os.environ", PATH=f"{folder}:{os.environ['PATH']}"):
                make_docs.make_reference(pathlib.Path("/the/folder"))
            return (pathlib.Path(folder) / "settings").read_text(encoding="utf-8")

    def test_doxygen_is_told_folder_and_version(self):
        settings = self.make("exit 0")
        self.assertIn('OUTPUT_DIRECTORY = "/the/folder"\n', settings)
        self.assertRegex(settings, r"PROJECT_NUMBER = \d+\.\d+\.\d+\n")

    def test_what_doxygen_complains_about_is_an_error(self):
        for script in ("echo something is undocumented >&2", "echo wrong >&2; exit 1", "exit 1"):
            with self.assertRaisesRegex(make_docs.SiteError, "^Doxygen complains:\n(something is undocumented|wrong|)$"):
                self.make(script)


class CommandLine(unittest.TestCase):
    def run_program(self, *arguments):
        return subprocess.run([sys.executable, sys.argv[1], *arguments], capture_output=True, text=True, timeout=60)

    def test_help_is_printed_and_other_options_are_an_error(self):
        for option, code in (("--help", 0), ("-h", 0), ("--wrong", 2)):
            result = self.run_program(option)
            self.assertEqual((result.returncode, result.stdout[:28]), (code, "Makes the documentation site"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
