#include "sim/engine/moved_blocks.h"

#include <array>

#include "model/units/error.h"
#include "model/work/address_space.h"

namespace foretrace::engine {

namespace {

/// Whether an address is of global memory, also as a generic one: shared and local memory begin at 0, or lie in their windows.
bool is_global(std::uint64_t address) {
  return address >= work::kWindowBytes && address != work::kNoAddress && !work::is_shared_window(address) &&
         !work::is_local_window(address);
}

}  // namespace

std::shared_ptr<const work::BlockRecord> MovedBlocks::next() {
  const auto record = source_->next();
  if (record == nullptr) return nullptr;
  FORETRACE_ASSERT(record->rest == nullptr, "a block of a trace is here as a whole");
  auto moved = std::make_shared<work::BlockRecord>();
  moved->block = record->block;
  moved->warps.resize(record->warps.size());
  for (std::size_t i = 0; i < record->warps.size(); ++i) move(record->warps[i], moved->warps[i]);
  return moved;
}

void MovedBlocks::move(const work::WarpRecord& from, work::WarpRecord& to) const {
  work::WarpCursor cursor(own_, from);
  work::WarpRecorder recorder(all_, to);
  work::Step step;
  std::array<work::LaneAddresses, 2> addresses{};
  work::Transfer transfer;
  while (cursor.next(step)) {
    const work::Shape& shape = own_.of[step.index];
    for (int set = 0; step.executed && set < shape.addresses; ++set) {
      work::LaneAddresses& lanes = addresses[static_cast<std::size_t>(set)];
      cursor.addresses(set, lanes);
      for (std::uint64_t& address : lanes) address += is_global(address) ? memory_ : 0;
    }
    const work::Transfer* moved = nullptr;
    if (shape.transfers && step.executed) {
      transfer = cursor.transfer();
      for (work::CopyRun& run : transfer.runs) run.address += memory_;
      moved = &transfer;
    }
    recorder.record(first_ + step.index, step.active, step.executed,
                    std::span(addresses.data(), shape.addresses), step.value, {}, moved);
  }
  recorder.finish();
}

}  // namespace foretrace::engine
