// A store to a far line of which sectors are on their way: whom it holds up, and for how long.
#include <gtest/gtest.h>

#include <map>

#include "model/memory/memory_system.h"
#include "model/memory/topology.h"
#include "tests/memory/driver.h"
#include "tests/memory/specs.h"

namespace foretrace::memory_tests {
namespace {

// SM 0 loads a line of the other partition that its home holds, stores at once, and loads a line beside it.
class HeldStores : public testing::Test {
 protected:
  const spec::GpuSpec chip = small_chip();
  const memory::AddressMap map{chip};
  const std::uint64_t far = line_at_home(chip, 1);

  /// A line at home in partition `home`, in the slice of the far line's number or in another one.
  std::uint64_t line_in(std::uint32_t home, bool same_slice, std::uint64_t first = 0) const {
    std::uint64_t line = line_at_home(chip, home, first);
    while ((map.place(line).index == map.place(far).index) != same_slice || line == far)
      line = line_at_home(chip, home, line + 1);
    return line;
  }
  /// When SM 0's load of `line` is answered, and that of the far line's copy where `copied` is true, else it is there already.
  struct Times {
    Cycle far = 0, near = 0;
  };
  Times play_with(std::uint64_t stored, std::uint64_t loaded, bool on_its_way) const {
    std::uint32_t other = 0;
    while (memory::partition_of_sm(chip, other) == 0) ++other;
    memory::MemorySystem memory(chip);
    std::vector<memory::Request> requests = {read_request(0, other, far, 0b1111, 90),
                                             read_request(0, other, stored, 0b1111, 91),
                                             read_request(0, 0, loaded, 0b1111, 92)};
    if (!on_its_way) requests.push_back(read_request(2000, 0, far, 0b1111, 93));
    requests.push_back(read_request(9000, 0, far, 0b0001, 1));
    requests.push_back(write_request(9001, 0, stored, 0b0010, 0xf, 2));
    requests.push_back(read_request(9002, 0, loaded, 0b0001, 3));
    std::map<std::uint64_t, Cycle> times;
    for (const memory::Reply& reply : play(memory, requests)) times[reply.id] = reply.time;
    EXPECT_EQ(times.size(), requests.size());
    return {times[1], times[3]};
  }
};

TEST_F(HeldStores, WaitForTheirLinesSectorsAndHoldUpWhatIsBehind) {
  const std::uint64_t near = line_in(0, true);
  const Times free = play_with(far, near, false), held = play_with(far, near, true);
  EXPECT_GE(held.near, free.near + 2 * chip.network.partition_latency - 4)
      << "until the sectors have come from the other partition";
  EXPECT_GE(held.near, held.far);
}

TEST_F(HeldStores, OfOtherLinesDoNotWait) {
  const std::uint64_t near = line_in(0, true), other_far = line_in(1, true);
  EXPECT_LT(play_with(other_far, near, true).near,
            play_with(far, near, true).near - chip.network.partition_latency);
}

TEST_F(HeldStores, HoldUpTheirSliceAlone) {
  const std::uint64_t elsewhere = line_in(0, false);
  EXPECT_EQ(play_with(far, elsewhere, true).near, play_with(far, elsewhere, false).near);
}

TEST_F(HeldStores, AllGoOnInTheEnd) {
  memory::MemorySystem memory(chip);
  std::vector<memory::Request> requests;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const std::uint32_t sm = i % chip.sm.count;
    const std::uint64_t line = i * 7 % 5 + (i % 2 != 0 ? far : line_in(0, true));
    requests.push_back(read_request(i, sm, line, 0b0001, 2 * i));
    requests.push_back(write_request(i, sm, line, 0b0001, 0xf, 2 * i + 1));
  }
  EXPECT_EQ(play(memory, requests).size(), requests.size());
}

}  // namespace
}  // namespace foretrace::memory_tests
