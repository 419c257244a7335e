// How many warp instructions the emulator executes in a second on one core: the tiled SGEMM with and without its record; chains
// of FFMA, threads that part and atomics (tests/emulate/data/loads.cu) without; multiply-adds of matrix products to the bit. The project's aims: 10 million recorded, 20 million
// of FFMA-dominated code and 5 million of atomics and divergence not recorded.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <string>

#include "sim/emulate/emulator.h"
#include "sim/emulate/tensor/products.h"
#include "sim/frontend/load.h"

namespace foretrace {
namespace {

constexpr std::uint32_t kSize = 256;  // rows and columns

void sgemm_tiled(benchmark::State& state, bool recorded) {
  const int sm = static_cast<int>(state.range(0));
  frontend::LoadRequest request;
  request.file = std::string(FORETRACE_SOURCE_DIR) + "/tests/emulate/data/sgemm_tiled.sm_" +
                 std::to_string(sm) + ".cubin";
  request.sm = sm;
  const auto kernels = frontend::load_kernels(request, frontend::Toolchain{});

  emulate::GlobalMemory memory;
  emulate::LaunchContext context;
  context.program = &kernels.at(0).program;
  context.memory = &memory;
  context.grid = {kSize / 16, kSize / 16, 1};
  context.block = {16, 16, 1};
  context.parameters.resize(context.program->parameter_bytes);
  const auto fill = [](std::uint64_t offset, std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size() / 4; ++i) {
      const float x = std::sin(static_cast<float>(offset / 4 + i));
      std::memcpy(bytes.data() + 4 * i, &x, 4);
    }
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t address =
        memory.allocate(kSize * kSize * 4, std::string(1, static_cast<char>('a' + i)), fill);
    std::memcpy(context.parameters.data() + 8 * i, &address, 8);
  }
  std::memcpy(context.parameters.data() + 24, &kSize, 4);
  context.banks[2] = kernels[0].constant2;
  const emulate::Emulator emulator(context);

  std::uint64_t instructions = 0, bytes = 0, block = 0;
  for (auto _ : state) {
    work::BlockRecord record;
    instructions += emulator.run_block(block, recorded ? &record : nullptr).instructions;
    for (const work::WarpRecord& warp : record.warps) bytes += warp.runs.size() + warp.details.size();
    block = (block + 1) % emulator.blocks();
  }
  state.counters["warp_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
  state.counters["record_bytes_each"] = static_cast<double>(bytes) / static_cast<double>(instructions);
}

void recorded(benchmark::State& state) { sgemm_tiled(state, true); }
void functional_only(benchmark::State& state) { sgemm_tiled(state, false); }
BENCHMARK(recorded)->Arg(80)->Arg(90)->Arg(120);
BENCHMARK(functional_only)->Arg(80)->Arg(90)->Arg(120);

void load(benchmark::State& state, const std::string& kernel) {
  const int sm = static_cast<int>(state.range(0));
  frontend::LoadRequest request;
  request.file =
      std::string(FORETRACE_SOURCE_DIR) + "/tests/emulate/data/loads.sm_" + std::to_string(sm) + ".cubin";
  request.sm = sm;
  request.kernel = kernel;
  const auto kernels = frontend::load_kernels(request, frontend::Toolchain{});
  emulate::GlobalMemory memory;
  emulate::LaunchContext context;
  context.program = &kernels.at(0).program;
  context.memory = &memory;
  context.grid = {64, 1, 1};
  context.block = {256, 1, 1};
  context.parameters.resize(context.program->parameter_bytes);
  const auto fill = [](std::uint64_t offset, std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size() / 4; ++i) {
      const auto x = 0x3f000000u | (static_cast<std::uint32_t>(offset / 4 + i) * 40503u &
                                    0x7fffffu);  // 0.5 to 1, as a float
      std::memcpy(bytes.data() + 4 * i, &x, 4);
    }
  };
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t address =
        memory.allocate(1 << 18, i == 0 ? "in" : "out", i == 0 ? fill : emulate::GlobalMemory::Fill{});
    std::memcpy(context.parameters.data() + 8 * i, &address, 8);
  }
  context.banks[2] = kernels[0].constant2;
  const emulate::Emulator emulator(context);
  std::uint64_t instructions = 0, block = 0;
  for (auto _ : state) {
    instructions += emulator.run_block(block, nullptr).instructions;
    block = (block + 1) % emulator.blocks();
  }
  state.counters["warp_instructions"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}
void multiply_adds(benchmark::State& state) { load(state, "multiply_adds"); }
void divergent(benchmark::State& state) { load(state, "divergent"); }
void atomics(benchmark::State& state) { load(state, "atomics"); }
void short_blocks(benchmark::State& state) { load(state, "short_blocks"); }
BENCHMARK(multiply_adds)->Arg(90)->Arg(120);
BENCHMARK(divergent)->Arg(90)->Arg(120);
BENCHMARK(atomics)->Arg(90)->Arg(120);
BENCHMARK(short_blocks)->Arg(90)->Arg(120);

/// Sums of products of a warp, 16 rows by `columns`, as mma.sync (from fragments) or as wgmma's part of a warp.
void products(benchmark::State& state, emulate::Element type) {
  const auto columns = static_cast<int>(state.range(0));
  const emulate::LaneTable& lanes = emulate::lane_table();
  const int bits = emulate::bits_of(type), depth = 256 / bits;
  static emulate::ProductOperands o;
  o.type_a = o.type_b = type;
  o.depth = o.depth_b = depth;
  o.columns = columns;
  std::vector<std::uint32_t> registers(4 * 32), sums(static_cast<std::size_t>(columns) * 16);
  std::uint32_t x = 1;
  const auto element = [&] {  // near 1, of both signs
    x = x * 1664525u + 1013904223u;
    return bits == 8    ? (x >> 24 & 0x83) | 0x38
           : bits == 16 ? (x >> 16 & 0x83ff) | 0x3c00
                        : (x & 0x807fffff) | 0x3f800000;
  };
  for (std::uint32_t& word : registers)
    for (int at = 0; at < 32; at += bits) word |= element() << at;
  for (int i = 0; i < depth * columns; ++i) o.b[i] = bits == 32 ? element() >> 13 : element();
  for (auto _ : state) {
    lanes.fragment_rows({registers.data(), bits, 2, depth}, o.a);
    if (columns == 8) lanes.fragment_columns({registers.data(), bits, 2, columns}, o.b);
    emulate::multiply_floats(lanes, o, {}, sums.data(), sums.data());
    benchmark::DoNotOptimize(sums.data());
  }
  state.counters["multiply_adds"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * 16 * columns * depth, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(products, f16, emulate::Element::f16)->Arg(8)->Arg(128);
BENCHMARK_CAPTURE(products, bf16, emulate::Element::bf16)->Arg(8)->Arg(128);
BENCHMARK_CAPTURE(products, tf32, emulate::Element::tf32)->Arg(8)->Arg(128);
BENCHMARK_CAPTURE(products, e4m3, emulate::Element::e4m3)->Arg(8)->Arg(128);

}  // namespace
}  // namespace foretrace

BENCHMARK_MAIN();
