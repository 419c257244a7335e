// The bytes of a trace file, as docs/trace_format.md describes them; shared by the writer and the reader.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/isa/program.h"
#include "model/work/warp_record.h"
#include "sim/trace/launch_info.h"

namespace foretrace::trace {

/// A byte over 127, so that a text file is none; a line end, so that a transfer in text mode shows.
inline constexpr std::array<char, 8> kMagic = {'\x89', 'F', 'T', 'R', 'A', 'C', 'E', '\n'};
/// Of programs without spin loops (isa::spin_loops); of those with them, whose records say what was waited for; and of those that
/// use the copy engine or mbarriers (isa::is_asynchronous), with spin loops or without; and of those, with any of these or
/// without, whose records say which lanes of a compare-and-swap changed memory (isa::retry_loops); and of all whose records say how many
/// different values lanes compared (isa::compares_lanes); and of all with a barrier for a number of threads that a register alone holds
/// (isa::barrier_register); and of all whose records say where loads of constants by a uniform register go
/// (isa::indexes_constants_uniformly).
inline constexpr std::uint32_t kVersion = 1, kVersionWithWaits = 2, kVersionWithTransfers = 3,
                               kVersionWithRetries = 4, kVersionWithMatches = 5, kVersionWithThreads = 6,
                               kVersionWithConstants = 7;
inline constexpr std::uint32_t kNewestVersion = kVersionWithConstants;
/// What the trace of a program has to be.
std::uint32_t version_of(const isa::Program& program);
inline constexpr std::size_t kPreambleBytes = kMagic.size() + 4;

/// What a chunk holds. The first is a head, the last an end, all others are blocks.
enum class ChunkKind : std::uint8_t { head = 'H', blocks = 'B', end = 'E' };
inline constexpr std::size_t kChunkHeaderBytes = 9;  ///< kind, stored bytes, raw bytes
/// Bytes of block records after which the writer closes a chunk: large enough for zstd to find what warps share, small
/// enough that a reader holds little.
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
/// No chunk is larger: a block record that is has to be an error of the recorder.
inline constexpr std::size_t kChunkLimit = std::size_t{1} << 31;

using Bytes = std::vector<std::uint8_t>;

/// The head: program and launch as a JSON document.
std::string head_text(const isa::Program& program, const LaunchInfo& launch);
/// Reads it back; each instruction is parsed again from its word and text. `where` names the file in errors.
/// Throws InputError for a missing, unknown or ill-typed key and for an instruction that is not understood.
void parse_head(const std::string& text, const std::string& where, isa::Program& program, LaunchInfo& launch);

void append_block(Bytes& out, const work::BlockRecord& record);
void append_totals(Bytes& out, const TraceTotals& totals);

/// Takes numbers and bytes from the front of a payload. Each function returns false when the bytes do not suffice.
class Payload {
 public:
  explicit Payload(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  bool block(work::BlockRecord& record);
  bool totals(TraceTotals& totals);

 private:
  bool number(std::uint64_t& value);
  bool copy(std::uint64_t count, Bytes& out);
  std::span<const std::uint8_t> rest_;
};

}  // namespace foretrace::trace
