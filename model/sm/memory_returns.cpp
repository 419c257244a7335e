// The way back of the memory pipe: replies of the memory system, loads that return, acknowledgements of stores.

#include <algorithm>

#include "model/sm/memory_forms.h"
#include "model/sm/memory_pipe.h"

namespace foretrace::sm {

/// The operation waits for the data of a request, which other operations may wait for too.
void MemoryPipe::wait_for(std::uint32_t request, std::uint32_t operation, Cycle now) {
  misses_.wait(request, operation);
  if (timeline_) timeline_->asks(operation, request, now);
}

void MemoryPipe::drain_loads(Cycle now) {
  while (loads_.returns()) {
    const std::uint32_t id = loads_.next();
    if (operations_[id].ready > now) {
      want(operations_[id].ready);
      return;
    }
    return_load(id, now);
    want(now);  // room in flight: the arbiter may take another
  }
}

/// A load whose data are there goes through the data stage to the registers, or to shared memory.
void MemoryPipe::return_load(std::uint32_t id, Cycle now) {
  const Operation& operation = operations_[id];
  const StaticInstruction& instruction = *operation.instruction;
  const std::uint32_t least = instruction.form.bytes <= 4 ? spec_.l1.narrow_interval : 1;
  // A copy goes through the data stage for what it reads from L1, and once; it writes shared memory beside the stage (H100,
  // async_copies).
  const bool copy = is_copy(instruction);
  const Cycle busy = (instruction.bypasses_l1 ? 0 : std::max(operation.wavefronts, least)) + (copy ? 1 : 0);
  // The stage serves several sub-cores in turn; what conflicts add goes to one of them at half its rate (H100, row_walks).
  const std::uint32_t wide = std::max<std::uint32_t>(least, instruction.data_registers);
  const Cycle conflicts = copy || operation.wavefronts <= wide ? 0 : operation.wavefronts - wide;
  const Cycle start = data.load({operation.sub_core, busy, conflicts, !operation.missed}, now);
  if (timeline_) timeline_->operation_stage(id, Stage::data, start, start + busy);
  const Cycle before = spec_.lsu.issue_latency + spec_.lsu.address_latency + 2;
  const std::uint32_t latency = (operation.missed ? spec_.l1.miss_latency : spec_.l1.hit_latency) +
                                (instruction.form.texture ? spec_.texture.latency : 0);
  const Cycle tail = latency > before ? latency - before : 1;
  const Cycle width = Cycle{instruction.data_registers - 1u} * spec_.lsu.width_latency;
  Cycle when = start + tail + width + conflicts * spec_.shared.sub_core_interval;
  if (copy) {
    const Cycle passes = busy + operation.shared_wavefronts;
    when = std::max(data.write_copied(start, operation.shared_wavefronts),
                    start + passes - std::min<Cycle>(passes, wide)) +
           tail;
  }
  write_back_.release(operation, instruction.write_barrier, when);
  if (copy) write_back_.done(Event::Kind::copy_done, operation, when);
  if (holds_warp(instruction)) write_back_.done(Event::Kind::store_done, operation, when);
  operations_.give_back(id);
  loads_.pop();
}

Cycle MemoryPipe::arrive(std::uint32_t id, Cycle now) {
  const Misses::Miss& miss = misses_[id & ~memory::kTooEarly];
  if (miss.tagged) tags.bring_at(miss.entry);  // for filled()
  misses_.bring_waiter(miss);
  const auto bytes = memory::sector_count(miss.sectors) * kSectorBytes;
  fill_free_ = std::max(fill_free_, now) + divide_up(bytes, spec_.l1.fill_bytes);
  if (timeline_) timeline_->arrived(id & ~memory::kTooEarly, now, fill_free_);
  return fill_free_;
}

void MemoryPipe::filled(std::uint32_t id, Cycle now) {
  const bool early = (id & memory::kTooEarly) != 0;
  id &= ~memory::kTooEarly;
  const Misses::Miss& miss = misses_[id];
  if (miss.tagged) {
    data.take_half(DataArray::Way::write, data.array.half_of_line(tags.place(miss.entry)), now,
                   memory::sector_count(miss.sectors));
    L1Tags::Entry* entry = tags.at(miss.entry, miss.line);
    if (entry && misses_.unlink(entry->pending, id))
      entry->in_flight = static_cast<std::uint8_t>(entry->in_flight & ~miss.sectors);
  }
  misses_.end(id, [&](std::uint32_t waiting) {
    Operation& operation = operations_[waiting];
    operation.ready = std::max(operation.ready, now);
    if (early) too_early_ |= std::uint64_t{1} << operation.warp;
    if (--operation.waiting == 0) want(loads_.release(operations_, operation.warp, now));
  });
  out.answered();
  want(now);
}

void MemoryPipe::acknowledged(std::uint32_t id, Cycle now) {
  if (const std::uint32_t pieces = out.acknowledged(id); pieces != 0) {
    way_.served(pieces, [&](std::uint32_t left) {
      write_back_.done(Event::Kind::store_done, operations_[left], std::max(operations_[left].ready, now));
      operations_.give_back(left);
    });
    if (out.way_is_full(way_.full(), now)) want(std::max(now, out.held_due()));
  }
  if (stores_wait_) want(now);
}

}  // namespace foretrace::sm
