// What a warp may wait for: a certain write, or so many atomics of a counter.
//
// Models:  writes by name, which execution of which warp: strong stores and those behind a fence, exchanges, compare-and-swaps and such are counted in every warp,
//          in programs with spin loops. Nothing has to be marked in the writer's record. Other atomics whose lanes all go to one word
//          (those that arrive at a barrier) have no name: any of them will do, in whatever order they come; they are counted for the word.
// Ignores: writes that are neither strong, as the compiler sees them, nor behind a fence.
#pragma once

#include <cstdint>

namespace foretrace::work {

struct Signal {
  static constexpr std::uint32_t kWarps = 32;             ///< of a block, at most
  static constexpr std::uint32_t kLast = (1u << 27) - 1;  ///< of a warp's executions; later ones have no name
  std::uint32_t block = 0;
  std::uint32_t warp : 5 = 0;
  std::uint32_t number : 27 = 0;  ///< of the warp's writes that have a name, from 0
  friend bool operator==(const Signal&, const Signal&) = default;
};
static_assert(sizeof(Signal) == 8);

struct Awaited {
  std::uint32_t count = 0;  ///< so many counted atomics of `word` since the launch began; 0: the write `by`
  Signal by;
  std::uint64_t word = 0;  ///< byte address / 4
  friend bool operator==(const Awaited&, const Awaited&) = default;
};

}  // namespace foretrace::work
