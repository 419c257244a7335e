// The slices' ports: how long each packet keeps its slice, and when its turn is.
//
// Models:  a slice moves so many bytes per cycle, read or written, and looks for the line of a read or write in its tags one after the other.
//          Sectors take whole cycles, as writes those of reads, but come in at `write_cost` times that; parts of sectors take all of that. A
//          read of data that the other partition's slice has takes little; a write that is part of a sector its place in the lines; an
//          atomic what it adds up takes at its home, longer the more of the last ones were on its line, and less where it is passed on. A store
//          of parts of sectors to a far line takes its time in a copy as well (whole ones leave one and take none). So does what completes a
//          sector that was partly written, before it is saved.
// Ignores: the data array's time for fills; atomics' share of the tags' time.
// Source:  atomic_forms, mixed_atomics, hot_stores, first_reads, lone_loads, sides on H100, shared_lines, epilogues, tag_looks, update_grids,
//          cold_units on H200; values in configs/ under l2.
// Time:    L2 cycles.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "model/memory/line_turns.h"
#include "model/memory/partial_writes.h"
#include "model/memory/port.h"
#include "model/memory/shared.h"
#include "model/memory/sm_link.h"

namespace foretrace::memory {

class SlicePorts {
 public:
  explicit SlicePorts(Shared& shared);

  /// The cycle in which a read has its turn. `here`: the slice has its data, or is their home; else the other partition's has.
  std::uint64_t pass_read(const Transaction& read, bool here) {
    const std::uint32_t slice = shared_.slice_of(read);
    const std::uint32_t bytes = here ? in_cycles(sector_count(read.sectors)) : read_pass_bytes_;
    return take_turn(slice, read.at != read.near, std::max(pass(slice, bytes), look(slice)), bytes,
                     line_of(shared_.set_of(read), read.tag), LineTurns::Access::read);
  }
  std::uint64_t pass_atomic(const Transaction& atomic) {
    const std::uint32_t slice = shared_.slice_of(atomic);
    const std::uint32_t bytes = at_home(atomic) ? home_work(atomic) : atomic.visits * atomic_pass_bytes_;
    return take_turn(slice, atomic.at != atomic.near, pass(slice, bytes), bytes,
                     line_of(shared_.set_of(atomic), atomic.tag), LineTurns::Access::atomic);
  }
  struct Turn {
    std::uint64_t cycle = 0;  ///< in which it passes
    std::uint64_t until = 0;  ///< up to which what it does keeps a slice, its home's too
  };
  /// `follows`: the slice has a copy of the far line, in which it writes parts of sectors as if they were whole.
  Turn pass_write(const Event& write, bool follows) {
    const std::uint32_t slice = shared_.slice_of(write);
    const std::uint32_t sectors = sector_count(write.sectors());
    const bool partly = write.flits() > sectors, writes = write.at_home() || (follows && partly);
    const std::uint32_t flits = write.at_home() ? write.flits() : sectors;
    // A slice that only passes it on gives it a look at its tags, no other time, and its turn.
    std::uint32_t bytes = 0;
    if (writes) bytes = partly ? write_bytes_[flits] : in_cycles(flits);
    std::uint64_t ready = std::max(pass(slice, bytes), look(slice));
    if (writes) ready = std::max(ready, writes_[slice].pass(shared_.now, write_bytes_[flits]));
    std::uint64_t turn = take_turn(slice, write.at() != write.near(), ready, bytes,
                                   line_of(shared_.set_of(write), write.tag()), LineTurns::Access::write);
    if (write.at_home()) {
      if (partly) turn = partial_writes_[slice].pass(turn, write.sectors(), shared_.spec.l2.partly_interval);
      return {turn, turn};
    }
    const std::uint32_t home_slice = shared_.map.slice(write.home(), write.slice_index());
    std::uint64_t until = std::max({turn, port_[home_slice].last(), tags_[home_slice].last(),
                                    writes_[home_slice].last(), line_turns_[home_slice].last(1)});
    if (partly) until = std::max(until, partial_writes_[home_slice].free(write.sectors()));
    return {turn, until};
  }
  /// So many partly written sectors are completed.
  void complete(std::uint32_t slice, std::uint32_t sectors) { pass(slice, sectors * completion_bytes_); }
  /// Until when a slice has work.
  std::uint64_t last(std::uint32_t slice) const { return port_[slice].last(); }
  void restart();
  /// What is known of single slices only.
  void count(stats::MemoryCounters& counters) const;

 private:
  /// The atomics that a slice had last at home.
  struct LastAtomics {
    static constexpr std::uint32_t kKept = 8;
    LastAtomics() { lines.fill(~std::uint64_t{0}); }
    std::array<std::uint64_t, kKept> lines;  // a ring; no line's number at first
    std::size_t next = 0;                    // in it
    std::uint64_t sectors = 0;               // of the last one
    bool answered = false;                   // same
  };
  std::uint64_t pass(std::uint32_t slice, std::uint32_t bytes) {
    Port& port = port_[slice];
    bytes_[slice] += bytes;
    shared_.counters.l2_slice_busy += (bytes + port.width() - 1) / port.width();
    return port.pass(shared_.now, bytes);
  }
  /// Bytes of so many sectors, those of whole cycles.
  std::uint32_t in_cycles(std::uint32_t sectors) const {
    const std::uint32_t width = shared_.spec.l2.slice_bytes;
    return (sectors * kSectorBytes + width - 1) / width * width;
  }
  /// A request looks for its line.
  std::uint64_t look(std::uint32_t slice) {
    return tags_[slice].pass(shared_.now, shared_.spec.l2.tag_interval);
  }
  static std::uint64_t line_of(std::uint32_t set, std::uint32_t tag) {
    return std::uint64_t{tag} << 32 | set;
  }
  std::uint64_t take_turn(std::uint32_t slice, bool from_other, std::uint64_t ready, std::uint32_t bytes,
                          std::uint64_t line, LineTurns::Access access) {
    return line_turns_[slice].pass(from_other, ready, bytes, line, access, shared_.spec.l2.line_turnaround);
  }
  /// Bytes that its home slice could read while it works on an atomic: longer where its last ones were on the same line.
  std::uint32_t home_work(const Transaction& atomic) {
    const std::uint64_t line = line_of(shared_.set_of(atomic), atomic.tag);
    const std::uint64_t sectors = line * 16 | atomic.sectors;
    LastAtomics& last = last_atomics_[shared_.slice_of(atomic)];
    const bool answered = atomic.kind == Transaction::Kind::atomic;
    std::uint32_t bytes = atomic.home_bytes;
    if (atomic.again_bytes != 0) {
      const auto same = static_cast<std::uint32_t>(std::count(last.lines.begin(), last.lines.end(), line));
      bytes += atomic.lone * atomic.again_bytes * same / LastAtomics::kKept;
    }
    if (last.sectors == sectors && last.answered != answered) bytes += atomic.turn_bytes;
    last.lines[last.next++ % LastAtomics::kKept] = line;
    last.sectors = sectors;
    last.answered = answered;
    return bytes;
  }

  Shared& shared_;
  const std::uint32_t atomic_pass_bytes_,
      read_pass_bytes_;                   // of the slice beside the SM: of a sector, of a read
  const std::uint32_t completion_bytes_;  // of a partly written sector
  std::array<std::uint32_t, kWriteFlits>
      write_bytes_{};         // that a slice could read in the time in which it writes so many flits at home
  std::vector<Port> port_;    // by slice
  std::vector<Port> writes_;  // by slice: at home
  std::vector<Port> tags_;    // by slice: looks for lines
  std::vector<std::uint64_t> bytes_;       // by slice: that it could have read in the time of all that it did
  std::vector<LastAtomics> last_atomics_;  // by slice
  std::vector<PartialWrites> partial_writes_;  // by slice
  std::vector<LineTurns> line_turns_;          // by slice
};

}  // namespace foretrace::memory
