// Reads the record of a launch from a file, block by block.
//
// Models:  nothing; docs/trace_format.md describes the file.
// Ignores: what a record means (work::WarpCursor reads it).
#pragma once

#include <memory>
#include <string>

#include "model/isa/program.h"
#include "model/work/warp_record.h"
#include "sim/trace/launch_info.h"

namespace foretrace::trace {

/// Holds one chunk of blocks at a time. Every function throws InputError for a file that is no trace, is of another
/// version, was cut short or is damaged: the message names the file and the offset of the chunk. Not thread-safe.
class TraceReader {
 public:
  /// Reads as far as the head.
  explicit TraceReader(const std::string& path);
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  const std::shared_ptr<const isa::Program>& program() const;
  const LaunchInfo& launch() const;
  /// The next block in order of index; false after the last, once the file's own totals agree with what was read.
  bool next(work::BlockRecord& record);
  /// Of the blocks read so far.
  const TraceTotals& totals() const;

 private:
  struct Input;
  std::unique_ptr<Input> input_;
};

}  // namespace foretrace::trace
