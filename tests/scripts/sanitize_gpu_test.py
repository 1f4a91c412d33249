"""scripts/sanitize-gpu: when it says that all is clean, and what else it says, with made-up tools instead of CUDA's.

Usage: sanitize_gpu_test.py <path of sanitize-gpu>. Needs no GPU.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TOOLS = ("memcheck", "initcheck", "synccheck", "racecheck")

# Runs nothing. Finds faults in what $FAULTY names, as "tool program"; crashes in what $CRASHING names.
COMPUTE_SANITIZER = r"""#!/usr/bin/env bash
run="$2 $(basename "$(printf '%s\n' "$@" | grep '^/')")"
echo "$@" >>"$CALLS"
case ",$CRASHING," in *",$run,"*) echo "no such device"; exit 255 ;; esac
case ",$FAULTY," in *",$run,"*) echo "a fault"; exit 99 ;; esac
echo "========= ERROR SUMMARY: 0 errors"
"""

CUOBJDUMP = r"""#!/usr/bin/env bash
if [[ $2 == */test_plain ]]; then shared=0; else shared=1024; fi
printf '%s\n' "Resource usage:" " Common:" "  GLOBAL:0" \
  " Function _Z6sharesv:" "  REG:10 STACK:0 SHARED:$shared LOCAL:0 CONSTANT[0]:536" \
  " Function _Z5plainv:" "  REG:4 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:529"
"""


class SanitizeGpuTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        tests = "build/sanitize-gpu/tests/"
        for path, text in (("bin/compute-sanitizer", COMPUTE_SANITIZER), ("bin/cuobjdump", CUOBJDUMP),
                           ("scripts/sanitize-gpu", PROGRAM.read_text()), (tests + "dsl/test_shared", "nv_fatbin"),
                           (tests + "malloc/test_malloc", "nv_fatbin"), (tests + "dsl/test_plain", "nv_fatbin"),
                           (tests + "apps/test_for_cpus", ""),
                           (tests + "sanitizer_control/planted_faults", "")):
            file = self.directory / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755)

    def run_script(self, *options, faulty=(), blind=(), crashing=()):
        """Runs the script. `blind`: tools that do not find the control's fault; the others: as "tool program"."""
        found = [f"{tool} planted_faults" for tool in TOOLS if tool not in blind]
        calls = self.directory / "calls"
        calls.write_text("")
        environment = os.environ | {"PATH": f"{self.directory}/bin:{os.environ['PATH']}", "CALLS": str(calls),
                                    "FAULTY": ",".join([*found, *faulty]), "CRASHING": ",".join(crashing)}
        result = subprocess.run([self.directory / "scripts/sanitize-gpu", "--run", *options], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.calls = calls.read_text().splitlines()
        self.output = result.stdout
        return result.returncode

    def call_of(self, tool, program):
        (call,) = [call for call in self.calls if f"--tool {tool} " in call and f"/{program}" in call]
        return call

    def test_all_clean(self):
        self.assertEqual(self.run_script(), 0, self.output)
        for tool in TOOLS:
            self.assertIn(f"{tool} control: planted fault found", self.output)
            self.assertIn(f"/planted_faults {tool}", self.call_of(tool, "planted_faults"))
        self.assertIn("memcheck test_plain: ERROR SUMMARY: 0 errors (all kernels checked)", self.output)
        self.assertTrue(self.output.endswith("sanitize-gpu: all clean\n"), self.output)

    def test_racecheck_looks_into_kernels_with_shared_memory_only(self):
        self.assertEqual(self.run_script(), 0, self.output)
        for program in ("planted_faults", "test_shared"):
            self.assertIn("--kernel-name kne=_Z6sharesv ", self.call_of("racecheck", program))
            self.assertNotIn("kne=_Z5plainv", self.call_of("racecheck", program))
        self.assertIn("racecheck control: planted fault found (1 kernel checked)", self.output)
        self.assertIn("racecheck test_plain: nothing to check", self.output)
        self.assertNotIn("--kernel-name", self.call_of("memcheck", "test_shared"))

    def test_a_fault_in_a_program(self):
        for program in ("test_shared", "test_malloc"):
            self.assertEqual(self.run_script(faulty=[f"synccheck {program}"]), 1)
            self.assertIn(f"synccheck {program}: FAILED (exit code 99)\na fault\n", self.output)
            self.assertNotIn("all clean", self.output)

    def test_a_tool_that_misses_the_planted_fault_is_not_believed(self):
        for tool in TOOLS:
            self.assertEqual(self.run_script("--program", "test_shared", blind=[tool]), 1)
            self.assertIn(f"{tool} control: FAILED", self.output)
            self.assertIn("found nothing in a program with a planted fault", self.output)
            self.assertNotIn("test_shared", self.output)
            self.assertNotIn("all clean", self.output)

    def test_a_control_that_does_not_run(self):
        self.assertEqual(self.run_script(crashing=["initcheck planted_faults"]), 1)
        self.assertIn("initcheck control: FAILED (exit code 255)\nno such device\n", self.output)
        self.assertNotIn("all clean", self.output)

    def test_only_the_chosen_tools_and_programs_run(self):
        self.assertEqual(self.run_script("--tool", "memcheck", "--program", "test_plain", blind=["racecheck"]), 0)
        self.assertEqual(len(self.calls), 2, self.calls)

    def test_programs_without_code_for_a_gpu_do_not_run(self):
        self.assertEqual(self.run_script(), 0, self.output)
        self.assertNotIn("test_for_cpus", self.output)

    def test_a_build_without_the_control(self):
        (self.directory / "build/sanitize-gpu/tests/sanitizer_control/planted_faults").unlink()
        self.assertEqual(self.run_script(), 2)
        self.assertIn("run scripts/sanitize-gpu --build", self.output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
