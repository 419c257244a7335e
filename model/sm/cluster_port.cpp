#include "model/sm/cluster_port.h"

#include <algorithm>

namespace foretrace::sm {

void ClusterPort::arrive(Block& block, Warp& warp, Cycle now) {
  ++warp.cluster_arrivals;
  ++block.cluster_warps;
  tell_if_complete(block, now);
}

void ClusterPort::leave(Block& block, Cycle now) {
  if (block.cluster_told != 0 || block.cluster_warps != 0) tell_if_complete(block, now);
  if (block.live_warps == 0 && block.places.size() > 1) tell(block, ClusterMessage::Kind::left, now);
}

/// All warps of the block that live have come to the cluster's barrier: its other blocks are told.
void ClusterPort::tell_if_complete(Block& block, Cycle now) {
  if (block.live_warps == 0 || block.cluster_warps < block.live_warps) return;
  block.cluster_warps = 0;
  ++block.cluster_told;
  tell(block, ClusterMessage::Kind::barrier, now);
}

void ClusterPort::tell(const Block& block, ClusterMessage::Kind kind, Cycle now) {
  ClusterMessage message;
  message.time = now + context_.spec.cluster.barrier_latency;
  message.cluster = block.cluster;
  message.kind = kind;
  message.offset = static_cast<std::uint32_t>(block.cluster_told & 1);
  message.sm = context_.sm;
  message.rank = block.rank;
  if (kind != ClusterMessage::Kind::left) receive(message);
  for (std::uint32_t rank = 0; rank < block.places.size(); ++rank) {
    if (rank == block.rank) continue;
    message.rank = rank;
    message.sm = block.places[rank];
    outbox_.push_back(message);
  }
}

void ClusterPort::receive(const ClusterMessage& message) {
  auto number = static_cast<std::uint32_t>(messages_.size());
  if (free_messages_.empty()) {
    messages_.emplace_back();
  } else {
    number = free_messages_.back();
    free_messages_.pop_back();
  }
  messages_[number] = message;
  Cycle when = message.time;
  if (message.kind == ClusterMessage::Kind::copied) {
    when = copies_.engine.bring(message.times, when);
    if (message.arrival.transactions != 0) when += context_.spec.tma.write_latency;
  }
  context_.events.push(when, {Event::Kind::message, 0, 0, number, 0});
}

void ClusterPort::take(std::uint32_t number, Cycle now) {
  free_messages_.push_back(number);
  const ClusterMessage message = messages_[number];
  const auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& each) {
    return each.used && each.cluster == message.cluster && each.rank == message.rank;
  });
  if (block == blocks_.end()) return;  // it has ended
  const auto slot = static_cast<std::uint32_t>(block - blocks_.begin());
  switch (message.kind) {
    case ClusterMessage::Kind::copied:
      if (message.arrival.transactions != 0)
        barriers_.arrive_here(slot, message.offset, message.arrival, 1, true, now);
      return;
    case ClusterMessage::Kind::arrival:
      barriers_.arrive_here(slot, message.offset, message.arrival, message.times,
                            message.arrival.arrivals == 0, now);
      return;
    case ClusterMessage::Kind::left: ++block->cluster_left; break;
    case ClusterMessage::Kind::barrier: ++block->cluster_blocks[message.offset]; break;
  }
  const std::size_t blocks = std::max<std::size_t>(1, block->places.size());
  std::uint32_t& came = block->cluster_blocks[(block->cluster_phase + 1) & 1];
  if (came == 0 || came + block->cluster_left < blocks) return;
  came = 0;
  ++block->cluster_phase;
  held_.look(slot, now);
}

}  // namespace foretrace::sm
