// Boxes of tensors on whole programs: every byte of shared or global memory against a walk over the box's elements.
#include <gtest/gtest.h>

#include "tests/emulate/tensor_boxes.h"

namespace foretrace::emulate {
namespace {

/// Calls use(shared byte of the element, its byte in the tensor or -1) for every element of a tiled box.
template <class Use>
void walk(const Copy& copy, Use&& use) {
  const TensorMap& m = copy.map;
  const std::uint32_t unit = element_bytes(m.type);
  std::uint32_t n[5] = {1, 1, 1, 1, 1};
  for (int d = 0; d < m.rank; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const std::uint32_t es = d == 0 ? 1 : m.element_strides[i];
    n[i] = (m.box[i] + es - 1) / es;
  }
  std::size_t index = 0;
  std::uint32_t i[5];
  for (i[4] = 0; i[4] < n[4]; ++i[4]) {
    for (i[3] = 0; i[3] < n[3]; ++i[3]) {
      for (i[2] = 0; i[2] < n[2]; ++i[2]) {
        for (i[1] = 0; i[1] < n[1]; ++i[1]) {
          for (i[0] = 0; i[0] < n[0]; ++i[0], ++index) {
            std::int64_t from = 0;
            bool inside = true;
            for (std::size_t d = 0; d < static_cast<std::size_t>(m.rank); ++d) {
              const std::int64_t c =
                  copy.at[d] + static_cast<std::int64_t>(i[d]) * (d == 0 ? 1 : m.element_strides[d]);
              inside = inside && c >= 0 && c < static_cast<std::int64_t>(m.dims[d]);
              from += c * static_cast<std::int64_t>(d == 0 ? unit : m.strides[d]);
            }
            use(swizzled_at(m, copy.shared + index * unit), inside ? from : -1);
          }
        }
      }
    }
  }
}

TensorMap tiled(TensorType type, std::vector<std::uint64_t> dims, std::vector<std::uint32_t> box,
                TensorSwizzle swizzle = TensorSwizzle::none) {
  TensorMap m;
  m.type = type;
  m.rank = static_cast<int>(dims.size());
  std::uint64_t stride = element_bytes(type);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    m.dims[d] = dims[d];
    m.box[d] = box[d];
    m.strides[d] = stride = d == 0 ? stride : (stride + 15) / 16 * 16;
    stride *= dims[d];
  }
  m.swizzle = swizzle;
  return m;
}

void check_load(const Copy& copy) {
  const Outcome o = run(copy, Way::load);
  std::vector<std::uint8_t> want = o.shared_before;
  const std::uint32_t unit = element_bytes(copy.map.type);
  walk(copy, [&](std::size_t to, std::int64_t from) {
    for (std::uint32_t b = 0; b < unit; ++b) {
      const std::uint8_t fill = copy.map.nan_fill ? (b % 2 == 0 ? 0xf7 : 0x7f) : 0;
      want[to + b] = from < 0 ? fill : o.tensor_before[static_cast<std::size_t>(from) + b];
    }
  });
  EXPECT_EQ(o.shared, want);
  EXPECT_EQ(o.tensor, o.tensor_before);
  EXPECT_TRUE(o.completed) << "the whole box counts as transactions";
}

TEST(TensorLoad, BoxesOfEveryRankInAndOutOfTheTensor) {
  check_load({tiled(TensorType::f16, {300}, {64}), {8}});
  check_load({tiled(TensorType::f16, {300}, {64}), {-16}});
  check_load({tiled(TensorType::u8, {90, 40}, {48, 8}), {64, -3}});
  check_load({tiled(TensorType::f32, {50, 40}, {16, 8}), {44, 36}});
  check_load({tiled(TensorType::f64, {20, 5, 6}, {6, 3, 4}), {18, 3, -1}});
  check_load({tiled(TensorType::bf16, {40, 5, 6, 3}, {16, 2, 2, 2}), {32, 4, 5, 2}});
  check_load({tiled(TensorType::u32, {8, 3, 4, 3, 4}, {8, 2, 3, 2, 2}), {-4, 2, -1, 2, 3}});
}

TEST(TensorLoad, SwizzlesByTheAbsoluteAddress) {
  for (const std::uint32_t shared : {0x400u, 0x480u, 0x780u}) {
    check_load({tiled(TensorType::f16, {64, 30}, {64, 20}, TensorSwizzle::bytes_128), {0, 2}, shared});
    check_load({tiled(TensorType::f16, {64, 30}, {32, 20}, TensorSwizzle::bytes_64), {16, 2}, shared});
    check_load({tiled(TensorType::f32, {64, 30}, {8, 20}, TensorSwizzle::bytes_32), {60, 2}, shared});
  }
}

TEST(TensorLoad, SixteenNarrowElementsHaveSixteenBytesOfTheirOwn) {
  for (const std::uint32_t bits : {4u, 6u}) {
    Copy copy{.map = {.type = bits == 4 ? TensorType::u4_padded : TensorType::u6_padded, .rank = 2},
              .at = {128, 2}};
    const std::size_t pitch = 256 * bits / 8, chunk = 2 * bits;
    copy.map.dims = {256, 5, 1, 1, 1};
    copy.map.strides[1] = pitch;
    copy.map.box = {128, 4, 1, 1, 1};
    const Outcome o = run(copy, Way::load);
    std::vector<std::uint8_t> want = o.shared_before;
    for (std::size_t row = 0; row < 4; ++row)
      for (std::size_t c = 0; c < 8; ++c)
        for (std::size_t b = 0; b < 16; ++b)
          want[copy.shared + row * 128 + c * 16 + b] =
              b < chunk && row + 2 < 5 ? o.tensor_before[(row + 2) * pitch + pitch / 2 + c * chunk + b]
                                       : std::uint8_t{0};
    EXPECT_EQ(o.shared, want) << bits;
    EXPECT_TRUE(o.completed) << "padding is no transaction";
  }
  Copy packed{.map = {.type = TensorType::u4, .rank = 2}, .at = {64, 1}};
  packed.map.dims = {192, 4, 1, 1, 1};
  packed.map.strides[1] = 96;
  packed.map.box = {64, 2, 1, 1, 1};
  const Outcome o = run(packed, Way::load);
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(o.shared[packed.shared + i], o.tensor_before[(1 + i / 32) * 96 + 32 + i % 32]) << i;
}

TEST(TensorLoad, FillsWithNan) {
  Copy copy{tiled(TensorType::f32, {50, 40}, {16, 8}), {-8, 36}};
  copy.map.nan_fill = true;
  check_load(copy);
  copy.map.type = TensorType::f16;
  copy.map.strides[1] = 112;
  check_load(copy);
}

TEST(TensorLoad, ElementStridesTakeEveryNth) {
  Copy copy{tiled(TensorType::f16, {64, 20, 10}, {16, 7, 4}), {8, 3, -2}};
  copy.map.element_strides = {1, 3, 2, 1, 1};
  check_load(copy);
}

TEST(TensorLoad, RoundsToTf32) {
  Copy copy{tiled(TensorType::tf32, {64, 20}, {32, 8}), {0, 0}};
  const Outcome o = run(copy, Way::load);
  walk(copy, [&](std::size_t to, std::int64_t from) {
    std::uint32_t got, was;
    std::memcpy(&got, o.shared.data() + to, 4);
    std::memcpy(&was, o.tensor_before.data() + from, 4);
    if ((was & 0x7f800000) == 0x7f800000) return;
    EXPECT_EQ(got & 0x1fff, 0u);
    EXPECT_LE(std::abs(static_cast<std::int64_t>(got) - was), 0x1000) << std::hex << was;
  });
}

TEST(TensorLoad, Im2colWalksPixelsBetweenTheCorners) {
  Copy copy;
  copy.map.type = TensorType::f16;
  copy.map.rank = 4;
  copy.map.dims = {32, 7, 5, 3, 1};
  copy.map.strides = {0, 64, 448, 2240, 0};
  copy.map.walk = BoxWalk::im2col;
  copy.map.lower = {-1, -1, 0};
  copy.map.upper = {-1, -2, 0};
  copy.map.channels = 16;
  copy.map.pixels = 40;
  copy.map.element_strides = {1, 2, 1, 1, 1};
  copy.at = {16, 3, -1, 1};
  copy.offsets = {1, 2};
  const Outcome o = run(copy, Way::load);
  std::vector<std::uint8_t> want = o.shared_before;
  int w = 3, h = -1, n = 1;
  for (std::size_t pixel = 0; pixel < 40; ++pixel) {
    const int x = w + 1, y = h + 2;
    const bool inside = x >= 0 && x < 7 && y >= 0 && y < 5 && n < 3;
    for (std::size_t b = 0; b < 32; ++b) {
      const int from = n * 2240 + y * 448 + x * 64 + 32 + static_cast<int>(b);
      want[0x400 + pixel * 32 + b] = inside ? o.tensor_before[static_cast<std::size_t>(from)] : 0;
    }
    w += 2;
    if (w >= 7 - 1) {
      w = -1;
      if (++h >= 5 - 2) {
        h = -1;
        ++n;
      }
    }
  }
  EXPECT_EQ(o.shared, want);
  EXPECT_TRUE(o.completed);
}

void check_store(const Copy& copy) {
  const Outcome o = run(copy, Way::store);
  std::vector<std::uint8_t> want = o.tensor_before;
  walk(copy, [&](std::size_t from, std::int64_t to) {
    for (std::uint32_t b = 0; to >= 0 && b < element_bytes(copy.map.type); ++b)
      want[static_cast<std::size_t>(to) + b] = o.shared_before[from + b];
  });
  EXPECT_EQ(o.tensor, want);
  EXPECT_EQ(o.shared, o.shared_before);
}

TEST(TensorStore, WritesWhatIsInsideTheTensor) {
  check_store({tiled(TensorType::f16, {300}, {64}), {256}});
  check_store({tiled(TensorType::u8, {90, 40}, {48, 8}), {64, 33}});
  check_store({tiled(TensorType::f16, {64, 30}, {64, 20}, TensorSwizzle::bytes_128), {0, 15}, 0x480});
  check_store({tiled(TensorType::f64, {20, 5, 6}, {6, 3, 4}), {18, 3, 4}});
  check_store({tiled(TensorType::u32, {8, 3, 4, 3, 4}, {8, 2, 3, 2, 2}), {4, 2, 3, 2, 3}});
}

TEST(TensorReduce, CombinesElementByElement) {
  const auto check = [](Copy copy, auto&& combined) {
    const Outcome o = run(copy, Way::reduce);
    std::vector<std::uint8_t> want = o.tensor_before;
    walk(copy, [&](std::size_t from, std::int64_t to) {
      if (to < 0) return;
      std::uint32_t a, b;
      std::memcpy(&a, o.tensor_before.data() + to, 4);
      std::memcpy(&b, o.shared_before.data() + from, 4);
      const std::uint32_t r = combined(a, b);
      std::memcpy(want.data() + to, &r, 4);
    });
    EXPECT_EQ(o.tensor, want) << copy.reduction;
  };
  Copy copy{tiled(TensorType::u32, {52, 20}, {16, 8}), {44, 15}};
  check(copy, [](std::uint32_t a, std::uint32_t b) { return a + b; });
  copy.reduction = "XOR";
  check(copy, [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
  copy.reduction = "INC";
  check(copy, [](std::uint32_t a, std::uint32_t b) { return a >= b ? 0 : a + 1; });
  copy.map.type = TensorType::s32;
  copy.reduction = "MIN";
  check(copy, [](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b;
  });
}

TEST(TensorReduce, ActsOnWholeUnitsOf16BytesWhereARowEnds) {
  Copy copy{tiled(TensorType::f16, {51, 20}, {32, 8}), {40, 3}};
  copy.reduction = "MAX";
  const Outcome o = run(copy, Way::reduce);
  std::vector<std::uint8_t> touched(o.tensor.size());
  walk(copy, [&](std::size_t, std::int64_t to) {
    for (std::int64_t b = 0; to >= 0 && b < 16; ++b) touched[static_cast<std::size_t>(to / 16 * 16 + b)] = 1;
  });
  int padding = 0;
  for (std::size_t i = 0; i < o.tensor.size(); ++i) {
    if (touched[i] == 0) { EXPECT_EQ(o.tensor[i], o.tensor_before[i]) << i; }
    if (i % 112 >= 102 && o.tensor[i] != o.tensor_before[i]) ++padding;
  }
  EXPECT_GT(padding, 10);
}

TEST(TensorFaults, AFirstCoordinateThatMakesNoMultipleOf16Bytes) {
  std::string what;
  EXPECT_EQ(fault_of({tiled(TensorType::f16, {300}, {64}), {4}}, Way::load, what),
            FaultKind::illegal_instruction);
  EXPECT_NE(what.find("coordinate 4 of a tensor of f16 makes 8 bytes; expected a multiple of 16"),
            std::string::npos)
      << what;
  EXPECT_EQ(fault_of({tiled(TensorType::f32, {300}, {64}), {1}}, Way::store, what),
            FaultKind::illegal_instruction);
}

TEST(TensorFaults, ANegativeCoordinateOfWhatIsWritten) {
  std::string what;
  EXPECT_EQ(fault_of({tiled(TensorType::u8, {90, 40}, {48, 8}), {64, -3}}, Way::store, what),
            FaultKind::illegal_instruction);
  EXPECT_NE(what.find("coordinate -3 of dimension 1 of a tensor that is written; expected 0 or more"),
            std::string::npos)
      << what;
}

TEST(TensorFaults, ABoxThatIsNotAlignedInSharedMemory) {
  std::string what;
  EXPECT_EQ(fault_of({tiled(TensorType::f16, {300}, {64}), {8}, 0x440}, Way::load, what),
            FaultKind::misaligned);
}

TEST(TensorFaults, AMapOfOtherDimensions) {
  Copy copy{tiled(TensorType::f16, {300}, {64}), {8}};
  Assembled a("ULDC.64 UR4, c[0x0][0x210]\nUTMALDG.2D [UR8], [UR4]\nEXIT\n", 32, 4, 90);
  copy.map.address = a.buffer(2, std::vector<std::uint32_t>(300), "tensor");
  std::vector<std::uint32_t> words(48);
  const TensorMapBytes bytes = encode(copy.map);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const std::uint64_t at = a.buffer(0, words, "map");
  try {
    a.run();
    FAIL();
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::illegal_instruction);
    EXPECT_NE(std::string(fault.what()).find("has 1 dimensions; the instruction takes 2"), std::string::npos)
        << fault.what();
  }
  const std::uint64_t odd = at + 16;
  std::memcpy(a.context.parameters.data(), &odd, 8);
  try {
    a.run();
    FAIL();
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::misaligned);
    EXPECT_NE(std::string(fault.what()).find("expected a multiple of 64"), std::string::npos) << fault.what();
  }
}

// ptxas aligns a map among the parameters in the constant bank; c[0x0][0x198] is what it adds the parameter's offset to.
TEST(ParameterArea, StandsInMemorySoThatAMapAlignedInTheBankIsAligned) {
  Assembled a(R"(
    MOV R2, c[0x0][0x210]
    MOV R3, c[0x0][0x214]
    MOV R4, c[0x0][0x198]
    MOV R5, c[0x0][0x19c]
    LDG.E R6, [R4.64+0x8]
    STG.E [R2.64], R6
    STG.E [R2.64+0x4], R4
    EXIT
  )",
              1, 4, 90);
  const std::uint64_t out = a.buffer(0, {0, 0}, "out");
  const std::uint32_t third = 0x12345678;
  std::memcpy(a.context.parameters.data() + 8, &third, 4);
  a.run();
  const auto got = a.read(out, 2);
  EXPECT_EQ(got[0], third);
  EXPECT_EQ(got[1] % 64, 0x10u);
}

}  // namespace
}  // namespace foretrace::emulate
