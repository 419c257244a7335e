"""What a new chip, instruction, counter and validation kernel touch: each is added to a copy of the sources, in at most three files beside tables of an
architecture, tests and generated documents (a validation kernel is a folder of its own and a row in a table), and works there.

    made_up.py ROOT BUILD COMPILER        ROOT's sources, BUILD's libraries

The copy compiles only what changed; its objects come before the build's libraries. The steps are CONTRIBUTING.md's.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD, COMPILER = (pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3])
MOST_FILES = 3
BESIDE = ("configs/isa/", "tests/")  # tables of an architecture, and tests
OPTIONS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
SYSTEM = ["-lfmt", "-ltomlplusplus", "-lcrypto", "-lzstd", "-lelf", "-llz4"]

EXECUTES = r"""
#include <cstdio>
#include "model/config/load.h"
#include "model/sm/static_program.h"
#include "tests/emulate/assembled.h"
int main() {
  using namespace foretrace;
  emulate::Assembled code(
      "S2R R0, SR_TID.X\n ZMADEUP R3, R0, 0x5\n MOV R4, c[0x0][0x210]\n MOV R5, c[0x0][0x214]\n"
      "IMAD.WIDE.U32 R4, R0, 0x4, R4\n STG.E [R4.64], R3\n EXIT", 32, 2, 90);
  const std::uint64_t out = code.buffer(0, std::vector<std::uint32_t>(32), "out");
  code.run();
  for (const std::uint32_t word : code.read(out, 32)) std::printf("%u ", word);
  const auto chip = config::load_gpu("h100-sxm");
  const sm::StaticProgram timed(std::make_shared<isa::Program>(code.program), chip.spec);
  std::printf("\n%s\n", timed.code[1].action == sm::Action::unknown ? "unknown" : "timed");
}
"""

COUNTS = r"""
#include <cstdio>
#include "sim/report/metrics.h"
int main() {
  using namespace foretrace;
  stats::LaunchCounters one, sum;
  one.made_up = 21;
  stats::add(sum, one);
  stats::add(sum, one);
  report::Prediction prediction;
  prediction.counters = sum;
  std::printf("%g\n", *report::find_metric("foretrace__made_up.sum")->value(prediction));
  for (const auto& counter : stats::kLaunchCounters)
    if (sum.*counter.member != 0) std::printf("%s %d\n", counter.name, counter.growth == stats::Growth::work);
}
"""


CHECKED = r"""
#include <gtest/gtest.h>
#include "sim/emulate/emulator.h"
#include "sim/engine/device.h"
#include "sim/frontend/load.h"
#include "tests/references/host_buffers.h"
TEST(MadeUp, ComputesWhatItsReferenceDoes) {
  using namespace foretrace;
  const auto launches = frontend::load_launch_file(FORETRACE_SOURCE_DIR "/validate/suite/made_up/twice.toml");
  ASSERT_EQ(launches.size(), 1u);
  engine::Device device;
  const auto kernel = frontend::load_kernels(engine::load_request(launches[0], 90), frontend::find_toolchain()).front();
  const emulate::Emulator emulator(device.bind(launches[0], kernel));
  for (std::uint64_t block = 0; block < emulator.blocks(); ++block) emulator.run_block(block, nullptr);
  ASSERT_EQ(launches[0].checks.size(), 1u);
  const frontend::Check& check = launches[0].checks[0];
  frontend::HostBuffers expected(launches, 0);
  const auto before = expected.named(check.buffer);
  expected.run_reference(launches[0]);
  EXPECT_NE(expected.named(check.buffer), before) << "a kernel that did nothing would pass";
  const std::vector<std::byte> got = device.read(check.buffer);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(got.data());
  EXPECT_EQ(frontend::first_difference(check, expected.type_of(check.buffer), bytes, expected.named(check.buffer)), "");
}
"""

KERNEL = """extern "C" __global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
"""

REFERENCE = """#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void twice(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 2);
  const std::size_t n = count_of(arguments[1]);
  auto* x = arguments[0].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) x[i] *= 2;
}

const Registration kRegistered{{"twice", twice}};

}  // namespace
}  // namespace foretrace::references
"""


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)


class MadeUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copy = pathlib.Path(folder.name)
        for part in ("model", "sim", "configs", "tests/emulate", "tests/isa"):
            shutil.copytree(ROOT / part, self.copy / part, ignore=shutil.ignore_patterns("data", "conformance"))
        self.touched = set()

    def touch(self, path, anchor=None, text="", new=None):
        """Puts `text` behind the line that begins the first match of `anchor`; or makes the file with `new`."""
        file = self.copy / path
        if new is not None:
            self.assertFalse(file.exists(), path)
            file.parent.mkdir(exist_ok=True)
            file.write_text(new)
        else:
            lines = file.read_text().split("\n")
            at = [number for number, line in enumerate(lines) if anchor in line]
            self.assertTrue(at, f"{path} has no line with '{anchor}'")
            lines.insert(at[0] + 1, text)
            file.write_text("\n".join(lines))
        if not path.startswith(BESIDE):
            self.touched.add(path)

    def built(self, changed, main, *more):
        """The program of `main`, linked from the copy's `changed` sources and the build's libraries; `more`: what the linker is told beside."""
        (self.copy / "main.cpp").write_text(main)
        compiles = []
        for number, source in enumerate([*changed, "main.cpp"]):
            command = [COMPILER, *OPTIONS, f'-DFORETRACE_SOURCE_DIR="{self.copy}"', "-I", str(self.copy), "-c", str(self.copy / source), "-o", str(self.copy / f"{number}.o")]
            compiles.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
            if len(compiles) % 2 == 0:
                compiles[-2].wait()
        for each in compiles:
            output, _ = each.communicate()
            self.assertEqual(each.returncode, 0, output)
        libraries = [library for part in ("model", "sim") for library in sorted((BUILD / part).glob("**/libforetrace_*.a"))]
        done = run(COMPILER, *sorted(self.copy.glob("*.o")), *more, "-Wl,--start-group", *libraries, "-Wl,--end-group", *SYSTEM,
                   "-o", self.copy / "made_up")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return self.copy / "made_up"

    def with_configs(self):
        return {**os.environ, "FORETRACE_CONFIGS": str(self.copy / "configs")}

    def output(self, program):
        done = run(program, env=self.with_configs())
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_chip(self):
        parent = (self.copy / "configs/h100-sxm.toml").read_text()
        inherits = next(line for line in parent.splitlines() if line.startswith("inherits"))
        self.touch("configs/made-up.toml", new=parent.replace("H100", "Made-up"))
        self.assertTrue(inherits)
        done = run(BUILD / "bin/foretrace", "arch", "made-up", env=self.with_configs())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Made-up", done.stdout)
        self.assertLessEqual(len(self.touched), MOST_FILES, self.touched)

    def test_instruction(self):
        self.touch("model/isa/opcodes.def", "FORETRACE_OPCODE(YIELD)", "FORETRACE_OPCODE(ZMADEUP)")
        file = "sim/emulate/execute/warp_ops.cpp"
        self.touch(file, "void set_uniform(", """
/// The lane's word from as many lanes further on as b says, round the warp.
void rotate_lanes(Execution& x, const MicroOp& op, std::uint32_t mask) {
  std::uint32_t from[32];
  std::copy_n(x.words(op.a), 32, from);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(m));
    x.result(op)[lane] = from[(lane + x.words(op.b)[lane]) % 32];
  }
}""")
        self.touch(file, "case Opcode::S2UR: special(d, 1); return true;", """    case Opcode::ZMADEUP:
      d.destination();
      op.a = d.source(Style::raw);
      op.b = d.source(Style::raw);
      d.warp(rotate_lanes);
      return true;""")
        table = self.copy / "configs/isa/sm_90.toml"
        table.write_text(table.read_text().replace('"POPC", "FLO"', '"POPC", "ZMADEUP", "FLO"', 1))
        self.assertLessEqual(len(self.touched), MOST_FILES, self.touched)
        # The last opcode: the others keep their numbers, and who knows how many there are is compiled anew.
        counting = [str(source.relative_to(self.copy)) for part in ("model", "sim") for source in sorted((self.copy / part).glob("**/*.cpp"))
                    if re.search(r"\bOpcode::(opaque|count)\b", source.read_text())]
        self.assertIn("model/isa/opcodes.cpp", counting)
        words, timed = self.output(self.built([*counting, file], EXECUTES))
        self.assertEqual([int(word) for word in words.split()], [(lane + 5) % 32 for lane in range(32)])
        self.assertEqual(timed, "timed")

    def test_counter(self):
        self.touch("model/stats/launch_counters.def", "FORETRACE_LAUNCH_COUNTER(blocks,",
                   'FORETRACE_LAUNCH_COUNTER(made_up, work, "warps that ended")')
        self.touch("model/sm/sm.cpp", "counters.warp_cycles += now - warp.started;", "  ++counters.made_up;")
        self.touch("sim/report/metrics_compute.cpp", "[](P p) { return Value(number(p.counters.branches)); }},",
                   '      {"foretrace__made_up.sum", "warp", "warps that ended",\n'
                   "       [](P p) { return Value(number(p.counters.made_up)); }},")
        self.assertLessEqual(len(self.touched), MOST_FILES, self.touched)
        metrics = [f"sim/report/metrics{part}.cpp" for part in ("", "_compute", "_launch", "_memory")]
        lines = self.output(self.built(["model/stats/launch_counters.cpp", "model/sm/sm.cpp", *metrics], COUNTS))
        self.assertEqual(lines, ["42", "made_up 1"])


    def test_kernel(self):
        for part in ("validate/suite", "validate/kernels", "validate/triton", "validate/triton_second", "tests/references"):
            shutil.copytree(ROOT / part, self.copy / part)
        walk = (ROOT / "CONTRIBUTING.md").read_text().split("The smallest launch file")[1]
        launches = "\n".join(line[4:] for line in walk.splitlines()[1:] if line.startswith("    "))
        self.touch("validate/suite/made_up/twice.cu", new=KERNEL)
        self.touch("validate/suite/made_up/twice.toml", new=launches + "\n")
        self.touch("validate/suite/made_up/references.cpp", new=REFERENCE)
        self.touch("validate/suite/README.md", "|---|---|---|", "| made_up | twice | a stream in place |")
        self.assertLessEqual(len(self.touched), MOST_FILES + 1, self.touched)
        known = sorted((BUILD / "tests/references/CMakeFiles/kernel_references.dir").glob("**/*.o"))
        self.assertTrue(known, "references_test has not been built")
        program = self.built(["tests/references/suite_test.cpp", "validate/suite/made_up/references.cpp"], CHECKED, *known,
                             "-lgtest", "-lgtest_main", "-pthread")
        # Its own check stands for the suite's last, which runs every reference.
        # The copy has no virtual environment of its own: the tools are this tree's.
        tools = {}
        for tool in ("nvcc", "nvdisasm"):
            found = run("bash", "-c", 'source "$0/scripts/common.sh"; cuda_tool "$1"', ROOT, tool)
            self.assertEqual(found.returncode, 0, f"no {tool}")
            tools["FORETRACE_" + tool.upper()] = found.stdout.strip()
        done = run(program, "--gtest_filter=Suite.*:MadeUp.*-Suite.ReferencesChangeWhatIsChecked", env=self.with_configs() | tools)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        self.assertIn("[       OK ] MadeUp.ComputesWhatItsReferenceDoes", done.stdout)
        self.assertIn("[       OK ] Suite.EveryLaunchIsChecked", done.stdout)
        done = run(BUILD / "bin/foretrace", "predict", self.copy / "validate/suite/made_up/twice.toml", "--arch", "h100", env=self.with_configs() | tools)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("twice_1024", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
