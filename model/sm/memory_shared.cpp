// Accesses to shared memory: they take the data stage, and their latencies are known then.

#include <algorithm>
#include <bit>

#include "model/sm/memory_forms.h"
#include "model/sm/memory_pipe.h"

namespace foretrace::sm {

using isa::Access;

void MemoryPipe::accept_shared(const Operation& operation, std::uint32_t id, Cycle now) {
  const StaticInstruction& instruction = *operation.instruction;
  const Cycle before = spec_.lsu.issue_latency + spec_.lsu.address_latency + DataStage::kAfterTags;
  const bool atomic =
      instruction.form.access == Access::atomic || instruction.form.access == Access::reduction;
  const bool compares = instruction.form.atomic == isa::AtomicKind::compare ||
                        instruction.form.atomic == isa::AtomicKind::attempt;
  const std::uint32_t times = atomic && compares ? spec_.shared.compare_passes : 1;
  std::uint32_t pass = 1;
  if (atomic) pass = spec_.shared.atomic_interval * times;
  // A test of an mbarrier takes no pass of the data stage: ncu counts it neither there nor on the LSU (ncu_multicast on H100).
  const bool tests = instruction.barrier_use == isa::BarrierUse::check;
  const Cycle start = tests ? now + DataStage::kAfterTags : data.shared_start(now);
  Cycle busy = tests ? 1 : Cycle{operation.wavefronts} * pass;
  if (!atomic && instruction.form.bytes <= 4) busy = std::max<Cycle>(busy, spec_.l1.narrow_interval);
  if (!atomic && instruction.form.access != Access::matrix_store) {
    const bool store = instruction.form.access == Access::store;
    busy += data.again(store ? DataArray::Way::write : DataArray::Way::read, operation.half, start, busy);
  }
  const std::uint32_t wide = std::min(operation.wavefronts, operation.ideal);
  if (!tests) {
    // A store's registers were read on the way here (store_sources on H200); the others' passes go through their sub-core's path.
    const bool stores = instruction.form.access == Access::store;
    const Cycle path = Cycle{stores ? operation.wavefronts - wide : operation.wavefronts} * times;
    busy = data.take_shared(operation.sub_core, start, busy, path);
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
  const Cycle added = Cycle{wide - 1} * spec_.lsu.width_latency +
                      Cycle{operation.wavefronts - wide} * spec_.shared.conflict_latency;
  Cycle answered = start + tail + std::max<Cycle>(added, busy - 1);
  if (operation.remote) {
    const std::uint32_t bytes =
        static_cast<std::uint32_t>(std::popcount(operation.executed)) * instruction.form.bytes;
    answered = std::max(answered, data.send_remote(start, bytes) + spec_.cluster.remote_latency -
                                      std::min<Cycle>(before, spec_.cluster.remote_latency));
  }
  // What waits for a phase is answered by the barrier.
  if (of_barrier) write_back_.reach_barrier(operation, answered - start - busy, start + busy);
  if (!of_barrier || !tests) write_back_.release(operation, instruction.write_barrier, answered);
  if (holds_warp(instruction))
    write_back_.done(Event::Kind::store_done, operation, std::max(start + busy, operation.sources_read));
  operations_.give_back(id);
}

}  // namespace foretrace::sm
