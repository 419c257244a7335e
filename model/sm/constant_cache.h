// Constant caches: a small one a sub-core for operands c[][], and one an SM that backs it and serves LDC.
//
// Models:  64-byte lines, fully associative, least recently used; an operand miss holds the warp (imc_miss); an SM-level
//          miss is served by the level behind (L1.5) after a fixed time: a launch's constants are there.
// Ignores: bandwidth, and the capacity of L1.5.
// Source:  facts B2 (HUE, UPC, JIA).
#pragma once

#include <cstdint>
#include <vector>

#include "model/units/units.h"

namespace foretrace::sm {

class ConstantCache {
 public:
  explicit ConstantCache(std::uint32_t bytes) : capacity_(bytes / kLine ? bytes / kLine : 1) {}
  static constexpr std::uint32_t kLine = 64;

  /// True when the line of `address` is here; it becomes the youngest.
  bool lookup(std::uint32_t address) {
    const std::uint32_t line = address / kLine;
    if (line == latest_) return true;
    for (auto& entry : entries_) {
      if (entry.line == line) {
        entry.used = ++clock_;
        latest_ = line;
        return true;
      }
    }
    return false;
  }
  void insert(std::uint32_t address) {
    if (lookup(address)) return;
    const std::uint32_t line = address / kLine;
    if (entries_.size() < capacity_) {
      entries_.push_back({line, ++clock_});
    } else {
      Entry* oldest = &entries_[0];
      for (auto& entry : entries_) {
        if (entry.used < oldest->used) oldest = &entry;
      }
      if (oldest->line == latest_) latest_ = ~0u;
      *oldest = {line, ++clock_};
    }
  }

 private:
  struct Entry { std::uint32_t line; std::uint64_t used; };
  std::vector<Entry> entries_;
  std::size_t capacity_;
  std::uint64_t clock_ = 0;
  std::uint32_t latest_ = ~0u;
};

}  // namespace foretrace::sm
