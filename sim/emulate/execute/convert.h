// Lane functions for conversions and the multifunction unit; the same code on every processor.
#pragma once

#include <cstdint>

#include "sim/emulate/execute/special_functions.h"
#include "sim/emulate/translate/micro_op.h"

namespace foretrace::emulate {

/// MicroOp::index2 of a conversion.
struct Conversion {
  std::uint8_t from = 0;    ///< Format of a float source
  std::uint8_t to = 0;      ///< Format of a float result
  std::uint8_t width = 32;  ///< bits of the integer
  std::uint8_t part = 0;    ///< byte of the register where a narrow integer starts
  bool is_signed = true;
};
constexpr std::uint32_t encode(const Conversion& c) {
  return static_cast<std::uint32_t>(c.from | c.to << 4 | c.width << 8 | c.part << 16 |
                                    (c.is_signed ? 1 << 20 : 0));
}
constexpr Conversion conversion_of(std::uint32_t bits) {
  return {static_cast<std::uint8_t>(bits & 15), static_cast<std::uint8_t>(bits >> 4 & 15),
          static_cast<std::uint8_t>(bits >> 8 & 0xff), static_cast<std::uint8_t>(bits >> 16 & 15),
          (bits >> 20 & 1) != 0};
}

void convert_integer_to_float(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// flags: kNan: NaN gives 0 (.NTZ); kFlush.
void convert_float_to_integer(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// flags: kRelu: round to an integral value first (FRND); kSaturate; kFlush.
void convert_float(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// F2FP: a to the high half, b to the low one. kRelu; kSaturate: too large or infinite becomes the largest finite number.
void pack_floats(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// F2FP to tf32: b with 10 bits of fraction. Flags as above.
void round_to_tf32(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// MicroOp::index2 of F2FP's narrow ones: a NarrowFormat, and
inline constexpr std::uint32_t kFromHalves = 8;  ///< from two numbers of 16 bits in b
inline constexpr int kNarrowPartShift =
    4;  ///< which byte (of 4-bit numbers) or half of the register is the source, two bits
inline constexpr std::uint32_t kBfloats = 1 << 6;      ///< what is not narrow is bf16, not f16
inline constexpr std::uint32_t kScalesAbove = 1 << 7;  ///< the scales are c's upper half
/// F2FP to two narrow floats: of eight and six bits a to byte 1, b to byte 0, the low half of c above them; of four bits both in a byte.
void pack_narrows(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// F2FP from two narrow floats to two halves, or (kBfloats) to two bf16 after a product with two scales (ue8m0) of c. kSaturate as above.
void unpack_narrows(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// F2FP to two scales (ue8m0: an exponent, biased by 127, 255: NaN) of the magnitudes, rounded up or towards zero, from f32 or (kFromHalves) bf16.
void pack_scales(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// F2FP from two scales to two bf16.
void unpack_scales(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// F2IP: b to byte 0, a to byte 1, c above them.
void pack_bytes(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);
/// index2: MufuFunction | Format << 8.
void multifunction(const LaneFrame& f, const MicroOp& op, std::uint32_t mask);

}  // namespace foretrace::emulate
