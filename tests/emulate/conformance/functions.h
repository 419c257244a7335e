// Functions of two operands that a kernel and this machine both compute; the answers must be the same bits.
//
// Included by functions.cu, which makes a kernel of each, and by the test, which computes them with the host's arithmetic.
// On the host the intrinsics are written out by their definition in the CUDA Math API.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
__device__ inline float minimum_of(float a, float b) { return fminf(a, b); }
__device__ inline float maximum_of(float a, float b) { return fmaxf(a, b); }
__device__ inline double minimum_of(double a, double b) { return fmin(a, b); }
__device__ inline double maximum_of(double a, double b) { return fmax(a, b); }
#else
namespace host_intrinsics {
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return static_cast<uint32_t>((uint64_t{a} * b) >> 32); }
inline int32_t __mulhi(int32_t a, int32_t b) { return static_cast<int32_t>((int64_t{a} * b) >> 32); }
__extension__ using u128 = unsigned __int128;
inline uint64_t __umul64hi(uint64_t a, uint64_t b) { return static_cast<uint64_t>((u128{a} * b) >> 64); }
inline int __popc(uint32_t a) { return __builtin_popcount(a); }
inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz(static_cast<uint32_t>(a)); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline uint32_t __brev(uint32_t a) {
  uint32_t r = 0;
  for (int i = 0; i < 32; ++i) r |= (a >> i & 1) << (31 - i);
  return r;
}
inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t s) {
  const uint64_t bytes = a | uint64_t{b} << 32;
  uint32_t r = 0;
  for (int i = 0; i < 4; ++i) r |= static_cast<uint32_t>(bytes >> (8 * (s >> (4 * i) & 7)) & 0xff) << (8 * i);
  return r;
}
inline uint32_t __funnelshift_l(uint32_t lo, uint32_t hi, uint32_t n) {
  return static_cast<uint32_t>((lo | uint64_t{hi} << 32) << (n & 31) >> 32);
}
inline uint32_t __funnelshift_rc(uint32_t lo, uint32_t hi, uint32_t n) {
  return static_cast<uint32_t>((lo | uint64_t{hi} << 32) >> (n < 32 ? n : 32));
}
inline int __dp4a(int a, int b, int c) {
  uint32_t r = static_cast<uint32_t>(c);
  for (int i = 0; i < 4; ++i) {
    r += static_cast<uint32_t>(int{static_cast<int8_t>(a >> (8 * i))} *
                               int{static_cast<int8_t>(b >> (8 * i))});
  }
  return static_cast<int>(r);
}
inline uint32_t __usad(uint32_t a, uint32_t b, uint32_t c) { return (a > b ? a - b : b - a) + c; }
inline uint32_t __vabsdiffu4(uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (int i = 0; i < 32; i += 8) {
    const uint32_t x = a >> i & 0xff, y = b >> i & 0xff;
    r |= (x > y ? x - y : y - x) << i;
  }
  return r;
}
inline uint32_t __vadd2(uint32_t a, uint32_t b) { return ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16; }
inline uint32_t __vmaxs2(uint32_t a, uint32_t b) {
  const auto most = [](uint32_t x, uint32_t y) {
    const int16_t p = static_cast<int16_t>(x), q = static_cast<int16_t>(y);
    return static_cast<uint32_t>(static_cast<uint16_t>(p > q ? p : q));
  };
  return most(a, b) | most(a >> 16, b >> 16) << 16;
}
inline float __uint_as_float(uint32_t a) {
  float x;
  memcpy(&x, &a, 4);
  return x;
}
inline uint32_t __float_as_uint(float a) {
  uint32_t x;
  memcpy(&x, &a, 4);
  return x;
}
/// NaN loses, and -0 is less than +0, which the C library leaves open.
template <class T>
T minimum_of(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == 0 && b == 0) return signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T maximum_of(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  return minimum_of(-a, -b) * -1;
}
}  // namespace host_intrinsics
using namespace host_intrinsics;
#endif

/// FUNCTION(name, operand type, result type, expression of a and b)
#define INTEGER_FUNCTIONS(FUNCTION)                                                                          \
  FUNCTION(add, uint32_t, uint32_t, a + b)                                                                   \
  FUNCTION(divide_unsigned, uint32_t, uint32_t, a / (b | 1))                                                 \
  FUNCTION(remainder_unsigned, uint32_t, uint32_t, a % (b | 1))                                              \
  FUNCTION(divide_signed, int32_t, int32_t, (a >> 1) / (b | 1))                                              \
  FUNCTION(remainder_signed, int32_t, int32_t, (a >> 1) % (b | 1))                                           \
  FUNCTION(divide_by_seven, int32_t, int32_t, a / 7 + b % 10)                                                \
  FUNCTION(multiply_high_unsigned, uint32_t, uint32_t, __umulhi(a, b))                                       \
  FUNCTION(multiply_high_signed, int32_t, int32_t, __mulhi(a, b))                                            \
  FUNCTION(multiply_add_wide, uint32_t, uint64_t, uint64_t{a} * b + (uint64_t{b} << 20))                     \
  FUNCTION(multiply_add_wide_signed, int32_t, int64_t, int64_t{a} * b - a)                                   \
  FUNCTION(shift_left, uint32_t, uint32_t, a << (b & 31))                                                    \
  FUNCTION(shift_right, uint32_t, uint32_t, a >> (b & 31))                                                   \
  FUNCTION(shift_right_signed, int32_t, int32_t, a >> (b & 31))                                              \
  FUNCTION(rotate, uint32_t, uint32_t, a << (b & 31) | a >> (-b & 31))                                       \
  FUNCTION(funnel_left, uint32_t, uint32_t, __funnelshift_l(a, b, a ^ b))                                    \
  FUNCTION(funnel_right_clamped, uint32_t, uint32_t, __funnelshift_rc(a, b, b & 63))                         \
  FUNCTION(logic, uint32_t, uint32_t, ((a & ~b) | (a >> 3 & b)) ^ (b << 5))                                  \
  FUNCTION(majority, uint32_t, uint32_t, (a & b) | (a & (a << 1)) | (b & (a << 1)))                          \
  FUNCTION(population, uint32_t, int32_t, __popc(a) - __popc(~b))                                            \
  FUNCTION(leading_zeros, int32_t, int32_t, __clz(a) * 64 + __ffs(b))                                        \
  FUNCTION(reverse, uint32_t, uint32_t, __brev(a) + b)                                                       \
  FUNCTION(permute_bytes, uint32_t, uint32_t, __byte_perm(a, b, a ^ (b << 3) ^ 0x5410))                      \
  FUNCTION(dot_product, int32_t, int32_t, __dp4a(a, b, a ^ b))                                               \
  FUNCTION(absolute_differences, uint32_t, uint32_t, __usad(a, b, 17) + __vabsdiffu4(a, b))                  \
  FUNCTION(packed_add, uint32_t, uint32_t, __vadd2(a, b))                                                    \
  FUNCTION(packed_maximum, uint32_t, uint32_t, __vmaxs2(a, b))                                               \
  FUNCTION(minimum_maximum, int32_t, int32_t, (a < b ? a : b) ^ ((a >> 2) > (b >> 3) ? (a >> 2) : (b >> 3))) \
  FUNCTION(absolute, int32_t, int32_t, (a < 0 ? -(a + 1) : a) ^ b)                                           \
  FUNCTION(compare_chain, int32_t, int32_t, (a < b) + 2 * (a <= 0) + 4 * (b != -1) + 8 * (a > b && b >= 7))  \
  FUNCTION(clamp_byte, int32_t, int32_t, (a >> 20) < 0 ? 0 : (a >> 20) > 255 ? 255 : (a >> 20))              \
  FUNCTION(sign_extend, int32_t, int32_t, static_cast<int8_t>(a) * 3 + static_cast<int16_t>(b))              \
  FUNCTION(add_64, uint64_t, uint64_t, a + b)                                                                \
  FUNCTION(subtract_64, uint64_t, uint64_t, a - b)                                                           \
  FUNCTION(multiply_64, uint64_t, uint64_t, a* b)                                                            \
  FUNCTION(multiply_high_64, uint64_t, uint64_t, __umul64hi(a, b))                                           \
  FUNCTION(divide_64, uint64_t, uint64_t, a / (b | 1))                                                       \
  FUNCTION(remainder_64, uint64_t, uint64_t, a % ((b >> 17) | 1))                                            \
  FUNCTION(divide_signed_64, int64_t, int64_t, (a >> 1) / (b | 1))                                           \
  FUNCTION(shift_64, uint64_t, uint64_t, (a << (b & 63)) ^ (b >> (a & 63)))                                  \
  FUNCTION(shift_signed_64, int64_t, int64_t, a >> (b & 63))                                                 \
  FUNCTION(compare_64, int64_t, int32_t,                                                                     \
           (a < b) + 2 * (static_cast<uint64_t>(a) < static_cast<uint64_t>(b)) + 4 * (a == b))               \
  FUNCTION(minimum_64, int64_t, int64_t, a < b ? a : b)                                                      \
  FUNCTION(maximum_64, uint64_t, uint64_t, a > b ? a : b)

#define FLOAT_FUNCTIONS(FUNCTION)                                                                            \
  FUNCTION(f_add, float, float, a + b)                                                                       \
  FUNCTION(f_subtract, float, float, a - b)                                                                  \
  FUNCTION(f_multiply, float, float, a* b)                                                                   \
  FUNCTION(f_fma, float, float, fmaf(a, b, -a))                                                              \
  FUNCTION(f_divide, float, float, a / b)                                                                    \
  FUNCTION(f_reciprocal, float, float, 1.0f / a + b)                                                         \
  FUNCTION(f_sqrt, float, float, sqrtf(a) - b)                                                               \
  FUNCTION(f_minimum, float, float, minimum_of(a, b))                                                        \
  FUNCTION(f_maximum, float, float, maximum_of(fabsf(a), -b))                                                \
  FUNCTION(f_floor, float, float, floorf(a) + ceilf(b))                                                      \
  FUNCTION(f_truncate, float, float, truncf(a) * rintf(b))                                                   \
  FUNCTION(f_compare, float, int32_t, (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * !(a > b))  \
  FUNCTION(f_select, float, float, a > 0.5f ? b : a)                                                         \
  FUNCTION(f_to_double, float, double, static_cast<double>(a) * b)                                           \
  FUNCTION(f_from_int, int32_t, float, static_cast<float>(a) + static_cast<float>(static_cast<uint32_t>(b))) \
  FUNCTION(f_from_int_64, int64_t, float,                                                                    \
           static_cast<float>(a) + static_cast<float>(static_cast<uint64_t>(b)))                             \
  FUNCTION(f_from_short, int32_t, float,                                                                     \
           static_cast<float>(static_cast<int16_t>(a)) + static_cast<float>(static_cast<uint8_t>(b)))        \
  FUNCTION(d_add, double, double, a + b)                                                                     \
  FUNCTION(d_multiply, double, double, a* b)                                                                 \
  FUNCTION(d_fma, double, double, fma(a, b, a))                                                              \
  FUNCTION(d_divide, double, double, a / b)                                                                  \
  FUNCTION(d_sqrt, double, double, sqrt(fabs(a)) + b)                                                        \
  FUNCTION(d_minimum, double, double, minimum_of(a, b))                                                      \
  FUNCTION(d_maximum, double, double, maximum_of(a, b))                                                      \
  FUNCTION(d_floor, double, double, floor(a) - rint(b))                                                      \
  FUNCTION(d_compare, double, int32_t, (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * !(a > b)) \
  FUNCTION(d_to_float, double, float, static_cast<float>(a) * static_cast<float>(b))                         \
  FUNCTION(d_from_int_64, int64_t, double,                                                                   \
           static_cast<double>(a) - static_cast<double>(static_cast<uint64_t>(b)))

/// FUNCTION(name, device expression of float x, host expression of double x, most units in the last place): the bounds
/// are those of the CUDA C++ Programming Guide's table of maximum errors, plus one for the host's own rounding.
#define LIBRARY_FUNCTIONS(FUNCTION)                                                             \
  FUNCTION(l_sin, sinf(x), sin(x), 3)                                                           \
  FUNCTION(l_cos, cosf(x), cos(x), 3)                                                           \
  FUNCTION(l_sin_large, sinf(x * 1e6f), sin(double(float(float(x) * 1e6f))), 3)                 \
  FUNCTION(l_tan, tanf(x), tan(x), 5)                                                           \
  FUNCTION(l_exp, expf(x), exp(x), 3)                                                           \
  FUNCTION(l_exp2, exp2f(x), exp2(x), 3)                                                        \
  FUNCTION(l_log, logf(fabsf(x)), log(fabs(x)), 2)                                              \
  FUNCTION(l_log2, log2f(fabsf(x)), log2(fabs(x)), 2)                                           \
  FUNCTION(l_log1p, log1pf(fabsf(x)), log1p(fabs(x)), 2)                                        \
  FUNCTION(l_rsqrt, rsqrtf(fabsf(x)), 1 / sqrt(fabs(x)), 3)                                     \
  FUNCTION(l_cbrt, cbrtf(x), cbrt(x), 2)                                                        \
  FUNCTION(l_tanh, tanhf(x), tanh(x), 3)                                                        \
  FUNCTION(l_erf, erff(x), erf(x), 3)                                                           \
  FUNCTION(l_atan, atanf(x), atan(x), 3)                                                        \
  FUNCTION(l_pow, powf(fabsf(x), 2.5f), pow(fabs(x), 2.5), 5)                                   \
  FUNCTION(l_gamma, tgammaf(fabsf(x) + 1.0f), tgamma(double(float(fabsf(float(x)) + 1.0f))), 6) \
  FUNCTION(l_remainder, fmodf(x, 0.7f), fmod(x, double(0.7f)), 1)
