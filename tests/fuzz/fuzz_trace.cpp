// A trace and every warp's record in it. Input that does not begin as a trace is chunks (kind, three bytes of length, contents) of which
// one is made, so that what zstd and the header's sizes protect is reached.
#include <zstd.h>

#include <cstring>

#include "model/work/warp_record.h"
#include "sim/trace/format.h"
#include "sim/trace/trace_reader.h"
#include "tests/fuzz/input.h"

using namespace foretrace;

namespace {

constexpr std::uint64_t kMostSteps =
    1 << 16;  // a run of a record may say billions; that is no fault of the reader

void put32(std::string& out, std::size_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
}

std::string packed(std::string_view input) {
  std::string out(trace::kMagic.begin(), trace::kMagic.end());
  put32(out, !input.empty() && input[0] == '2' ? trace::kVersionWithWaits : trace::kVersion);
  for (input = input.substr(input.empty() ? 0 : 1); input.size() >= 4;) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 3; ++i)
      length |= static_cast<std::size_t>(static_cast<std::uint8_t>(input[1 + i])) << (8 * i);
    const std::string_view contents = input.substr(4, length);
    std::string stored(ZSTD_compressBound(contents.size()), '\0');
    stored.resize(ZSTD_compress(stored.data(), stored.size(), contents.data(), contents.size(), 1));
    out += input[0];
    put32(out, stored.size());
    put32(out, contents.size());
    out += stored;
    input.remove_prefix(4 + contents.size());
  }
  return out;
}

void read(std::string_view contents) {
  const fuzz::File file(contents);
  fuzz::accept_or_refuse([&] {
    trace::TraceReader reader(file.path());
    const work::Shapes shapes(*reader.program());
    std::uint64_t steps = 0;
    for (work::BlockRecord block; reader.next(block);) {
      for (const work::WarpRecord& warp : block.warps) {
        work::WarpCursor cursor(shapes, warp);
        work::LaneAddresses lanes;
        for (work::Step step; steps < kMostSteps && cursor.next(step); ++steps) {
          for (int i = 0; i < shapes.of[step.index].addresses && step.executed != 0; ++i)
            cursor.addresses(i, lanes);
        }
      }
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const bool whole = size >= 1 && text[0] == trace::kMagic[0];
  read(whole ? std::string(text) : packed(text));
  return 0;
}
