#include "sim/emulate/memory/written_bytes.h"

#include <algorithm>

namespace foretrace::emulate {

void WrittenBytes::add(std::uint64_t address, std::uint64_t size) {
  if (tracks_) written_[address].assign(size, false);
}

void WrittenBytes::mark(std::uint64_t address, std::uint64_t size) {
  auto next = written_.upper_bound(address);
  if (next == written_.begin()) return;
  auto& [start, bytes] = *std::prev(next);
  const std::uint64_t first = address - start;
  if (first >= bytes.size()) return;
  const std::uint64_t last = std::min<std::uint64_t>(first + size, bytes.size());
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(first),
            bytes.begin() + static_cast<std::ptrdiff_t>(last), true);
}

bool WrittenBytes::all(std::uint64_t address, std::uint64_t size) const {
  const auto next = written_.upper_bound(address);
  if (next == written_.begin()) return true;
  const auto& [start, bytes] = *std::prev(next);
  const std::uint64_t first = address - start;
  if (first >= bytes.size()) return true;
  const std::uint64_t last = std::min<std::uint64_t>(first + size, bytes.size());
  for (std::uint64_t i = first; i < last; ++i) {
    if (!bytes[i]) return false;
  }
  return true;
}

}  // namespace foretrace::emulate
