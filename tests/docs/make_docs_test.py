#!/usr/bin/python3
"""scripts/make-docs: copies of pages, the navigation, the reference, and each kind of fault. All pages here are made up.

Usage: make_docs_test.py <path of make-docs> <folder for Python packages>
Exits with 77 (skipped) if the packages cannot be installed; the tests that need none have then run.
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
import xml.etree.ElementTree

loader = importlib.machinery.SourceFileLoader("make_docs", sys.argv[1])
sys.dont_write_bytecode = True
make_docs = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_docs", loader))
loader.exec_module(make_docs)
PROJECT = make_docs.ROOT
SKIPPED = 77
python_with_packages = make_docs.python_with_packages


class BrokenLinks(unittest.TestCase):
    def broken(self, **pages):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            for page, text in pages.items():
                (folder / f"{page}.html").write_text(text, encoding="utf-8")
            return sorted(make_docs.broken_links(folder))

    def test_links_within_the_site_are_fine(self):
        self.assertEqual(self.broken(a='<h1 id="x">x</h1><a href="b.html#y">b</a><a href="#x">x</a>', b='<p id="y">y</p>'), [])
        # Only these make a place of a value.
        self.assertEqual(self.broken(a='<a class="x" href="#x">x</a>'), ["a.html: #x: there is no such place"])

    def test_pages_and_places_that_do_not_exist_are_found(self):
        self.assertEqual(self.broken(a='<a href="b.html">b</a><a href="#x">x</a><img src="c.png">'),
                         ["a.html: #x: there is no such place", "a.html: b.html: there is no such page",
                          "a.html: c.png: there is no such page"])

    def test_a_place_is_looked_for_on_the_page_that_the_link_names(self):
        self.assertEqual(self.broken(a='<a href="b.html#x">b</a><p id="x">x</p>', b="<p>b</p>"),
                         ["a.html: b.html#x: there is no such place"])

    def test_names_queries_and_quoted_characters_in_links_are_understood(self):
        page = '<a href="b%20c.html">b</a><a name="x"></a><a href="#x">x</a><a href="">y</a><img src="a.html?v=1">'
        self.assertEqual(self.broken(a=page, **{"b c": "<p>b</p>"}), [])

    def test_links_to_other_sites_are_not_followed_but_nothing_is_loaded_from_them(self):
        self.assertEqual(self.broken(a='<a href="https://example.org/nothing">x</a><img src="data:image/png;base64,AA">'), [])
        page = '<script src="https://example.org/x.js"></script><link rel="stylesheet" href="//example.org/x.css">'
        self.assertEqual(self.broken(a=page), ["a.html: //example.org/x.css: is loaded from another site",
                                               "a.html: https://example.org/x.js: is loaded from another site"])


class Project(unittest.TestCase):
    """A project with three pages, code, a header and a picture."""

    FILES = {"README.md": "# Top\n\n[all](docs/README.md)\n",
             "docs/index.md": "# Start\n\n[top](../README.md#top), [all](README.md)\n",
             "docs/README.md": "# All\n\n## Learn\n\n- [A](a.md), [again](a.md#a)\n    - [Two](two.md)\n\n"
                               "## Others\n\n- [Headers](headers.md), [top](../README.md)\n",
             "docs/a.md": "# A\n\nText\n", "docs/two.md": "# Two\n\nText\n",
             "docs/headers.md": "# Headers\n\n| header | what |\n|---|---|\n| `x.h` | `Box`: a box; `Other` |\n",
             "src/x.h": "int a<1> & b;\n", "src/tool": "#!/bin/sh\necho\n",
             "dsl/include/dynasoar/version.h": "#define VERSION_MAJOR 7\n#define VERSION_MINOR 8\n#define VERSION_PATCH 9\n",
             "dsl/include/dynasoar/x.h": "/// @file\n/// A header.\nnamespace dynasoar {\n/// A box.\nclass Box {\n public:\n"
                                         "  /// Opens it.\n  void open(int key);\n};\n}\n",
             "dsl/include/dynasoar/detail/other.h": "namespace dynasoar {\n/// Another.\nstruct Other {};\n"
                                                    "/// Hidden.\nnamespace detail { struct Hidden {}; }\n}\n"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        patch = unittest.mock.patch.object(make_docs, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)
        for name, text in self.FILES.items():
            self.write(name, text)
        for folder in ("allocator/include", "allocator/malloc/include", "empty"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "src/p.png").write_bytes(b"\x89PNG\xff")
        self.pages = make_docs.Pages(self.root / "pages")

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def staged(self, name):
        return (self.root / "pages" / name).read_text(encoding="utf-8")


class Copies(Project):
    def test_each_kind_of_file_has_its_copy(self):
        for source, page in (("README.md", "README.md"), ("docs/README.md", "docs/index.md"), ("docs/index.md", "index.md"),
                             ("docs/a.md", "docs/a.md"), ("x/a.png", "x/a.png"), ("x/a.webp", "x/a.webp"), ("x/a.json", "x/a.json"),
                             ("x/a.h", "x/a.h.md"), ("scripts/test", "scripts/test.md")):
            self.assertEqual(make_docs.staged(pathlib.PurePath(source)), pathlib.PurePath(page))

    def test_links_lead_to_the_copies_which_are_made(self):
        source = pathlib.PurePath("docs/a.md")
        for link, target in (("../src/x.h", "../src/x.h.md"), ("../src/p.png", "../src/p.png"), ("README.md#learn", "index.md#learn"),
                             ("index.md", "../index.md"), ("../docs", "index.md"), ("../README.md", "../README.md")):
            self.assertEqual(self.pages.target_of(source, link), target)
        self.assertEqual(self.pages.problems, [])
        self.assertEqual((self.root / "pages/src/p.png").read_bytes(), b"\x89PNG\xff")
        self.assertEqual(self.pages.target_of(source, "../src"), "../src/index.md")
        self.assertIn("# `src`\n\n- [p.png](p.png)\n- [tool](tool.md)\n- [x.h](x.h.md)\n", self.staged("src/index.md"))
        self.assertIn("# `src/x.h`\n\n```cpp\nint a<1> & b;\n", self.staged("src/x.h.md"))
        self.assertIn("[top](README.md#top), [all](docs/index.md)", self.staged("index.md"))

    def test_other_sites_and_places_on_the_page_stay_as_they_are(self):
        for link in ("https://example.org/a.md", "http://example.org", "mailto:a@example.org", "#place"):
            self.assertEqual(self.pages.target_of(pathlib.PurePath("docs/a.md"), link), link)
        self.assertEqual(self.pages.made, set())

    def test_links_to_what_the_project_does_not_have_are_problems(self):
        links = ("nothing.md", "../empty", "../../outside.md")
        for link in links:
            self.pages.target_of(pathlib.PurePath("docs/a.md"), link)
        self.assertEqual(self.pages.problems, [f"docs/a.md: {link}: there is no such file in the project" for link in links])

    def test_code_is_not_changed_and_comments_are_dropped(self):
        text = "<!-- piece x\nint i;\n-->\n[a](a.md) `[b](b.md)` ``[c](`c.md)`` [d](two.md)\n\n```cpp\n[e](e.md)\n```\n"
        self.assertEqual(self.pages.page_of(pathlib.PurePath("docs/b.md"), text), text.partition("-->\n")[2])
        self.assertEqual(self.pages.problems, [])

    def test_code_is_shown_in_its_language_and_can_contain_fences(self):
        for name, first, language in (("x.py", "", "python"), ("x", "#!/usr/bin/python3\n", "python"), ("x", "#!/bin/sh\n", "bash"),
                                      ("x", "", "text"), ("CMakeLists.txt", "", "cmake"), ("x.txt", "", "text")):
            self.assertIn(f"\n````{language}\n{first}```\n\n````\n", make_docs.code_page(pathlib.PurePath(name), f"{first}```\n"))


class Navigation(Project):
    def test_headings_are_groups_and_indented_items_are_below_others(self):
        text = ("# T\n[x](x.md)\n## A\n- [b](b.md): [c](c.md#d)\n  - [d](d.md) [b](b.md)\n"
                "## Empty\n### E\n- [f](../f.md), [g](g.h)\n")
        self.assertEqual(make_docs.navigation_of(text), [("A", [("b.md", []), ("c.md", ["d.md"])]), ("E", [("../f.md", [])])])

    def test_the_start_page_has_the_groups_and_pages_have_what_is_below_them(self):
        for name in ("docs/two/deep.md", "apps/README.md", "apps/m/README.md"):
            self.write(name, "# X\n")
        for page in sorted(self.root.glob("**/*.md")):
            self.pages.make(page.relative_to(self.root))
        make_docs.add_navigation(self.pages)
        self.assertIn(":caption: Learn\n\n/docs/a\n```", self.staged("index.md"))
        self.assertIn(":caption: Others\n\n/docs/headers\n/README\n```", self.staged("index.md"))
        self.assertTrue(self.staged("docs/a.md").endswith("\n/docs/two\n```\n"))
        self.assertTrue(self.staged("docs/two.md").endswith("\n/docs/two/deep\n```\n"))
        self.assertTrue(self.staged("apps/index.md").endswith("\n/apps/m/index\n```\n"))


class Reference(unittest.TestCase):
    """With a program in Doxygen's place."""

    def read(self, script):
        with tempfile.TemporaryDirectory() as folder:
            doxygen = pathlib.Path(folder) / "doxygen"
            doxygen.write_text(f"#!/bin/sh\ncat >{folder}/settings\n{script}\n", encoding="utf-8")
            doxygen.chmod(0o755)
            with unittest.mock.patch.dict("os.environ", PATH=f"{folder}:{os.environ['PATH']}"):
                make_docs.read_headers(pathlib.Path(folder))
            return (pathlib.Path(folder) / "settings").read_text(encoding="utf-8")

    def test_what_doxygen_complains_about_is_an_error(self):
        self.assertIn("\nOUTPUT_DIRECTORY = ", self.read("exit 0"))
        for script in ("echo something is undocumented >&2", "echo wrong >&2; exit 1", "exit 1"):
            with self.assertRaisesRegex(make_docs.SiteError, "^Doxygen complains:\n(something is undocumented|wrong|)$"):
                self.read(script)

    def test_private_names_friends_and_specializations_are_dropped(self):
        text = ("<d><s><m kind='friend'/><m prot='private'/><m kind='function'/></s>"
                "<innerclass>A&lt; int &gt;</innerclass><innerclass>A</innerclass></d>")
        element = xml.etree.ElementTree.fromstring(text)
        self.assertTrue(make_docs.drop_what_has_no_name(element))
        self.assertEqual(xml.etree.ElementTree.tostring(element, encoding="unicode"),
                         '<d><s><m kind="function" /></s><innerclass>A</innerclass></d>')
        self.assertFalse(make_docs.drop_what_has_no_name(element))


class Site(Project):
    """With Sphinx and Doxygen, whose settings are those of the project."""

    @classmethod
    def setUpClass(cls):
        try:
            cls.python = python_with_packages(pathlib.Path(sys.argv[2]).resolve() / "site")
        except make_docs.MissingPackages as error:
            raise unittest.SkipTest(str(error)) from error

    def setUp(self):
        super().setUp()
        patch = unittest.mock.patch.object(make_docs, "python_with_packages", return_value=self.python)
        patch.start()
        self.addCleanup(patch.stop)
        for source in (PROJECT / "docs/site").rglob("*"):
            if source.is_file():
                target = self.root / "docs/site" / source.relative_to(PROJECT / "docs/site")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
        self.write("scripts/install-dependencies", "#!/bin/sh\ntest \"$*\" = --docs && touch installed\n")
        (self.root / "scripts/install-dependencies").chmod(0o755)

    def make(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.chdir(self.root):
            self.assertEqual(make_docs.main([str(self.root / "site")]), 0)
        return output.getvalue()

    def test_a_site_has_the_pages_and_the_reference_of_public_names(self):
        self.write("site/old.html", "<p>old</p>")
        self.write("docs/a.md", "# A\n\n## B & C\n\nSee ![p](../src/p.png) and [x](../src/x.h).\n\n"
                                "| a | b |\n|---|---|\n| 1 | 2 |\n\n```cpp\nint main() {}\n```\n")
        self.assertRegex(self.make(), rf"\d+ pages, no broken link: {self.root}/site/index.html\n$")
        self.assertTrue((self.root / "installed").exists())
        site = self.root / "site"
        page = (site / "docs/a.html").read_text(encoding="utf-8")
        for part in ("B &amp; C", 'href="../src/x.h.html"', 'src="../_images/p.png"', "copybutton.js", "<td><p>1</p></td>"):
            self.assertIn(part, page)
        reference = (site / "reference/x.h.html").read_text(encoding="utf-8")
        for part in ("A box.", "Opens it.", "Another."):
            self.assertIn(part, reference)
        self.assertNotIn("Hidden", reference)
        self.assertIn("Learn", (site / "index.html").read_text(encoding="utf-8"))
        self.assertTrue((site / "searchindex.js").exists())
        self.assertFalse((site / "old.html").exists())

    def test_each_kind_of_fault_is_an_error(self):
        for name, text, message in (
                ("docs/a.md", "# A\n\n[x](nothing.md)\n", "docs/a.md: nothing.md: there is no such file"),
                ("docs/a.md", "# A\n\n[x](two.md#nowhere)\n", "(?s)Sphinx complains:.*a.md.*nowhere"),
                ("docs/a.md", "# A\n\n[x](#nowhere)\n", "(?s)Sphinx complains:.*a.md.*nowhere"),
                ("docs/a.md", '# A\n\n<img src="https://example.org/x.png">\n\n<p><script src="https://example.org/x.js"></script></p>\n',
                 "^links that lead nowhere:\ndocs/a.html: https://example.org/x.js: is loaded from another site"),
                ("docs/lost.md", "# Lost\n", "(?s)Sphinx complains:.*lost.md.*any toctree"),
                ("docs/headers.md", "# Headers\n\n| header | what |\n|---|---|\n| `y.h` | y |\n", "(?s)Sphinx complains:.*Cannot find file .?y.h"),
                ("dsl/include/dynasoar/x.h", "/// @file\n/// See @ref nothing.\n", "(?s)Doxygen complains:.*x.h.*nothing")):
            with self.subTest(message):
                before = (self.root / name).read_text(encoding="utf-8") if (self.root / name).exists() else None
                self.write(name, text)
                with self.assertRaisesRegex(make_docs.SiteError, message):
                    self.make()
                (self.root / name).unlink()
                if before is not None:
                    self.write(name, before)


class MissingPackages(Project):
    """What is missing cannot be installed."""

    def test_without_a_virtual_environment_there_are_no_packages(self):
        self.write("docs/site/requirements.txt", "")
        with unittest.mock.patch.object(sys, "executable", "/bin/false"):
            with self.assertRaisesRegex(make_docs.MissingPackages, "cannot be installed in .*docs-python .*PIP_INDEX_URL"):
                python_with_packages(self.root / "site")
        self.assertFalse((self.root / "docs-python/installed").exists())

    def test_packages_of_the_distribution_may_be_missing(self):
        self.write("scripts/install-dependencies", "#!/bin/sh\nexit 1\n")
        (self.root / "scripts/install-dependencies").chmod(0o755)
        with self.assertRaisesRegex(make_docs.MissingPackages, "scripts/install-dependencies --docs"):
            make_docs.main([str(self.root / "site")])

    def test_without_a_network_the_programs_are_skipped_and_say_what_to_do(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        environment |= {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}

        def run(program):
            return subprocess.run([PROJECT / "scripts" / program, self.root / "site"], env=environment, capture_output=True, text=True,
                                  timeout=300, check=False)

        for _ in range(2):  # the first leaves nothing that the second takes for the packages
            result = run("make-docs")
            self.assertEqual(result.returncode, SKIPPED, result)
            self.assertIn("make-docs: skipped: ", result.stderr)
            self.assertFalse((self.root / "site").exists())
        result = run("check-docs")
        self.assertEqual(result.returncode, SKIPPED, result)
        self.assertIn("check-docs: skipped: ", result.stdout)


class CommandLine(unittest.TestCase):
    def test_help_is_printed_and_other_options_are_an_error(self):
        for option, code in (("--help", 0), ("-h", 0), ("--wrong", 2)):
            result = subprocess.run([sys.executable, sys.argv[1], option], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((result.returncode, result.stdout[:28]), (code, "Makes the documentation site"))


if __name__ == "__main__":
    tests = unittest.main(argv=sys.argv[:1], exit=False).result
    sys.exit(1 if not tests.wasSuccessful() else SKIPPED if tests.skipped else 0)
