#include "model/sm/memory_pipe.h"

#include <algorithm>
#include <bit>

#include "model/sm/memory_forms.h"
#include "model/sm/memory_requests.h"
#include "model/units/error.h"

namespace foretrace::sm {

namespace {

/// What is left of a latency from issue when the memory unit takes an instruction that waited for nothing.
Cycle left_of(std::uint32_t latency, const spec::LsuSpec& lsu) {
  const std::uint32_t before = lsu.issue_latency + lsu.address_latency;
  return latency > before ? latency - before : 1;
}

/// Whether it brings registers to memory.
bool stores_data(const StaticInstruction& instruction) {
  return instruction.action == Action::memory && is_store(instruction);
}

/// Cycles for which an instruction holds its sub-core's way into the memory pipe: its address and the registers that it stores.
Cycle way_in(const StaticInstruction& instruction, const spec::LsuSpec& lsu) {
  const Cycle address = instruction.short_address ? lsu.uniform_interval : lsu.address_interval;
  return address +
         (stores_data(instruction) ? Cycle{lsu.store_width_latency} * instruction.data_registers : 0);
}

/// From its issue until its registers have been read: a store's with a short address sooner.
std::uint32_t source_latency(const StaticInstruction& instruction, const spec::LsuSpec& lsu) {
  if (!stores_data(instruction)) return lsu.source_latency;
  const std::uint32_t sooner = instruction.short_address ? lsu.address_interval - lsu.uniform_interval : 0;
  return lsu.store_source_latency - std::min(lsu.store_source_latency, sooner) +
         lsu.store_width_latency * (instruction.data_registers - 1u);
}

/// Of what moves nothing to or from memory, shuffles and matches pass the data stage; S2R and its like do not.
bool passes_data(const StaticInstruction& instruction) {
  return instruction.latency_class == spec::LatencyClass::shuffle ||
         instruction.latency_class == spec::LatencyClass::match;
}

}  // namespace

using isa::Access;
using isa::Space;

MemoryPipe::MemoryPipe(const spec::GpuSpec& spec, std::uint32_t sm, std::uint64_t l1_bytes,
                       std::uint64_t block_shared, const StaticProgram& program, Events& events,
                       stats::LaunchCounters& counters, std::vector<memory::Request>& outbox)
    : data(spec, block_shared, counters), out(spec.l1, sm, outbox), tags(l1_bytes, spec.l1), spec_(spec),
      counters_(counters), queues_(spec.lsu), shapes_(program, data.array, counters), texture_(spec.texture),
      misses_(spec.l1.lines_in_flight, spec.l1.sectors_in_flight), loads_(kSubCores * kWarpSlots),
      swaps_(!program.shapes.retries.empty()), write_back_(operations_, events), way_(spec.l1),
      pieces_(spec.l1) {}

void MemoryPipe::issue(int sub_core, const MemoryIssue& issue, Cycle now) {
  const std::uint32_t id = operations_.take();
  Operation& operation = operations_[id];
  operation.instruction = issue.instruction;
  operation.index = issue.index;
  operation.executed = issue.executed;
  operation.warp = issue.warp;
  operation.sub_core = static_cast<std::uint8_t>(sub_core);
  operation.copy_group = issue.copy_group;
  operation.space = issue.instruction->form.space;
  operation.generation = issue.generation;
  operation.wavefronts = 1;
  operation.shared_wavefronts = 0;
  operation.waiting = 0;
  operation.missed = false;
  operation.lines = operation.sectors = 0;
  operation.way_pieces = 0;
  operation.waits = issue.waits;
  operation.tells = issue.tells;
  operation.signal = issue.signal;
  operation.barrier_op = issue.barrier_op;
  operation.remote = issue.remote;
  operation.passes = issue.passes;
  operation.swap = issue.swap;
  if (issue.instruction->action == Action::memory) {
    shapes_.count_instruction(issue.instruction->form);
    if (issue.executed) shapes_.find(operation, issue);
  }

  const MemoryQueues::Address address =
      queues_.enter(sub_core, id, way_in(*issue.instruction, spec_.lsu), now);
  if (timeline_) timeline_->queued(id, operation.warp, now, address.start, address.ready);
  want(std::max(address.ready, queues_.free()));
}

/// From when on the units behind the arbiter take an operation, as far as that is a matter of time and as it looks at `now`; kNever: after the
/// one in the tag stage.
Cycle MemoryPipe::accepted_from(const Operation& operation, Cycle now) const {
  const StaticInstruction& instruction = *operation.instruction;
  if (operation.executed == 0 || instruction.barrier_use == isa::BarrierUse::check) return 0;
  if (instruction.action == Action::memory_other && !passes_data(instruction)) return 0;
  if (instruction.action == Action::memory_other || operation.space == Space::shared)
    return data.takes_from(operation.sub_core, now);
  if (tag_operation_ >= 0) return kNever;
  Cycle from = tag_free_;
  if (instruction.form.texture) from = std::max(from, texture_.free());
  if (!is_store(instruction)) from = std::max(from, data.takes_hits_from());
  if (instruction.form.access == Access::store)
    from = std::max({from, out.takes_stores_from(), data.takes_stores_from()});
  return from;
}

/// Whether the number of those in flight allows for another of global memory.
bool MemoryPipe::has_room(const Operation& operation) const {
  const StaticInstruction& instruction = *operation.instruction;
  if (operation.executed == 0 || instruction.barrier_use == isa::BarrierUse::check ||
      instruction.action == Action::memory_other || operation.space == Space::shared) {
    return true;
  }
  if (!is_store(instruction)) return loads_.in_flight() < spec_.lsu.in_flight;
  return out.store_room() && way_.has_room();
}

void MemoryPipe::accept(std::uint32_t id, Cycle now) {
  Operation& operation = operations_[id];
  const StaticInstruction& instruction = *operation.instruction;
  operation.accepted = now;
  if (timeline_) timeline_->accepted(id, now);
  operation.sources_read = now + left_of(source_latency(instruction, spec_.lsu), spec_.lsu);
  write_back_.release(operation, instruction.read_barrier, operation.sources_read);
  if (operation.executed ==
      0) {  // nothing to access, but it goes the way (H100, predicated_off: 22 cycles, loads of global memory too)
    write_back_.release(operation, instruction.write_barrier,
                        now + left_of(spec_.shared.latency - 1, spec_.lsu));
    if (is_copy(instruction)) write_back_.done(Event::Kind::copy_done, operation, now + 1);
    if (instruction.action == Action::memory && holds_warp(instruction))
      write_back_.done(Event::Kind::store_done, operation, now + 1);
    operations_.give_back(id);
  } else if (instruction.action == Action::memory_other) {
    accept_other(operation, id, now);
  } else if (operation.space == Space::shared) {
    accept_shared(operation, id, now);
  } else {
    accept_global(operation, id, now);
  }
}

/// What moves nothing to or from memory: the result of a shuffle waits until the data stage has taken it.
void MemoryPipe::accept_other(const Operation& operation, std::uint32_t id, Cycle now) {
  const StaticInstruction& instruction = *operation.instruction;
  Cycle begins = now;
  const Cycle values = operation.passes;
  if (passes_data(instruction)) {
    const Cycle takes =
        instruction.value_interval ? values * instruction.value_interval : instruction.interval;
    const Cycle start = data.take_other(now, takes);
    begins = start - DataStage::kAfterTags;
    if (timeline_) timeline_->operation_stage(id, Stage::data, start, start + takes);
  }
  if (instruction.drains) begins = data.shared_start(now) - DataStage::kAfterTags;
  write_back_.release(
      operation, instruction.write_barrier,
      begins + left_of(instruction.latency, spec_.lsu) + (values - 1) * instruction.value_latency);
  operations_.give_back(id);
}

void MemoryPipe::accept_global(Operation& operation, std::uint32_t id, Cycle now) {
  const StaticInstruction& instruction = *operation.instruction;
  if (instruction.form.texture)
    texture_.take(operation.executed, is_store(instruction), operation.passes, now);
  const std::uint32_t tag_cycles = std::max({1u, divide_up(operation.lines, spec_.l1.tag_lines),
                                             divide_up(operation.sectors, spec_.l1.tag_sectors)});
  tag_free_ = now + tag_cycles;
  counters_.l1_tag_cycles += tag_cycles;
  operation.ready = tag_free_;
  tag_operation_ = id;
  tag_line_ = 0;
  if (!is_store(instruction)) loads_.enter();
  run_tags(now);
}

bool MemoryPipe::load_line(Operation& operation, std::uint32_t id, const rules::LineAccess& access,
                           Cycle now) {
  const isa::MemoryForm& form = operation.instruction->form;
  const bool atomic = form.access == Access::atomic;
  memory::Request request;
  request.line = access.line;
  request.kind = atomic ? memory::RequestKind::atomic : memory::RequestKind::read;
  if (atomic) put_packets(request, form, operation.detail->addresses, operation.executed);
  if (atomic || form.strong ||
      operation.instruction->bypasses_l1) {  // served by L2, whatever L1 holds or has asked for
    const auto sectors = memory::sector_count(access.sectors);
    if (!misses_.room(sectors)) return false;
    if (L1Tags::Entry* entry = tags.find(access.line); entry && atomic) tags.drop(*entry, access.sectors);
    request.sectors = access.sectors;
    operation.swap.tries ? put_try(request, operation.swap, operation.detail->addresses, operation.executed)
                         : put_signal(request, operation, tag_line_ + 1 == operation.lines);
    const std::uint32_t sent = misses_.take(request.line, request.sectors);
    out.send_load(request, sent, now);
    wait_for(sent, id, now);
    ++operation.waiting;
    operation.missed = true;
    return true;
  }
  L1Tags::Entry* entry = tags.find(access.line);
  const std::uint8_t present = entry ? entry->valid : std::uint8_t{0};
  auto missing = static_cast<std::uint8_t>(access.sectors & ~present);
  // Of local memory whole words are kept (H100, partial_local).
  const bool known = operation.space != Space::local || form.bytes >= 4;
  if (entry && (missing & entry->written) && form.access == Access::load && known)
    missing = static_cast<std::uint8_t>(missing &
                                        ~tags.covered(*entry, missing, operation.detail->written[tag_line_]));
  const auto missing_count = memory::sector_count(missing);
  if (missing && !misses_.room(missing_count)) return false;
  if (entry) tags.use(*entry);
  shapes_.count_hits(operation, memory::sector_count(access.sectors) - missing_count);
  if (entry && (access.sectors & entry->in_flight)) {  // on the way already: wait with the others
    for (std::int32_t p = entry->pending; p >= 0; p = misses_[static_cast<std::size_t>(p)].next) {
      if (misses_[static_cast<std::size_t>(p)].sectors & access.sectors) {
        wait_for(static_cast<std::uint32_t>(p), id, now);
        ++operation.waiting;
        operation.missed = true;
      }
    }
  }
  if (!missing) return true;
  if (!entry) entry = &tags.allocate(access.line);
  entry->by_texture = form.texture;
  request.sectors = missing;
  const std::uint32_t sent = misses_.take(request.line, request.sectors);
  out.send_load(request, sent, now);
  Misses::Miss& pending = misses_[sent];
  pending.tagged = true;
  pending.entry = tags.position(*entry);
  pending.next = entry->pending;
  wait_for(sent, id, now);
  entry->pending = static_cast<std::int32_t>(sent);
  entry->valid = static_cast<std::uint8_t>(entry->valid | missing);
  entry->in_flight = static_cast<std::uint8_t>(entry->in_flight | missing);
  ++operation.waiting;
  operation.missed = true;
  return true;
}

void MemoryPipe::run_tags(Cycle now) {
  if (tag_operation_ < 0) return;
  const auto id = static_cast<std::uint32_t>(tag_operation_);
  Operation& operation = operations_[id];
  const bool store = is_store(*operation.instruction);
  constexpr std::uint32_t kAhead = 6,
                          kNear =
                              3;  // lines that the host is asked for before they are looked up: sets, entries
  if (operation.lines > 1) {
    for (std::uint32_t i = tag_line_; i < std::min(tag_line_ + kAhead, operation.lines); ++i) {
      tags.bring(operation.detail->lines.lines[i].line);
    }
  }
  while (tag_line_ < operation.lines) {
    if (tag_line_ + kAhead < operation.lines)
      tags.bring(operation.detail->lines.lines[tag_line_ + kAhead].line);
    if (tag_line_ + kNear < operation.lines)
      tags.bring_entry(operation.detail->lines.lines[tag_line_ + kNear].line);
    const Cycle when = std::max(now, operation.accepted + tag_line_ / spec_.l1.tag_lines);
    const rules::LineAccess& access = operation.detail->lines.lines[tag_line_];
    if (store) {
      store_line(operation, access, when);
    } else if (!load_line(operation, id, access, when)) {
      return;  // no room for the miss: filled() comes back here
    }
    ++tag_line_;
  }
  finish_tags(now);
}

void MemoryPipe::finish_tags(Cycle now) {
  const auto id = static_cast<std::uint32_t>(tag_operation_);
  Operation& operation = operations_[id];
  tag_operation_ = -1;
  operation.ready = std::max(operation.ready, now);
  tag_free_ = std::max(tag_free_, now);
  want(tag_free_);
  if (timeline_) timeline_->operation_stage(id, Stage::tags, operation.accepted, tag_free_);
  if (is_store(*operation.instruction)) {
    out.end_instruction(operation.warp, now);
    const bool store_waits = operation.lines <= out.held().room();
    const Cycle from = operation.ready + DataStage::kAfterTags;
    const Cycle start = operation.instruction->form.access == Access::reduction
                            ? data.pass(from, operation.wavefronts)
                            : data.take_store(from, operation.wavefronts, store_waits ? 0 : operation.lines);
    const Cycle end = start + operation.wavefronts;
    if (timeline_) timeline_->operation_stage(id, Stage::data, start, end);
    // A warp that ends waits until its stores have left the SM, not until they are answered (H100, block_end).
    operation.ready = std::max(end, out.last_out());
    if (operation.way_pieces != 0) {
      const bool leaves = way_.enter(id, operation.way_pieces);
      out.way_is_full(way_.full(), now);
      if (!leaves) return;
    }
    write_back_.done(Event::Kind::store_done, operation, operation.ready);
    operations_.give_back(id);
  } else if (!operation.missed) {
    loads_.pass(id);
    want(operation.ready);
  } else {
    loads_.miss(operations_, id);
    if (operation.waiting == 0) want(loads_.release(operations_, operation.warp, now));
  }
}

void MemoryPipe::tick(Cycle now) {
  next_tick_ = kNever;
  out.leave_due(now);
  drain_loads(now);
  if (next_tick_ <= now) next_tick_ = kNever;
  run_tags(now);
  const std::uint32_t taken = queues_.take(now, [&](std::uint32_t id) {
    const Operation& operation = operations_[id];
    if (accepted_from(operation, now) <= now && has_room(operation)) return MemoryQueues::Turn::goes;
    const bool holds_up = stores_data(*operation.instruction) && operation.space != Space::shared;
    return holds_up ? MemoryQueues::Turn::holds_up : MemoryQueues::Turn::is_passed;
  });
  if (taken != MemoryQueues::kNone) accept(taken, now);
  // What the first of a queue waits for is either a time or an event that comes with a tick of its own.
  stores_wait_ = false;
  queues_.for_each_first(now, [&](std::uint32_t id, Cycle when) {
    const Operation& operation = operations_[id];
    const Cycle from = accepted_from(operation, now);
    if (from == kNever) return;
    if (has_room(operation)) {
      want(std::max(when, from));
    } else if (is_store(*operation.instruction)) {
      stores_wait_ = true;
    }
  });
  if (loads_.returns()) want(std::max(operations_[loads_.next()].ready, now + 1));
  want(out.held_due());
}

}  // namespace foretrace::sm
