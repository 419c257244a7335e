// What leaves an SM for L2: loads, stores, and stores that wait for others to the same lines.
//
// Models:  one flit of 32 bytes per cycle, a read's address alone likewise; stores in flight are bounded in sectors, from when they are
//          held until they are acknowledged; held stores leave one by one, each when it is due, the way is free and not full of what L2 has not
//          done; while much is to leave no store comes.
// Ignores: the number of loads in flight, which is bounded where they miss (misses.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/memory/memory_system.h"
#include "model/sm/store_buffer.h"
#include "model/sm/store_fences.h"
#include "model/spec/gpu_spec.h"
#include "model/units/error.h"
#include "model/units/units.h"

namespace foretrace::sm {

class OutgoingRequests {
 public:
  /// Requests are put into `outbox` in order of time, as those of the SM with this number.
  OutgoingRequests(const spec::L1Spec& spec, std::uint32_t sm, std::vector<memory::Request>& outbox)
      : most_store_sectors_(spec.store_sectors_in_flight), sm_(sm), outbox_(outbox),
        held_(spec.store_lines, spec.store_cycles, spec.store_line_cycles, spec.store_merge_cycles,
              WayPieces(spec)),
        way_ahead_(spec.store_way_ahead) {}

  /// From when on a store may be looked up in L1: what leaves before it has left then, or will soon.
  Cycle takes_stores_from() const { return last_out_ > way_ahead_ ? last_out_ - way_ahead_ : 0; }
  /// Whether another store instruction may come.
  bool store_room() const { return store_sectors_ < most_store_sectors_; }
  /// A read or an atomic, whose answer is known by `id`.
  void send_load(const memory::Request& load, std::uint32_t id, Cycle now) {
    leave_due(now);
    ++under_way_;
    leave(load, now).id = id;
  }
  /// A store of the memory pipe, of an instruction that writes so many lines. `way_pieces`: what it takes of the way to L2 (store_way.h),
  /// which acknowledged() returns.
  void send_store(const memory::Request& store, Cycle now, std::uint32_t lines = 1,
                  std::uint32_t way_pieces = 0) {
    send(store, now, way_pieces);
    if (store.kind == memory::RequestKind::write)
      left_.push_back({store.line, last_out_ + held_.time_of(lines), store.sectors});
  }
  /// A store of the copy engine, which L1 has nothing to do with. Returns when the next one can follow.
  Cycle send_copied_store(memory::Request store, Cycle now) {
    if (store.flits == 0) store.flits = memory::write_flits(store.sectors, store.bytes);
    send(store, now, 0);
    return last_out_ + 1;
  }
  /// A read of the copy engine, which sees to the answer itself.
  void send_copied_load(const memory::Request& load, Cycle now) { leave(load, now); }
  /// What send_load() sent has been answered.
  void answered() { --under_way_; }
  /// What was sent as a store with this id is done. Returns its `way_pieces`.
  std::uint32_t acknowledged(std::uint32_t id) {
    store_sectors_ -= id & kSectorsOfId;
    --under_way_;
    fences_.acknowledged(id >> kFenceShift & (StoreFences::kMarks - 1));
    return id >> kPiecesShift & kPiecesOfId;
  }

  /// When the next held store can leave, kNever if none is held.
  Cycle held_due() const { return held_.due() == kNever ? kNever : std::max(held_.due(), free()); }
  /// Stores that wait for others to their lines; hold() as in StoreBuffer.
  const StoreBuffer& held() const { return held_; }
  /// Returns what it takes more of the way to L2, which acknowledged() returns when its line is done.
  std::uint32_t hold(std::uint16_t warp, const memory::Request& store, std::uint32_t lines, Cycle now) {
    const StoreBuffer::Added added =
        held_.hold(warp, store, lines, now,
                   [&](const memory::Request& other, Cycle due) { leave_held(other, now, due); });
    store_sectors_ += added.sectors;
    return added.pieces;
  }
  /// The warp's store instruction ends: what it did not write and the warp wrote before leaves.
  void end_instruction(std::uint16_t warp, Cycle now) {
    held_.end_instruction(warp, now,
                          [&](const memory::Request& store, Cycle due) { leave_held(store, now, due); });
  }
  /// Held stores that are due leave, each when it is.
  void leave_due(Cycle now) {
    held_.leave_due(
        now, [&] { return free(); },
        [&](const memory::Request& store, Cycle when, Cycle due) { leave_held(store, when, due); });
  }
  /// All held stores leave.
  void leave_all(Cycle now) {
    leave_due(now);
    held_.leave_all([&](const memory::Request& store, Cycle due) { leave_held(store, now, due); });
  }
  /// Fences of the device, for which all held stores leave before.
  StoreFences& fences() { return fences_; }
  /// Calls go_on(line, sectors, out) for each store that has left since the last call, or will have at `out`: not before the time that it would
  /// have waited, if nothing had sent it off (H100, store_order: 32 lines are still on their way after 58 cycles).
  template <typename GoOn>
  void for_each_left(GoOn&& go_on) {
    for (const Left& left : left_) go_on(left.line, left.sectors, left.out);
    left_.clear();
  }
  /// From `now` on: while the way to L2 is full, lines that are held do not leave by themselves. Whether they can again.
  bool way_is_full(bool full, Cycle now) {
    const bool opens = way_full_ && !full;
    if (opens) opened_ = now;
    way_full_ = full;
    held_.stays(full);
    return opens;
  }
  /// Whether lines wait for the way to L2, which way_is_full() then has to be told of in time.
  bool held_wait() const { return way_full_ && held_.due() != kNever; }
  /// When the last flit left.
  Cycle last_out() const { return last_out_; }
  /// Nothing held, unanswered or unacknowledged.
  bool idle() const { return under_way_ == 0 && held_.due() == kNever; }

 private:
  // Ids of stores: this, the fence that waits for them, the pieces of the way and the sectors; nothing else is kept of them.
  static constexpr std::uint32_t kStoreMark = 0x4000'0000, kSectorsOfId = 0xff, kPiecesShift = 8,
                                 kPiecesOfId = 0xff, kFenceShift = 16;

  void send(const memory::Request& store, Cycle now, std::uint32_t way_pieces) {
    leave_due(now);
    const std::uint32_t sectors = std::max<std::uint32_t>(store.visits, memory::sector_count(store.sectors));
    FORETRACE_ASSERT(sectors <= kSectorsOfId && way_pieces <= kPiecesOfId,
                     "a store is of one line and one warp");
    store_sectors_ += sectors;
    ++under_way_;
    leave(store, now).id = store_id(way_pieces, sectors);
  }
  std::uint32_t store_id(std::uint32_t way_pieces, std::uint32_t sectors) {
    return kStoreMark | fences_.left() << kFenceShift | way_pieces << kPiecesShift | sectors;
  }
  /// From when on a line that is held can leave.
  Cycle free() const { return way_full_ ? kNever : std::max(last_out_ + 1, opened_); }
  memory::Request& leave(const memory::Request& request, Cycle now) {
    last_out_ = std::max(now, last_out_ + 1);
    if (request.flits > 1) last_out_ += request.flits - 1u;
    memory::Request& out = outbox_.emplace_back(request);
    out.time = last_out_;
    out.sm = sm_;
    out.wants_reply = true;
    return out;
  }
  /// Its sectors were counted when it was held, and its id says what it takes of the way.
  void leave_held(memory::Request store, Cycle now, Cycle due) {
    store.id = store_id(store.id, memory::sector_count(store.sectors));
    store.flits = memory::write_flits(store.sectors, store.bytes);
    ++under_way_;
    leave(store, now);
    left_.push_back({store.line, std::max(last_out_, due), store.sectors});
  }

  struct Left {
    std::uint64_t line = 0;
    Cycle out = 0;
    std::uint8_t sectors = 0;
  };
  const std::uint32_t most_store_sectors_, sm_;
  std::vector<memory::Request>& outbox_;
  StoreBuffer held_;
  StoreFences fences_;
  const Cycle way_ahead_;
  std::vector<Left> left_;  // stores that L1's tags have not been told of
  Cycle last_out_ = 0;
  Cycle opened_ = 0;
  bool way_full_ = false;
  std::uint32_t under_way_ = 0, store_sectors_ = 0;
};

}  // namespace foretrace::sm
