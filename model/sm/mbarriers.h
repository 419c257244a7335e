// The barriers in shared memory (mbarriers) of an SM's blocks: what they still wait for, and who waits for them.
//
// Models:  expected and pending arrivals, the transaction count, the phase's parity; a phase ends when nothing is pending and the count
//          is 0; a wait for the parity of the phase that is under way lasts until it has ended.
// Ignores: a barrier that the record does not begin (its word was made some other way): nobody waits for it.
// Source:  PTX ISA, mbarrier; our probe kernels (docs/facts.md).
#pragma once

#include <cstdint>
#include <vector>

#include "model/isa/asynchronous.h"

namespace foretrace::sm {

class Mbarriers {
 public:
  explicit Mbarriers(std::size_t blocks) : of_(blocks) {}

  /// `expected` arrivals a phase; 0: no barrier any more.
  void begin(std::uint32_t block, std::uint32_t offset, std::uint32_t expected);
  /// `times` equal arrivals. Appends the tickets of waits that end with it.
  void arrive(std::uint32_t block, std::uint32_t offset, const isa::Arrival& arrival, std::uint32_t times,
              std::vector<std::uint32_t>& ended);
  /// Whether a wait for the phase of that parity is over; if not, the ticket is kept until it is.
  bool wait(std::uint32_t block, std::uint32_t offset, bool parity, std::uint32_t ticket);
  /// A block has ended: nothing of it is left.
  void forget(std::uint32_t block) { of_[block].clear(); }
  /// Ends all waits: nothing else will.
  void let_go(std::vector<std::uint32_t>& ended);

 private:
  struct Waiting {
    std::uint32_t ticket = 0;
    bool parity = false;
  };
  struct Barrier {
    std::uint32_t offset = 0;
    std::int64_t expected = 0, pending = 0, transactions = 0;
    bool parity = false;  // of the phase that is under way
    std::vector<Waiting> waiting;
  };
  Barrier* find(std::uint32_t block, std::uint32_t offset);

  std::vector<std::vector<Barrier>> of_;  // by block; few each
};

}  // namespace foretrace::sm
