// Which bytes of global memory have been written, for the check for uninitialised reads.
//
// Models:  every byte of an allocation by itself. Allocations that were never added count as written.
// Ignores: bits; what a byte was written with.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace foretrace::emulate {

/// For one thread at a time.
class WrittenBytes {
 public:
  /// From now on add() is of effect; before, everything counts as written.
  void track() { tracks_ = true; }
  bool tracks() const { return tracks_; }

  /// A new allocation, none of whose bytes is written.
  void add(std::uint64_t address, std::uint64_t size);
  /// The end of the allocation that starts at the address, if there is one.
  void remove(std::uint64_t address) { written_.erase(address); }

  /// What lies beyond the allocation of the first byte is left alone.
  void mark(std::uint64_t address, std::uint64_t size);
  /// Whether all bytes in the allocation of the first one are; true also for bytes that are not tracked.
  bool all(std::uint64_t address, std::uint64_t size) const;

 private:
  bool tracks_ = false;
  std::map<std::uint64_t, std::vector<bool>> written_;  // by address of the allocation: its bytes
};

}  // namespace foretrace::emulate
