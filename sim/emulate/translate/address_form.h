// How the flags of a memory micro-op describe its address and its data.
#pragma once

#include <cstdint>

#include <fmt/format.h>

#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

inline constexpr std::uint32_t kBase64 = 1;  ///< the base is a register pair; else 32 bits, zero-extended
inline constexpr int kBaseShift = 1;  ///< three bits: the base is shifted left by this (.X4, .X8, .X16)
inline constexpr int kSizeShift = 4;  ///< three bits: log2 of the bytes per lane, 0..5
inline constexpr std::uint32_t kLoadSigned = 1 << 7;  ///< a byte or half is sign-extended
inline constexpr std::uint32_t kUniform64 = 1 << 8;   ///< the uniform part is a pair
inline constexpr int kSpaceShift = 9;                 ///< two bits: MemorySpace
inline constexpr std::uint32_t kZeroFill = 1 << 11;   ///< LDGSTS.ZFILL
inline constexpr int kSharedShift = 12;               ///< three bits: LDGSTS, shift of the shared base
inline constexpr int kAtomicOpShift = 16;             ///< four bits: AtomicOp
inline constexpr int kAtomicTypeShift = 20;           ///< four bits: AtomicType
inline constexpr std::uint32_t kTellsCount = 1u
                                             << 24;  ///< an atomic that shares work out (isa::work_counters)
inline constexpr std::uint32_t kTransposed = 1 << 24;  ///< LDSM, STSM .MT88
inline constexpr int kMatricesShift = 25;              ///< three bits: 1, 2 or 4

inline constexpr int kClusterRankShift = 24;  ///< a shared address: the block's rank in its cluster above it

inline constexpr std::uint32_t kAsksAgain =
    1u << 28;  ///< a load that sees other blocks' stores: it may stand in a spin loop

enum class MemorySpace : std::uint8_t { global, shared, local, generic };
enum class AtomicOp : std::uint8_t {
  add,
  min,
  max,
  inc,
  dec,
  and_,
  or_,
  xor_,
  exch,
  cas,
  cast_spin,
  popc_inc,
  arrive
};
enum class AtomicType : std::uint8_t { u32, s32, u64, s64, f32, f32_flush, f64, f16x2, bf16x2, b128 };

/// What a lane's register pair holds: the second word stands a warp's lanes behind the first.
inline std::uint64_t pair(const std::uint32_t* words) {
  return words[0] | std::uint64_t{words[kWarpSize]} << 32;
}

/// [URn+offset]
inline Source take_uniform_address(Decoder& d, std::int64_t& offset) {
  const isa::Operand& operand = d.printed.next();
  if (operand.kind != isa::OperandKind::memory || operand.uniform_base < 0 ||
      (operand.base >= 0 && operand.base != isa::kRz)) {
    PrintedForm::refuse(fmt::format("address '{}'", operand.text));
  }
  offset = operand.offset;
  return Source{.word = Decoder::uniform_word(operand.uniform_base, false), .file = File::uniform};
}

}  // namespace foretrace::emulate
