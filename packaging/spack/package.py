"""Spack's recipe for DynaSOAr. packaging/README.md says how to use it, and what a release adds."""

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Dynasoar(CMakePackage):
    """A C++20 library for programs that create, delete and loop over many objects in
    structure-of-arrays layout.

    It installs headers and sources, which the build of a program compiles for NVIDIA GPUs or for
    CPUs. Therefore, there is no variant for CUDA: the program chooses.
    """

    homepage = "https://dynasoar.invalid"
    git = "https://dynasoar.invalid/dynasoar.git"

    license("MIT")

    version("main", branch="main")

    variant("models", default=False, description="Build and install the applications, for CPUs")
    variant("view", default=False, when="+models", description="Windows and animations")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("gzip", type="build")
    depends_on("boost")
    depends_on("python@3.11:", type="run")

    with when("+models"):
        depends_on("pkgconfig", type="build")
        depends_on("cli11@2.1:")
        depends_on("fmt@9.1:")
        depends_on("cairo+png+fc")
        depends_on("fontconfig")
        depends_on("pugixml")
        depends_on("random123")

    with when("+view"):
        depends_on("sdl2")
        depends_on("libwebp+libwebpmux")

    conflicts("%gcc@:11", msg="DynaSOAr needs C++20 of g++ 12 or newer")
    conflicts("%clang@:13", msg="DynaSOAr needs C++20 of clang 14 or newer")
    conflicts("platform=darwin", msg="DynaSOAr runs on Linux only")
    conflicts("platform=windows", msg="DynaSOAr runs on Linux only")

    sanity_check_is_file = [
        join_path("include", "dynasoar", "dynasoar.h"),
        join_path("share", "cmake", "dynasoar", "dynasoarConfig.cmake"),
    ]

    def cmake_args(self):
        return [
            self.define_from_variant("DYNASOAR_APPS", "models"),
            self.define_from_variant("DYNASOAR_VIEW", "view"),
            self.define("DYNASOAR_CUDA", "OFF"),
            self.define("DYNASOAR_MPI", "OFF"),
            self.define("DYNASOAR_TESTS", False),
            self.define("DYNASOAR_BENCHMARKS", False),
            # Otherwise, the applications would use libraries of the system. CLANG is for a program
            # that is not installed.
            self.define("DYNASOAR_CLANG_LIBRARY", False),
            self.define("DYNASOAR_HDF5_LIBRARY", False),
            self.define("DYNASOAR_PNG_LIBRARY", False),
            self.define("DYNASOAR_ZSTD_LIBRARY", False),
        ]

    def build(self, spec, prefix):
        if spec.satisfies("+models"):  # otherwise, only headers and sources are installed
            super().build(spec, prefix)

    @run_after("install", when="+models")
    def install_models(self):
        cmake = Executable(self.spec["cmake"].prefix.bin.cmake)
        cmake("--install", self.build_directory, "--component", "models")

    def test_commands(self):
        """the commands print their usage"""
        for name in ("dynasoar-sweep", "dynasoar-plot-log"):
            command = Executable(self.prefix.bin.join(name))
            assert "usage: " + name in command("--help", output=str.split)
