// How many warp instructions the cycle model simulates in a second on one core, from records made beforehand: the tiled SGEMM and
// the vector addition. The targets of the project are 2.5 million and 1 million. vector_add needs nvcc and nvdisasm.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <vector>

#include "model/config/load.h"
#include "sim/engine/device.h"
#include "sim/engine/machine.h"
#include "sim/frontend/compile.h"
#include "sim/frontend/load.h"

namespace foretrace {
namespace {

/// A launch's blocks, executed once and kept.
struct Recorded {
  engine::Launch shape;
  std::vector<std::shared_ptr<const work::BlockRecord>> blocks;
  std::int64_t warp_instructions = 0;
};

class KeptBlocks final : public work::BlockSource {
 public:
  explicit KeptBlocks(const Recorded& recorded) : recorded_(recorded) {}
  std::shared_ptr<const work::BlockRecord> next() override {
    return given_ < recorded_.blocks.size() ? recorded_.blocks[given_++] : nullptr;
  }

 private:
  const Recorded& recorded_;
  std::size_t given_ = 0;
};

Recorded record(frontend::LoadRequest request, const frontend::Toolchain& toolchain, Dim3 grid, Dim3 block,
                const std::vector<std::string>& arguments) {
  const frontend::LoadedKernel kernel = frontend::load_kernels(request, toolchain).at(0);
  frontend::LaunchDescription launch;
  launch.kernel = kernel.program.kernel;
  launch.grid = grid;
  launch.block = block;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    launch.arguments.push_back(frontend::parse_argument(arguments[i], i));
  }
  engine::Device device;
  const emulate::Emulator emulator(device.bind(launch, kernel));
  Recorded result;
  result.shape.program = std::make_shared<const isa::Program>(kernel.program);
  result.shape.grid = grid;
  result.shape.block = block;
  for (std::uint64_t index = 0; index < emulator.blocks(); ++index) {
    auto kept = std::make_shared<work::BlockRecord>();
    result.warp_instructions += static_cast<std::int64_t>(emulator.run_block(index, kept.get()).instructions);
    result.blocks.push_back(std::move(kept));
  }
  return result;
}

Recorded sgemm_tiled(int sm, std::uint32_t size) {
  frontend::LoadRequest request;
  request.file = std::string(FORETRACE_SOURCE_DIR) + "/tests/emulate/data/sgemm_tiled.sm_" +
                 std::to_string(sm) + ".cubin";
  request.sm = sm;
  const std::string elements = std::to_string(size * size);
  return record(request, {}, {size / 16, size / 16, 1}, {16, 16, 1},
                {"buf:f32:" + elements + ":uniform", "buf:f32:" + elements + ":uniform",
                 "buf:f32:" + elements, "val:i32:" + std::to_string(size)});
}

Recorded vector_add(int sm, std::uint32_t size, const frontend::Toolchain& toolchain) {
  frontend::LoadRequest request;
  request.file = FORETRACE_SOURCE_DIR "/validate/kernels/vector_add.cu";
  request.sm = sm;
  request.kernel = "vector_add";
  const std::string buffer = "buf:f32:" + std::to_string(size);
  return record(request, toolchain, {size / 256, 1, 1}, {256, 1, 1},
                {buffer, buffer, buffer, "val:i32:" + std::to_string(size)});
}

const char* chip_of(int sm) { return sm == 80 ? "a100" : sm == 90 ? "h100" : "gb203"; }

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Simulates the launch again and again, on one thread.
void simulate(benchmark::State& state, const Recorded& recorded, int sm) {
  engine::Machine machine(std::make_shared<const spec::GpuSpec>(config::load_gpu(chip_of(sm)).spec));
  for (auto _ : state) {
    KeptBlocks source(recorded);
    benchmark::DoNotOptimize(machine.run(recorded.shape, source, {}).counters.elapsed);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * recorded.warp_instructions);
  state.counters["peak_mib_so_far"] = peak_mib();
}

void model_sgemm_tiled(benchmark::State& state) {
  const int sm = static_cast<int>(state.range(0));
  simulate(state, sgemm_tiled(sm, static_cast<std::uint32_t>(state.range(1))), sm);
}

void model_vector_add(benchmark::State& state) {
  const frontend::Toolchain toolchain = frontend::find_toolchain();
  if (!toolchain.nvcc || !toolchain.nvdisasm) {
    state.SkipWithError("nvcc and nvdisasm are not here");
    return;
  }
  const int sm = static_cast<int>(state.range(0));
  simulate(state, vector_add(sm, static_cast<std::uint32_t>(state.range(1)), toolchain), sm);
}

BENCHMARK(model_sgemm_tiled)
    ->ArgNames({"sm", "n"})
    ->ArgsProduct({{80, 90, 120}, {512}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(model_vector_add)
    ->ArgNames({"sm", "n"})
    ->ArgsProduct({{80, 90, 120}, {1 << 22}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foretrace

BENCHMARK_MAIN();
