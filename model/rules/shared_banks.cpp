#include "model/rules/shared_banks.h"

#include <algorithm>
#include <bit>

#include "model/rules/lane_addresses.h"

namespace foretrace::rules {
namespace {

constexpr std::uint32_t kLanes = kWarpSize;

std::uint64_t word_of(std::uint64_t address) { return address / kSharedBankBytes; }

/// The words that a group of lanes wants of each bank.
class Banks {
 public:
  /// A word that lanes may share: counted once.
  void want(std::uint64_t word) {
    const auto bank = static_cast<std::size_t>(word % kSharedBanks);
    std::uint8_t& count = counts_[bank];
    auto& words = words_[bank];
    if (count != 0 && words[count - 1] == word) return;  // lanes that share a word are mostly neighbours
    for (std::size_t i = 0; i + 1 < count; ++i) {
      if (words[i] == word) return;
    }
    words[count++] = word;
    busiest_ = std::max<std::uint32_t>(busiest_, count);
  }
  /// A word that each lane takes a pass of its own for.
  void want_alone(std::uint64_t word) {
    const std::uint32_t count = ++counts_[static_cast<std::size_t>(word % kSharedBanks)];
    busiest_ = std::max(busiest_, count);
  }
  std::uint32_t busiest() const { return busiest_; }

 private:
  std::array<std::uint8_t, kSharedBanks> counts_{};
  std::array<std::array<std::uint64_t, kWarpSize>, kSharedBanks>
      words_;  // the first counts_[bank] are filled
  std::uint32_t busiest_ = 0;
};

/// Passes of the lanes in `lanes`, `words` words each.
std::uint32_t group_passes(const Addresses& addresses, std::uint32_t lanes, std::uint32_t words,
                           bool merges) {
  Banks banks;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const std::uint64_t first = word_of(addresses[static_cast<std::size_t>(std::countr_zero(left))]);
    for (std::uint32_t i = 0; i < words; ++i) {
      if (merges) {
        banks.want(first + i);
      } else {
        banks.want_alone(first + i);
      }
    }
  }
  return banks.busiest();
}

/// Every executed lane wants the address of its partner lane^distance, as far as that one is executed.
bool shares_with(const Addresses& addresses, std::uint32_t executed, std::size_t distance) {
  for (std::uint32_t left = executed; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const std::size_t partner = lane ^ distance;
    if ((executed >> partner & 1) != 0 && addresses[lane] != addresses[partner]) return false;
  }
  return true;
}

/// The load merge below the floor: see the header.
bool merges_below_floor(const Addresses& addresses, std::uint32_t executed, std::uint32_t words) {
  if (!shares_with(addresses, executed, 1) && !shares_with(addresses, executed, 2)) return false;
  return group_passes(addresses, executed, words, true) <= 1;
}

bool all_equal(const Addresses& addresses) {
  std::uint64_t different = 0;
  for (const std::uint64_t address : addresses) different |= address ^ addresses[0];
  return different == 0;
}

SharedCost matrix_cost(const Addresses& addresses, std::uint32_t matrices) {
  constexpr std::uint32_t kRows = 8;
  constexpr std::uint32_t kRowWords = 4;
  SharedCost cost{0, matrices};
  for (std::uint32_t tile = 0; tile < matrices; ++tile) {
    cost.wavefronts += group_passes(addresses, ((1u << kRows) - 1) << (tile * kRows), kRowWords, true);
  }
  return cost;
}

}  // namespace

SharedCost shared_cost(const Addresses& addresses, std::uint32_t executed, std::uint32_t bytes,
                       SharedAccess access, std::uint32_t matrices) {
  if (executed == 0) return {};
  if (access == SharedAccess::matrix) return matrix_cost(addresses, matrices);

  const std::uint32_t words = std::max(1u, bytes / kSharedBankBytes);
  const std::uint32_t groups = words;  // 32 bits: one of 32 lanes; 64: two of 16; 128: four of 8
  const std::uint32_t group_lanes = kLanes / groups;
  const bool merges = access != SharedAccess::atomic && access != SharedAccess::copy;
  const bool once = access == SharedAccess::attempt;

  if (executed == kAllLanes && bytes >= kSharedBankBytes && contiguous(addresses, bytes))
    return {groups, groups};
  if (executed == kAllLanes && words == 1 && merges && all_equal(addresses)) return {1, 1};

  SharedCost cost;
  const std::uint32_t group_mask = group_lanes == kLanes ? kAllLanes : (1u << group_lanes) - 1;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const std::uint32_t lanes =
        executed & static_cast<std::uint32_t>(std::uint64_t{group_mask} << (group * group_lanes));
    if (lanes == 0) continue;
    ++cost.ideal;
    cost.wavefronts += once ? 1 : group_passes(addresses, lanes, words, merges);
  }
  // Two neighbouring groups go as one: half the warp at 128 bits, all of it at 64.
  std::uint32_t merged = 0;
  for (std::uint32_t group = 0; group + 1 < groups; group += 2) {
    const std::uint32_t pair = 2 * group_lanes == kLanes ? kAllLanes : (1u << 2 * group_lanes) - 1;
    merged += (executed & pair << (group * group_lanes)) != 0;
  }
  const bool can_merge = access == SharedAccess::load && merged != 0 && cost.ideal > merged;
  if (can_merge && merges_below_floor(addresses, executed, words)) cost = {merged, merged};
  return cost;
}

}  // namespace foretrace::rules
