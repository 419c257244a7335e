// Whether a compare-and-swap finds what its warp had read, or another warp's came between, in the model's time.
//
// Models:  words that successful swaps changed, with the time of the last one; a swap fails for a word that was changed after its warp
//          had read it. What succeeded stays so when the round is gone through again for the rest of its words.
// Ignores: changes by other writes than such swaps; values that change and change back. Of words whose marks meet (one in many
//          thousand that are changed at a time) the older is forgotten.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace foretrace::memory {

class Tries {
 public:
  struct Try {
    std::uint64_t line = 0;     ///< 32 words
    std::uint32_t words = 0;    ///< that are compared, bit w: word w of the line
    std::uint32_t changes = 0;  ///< of those: that get another value
    std::uint32_t asker = 0;    ///< the warp, a small number
    std::uint32_t round = 0;    ///< of the warp's: the same when it is gone through again
    std::uint64_t read =
        0;  ///< when its values had been read, no earlier than the warp's try before was served
  };

  /// `marks`: changes that are remembered, a power of two.
  explicit Tries(std::uint32_t marks) : size_(marks) {}

  /// The swap is served at `now`, no earlier than others before it: whether it fails for a word.
  bool fails(const Try& swap, std::uint64_t now) {
    if (marks_.empty()) marks_.resize(size_);
    std::uint32_t& done = done_of(swap);
    bool failed = false;
    for (std::uint32_t m = swap.words & ~done; m != 0; m &= m - 1) {
      const std::uint32_t bit = m & (~m + 1);
      const std::uint64_t word = swap.line * 32 + static_cast<unsigned>(std::countr_zero(m)) + 1;
      Mark& mark = marks_[(word * 0x9E37'79B9'7F4A'7C15u >> 40) & (size_ - 1)];
      if (mark.word == word && mark.changed > swap.read) {
        failed = true;
        continue;
      }
      done |= bit;
      if (swap.changes & bit) mark = {word, now};
    }
    return failed;
  }

 private:
  struct Mark {
    std::uint64_t word = 0;  // its number + 1; 0: none
    std::uint64_t changed = 0;
  };
  struct Asker {
    std::uint32_t round = ~0u;
    std::vector<std::pair<std::uint64_t, std::uint32_t>>
        done;  // lines of the round with their words that succeeded
  };
  std::uint32_t& done_of(const Try& swap) {
    if (swap.asker >= askers_.size()) askers_.resize(swap.asker + 1);
    Asker& asker = askers_[swap.asker];
    if (asker.round != swap.round) {
      asker.round = swap.round;
      asker.done.clear();
    }
    for (auto& [line, done] : asker.done) {
      if (line == swap.line) return done;
    }
    return asker.done.emplace_back(swap.line, 0).second;
  }

  std::uint32_t size_;
  std::vector<Mark> marks_;  // by hash of the word; none before the first try
  std::vector<Asker> askers_;
};

}  // namespace foretrace::memory
