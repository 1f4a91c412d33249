"""What several files say about the project agrees: versions, papers, presets.

Usage: facts_test.py <project folder> <cmake>
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
CMAKE = sys.argv[2]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def version():
    return ".".join(re.findall(r"#define DYNASOAR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text("dsl/include/dynasoar/version.h")))


HEADERS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "dsl/include/dynasoar").glob("*.h")}


def included_by(headers):
    """These headers of dsl/include/dynasoar, and those that they include."""
    found = set()
    while headers:
        found |= headers
        headers = HEADERS.keys() & set(re.findall(r"#include <dynasoar/(\w+\.h)>", "".join(map(HEADERS.get, headers)))) - found
    return found


class Facts(unittest.TestCase):
    def test_the_page_of_headers_lists_all_that_a_user_includes(self):
        folder = ROOT / "dsl/include/dynasoar"
        public = {path.relative_to(folder).as_posix() for path in folder.rglob("*.h")}
        public = {header for header in public if "detail" not in header.split("/")}
        with_the_library, alone, of_programs = (
            re.findall(r"^\| `(\S+\.h)` \|", part, re.M)
            for part in re.split("^Include these where|^A command-line program", text("docs/headers.md"), flags=re.M))
        self.assertEqual(sorted(with_the_library + alone + of_programs), sorted(public))
        self.assertEqual(set(with_the_library), included_by({"dynasoar.h"}))
        self.assertEqual({header for header in public if header.startswith("program/")}, set(of_programs))
        self.assertLessEqual(len(public), 30)

    def test_the_version_is_a_semantic_version(self):
        self.assertRegex(version(), r"^\d+\.\d+\.\d+$")

    def test_citation_and_pages_name_the_version_of_the_header(self):
        self.assertEqual(re.search(r"^version: (.+)$", text("CITATION.cff"), re.M)[1], version())
        self.assertIn(f"libdynasoar-dev_{version()}_all.deb", text("docs/install.md"))
        self.assertIn(f"find_package(dynasoar {version().rpartition('.')[0]} REQUIRED)", text("docs/install.md"))

    def test_the_start_page_has_only_figures_of_the_readme(self):
        rows = text("docs/index.md").split("times as fast as plain CUDA |\n")[1].split("\n\n")[0]
        figures = re.findall(r"\d+\.\d+", rows)
        self.assertGreaterEqual(len(figures), 15)
        readme = text("README.md").split("## How fast")[1].split("\n## ")[0]
        self.assertEqual(set(figures) - set(re.findall(r"\d+\.\d+", readme)), set())

    def test_the_start_page_has_only_figures_of_the_comparison_with_flame_gpu_2(self):
        rows = text("docs/index.md").split("times as fast as FLAME GPU 2 |\n")[1].split("\n\n")[0]
        figures = set(re.findall(r"\d+\.\d+", rows))
        self.assertGreaterEqual(len(figures), 4)
        table = text("docs/benchmarks-flame-gpu.md").split("results:flame_gpu -->")[1]
        self.assertEqual(figures - set(re.findall(r"(\d+\.\d+) \|$", table, re.M)), set())

    def test_the_quick_start_shows_a_project_that_is_tested(self):
        block = re.search(r"```cmake\n(.*?)```", text("docs/quick-start.md"), re.S)[0]
        self.assertIn("<!-- consumer: add_subdirectory -->\n" + block, text("docs/install.md"))

    def test_the_changelog_begins_with_what_is_not_released_or_with_this_version(self):
        newest = re.search(r"^## (.+)$", text("CHANGELOG.md"), re.M)[1]
        self.assertTrue(newest == "Unreleased" or newest.startswith(version()), newest)

    def test_the_citation_names_all_five_papers(self):
        titles = re.findall(r'^ +(?:- type: .*\n +)?title: "(.+)"$', text("CITATION.cff"), re.M)
        self.assertEqual(len(titles), 5, titles)

    def test_presets_are_those_of_the_page_and_cmake_accepts_them(self):
        presets = {preset["name"] for preset in json.loads(text("CMakePresets.json"))["configurePresets"]}
        page, example = text("docs/install.md").split("## Presets")[1].split("## ")[0].split("Your own project")
        self.assertIn("```json\n" + text("docs/examples/own_program/CMakePresets.json") + "```", example)
        self.assertEqual(presets, {name for row in re.findall(r"^\| (`.+?) \|", page, re.M) for name in re.findall(r"`(\w+)`", row)})
        with tempfile.TemporaryDirectory() as build:
            made = subprocess.run([CMAKE, "--preset", "debug", "-B", build, "-DDYNASOAR_APPS=OFF", "-DDYNASOAR_TESTS=OFF"],
                                  cwd=ROOT, capture_output=True, text=True, check=False)
            self.assertEqual(made.returncode, 0, made.stdout + made.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
