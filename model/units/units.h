// What the model cannot vary, and the names of its quantities.
//
// These are properties of every NVIDIA GPU that this model covers, not configuration: changing one would change the
// meaning of the machine code (warp size) or of the counters (sector size).
#pragma once

#include <cstdint>

namespace foretrace {

/// Cycles of the SM clock unless a name says otherwise.
using Cycle = std::uint64_t;
inline constexpr Cycle kNever = ~Cycle{0};

inline constexpr int kWarpSize = 32;     ///< lanes per warp
inline constexpr int kSectorBytes = 32;  ///< bytes of a sector, the unit of cache traffic
inline constexpr int kLineBytes = 128;   ///< bytes of a cache line: four sectors
inline constexpr int kSectorsPerLine = kLineBytes / kSectorBytes;
inline constexpr int kSharedBanks = 32;       ///< banks of shared memory
inline constexpr int kSharedBankBytes = 4;    ///< bytes a bank delivers per wavefront
inline constexpr int kSubCores = 4;           ///< sub-partitions (schedulers) of an SM
inline constexpr int kScoreboards = 6;        ///< scoreboards per warp
inline constexpr int kInstructionBytes = 16;  ///< bytes of a machine instruction since Volta

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

}  // namespace foretrace
