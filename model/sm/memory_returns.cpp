// The way back of the memory pipe: replies of the memory system, loads that return in order, acknowledgements of stores.

#include <algorithm>

#include "model/sm/memory_forms.h"
#include "model/sm/memory_pipe.h"

namespace foretrace::sm {

/// The operation waits for the data of a request, which other operations may wait for too.
void MemoryPipe::wait_for(std::uint32_t request, std::uint32_t operation, Cycle now) {
  misses_.wait(request, operation);
  if (timeline_) timeline_->asks(operation, request, now);
}

[[gnu::cold]] void MemoryPipe::tell_release(const Operation& operation, std::uint8_t scoreboard, Cycle when) {
  if (scoreboard == operation.instruction->write_barrier) {
    timeline_->operation_written(operations_.number_of(operation), when);
  } else {
    timeline_->operation_sources_read(operations_.number_of(operation), when);
  }
}

/// The warp's loads whose data are there may return, up to the first that still waits.
void MemoryPipe::release_loads(std::uint16_t warp, Cycle now) {
  WarpLoads& loads = warp_loads_[warp];
  while (loads.first >= 0) {
    Operation& operation = operations_[static_cast<std::size_t>(loads.first)];
    if (!operation.tags_done || operation.waiting != 0) return;
    operation.ready = std::max(operation.ready, now);
    loaded_.push_back(static_cast<std::uint32_t>(loads.first));
    loads.first = operation.next_load;
    if (loads.first < 0) loads.last = -1;
    want(operation.ready);
  }
}

void MemoryPipe::drain_loads(Cycle now) {
  const Cycle before = spec_.lsu.issue_latency + spec_.lsu.address_latency + 2;
  while (loaded_first_ < loaded_.size()) {
    const std::uint32_t id = loaded_[loaded_first_];
    Operation& operation = operations_[id];
    if (operation.ready > now) {
      want(operation.ready);
      break;
    }
    const StaticInstruction& instruction = *operation.instruction;
    const std::uint32_t least = instruction.form.bytes <= 4 ? spec_.l1.narrow_interval : 1;
    // A copy goes through the data stage for what it reads from L1, and once; it writes shared memory beside the stage, two passes a
    // cycle (H100, async_copies).
    const bool copy = is_copy(instruction);
    const Cycle busy = (instruction.bypasses_l1 ? 0 : std::max(operation.wavefronts, least)) + (copy ? 1 : 0);
    // The stage serves several sub-cores in turn; what conflicts add goes to one of them at half its rate (H100, row_walks).
    const std::uint32_t wide = std::max<std::uint32_t>(least, instruction.data_registers);
    const Cycle conflicts = copy || operation.wavefronts <= wide ? 0 : operation.wavefronts - wide;
    const Cycle slot = std::max(data_free_, now + kTagToData);
    Cycle& port = port_free_[operation.sub_core];
    const Cycle start = conflicts ? std::max(slot, port) : slot;
    data_free_ = slot + busy;
    if (conflicts) port = start + busy + conflicts * (spec_.shared.sub_core_interval - 1);
    if (operation.hit) {
      hit_starts_[oldest_start_] = std::max(hits_done_, now + kTagToData);
      hits_done_ = hit_starts_[oldest_start_] + busy;
      oldest_start_ = (oldest_start_ + 1) % hit_starts_.size();
    }
    counters_.l1_data_wavefronts += busy;
    if (timeline_) timeline_->operation_stage(id, Stage::data, start, start + busy);
    const std::uint32_t latency = (operation.missed ? spec_.l1.miss_latency : spec_.l1.hit_latency) +
                                  (instruction.form.texture ? spec_.texture.latency : 0);
    const Cycle tail = latency > before ? latency - before : 1;
    const Cycle width = Cycle{instruction.data_registers - 1u} * spec_.lsu.width_latency;
    Cycle when = start + tail + width + conflicts * spec_.shared.sub_core_interval;
    if (copy) {
      constexpr std::uint32_t kCopyPasses = 2;  // a cycle
      const Cycle passes = busy + operation.shared_wavefronts;
      copied_free_ = std::max(copied_free_, start) + divide_up(operation.shared_wavefronts, kCopyPasses);
      when = std::max(copied_free_, start + passes - std::min<Cycle>(passes, wide)) + tail;
    }
    release(operation, instruction.write_barrier, when);
    if (copy) notify(Event::Kind::copy_done, operation, when);
    operations_.give_back(id);
    --loads_in_flight_;
    if (++loaded_first_ == loaded_.size()) {
      loaded_.clear();
      loaded_first_ = 0;
    }
    want(now);  // room in flight: the arbiter may take another
  }
}

Cycle MemoryPipe::arrive(std::uint32_t id, Cycle now) {
  const auto bytes = memory::sector_count(misses_[id & ~memory::kTooEarly].sectors) * kSectorBytes;
  fill_free_ = std::max(fill_free_, now) + divide_up(bytes, spec_.l1.fill_bytes);
  if (timeline_) timeline_->arrived(id & ~memory::kTooEarly, now, fill_free_);
  return fill_free_;
}

void MemoryPipe::filled(std::uint32_t id, Cycle now) {
  const bool early = (id & memory::kTooEarly) != 0;
  id &= ~memory::kTooEarly;
  const Misses::Miss& miss = misses_[id];
  if (miss.tagged) {
    const Cycle again = array_.take(DataArray::Way::write, array_.half_of_line(tags_.place(miss.entry)), now,
                                    memory::sector_count(miss.sectors));
    counters_.shared_contention_st += again;
    counters_.l1_data_wavefronts += again;
    data_free_ += again;
    L1Tags::Entry* entry = tags_.at(miss.entry, miss.line);
    if (entry && misses_.unlink(entry->pending, id))
      entry->in_flight = static_cast<std::uint8_t>(entry->in_flight & ~miss.sectors);
  }
  misses_.end(id, [&](std::uint32_t waiting) {
    Operation& operation = operations_[waiting];
    operation.ready = std::max(operation.ready, now);
    if (early) too_early_ |= std::uint64_t{1} << operation.warp;
    if (--operation.waiting == 0 && operation.tags_done) release_loads(operation.warp, now);
  });
  --requests_in_use_;
  want(now);
}

void MemoryPipe::acknowledged(std::uint32_t id, Cycle now) {
  store_sectors_in_flight_ -= id & ~kStoreMark;
  --requests_in_use_;
  if (stores_wait_) want(now);
}

}  // namespace foretrace::sm
