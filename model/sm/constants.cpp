// Constants of an SM: operands through the sub-cores' caches, and LDC, which the ADU takes word by word.
//
// Models:  a constant operand holds its warp until its line is in the sub-core's cache. An LDC goes through the ADU once for each
//          different address of its lanes, some cycles after each other; passes of several LDCs lie between each other. A pass whose line
//          is missing waits for it and goes again. Lines come one after the other; those of LDCs whose lanes differ are asked of the
//          GPC's cache, which all its SMs share.
// Ignores: in which order lanes are taken; the wait at the GPC's cache of LDCs whose lanes agree.
// Source:  our constants, indexed_constants and constant_sharing on H100.
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
    events_.push(ready, wait.release);
    if (timeline_) timeline_->written(wait.release.warp, ready);
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
  if (words_.size() > 1) return load_constants(id, instruction, now);
  const std::uint32_t address = words_.front();
  Cycle ready = now + latency, here = constants_.lookup(address);
  if (here == kNever) {
    ++counters.constant_l1_misses;
    if (!constant_near(address, now_)) {
      ++counters.constant_l1_replays;
      if (awaited) constant_waits_.push_back({address, release});
      return;
    }
    constant_port_free_ = std::max(constant_port_free_, now) + spec_.constant.line_interval;
    here = std::max(now + latency + spec_.constant.l1_miss, constant_port_free_ + latency);
    constants_.insert(address, here);
  }
  if (here > ready) {
    // What its line is still on the way for goes through the ADU once more (H100, sm__inst_executed_pipe_adu of the lessons), as soon
    // as the line is there.
    ++counters.constant_l1_replays;
    ready = here + replay_cycles_;
    const Cycle pass = here - latency;
    replays_from_ = replay_cycles_ ? std::min(replays_from_, pass) : pass;
    replay_cycles_ += instruction.interval;
  }
  if (awaited) events_.push(ready, release);
  if (timeline_) timeline_->written(id, ready);
}

/// An LDC whose lanes differ, its addresses in words_: it goes through the ADU word by word.
void Sm::load_constants(std::uint16_t id, const StaticInstruction& instruction, Cycle now) {
  if (free_lookups_.empty()) {
    free_lookups_.push_back(static_cast<std::uint32_t>(lookups_.size()));
    lookups_.emplace_back();
  }
  const std::uint32_t index = free_lookups_.back();
  free_lookups_.pop_back();
  ConstantLookup& lookup = lookups_[index];
  const auto more = static_cast<Cycle>(words_.size() - 1);
  counters.constant_l1_replays += more;
  adu_free_ += more * instruction.interval;
  lookup.words.assign(words_.begin(), words_.end());
  lookup.at = 0;
  lookup.pass = now;
  lookup.latency = std::max<Cycle>(1, instruction.latency);
  lookup.interval = instruction.interval;
  lookup.in_adu = adu_free_ - instruction.interval;
  lookup.ready = 0;
  lookup.waits = instruction.write_barrier < kScoreboards;
  lookup.release = {Event::Kind::release, instruction.write_barrier, id, 0, generation(warps_[id])};
  hold_adu_place(id, std::max(now + more * spec_.constant.word_interval, lookup.in_adu));
  advance_lookup(index, now_);
}

/// Takes the words of an LDC as far as their lines are there, and asks for the line that is missing.
void Sm::advance_lookup(std::uint32_t index, Cycle now) {
  ConstantLookup& lookup = lookups_[index];
  for (; lookup.at < lookup.words.size(); ++lookup.at, lookup.pass += spec_.constant.word_interval) {
    const std::uint32_t address = lookup.words[lookup.at];
    const Cycle here = constants_.lookup(address);
    if (here == kNever) {
      if (lookup.pass > now) return events_.push(lookup.pass, {Event::Kind::constant_pass, 0, 0, index, 0});
      return ask_for_constants(address, index, now);
    }
    lookup.ready = std::max(lookup.ready, std::max(here, lookup.pass + lookup.latency));
    if (here <= lookup.pass + lookup.latency) continue;
    ++counters.constant_l1_replays;  // once more, as soon as the line is there
    adu_free_ += lookup.interval;
    lookup.pass = here - lookup.latency;
  }
  const Cycle ready = std::max({lookup.ready, lookup.in_adu + lookup.latency, now + 1});
  if (lookup.waits) events_.push(ready, lookup.release);
  if (timeline_ && warps_[lookup.release.warp].phase != Phase::free &&
      generation(warps_[lookup.release.warp]) == lookup.release.generation)
    timeline_->written(lookup.release.warp, ready);
  free_lookups_.push_back(index);
}

/// Asks the GPC's cache for the line of `address`, unless it is on its way.
void Sm::ask_for_constants(std::uint32_t address, std::uint32_t lookup, Cycle now) {
  const std::uint32_t line = address / spec_.constant.line_bytes;
  for (ConstantLine& coming : constant_lines_) {
    if (coming.line == line) return coming.lookups.push_back(lookup);
  }
  ++counters.constant_l1_misses;
  constant_lines_.push_back({line, {lookup}});
  code_outbox.push_back({now, id_, kInstructionMark | kConstantMark | kIndexedMark | line,
                         work::kConstantBase + std::uint64_t{line} * spec_.constant.line_bytes, true, true,
                         address >> 16 == 0});
}

void Sm::constant_line_arrived(std::uint32_t line, Cycle now) {
  const auto found = std::find_if(constant_lines_.begin(), constant_lines_.end(),
                                  [line](const ConstantLine& coming) { return coming.line == line; });
  FORETRACE_ASSERT(found != constant_lines_.end(), "a line of constants was asked for");
  const std::vector<std::uint32_t> waiting = std::move(found->lookups);
  constant_lines_.erase(found);
  constant_port_free_ = std::max(constant_port_free_ + spec_.constant.line_interval, now);
  for (const std::uint32_t index : waiting) {
    ConstantLookup& lookup = lookups_[index];
    const Cycle late =
        constant_port_free_ - std::min(constant_port_free_, lookup.pass + spec_.constant.l1_miss);
    const Cycle again = late / spec_.constant.ask_again;  // in vain
    counters.constant_l1_replays += again;
    adu_free_ += again * lookup.interval;
    constants_.insert_or_touch(lookup.words[lookup.at], constant_port_free_ + lookup.latency);
    advance_lookup(index, now);
  }
}

}  // namespace foretrace::sm
