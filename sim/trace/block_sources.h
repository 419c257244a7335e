// Traces where the machine expects blocks: replayed from a file, or written to one as they pass.
#pragma once

#include <memory>

#include "model/work/block_source.h"
#include "sim/trace/trace_reader.h"
#include "sim/trace/trace_writer.h"

namespace foretrace::trace {

/// The blocks of a trace. The reader must outlive it.
class ReplayedBlocks final : public work::BlockSource {
 public:
  explicit ReplayedBlocks(TraceReader& reader) : reader_(reader) {}
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  TraceReader& reader_;
};

/// Another source's blocks, each added to a trace before it is handed on. The caller closes the trace after the last.
class RecordedBlocks final : public work::BlockSource {
 public:
  RecordedBlocks(work::BlockSource& source, TraceWriter& writer) : source_(source), writer_(writer) {}
  std::shared_ptr<const work::BlockRecord> next() override;

 private:
  work::BlockSource& source_;
  TraceWriter& writer_;
};

}  // namespace foretrace::trace
