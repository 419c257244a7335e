#include "sim/emulate/schedule/cluster.h"

#include <algorithm>

#include "sim/emulate/schedule/block.h"

namespace foretrace::emulate {

namespace {

/// Warp instructions without progress after which another block of the cluster has its turn.
constexpr std::uint64_t kTurnPatience = 4096;

std::uint64_t linear(const Dim3& at, const Dim3& extent) {
  return at.x + std::uint64_t{extent.x} * (at.y + std::uint64_t{extent.y} * at.z);
}
Dim3 spread(std::uint64_t index, const Dim3& extent) {
  const std::uint64_t rest = index / extent.x;
  return {static_cast<std::uint32_t>(index % extent.x), static_cast<std::uint32_t>(rest % extent.y),
          static_cast<std::uint32_t>(rest / extent.y)};
}

}  // namespace

Cluster::Cluster(const Emulator& emulator, std::uint64_t number, bool recording) {
  const Emulator::Launch& launch = emulator.launch();
  const Dim3 grid = launch.context.grid, shape = launch.context.cluster;
  const Dim3 at = spread(number, {grid.x / shape.x, grid.y / shape.y, grid.z / shape.z});
  for (std::uint32_t rank = 0; rank < shape.count(); ++rank) {
    const Dim3 inside = spread(rank, shape);
    const Dim3 block = {at.x * shape.x + inside.x, at.y * shape.y + inside.y, at.z * shape.z + inside.z};
    records_.push_back(std::make_shared<work::BlockRecord>());
    records_.back()->block = linear(block, grid);
    blocks_.push_back(std::make_unique<RunningBlock>(launch, linear(block, grid),
                                                     recording ? records_.back().get() : nullptr));
    if (shape.count() > 1) blocks_.back()->enter_cluster(this);
  }
}

Cluster::~Cluster() = default;

bool Cluster::run(std::uint64_t patience, std::uint64_t turn, bool alone) {
  progress_ = false;
  if (blocks_.size() == 1) {
    ended_ = ended_ || blocks_[0]->run(patience, !alone, turn);
    progress_ = ended_ || blocks_[0]->made_progress();
    if (progress_) progress_at_ = count().instructions;
    return ended_;
  }
  std::uint64_t idle = 0;
  while (idle <= patience) {
    bool all = true, some = false;
    const std::uint64_t before = count().instructions;
    for (const auto& block : blocks_) {
      if (block->ended()) continue;
      const bool ended = block->run(std::min(kTurnPatience, patience), true);
      all = all && ended;
      some = some || ended || block->made_progress();
    }
    if (all) {
      ended_ = true;
      progress_ = true;
      return true;
    }
    const std::uint64_t issued = count().instructions - before;
    if (issued == 0) {  // every warp waits at a barrier that nobody can complete
      for (const auto& block : blocks_) {
        if (!block->ended()) block->barriers().fault_impossible();
      }
    }
    progress_ = progress_ || some;
    if (some) progress_at_ = count().instructions;
    idle = some ? 0 : idle + issued;
  }
  return false;
}

bool Cluster::polls() const {
  return std::any_of(blocks_.begin(), blocks_.end(), [](const auto& block) { return block->polls(); });
}

BlockCount Cluster::count() const {
  BlockCount sum;
  for (const auto& block : blocks_) sum += block->count();
  return sum;
}

void Cluster::complete_phase() {
  for (const auto& block : blocks_) {
    if (!block->barriers().all_arrived(phase_)) return;
  }
  ++phase_;
  for (const auto& block : blocks_) block->barriers().release_from_cluster();
}

}  // namespace foretrace::emulate
