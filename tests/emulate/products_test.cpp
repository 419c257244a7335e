// Sums of products: the vector code against an exact sum of its own kind, in every format, dense and sparse.
#include "sim/emulate/tensor/products.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "tests/emulate/exact_sum.h"

namespace foretrace::emulate {
namespace {

struct Kind {
  const char* name;
  Element a, b;
  exact::Format fa, fb;
  int depth;
  SumRule rule;
};

constexpr SumRule kFull{25, 23, false}, kHalf{25, 23, true}, kNarrow{13, 13, false},
    kNarrowHalf{13, 13, true}, kAmpere{24, 23, false};
const Kind kKinds[] = {
    {"f16", Element::f16, Element::f16, exact::kF16, exact::kF16, 16, kFull},
    {"f16 into f16", Element::f16, Element::f16, exact::kF16, exact::kF16, 16, kHalf},
    {"f16 of sm_80", Element::f16, Element::f16, exact::kF16, exact::kF16, 8, kAmpere},
    {"bf16", Element::bf16, Element::bf16, exact::kBf16, exact::kBf16, 16, kFull},
    {"tf32", Element::tf32, Element::tf32, exact::kTf32, exact::kTf32, 8, kFull},
    {"e4m3 of wgmma", Element::e4m3, Element::e4m3, exact::kE4m3, exact::kE4m3, 32, kNarrow},
    {"e4m3, e5m2 of wgmma", Element::e4m3, Element::e5m2, exact::kE4m3, exact::kE5m2, 32, kNarrow},
    {"e5m2 of wgmma into f16", Element::e5m2, Element::e5m2, exact::kE5m2, exact::kE5m2, 32, kNarrowHalf},
    {"e5m2 of mma", Element::e5m2, Element::e4m3, exact::kE5m2, exact::kE4m3, 32, kFull},
};

/// Operands in six patterns: any bits, exponents close together, mostly zeros, the first with every bit of the exponent likely, and two
/// of exponents with which products are taken as floats: from the least to the largest, and the three least alone.
std::uint32_t operand(std::mt19937& random, const exact::Format& f, int pattern) {
  std::uint32_t x = static_cast<std::uint32_t>(random()) & ((1u << f.bits()) - 1);
  const std::uint32_t exponents = ((1u << f.exponent_bits) - 1) << f.fraction;
  if (pattern == 1) {
    const auto e = static_cast<std::uint32_t>(f.bias - 2 + static_cast<int>(random() % 5));
    x = (x & ~exponents) | e << f.fraction;
  }
  if (pattern == 2 && random() % 5 != 0) x = 0;
  if (pattern >= 4 && f.exponent_bits == 8) {
    const unsigned steps = pattern == 4 ? kLargestNear - kLeastNear + 1 : 3;
    const auto e = static_cast<std::uint32_t>(f.bias + kLeastNear + static_cast<int>(random() % steps));
    x = random() % 4 == 0 ? 0 : (x & ~exponents) | e << f.fraction;
  }
  if (pattern == 3 && random() % 8 == 0) x |= exponents;
  if (pattern != 3 && ((x & exponents) == exponents)) x &= ~exponents;
  return x;
}

class Products : public ::testing::TestWithParam<Kind> {};

void compare(const Kind& kind, bool sparse, int columns, int pattern) {
  std::mt19937 random(static_cast<unsigned>(pattern + 10 * columns));
  auto o = std::make_unique<ProductOperands>();
  o->type_a = kind.a;
  o->type_b = kind.b;
  o->depth = kind.depth;
  o->depth_b = sparse ? 2 * kind.depth : kind.depth;
  o->columns = columns;
  o->sparse = sparse;
  for (int i = 0; i < 16 * o->depth; ++i) {
    o->a[i] = operand(random, kind.fa, pattern);
    const int k = i % o->depth, within = static_cast<int>(random() % 2);
    o->select[i] = static_cast<std::uint8_t>(k / 2 * 4 + (k % 2) * 2 + within);
  }
  for (int i = 0; i < o->depth_b * columns; ++i) o->b[i] = operand(random, kind.fb, pattern);
  std::vector<std::uint32_t> c(static_cast<std::size_t>(columns) * 16);
  for (auto& x : c) {
    x = static_cast<std::uint32_t>(random());
    if (pattern == 1) x = (x & 0x807fffff) | (120 + x % 12) << 23;
    if (pattern == 2) x &= 0x807fffff;
    if (pattern == 4 && x % 4 == 0) x = 0;
    if (pattern == 5) x = x % 3 == 0 ? x & 0x80ffffff : 0;
  }
  const bool half = kind.rule.half;
  std::vector<std::uint32_t> d = c;
  multiply_floats(lane_table(), *o, kind.rule, c.data(), d.data());
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < columns; ++column) {
      std::vector<std::uint32_t> a, b;
      for (int k = 0; k < o->depth; ++k) {
        const int at = row * o->depth + k;
        a.push_back(o->a[at]);
        b.push_back(o->b[(sparse ? o->select[at] : k) * columns + place_of_column(column)]);
      }
      const auto lane = static_cast<std::size_t>(row % 8 * 4 + column % 8 / 2);
      const auto reg = static_cast<std::size_t>(half ? column / 8 * 2 + row / 8
                                                     : column / 8 * 4 + row / 8 * 2 + column % 2);
      const auto shift = half ? 16 * (column % 2) : 0;
      const std::uint32_t mask = half ? 0xffff : ~0u;
      const std::uint32_t want = exact::sum(kind.fa, kind.fb, a, b, c[reg * 32 + lane] >> shift & mask,
                                            {kind.rule.kept, kind.rule.result_bits, half});
      ASSERT_EQ(d[reg * 32 + lane] >> shift & mask, want)
          << std::hex << kind.name << " pattern " << pattern << " row " << row << " column " << column;
    }
  }
}

TEST_P(Products, AreTheExactSums) {
  for (int pattern = 0; pattern < 6; ++pattern) {
    for (const int columns : {8, 72, 128}) {
      compare(GetParam(), false, columns, pattern);
      if (GetParam().rule.kept != 24) compare(GetParam(), true, columns, pattern);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Products, ::testing::ValuesIn(kKinds));

// Hand-worked sums: what is cut, where, and what a result of 13 bits loses.
TEST(FusedSum, CutsWhereTheRuleSays) {
  const FloatLayout e4m3 = layout_of(Element::e4m3), f16 = layout_of(Element::f16);
  const Term one = term(0x38, e4m3), least = term(0x01, e4m3);  // 1 and 2^-9
  const Term a[2] = {one, least}, b[2] = {one, one};
  EXPECT_EQ(fused_sum(a, b, 2, 6, 0, {13, 13, false}), std::bit_cast<std::uint32_t>(1.0f + 0x1p-9f));
  const Term tiny[2] = {one, least}, with[2] = {one, term(0x03, e4m3)};  // 1 + 3 * 2^-18: below 13 bits
  EXPECT_EQ(fused_sum(tiny, with, 2, 6, 0, {13, 13, false}), std::bit_cast<std::uint32_t>(1.0f));
  EXPECT_EQ(fused_sum(tiny, with, 2, 6, 0, {25, 23, false}),
            std::bit_cast<std::uint32_t>(1.0f + 3 * 0x1p-18f));
  // The accumulator is cut like a product: 2^-14 is lost under 1 with 13 bits.
  EXPECT_EQ(fused_sum(a, b, 1, 6, std::bit_cast<std::uint32_t>(0x1p-14f), {13, 13, false}), 0x3f800000u);
  EXPECT_EQ(fused_sum(a, b, 1, 6, std::bit_cast<std::uint32_t>(0x1p-13f), {13, 13, false}), 0x3f800400u);
  const Term h = term(0x3c00, f16);
  EXPECT_EQ(fused_sum(&h, &h, 1, 20, 0xbf800000, {25, 23, false}), 0u) << "1 - 1 is +0";
}

TEST(Products, MetadataNamesTheColumns) {
  ProductOperands o;
  o.type_a = o.type_b = Element::f16;
  o.depth = 16;
  o.sparse = true;
  std::uint32_t meta[32] = {};
  meta[0] = 0x0000'000e;   // row 0, first four columns: 2 and 3
  meta[1] = 0x0009'0000;   // row 8, columns 16..19: 1 and 2
  meta[30] = 0xd000'0000;  // row 15 (selector 1), columns 12..15: 1 and 3
  read_metadata(meta, 0, o);
  EXPECT_EQ(o.select[0], 2);
  EXPECT_EQ(o.select[1], 3);
  EXPECT_EQ(o.select[8 * 16 + 8], 17);
  EXPECT_EQ(o.select[8 * 16 + 9], 18);
  read_metadata(meta, 1, o);
  EXPECT_EQ(o.select[15 * 16 + 6], 13);
  EXPECT_EQ(o.select[15 * 16 + 7], 15);
  o.type_a = o.type_b = Element::tf32;
  o.depth = 8;
  meta[0] = 0x4e;  // columns 1 and 2
  read_metadata(meta, 0, o);
  EXPECT_EQ(o.select[0], 1);
  EXPECT_EQ(o.select[1], 2);
}

}  // namespace
}  // namespace foretrace::emulate
