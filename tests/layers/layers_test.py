"""layers.py finds each broken rule. The trees here are made up, but for the last one."""

import pathlib
import sys
import tempfile
import unittest

import layers

CONFIG = "allocator/include/dynasoar/platform/config.h"
WARP = "allocator/include/dynasoar/platform/warp.h"
BITMAP = "allocator/include/dynasoar/heap/bitmap.h"
LOOPS = "allocator/include/dynasoar/loops/index_loops.h"
FIELD = "dsl/include/dynasoar/soa_field.h"
TUNING = "allocator/include/dynasoar/tuning.h"

# A tree that keeps the rules.
GOOD = {
    CONFIG: "#if defined(__CUDACC__)\n#define DYNASOAR_CUDA_BACKEND 1\n#endif\ninline constexpr bool kCudaBackend = true;\n",
    TUNING: "#include <dynasoar/platform/config.h>\ninline constexpr int kPatience = kCudaBackend ? 1 : 2;\n",
    WARP: "#include <dynasoar/platform/config.h>\n#include <dynasoar/tuning.h>\nstruct Warp {\n  int lanes;\n};\n",
    BITMAP: "#include <dynasoar/platform/warp.h>\nclass Bitmap {\n  Warp warp;\n};\n",
    LOOPS: "#include DYNASOAR_BACKEND_HEADER(index_loops.h)\n",
    "allocator/include/dynasoar/loops/cuda/index_loops.h": "#include <dynasoar/loops/index_loops.h>\nvoid loop() {}\n",
    "allocator/include/dynasoar/loops/host/index_loops.h": "#include <dynasoar/loops/index_loops.h>\nvoid loop() {}\n",
    "allocator/src/heap/bitmap.cpp": "#include <dynasoar/heap/bitmap.h>\n",
    FIELD: "#include <dynasoar/heap/bitmap.h>\n#include <dynasoar/loops/index_loops.h>\n"
           "inline Bitmap field() {\n  loop();\n  return {};\n}\n",
    "dsl/include/dynasoar/detail/calls.h": "#include <dynasoar/soa_field.h>\nvoid call(decltype(field()));\n",
    "apps/life/agents.cpp": "#include <dynasoar/soa_field.h>\n#include <dynasoar/platform/warp.h>\n",
    "tests/heap/bitmap_test.cpp": "#include <dynasoar/heap/bitmap.h>\n",
}


class Rules(unittest.TestCase):
    def errors(self, changes):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD, **changes}.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            tree = layers.Tree(pathlib.Path(folder))
            return [error for rule in layers.RULES for error in rule(tree)]

    def broken(self, changes, *messages):
        errors = self.errors(changes)
        self.assertEqual(len(errors), len(messages), errors)
        for error, message in zip(errors, messages):
            self.assertIn(message, error)

    def with_line(self, file, line):
        return {file: line + "\n" + GOOD[file]}

    def test_a_tree_that_keeps_the_rules_has_no_errors(self):
        self.assertEqual(self.errors({}), [])

    def test_a_header_may_not_include_one_of_a_layer_above(self):
        self.broken(self.with_line(LOOPS, "#include <dynasoar/heap/bitmap.h>"), f"{LOOPS}: includes {BITMAP}, of the layer 'heap'")

    def test_nor_may_a_source_file(self):
        self.broken({"allocator/src/platform/warp.cpp": "#include <dynasoar/soa_field.h>\n"}, "of the layer 'dsl'")

    def test_nor_may_the_implementation_for_a_backend(self):
        self.broken({"allocator/include/dynasoar/loops/cuda/index_loops.h": "#include <dynasoar/heap/bitmap.h>\nvoid loop() {}\n"},
                    "loops/cuda/index_loops.h: includes")

    def test_the_library_may_not_include_the_applications(self):
        self.broken({"dsl/src/a.cpp": "#include \"life/agents.h\"\n", "apps/life/agents.h": ""}, "of the layer 'apps'")

    def test_a_new_folder_must_be_given_its_place(self):
        self.broken({"allocator/include/dynasoar/misc/a.h": "int a();\n"}, "the folder 'misc' is no layer")

    def test_applications_and_tests_may_not_include_private_headers(self):
        for file in ("apps/life/agents.cpp", "tests/heap/bitmap_test.cpp"):
            self.broken(self.with_line(file, "#include <dynasoar/detail/calls.h>"), "a private header of the DSL")

    def test_applications_may_not_include_the_heap(self):
        self.broken(self.with_line("apps/life/agents.cpp", "#include <dynasoar/heap/bitmap.h>"), "of the layer 'heap'")

    def test_the_numbers_that_were_measured_may_include_only_the_configuration(self):
        self.broken(self.with_line(TUNING, "#include <dynasoar/platform/warp.h>"), f"{TUNING}: includes {WARP}", "in a circle")

    def test_a_header_of_the_project_must_be_there(self):
        self.broken(self.with_line("apps/life/agents.cpp", "#include <dynasoar/heap/moved.h>"), "which is not there")
        self.broken({LOOPS: GOOD[LOOPS] + "#include DYNASOAR_BACKEND_HEADER(object_loops.h)\n"}, "not there in cuda/ and host/")

    def test_an_include_that_is_commented_out_is_none(self):
        self.assertEqual(self.errors(self.with_line(LOOPS, "// #include <dynasoar/heap/bitmap.h>")), [])

    def test_headers_may_not_include_each_other(self):
        self.broken(self.with_line(FIELD, "#include <dynasoar/detail/calls.h>\nusing Call = decltype(call);"),
                    f"circle: {FIELD} -> dsl/include/dynasoar/detail/calls.h -> {FIELD}")

    def test_a_condition_on_the_backend_stands_in_platform_alone(self):
        for condition in ("#if DYNASOAR_CUDA_BACKEND", "#ifdef __CUDACC__", "# if !defined(__CUDA_ARCH__)", "#ifndef __NVCC__",
                          "#if defined(A) && \\\n    CUDART_VERSION > 1"):
            for file in (BITMAP, "allocator/src/heap/bitmap.cpp", FIELD, "apps/life/agents.cpp"):
                self.broken(self.with_line(file, condition + "\n#endif"), "an #if on the backend")
            self.assertEqual(self.errors(self.with_line(WARP, condition + "\n#endif")), [])

    def test_nor_may_an_elif_ask_for_it(self):
        self.broken(self.with_line(BITMAP, "#if A\n#elif __CUDA_ARCH__\n#endif"), "an #if on the backend")

    def test_a_public_header_includes_only_what_it_uses(self):
        self.broken({FIELD: GOOD[FIELD].replace("Bitmap", "int")}, f"{FIELD}: uses nothing of dynasoar/heap/bitmap.h")

    def test_what_stands_in_a_comment_or_a_text_is_not_used(self):
        self.broken({FIELD: GOOD[FIELD].replace("Bitmap", "/* Bitmap */ int // Bitmap\n")}, "uses nothing of")

    def test_the_names_that_a_backend_implements_are_used(self):
        self.broken({FIELD: GOOD[FIELD].replace("loop();", "")}, "uses nothing of dynasoar/loops/index_loops.h")

    def test_parameters_members_and_local_names_are_not_declared(self):
        header = ("template <class Value, int (*kCall)(int)>\nstruct Thing {\n  int member = 0;\n};\n"
                  "inline int number() {\n  int local = 1;\n  return local;\n}\n#define MACRO 1\nenum class Kind { one };\n"
                  "template <class T>\nconcept Rule = true;\nusing Alias = int;\ninline constexpr int kConstant = 1;\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.h"
            path.write_text("namespace a {\n" + header + "}\n", encoding="utf-8")
            declared = layers.File(pathlib.Path(folder), path).declared
        self.assertEqual(declared, {"Thing", "number", "MACRO", "Kind", "Rule", "Alias", "kConstant"})

    def test_users_find_what_there_is_among_30_headers(self):
        more = {f"dsl/include/dynasoar/h{i}.h": "int f();\n" for i in range(29)}
        self.assertEqual(self.errors(more), [])
        self.assertEqual(self.errors({**more, "dsl/include/dynasoar/detail/more.h": "int g();\n"}), [])
        self.broken({**more, "dsl/include/dynasoar/one_more.h": "int f();\n"}, "has 31 headers")
        self.broken({**more, "dsl/include/dynasoar/program/one_more.h": "int f();\n"}, "has 31 headers")

    def test_the_exceptions_are_needed(self):
        tree = layers.Tree(pathlib.Path(__file__).resolve().parents[2])
        needless = []
        for entries in (layers.EXCEPTIONS, layers.FOR_USERS):
            for entry in list(entries):
                entries.remove(entry)
                if not [*layers.wrong_layers(tree), *layers.unused_includes(tree)]:
                    needless.append(entry)
                entries.append(entry)
        self.assertEqual(needless, [])


if __name__ == "__main__":
    unittest.main()
