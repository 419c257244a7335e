// Hand-made kernels that between them use every pipe, latency class, cache and queue of a small machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/spec/gpu_spec.h"
#include "model/work/transfer.h"

namespace foretrace::config {

/// One printed instruction and what its lanes do: address of lane l in warp w of block b at round r is
/// base + l * lane + (b * warps + w) * warp + r * round.
struct Line {
  std::string text;
  std::uint8_t stall = 1;
  std::uint8_t write = 7, read = 7, wait = 0;
  std::uint64_t base = 0;
  std::uint64_t lane = 4, warp = 128, round = 0;
  std::uint64_t operand = 0;     ///< SYNCS: its second address set
  work::Transfer transfer = {};  ///< of the copy engine
};

struct Kernel {
  std::string name;
  std::vector<Line> lines;  ///< run `rounds` times over, then EXIT
  std::uint64_t blocks = 1;
  std::uint32_t warps = 1, rounds = 1, registers = 32;
  std::uint64_t shared = 0;
  std::uint32_t barriers = 1;
  std::uint32_t step = 1;         ///< only every so many lines are executed
  std::uint32_t short_warps = 0;  ///< of each block: execute one round
  std::uint32_t cluster = 1;      ///< blocks
};

inline constexpr std::uint64_t kGlobal = std::uint64_t{7} << 40;

/// One of everything, each result awaited before the next instruction: latencies.
Kernel one_of_each(int sm_number);
/// Independent instructions at stall 1: widths of pipes, register banks.
Kernel back_to_back(int sm_number);
/// More memory instructions than any queue holds, in one warp per sub-core and in many.
std::vector<Kernel> floods(int sm_number);
/// Stores that merge, and such as hit or miss L1 by the time between them.
std::vector<Kernel> repeated_stores();
/// Working sets beyond each cache: code, constants, L1, L2; and results that L2 cannot all keep.
std::vector<Kernel> overflows();
/// What copies, mbarriers, warpgroup products and clusters take.
std::vector<Kernel> asynchronous(int sm_number);
/// Kernels whose occupancy each resource limits, on several blocks per SM.
std::vector<Kernel> occupants(const spec::LimitsSpec& limits);

}  // namespace foretrace::config
