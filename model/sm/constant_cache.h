// Constant caches: a small one per sub-core for operands c[][] and uniform loads, and one per SM that serves LDC. Behind both lies the
// GPC's cache (model/memory/gpc_cache.h).
//
// Models:  lines, fully associative, least recently used; a line on its way is asked for once.
// Ignores: bandwidth.
// Source:  our constants on H100: four lines per sub-core, 2 KiB per SM; JIA (docs/sources.md: 2 KiB, lines of 64 bytes).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/units/units.h"

namespace foretrace::sm {

class ConstantCache {
 public:
  /// `line_bytes`: a power of two.
  ConstantCache(std::uint32_t bytes, std::uint32_t line_bytes)
      : shift_(std::countr_zero(line_bytes)), capacity_(std::max(bytes >> shift_, 1u)) {}

  /// When the line of `address` can be used, kNever: it is neither here nor on its way. It becomes the youngest.
  Cycle lookup(std::uint32_t address) {
    const std::uint32_t line = address >> shift_;
    if (line == latest_.line) return latest_.ready;
    for (Entry& entry : entries_) {
      if (entry.line == line) {
        entry.used = ++clock_;
        latest_ = entry;
        return entry.ready;
      }
    }
    return kNever;
  }
  /// The line of `address` has come and can be used from `ready` on; nothing changes where it is here already.
  void insert_or_touch(std::uint32_t address, Cycle ready) {
    if (lookup(address) == kNever) insert(address, ready);
  }
  /// The line of `address`, which is neither here nor on its way, can be used from `ready` on.
  void insert(std::uint32_t address, Cycle ready) {
    const Entry fresh{address >> shift_, ++clock_, ready};
    latest_ = fresh;
    if (entries_.size() < capacity_) {
      entries_.push_back(fresh);
      return;
    }
    Entry* oldest = &entries_[0];
    for (Entry& entry : entries_) {
      if (entry.used < oldest->used) oldest = &entry;
    }
    *oldest = fresh;
  }

 private:
  struct Entry {
    std::uint32_t line = ~0u;
    std::uint64_t used = 0;
    Cycle ready = 0;
  };
  int shift_;
  std::vector<Entry> entries_;
  std::size_t capacity_;
  std::uint64_t clock_ = 0;
  Entry latest_;
};

}  // namespace foretrace::sm
