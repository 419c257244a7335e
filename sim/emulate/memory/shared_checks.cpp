#include "sim/emulate/memory/shared_checks.h"

#include <algorithm>

namespace foretrace::emulate {

SharedChecks::SharedChecks(std::uint32_t bytes, std::uint32_t warps, bool unwritten, bool races)
    : warps_(warps), unwritten_(unwritten), races_(races) {
  if (unwritten_) written_.resize(bytes);
  if (!races_) return;
  writes_.resize(bytes);
  reads_.resize(std::size_t{bytes} * warps);
  clocks_.resize(std::size_t{warps} * warps);
  for (std::uint32_t w = 0; w < warps; ++w) known(w, w) = 1;
}

std::optional<SharedChecks::Finding> SharedChecks::read(std::uint64_t offset, std::uint32_t bytes,
                                                        std::uint32_t warp) {
  for (std::uint64_t at = offset; at < offset + bytes; ++at) {
    if (unwritten_ && !written_[at]) return Finding{Kind::unwritten, at, 0, 0};
    if (!races_) continue;
    const Write& w = writes_[at];
    if (w.clock > known(warp, w.warp)) return Finding{Kind::read_after_write, at, w.warp, w.pc};
    reads_[at * warps_ + warp] = known(warp, warp);
  }
  return std::nullopt;
}

std::optional<SharedChecks::Finding> SharedChecks::write(std::uint64_t offset, std::uint32_t bytes,
                                                         std::uint32_t warp, std::uint32_t pc,
                                                         const std::byte* held, const std::byte* stored) {
  for (std::uint64_t at = offset; at < offset + bytes; ++at) {
    if (unwritten_) written_[at] = true;
    if (!races_) continue;
    Write& w = writes_[at];
    const bool same = stored != nullptr && w.pc == pc && held[at - offset] == stored[at - offset];
    if (w.clock > known(warp, w.warp) && !same) return Finding{Kind::write_after_write, at, w.warp, w.pc};
    for (std::uint32_t other = 0; other < warps_; ++other) {
      if (reads_[at * warps_ + other] > known(warp, other))
        return Finding{Kind::write_after_read, at, other, 0};
    }
    w = {known(warp, warp), pc, warp};
  }
  return std::nullopt;
}

void SharedChecks::atomic(std::uint64_t offset, std::uint32_t bytes, std::uint32_t warp) {
  mark_written(offset, bytes);
  wait(offset, warp);
  arrive(offset, warp);
}

void SharedChecks::mark_written(std::uint64_t offset, std::uint32_t bytes) {
  if (!unwritten_) return;
  for (std::uint64_t at = offset; at < offset + bytes; ++at) written_[at] = true;
}

void SharedChecks::arrive(std::uint64_t place, std::uint32_t warp) {
  if (!races_) return;
  std::vector<std::uint32_t>& clock = places_[place];
  clock.resize(warps_);
  for (std::uint32_t w = 0; w < warps_; ++w) clock[w] = std::max(clock[w], known(warp, w));
  ++known(warp, warp);  // what it does from here on is not known there
}

void SharedChecks::wait(std::uint64_t place, std::uint32_t warp) {
  if (!races_) return;
  const auto found = places_.find(place);
  if (found == places_.end()) return;
  for (std::uint32_t w = 0; w < warps_; ++w) known(warp, w) = std::max(known(warp, w), found->second[w]);
}

}  // namespace foretrace::emulate
