// Forms of PTX that few programs hold (tests/emulate/conformance/forms.cu): the cycle model knows each of their instructions, with every chip
// whose machine code has them. What they compute is emulate_forms_test's to say.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "model/config/load.h"
#include "sim/emulate/tensor/tensor_map.h"
#include "sim/engine/machine.h"
#include "sim/engine/sources.h"
#include "tests/emulate/loaded.h"

namespace foretrace {
namespace {

using Words = std::vector<std::uint32_t>;

struct Case {
  std::string arch, kernel;
};

/// 64 rows of 64 words, in boxes of one row's first 32.
Words map_of(std::uint64_t tensor) {
  emulate::TensorMap map;
  map.type = emulate::TensorType::u32;
  map.rank = 2;
  map.address = tensor;
  map.dims = {64, 64, 1, 1, 1};
  map.strides[1] = 256;
  map.box = {32, 1, 1, 1, 1};
  const emulate::TensorMapBytes bytes = emulate::encode(map);
  Words words(32);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

class FormsPredict : public testing::TestWithParam<Case> {};

TEST_P(FormsPredict, TakesTime) {
  const auto spec = std::make_shared<const spec::GpuSpec>(config::load_gpu(GetParam().arch).spec);
  const auto& kernels = emulate::kernels_of("forms.cu", spec->sm_number);
  const auto found = kernels.find(GetParam().kernel);
  ASSERT_NE(found, kernels.end());
  emulate::Loaded launch(found->second, {1, 1, 1}, {32, 1, 1});
  const bool moves = GetParam().kernel == "gathers" || GetParam().kernel == "scatters";
  // Numbers that every kernel can do something with: counts, sizes, coordinates of rows.
  launch.buffer(moves ? map_of(launch.memory->allocate(64 * 256, "tensor")) : Words(160, 16), "in");
  launch.buffer(Words(1024), "out");
  if (moves) launch.buffer({0, 1, 2, 3, 60, 512}, "at");

  engine::Machine machine(spec);
  const auto program = std::make_shared<const isa::Program>(found->second.program);
  const engine::Launch shape{{{1, 1, 1}, {32, 1, 1}, {}, 0}, program};
  const emulate::Emulator emulator(launch.context);
  engine::EmulatedBlocks source(emulator, machine.resident_blocks(shape), 1, nullptr);
  const engine::Outcome outcome = machine.run(shape, source, {});
  EXPECT_EQ(outcome.counters.blocks, 1u);
  EXPECT_GT(outcome.counters.inst_executed, 10u);
  EXPECT_GT(outcome.counters.sm_active, outcome.counters.inst_executed);
}

std::vector<Case> cases() {
  const std::vector<std::string> all = {"arrive_no_complete", "drop_no_complete"},
                                 newer = {"mixes_halves", "mixes_bfloats", "clears", "copies_some_bytes",
                                          "gathers"},
                                 sm_100 = {"scatters", "rounds_stochastically", "rounds_narrower"};
  std::vector<Case> cases;
  for (const std::string arch : {"h100", "b200-sxm", "gb203"}) {
    for (const std::string& kernel : all) cases.push_back({arch, kernel});
    for (const std::string& kernel : newer)
      if (arch != "h100") cases.push_back({arch, kernel});
    for (const std::string& kernel : sm_100)
      if (arch == "b200-sxm") cases.push_back({arch, kernel});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Kernels, FormsPredict, testing::ValuesIn(cases()),
                         [](const auto& i) { return i.param.arch.substr(0, 4) + "_" + i.param.kernel; });

}  // namespace
}  // namespace foretrace
