// The records of a launch's blocks: emulated ahead of the cycle model by a thread of their own, or read from a trace.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "model/work/block_source.h"
#include "sim/emulate/emulator.h"
#include "sim/emulate/schedule/block_stream.h"
#include "sim/engine/machine.h"
#include "sim/engine/shared_blocks.h"
#include "sim/trace/trace_reader.h"
#include "sim/trace/trace_writer.h"

namespace foretrace::engine {

/// Emulates blocks in index order, some ahead of what was asked for; each also goes to `writer` when there is one.
/// next() throws what the emulator threw (KernelFault) when the block that failed is asked for.
/// Blocks of matrix products, whose execution takes as long as their simulation, are executed by more threads while a reader waits, if
/// no cluster can see what another does.
class EmulatedBlocks final : public work::BlockSource {
 public:
  /// References must outlive the object.
  /// `resident`: blocks that may take turns when they wait for each other, one wave.
  /// `threads`: how many may execute, the reader's included; any number gives the same records.
  /// `shared` gets them as well, for other chips; may be null.
  EmulatedBlocks(const emulate::Emulator& emulator, std::uint64_t resident, int threads,
                 trace::TraceWriter* writer, SharedBlocks* shared = nullptr);
  ~EmulatedBlocks() override;
  std::shared_ptr<const work::BlockRecord> next() override;
  /// Leaves out the next so many; they are executed, since those after them may take values from what they write.
  void skip(std::uint64_t blocks);
  /// Executes the blocks that were not asked for. Memory is then as the launch leaves it.
  void finish();

 private:
  void produce();
  void execute_in_order();
  void execute_clusters(bool helps);
  bool may_execute(bool helps) const;
  void keep(std::vector<std::shared_ptr<work::BlockRecord>> records);
  void put(std::shared_ptr<const work::BlockRecord> record);
  void wait_for_blocks(std::unique_lock<std::mutex>& lock, const std::function<bool()>& enough);
  const emulate::Emulator& emulator_;
  const std::uint64_t resident_;
  const std::size_t most_helpers_;  // 0: blocks are executed in order
  trace::TraceWriter* writer_;
  SharedBlocks* shared_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<const work::BlockRecord>> ready_;
  std::map<std::uint64_t, std::shared_ptr<const work::BlockRecord>>
      early_;                                 // by block, those before it are not ready
  std::size_t held_bytes_ = 0;                // of both
  std::uint64_t next_block_ = 0;              // that becomes ready
  std::uint64_t next_cluster_ = 0, end_ = 0;  // to be executed
  int executing_ = 0;                         // threads, clusters
  std::exception_ptr failure_;
  bool finished_ = false, stop_ = false, unread_ = false, waited_for_ = false;
  std::vector<std::thread> helpers_;
  std::thread producer_;
};

/// Blocks that are executed while the cycle model reads them. For launches whose blocks are independent.
class StreamedBlocks final : public work::BlockSource {
 public:
  /// The emulator must outlive the object and every record that it gave out.
  explicit StreamedBlocks(const emulate::Emulator& emulator) : emulator_(emulator) {}
  /// The same, of which the first `blocks` begin part way, spread evenly over the `work` (warp instructions) of a block.
  StreamedBlocks(const emulate::Emulator& emulator, std::uint64_t blocks, double work)
      : emulator_(emulator), part_way_(blocks), work_(work) {}
  std::shared_ptr<const work::BlockRecord> next() override;
  /// Leaves out the next so many; finish() executes them.
  void skip(std::uint64_t blocks);
  /// Executes what no reader has come to: the rest of the blocks given out, those left out, then all others. Memory is then as the launch leaves it.
  void finish();

 private:
  const emulate::Emulator& emulator_;
  const std::uint64_t part_way_ = 0;
  const double work_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t skipped_from_ = 0, skipped_to_ = 0;
  std::vector<std::shared_ptr<emulate::BlockStream>> given_;  // those that may not have ended
  std::size_t look_at_ = 4096;  // how many there are before they are looked through
};

/// Reads them from a trace.
class TracedBlocks final : public work::BlockSource {
 public:
  explicit TracedBlocks(trace::TraceReader& reader) : reader_(reader) {}
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  trace::TraceReader& reader_;
};

/// The launch that a trace holds; the bytes of its buffers are not known.
Launch shape_of(const trace::TraceReader& reader);

/// Simulates the launch of a trace, of which nothing was read yet, on the machine. Throws InputError that names `file`.
Outcome run_traced(const std::string& file, trace::TraceReader& reader, Machine& machine,
                   const RunOptions& options);

/// Another source's blocks, of which each goes to a trace, too.
class WritingBlocks final : public work::BlockSource {
 public:
  WritingBlocks(work::BlockSource& source, trace::TraceWriter& writer) : source_(source), writer_(writer) {}
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  work::BlockSource& source_;
  trace::TraceWriter& writer_;
};

}  // namespace foretrace::engine
