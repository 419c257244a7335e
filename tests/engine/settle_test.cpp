// When a simulation may stop, as far as moments tell.
#include <gtest/gtest.h>

#include <functional>

#include "model/units/units.h"
#include "sim/engine/settle.h"

namespace foretrace::engine_tests {
namespace {

constexpr double kL2 = 40e6, kDram = 1000;  // bytes; bytes a cycle
constexpr double kWork = 100;               // warp instructions of a block

engine::Survey survey_of(double blocks) {
  engine::Survey survey;
  survey.instructions = kWork * blocks;
  return survey;
}

/// Whether it settles within so many cycles at 100 warp instructions a cycle. `ends`: blocks end as they are worked through. `memory`:
/// what the memory system counted by then.
bool settles(const engine::Survey& survey, Cycle until, bool ends,
             const std::function<void(double, stats::MemoryCounters&)>& memory,
             std::uint64_t chip_full = 1000, double issue_slots = 400) {
  engine::Watch watch({.survey = &survey,
                       .blocks = static_cast<std::uint64_t>(survey.instructions / kWork),
                       .chip_full = chip_full,
                       .dram_bytes = kDram,
                       .l2_bytes = kL2,
                       .issue_slots = issue_slots,
                       .look_from = 1000});
  for (Cycle now = 100; now <= until; now += 100) {
    gpu::Moment moment;
    moment.now = now;
    moment.instructions = 100 * now;
    moment.ended = ends ? now : 0;
    moment.placed = moment.ended + chip_full;
    memory(static_cast<double>(now), moment.memory);
    if (!watch(moment)) return true;
  }
  return false;
}

/// Reads and writes 300 bytes a cycle each; what is written stays in L2 up to so many bytes and is then written back as fast.
std::function<void(double, stats::MemoryCounters&)> streaming(double dirty_most) {
  return [dirty_most](double now, stats::MemoryCounters& memory) {
    const double written = 300 * now, dirty = std::min(written, dirty_most);
    memory.dram_bytes_read = static_cast<std::uint64_t>(300 * now);
    memory.dirty_sectors_left = static_cast<std::uint64_t>(dirty / kSectorBytes);
    memory.dram_bytes_write = static_cast<std::uint64_t>(written - dirty);
  };
}

TEST(Settle, ALaunchThatTouchesNoMemorySettles) {
  const engine::Survey survey = survey_of(1e6);
  EXPECT_TRUE(settles(survey, 100'000, true, [](double, stats::MemoryCounters&) {}));
}

TEST(Settle, WaitsUntilAsMuchIsWrittenBackAsIsWritten) {
  const engine::Survey survey = survey_of(1e6);
  // Dirty data grow up to 12 MB, which takes 40,000 cycles; by then L2 has taken up 24 MB of its 40.
  EXPECT_FALSE(settles(survey, 40'000, true, streaming(12e6)));
  EXPECT_TRUE(settles(survey, 85'000, true, streaming(12e6)));
  // They go on growing: not before L2 has taken up 1.3 times its size, at 87,000 cycles.
  EXPECT_FALSE(settles(survey, 85'000, true, streaming(1e12)));
  EXPECT_TRUE(settles(survey, 110'000, true, streaming(1e12)));
}

TEST(Settle, DoesNotWaitForL2WhereIssueSlotsAreUsedUp) {
  const engine::Survey survey = survey_of(1e6);
  EXPECT_FALSE(settles(survey, 40'000, true, streaming(1e12), 1000, 400));
  EXPECT_TRUE(settles(survey, 40'000, true, streaming(1e12), 1000, 110));
}

TEST(Settle, TheBeginningOfBlocksSpeaksForThemIfTheyGoOnAlike) {
  // No block ends: a chip-full is 100 million warp instructions, of which a tenth is seen.
  const auto nothing = [](double, stats::MemoryCounters&) {};
  engine::Survey same = survey_of(5e6);
  for (int i = 0; i < 4000; ++i) same.course.note(static_cast<std::uint32_t>(i % 10));
  EXPECT_TRUE(settles(same, 100'000, false, nothing, 1'000'000));
  engine::Survey other = survey_of(5e6);
  for (int i = 0; i < 4000; ++i)
    other.course.note(static_cast<std::uint32_t>(i < 2000 ? i % 10 : 10 + i % 10));
  EXPECT_FALSE(settles(other, 100'000, false, nothing, 1'000'000));
}

TEST(Course, ChangeIsTheShareOfOtherInstructions) {
  engine::Course course;
  EXPECT_EQ(course.change(0, 0.5), 0);
  for (std::uint32_t i = 0; i < 131'072; ++i)
    course.note(i < 65'536 ? i % 4 : 2 + i % 4);  // half of them are others
  EXPECT_NEAR(course.change(0, 0.5), 0.5, 0.01);
  EXPECT_NEAR(course.change(0.5, 0.75), 0, 0.02);
  EXPECT_EQ(course.change(0, 1), 0);
}

}  // namespace
}  // namespace foretrace::engine_tests
