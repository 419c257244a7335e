#include "model/sm/swaps.h"

#include <bit>

#include "model/memory/signals.h"

namespace foretrace::sm {

namespace {

/// Words of a line of 32, and those of lanes `changes` among them.
struct Words {
  std::uint32_t compared = 0, changed = 0;
};
Words words_of(const work::LaneAddresses& addresses, std::uint32_t lanes, std::uint32_t changes,
               std::uint64_t line) {
  Words words;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    if (addresses[lane] / kLineBytes != line) continue;
    const std::uint32_t bit = 1u << (addresses[lane] % kLineBytes / 4);
    words.compared |= bit;
    if (changes >> lane & 1) words.changed |= bit;
  }
  return words;
}

}  // namespace

void put_try(memory::Request& request, const Swap& swap, const work::LaneAddresses& addresses,
             std::uint32_t executed) {
  const Words words = words_of(addresses, executed, swap.changes, request.line);
  request.tells = memory::kTries;
  request.waits = static_cast<std::uint8_t>(swap.warp + 1);
  request.signal = memory::pack_try(words.compared, words.changed);
  request.bytes[0] = swap.round;
}

bool SharedSwaps::access(const Swap& swap, std::uint16_t warp, const work::LaneAddresses& addresses,
                         std::uint32_t executed, Cycle now) {
  if (read_.empty()) return false;
  bool fails = false;
  for (std::uint32_t left = swap.tries ? executed : 0; left != 0;) {
    const std::uint64_t line = addresses[static_cast<unsigned>(std::countr_zero(left))] / kLineBytes;
    const Words words = words_of(addresses, left, swap.changes, line);
    const memory::Tries::Try each{(std::uint64_t{swap.block} << 32) + line,
                                  words.compared,
                                  words.changed,
                                  warp,
                                  swap.round,
                                  read_[warp]};
    fails = tries_.fails(each, now) || fails;
    for (std::uint32_t m = left; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      if (addresses[lane] / kLineBytes == line) left &= ~(1u << lane);
    }
  }
  read_[warp] = now;
  return fails;
}

}  // namespace foretrace::sm
