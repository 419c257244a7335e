// What an SM sends: a request becomes a packet, passes the SM's port, and is on its way to its first slice.
//
// Models:  the SM's port, which writes and atomics take by their flits of 32 bytes, everything else for a cycle; the network's latency;
//          for how long an atomic will keep its home slice, by what it adds up.
// Ignores: whether the way is open where it ends (sm_ways.h).
// Time:    requests come in SM cycles, packets arrive in L2 cycles.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/memory/port.h"
#include "model/memory/shared.h"

namespace foretrace::memory {

/// A write has fewer flits: its sectors, and one that says which of their bytes.
inline constexpr std::uint32_t kWriteFlits = 8;

class SmLink {
 public:
  explicit SmLink(Shared& shared);

  /// As MemorySystem::submit(): the packet arrives at its first slice.
  void submit(const Request& request, std::span<const work::Awaited> awaited);
  /// Packets at their first slice, in order of submission.
  support::Calendar<Event>& arrivals() { return arrivals_; }
  const support::Calendar<Event>& arrivals() const { return arrivals_; }
  void restart();

 private:
  /// Bytes that a slice could read while it works on a sector of an atomic packet.
  struct AtomicWork {
    std::uint32_t several = 0;  ///< words of it
    std::uint32_t lone = 0;     ///< a packet of a single word
    std::uint32_t again = 0;    ///< same, if all of the slice's last ones were on its line
    std::uint32_t turn =
        0;  ///< more there, behind a packet that wants an answer where this one wants none, or the other way
  };
  static std::array<AtomicWork, spec::kAtomicDataKinds> atomic_work(const spec::L2Spec& l2);
  Passage passage_of(const Request& request) const;
  std::uint32_t note_of(const Request& request, std::span<const work::Awaited> awaited);
  EventKind first_event(std::uint64_t line) const {
    return shared_.peer != nullptr && shared_.peer->holds(line) ? EventKind::peer : EventKind::arrive;
  }
  void submit_write(const Request& request, Passage passage, std::uint32_t note);
  void describe_atomic(const Request& request, Transaction& transaction);
  void leave(const Request& request, std::uint32_t bytes, const Event& arrives);

  Shared& shared_;
  const std::array<AtomicWork, spec::kAtomicDataKinds> atomic_work_;
  std::vector<Port> port_;  // by SM
  support::Calendar<Event> arrivals_;
  std::uint64_t order_ = 0;
};

}  // namespace foretrace::memory
