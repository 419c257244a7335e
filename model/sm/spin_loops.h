// Warps in spin loops: a round is executed again as long as a load of it comes too early.
//
// Models:  a record holds the last round of a wait. Whether a load came too early is known when the loop's branch issues, which needs
//          what was loaded; the warp then goes back to where the round began, in its record as on the chip. The load before a loop is on
//          record as if it had come too early: where it has not, the loop is left out.
// Note:    model/memory/signals.h says when what a load waits for has been written.
#pragma once

#include <cstdint>
#include <vector>

#include "model/isa/spin_loops.h"
#include "model/sm/warp_table.h"

namespace foretrace::sm {

class SpinLoops {
 public:
  SpinLoops(const SmContext& context, const Blocks& blocks, MemoryPipe& memory)
      : context_(context), blocks_(blocks), memory_(memory),
        rounds_(context.program.shapes.loops.empty() ? 0 : kSubCores * kWarpSlots) {}

  /// Whether the program has spin loops; nothing else may be asked where it has none.
  bool any() const { return !rounds_.empty(); }
  /// A warp that starts, its first instruction read.
  void start_warp(Warp& warp, std::uint16_t id) {
    rounds_[id] = {};
    begin(warp, id);
  }
  /// After the issue of `done`: reads the warp's next instruction, in its record or of the round that it goes through again. False: there
  /// is none.
  bool next_step(Warp& warp, std::uint16_t id, const work::Step& done);
  /// What the warp's access to memory has to do with other warps.
  void tell_and_wait(Warp& warp, std::uint16_t id, MemoryIssue& issued);
  /// What loads of the warp wait for, in the round that it is in.
  const std::vector<work::Awaited>& awaited(std::uint32_t id) const { return rounds_[id].awaited; }

 private:
  struct Round {
    const isa::SpinLoop* loop = nullptr;  // that the warp is in; null: in none
    bool whole = false;                   // its lanes have stayed together so far
    bool again = false;                   // it is executed again: what other lanes did in between is done
    work::WarpCursor cursor;              // as it began
    work::Step first;
    std::uint32_t signals = 0, signals_before = 0;  // that the warp has given, and had when the round began
    std::vector<work::Awaited> awaited;
  };
  void begin(Warp& warp, std::uint16_t id);
  bool skip(Warp& warp, Round& round);
  bool names_write(const Warp& warp, std::uint64_t& counter) const;
  void look_ahead(const Warp& warp, const isa::SpinLoop& loop, std::vector<work::Awaited>& awaited) const;

  const SmContext& context_;
  const Blocks& blocks_;
  MemoryPipe& memory_;
  std::vector<Round> rounds_;  // by warp
};

}  // namespace foretrace::sm
