// The memory queues of an SM's sub-cores, their address generators, and the arbiter that the SM's memory unit takes instructions by.
//
// Models:  a queue per sub-core that holds an instruction until the memory unit takes it; one address generator per sub-core, which is
//          faster for shared memory and uniform addresses, and behind which a store's registers are read; one instruction per interval at
//          the memory unit, sub-cores served in turn, past those whose first cannot go; a store that cannot go holds up all of them.
// Source:  HUE Tables 1 and 2 (docs/sources.md); our issue_queue on H100, store_sources on H200; row_hits on H200: sub-cores that load from
//          global or shared memory keep step with those that store.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "model/spec/gpu_spec.h"
#include "model/units/error.h"
#include "model/units/units.h"

namespace foretrace::sm {

class MemoryQueues {
 public:
  static constexpr std::uint32_t kMost = 16;  ///< instructions that a queue can hold
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit MemoryQueues(const spec::LsuSpec& spec) : spec_(spec) {
    FORETRACE_ASSERT(spec.queue <= kMost, "a memory queue has at most 16 entries");
  }

  bool has_room(int sub_core) const { return queues_[sub_core].size < spec_.queue; }

  /// When the address of an instruction is generated, and when the memory unit can take it.
  struct Address {
    Cycle start = 0, ready = 0;
  };
  /// An instruction that is issued at `now` enters, and takes the way in for so many cycles; there must be room.
  Address enter(int sub_core, std::uint32_t operation, Cycle takes, Cycle now) {
    Queue& queue = queues_[static_cast<std::size_t>(sub_core)];
    Address address;
    address.start = std::max(now + spec_.issue_latency, queue.generator_free);
    queue.generator_free = address.start + takes;
    address.ready = address.start + spec_.address_latency;
    queue.entries[(queue.first + queue.size) % kMost] = {operation, address.ready};
    ++queue.size;
    queued_ |= 1u << sub_core;
    return address;
  }

  /// When the memory unit takes another.
  Cycle free() const { return arbiter_free_; }
  enum class Turn { goes, is_passed, holds_up };
  /// The one that the memory unit takes at `now`, of the first of each queue as turn_of(operation) says; kNone: none.
  template <typename TurnOf>
  std::uint32_t take(Cycle now, TurnOf&& turn_of) {
    if (queued_ == 0 || arbiter_free_ > now) return kNone;
    for (int i = 0; i < kSubCores; ++i) {
      const int sub_core = (turn_ + i) % kSubCores;
      if ((queued_ >> sub_core & 1) == 0) continue;
      Queue& queue = queues_[static_cast<std::size_t>(sub_core)];
      const Entry entry = queue.entries[queue.first];
      if (entry.ready > now) continue;
      const Turn turn = turn_of(entry.operation);
      if (turn == Turn::holds_up) return kNone;
      if (turn == Turn::is_passed) continue;
      queue.first = (queue.first + 1) % kMost;
      if (--queue.size == 0) queued_ &= ~(1u << sub_core);
      turn_ = (sub_core + 1) % kSubCores;
      arbiter_free_ = now + spec_.sm_interval;
      return entry.operation;
    }
    return kNone;
  }
  /// Calls look(operation, when) for the first of each queue; `when`: the memory unit could take it then, after `now`.
  template <typename Look>
  void for_each_first(Cycle now, Look&& look) const {
    for (std::uint32_t m = queued_; m; m &= m - 1) {
      const Queue& queue = queues_[static_cast<std::size_t>(std::countr_zero(m))];
      const Entry& entry = queue.entries[queue.first];
      look(entry.operation, std::max({entry.ready, arbiter_free_, now + 1}));
    }
  }

 private:
  struct Entry {
    std::uint32_t operation = 0;
    Cycle ready = 0;  // its address is there
  };
  struct Queue {
    std::array<Entry, kMost> entries{};
    std::uint32_t first = 0, size = 0;
    Cycle generator_free = 0;
  };
  const spec::LsuSpec& spec_;
  std::array<Queue, kSubCores> queues_{};
  Cycle arbiter_free_ = 0;
  std::uint32_t queued_ = 0;  // sub-cores whose queues hold something
  int turn_ = 0;
};

}  // namespace foretrace::sm
