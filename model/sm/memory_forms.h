// Short questions about the form of a memory instruction.
#pragma once

#include <bit>
#include <cstdint>

#include "model/sm/static_program.h"

namespace foretrace::sm {

inline bool is_copy(const StaticInstruction& instruction) {
  return instruction.form.access == isa::Access::async_copy;
}
inline bool is_store(const StaticInstruction& instruction) {
  return instruction.form.access == isa::Access::store || instruction.form.access == isa::Access::reduction;
}

/// What a warp that ends waits for, whether or not it has waited for a result: its stores until they have left, its atomics until they are
/// answered (H100, block_end).
inline bool holds_warp(const StaticInstruction& instruction) {
  return is_store(instruction) || instruction.form.access == isa::Access::atomic;
}

inline std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

inline constexpr std::uint32_t kQuads = kWarpSize / 4;

/// Groups of four lanes with one that executes: what the texture unit takes at a time.
inline std::uint32_t quads(std::uint32_t executed) {
  const std::uint32_t any = executed | executed >> 1 | executed >> 2 | executed >> 3;
  return static_cast<std::uint32_t>(std::popcount(any & 0x11111111u));
}

}  // namespace foretrace::sm
