// The lane functions of one vector instruction set, and the choice between the sets.
//
// Models:  nothing; the same arithmetic twice, compiled for AVX2 (with FMA and F16C) and for AVX-512 (F, BW, DQ, VL).
//          Both give the same bytes: every operation is either integer or rounded once as IEEE 754 says.
// Note:    included by code that is compiled for those sets: no function bodies here (see micro_op.h).
#pragma once

#include <cstdint>

#include "sim/emulate/translate/micro_op.h"

namespace foretrace::emulate {

struct ProductTile;
struct IntegerTile;
struct Fragment;
struct FloatLayout;
struct Parts;
struct PartsFound;

enum class LaneOp : std::uint16_t {
#define FORETRACE_BITS(name) name,
#define FORETRACE_INTEGER(name) name,
#define FORETRACE_FLOAT32(name) name,
#define FORETRACE_FLOAT64(name) name,
#define FORETRACE_HALF(name) name,
#include "sim/emulate/execute/lanes/lane_ops.def"
  count
};

/// Bits of MicroOp::flags, by operation.
inline constexpr std::uint32_t kSigned = 1;        ///< integers: operands are signed
inline constexpr std::uint32_t kCarryIn = 2;       ///< .X: p_in (and q_in) are added
inline constexpr std::uint32_t kWrap = 4;          ///< shifts: .W, the count is taken modulo the width
inline constexpr std::uint32_t kHigh = 8;          ///< shifts: .HI; IDP.2A: .HI
inline constexpr std::uint32_t kLeft = 16;         ///< SHF.L
inline constexpr std::uint32_t kShift64 = 32;      ///< SHF .U64/.S64: clamps at 64
inline constexpr std::uint32_t kExtended = 64;     ///< ISETP.EX
inline constexpr std::uint32_t kSignedB = 128;     ///< IDP: second factor is signed
inline constexpr std::uint32_t kSignExtend = 256;  ///< LEA.HI.SX32
inline constexpr std::uint32_t kSaturate = 512;    ///< float .SAT; VIADD .ISAT
inline constexpr std::uint32_t kFlush = 1024;      ///< .FTZ (and .FMZ)
inline constexpr std::uint32_t kZeroWins = 2048;   ///< .FMZ: 0 * x is +0
inline constexpr std::uint32_t kNan = 4096;        ///< FMNMX.NAN
inline constexpr std::uint32_t kXorSign = 8192;    ///< FMNMX.XORSIGN
inline constexpr std::uint32_t kRelu = 16384;      ///< .RELU
inline constexpr std::uint32_t kBfloat = 32768;    ///< .BF16_V2
inline constexpr std::uint32_t kAllOnes =
    65536;  ///< HSET2/FSET without .BF: true is all ones; PRMT: see function
inline constexpr std::uint32_t kBothHalves = 1u << 17;   ///< HSETP2.H_AND
inline constexpr std::uint32_t kFloatResult = 1u << 18;  ///< HADD2.F32 and the like
inline constexpr int kRoundingShift = 20;  ///< two bits: 0 nearest even, 1 down, 2 up, 3 towards zero
inline constexpr int kCompareShift = 22;   ///< four bits: comparison (integer 0..7, float 0..15)
inline constexpr int kCombineShift = 26;   ///< two bits: 0 AND, 1 OR, 2 XOR
inline constexpr int kModeShift = 28;      ///< four bits: PRMT mode, element kind of packed operations

/// The least and greatest address of the executed lanes, and all their bits or-ed together.
struct AddressRange {
  std::uint64_t least, greatest, bits;
};

struct LaneTable {
  LaneFunction op[static_cast<int>(LaneOp::count)];
  /// out[l] = ((high ? low[l] | high[l] << 32 : low[l] << shift) + add) & keep.
  void (*addresses)(const std::uint32_t* low, const std::uint32_t* high, int shift, std::uint64_t add,
                    std::uint64_t keep, std::uint64_t* out);
  AddressRange (*range)(const std::uint64_t* addresses, std::uint32_t mask);
  /// Loads one word for each lane of `mask` from memory + (address - least); `span` = greatest - least.
  void (*load_words)(std::uint32_t* to, const void* memory, const std::uint64_t* addresses,
                     std::uint64_t least, std::uint64_t span, std::uint32_t mask);
  void (*store_words)(const std::uint32_t* from, void* memory, const std::uint64_t* addresses,
                      std::uint64_t least, std::uint64_t span, std::uint32_t mask);
  /// Sums of products: product_tile.h.
  void (*multiply)(const ProductTile& tile);
  void (*multiply_integers)(const IntegerTile& tile);
  /// Takes `count` elements apart; magnitudes are shifted left by `shift`.
  PartsFound (*take_apart)(const FloatLayout& layout, const std::uint32_t* raw, int count, int shift,
                           const Parts& out);
  /// Elements of A, [row * depth + k], and of 8 columns of B, [k * 8 + place].
  void (*fragment_rows)(const Fragment& fragment, std::uint32_t* to);
  void (*fragment_columns)(const Fragment& fragment, std::uint32_t* to);
};

/// The table for this processor, or for FORETRACE_SIMD=avx2|avx512 in the environment. Throws InputError when the
/// processor lacks what is asked for.
const LaneTable& lane_table();

namespace lanes_avx2 {
void fill_bits(LaneTable& table);
void fill_integer(LaneTable& table);
void fill_float32(LaneTable& table);
void fill_float64(LaneTable& table);
void fill_half(LaneTable& table);
void fill_access(LaneTable& table);
void fill_products(LaneTable& table);
}  // namespace lanes_avx2
namespace lanes_avx512 {
void fill_bits(LaneTable& table);
void fill_integer(LaneTable& table);
void fill_float32(LaneTable& table);
void fill_float64(LaneTable& table);
void fill_half(LaneTable& table);
void fill_access(LaneTable& table);
void fill_products(LaneTable& table);
}  // namespace lanes_avx512

}  // namespace foretrace::emulate
