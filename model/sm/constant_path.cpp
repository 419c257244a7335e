#include "model/sm/constant_path.h"

#include <algorithm>
#include <bit>

#include "model/sm/request_marks.h"
#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::sm {

/// Whether a constant operand is in the sub-core's cache; if not, the warp is held (imc_miss) and this returns false. A warp that waited
/// takes the constant as it arrives, whoever has taken the line's place since.
bool ConstantPath::operand_ready(Warp& warp, std::uint16_t id, Cycle now) {
  SubCore& core = table_.core(id);
  if (warp.constant_at <= now) return true;
  if (warp.phase == Phase::fetch && warp.label == stats::WarpState::imc_miss)
    return false;  // woken by something else
  const std::uint32_t address = operand_address(warp);
  if (core.constants.lookup(address) <= now) return true;
  const std::uint32_t number = operand_number(id, address);
  if (std::find(operands_.begin(), operands_.end(), number) == operands_.end()) {
    ++context_.counters.constant_l0_misses;
    operands_.push_back(number);
    outbox_.push_back({now, context_.sm, kInstructionMark | kConstantMark | kOperandMark | number,
                       work::kConstantBase + address / line_bytes() * std::uint64_t{line_bytes()},
                       memory::CodeUse::operand, is_parameter(address)});
  }
  table_.enter(warp, Phase::fetch, stats::WarpState::imc_miss, now);
  return false;
}

/// Where the instruction's constant lies: an index in a uniform register stands in the record.
std::uint32_t ConstantPath::operand_address(const Warp& warp) const {
  const std::uint32_t address = warp.instruction->constant_address;
  if (!warp.instruction->constant_indexed || warp.step.executed == 0) return address;
  work::LaneAddresses addresses;
  warp.cursor.addresses(0, addresses);
  const auto lane = static_cast<std::size_t>(std::countr_zero(warp.step.executed));
  return (address & ~0xffffu) | static_cast<std::uint32_t>(addresses[lane] & 0xffff);
}

/// What a sub-core asks the GPC's cache for.
std::uint32_t ConstantPath::operand_number(std::uint16_t id, std::uint32_t address) const {
  return address / line_bytes() * kSubCores + WarpTable::core_of(id);
}

void ConstantPath::operand_arrived(std::uint32_t number, Cycle now) {
  std::erase(operands_, number);
  const std::uint32_t core = number % kSubCores;
  table_.cores[core].constants.insert_or_touch(number / kSubCores * line_bytes(), now);
  for (std::uint32_t id = core * kWarpSlots; id < (core + 1) * kWarpSlots; ++id) {
    Warp& warp = table_.warps[id];
    if (warp.phase == Phase::fetch && warp.label == stats::WarpState::imc_miss &&
        operand_number(static_cast<std::uint16_t>(id), operand_address(warp)) == number)
      warp.constant_at = now;
  }
}

/// Whether the GPC's cache has a constant for certain; if not, it is asked for. A launch's parameters always are there.
bool ConstantPath::is_near(std::uint32_t address, Cycle now) {
  if (is_parameter(address)) return true;
  const std::uint32_t block = address / context_.spec.gpc_cache.line_bytes;
  for (const NearBlock& known : blocks_) {
    if (known.block == block) return known.here;
  }
  blocks_.push_back({block, false});
  outbox_.push_back({now, context_.sm, kInstructionMark | kConstantMark | block,
                     work::kConstantBase + std::uint64_t{block} * context_.spec.gpc_cache.line_bytes,
                     memory::CodeUse::operand});
  return false;
}

void ConstantPath::arrived(std::uint32_t id, Cycle now) {
  const std::uint32_t number = id & ~(kInstructionMark | kConstantMark | kIndexedMark | kOperandMark);
  if (id & kOperandMark) return operand_arrived(number, now);
  (id & kIndexedMark) ? line_arrived(number, now) : block_arrived(number, now);
}

void ConstantPath::block_arrived(std::uint32_t block, Cycle now) {
  for (NearBlock& known : blocks_) {
    if (known.block == block) known.here = true;
  }
  const Cycle way = context_.spec.latency[static_cast<std::size_t>(spec::LatencyClass::constant)] +
                    context_.spec.constant.l1_miss;
  const Cycle ready = now + (way > context_.spec.constant.l0_miss ? way - context_.spec.constant.l0_miss
                                                                  : 1);  // LDC's way is the longer one
  std::erase_if(waiting_, [&](const Waiting& wait) {
    if (wait.address / context_.spec.gpc_cache.line_bytes != block) return false;
    if (cache_.lookup(wait.address) == kNever) cache_.insert(wait.address, ready);
    context_.events.push(ready, wait.release);
    if (context_.timeline) context_.timeline->written(wait.release.warp, ready);
    return true;
  });
}

/// The different addresses that the lanes of the LDC at hand go to, in the constant space.
void ConstantPath::find_words(const Warp& warp, std::uint32_t executed) {
  const StaticInstruction& instruction = *warp.instruction;
  words_.clear();
  if (context_.program.shapes.of[warp.step.index].addresses == 0) {
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
void ConstantPath::hold_adu_place(std::uint16_t id, Cycle until) {
  SubCore& core = table_.core(id);
  core.scheduler.pipe_free[static_cast<std::size_t>(spec::Pipe::adu)] =
      core.adu.hold_last(until, context_.spec.sm.adu_queue);
}

void ConstantPath::load(Warp& warp, std::uint16_t id, std::uint32_t executed, Cycle served, Cycle now) {
  const StaticInstruction& instruction = *warp.instruction;
  warp.scoreboards.raise(instruction.write_barrier, false);
  const Event release{Event::Kind::release, instruction.write_barrier, id, 0, WarpTable::generation(warp)};
  const bool awaited = instruction.write_barrier < kScoreboards;
  const Cycle latency = std::max<Cycle>(1, instruction.latency);
  if (executed == 0) {  // a guard that holds back every lane: nothing is looked up
    if (awaited) context_.events.push(served + latency, release);
    if (context_.timeline) context_.timeline->written(id, served + latency);
    return;
  }
  find_words(warp, executed);
  if (words_.size() > 1) return load_words(id, instruction, served, now);
  const std::uint32_t address = words_.front();
  Cycle ready = served + latency, here = cache_.lookup(address);
  if (here == kNever) {
    ++context_.counters.constant_l1_misses;
    if (!is_near(address, now)) {
      ++context_.counters.constant_l1_replays;
      if (awaited) waiting_.push_back({address, release});
      return;
    }
    port_free_ = std::max(port_free_, served) + context_.spec.constant.line_interval;
    here = std::max(served + latency + context_.spec.constant.l1_miss, port_free_ + latency);
    cache_.insert(address, here);
  }
  if (here > ready) {
    // What its line is still on the way for goes through the ADU once more (H100, sm__inst_executed_pipe_adu of the examples), as soon
    // as the line is there.
    ++context_.counters.constant_l1_replays;
    ready = here + adu_.replay_cycles;
    const Cycle pass = here - latency;
    adu_.replay(pass, instruction.interval);
  }
  if (awaited) context_.events.push(ready, release);
  if (context_.timeline) context_.timeline->written(id, ready);
}

/// An LDC whose lanes differ, its addresses in words_: it goes through the ADU word by word.
void ConstantPath::load_words(std::uint16_t id, const StaticInstruction& instruction, Cycle served,
                              Cycle now) {
  if (free_lookups_.empty()) {
    free_lookups_.push_back(static_cast<std::uint32_t>(lookups_.size()));
    lookups_.emplace_back();
  }
  const std::uint32_t index = free_lookups_.back();
  free_lookups_.pop_back();
  Lookup& lookup = lookups_[index];
  const auto more = static_cast<Cycle>(words_.size() - 1);
  context_.counters.constant_l1_replays += more;
  adu_.free += more * instruction.interval;
  lookup.words.assign(words_.begin(), words_.end());
  lookup.at = 0;
  lookup.pass = served;
  lookup.latency = std::max<Cycle>(1, instruction.latency);
  lookup.interval = instruction.interval;
  lookup.in_adu = adu_.free - instruction.interval;
  lookup.ready = 0;
  lookup.waits = instruction.write_barrier < kScoreboards;
  lookup.release = {Event::Kind::release, instruction.write_barrier, id, 0,
                    WarpTable::generation(table_.warps[id])};
  hold_adu_place(id, std::max(served + more * context_.spec.constant.word_interval, lookup.in_adu));
  advance(index, now);
}

/// Takes the words of an LDC as far as their lines are there, and asks for the line that is missing.
void ConstantPath::advance(std::uint32_t index, Cycle now) {
  Lookup& lookup = lookups_[index];
  for (; lookup.at < lookup.words.size(); ++lookup.at, lookup.pass += context_.spec.constant.word_interval) {
    const std::uint32_t address = lookup.words[lookup.at];
    const Cycle here = cache_.lookup(address);
    if (here == kNever) {
      if (lookup.pass > now)
        return context_.events.push(lookup.pass, {Event::Kind::constant_pass, 0, 0, index, 0});
      return ask_for(address, index, now);
    }
    lookup.ready = std::max(lookup.ready, std::max(here, lookup.pass + lookup.latency));
    if (here <= lookup.pass + lookup.latency) continue;
    ++context_.counters.constant_l1_replays;  // once more, as soon as the line is there
    adu_.free += lookup.interval;
    lookup.pass = here - lookup.latency;
  }
  const Cycle ready = std::max({lookup.ready, lookup.in_adu + lookup.latency, now + 1});
  if (lookup.waits) context_.events.push(ready, lookup.release);
  if (context_.timeline && table_.warps[lookup.release.warp].phase != Phase::free &&
      WarpTable::generation(table_.warps[lookup.release.warp]) == lookup.release.generation)
    context_.timeline->written(lookup.release.warp, ready);
  free_lookups_.push_back(index);
}

/// Asks the GPC's cache for the line of `address`, unless it is on its way.
void ConstantPath::ask_for(std::uint32_t address, std::uint32_t lookup, Cycle now) {
  const std::uint32_t line = address / context_.spec.constant.line_bytes;
  for (Line& coming : lines_) {
    if (coming.line == line) return coming.lookups.push_back(lookup);
  }
  ++context_.counters.constant_l1_misses;
  lines_.push_back({line, {lookup}});
  outbox_.push_back({now, context_.sm, kInstructionMark | kConstantMark | kIndexedMark | line,
                     work::kConstantBase + std::uint64_t{line} * context_.spec.constant.line_bytes,
                     memory::CodeUse::load, is_parameter(address)});
}

void ConstantPath::line_arrived(std::uint32_t line, Cycle now) {
  const auto found =
      std::find_if(lines_.begin(), lines_.end(), [line](const Line& coming) { return coming.line == line; });
  FORETRACE_ASSERT(found != lines_.end(), "a line of constants was asked for");
  const std::vector<std::uint32_t> waiting = std::move(found->lookups);
  lines_.erase(found);
  port_free_ = std::max(port_free_ + context_.spec.constant.line_interval, now);
  for (const std::uint32_t index : waiting) {
    Lookup& lookup = lookups_[index];
    const Cycle late = port_free_ - std::min(port_free_, lookup.pass + context_.spec.constant.l1_miss);
    const Cycle again = late / context_.spec.constant.ask_again;  // in vain
    context_.counters.constant_l1_replays += again;
    adu_.free += again * lookup.interval;
    cache_.insert_or_touch(lookup.words[lookup.at], port_free_ + lookup.latency);
    advance(index, now);
  }
}

}  // namespace foretrace::sm
