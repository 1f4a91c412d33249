"""What the files in packaging/ say fits the project: options, packages, versions, placeholders.

Usage: packaging_test.py <project folder>
"""

import importlib.util
import os
import pathlib
import re
import sys
import types
import unittest

ROOT = pathlib.Path(sys.argv[1])
PACKAGING = ROOT / "packaging"
CMAKE_FILES = [ROOT / "CMakeLists.txt", ROOT / "apps" / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake"), *ROOT.glob("cmake/*.in")]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def steps_of(containerfile):
    """Its instructions, as (stage, name, arguments), with lines that go on joined."""
    steps, stage = [], None
    for line in re.sub(r"\\\n", " ", containerfile).splitlines():
        if line.strip() and not line.startswith("#"):
            name, arguments = line.split(maxsplit=1)
            if name == "FROM":
                stage = arguments.rpartition(" AS ")[2]
            steps.append((stage, name, arguments))
    return steps


class Recorder:
    """Stands for the module spack.package: notes the directives that a recipe calls."""

    def __init__(self):
        self.calls = []

    def directive(self, name):
        def call(*arguments, **keywords):
            self.calls.append((name, arguments, keywords))
            return Ignored()
        return call

    def of(self, name):
        return [call for call in self.calls if call[0] == name]


class Ignored:
    """What a directive returns: `with when(...)` and `@run_after(...)` take it."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __call__(self, function):
        return function


def load_spack_recipe():
    """The recipe's class and its directives. A name that is none of Spack's directives is an error, as in Spack."""
    recorder = Recorder()
    package = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "when", "conflicts", "run_after"):
        setattr(package, name, recorder.directive(name))
    package.Executable = object
    package.join_path = os.path.join
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")

    class CMakePackage:
        def define(self, name, value):
            return name, value

        def define_from_variant(self, name, variant):
            return name, variant

    cmake.CMakePackage = CMakePackage
    stand_ins = {"spack": types.ModuleType("spack"), "spack.package": package, cmake.__name__: cmake}
    sys.modules.update(stand_ins)
    try:
        spec = importlib.util.spec_from_file_location("recipe", PACKAGING / "spack" / "package.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        for name in stand_ins:
            del sys.modules[name]
    return module.Dynasoar, recorder


class ManPages(unittest.TestCase):
    def test_they_name_the_options_of_the_scripts(self):
        for script in ("sweep", "plot-log"):
            options = set(re.findall(r'add_argument\("(--[a-z-]+)"', text(f"scripts/{script}")))
            page = text(f"packaging/man/dynasoar-{script}.1").replace("\\-", "-").partition(".SH OPTIONS")[2]
            self.assertGreater(len(options), 1)
            self.assertEqual(set(re.findall(r"^\.BI? (--[a-z-]+)", page, re.M)), options | {"--help"})


class Recipes(unittest.TestCase):
    def assert_options_exist(self, options):
        known = "".join(path.read_text(encoding="utf-8") for path in CMAKE_FILES)
        for option in options:
            self.assertRegex(known, rf"(?:option|set|find_library)\({option} ", option)

    def test_the_conda_recipe_fits_the_project(self):
        recipe = text("packaging/conda/recipe.yaml")
        version = re.search(r'^version: (.+)$', text("CITATION.cff"), re.M)[1]
        self.assertEqual(re.search(r'^  version: "(.+)"$', recipe, re.M)[1], version)
        options = re.findall(r"-D(DYNASOAR_\w+)=", recipe)
        self.assertIn("DYNASOAR_CUDA", options)
        self.assert_options_exist(options)
        keys = re.findall(r"^(\w+):", recipe, re.M)
        self.assertEqual(keys, ["schema_version", "context", "package", "source", "build", "requirements", "tests", "about"])
        self.assertTrue((PACKAGING / "conda" / re.search(r"^  path: (.+)$", recipe, re.M)[1] / "LICENSE").exists())

    def test_rattler_build_accepts_the_conda_recipe(self):
        if importlib.util.find_spec("rattler_build") is None:
            self.skipTest("py-rattler-build is not installed")
        import rattler_build  # pylint: disable=import-error,import-outside-toplevel
        variant = rattler_build.VariantConfig({"cxx_compiler": ["gxx"], "c_stdlib": ["sysroot"]})
        rendered = rattler_build.Stage0Recipe.from_file(PACKAGING / "conda" / "recipe.yaml").render(variant)
        self.assertEqual(len(rendered), 1)

    def test_the_spack_recipe_fits_the_project(self):
        recipe, recorder = load_spack_recipe()
        options = dict(recipe().cmake_args())
        self.assertEqual(options["DYNASOAR_APPS"], "models")
        self.assert_options_exist(options)
        self.assertEqual([arguments for _, arguments, _ in recorder.of("variant")], [("models",), ("view",)])
        for file in recipe.sanity_check_is_file:
            source = "cmake/dynasoarConfig.cmake.in" if file.endswith(".cmake") else f"dsl/{file}"
            self.assertTrue((ROOT / source).is_file(), file)
        lines = text("packaging/spack/package.py").splitlines()
        self.assertEqual([line for line in lines if len(line) > 99], [], "Spack's style check allows 99 columns")
        for _, _, keywords in recorder.of("version"):  # a release adds the checksum of its archive
            self.assertTrue(keywords.keys() & {"branch", "sha256"})


class Dependencies(unittest.TestCase):
    # What Debian calls the packages of scripts/install-dependencies, and what Spack calls them. Spack installs make and ninja by
    # itself, and has no package of the font.
    SPACK = {"cmake": {"cmake"}, "g++": {"cxx"}, "make": set(), "ninja-build": set(), "pkg-config": {"pkgconfig"},
             "libboost-dev": {"boost"}, "libcli11-dev": {"cli11"}, "libfmt-dev": {"fmt"}, "librandom123-dev": {"random123"},
             "libcairo2-dev": {"cairo", "fontconfig"}, "libpugixml-dev": {"pugixml"}, "fonts-dejavu-core": set(),
             "python3": {"python"}, "libsdl2-dev": {"sdl2"}, "libwebp-dev": {"libwebp"}}
    CONDA = {"libboost-dev": "libboost-headers", "python3 (>= 3.11)": "python >=3.11"}
    minimum = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", text("CMakeLists.txt"))[1]

    def test_spack_installs_what_install_dependencies_installs(self):
        lists = dict(re.findall(r"^(\w*packages)=\((.*?)\)", text("scripts/install-dependencies"), re.M | re.S))
        self.assertEqual({*lists["packages"].split(), *lists["view_packages"].split()}, set(self.SPACK))
        _, recorder = load_spack_recipe()
        specs = [arguments[0] for _, arguments, _ in recorder.of("depends_on")]
        names = [re.match(r"[\w-]+", spec)[0] for spec in specs]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(set(names), set().union(*self.SPACK.values()) | {"gzip"})  # Debian always has gzip
        program = dict(re.findall(r"find_package\((\w+) ([\d.]+) QUIET\)", text("cmake/DynasoarProgram.cmake")))
        python = re.search(r"python3 \(>= ([\d.]+)\)", text("cmake/DynasoarPackage.cmake"))[1]
        self.assertEqual({spec for spec in specs if "@" in spec},
                         {f"cmake@{self.minimum}:", f"cli11@{program['CLI11']}:", f"fmt@{program['fmt']}:", f"python@{python}:"})

    def test_the_sources_find_in_fmt_11_what_it_has_moved(self):  # Spack and conda-forge have it
        files = [path for folder in ("dsl", "apps", "benchmarks") for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cpp")]
        users = [path for path in files if "fmt::join(" in path.read_text(encoding="utf-8")]
        self.assertGreater(len(users), 0)
        self.assertEqual([path for path in users if "#include <fmt/ranges.h>" not in path.read_text(encoding="utf-8")], [])

    def test_conda_installs_what_the_debian_package_installs(self):
        sections = text("packaging/conda/recipe.yaml").partition("\nrequirements:\n")[2].partition("\ntests:")[0]
        needed = {name: set(re.findall(r"^    - (.+)$", lines, re.M))
                  for name, lines in re.findall(r"^  (\w+):\n((?:    .*\n?)+)", sections, re.M)}
        debian = re.search(r'CPACK_DEBIAN_CORE_PACKAGE_DEPENDS "(.*)"', text("cmake/DynasoarPackage.cmake"))[1].split(", ")
        self.assertEqual(needed.pop("run"), {self.CONDA[package] for package in debian} | {"__linux"})
        self.assertEqual(needed.pop("host"), {"libboost-headers"})
        self.assertEqual(needed.pop("build"), {"${{ compiler('cxx') }}", "${{ stdlib('c') }}", f"cmake >={self.minimum}", "gzip", "make"})
        self.assertEqual(needed, {})


class Containers(unittest.TestCase):
    steps = steps_of(text("packaging/Containerfile"))

    def test_packages_are_those_of_install_dependencies(self):
        for stage in ("cpu-build", "cuda"):
            run = [arguments for where, name, arguments in self.steps if where == stage and name == "RUN"]
            self.assertEqual(run[0], "scripts/install-dependencies --view")
            self.assertEqual([step for step in run if "apt-get" in step], [])
        self.assertRegex(text("scripts/install-dependencies"), r"\n  --view\)")
        packages = [word for where, name, arguments in self.steps if (where, name) == ("cpu", "RUN")
                    for word in re.search(r"apt-get install (.*?)(?:&&|$)", arguments)[1].split() if word[0] != "-"]
        self.assertEqual(packages, ["/packages/*.deb"])

    def test_steps_name_presets_and_options_of_the_project(self):
        run = " ".join(arguments for _, name, arguments in self.steps if name == "RUN")
        self.assertEqual(re.findall(r"--preset (\w+)", run), ["cpu", "cuda"])
        Recipes().assert_options_exist(set(re.findall(r"-D(DYNASOAR_\w+)=", run)))
        self.assertEqual({stage for stage, _, _ in self.steps if stage}, {"cpu-build", "cpu", "cuda"})

    def test_arguments_are_declared_where_they_are_used(self):
        declared, stage = set(), None
        for where, name, arguments in self.steps:
            if where != stage:
                outside, declared, stage = declared if stage is None else outside, set(), where
            if name == "ARG":
                declared.add(arguments.partition("=")[0])
            self.assertLessEqual(set(re.findall(r"\$\{(\w+)\}", arguments)), outside if name == "FROM" else declared)


class Releases(unittest.TestCase):
    def test_the_page_lists_every_placeholder(self):
        listed = set(re.findall(r"^\| `([\w./-]+)` \|", text("packaging/README.md").partition("## Placeholders")[2], re.M))
        files = [path for path in [*PACKAGING.rglob("*"), *ROOT.glob("cmake/*")] if path.is_file() and path.name != "README.md"]
        found = {path.relative_to(ROOT).as_posix() for path in files if "dynasoar.invalid" in path.read_text(encoding="utf-8")}
        self.assertEqual(listed, found | {"packaging/conda/recipe.yaml"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
