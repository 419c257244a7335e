// Constants of an SM: operands through the sub-cores' caches, and LDC, which the ADU takes word by word.
//
// Models:  a constant operand holds its warp until its line is in the sub-core's cache. An LDC goes through the ADU once for each
//          different address of its lanes, some cycles after each other; passes of several LDCs lie between each other. A pass whose line
//          is missing waits for it and goes again. Lines come from the GPC's cache one after the other.
// Ignores: in which order lanes are taken.
// Source:  our constants and indexed_constants on H100.
#include <algorithm>
#include <bit>

#include "model/sm/sm.h"
#include "model/work/address_space.h"

namespace foretrace::sm {

/// Whether a constant operand is in the sub-core's cache; if not, the warp is held (imc_miss) and this returns false. A warp that waited
/// takes the constant as it arrives, whoever has taken the line's place since.
bool Sm::constant_ready(Warp& warp, std::uint16_t id, Cycle now) {
  SubCore& core = cores_[static_cast<std::size_t>(core_of(id))];
  const std::uint32_t address = warp.instruction->constant_address;
  if (warp.constant_at <= now) return true;
  if (warp.phase == Phase::fetch && warp.label == stats::WarpState::imc_miss)
    return false;  // woken by something else
  const Cycle here = core.constants.lookup(address);
  if (here <= now) return true;
  if (here == kNever) {
    ++counters.constant_l0_misses;
    if (!constant_near(address, now)) {
      enter(warp, Phase::fetch, stats::WarpState::imc_miss, now);
      return false;
    }
  }
  warp.constant_at = here == kNever ? now + spec_.constant.l0_miss : here;
  if (here == kNever) core.constants.insert(address, warp.constant_at);
  wait_until(warp, id, warp.constant_at, stats::WarpState::imc_miss, now);
  return false;
}

/// Whether the GPC's cache has a constant for certain; if not, it is asked for. A launch's parameters always are there.
bool Sm::constant_near(std::uint32_t address, Cycle now) {
  if (address >> 16 == 0) return true;
  const std::uint32_t block = address / spec_.gpc_cache.line_bytes;
  for (const ConstantBlock& known : constant_blocks_) {
    if (known.block == block) return known.here;
  }
  constant_blocks_.push_back({block, false});
  code_outbox.push_back({now, id_, kInstructionMark | kConstantMark | block,
                         work::kConstantBase + std::uint64_t{block} * spec_.gpc_cache.line_bytes, true});
  return false;
}

void Sm::constants_arrived(std::uint32_t block, Cycle now) {
  for (ConstantBlock& known : constant_blocks_) {
    if (known.block == block) known.here = true;
  }
  for (std::size_t id = 0; id < warps_.size(); ++id) {
    Warp& warp = warps_[id];
    if (warp.phase != Phase::fetch || warp.label != stats::WarpState::imc_miss) continue;
    const std::uint32_t address = warp.instruction->constant_address;
    ConstantCache& cache = cores_[id / kSlots].constants;
    if (address / spec_.gpc_cache.line_bytes != block) continue;
    warp.constant_at = now;
    if (cache.lookup(address) == kNever) cache.insert(address, now);
  }
  const Cycle way =
      spec_.latency[static_cast<std::size_t>(spec::LatencyClass::constant)] + spec_.constant.l1_miss;
  const Cycle ready =
      now + (way > spec_.constant.l0_miss ? way - spec_.constant.l0_miss : 1);  // LDC's way is the longer one
  std::erase_if(constant_waits_, [&](const ConstantWait& wait) {
    if (wait.address / spec_.gpc_cache.line_bytes != block) return false;
    if (constants_.lookup(wait.address) == kNever) constants_.insert(wait.address, ready);
    events_.push(ready + wait.passes_left, wait.release);
    if (timeline_) timeline_->written(wait.release.warp, ready + wait.passes_left);
    return true;
  });
}

/// The different addresses that the lanes of the LDC at hand go to, in the constant space.
void Sm::constant_words(const Warp& warp, const StaticInstruction& instruction, std::uint32_t executed) {
  words_.clear();
  if (program_.shapes.of[warp.step.index].addresses == 0) {
    words_.push_back(instruction.constant_address);
    return;
  }
  work::LaneAddresses addresses;
  warp.cursor.addresses(0, addresses);
  const std::uint32_t bank = instruction.constant_address & ~0xffffu;
  for (std::uint32_t m = executed; m; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    words_.push_back(bank | static_cast<std::uint32_t>(addresses[lane] & 0xffff));
  }
  std::sort(words_.begin(), words_.end());
  words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
}

/// The LDC that was issued last keeps its place in its sub-core's queue.
void Sm::hold_adu_place(std::uint16_t id, Cycle until) {
  SubCore& core = cores_[static_cast<std::size_t>(core_of(id))];
  const std::uint32_t places = spec_.sm.adu_queue;
  core.adu[(core.adu_next + places - 1) % places] = until;
  core.pipe_free[static_cast<std::size_t>(spec::Pipe::adu)] = core.adu[core.adu_next] + 1;
}

/// LDC, which the ADU takes first at `now`.
void Sm::load_constant(Warp& warp, std::uint16_t id, const StaticInstruction& instruction,
                       std::uint32_t executed, Cycle now) {
  raise(warp, instruction.write_barrier, false);
  const Event release{Event::Kind::release, instruction.write_barrier, id, 0, generation(warp)};
  const bool awaited = instruction.write_barrier < kScoreboards;
  const Cycle latency = std::max<Cycle>(1, instruction.latency);
  if (executed == 0) {  // a guard that holds back every lane: nothing is looked up
    if (awaited) events_.push(now + latency, release);
    if (timeline_) timeline_->written(id, now + latency);
    return;
  }
  constant_words(warp, instruction, executed);
  const auto more = static_cast<Cycle>(words_.size() - 1);
  counters.constant_l1_replays += more;
  adu_free_ += more * instruction.interval;
  const std::uint32_t* far = nullptr;
  for (const std::uint32_t& address : words_) {
    if (constants_.lookup(address) == kNever && !constant_near(address, now_)) far = &address;
  }
  if (far != nullptr) {
    ++counters.constant_l1_misses;
    ++counters.constant_l1_replays;
    if (awaited) constant_waits_.push_back({*far, more * spec_.constant.word_interval, release});
    return;
  }
  Cycle pass = now, ready = now + latency;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (i != 0) pass += spec_.constant.word_interval;
    Cycle here = constants_.lookup(words_[i]);
    if (here == kNever) {
      ++counters.constant_l1_misses;
      constant_port_free_ = std::max(constant_port_free_, now) + spec_.constant.line_interval;
      here = std::max(pass + latency + spec_.constant.l1_miss, constant_port_free_ + latency);
      constants_.insert(words_[i], here);
    }
    ready = std::max(here, pass + latency);
    if (here <= pass + latency) continue;
    // What its line is still on the way for goes through the ADU once more (H100, sm__inst_executed_pipe_adu of the lessons), as soon
    // as the line is there.
    ++counters.constant_l1_replays;
    pass = here - latency;
    if (more != 0) {
      adu_free_ += instruction.interval;
    } else {
      ready += replay_cycles_;
      replays_from_ = replay_cycles_ ? std::min(replays_from_, pass) : pass;
      replay_cycles_ += instruction.interval;
    }
  }
  if (more != 0) {
    ready = std::max(ready, adu_free_ - instruction.interval + latency);
    hold_adu_place(id, ready - latency);
  }
  if (awaited) events_.push(ready, release);
  if (timeline_) timeline_->written(id, ready);
}

}  // namespace foretrace::sm
