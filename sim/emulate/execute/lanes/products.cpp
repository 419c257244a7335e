// Sums of products of matrix instructions, a vector of columns at a time.
//
// Models:  product_tile.h. Products are of 27 bits and are added in groups of 8 in 32 bits, the groups in doubles, which hold them
//          exactly. Where no exponent is far from 0 a product is a float's, which holds its 22 bits, in units of the last place that is
//          kept, and the conversion to an integer cuts it; otherwise it is one of integers, shifted. Elements with an infinity or NaN, or whose result is a subnormal float, are left to the caller.
// Compiled once for each vector instruction set: see vector.h.
#include "sim/emulate/execute/lanes/vector.h"

#include "sim/emulate/execute/lanes/product_tile.h"

namespace foretrace::emulate::FORETRACE_LANES {

namespace {

// clang takes a vector's size in this place alone.
typedef s32 v8i __attribute__((vector_size(32)));
typedef float v8f __attribute__((vector_size(32)));
typedef s32 v4i __attribute__((vector_size(16)));
typedef double v4d __attribute__((vector_size(32)));
typedef s64 v4l __attribute__((vector_size(32)));

constexpr s32 kLeast = -400;  ///< below every exponent that matters, and a double's scale still

[[gnu::always_inline]] inline v8i load8(const void* from) {
  v8i x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
[[gnu::always_inline]] inline v8i all(s32 x) { return v8i{x, x, x, x, x, x, x, x}; }
[[gnu::always_inline]] inline v8i larger(v8i a, v8i b) { return a > b ? a : b; }
/// x >> n toward zero; 0 from 32 on.
[[gnu::always_inline]] inline v8i cut(v8i x, v8i n) {
  return reinterpret_cast<v8i>(_mm256_srlv_epi32(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(n)));
}

/// Accumulators of a block of 8 columns in one row.
struct Accumulators {
  v8i significand, exponent, sign, special;
};

[[gnu::always_inline]] inline Accumulators floats(v8i bits) {
  const v8i biased = (bits >> 23) & 0xff;
  const v8i fraction = bits & 0x7fffff;
  Accumulators a;
  a.special = biased == 0xff;
  a.significand = biased == 0 ? fraction : fraction | 0x800000;
  a.exponent = larger(biased, all(1)) - 127;
  a.exponent = a.significand == 0 ? all(kZeroExponent) : a.exponent;
  a.sign = bits >> 31;
  return a;
}

/// Words of row `row` of a block: from two registers of floats, or one of packed halves.
[[gnu::always_inline]] inline v8i block_of(const u32* c, int row, int block) {
  const u32* at = c + (4 * block + 2 * (row / 8)) * 32 + row % 8 * 4;
  v4i even, odd;
  __builtin_memcpy(&even, at, sizeof even);
  __builtin_memcpy(&odd, at + 32, sizeof odd);
  return __builtin_shufflevector(even, odd, 0, 1, 2, 3, 4, 5, 6, 7);
}
[[gnu::always_inline]] inline void put_block(u32* d, int row, int block, v8i x) {
  u32* at = d + (4 * block + 2 * (row / 8)) * 32 + row % 8 * 4;
  const v4i even = __builtin_shufflevector(x, x, 0, 1, 2, 3), odd = __builtin_shufflevector(x, x, 4, 5, 6, 7);
  __builtin_memcpy(at, &even, sizeof even);
  __builtin_memcpy(at + 32, &odd, sizeof odd);
}
[[gnu::always_inline]] inline v8i half_block_of(const u32* c, int row, int block) {
  v4i pairs;
  __builtin_memcpy(&pairs, c + (2 * block + row / 8) * 32 + row % 8 * 4, sizeof pairs);
  const v4i low = pairs & 0xffff, high = (pairs >> 16) & 0xffff;
  const __m128i packed = _mm_packus_epi32(reinterpret_cast<__m128i>(low), reinterpret_cast<__m128i>(high));
  return reinterpret_cast<v8i>(_mm256_cvtph_ps(packed));
}
[[gnu::always_inline]] inline void put_half_block(u32* d, int row, int block, v8i halves, v8i leave) {
  u32* at = d + (2 * block + row / 8) * 32 + row % 8 * 4;
  v4i before;
  __builtin_memcpy(&before, at, sizeof before);
  const v8i old = __builtin_shufflevector(before & 0xffff, (before >> 16) & 0xffff, 0, 1, 2, 3, 4, 5, 6, 7);
  const v8i x = leave ? old : halves;
  const v4i pairs = __builtin_shufflevector(x, x, 0, 1, 2, 3) | __builtin_shufflevector(x, x, 4, 5, 6, 7)
                                                                    << 16;
  __builtin_memcpy(at, &pairs, sizeof pairs);
}

[[gnu::always_inline]] inline v4d quarter(v8i x, int which) {
  const v4i part =
      which == 0 ? __builtin_shufflevector(x, x, 0, 1, 2, 3) : __builtin_shufflevector(x, x, 4, 5, 6, 7);
  return __builtin_convertvector(part, v4d);
}

/// A sum's value: what has been added times 2^(largest - kept).
[[gnu::always_inline]] inline v4d scaled(v4d sum, v8i exponent, int which) {
  const v4i part = which == 0 ? __builtin_shufflevector(exponent, exponent, 0, 1, 2, 3)
                              : __builtin_shufflevector(exponent, exponent, 4, 5, 6, 7);
  const v4l scale = (__builtin_convertvector(part, v4l) + 1023) << 52;
  return sum * reinterpret_cast<v4d>(scale);
}

[[gnu::always_inline]] inline v4l bits_of(v4d x) { return reinterpret_cast<v4l>(x); }

/// Not zero and smaller than the smallest normal float.
[[gnu::always_inline]] inline v4l tiny(v4d x) {
  const v4l magnitude = bits_of(x) & 0x7fffffffffffffff;
  return (magnitude != 0) & (magnitude < s64{1023 - 126} << 52);
}

/// A double as a float of `fraction` fraction bits, the rest cut; `odd`: where something was cut off, the last bit is set instead.
[[gnu::always_inline]] inline __m128 narrow(v4d x, int fraction, bool odd) {
  const s64 rest = (s64{1} << (52 - fraction)) - 1;
  v4l bits = bits_of(x);
  const v4l lost = bits & rest;
  bits &= ~rest;
  if (odd) bits |= lost != 0 ? v4l{} + (rest + 1) : v4l{};
  return _mm256_cvtpd_ps(reinterpret_cast<__m256d>(bits));
}

/// 2^(kept - largest), a normal float: where `largest` is less than any product's, there is no product.
[[gnu::always_inline]] inline v8f places_per_unit(v8i largest, int kept) {
  const v8i exponent = kept - larger(largest, all(2 * kLeastNear - 2));
  return reinterpret_cast<v8f>((exponent + 127) << 23);
}

template <bool kHalf, bool kSparse, bool kWide>
[[gnu::always_inline]] inline void multiply_row(const ProductTile& t, int row) {
  const s32* as = t.a.significand + row * t.a_stride;
  const s32* ae = t.a.exponent + row * t.a_stride;
  const s32* an = t.a.sign + row * t.a_stride;
  const float* av = t.a.value + row * t.a_stride;
  const u8* select = kSparse ? t.select + row * t.a_stride : nullptr;
  const int blocks = t.columns / 8;
  const bool special_row = t.special_rows[row] != 0;
  for (int block = 0; block < blocks; ++block) {
    v8i words{};
    if (t.c != nullptr) words = kHalf ? half_block_of(t.c, row, block) : block_of(t.c, row, block);
    const Accumulators c = floats(words);
    const auto at = [&](int k) {
      return static_cast<std::ptrdiff_t>(kSparse ? select[k] : k) * t.b_stride + 8 * block;
    };
    v8i largest = c.exponent;
    for (int k = 0; k < t.depth; ++k) largest = larger(largest, load8(t.b.exponent + at(k)) + ae[k]);
    largest = larger(largest, all(kLeast));
    // 23 fraction bits of the accumulator become `kept`.
    v8i sum = t.kept >= 23 ? cut(c.significand << (t.kept - 23), largest - c.exponent)
                           : cut(c.significand, largest - c.exponent + (23 - t.kept));
    sum = (sum ^ c.sign) - c.sign;
    v4d low{}, high{};
    const v8f scale = places_per_unit(largest, t.kept);
    for (int from = 0; from < t.depth; from += 8) {
      for (int k = from; k < from + 8; ++k) {
        const std::ptrdiff_t b = at(k);
        if (!kWide) {
          v8f value;
          __builtin_memcpy(&value, t.b.value + b, sizeof value);
          const v8f product = value * av[k] * scale;
          sum += reinterpret_cast<v8i>(_mm256_cvttps_epi32(reinterpret_cast<__m256>(product)));
          continue;
        }
        const v8i shift = largest - ae[k] - load8(t.b.exponent + b);
        const v8i product = cut(load8(t.b.significand + b) * as[k], shift);
        const v8i sign = load8(t.b.sign + b) ^ an[k];
        sum += (product ^ sign) - sign;
      }
      low += quarter(sum, 0);
      high += quarter(sum, 1);
      sum = v8i{};
    }
    const v8i exponent = largest - t.kept;
    low = scaled(low, exponent, 0);
    high = scaled(high, exponent, 1);
    v8i special = c.special | (load8(t.special_columns + 8 * block) != 0);
    if (special_row) special = all(-1);
    const v8i bits = reinterpret_cast<v8i>(_mm256_set_m128(narrow(high, kHalf ? 23 : t.result_bits, kHalf),
                                                           narrow(low, kHalf ? 23 : t.result_bits, kHalf)));
    if (kHalf) {
      const __m128i packed = _mm256_cvtps_ph(reinterpret_cast<__m256>(bits), _MM_FROUND_TO_NEAREST_INT);
      v8i halves = reinterpret_cast<v8i>(_mm256_cvtepu16_epi32(packed));
      halves = (halves & 0x7fff) == 0 ? v8i{} : halves;
      put_half_block(t.d, row, block, halves, special);
    } else {
      // A float below the normal ones has been rounded once too often.
      const v4i a = __builtin_convertvector(tiny(low), v4i), b = __builtin_convertvector(tiny(high), v4i);
      special |= __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
      put_block(t.d, row, block, special ? words : bits);
    }
    t.left[row * blocks + block] = static_cast<u8>(_mm256_movemask_ps(reinterpret_cast<__m256>(special)));
  }
}

template <bool kHalf, bool kSparse, bool kWide>
void multiply_rows(const ProductTile& t) {
  for (int row = 0; row < kTileRows; ++row) multiply_row<kHalf, kSparse, kWide>(t, row);
}

template <bool kWide>
void multiply_tile(const ProductTile& t) {
  if (t.half) {
    t.select != nullptr ? multiply_rows<true, true, kWide>(t) : multiply_rows<true, false, kWide>(t);
  } else {
    t.select != nullptr ? multiply_rows<false, true, kWide>(t) : multiply_rows<false, false, kWide>(t);
  }
}

void multiply(const ProductTile& t) { t.wide ? multiply_tile<true>(t) : multiply_tile<false>(t); }

/// x + y, clamped to 32 bits.
[[gnu::always_inline]] inline v8i clamped_sum(v8i x, v8i y) {
  const v8i sum =
      reinterpret_cast<v8i>(_mm256_add_epi32(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(y)));
  const v8i over = (x ^ sum) & (y ^ sum);  // both operands have the other sign
  return over < 0 ? (x >> 31) ^ 0x7fffffff : sum;
}

void multiply_integers(const IntegerTile& t) {
  for (int row = 0; row < kTileRows; ++row) {
    const s32* a = t.a + row * t.depth;
    const u8* select = t.select == nullptr ? nullptr : t.select + row * t.depth;
    for (int block = 0; block < t.columns / 8; ++block) {
      v8i sum{};
      for (int k = 0; k < t.depth; ++k) {
        const std::ptrdiff_t from = select == nullptr ? k : select[k];
        sum += load8(t.b + from * t.columns + 8 * block) * a[k];
      }
      const v8i c = t.c == nullptr ? v8i{} : block_of(t.c, row, block);
      const v8i wrapped = reinterpret_cast<v8i>(
          _mm256_add_epi32(reinterpret_cast<__m256i>(sum), reinterpret_cast<__m256i>(c)));
      put_block(t.d, row, block, t.saturates ? clamped_sum(sum, c) : wrapped);
    }
  }
}

PartsFound take_apart(const FloatLayout& layout, const u32* raw, int count, int shift, const Parts& out) {
  const int fraction = layout.fraction, width = layout.fraction + layout.exponent_bits;
  const u32 fraction_mask = (1u << fraction) - 1, exponent_mask = (1u << layout.exponent_bits) - 1;
  const u32 all_ones = (1u << width) - 1;
  s32 *significand = out.significand, *exponent = out.exponent, *sign = out.sign;
  u32* special = out.special;
  float* value = out.value;
  const bool finite_only = layout.finite_only;
  const s32 bias = layout.bias;
  u32 any = 0, far = 0;
  FORETRACE_NO_ALIASING for (int i = 0; i < count; ++i) {
    const u32 x = raw[i], f = x & fraction_mask, e = x >> fraction & exponent_mask;
    const u32 s = e == 0 ? f : f | (1u << fraction);
    significand[i] = static_cast<s32>(s << shift);
    const s32 normal = static_cast<s32>(e == 0 ? 1 : e) - bias;
    exponent[i] = s == 0 ? kZeroExponent : normal;
    sign[i] = -static_cast<s32>(x >> width & 1);
    const bool odd = finite_only ? (x & all_ones) == all_ones : e == exponent_mask;
    special[i] = odd ? 1u : 0u;
    any |= special[i];
    const u32 power = static_cast<u32>(127 + normal - fraction) << 23;  // a float's, unless wide
    const float magnitude = static_cast<float>(static_cast<s32>(s)) * as<float>(power);
    value[i] = as<float>(as<u32>(magnitude) | (x >> width & 1) << 31);
    const u32 near = static_cast<u32>(normal - kLeastNear) <= static_cast<u32>(kLargestNear - kLeastNear);
    far |= s == 0 ? 0 : near ^ 1;
  }
  return {any != 0, far != 0};
}

/// Elements of a word, ascending.
template <int kBits>
[[gnu::always_inline]] inline u32 element(u32 word, int part) {
  if constexpr (kBits == 32) {
    return word >> 13;
  } else {
    return word >> (kBits * part) & ((1u << kBits) - 1);
  }
}

template <int kBits>
[[gnu::always_inline]] inline void rows(const Fragment& f, u32* to) {
  constexpr int kPer = 32 / kBits, kPiece = 4 * kPer;
  for (int piece = 0; piece < f.pieces; ++piece) {
    for (int row = 0; row < kTileRows; ++row) {
      const u32* from = f.registers + (2 * piece + row / 8) * 32 + row % 8 * 4;
      u32* put = to + row * f.depth + kPiece * piece;
      for (int i = 0; i < kPiece; ++i) put[i] = element<kBits>(from[i / kPer], i % kPer);
    }
  }
}

template <int kBits>
[[gnu::always_inline]] inline void columns(const Fragment& f, u32* to) {
  constexpr int kPer = 32 / kBits;
  constexpr int kColumns[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  for (int word = 0; word < 4 * f.pieces; ++word) {
    u32 words[8];
    for (int place = 0; place < 8; ++place)
      words[place] = f.registers[word / 4 * 32 + kColumns[place] * 4 + word % 4];
    for (int part = 0; part < kPer; ++part) {
      u32* put = to + (word * kPer + part) * 8;
      for (int place = 0; place < 8; ++place) put[place] = element<kBits>(words[place], part);
    }
  }
}

void fragment_rows(const Fragment& f, u32* to) {
  f.bits == 8 ? rows<8>(f, to) : f.bits == 16 ? rows<16>(f, to) : rows<32>(f, to);
}
void fragment_columns(const Fragment& f, u32* to) {
  f.bits == 8 ? columns<8>(f, to) : f.bits == 16 ? columns<16>(f, to) : columns<32>(f, to);
}

}  // namespace

void fill_products(LaneTable& table) {
  table.multiply = multiply;
  table.multiply_integers = multiply_integers;
  table.take_apart = take_apart;
  table.fragment_rows = fragment_rows;
  table.fragment_columns = fragment_columns;
}

}  // namespace foretrace::emulate::FORETRACE_LANES
