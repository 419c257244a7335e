// Whether a compare-and-swap finds what its warp had read, or another warp's came between, in the model's time.
//
// Models:  words that successful swaps changed, with the time of the last one; a swap fails for a word that was changed after its warp
//          had read it. What a round changed stays changed when the round is gone through again for the rest of its words.
// Ignores: changes by other writes than such swaps; values that change and change back. Of words whose marks meet (one in many
//          thousand that are changed at a time) the older is forgotten.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace foretrace::memory {

class Tries {
 public:
  struct Try {
    std::uint64_t line = 0;     ///< 32 words
    std::uint32_t words = 0;    ///< that are compared, bit w: word w of the line
    std::uint32_t changes = 0;  ///< of those: that get another value
    std::uint32_t asker = 0;    ///< the warp, among all of the chip
    std::uint64_t read = 0;     ///< when its values had been read, if the warp has not tried before
  };

  /// `marks`: changes that are remembered, a power of two.
  explicit Tries(std::uint32_t marks) : size_(marks) {}

  /// The swap is served at `now`, no earlier than others before it: whether it fails for a word.
  bool fails(const Try& swap, std::uint64_t now) {
    if (marks_.empty()) marks_.resize(size_);
    const auto open = open_.find({swap.asker, swap.line});
    const std::uint32_t done = open != open_.end() ? open->second : 0;
    Served& before = served(swap.asker);
    const std::uint64_t read = before.line == swap.line && before.at > swap.read ? before.at : swap.read;
    before = {swap.line, now};
    std::uint32_t succeeded = done;
    bool failed = false;
    for (std::uint32_t m = swap.words & ~done; m != 0; m &= m - 1) {
      const std::uint32_t bit = m & (~m + 1);
      Mark& mark = mark_of(swap.line * 32 + static_cast<unsigned>(__builtin_ctz(m)));
      const std::uint64_t word = swap.line * 32 + static_cast<unsigned>(__builtin_ctz(m)) + 1;
      if (mark.word == word && mark.changed > read) {
        failed = true;
        continue;
      }
      succeeded |= bit;
      if (swap.changes & bit) mark = {word, now};
    }
    if (failed) {
      open_[{swap.asker, swap.line}] = succeeded;
    } else if (open != open_.end()) {
      open_.erase(open);
    }
    return failed;
  }

 private:
  struct Mark {
    std::uint64_t word = 0;  // its number + 1; 0: none
    std::uint64_t changed = 0;
  };
  struct Served {
    std::uint64_t line = ~std::uint64_t{0}, at = 0;
  };
  struct Place {
    std::uint32_t asker = 0;
    std::uint64_t line = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Hash {
    std::size_t operator()(const Place& p) const {
      return static_cast<std::size_t>((p.line * 0x9E37'79B9'7F4A'7C15u) ^ p.asker);
    }
  };
  Mark& mark_of(std::uint64_t word) { return marks_[(word * 0x9E37'79B9'7F4A'7C15u >> 40) & (size_ - 1)]; }
  Served& served(std::uint32_t asker) {
    if (asker >= served_.size()) served_.resize(asker + 1);
    return served_[asker];
  }
  std::uint32_t size_;
  std::vector<Mark> marks_;     // by hash of the word; none before the first try
  std::vector<Served> served_;  // by asker: its last try
  std::unordered_map<Place, std::uint32_t, Hash>
      open_;  // words that rounds which are gone through again have changed
};

}  // namespace foretrace::memory
