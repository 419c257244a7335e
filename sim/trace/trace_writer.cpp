#include "sim/trace/trace_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/trace/behind_links.h"
#include "sim/trace/format.h"

namespace foretrace::trace {

namespace {

// Level 1 keeps up with the emulator on one core; warps resemble one another so much that higher levels gain little.
constexpr int kCompressionLevel = 1;

void put32(std::uint8_t* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

}  // namespace

struct TraceWriter::Output {
  std::string path, target, partial;  // as given; behind links; beside it
  int file = -1;
  std::uint64_t written = 0;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  Bytes pending, compressed;
  std::uint64_t expected = 0;  ///< index after the last added block's
  TraceTotals totals;

  [[noreturn]] void fail() const {
    throw InputError(
        fmt::format("trace {}: cannot write at byte {}: {}", path, written, std::strerror(errno)));
  }

  void open() {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
      throw InputError(
          fmt::format("trace {}: exists and is no ordinary file; expected a new or replaceable file", path));
    }
    target = behind_links(path);
    remove_left_over(target);
    partial = partial_of(target);
    file = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fail();
  }

  void write(const std::uint8_t* data, std::size_t size) {
    while (size > 0) {
      const ssize_t done = ::write(file, data, size);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail();
      data += done;
      size -= static_cast<std::size_t>(done);
      written += static_cast<std::uint64_t>(done);
    }
  }

  void write_chunk(ChunkKind kind, const std::uint8_t* data, std::size_t size) {
    if (size > kChunkLimit) {
      throw InputError(fmt::format("trace {}: a block's record has {} bytes; expected {} at most", path, size,
                                   kChunkLimit));
    }
    compressed.resize(kChunkHeaderBytes + ZSTD_compressBound(size));
    const std::size_t stored = ZSTD_compress2(context.get(), compressed.data() + kChunkHeaderBytes,
                                              compressed.size() - kChunkHeaderBytes, data, size);
    FORETRACE_ASSERT(!ZSTD_isError(stored),
                     "zstd compresses whatever it is given into a large enough buffer");
    compressed[0] = static_cast<std::uint8_t>(kind);
    put32(compressed.data() + 1, static_cast<std::uint32_t>(stored));
    put32(compressed.data() + 5, static_cast<std::uint32_t>(size));
    write(compressed.data(), kChunkHeaderBytes + stored);
  }

  void flush() {
    if (pending.empty()) return;
    write_chunk(ChunkKind::blocks, pending.data(), pending.size());
    pending.clear();
  }

  ~Output() {
    if (file >= 0) {
      ::close(file);
      ::unlink(partial.c_str());
    }
  }
};

TraceWriter::TraceWriter(const std::string& path, const isa::Program& program, const LaunchInfo& launch)
    : output_(std::make_unique<Output>()) {
  Output& out = *output_;
  out.path = path;
  ZSTD_CCtx_setParameter(out.context.get(), ZSTD_c_compressionLevel, kCompressionLevel);
  ZSTD_CCtx_setParameter(out.context.get(), ZSTD_c_checksumFlag, 1);
  out.open();
  std::uint8_t preamble[kPreambleBytes];
  std::memcpy(preamble, kMagic.data(), kMagic.size());
  put32(preamble + kMagic.size(), version_of(program));
  out.write(preamble, sizeof(preamble));
  const std::string head = head_text(program, launch);
  out.write_chunk(ChunkKind::head, reinterpret_cast<const std::uint8_t*>(head.data()), head.size());
}

TraceWriter::~TraceWriter() = default;

void TraceWriter::add(const work::BlockRecord& record) {
  Output& out = *output_;
  FORETRACE_ASSERT(out.file >= 0, "a closed trace takes no blocks");
  FORETRACE_ASSERT(record.block >= out.expected, "blocks are added in order of their index");
  append_block(out.pending, record);
  out.expected = record.block + 1;
  ++out.totals.blocks;
  out.totals.warps += record.warps.size();
  for (const work::WarpRecord& warp : record.warps) {
    out.totals.instructions += warp.instructions;
    out.totals.thread_instructions += warp.thread_instructions;
  }
  if (out.pending.size() >= kChunkBytes) out.flush();
}

void TraceWriter::close() {
  Output& out = *output_;
  FORETRACE_ASSERT(out.file >= 0, "a trace is closed once");
  out.flush();
  Bytes end;
  append_totals(end, out.totals);
  out.write_chunk(ChunkKind::end, end.data(), end.size());
  const int file = out.file;
  out.file = -1;
  // Some file systems report a full disk only here.
  if (::close(file) != 0 || std::rename(out.partial.c_str(), out.target.c_str()) != 0) {
    const int reason = errno;
    ::unlink(out.partial.c_str());
    errno = reason;
    out.fail();
  }
}

const TraceTotals& TraceWriter::totals() const { return output_->totals; }
std::uint64_t TraceWriter::bytes() const { return output_->written; }

}  // namespace foretrace::trace
