#include "sim/engine/settle.h"

#include <algorithm>
#include <cmath>

#include "model/units/units.h"

namespace foretrace::engine {

namespace {

// What simulating costs: warp instructions, and requests to L2 at the price of some. Before the rates are looked at: a share of the work
// within bounds; then from look to look. After a long time a launch that is nearly settled will do.
constexpr double kRequestCost = 1.5, kFirstShare = 0.2, kFirstLeast = 2e6, kFirstMost = 12e6,
                 kNextLook = 1.15, kLongLook = 30e6;
// Beginnings and ends of blocks are part of a rate: so many chip-fulls are simulated where that takes no more warp instructions than this.
constexpr double kFulls = 5, kAffordable = 60e6;
// What the rate's doubt may do to the launch's time, and the most that DRAM's traffic may still change.
constexpr double kMostDoubt = 0.015, kMostDrift = 0.025;
// L2 is full when it has taken up so many times its size; it begins to write back at this share; DRAM matters from this share of its rate.
constexpr double kFilled = 1.3, kFills = 0.4, kDramMatters = 0.3;
constexpr double kWritesMatter = 0.03, kFlat = 0.1;
constexpr double kMostChange =
    0.05;  // of what a block executes, from the part that was seen to the part that was not
constexpr double kIssueBound = 0.88,
                 kRoomForWrites = 0.75;  // of issue slots, of DRAM's rate: where writing back changes nothing
constexpr double kWorthLeaving = 0.15;   // share of the work; less is simulated to the end

/// Bytes that L2 has taken up: read from DRAM, or written and sent there or still dirty.
double taken_up(const gpu::Moment& moment) {
  return static_cast<double>(moment.memory.dram_bytes_read + moment.memory.dram_bytes_write +
                             moment.memory.dirty_sectors_left * kSectorBytes);
}

}  // namespace

double cost_of(const gpu::Moment& moment) {
  return static_cast<double>(moment.instructions) +
         kRequestCost * static_cast<double>(moment.memory.tex_requests);
}

Watch::Watch(const Watched& launch)
    : launch_(launch), work_(launch.survey->instructions),
      full_work_(work_ / static_cast<double>(launch.blocks) * static_cast<double>(launch.chip_full)),
      progress_(launch.chip_full, work_ / static_cast<double>(launch.blocks), launch.dram_bytes),
      next_look_(launch.look_from > 0 ? launch.look_from
                                      : std::clamp(kFirstShare * work_, kFirstLeast, kFirstMost)) {}

bool Watch::operator()(const gpu::Moment& moment) {
  progress_.note(moment);
  const auto done = static_cast<double>(moment.instructions);
  const double cost = cost_of(moment);
  if (cost < next_look_) return true;
  next_look_ = cost * kNextLook;
  const double left = 1 - done / work_;
  if (left < kWorthLeaving) return true;
  Pace pace = progress_.pace();
  // What was before L2 began to write back does not speak for what comes.
  if (pace.known && l2_will_change(pace, done)) pace = progress_.pace(progress_.dirty_since());
  if (!pace.known || (!pace.by_blocks && kFulls * full_work_ < kAffordable)) return true;
  if (!pace.by_blocks && !has_seen_a_block(pace)) return true;
  const double slack = cost > kLongLook ? 2 : 1;
  if (left * pace.doubt > kMostDoubt * slack || left * std::abs(pace.memory_drift) > kMostDrift * slack)
    return true;
  if (l2_will_change(pace, done)) return true;
  pace_ = pace;
  return false;
}

/// Instructions that are counted while no block has ended are the beginnings of blocks: they speak for the rest if they are the same.
bool Watch::has_seen_a_block(const Pace& pace) const {
  const double from = static_cast<double>(pace.from.instructions) / full_work_,
               to = static_cast<double>(pace.to.instructions) / full_work_;
  return to >= 2 || launch_.survey->course.change(std::min(from, 1.0), std::min(to, 1.0)) < kMostChange;
}

/// While L2 fills, what is written stays there: a rate that DRAM bounds falls when it is written back. True where that is still to come
/// and would matter.
bool Watch::l2_will_change(const Pace& pace, double done) const {
  const stats::MemoryCounters &before = pace.from.memory, &after = pace.to.memory;
  const double now = taken_up(pace.to), grew = now - taken_up(pace.from);
  if (now > kFilled * launch_.l2_bytes) return false;
  const auto took = static_cast<double>(pace.to.now - pace.from.now),
             did = static_cast<double>(pace.to.instructions - pace.from.instructions);
  const bool ever = now + grew / did * (work_ - done) > kFills * launch_.l2_bytes;
  if (!ever) return false;
  const double stays = kSectorBytes * (static_cast<double>(after.dirty_sectors_left) -
                                       static_cast<double>(before.dirty_sectors_left));
  const auto goes = static_cast<double>(after.dram_bytes_write - before.dram_bytes_write);
  if (goes > 0 && stays < kFlat * goes) return false;  // as much is written back as is written
  const double issued = did / took / launch_.issue_slots, moved = grew / took / launch_.dram_bytes;
  if (issued > kIssueBound && moved < kRoomForWrites) return false;
  return (grew / took > kDramMatters * launch_.dram_bytes) ||
         stays / took > kWritesMatter * launch_.dram_bytes;
}

}  // namespace foretrace::engine
