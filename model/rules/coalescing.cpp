#include "model/rules/coalescing.h"

#include <algorithm>
#include <bit>

#include "model/rules/lane_addresses.h"

namespace foretrace::rules {
namespace {

/// Sectors of the line that bytes [first, last] touch; both lie in one line.
std::uint8_t sector_mask(std::uint64_t first, std::uint64_t last) {
  const auto low = static_cast<unsigned>(first / kSectorBytes % kSectorsPerLine);
  const auto high = static_cast<unsigned>(last / kSectorBytes % kSectorsPerLine);
  return static_cast<std::uint8_t>((2u << high) - (1u << low));
}

/// Lines of one contiguous run of bytes, in ascending order. What most warps of most kernels do.
void coalesce_run(std::uint64_t first, std::uint32_t bytes, Coalesced& out) {
  const std::uint64_t end = first + std::uint64_t{bytes} * kWarpSize;
  const int log2_bytes = std::countr_zero(bytes);
  out.count = 0;
  out.sectors = 0;
  for (std::uint64_t at = first; at < end;) {
    const std::uint64_t line_end = std::min(end, (at / kLineBytes + 1) * kLineBytes);
    LineAccess& access = out.lines[out.count++];
    access.line = at / kLineBytes;
    access.sectors = sector_mask(at, line_end - 1);
    // An aligned lane never straddles two lines.
    access.lanes = static_cast<std::uint8_t>((line_end - at) >> log2_bytes);
    out.sectors += static_cast<std::uint32_t>(std::popcount(access.sectors));
    at = line_end;
  }
}

/// Finds or appends a line. Few lines are searched in order; many by a small hash that is filled once they are many.
class LineTable {
 public:
  explicit LineTable(Coalesced& out) : out_(out) {}

  LineAccess& at(std::uint64_t line) {
    if (out_.count < kFew) {
      for (std::uint32_t i = 0; i < out_.count; ++i) {
        if (out_.lines[i].line == line) return out_.lines[i];
      }
      return append(line);
    }
    if (!hashed_) fill();
    std::size_t slot = slot_of(line);
    while (slots_[slot] != kEmpty) {
      if (out_.lines[slots_[slot]].line == line) return out_.lines[slots_[slot]];
      slot = (slot + 1) % kSlots;
    }
    slots_[slot] = static_cast<std::uint8_t>(out_.count);
    return append(line);
  }

 private:
  static constexpr std::uint8_t kEmpty = 0xff;
  static constexpr std::size_t kSlots = 128;  // twice the most lines that can occur
  static constexpr std::uint32_t kFew = 6;

  static std::size_t slot_of(std::uint64_t line) {
    return static_cast<std::size_t>((line ^ line >> 7) % kSlots);
  }
  LineAccess& append(std::uint64_t line) {
    out_.lines[out_.count] = {line, 0, 0};
    return out_.lines[out_.count++];
  }
  void fill() {
    hashed_ = true;
    slots_.fill(kEmpty);
    for (std::uint32_t i = 0; i < out_.count; ++i) {
      std::size_t slot = slot_of(out_.lines[i].line);
      while (slots_[slot] != kEmpty) slot = (slot + 1) % kSlots;
      slots_[slot] = static_cast<std::uint8_t>(i);
    }
  }

  Coalesced& out_;
  std::array<std::uint8_t, kSlots> slots_;
  bool hashed_ = false;
};

}  // namespace

void coalesce(const Addresses& addresses, std::uint32_t executed, std::uint32_t bytes, Coalesced& out) {
  if (executed == kAllLanes && (addresses[0] & (bytes - 1)) == 0 && contiguous(addresses, bytes)) {
    coalesce_run(addresses[0], bytes, out);
    return;
  }
  out.count = 0;
  out.sectors = 0;
  LineTable table(out);
  LineAccess* access = nullptr;  // lanes mostly stay on the line of the lane before
  for (std::uint32_t left = executed; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t first = addresses[lane];
    const std::uint64_t last = first + bytes - 1;
    if (access == nullptr || access->line != first / kLineBytes) access = &table.at(first / kLineBytes);
    ++access->lanes;
    if (first / kLineBytes == last / kLineBytes) {
      access->sectors = static_cast<std::uint8_t>(access->sectors | sector_mask(first, last));
      continue;
    }
    access->sectors = static_cast<std::uint8_t>(access->sectors | sector_mask(first, kLineBytes - 1));
    access = &table.at(last / kLineBytes);
    access->sectors = static_cast<std::uint8_t>(access->sectors | sector_mask(0, last));
    ++access->lanes;
  }
  for (std::uint32_t i = 0; i < out.count; ++i) {
    out.sectors += static_cast<std::uint32_t>(std::popcount(out.lines[i].sectors));
  }
}

void join(Coalesced& into, const Coalesced& other) {
  for (std::uint32_t i = 0; i < other.count; ++i) {
    std::uint32_t at = 0;
    while (at < into.count && into.lines[at].line != other.lines[i].line) ++at;
    if (at == Coalesced::kMaxLines) return;
    if (at == into.count) into.lines[into.count++] = {other.lines[i].line, 0, 0};
    LineAccess& line = into.lines[at];
    into.sectors += static_cast<std::uint32_t>(
        std::popcount(static_cast<unsigned>(other.lines[i].sectors & ~line.sectors)));
    line.sectors = static_cast<std::uint8_t>(line.sectors | other.lines[i].sectors);
    line.lanes = std::max(line.lanes, other.lines[i].lanes);
  }
}

std::uint32_t ideal_sectors(const Addresses& addresses, std::uint32_t executed, std::uint32_t bytes) {
  if (executed == kAllLanes && contiguous(addresses, bytes)) return bytes * kWarpSize / kSectorBytes;
  std::array<std::uint64_t, kWarpSize> sorted;
  std::size_t count = 0;
  bool ascending = true;
  for (std::uint32_t left = executed; left != 0; left &= left - 1) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(left))];
    ascending = ascending && (count == 0 || address >= sorted[count - 1]);
    sorted[count++] = address;
  }
  if (!ascending) std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
  std::uint64_t distinct = 0;
  std::uint64_t covered = 0;  // all bytes below are counted
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t end = sorted[i] + bytes;
    const std::uint64_t begin = i == 0 ? sorted[i] : std::max(sorted[i], covered);
    if (end > begin) distinct += end - begin;
    covered = std::max(i == 0 ? end : covered, end);
  }
  return static_cast<std::uint32_t>((distinct + kSectorBytes - 1) / kSectorBytes);
}

void written_bytes(const Addresses& addresses, std::uint32_t executed, std::uint32_t bytes,
                   const Coalesced& lines, WrittenBytes& written) {
  for (std::uint32_t i = 0; i < lines.count; ++i) written[i] = {};
  std::uint32_t i =
      0;  // lines stand in the order of the lanes: the next is this one or the one after, nearly always
  for (std::uint32_t left = executed; left != 0; left &= left - 1) {
    const std::uint64_t first = addresses[static_cast<std::size_t>(std::countr_zero(left))],
                        end = first + bytes;
    for (std::uint64_t at = first; at < end;) {
      while (lines.lines[i].line != at / kLineBytes) i = i + 1 == lines.count ? 0 : i + 1;
      const std::uint64_t sector_end = std::min(end, (at / kSectorBytes + 1) * kSectorBytes);
      const auto length = static_cast<unsigned>(sector_end - at);
      const std::uint32_t ones = length == kSectorBytes ? ~0u : (1u << length) - 1;
      written[i][at / kSectorBytes % kSectorsPerLine] |= ones << (at % kSectorBytes);
      at = sector_end;
    }
  }
}

}  // namespace foretrace::rules
