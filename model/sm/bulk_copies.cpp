#include "model/sm/bulk_copies.h"

#include <bit>

namespace foretrace::sm {

void BulkCopies::start(const Warp& warp, std::uint16_t id, Cycle now) {
  CopyEngine::Job job;
  job.transfer = warp.cursor.transfer();
  const work::TransferKind kind = job.transfer.kind;
  if (kind == work::TransferKind::none) return;
  const Block& block = blocks_[warp.block];
  job.block = warp.block;
  job.serial = block.serial;
  job.warp = id;
  job.generation = WarpTable::generation(warp);
  job.group = groups.open(id);
  if (kind == work::TransferKind::load && block.places.size() > 1) {
    job.to_self = (job.transfer.blocks >> block.rank & 1) != 0;
    job.to_others = (job.transfer.blocks & ~(1u << block.rank)) != 0;
  }
  if (kind == work::TransferKind::store || kind == work::TransferKind::reduce) groups.add(id);
  const std::uint32_t number = engine.start(std::move(job), now);
  if (context_.timeline) context_.timeline->begin_copy(number, id, now);
}

void BulkCopies::commit(Warp& warp, std::uint16_t id, const StaticInstruction& instruction, Cycle now) {
  warp.scoreboards.raise(instruction.read_barrier, true);
  groups.commit(id, instruction.read_barrier);
  settle(id, now);
}

void BulkCopies::settle(std::uint16_t id, Cycle now) {
  groups.settle(id, [&](const CopyGroups::Group& group) {
    if (group.scoreboard < kScoreboards) table_.release_at(id, group.scoreboard, now + 1);
  });
}

void BulkCopies::told(std::uint32_t number, Cycle now) {
  const CopyEngine::Job job = engine.job(number);
  engine.finish(number);
  if (context_.timeline) context_.timeline->end_copy(number, now);
  const work::TransferKind kind = job.transfer.kind;
  if (kind == work::TransferKind::store || kind == work::TransferKind::reduce) {
    const Warp& warp = table_.warps[job.warp];
    if (warp.phase == Phase::free || WarpTable::generation(warp) != job.generation) return;
    groups.end(job.warp, job.group);
    settle(job.warp, now);
    return;
  }
  const Block& block = blocks_[job.block];
  const bool live = block.used && block.serial == job.serial;
  if (!live || job.transfer.barrier == work::Transfer::kNoBarrier) return;
  const isa::Arrival arrival{0, -std::int64_t{job.transfer.bytes}, false};
  if (kind == work::TransferKind::load) {
    if (job.to_self) barriers_.arrive(job.block, block.rank, job.transfer.barrier, arrival, 1, now);
  } else if (kind == work::TransferKind::shared) {
    for (std::uint32_t ranks = job.transfer.blocks; ranks != 0; ranks &= ranks - 1) {
      barriers_.arrive(job.block, static_cast<std::uint32_t>(std::countr_zero(ranks)), job.transfer.barrier,
                       arrival, 1, now);
    }
  }
}

void BulkCopies::spread(const memory::Reply& reply, std::vector<ClusterMessage>& out) const {
  const CopyEngine::Piece& piece = engine.piece(reply.id);
  const CopyEngine::Job& job = engine.job(piece.job);
  const Block& block = blocks_[job.block];
  if (!block.used || block.serial != job.serial) return;
  for (std::uint32_t rank = 0; rank < block.places.size(); ++rank) {
    if (rank == block.rank || (job.transfer.blocks >> rank & 1) == 0) continue;
    // Each piece is told by itself: the phase ends when all have come, in whatever order.
    out.push_back({reply.time, block.places[rank], block.cluster, rank, ClusterMessage::Kind::copied,
                   job.transfer.barrier, piece.bytes, isa::Arrival{0, -std::int64_t{piece.bytes}, false}});
  }
}

}  // namespace foretrace::sm
