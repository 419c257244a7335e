// What of that which loads wait for has been made, in the model's time.
//
// Models:  a write or an atomic is made when its home slice accepts it; a load that waits for it is answered with what was there when its slice looked
//          it up. Loads that wait for ever are let go: when for so long nothing has entered L2 but loads that wait, what they wait for
//          stands behind them (a trace replayed on a chip that holds fewer blocks at a time), and from then on nobody waits.
// Ignores: copies of far lines that a write has not reached yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "model/memory/tries.h"
#include "model/work/signal.h"

namespace foretrace::memory {

/// In Request::tells: a compare-and-swap of a loop that tries again (isa::RetryLoop); `signal` holds its words, see pack_try(), and bytes[0]
/// the number of the warp's round.
inline constexpr std::uint8_t kTries = 255;

/// Words of a line that are compared, and those of them that change, in the place of a signal.
inline work::Signal pack_try(std::uint32_t words, std::uint32_t changes) {
  work::Signal packed;
  packed.block = words;
  packed.warp = changes & (work::Signal::kWarps - 1);
  packed.number = changes / work::Signal::kWarps & work::Signal::kLast;
  return packed;
}

class Signals {
 public:
  /// L2 cycles in which nothing but loads that wait enters L2 before they are let go.
  static constexpr std::uint64_t kPatience = 1'000'000;

  /// What a packet tells, and what it waits for.
  struct Note {
    std::uint8_t tells = 0;  ///< as in Request
    bool early = false;      ///< looked up before all that it waits for was there
    work::Signal signal;
    std::uint64_t word = 0;  ///< of the counter
    std::vector<work::Awaited> awaited;
    Tries::Try swap = {};  ///< tells == kTries
  };
  /// A number above zero, kept until give_back().
  std::uint32_t take(const Note& note) {
    awaited_ = awaited_ || !note.awaited.empty();
    if (free_.empty()) {
      notes_.push_back(note);
      return static_cast<std::uint32_t>(notes_.size());
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    notes_[number - 1] = note;
    return number;
  }
  void give_back(std::uint32_t number) { free_.push_back(number); }
  const Note& note(std::uint32_t number) const { return notes_[number - 1]; }

  /// Something that does not wait enters L2 in cycle `now`.
  void moves(std::uint64_t now) { moved_ = now; }
  /// The write of the packet with this note is made in L2 cycle `now`.
  void make(std::uint32_t number, std::uint64_t now) {
    if (note(number).tells == 0) return;
    moved_ = now;
    if (note(number).tells == kTries) return;
    if (note(number).tells > 1) {
      ++counts_[note(number).word];
      return;
    }
    const work::Signal& signal = note(number).signal;
    std::uint32_t& through = through_[key(signal)];
    if (signal.number != through) {
      ahead_.insert({key(signal), signal.number});
      return;
    }
    ++through;
    while (!ahead_.empty() && ahead_.erase({key(signal), through}) != 0) ++through;
  }
  /// The load or atomic with this note is looked up in L2 cycle `now`: whether that is too early. Such an atomic changes nothing.
  bool look(std::uint32_t number, std::uint64_t now) {
    Note& note = notes_[number - 1];
    if (note.tells == kTries) {
      note.early = tries_.fails(note.swap, now);
      return note.early;
    }
    if (note.awaited.empty()) return false;
    if (now > moved_ + kPatience) let_go_ = true;
    note.early = false;
    for (const work::Awaited& each : note.awaited) note.early = note.early || !made(each);
    return note.early;
  }
  bool made(const work::Awaited& awaited) const {
    if (let_go_) return true;
    if (awaited.count != 0) {
      const auto counted = counts_.find(awaited.word);
      return counted != counts_.end() && counted->second >= awaited.count;
    }
    const work::Signal& signal = awaited.by;
    const auto found = through_.find(key(signal));
    return (found != through_.end() && signal.number < found->second) ||
           ahead_.count({key(signal), signal.number}) != 0;
  }
  /// Whether there is a load that waits, in this launch.
  bool awaited() const { return awaited_; }
  bool let_go() const { return let_go_; }
  /// A new launch.
  void restart() { *this = {}; }

 private:
  struct Ahead {
    std::uint64_t warp = 0;
    std::uint32_t number = 0;
    friend bool operator==(const Ahead&, const Ahead&) = default;
  };
  struct Hash {
    std::size_t operator()(const Ahead& a) const {
      return static_cast<std::size_t>((a.warp * 0x9E37'79B9'7F4A'7C15u) ^ a.number);
    }
  };
  static std::uint64_t key(const work::Signal& signal) {
    return std::uint64_t{signal.block} * work::Signal::kWarps + signal.warp;
  }

  std::unordered_map<std::uint64_t, std::uint32_t> through_;  // by warp: its writes before this one are made
  std::unordered_set<Ahead, Hash> ahead_;                     // made, beyond those
  std::unordered_map<std::uint64_t, std::uint32_t> counts_;   // by word: atomics made
  std::vector<Note> notes_;
  std::vector<std::uint32_t> free_;
  static constexpr std::uint32_t kMarks = 1u << 16;
  Tries tries_{kMarks};
  std::uint64_t moved_ = 0;
  bool awaited_ = false, let_go_ = false;
};

}  // namespace foretrace::memory
