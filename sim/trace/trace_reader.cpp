#include "sim/trace/trace_reader.h"

#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/trace/format.h"

namespace foretrace::trace {

namespace {

/// What a trace of another version has too much or lacks, by the version that its program needs.
constexpr std::string_view kOtherwise[] = {
    "none of its loops waits",                                         // kVersion
    "what its loops wait for is missing",                              // kVersionWithWaits
    "what its copies move and its barriers count is missing",          // kVersionWithTransfers
    "which lanes of its compare-and-swaps changed memory is missing",  // kVersionWithRetries
    "how many values its lanes compare is missing",                    // kVersionWithMatches
    "how many threads its barriers wait for is missing",               // kVersionWithThreads
    "where its uniform loads of constants go is missing",              // kVersionWithConstants
};
static_assert(std::size(kOtherwise) == kNewestVersion);

std::uint32_t get32(const std::uint8_t* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(at[i]) << (8 * i);
  return value;
}

}  // namespace

struct TraceReader::Input {
  std::string path;
  std::ifstream file;
  std::uint64_t size = 0;
  std::uint32_t version = 0;
  std::uint64_t offset = 0;        ///< of the next byte to read
  std::uint64_t chunk_offset = 0;  ///< of the chunk read last
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context{ZSTD_createDCtx(), &ZSTD_freeDCtx};
  Bytes stored, raw;
  std::shared_ptr<isa::Program> program = std::make_shared<isa::Program>();
  std::shared_ptr<const isa::Program> shared_program = program;
  LaunchInfo launch;
  std::optional<Payload> blocks;
  std::uint64_t expected = 0;
  TraceTotals totals;
  bool ended = false;

  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const {
    throw InputError(fmt::format("trace {}: at byte {}: {}", path, at, what));
  }

  void read(std::uint8_t* to, std::size_t count, const char* what) {
    if (count > size - offset) {
      fail(offset, fmt::format("the file is cut short: expected {} bytes of {}, found {}", count, what,
                               size - offset));
    }
    file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count));
    if (!file) fail(offset, fmt::format("cannot read: {}", std::strerror(errno)));
    offset += count;
  }

  void open() {
    file.open(path, std::ios::binary);
    if (!file) throw InputError(fmt::format("trace {}: cannot open: {}", path, std::strerror(errno)));
    file.seekg(0, std::ios::end);
    const auto end = file.tellg();
    if (!file || end < 0) throw InputError(fmt::format("trace {}: is no ordinary file", path));
    size = static_cast<std::uint64_t>(end);
    file.seekg(0);
    std::uint8_t preamble[kPreambleBytes];
    if (size < sizeof(preamble))
      fail(0, fmt::format("no trace: {} bytes; expected a file that foretrace wrote", size));
    read(preamble, sizeof(preamble), "preamble");
    if (std::memcmp(preamble, kMagic.data(), kMagic.size()) != 0) {
      fail(0, "no trace: expected a file that foretrace wrote with --trace");
    }
    version = get32(preamble + kMagic.size());
    if (version < kVersion || version > kNewestVersion) {
      fail(kMagic.size(),
           fmt::format("trace format version {}; expected {} to {}", version, kVersion, kNewestVersion));
    }
  }

  /// Reads a chunk into `raw`.
  ChunkKind read_chunk() {
    chunk_offset = offset;
    std::uint8_t header[kChunkHeaderBytes];
    read(header, sizeof(header), "a chunk's header");
    const auto kind = static_cast<ChunkKind>(header[0]);
    if (kind != ChunkKind::head && kind != ChunkKind::blocks && kind != ChunkKind::end) {
      fail(chunk_offset, fmt::format("damaged: unknown kind of chunk 0x{:02x}", header[0]));
    }
    const std::uint32_t stored_bytes = get32(header + 1);
    const std::uint32_t raw_bytes = get32(header + 5);
    if (stored_bytes > size - offset) {
      fail(chunk_offset,
           fmt::format("the file is cut short or damaged: expected {} bytes of a chunk, found {}",
                       stored_bytes, size - offset));
    }
    stored.resize(stored_bytes);
    read(stored.data(), stored.size(), "a chunk");
    // The size is stored twice; both must agree before it is believed.
    if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != raw_bytes || raw_bytes > kChunkLimit) {
      fail(chunk_offset, "damaged: the chunk's size is not what its header says");
    }
    decompress(raw_bytes);
    return kind;
  }

  /// `stored` to `raw`, which grows with what comes out: a header may say anything.
  void decompress(std::size_t expected_bytes) {
    ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_only);
    ZSTD_inBuffer in{stored.data(), stored.size(), 0};
    std::size_t made = 0, result = 1;
    raw.resize(std::min(expected_bytes, kChunkBytes));
    while (result != 0 && made < expected_bytes) {
      if (made == raw.size()) raw.resize(std::min(expected_bytes, 2 * raw.size()));
      ZSTD_outBuffer out{raw.data() + made, raw.size() - made, 0};
      result = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_isError(result)) fail(chunk_offset, fmt::format("damaged: {}", ZSTD_getErrorName(result)));
      made += out.pos;
      if (out.pos == 0 && in.pos == in.size) break;
    }
    if (made != expected_bytes || (expected_bytes != 0 && result != 0) ||
        (expected_bytes != 0 && in.pos != in.size))
      fail(chunk_offset, "damaged: wrong size");
    raw.resize(expected_bytes);
  }

  void read_head() {
    if (read_chunk() != ChunkKind::head) fail(chunk_offset, "damaged: expected the head");
    parse_head(std::string(raw.begin(), raw.end()), fmt::format("trace {}: at byte {}", path, chunk_offset),
               *program, launch);
    const std::uint32_t needed = version_of(*program);
    if (version != needed) {
      fail(kMagic.size(), fmt::format("trace format version {} of kernel {}; expected {}: {}", version,
                                      program->kernel, needed, kOtherwise[needed - kVersion]));
    }
  }

  void finish() {
    TraceTotals stated;
    Payload payload(raw);
    if (!payload.totals(stated) || !payload.empty())
      fail(chunk_offset, "damaged: the totals are not understood");
    if (stated != totals) {
      fail(chunk_offset,
           fmt::format("damaged: {} blocks and {} warp instructions were read, {} and {} were written",
                       totals.blocks, totals.instructions, stated.blocks, stated.instructions));
    }
    if (offset != size) fail(offset, fmt::format("{} bytes follow the trace's end", size - offset));
    ended = true;
  }

  void count(const work::BlockRecord& record) {
    ++totals.blocks;
    totals.warps += record.warps.size();
    for (const work::WarpRecord& warp : record.warps) {
      totals.instructions += warp.instructions;
      totals.thread_instructions += warp.thread_instructions;
    }
  }
};

TraceReader::TraceReader(const std::string& path) : input_(std::make_unique<Input>()) {
  input_->path = path;
  input_->open();
  input_->read_head();
}

TraceReader::~TraceReader() = default;

bool TraceReader::next(work::BlockRecord& record) {
  Input& in = *input_;
  while (!in.ended && (!in.blocks || in.blocks->empty())) {
    switch (in.read_chunk()) {
      case ChunkKind::head: in.fail(in.chunk_offset, "damaged: a second head");
      case ChunkKind::blocks: in.blocks.emplace(in.raw); break;
      case ChunkKind::end: in.finish(); break;
    }
  }
  if (in.ended) return false;
  if (!in.blocks->block(record)) in.fail(in.chunk_offset, "damaged: a block's record is not understood");
  if (record.block < in.expected || record.block >= in.launch.grid.count()) {
    in.fail(in.chunk_offset, fmt::format("damaged: block {}; expected {} to {}", record.block, in.expected,
                                         in.launch.grid.count() - 1));
  }
  in.expected = record.block + 1;
  in.count(record);
  return true;
}

const std::shared_ptr<const isa::Program>& TraceReader::program() const { return input_->shared_program; }
const LaunchInfo& TraceReader::launch() const { return input_->launch; }
const TraceTotals& TraceReader::totals() const { return input_->totals; }

}  // namespace foretrace::trace
