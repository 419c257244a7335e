// Coalescing: which lines and sectors the lanes of one warp instruction touch. A pure function.
//
// Models:  128-byte lines of four 32-byte sectors; lanes of a warp instruction that touch the same sector share it.
// Source:  NCU: what NVIDIA's counters call requests and sectors (docs/sources.md).
#pragma once

#include <array>
#include <cstdint>

#include "model/units/units.h"

namespace foretrace::rules {

/// Part of one line that a warp instruction touches.
struct LineAccess {
  std::uint64_t line = 0;    ///< byte address / 128
  std::uint8_t sectors = 0;  ///< bit i: sector i
  std::uint8_t lanes = 0;    ///< executed lanes that touch it
};
struct Coalesced {
  static constexpr int kMaxLines =
      64;  ///< 32 lanes, each at most two lines (misaligned accesses do not exist, wide ones stay in a line)
  std::uint32_t count = 0;
  std::uint32_t sectors = 0;  ///< distinct sectors over all lines
  std::array<LineAccess, kMaxLines>
      lines;  ///< in order of the first lane that touches them; `count` are filled
};

/// Lines and sectors of an access of `bytes` per lane at the addresses of the lanes in `executed`.
void coalesce(const std::array<std::uint64_t, kWarpSize>& addresses, std::uint32_t executed,
              std::uint32_t bytes, Coalesced& out);

/// Adds the lines and sectors of another access of the same instruction; those beyond kMaxLines are left out.
void join(Coalesced& into, const Coalesced& other);

/// The fewest sectors that can hold what the lanes asked for: distinct bytes / 32, rounded up.
std::uint32_t ideal_sectors(const std::array<std::uint64_t, kWarpSize>& addresses, std::uint32_t executed,
                            std::uint32_t bytes);

/// Bytes that the lanes write: of each of the access's `lines`, which are those of coalesce(), bit i of element s: byte i of sector s.
using WrittenBytes = std::array<std::array<std::uint32_t, kSectorsPerLine>, Coalesced::kMaxLines>;
void written_bytes(const std::array<std::uint64_t, kWarpSize>& addresses, std::uint32_t executed,
                   std::uint32_t bytes, const Coalesced& lines, WrittenBytes& written);

}  // namespace foretrace::rules
