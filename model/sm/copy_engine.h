// The copy engine (TMA) of an SM: copies between global and shared memory that go on behind the warps' backs.
//
// Models:  one copy after another, a row of its box (or a line of a longer row) every so many cycles; loads ask L2 for the sectors of
//          each row and bring them into shared memory at a bounded rate; stores and reductions take the SM's way out, 32 bytes per cycle;
//          rows outside of a tensor take their turn and ask for nothing.
// Ignores: L1, which copies do not touch; fetches of tensor maps; what a prefetch spares (its answer takes the way of a load's).
// Source:  docs/sources.md:TENSOR-H100 4.2.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/sm/data_stage.h"
#include "model/sm/events.h"
#include "model/sm/outgoing_requests.h"
#include "model/spec/gpu_spec.h"
#include "model/work/transfer.h"

namespace foretrace::sm {

class CopyEngine {
 public:
  /// Marks ids of its requests among those of an SM; a multicast's answers go to other SMs as well.
  static constexpr std::uint32_t kMark = 0x1000'0000, kToOthers = 0x0800'0000;

  /// Whose a copy is, and what is told when it is done.
  struct Job {
    work::Transfer transfer;
    std::uint32_t block = 0;   ///< its slot in the SM
    std::uint64_t serial = 0;  ///< which block that was
    std::uint16_t warp = 0;
    std::uint32_t generation = 0;
    std::uint8_t group = 0;  ///< stores: of the warp's groups
    bool to_others = false;  ///< loads: to blocks on other SMs
    bool to_self = true;     ///< loads: to the block itself
    std::size_t run = 0;     ///< how far it has come
    std::uint32_t piece = 0, byte = 0;
    std::uint32_t steps = 0, waiting = 0;
    bool asked = false, used = false;
  };

  CopyEngine(const spec::GpuSpec& spec, DataStage& data, OutgoingRequests& out, Events& events)
      : spec_(spec), data_(data), out_(out), events_(events) {}

  /// A copy is issued at `now`. Returns its job's number.
  std::uint32_t start(Job job, Cycle now);
  /// Event::Kind::copy_step: the next row.
  void step(Cycle now);
  /// The answer to request `id` stands at the SM's port; returns when it is in shared memory.
  Cycle arrive(std::uint32_t id, Cycle now);
  /// It is there.
  void filled(std::uint32_t id, Cycle now);
  /// Bytes of another SM's multicast stand at the SM's port; returns when they are in shared memory.
  Cycle bring(std::uint32_t bytes, Cycle now);
  const Job& job(std::uint32_t number) const { return jobs_[number]; }
  /// What Event::Kind::copy_told was for is done with.
  void finish(std::uint32_t number);
  /// Of a request whose answer goes to other SMs: its bytes, and its copy.
  struct Piece {
    std::uint32_t job = 0, bytes = 0;
    bool last = false;
  };
  const Piece& piece(std::uint32_t id) const { return pieces_[id & kIndex]; }
  bool idle() const { return live_ == 0; }

 private:
  static constexpr std::uint32_t kIndex = kToOthers - 1;
  bool next_line(Job& job, std::uint64_t& address, std::uint32_t& bytes) const;
  void ask(std::uint32_t number, std::uint64_t address, std::uint32_t bytes, Cycle now);
  void end_asking(std::uint32_t number, Cycle now);

  const spec::GpuSpec& spec_;
  DataStage& data_;
  OutgoingRequests& out_;
  Events& events_;
  std::deque<Job> jobs_;
  std::vector<std::uint32_t> free_jobs_;
  std::deque<std::uint32_t> queue_;  // jobs that are not asked for in full
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> free_pieces_;
  std::uint32_t live_ = 0;
  bool stepping_ = false;
  Cycle free_at_ = 0;
  double fill_free_ = 0;
};

}  // namespace foretrace::sm
