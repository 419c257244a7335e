"""Predictions whose answer is known beforehand: what each example must show, and what-ifs that physics decides.

    known_answers.py FORETRACE REPOSITORY DOCUMENTS Examples|WhatIf [unittest's arguments]

Both need the CUDA compiler.
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program import ARCHS, Case, configured, kernel_file, main, trace  # noqa: E402

TIME = "gpu__time_duration.sum"
CYCLES = "gpc__cycles_elapsed.max"
A100, H100, GB203 = ARCHS.values()


def copy(elements):
    """copy_float4 of that many floats."""
    return ["predict", kernel_file("copy.cu"), "--kernel", "copy_float4", "--grid", str(elements // 1024), "--block", "256",
            "--arg", f"buf:f32:{elements}", "--arg", f"buf:f32:{elements}", "--arg", f"val:i32:{elements // 4}"]


def chain(blocks, rounds):
    """A chain of multiply-adds in every thread."""
    threads = 256 * blocks
    return ["predict", kernel_file("ffma_chain.cu"), "--kernel", "ffma_chain", "--grid", str(blocks), "--block", "256",
            "--arg", f"buf:f32:{threads}:uniform", "--arg", f"buf:f32:{threads}", "--arg", f"val:i32:{threads}",
            "--arg", f"val:i32:{rounds}"]


def executions(prediction, opcode):
    """The rows of the instructions with that opcode, guarded or not, that made requests."""
    return [row for row in prediction["instructions"] if row["requests"] and re.match(rf"(@!?U?P\w+ )?{opcode}\b", row["sass"])]


class Examples(Case):
    def by_arch(self, file, kernel, *words):
        """The predictions of one kernel on the three chips."""
        found = self.predictions("predict", kernel_file(file), "--kernel", kernel, *words, "--arch", ",".join(ARCHS.values()))
        self.assertEqual([p["arch"] for p in found], list(ARCHS.values()))
        return found

    def test_transpose_has_31_conflicts_a_shared_load_and_with_padding_none(self):
        for kernel, conflicts in (("transpose_tile<32>", 31), ("transpose_tile<33>", 0)):
            for prediction in self.by_arch("transpose.cu", kernel, "--grid", "4,4", "--block", "32,8", "--arg", "buf:f32:16384:uniform",
                                           "--arg", "buf:f32:16384", "--arg", "val:i32:128", "--arg", "val:i32:128"):
                loads = prediction["metrics"]["smsp__inst_executed_op_shared_ld.sum"]
                self.assertEqual(loads, 16 * 8 * 4)
                rows = executions(prediction, "LDS")
                self.assertEqual(sum(row["requests"] for row in rows), loads)
                for row in rows:
                    self.assertEqual(row["wavefronts"] - row["ideal_wavefronts"], conflicts * row["requests"], row["sass"])
                # What arbitration adds stands beside it, never below.
                self.assertGreaterEqual(prediction["metrics"]["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
                                        conflicts * loads)

    def test_naive_sgemm_reads_b_by_columns_in_16_sectors_and_by_rows_in_2(self):
        for kernel, expected in (("sgemm_naive_columns", {2, 16}), ("sgemm_naive_rows", {2})):
            for prediction in self.by_arch("sgemm_naive.cu", kernel, "--grid", "4,4", "--block", "16,16", "--arg", "buf:f32:4096:uniform",
                                           "--arg", "buf:f32:4096:uniform", "--arg", "buf:f32:4096", "--arg", "val:i32:64"):
                loads = executions(prediction, "LDG")
                # a is read in 2 sectors, b in 16 or 2, equally often.
                self.assertEqual({row["sectors"] / row["requests"] for row in loads}, expected)
                requests = prediction["metrics"]["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"]
                self.assertEqual(requests, 2 * 64 * 128)
                self.assertEqual(prediction["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
                                 requests * sum(expected) / len(expected))

    def test_divergence_by_lanes_executes_about_twice_the_instructions(self):
        arguments = ["--grid", "16", "--block", "256", "--arg", "buf:u32:4096:uniform", "--arg", "buf:u32:4096", "--arg", "val:i32:4096",
                     "--arg", "val:i32:64"]
        lanes = self.by_arch("divergence.cu", "divergence_lanes", *arguments)
        warps = self.by_arch("divergence.cu", "divergence_warps", *arguments)
        for by_lane, by_warp in zip(lanes, warps):
            ratio = by_lane["metrics"]["smsp__inst_executed.sum"] / by_warp["metrics"]["smsp__inst_executed.sum"]
            self.assertGreater(ratio, 1.8)
            self.assertLess(ratio, 2.0)

    def test_image_and_vector_add_have_the_warps_that_arithmetic_says(self):
        for prediction in self.by_arch("image_brighten.cu", "image_brighten", "--grid", "13,10", "--block", "16,16",
                                       "--arg", "buf:u8:30000:uniform", "--arg", "buf:u8:30000", "--arg", "val:i32:200",
                                       "--arg", "val:i32:150", "--arg", "val:i32:60"):
            first = min(prediction["instructions"], key=lambda row: row["offset"])
            self.assertEqual(first["executed"], 1040)
            self.assertEqual(first["thread_executed"], 130 * 256)


    def test_a_second_kernel_finds_in_warm_caches_what_the_first_left(self):
        launches = f"""source = "{kernel_file("relu.cu")}"
[[launch]]
name = "first"
kernel = "add_one"
grid = [256]
block = [256]
args = ["buf:f32:65536:uniform:name=x", "buf:f32:65536:name=sum", "val:i32:65536"]
[[launch]]
name = "second"
kernel = "relu"
after = "first"
grid = [256]
block = [256]
args = ["ref:sum", "buf:f32:65536:name=y", "val:i32:65536"]
"""
        words = ["predict", self.write("two.toml", launches), "--arch", ",".join(ARCHS.values())]
        cold, warm = self.predictions(*words), self.predictions(*words, "--warm")
        self.assertEqual([p["launch"] for p in cold], ["first"] * 3 + ["second"] * 3)
        for by_cold, by_warm in zip(cold[:3], warm[:3]):
            self.assertEqual(by_cold["metrics"], by_warm["metrics"], "nothing came before the first")
        for by_cold, by_warm in zip(cold[3:], warm[3:]):
            self.assertGreaterEqual(by_cold["metrics"]["dram__bytes_read.sum"], 4 * 65536)
            self.assertLess(by_warm["metrics"]["dram__bytes_read.sum"], 4 * 65536 / 10)
            self.assertLess(by_warm["metrics"][CYCLES], by_cold["metrics"][CYCLES])


def once_and(times, arch, key):
    """--set with the chip's number and with so many times that."""
    value = configured(arch, key)
    return ["--set", f"{key}={value:.10g},{times * value:.10g}"]


class WhatIf(Case):
    def ratio(self, metric, words, *settings):
        """How many times the metric falls from the first value of the settings to the second."""
        first, second = self.predictions(*words, *settings)
        return first["metrics"][metric] / second["metrics"][metric]

    def test_twice_the_dram_bandwidth_makes_the_large_copy_about_twice_as_fast(self):
        # On H100 the copy at twice DRAM's bandwidth is more than its L2 delivers; it needs both.
        for arch, key in ((A100, "dram.channels"), (GB203, "clock.boost.dram")):
            ratio = self.ratio(TIME, copy(1 << 24), "--arch", arch, *once_and(2, arch, key))
            self.assertGreaterEqual(ratio, 1.7, arch)
            self.assertLessEqual(ratio, 2.0, arch)

    def test_where_l2_stands_in_the_way_it_takes_both(self):
        # Of refreshes some fall into the launch or do not, by when it starts, which moves each time by up to 1.5%: they are short here.
        short = ["--set", "dram.refresh_cycles=1"]
        plain, = self.predictions(*copy(1 << 24), "--arch", H100, *short)
        dram, slices, fabric, both = self.predictions(
            *copy(1 << 24), "--arch", H100, *short, "--set", f"dram.channels={2 * configured(H100, 'dram.channels'):.0f}",
            *once_and(2, H100, "network.partition_bytes"), *once_and(2, H100, "l2.slice_bytes"))
        self.assertGreater(dram["metrics"]["foretrace__l2_fabric.pct"], 85)
        self.assertEqual(dram["limiter"]["name"], "l2_fabric")
        self.assertLess(dram["metrics"][TIME] / slices["metrics"][TIME], 1.02, "slices do not stand in the way yet")
        self.assertLess(both["metrics"][TIME], fabric["metrics"][TIME])
        ratio = plain["metrics"][TIME] / both["metrics"][TIME]
        self.assertGreaterEqual(ratio, 1.7)
        self.assertLessEqual(ratio, 2.0)

    def test_dram_bandwidth_does_not_move_a_chain_of_multiply_adds(self):
        for arch in (A100, H100):
            # Code and data come from DRAM at first: the chain is long enough to drown that.
            ratio = self.ratio(TIME, chain(64, 8192), "--arch", arch, *once_and(2, arch, "dram.channels"))
            self.assertAlmostEqual(ratio, 1.0, delta=0.01)

    def test_twice_the_sms_halve_a_compute_bound_grid_of_many_waves(self):
        for arch in ARCHS.values():
            ratio = self.ratio(CYCLES, chain(512, 1024), "--arch", arch, "--set", "sm.gpcs=4", "--set", "sm.count=4,8")
            self.assertAlmostEqual(ratio, 2.0, delta=0.1)

    def test_a_faster_sm_clock_does_not_move_a_copy_that_dram_limits(self):
        for arch in (A100, GB203):
            ratio = self.ratio(TIME, copy(1 << 24), "--arch", arch, *once_and(1.2, arch, "clock.boost.sm"))
            self.assertAlmostEqual(ratio, 1.0, delta=0.02)

    def test_an_l2_smaller_than_the_working_set_reads_it_from_dram_each_time(self):
        file = self.write("again.cu", """// Reads all of `in` `times` over; a block reads another part each time, so that no L1 helps.
__global__ void again(const float4* in, float* out, int n, int times) {
  float sum = 0;
  const int step = gridDim.x * blockDim.x;
  for (int time = 0; time < times; ++time) {
    for (int i = (blockIdx.x + time) % gridDim.x * blockDim.x + threadIdx.x; i < n; i += step) {
      const float4 value = in[i];
      sum += value.x + value.y + value.z + value.w;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
""")
        size, times = 8 << 20, 4
        words = ["predict", file, "--kernel", "again", "--grid", "64", "--block", "256", "--arg", f"buf:f32:{size // 4}",
                 "--arg", "buf:f32:16384", "--arg", f"val:i32:{size // 16}", "--arg", f"val:i32:{times}", "--arch", A100]
        # A sixteenth of it, 2.5 MiB, holds a third of what is read.
        large, small = self.predictions(*words, *once_and(1 / 16, A100, "l2.bytes"))
        self.assertAlmostEqual(large["metrics"]["dram__bytes_read.sum"] / size, 1.0, delta=0.02)
        self.assertGreaterEqual(small["metrics"]["dram__bytes_read.sum"] / size, 0.95 * times)
        self.assertLessEqual(small["metrics"]["dram__bytes_read.sum"] / size, 1.02 * times)

    def test_shared_memory_an_sm_moves_the_limiter_where_the_rule_says(self):
        # A block asks for 20480 bytes and the driver takes 1024 more. Registers and warps allow 8 blocks of 256 threads.
        need = 8 * (20480 + 1024)
        for largest, blocks, limiter in ((need - 128, 7, "shared_mem"), (need, 8, "warps")):
            text = self.answer("occupancy", "--arch", A100, "--block", "256", "--registers", "16", "--shared", "20480",
                               "--set", "l1.unified_bytes=262144", "--set", f"l1.carveouts=[0,65536,{largest}]")
            self.assertIn(f"{blocks} blocks per SM", text)
            self.assertIn(f"limited by {limiter}", text)

    def test_and_so_it_does_in_a_prediction(self):
        small, large = (self.predictions("simulate", trace("sgemm_tiled", 80), "--arch", A100, "--set", f"l1.carveouts=[0,{most}]",
                                         "--set", "limits.shared_per_block=8192")[0]["metrics"] for most in (9 * 1024, 18 * 1024))
        # TILE=16: two tiles of 1 KiB and the driver's 1 KiB.
        self.assertEqual(small["launch__occupancy_limit_shared_mem"], 3)
        self.assertEqual(large["launch__occupancy_limit_shared_mem"], 6)
        self.assertEqual(small["launch__shared_mem_config_size"], 9 * 1024)


if __name__ == "__main__":
    main()
