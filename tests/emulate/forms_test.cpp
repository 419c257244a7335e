// Forms of PTX that few programs hold (conformance/forms.cu), compiled by nvcc and executed, against what the PTX ISA says of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/emulate/loaded.h"

namespace foretrace::emulate {
namespace {

using Words = std::vector<std::uint32_t>;

class Forms : public testing::TestWithParam<int> {
 protected:
  /// One warp; `words` of out.
  Words run(const std::string& name, const Words& in, std::size_t words) {
    Loaded launch(kernels_of("forms.cu", GetParam()).at(name), {1, 1, 1}, {32, 1, 1});
    launch.buffer(in, "in");
    launch.buffer(Words(words), "out");
    launch.run();
    return launch.read(1, words);
  }
};

/// in[i]: how often lane i arrives; in[32 + i]: whether it does.
Words counts(std::uint32_t most, std::uint32_t lanes) {
  Words in(64);
  for (std::uint32_t i = 0; i < 32; ++i) {
    in[i] = 1 + i * 7 % most;
    in[32 + i] = lanes >> i & 1;
  }
  return in;
}

/// Each lane is told what was pending before its own arrival: in some order of the lanes, each goes on where another has left off.
void expect_chain(const Words& in, const Words& out, std::uint32_t barrier) {
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t i = barrier; i < 32; i += 2)
    if (in[32 + i] != 0) lanes.push_back(i);
  std::sort(lanes.begin(), lanes.end(), [&](std::uint32_t a, std::uint32_t b) { return out[a] > out[b]; });
  std::uint32_t pending = 1000;
  for (const std::uint32_t lane : lanes) {
    EXPECT_EQ(out[lane], pending) << "lane " << lane;
    pending -= in[lane];
  }
}

TEST_P(Forms, ArriveWithoutCompleting) {
  for (const std::uint32_t most : {1u, 3u, 31u}) {
    for (const std::uint32_t lanes : {~0u, 0x80c05321u, 4u}) {
      for (const bool drops : {false, true}) {
        SCOPED_TRACE(testing::Message() << most << " " << lanes << " " << drops);
        const Words in = counts(most, lanes);
        const Words out = run(drops ? "drop_no_complete" : "arrive_no_complete", in, 36);
        for (std::uint32_t b = 0; b < 2; ++b) {
          expect_chain(in, out, b);
          EXPECT_EQ(out[32 + b], 1u) << "the phase has ended";
          std::uint32_t expected = 1000;
          // Who drops out arrives as often fewer in the next phases.
          for (std::uint32_t i = b; i < 32 && drops; i += 2) expected -= in[32 + i] != 0 ? in[i] : 0;
          EXPECT_EQ(out[34 + b], expected);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, Forms, testing::Values(90, 100, 120),
                         [](const auto& i) { return "sm_" + std::to_string(i.param); });

}  // namespace
}  // namespace foretrace::emulate
