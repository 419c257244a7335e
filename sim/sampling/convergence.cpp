#include "sim/sampling/convergence.h"

#include <algorithm>
#include <cmath>

#include "model/units/units.h"
#include "sim/sampling/constants.h"

namespace foretrace::sampling {

namespace {

/// Bytes that L2 has taken up: read from DRAM, or written and sent there or still dirty.
double taken_up(const gpu::Snapshot& snapshot) {
  return static_cast<double>(snapshot.memory.dram_bytes_read + snapshot.memory.dram_bytes_write +
                             snapshot.memory.dirty_sectors_left * kSectorBytes);
}

}  // namespace

MonitoredLaunch monitored(const Survey& survey, const spec::GpuSpec& spec, std::uint64_t blocks,
                          std::uint64_t resident) {
  return {.survey = &survey,
          .blocks = blocks,
          .wave = std::min(resident, blocks),
          .dram_bytes = static_cast<double>(spec.dram.channels) * spec.dram.channel_bytes *
                        static_cast<double>(spec.clock.dram) / static_cast<double>(spec.clock.sm),
          .l2_bytes = static_cast<double>(spec.l2.bytes)};
}

double cost_of(const gpu::Snapshot& snapshot) {
  return static_cast<double>(snapshot.instructions) +
         kRequestCost * static_cast<double>(snapshot.memory.tex_requests);
}

double cost_of(const Survey& survey) {
  const stats::LaunchCounters& sums = survey.sums;
  const std::uint64_t sectors = sums.l1_sectors_global_ld + sums.l1_sectors_global_st +
                                sums.l1_sectors_local_ld + sums.l1_sectors_local_st +
                                sums.l1_sectors_global_atom + sums.l1_sectors_global_red;
  return survey.instructions + kRequestCost * static_cast<double>(sectors) / kSectorsPerLine;
}

ConvergenceMonitor::ConvergenceMonitor(const MonitoredLaunch& launch)
    : launch_(launch), work_(launch.survey->instructions),
      wave_work_(work_ / static_cast<double>(launch.blocks) * static_cast<double>(launch.wave)),
      history_(launch.wave, work_ / static_cast<double>(launch.blocks), launch.dram_bytes),
      next_look_(launch.look_from > 0
                     ? launch.look_from
                     : std::clamp(kFirstShare * work_, kFirstLookLeast.value, kFirstLookMost.value)) {}

bool ConvergenceMonitor::converged(const gpu::Snapshot& snapshot) {
  history_.note(snapshot);
  const auto done = static_cast<double>(snapshot.instructions);
  if (first_wave_ == 0 && done >= wave_work_) first_wave_ = snapshot.now;
  const double cost = cost_of(snapshot);
  if (cost < next_look_) return false;
  next_look_ = cost * kNextLook;
  const double left = 1 - done / work_;
  if (left < kWorthSkipping) return false;
  SteadyRate rate = history_.rate();
  // What was before L2 began to write back does not speak for what comes.
  if (rate.known && l2_will_change(rate, done)) rate = history_.rate(history_.dirty_since());
  const double waves = work_ / wave_work_;
  if (launch_.in_step && !rate.by_blocks && waves > 1) {
    if (waves >= kFewestWaves && wave_work_ < kWaveWork) return false;
    if (wave_work_ <= kWholeWave) {  // blocks of the first wave are in step
      if (done < kSeenWaves * wave_work_) return false;
      rate = history_.rate(first_wave_);
    }
  }
  if (!rate.known || (!rate.by_blocks && waves <= 1 && wave_work_ < kWaveWork)) return false;
  if (launch_.in_step && !rate.by_blocks && !has_seen_a_block(rate)) return false;
  if (left * rate.doubt > kMostDoubt || left * std::abs(rate.memory_drift) > kMostDrift) return false;
  if (l2_will_change(rate, done) || (!launch_.in_step && !l2_has_the_wave(rate))) return false;
  rate_ = rate;
  return true;
}

std::uint64_t ConvergenceMonitor::blocks_to_skip(const gpu::Snapshot& snapshot) const {
  const auto last = static_cast<std::uint64_t>(kTailWaves * static_cast<double>(launch_.wave));
  const std::uint64_t left = launch_.blocks - snapshot.placed;
  if (left < last + launch_.wave) return 0;
  const std::uint64_t skipped = (left - last) / launch_.wave * launch_.wave;
  return static_cast<double>(skipped) < kWorthSkipping * static_cast<double>(launch_.blocks) ? 0 : skipped;
}

/// Instructions that are counted while no block has ended are the beginnings of blocks: they speak for the rest if they are the same.
bool ConvergenceMonitor::has_seen_a_block(const SteadyRate& rate) const {
  const double from = static_cast<double>(rate.from.instructions) / wave_work_,
               to = static_cast<double>(rate.to.instructions) / wave_work_;
  return to >= 2 || launch_.survey->profile.change(std::min(from, 1.0), std::min(to, 1.0)) < kMostChange;
}

/// While L2 fills, what is written stays there: a rate that DRAM bounds falls when it is written back. True where that is still to come
/// and would matter. What DRAM will have written by the launch's end is another matter (extrapolate.h).
bool ConvergenceMonitor::l2_will_change(const SteadyRate& rate, double done) const {
  const stats::MemoryCounters &before = rate.from.memory, &after = rate.to.memory;
  const double now = taken_up(rate.to), grew = now - taken_up(rate.from);
  if (now > kFilled * launch_.l2_bytes) return false;
  const auto took = static_cast<double>(rate.to.now - rate.from.now),
             did = static_cast<double>(rate.to.instructions - rate.from.instructions);
  const bool ever = now + grew / did * (work_ - done) > kFills * launch_.l2_bytes;
  if (!ever) return false;
  const double stays = kSectorBytes * (static_cast<double>(after.dirty_sectors_left) -
                                       static_cast<double>(before.dirty_sectors_left));
  const auto goes = static_cast<double>(after.dram_bytes_write - before.dram_bytes_write);
  if (goes > 0 && stays < kFlat * goes) return false;  // as much is written back as is written
  return grew / took > kDramMatters * launch_.dram_bytes;
}

/// Whether L2 has what later waves use: one that is simulated now brings little that is new.
bool ConvergenceMonitor::l2_has_the_wave(const SteadyRate& rate) const {
  const double grew = taken_up(rate.to) - taken_up(rate.from);
  const auto did = static_cast<double>(rate.to.instructions - rate.from.instructions);
  return grew / did * wave_work_ < kFills * launch_.l2_bytes;
}

bool ConvergenceMonitor::hopeless(const gpu::Snapshot& snapshot) const {
  return !launch_.in_step && taken_up(snapshot) > kShared * launch_.l2_bytes;
}

}  // namespace foretrace::sampling
