// Blocks that run together: a cluster, or one block by itself.
//
// Models:  thread-block clusters of sm_90 and sm_120: blocks that reach each other's shared memory by rank, and the cluster's
//          barrier (UCGABAR_ARV, UCGABAR_WAIT): a phase ends when all warps of all its blocks have arrived or ended. Blocks take
//          turns when one waits.
// Ignores: where the blocks' SMs are.
// Source:  our probe kernels; PTX ISA, barrier.cluster: threads arrive once and then wait, exited threads count as arrived.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/work/warp_record.h"
#include "sim/emulate/emulator.h"

namespace foretrace::emulate {

class RunningBlock;

/// Blocks of a cluster are in order of their rank, x fastest.
class Cluster {
 public:
  /// `number`: of the clusters of the grid, x fastest; of the blocks when clusters are of one block.
  Cluster(const Emulator& emulator, std::uint64_t number, bool recording);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Runs until all blocks have ended (true) or until `patience` warp instructions in a row brought no store, atomic or exit
  /// (false): they may be waiting for another cluster. Throws KernelFault.
  /// `turn`: also after about so many of a cluster of one block, which comes back as well when all that it does is to ask memory in
  /// vain, but `alone`, where there is no other to wait for.
  bool run(std::uint64_t patience, std::uint64_t turn, bool alone = false);
  bool ended() const { return ended_; }
  /// In the last call of run().
  bool made_progress() const { return progress_; }
  /// Warp instructions since the end of the last run() that made progress.
  std::uint64_t idle() const { return count().instructions - progress_at_; }
  /// Whether blocks have asked memory again and again since the last progress.
  bool polls() const;
  BlockCount count() const;
  std::size_t size() const { return blocks_.size(); }
  RunningBlock& block(std::size_t rank) { return *blocks_[rank]; }
  std::shared_ptr<work::BlockRecord> record(std::size_t rank) const { return records_[rank]; }

  // The barrier, for the blocks.
  std::uint64_t phase() const { return phase_; }
  /// Ends the phase if every live warp has arrived in it.
  void complete_phase();

 private:
  std::vector<std::shared_ptr<work::BlockRecord>> records_;
  std::vector<std::unique_ptr<RunningBlock>> blocks_;
  std::uint64_t phase_ = 0, progress_at_ = 0;
  bool ended_ = false, progress_ = false;
};

}  // namespace foretrace::emulate
