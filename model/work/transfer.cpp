#include "model/work/transfer.h"

#include <algorithm>

#include "model/work/numbers.h"

namespace foretrace::work {

namespace {

// First byte: how it is told.
constexpr std::uint8_t kMoved = 0;  // zigzag varints: moves of all addresses, of shared, of barrier
constexpr std::uint8_t kWhole = 8;  // + kind: everything

constexpr std::uint64_t kMostRuns = std::uint64_t{1} << 20;

std::int64_t move_of(std::uint64_t now, std::uint64_t before) {
  return static_cast<std::int64_t>(now - before);
}

bool same_but_moved(const Transfer& a, const Transfer& b) {
  if (a.kind == TransferKind::none || a.kind != b.kind || a.bytes != b.bytes || a.rows != b.rows ||
      a.blocks != b.blocks || a.runs.size() != b.runs.size())
    return false;
  const std::uint64_t move = a.runs.empty() ? 0 : a.runs[0].address - b.runs[0].address;
  return std::equal(a.runs.begin(), a.runs.end(), b.runs.begin(), [move](const CopyRun& x, const CopyRun& y) {
    return x.address - y.address == move && x.bytes == y.bytes && x.count == y.count && x.stride == y.stride;
  });
}

}  // namespace

void Transfer::piece(std::uint64_t address, std::uint32_t length) {
  if (length == 0) return;
  if (!runs.empty()) {
    CopyRun& last = runs.back();
    const auto step =
        move_of(address, last.address + static_cast<std::uint64_t>(last.stride) * (last.count - 1));
    if (last.bytes == length && (last.count == 1 || step == last.stride)) {
      last.stride = step;
      ++last.count;
      return;
    }
  }
  runs.push_back({address, length, 1, 0});
}

void append_transfer(std::vector<std::uint8_t>& out, const Transfer& transfer, const Transfer& last) {
  const auto put_signed = [&](std::int64_t v) { put(out, zigzag(v)); };
  if (same_but_moved(transfer, last)) {
    out.push_back(kMoved);
    put_signed(transfer.runs.empty() ? 0 : move_of(transfer.runs[0].address, last.runs[0].address));
    put_signed(move_of(transfer.shared, last.shared));
    put_signed(move_of(transfer.barrier, last.barrier));
    return;
  }
  out.push_back(static_cast<std::uint8_t>(kWhole + static_cast<int>(transfer.kind)));
  if (transfer.kind == TransferKind::none) return;
  put(out, transfer.bytes);
  put(out, transfer.rows);
  put(out, transfer.shared);
  put(out, (std::uint64_t{transfer.barrier} + 1) & 0xffffffff);  // 0: none
  put(out, transfer.blocks);
  put(out, transfer.runs.size());
  std::uint64_t before = 0;
  for (const CopyRun& run : transfer.runs) {
    put_signed(move_of(run.address, before));
    put(out, run.bytes);
    put(out, run.count);
    if (run.count > 1) put_signed(run.stride);
    before = run.address;
  }
}

const std::uint8_t* read_transfer(const std::uint8_t* at, const std::uint8_t* end, Transfer& transfer) {
  if (at == end) return nullptr;
  const std::uint8_t form = *at++;
  Numbers numbers{at, end};
  if (form == kMoved) {
    if (transfer.kind == TransferKind::none) return nullptr;
    const auto move = static_cast<std::uint64_t>(numbers.next_signed());
    for (CopyRun& run : transfer.runs) run.address += move;
    transfer.shared += static_cast<std::uint32_t>(numbers.next_signed());
    transfer.barrier += static_cast<std::uint32_t>(numbers.next_signed());
    return numbers.good ? numbers.at : nullptr;
  }
  if (form < kWhole || form > kWhole + static_cast<int>(TransferKind::prefetch)) return nullptr;
  transfer.begin(static_cast<TransferKind>(form - kWhole), 0, 0);
  if (transfer.kind == TransferKind::none) return at;
  transfer.bytes = static_cast<std::uint32_t>(numbers.next());
  transfer.rows = static_cast<std::uint32_t>(numbers.next());
  transfer.shared = static_cast<std::uint32_t>(numbers.next());
  transfer.barrier = static_cast<std::uint32_t>(numbers.next() - 1);
  transfer.blocks = static_cast<std::uint32_t>(numbers.next());
  const std::uint64_t runs = numbers.next();
  if (!numbers.good || runs > kMostRuns) return nullptr;
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < runs && numbers.good; ++i) {
    CopyRun run;
    run.address = before + static_cast<std::uint64_t>(numbers.next_signed());
    run.bytes = static_cast<std::uint32_t>(numbers.next());
    run.count = static_cast<std::uint32_t>(numbers.next());
    if (run.count > 1) run.stride = numbers.next_signed();
    if (run.bytes == 0 || run.count == 0) return nullptr;
    before = run.address;
    transfer.runs.push_back(run);
  }
  return numbers.good ? numbers.at : nullptr;
}

}  // namespace foretrace::work
