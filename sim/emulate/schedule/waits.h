// Whom a warp waits for: what was written where, and without which write a spin loop would not have ended.
//
// Models:  a spin loop (isa::SpinLoop) that ends was let go by one write per place: the earliest after which the loop would have
//          ended, found by running a round again, with the place's former values, as if nothing had happened in between. Where that is
//          an atomic that counts, any will do: it is waited for so many of them. So it is, too, where
//          the writer had been told by a counter that it came last. A round that does not end the loop is no part of the
//          record: how often it is run is the emulator's order, and nobody's business.
// Ignores: writes that are neither strong nor behind a fence, writes of less than four bytes, what was written by the warp itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/work/signal.h"

namespace foretrace::emulate {

/// What the words of global memory held, one after another, since a launch's begin. For one thread.
class WriteHistory {
 public:
  struct Entry {
    std::uint32_t value = 0;
    bool known = false;  ///< false: what was there before, by nobody of this launch
    work::Awaited by;
    work::Awaited
        seen;  ///< what a counter had told the writer (count 0: nothing): who came last lets the others go
  };
  using Entries = std::vector<Entry>;

  /// What stands in a word that is about to be written for the first time; else nothing.
  void begin(std::uint64_t word, std::uint32_t value);
  /// What a write left in consecutive words, after begin() for each. Where it changed none of them, it was no write.
  void add(std::uint64_t word, const std::uint32_t* values, std::uint32_t words, work::Signal by,
           const work::Awaited& seen);
  /// The same of an atomic that counts, which is one also where it changes nothing; how many there were.
  std::uint32_t count(std::uint64_t word, const std::uint32_t* values, std::uint32_t words);
  /// Oldest first, the first one by nobody; null: nobody has written the word.
  const Entries* of(std::uint64_t word) const;

 private:
  static constexpr std::size_t kLongest = std::size_t{1}
                                          << 16;  // writes of a word that are kept: the last ones
  struct Word {
    Entries entries;
    std::uint32_t counted = 0;
  };
  void put(std::uint64_t word, const std::uint32_t* values, std::uint32_t words, Entry entry);
  std::unordered_map<std::uint64_t, Word> words_;
};

}  // namespace foretrace::emulate
