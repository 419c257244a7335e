// Writes the record of a launch to a file, block by block.
//
// Models:  nothing; docs/trace_format.md describes the file.
// Ignores: what a record means: it stores the two byte streams of each warp as they are.
#pragma once

#include <memory>
#include <string>

#include "model/isa/program.h"
#include "model/work/warp_record.h"
#include "sim/trace/launch_info.h"

namespace foretrace::trace {

/// The file appears whole under its name when close() returns, or not at all: until then it has another name beside it,
/// and it is removed when the writer goes away unclosed. Every function throws InputError, naming the file and the
/// system's reason, when something cannot be written. Not thread-safe.
class TraceWriter {
 public:
  TraceWriter(const std::string& path, const isa::Program& program, const LaunchInfo& launch);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Blocks come in order of their index; indices may be left out (a sampled launch).
  void add(const work::BlockRecord& record);
  void close();
  const TraceTotals& totals() const;
  /// Bytes written so far, headers included; the file's size after close().
  std::uint64_t bytes() const;

 private:
  struct Output;
  std::unique_ptr<Output> output_;
};

}  // namespace foretrace::trace
