// The records of a launch's blocks: emulated ahead of the cycle model by a thread of their own, or read from a trace.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "model/work/block_source.h"
#include "sim/emulate/emulator.h"
#include "sim/trace/trace_reader.h"
#include "sim/trace/trace_writer.h"

namespace foretrace::engine {

/// Emulates blocks in index order, some ahead of what was asked for; each also goes to `writer` when there is one.
/// next() throws what the emulator threw (KernelFault) when the block that failed is asked for.
class EmulatedBlocks final : public work::BlockSource {
 public:
  /// References must outlive the object.
  /// `resident`: blocks that may take turns when they wait for each other, one chip-full.
  EmulatedBlocks(const emulate::Emulator& emulator, std::uint64_t resident, trace::TraceWriter* writer);
  ~EmulatedBlocks() override;
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  void produce();
  emulate::BlockSequence blocks_;
  trace::TraceWriter* writer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<const work::BlockRecord>> ready_;
  std::size_t ready_bytes_ = 0;
  std::exception_ptr failure_;
  bool finished_ = false, stop_ = false;
  std::thread producer_;
};

/// Reads them from a trace.
class TracedBlocks final : public work::BlockSource {
 public:
  explicit TracedBlocks(trace::TraceReader& reader) : reader_(reader) {}
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  trace::TraceReader& reader_;
};

}  // namespace foretrace::engine
