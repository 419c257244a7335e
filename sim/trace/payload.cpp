// Block records and totals as bytes: numbers are LEB128 varints.
#include <algorithm>

#include "model/isa/asynchronous.h"
#include "model/isa/indexed_constants.h"
#include "model/isa/operands.h"
#include "model/isa/spin_loops.h"
#include "sim/trace/format.h"

namespace foretrace::trace {

namespace {

void put(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

}  // namespace

std::uint32_t version_of(const isa::Program& program) {
  const auto counts_threads = [](const isa::Instruction& in) {
    return isa::barrier_register(in, 1) && !isa::barrier_register(in, 0);
  };
  if (std::any_of(program.code.begin(), program.code.end(), isa::indexes_constants_uniformly))
    return kVersionWithConstants;
  if (std::any_of(program.code.begin(), program.code.end(), counts_threads)) return kVersionWithThreads;
  if (std::any_of(program.code.begin(), program.code.end(), isa::compares_lanes)) return kVersionWithMatches;
  if (!isa::retry_loops(program).empty()) return kVersionWithRetries;
  if (isa::is_asynchronous(program)) return kVersionWithTransfers;
  return isa::spin_loops(program).empty() ? kVersion : kVersionWithWaits;
}

void append_block(Bytes& out, const work::BlockRecord& record) {
  put(out, record.block);
  put(out, record.warps.size());
  for (const work::WarpRecord& warp : record.warps) {
    put(out, warp.instructions);
    put(out, warp.thread_instructions);
    put(out, warp.runs.size());
    put(out, warp.details.size());
    out.insert(out.end(), warp.runs.begin(), warp.runs.end());
    out.insert(out.end(), warp.details.begin(), warp.details.end());
  }
}

void append_totals(Bytes& out, const TraceTotals& totals) {
  put(out, totals.blocks);
  put(out, totals.warps);
  put(out, totals.instructions);
  put(out, totals.thread_instructions);
}

bool Payload::number(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const std::uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool Payload::copy(std::uint64_t count, Bytes& out) {
  if (count > rest_.size()) return false;
  const auto part = rest_.first(static_cast<std::size_t>(count));
  out.assign(part.begin(), part.end());
  rest_ = rest_.subspan(part.size());
  return true;
}

bool Payload::block(work::BlockRecord& record) {
  std::uint64_t warps = 0;
  // Every warp takes four bytes at least: a count that cannot be true must not allocate.
  if (!number(record.block) || !number(warps) || warps > rest_.size() / 4) return false;
  record.warps.resize(static_cast<std::size_t>(warps));
  for (work::WarpRecord& warp : record.warps) {
    std::uint64_t runs = 0, details = 0;
    if (!number(warp.instructions) || !number(warp.thread_instructions) || !number(runs) ||
        !number(details) || !copy(runs, warp.runs) || !copy(details, warp.details)) {
      return false;
    }
  }
  return true;
}

bool Payload::totals(TraceTotals& totals) {
  return number(totals.blocks) && number(totals.warps) && number(totals.instructions) &&
         number(totals.thread_instructions);
}

}  // namespace foretrace::trace
