#include "model/sm/memory_pipe.h"

#include <algorithm>
#include <bit>

#include "model/sm/memory_forms.h"
#include "model/sm/memory_requests.h"
#include "model/units/error.h"

namespace foretrace::sm {

using isa::Access;
using isa::Space;

MemoryPipe::MemoryPipe(const spec::GpuSpec& spec, std::uint32_t sm, std::uint64_t l1_bytes,
                       std::uint64_t block_shared, const StaticProgram& program, Events& events,
                       stats::LaunchCounters& counters, std::vector<memory::Request>& outbox)
    : spec_(spec), sm_(sm), program_(program), events_(events), counters_(counters), outbox_(outbox),
      array_(spec.l1.unified_bytes, block_shared, spec.l1.sector_interval), tags_(l1_bytes, spec.l1.ways),
      shapes_(program, array_, counters), misses_(spec.l1.lines_in_flight, spec.l1.sectors_in_flight),
      warp_loads_(kSubCores * kWarpSlots), hit_starts_(spec.lsu.data_queue),
      store_buffer_(spec.l1.store_lines, spec.l1.store_cycles, spec.l1.store_merge_cycles),
      swaps_(!program.shapes.retries.empty()) {
  FORETRACE_ASSERT(spec.lsu.queue <= 16, "a memory queue has at most 16 entries");
}

void MemoryPipe::issue(int sub_core, const MemoryIssue& issue, Cycle now) {
  Queue& queue = queue_[static_cast<std::size_t>(sub_core)];
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
  operation.tags_done = false;
  operation.missed = operation.hit = false;
  operation.lines = operation.sectors = 0;
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

  const std::uint32_t interval =
      issue.instruction->short_address ? spec_.lsu.uniform_interval : spec_.lsu.address_interval;
  const Cycle start = std::max(now + spec_.lsu.issue_latency, queue.generator_free);
  queue.generator_free = start + interval;
  operation.ready = start + spec_.lsu.address_latency;
  queue.operation[(queue.first + queue.size) % queue.operation.size()] = id;
  ++queue.size;
  queued_ |= 1u << sub_core;
  if (timeline_) timeline_->queued(id, operation.warp, now, start, operation.ready);
  want(std::max(operation.ready, arbiter_free_));
}

void MemoryPipe::count(const MemoryIssue& issue) {
  shapes_.count_instruction(issue.instruction->form);
  if (issue.executed == 0) return;
  MemoryDetail detail;
  Operation operation;
  operation.detail = &detail;
  operation.instruction = issue.instruction;
  operation.index = issue.index;
  operation.executed = issue.executed;
  shapes_.find(operation, issue);
}

void MemoryPipe::release(const Operation& operation, std::uint8_t scoreboard, Cycle when) {
  if (scoreboard >= kScoreboards) return;
  events_.push(when, {Event::Kind::release, scoreboard, operation.warp, 0, operation.generation});
  if (timeline_) tell_release(operation, scoreboard, when);
}

void MemoryPipe::notify(Event::Kind kind, const Operation& operation, Cycle when) {
  events_.push(when, {kind, 0, operation.warp, operation.copy_group, operation.generation});
  if (timeline_ && kind == Event::Kind::copy_done)
    timeline_->operation_written(operations_.number_of(operation), when);
}

bool MemoryPipe::can_accept(const Operation& operation, Cycle now) const {
  const StaticInstruction& instruction = *operation.instruction;
  if (operation.executed == 0) return true;
  if (instruction.barrier_use == isa::BarrierUse::check) return true;
  if (instruction.action == Action::memory_other || operation.space == isa::Space::shared) {
    return data_free_ <= now + kTagToData && port_free_[operation.sub_core] <= now + kTagToData;
  }
  if (tag_operation_ >= 0 || tag_free_ > now) return false;
  if (instruction.form.texture && texture_free_ > now) return false;
  if (is_store(instruction)) return store_sectors_in_flight_ < spec_.l1.store_sectors_in_flight;
  return loads_in_flight_ < spec_.lsu.in_flight && hit_starts_[oldest_start_] <= now + kTagToData;
}

void MemoryPipe::accept(std::uint32_t id, Cycle now) {
  Operation& operation = operations_[id];
  const StaticInstruction& instruction = *operation.instruction;
  operation.accepted = now;
  if (timeline_) timeline_->accepted(id, now);
  const Cycle before = spec_.lsu.issue_latency + spec_.lsu.address_latency;  // already spent, unloaded
  const auto after = [&](std::uint32_t latency) { return now + (latency > before ? latency - before : 1); };
  const bool stores_data = instruction.action == Action::memory && is_store(instruction);
  const std::uint32_t source =
      stores_data
          ? spec_.lsu.store_source_latency + spec_.lsu.store_width_latency * (instruction.data_registers - 1u)
          : spec_.lsu.source_latency;
  release(operation, instruction.read_barrier, after(source));
  if (operation.executed ==
      0) {  // nothing to access, but it goes the way (H100, predicated_off: 22 cycles, loads of global memory too)
    release(operation, instruction.write_barrier, after(spec_.shared.latency - 1));
    if (is_copy(instruction)) notify(Event::Kind::copy_done, operation, now + 1);
    if (stores_data) notify(Event::Kind::store_done, operation, now + 1);
    operations_.give_back(id);
    return;
  }
  if (instruction.action == Action::memory_other) {
    const bool uses_data_stage = instruction.latency_class == spec::LatencyClass::shuffle ||
                                 instruction.latency_class == spec::LatencyClass::match;
    if (uses_data_stage) {
      data_free_ = std::max(data_free_, now + kTagToData) + instruction.interval;
      if (timeline_)
        timeline_->operation_stage(id, Stage::data, data_free_ - instruction.interval, data_free_);
      counters_.l1_data_wavefronts += instruction.interval;
    }
    release(operation, instruction.write_barrier, after(instruction.latency));
    operations_.give_back(id);
    return;
  }
  if (operation.space == isa::Space::shared) {
    accept_shared(operation, id, now);
    return;
  }
  if (instruction.form.texture) {
    texture_free_ =
        now + std::max<Cycle>(1, divide_up(spec_.texture.interval * quads(operation.executed), kQuads) *
                                     (is_store(instruction) ? 2 : std::max(1u, operation.passes)));
  }
  const std::uint32_t tag_cycles = std::max({1u, divide_up(operation.lines, spec_.l1.tag_lines),
                                             divide_up(operation.sectors, spec_.l1.tag_sectors)});
  tag_free_ = now + tag_cycles;
  counters_.l1_tag_cycles += tag_cycles;
  operation.ready = tag_free_;
  tag_operation_ = id;
  tag_line_ = 0;
  if (!is_store(instruction)) {
    ++loads_in_flight_;
    WarpLoads& loads = warp_loads_[operation.warp];
    (loads.last < 0 ? loads.first : operations_[static_cast<std::size_t>(loads.last)].next_load) =
        static_cast<std::int32_t>(id);
    loads.last = static_cast<std::int32_t>(id);
    operation.next_load = -1;
  }
  run_tags(now);
}

void MemoryPipe::accept_shared(Operation& operation, std::uint32_t id, Cycle now) {
  const StaticInstruction& instruction = *operation.instruction;
  const Cycle before = spec_.lsu.issue_latency + spec_.lsu.address_latency + kTagToData;
  const bool atomic =
      instruction.form.access == Access::atomic || instruction.form.access == Access::reduction;
  const std::uint32_t times =
      atomic && instruction.form.atomic == isa::AtomicKind::compare ? spec_.shared.compare_passes : 1;
  std::uint32_t pass = 1;
  if (atomic) pass = spec_.shared.atomic_interval * times;
  // A test of an mbarrier takes no pass of the data stage: ncu counts it neither there nor on the LSU (ncu_multicast on H100).
  const bool tests = instruction.barrier_use == isa::BarrierUse::check;
  const Cycle start = tests ? now + kTagToData : std::max(data_free_, now + kTagToData);
  Cycle busy = tests ? 1 : Cycle{operation.wavefronts} * pass;
  if (!atomic && instruction.form.bytes <= 4) busy = std::max<Cycle>(busy, spec_.l1.narrow_interval);
  if (!atomic && instruction.form.access != Access::matrix_store) {
    const bool store = instruction.form.access == Access::store;
    const Cycle again =
        array_.access(store ? DataArray::Way::write : DataArray::Way::read, operation.half, start, busy);
    (store ? counters_.shared_contention_st : counters_.shared_contention_ld) += again;
    busy += again;
  }
  if (!tests) {
    counters_.l1_data_wavefronts += busy;
    busy = beside_products(start, busy);
    data_free_ = start + busy;
    if (timeline_) timeline_->operation_stage(id, Stage::data, start, start + busy);
  }
  if (swaps_.access(operation.swap, operation.warp, operation.detail->addresses, operation.executed, start))
    too_early_ |= std::uint64_t{1} << operation.warp;
  const bool generic = instruction.form.space == isa::Space::generic;
  std::uint32_t latency = generic ? spec_.shared.generic_latency : spec_.shared.latency;
  if (atomic) latency = spec_.shared.atomic_latency;
  const bool of_barrier = operation.barrier_op != 0;
  if (of_barrier && spec_.mbarrier.latency != 0) latency = spec_.mbarrier.latency;
  if (instruction.form.access == Access::matrix_load) {
    latency = spec_.latency[static_cast<std::size_t>(spec::LatencyClass::matrix_load)];
  }
  const Cycle tail = latency > before ? latency - before : 1;
  // The passes that the width needs and those that conflicts add cost a lone access differently (H100, shared_latency).
  const std::uint32_t wide = std::min(operation.wavefronts, operation.ideal);
  const Cycle added = Cycle{wide - 1} * spec_.lsu.width_latency +
                      Cycle{operation.wavefronts - wide} * spec_.shared.conflict_latency;
  if (!tests)
    port_free_[operation.sub_core] =
        start + Cycle{operation.wavefronts} * times * spec_.shared.sub_core_interval;
  Cycle answered = start + tail + std::max<Cycle>(added, busy - 1);
  if (operation.remote) {
    const std::uint32_t bytes =
        static_cast<std::uint32_t>(std::popcount(operation.executed)) * instruction.form.bytes;
    remote_free_ = std::max(remote_free_, start) + divide_up(bytes, spec_.cluster.remote_bytes);
    data_free_ = std::max(data_free_, remote_free_);
    answered = std::max(answered, remote_free_ + spec_.cluster.remote_latency -
                                      std::min<Cycle>(before, spec_.cluster.remote_latency));
  }
  if (of_barrier) {  // what waits for a phase is answered by the barrier
    events_.push(start + busy, {Event::Kind::barrier,
                                static_cast<std::uint8_t>(std::min<Cycle>(answered - start - busy, 255)),
                                operation.warp, operation.barrier_op - 1, operation.generation});
  }
  if (!of_barrier || instruction.barrier_use != isa::BarrierUse::check)
    release(operation, instruction.write_barrier, answered);
  if (is_store(instruction)) notify(Event::Kind::store_done, operation, start + busy);
  operations_.give_back(id);
}

/// A request on its way: one a cycle leaves the SM, writes and atomics with their last piece.
memory::Request& MemoryPipe::leave(const memory::Request& request, Cycle now) {
  last_out_ = std::max(now, last_out_ + 1);
  if (request.flits > 1) last_out_ += request.flits - 1u;
  memory::Request& out = outbox_.emplace_back(request);
  out.time = last_out_;
  out.sm = sm_;
  out.wants_reply = true;
  return out;
}

Cycle MemoryPipe::send_stored(memory::Request request, Cycle now) {
  leave_due_stores(now);
  const std::uint32_t held = std::max<std::uint32_t>(request.visits, memory::sector_count(request.sectors));
  if (request.flits == 0) request.flits = memory::write_pieces(request.sectors, request.bytes);
  request.id = kStoreMark | held;
  store_sectors_in_flight_ += held;
  ++requests_in_use_;
  data_free_ = std::max(data_free_, now) + 1;
  ++counters_.l1_data_wavefronts;
  leave(request, now);
  return last_out_ + 1;
}

void MemoryPipe::copied_in(std::uint32_t block, std::uint32_t offset, std::uint32_t sectors, Cycle now) {
  const Cycle again = array_.take(DataArray::Way::write, array_.half_of_shared(block, offset), now, sectors);
  counters_.shared_contention_st += again;
  counters_.l1_data_wavefronts += again;
  data_free_ += again;
}

void MemoryPipe::take_for_products(Cycle start, Cycle end, std::uint32_t shared) {
  counters_.l1_data_wavefronts += shared;
  counters_.shared_wavefronts_product += shared;
  if (shared && end > start) products_.push_back({start, end, shared});
}

/// How long an access of `busy` cycles from `start` on takes the data stage while tensor cores read operands: it gets what they leave.
Cycle MemoryPipe::beside_products(Cycle start, Cycle busy) {
  while (!products_.empty() && products_.front().end <= start) products_.pop_front();
  if (products_.empty() || products_.front().start > start) return busy;
  const Taken& taken = products_.front();
  const Cycle all = taken.end - taken.start, left = all - std::min<Cycle>(taken.shared, all);
  return left * spec_.wgmma.shared_interval <= all ? busy * spec_.wgmma.shared_interval
                                                   : (busy * all + left - 1) / left;
}

std::uint32_t MemoryPipe::send(const memory::Request& prototype, bool load, Cycle now) {
  leave_due_stores(now);
  const auto sectors = memory::sector_count(prototype.sectors);
  const std::uint32_t held = std::max<std::uint32_t>(prototype.visits, sectors);
  std::uint32_t id = kStoreMark | held;
  if (load) {
    id = misses_.take(prototype.line, prototype.sectors);
  } else {
    store_sectors_in_flight_ += held;
  }
  ++requests_in_use_;
  leave(prototype, now).id = id;
  return id;
}

bool MemoryPipe::load_line(Operation& operation, std::uint32_t id, const rules::LineAccess& access,
                           Cycle now) {
  const isa::MemoryForm& form = operation.instruction->form;
  const bool atomic = form.access == Access::atomic;
  memory::Request request;
  request.line = access.line;
  request.kind = atomic ? memory::RequestKind::atomic : memory::RequestKind::read;
  if (atomic) put_packets(request, form, operation.detail->addresses, operation.executed);
  if (atomic || form.strong) {  // served by L2, whatever L1 holds
    const auto sectors = memory::sector_count(access.sectors);
    if (!misses_.room(sectors)) return false;
    if (L1Tags::Entry* entry = tags_.find(access.line); entry && atomic) tags_.drop(*entry, access.sectors);
    request.sectors = access.sectors;
    operation.swap.tries ? put_try(request, operation.swap, operation.detail->addresses, operation.executed)
                         : put_signal(request, operation, tag_line_ + 1 == operation.lines);
    wait_for(send(request, true, now), id, now);
    ++operation.waiting;
    operation.missed = true;
    return true;
  }
  L1Tags::Entry* entry = tags_.find(access.line);
  const std::uint8_t present = entry ? entry->valid : std::uint8_t{0};
  auto missing = static_cast<std::uint8_t>(access.sectors & ~present);
  if (entry && (missing & entry->written) && form.access == Access::load && operation.space != Space::local) {
    missing = static_cast<std::uint8_t>(
        missing & ~tags_.covered(*entry, missing, operation.detail->written[tag_line_]));
  }
  const auto missing_count = memory::sector_count(missing);
  if (missing && !misses_.room(missing_count)) return false;
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
  if (!entry) entry = &tags_.allocate(access.line);
  request.sectors = missing;
  const std::uint32_t sent = send(request, true, now);
  Misses::Miss& pending = misses_[sent];
  pending.tagged = true;
  pending.entry = tags_.position(*entry);
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
      tags_.bring(operation.detail->lines.lines[i].line);
    }
  }
  while (tag_line_ < operation.lines) {
    if (tag_line_ + kAhead < operation.lines)
      tags_.bring(operation.detail->lines.lines[tag_line_ + kAhead].line);
    if (tag_line_ + kNear < operation.lines)
      tags_.bring_entry(operation.detail->lines.lines[tag_line_ + kNear].line);
    const Cycle when = std::max(now, operation.accepted + tag_line_ / spec_.l1.tag_lines);
    const rules::LineAccess& access = operation.detail->lines.lines[tag_line_];
    const bool done =
        store ? store_line(operation, id, access, when) : load_line(operation, id, access, when);
    if (!done) return;  // no room for the miss: filled() comes back here
    ++tag_line_;
  }
  finish_tags(now);
}

void MemoryPipe::finish_tags(Cycle now) {
  const auto id = static_cast<std::uint32_t>(tag_operation_);
  Operation& operation = operations_[id];
  tag_operation_ = -1;
  operation.tags_done = true;
  operation.ready = std::max(operation.ready, now);
  tag_free_ = std::max(tag_free_, now);
  want(tag_free_);
  if (timeline_) timeline_->operation_stage(id, Stage::tags, operation.accepted, tag_free_);
  if (is_store(*operation.instruction)) {
    store_buffer_.end_instruction(operation.warp,
                                  [&](const memory::Request& store) { leave_store(store, now); });
    const Cycle start = std::max(data_free_, operation.ready + kTagToData);
    data_free_ = start + operation.wavefronts;
    if (timeline_) timeline_->operation_stage(id, Stage::data, start, data_free_);
    counters_.l1_data_wavefronts += operation.wavefronts;
    // A warp that ends waits until its stores have left the SM, not until they are answered (H100, block_end).
    notify(Event::Kind::store_done, operation, std::max(data_free_, last_out_));
    operations_.give_back(id);
  } else if (operation.waiting == 0) {
    operation.hit = warp_loads_[operation.warp].first == static_cast<std::int32_t>(id);
    release_loads(operation.warp, now);
  }
}

void MemoryPipe::tick(Cycle now) {
  next_tick_ = kNever;
  leave_due_stores(now);
  drain_loads(now);
  if (next_tick_ <= now) next_tick_ = kNever;
  run_tags(now);
  if (queued_ != 0 && arbiter_free_ <= now) {
    for (int i = 0; i < kSubCores; ++i) {
      const int sub_core = (turn_ + i) % kSubCores;
      if ((queued_ >> sub_core & 1) == 0) continue;
      Queue& queue = queue_[static_cast<std::size_t>(sub_core)];
      const std::uint32_t id = queue.operation[queue.first];
      if (operations_[id].ready > now || !can_accept(operations_[id], now)) continue;
      queue.first = static_cast<std::uint32_t>((queue.first + 1) % queue.operation.size());
      if (--queue.size == 0) queued_ &= ~(1u << sub_core);
      turn_ = (sub_core + 1) % kSubCores;
      arbiter_free_ = now + spec_.lsu.sm_interval;
      accept(id, now);
      break;
    }
  }
  // What a head waits for is either a time or an event that comes with a tick of its own.
  stores_wait_ = false;
  for (std::uint32_t m = queued_; m; m &= m - 1) {
    const Queue& queue = queue_[static_cast<std::size_t>(std::countr_zero(m))];
    const Operation& head = operations_[queue.operation[queue.first]];
    Cycle when = std::max({head.ready, arbiter_free_, now + 1});
    if (head.executed) {
      const bool data_only =
          head.instruction->action == Action::memory_other || head.space == isa::Space::shared;
      if (head.instruction->barrier_use == isa::BarrierUse::check) {
        // needs no more than its turn
      } else if (data_only) {
        const Cycle free = std::max(data_free_, port_free_[head.sub_core]);
        when = std::max(when, free > kTagToData ? free - kTagToData : 0);
      } else if (tag_operation_ >= 0) {
        continue;
      } else {
        when = std::max(when, tag_free_);
        if (head.instruction->form.texture) when = std::max(when, texture_free_);
        const Cycle start = hit_starts_[oldest_start_];
        if (!is_store(*head.instruction) && start > kTagToData) when = std::max(when, start - kTagToData);
        if (!can_accept(head, when)) {
          stores_wait_ = stores_wait_ || is_store(*head.instruction);
          continue;
        }
      }
    }
    want(when);
  }
  if (loaded_first_ < loaded_.size()) { want(std::max(operations_[loaded_[loaded_first_]].ready, now + 1)); }
  want(store_buffer_.due());
}

}  // namespace foretrace::sm
