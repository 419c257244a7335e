// Where texels stand, which of them a lookup takes with which weights, and whole programs with textures and surfaces.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "sim/emulate/texture/sample.h"
#include "tests/emulate/assembled.h"

namespace foretrace::emulate {
namespace {

/// Texels of one float each, kept in host memory by address.
struct Canvas {
  Texture texture;
  std::vector<std::byte> memory;

  Canvas(std::uint32_t width, std::uint32_t height, std::uint32_t depth = 1, std::uint32_t levels = 1) {
    Image& image = texture.image;
    image.kind = TexelKind::floating;
    image.bits = 32;
    image.dimensions = depth > 1 ? 3 : height > 1 ? 2 : 1;
    memory.resize(lay_out(image, width, height, depth, levels));
    texture.sampler.greatest_level = static_cast<float>(levels - 1);
  }
  void put(std::uint32_t x, std::uint32_t y, float value, std::uint32_t z = 0, std::size_t level = 0) {
    const Image& image = texture.image;
    std::memcpy(memory.data() + image.address_of(image.levels[level], x * 4, y, z), &value, 4);
  }
  Sample look(const Lookup& lookup) const {
    return look_up(texture, lookup, [&](std::uint64_t at) { return memory.data() + at; });
  }
  float at(float x, float y = 0, float z = 0) const {
    Lookup lookup;
    lookup.at = {x, y, z};
    return std::bit_cast<float>(look(lookup).words[0]);
  }
};

TEST(ImageLayout, HasASectorIn16BytesOf2Rows) {
  Canvas canvas(64, 32);
  const Image& image = canvas.texture.image;
  const ImageLevel& level = image.levels.front();
  const auto at = [&](std::uint64_t byte, std::uint64_t row) {
    return image.address_of(level, byte, row, 0);
  };
  EXPECT_EQ(at(15, 0) / 32, at(0, 1) / 32);
  EXPECT_NE(at(16, 0) / 32, at(15, 0) / 32);
  EXPECT_NE(at(0, 2) / 32, at(0, 1) / 32);
  EXPECT_EQ(at(0, 2), 64u);
  EXPECT_EQ(at(16, 0), 32u);
  EXPECT_EQ(at(32, 0), 256u);
  EXPECT_EQ(at(0, 8), 512u) << "the next GOB of the column";
  EXPECT_EQ(at(64, 0), 4 * 512u) << "the next column: 32 rows are four GOBs";
  std::set<std::uint64_t> all;
  for (std::uint64_t y = 0; y < 32; ++y) {
    for (std::uint64_t x = 0; x < 64 * 4; ++x) all.insert(at(x, y));
  }
  EXPECT_EQ(all.size(), 64u * 4 * 32) << "each byte has a place of its own";
  EXPECT_LT(*all.rbegin(), canvas.memory.size());
}

TEST(ImageLayout, KeepsLevelsAndSlicesApart) {
  for (const std::uint32_t depth : {1u, 5u}) {
    Canvas canvas(13, 9, depth, 4);
    const Image& image = canvas.texture.image;
    std::set<std::uint64_t> all;
    std::size_t texels = 0;
    for (const ImageLevel& level : image.levels) {
      texels += std::size_t{level.width} * level.height * level.depth;
      for (std::uint32_t z = 0; z < level.depth; ++z)
        for (std::uint32_t y = 0; y < level.height; ++y)
          for (std::uint32_t x = 0; x < level.width; ++x) all.insert(image.address_of(level, x * 4, y, z));
    }
    EXPECT_EQ(all.size(), texels);
    EXPECT_LE(*all.rbegin() + 4, canvas.memory.size());
  }
}

// The weights are an H100's answers: a texture of 2 x 2 texels one of which is 1, at positions (0.5 + a / 256, 0.5 + b / 256).
TEST(TextureFilter, WeighsFourTexelsAsAnH100) {
  struct Row {
    int a, b;
    std::array<int, 4> weights;
  };
  static constexpr Row kRows[] = {{1, 1, {254, 1, 1, 0}},      {10, 10, {236, 10, 10, 0}},
                                  {37, 91, {141, 24, 78, 13}}, {128, 128, {64, 64, 64, 64}},
                                  {3, 200, {55, 1, 198, 2}},   {255, 255, {0, 1, 1, 254}},
                                  {255, 1, {1, 254, 0, 1}},    {1, 128, {128, 0, 127, 1}},
                                  {128, 1, {128, 127, 0, 1}},  {128, 3, {127, 126, 1, 2}}};
  for (const Row& row : kRows) {
    for (std::uint32_t one = 0; one < 4; ++one) {
      Canvas canvas(2, 2);
      canvas.texture.sampler.linear = true;
      canvas.put(one % 2, one / 2, 1);
      EXPECT_EQ(
          canvas.at(0.5f + static_cast<float>(row.a) / 256, 0.5f + static_cast<float>(row.b) / 256) * 256,
          static_cast<float>(row.weights[one]))
          << row.a << " " << row.b << " corner " << one;
    }
  }
}

TEST(TextureFilter, RoundsAPositionTo8FractionBits) {
  Canvas canvas(2, 1);
  canvas.texture.sampler.linear = true;
  canvas.put(1, 0, 256);
  EXPECT_EQ(canvas.at(0.5f + 10.49f / 256), 10);
  EXPECT_EQ(canvas.at(0.5f + 10.5f / 256), 11);
}

// An H100's answer to bytes 170, 180, 13 and 62 at fractions 162 and 34: 40,819 / 65,535.
TEST(TextureFilter, GivesSixteenBitsOfBytes) {
  Canvas canvas(2, 2);
  Texture& texture = canvas.texture;
  texture.image.kind = TexelKind::unsigned_integer;
  texture.image.bits = 8;
  lay_out(texture.image, 2, 2, 1, 1);
  texture.sampler.linear = texture.sampler.normalized_float = true;
  const int bytes[] = {170, 180, 13, 62};
  for (std::uint64_t i = 0; i < 4; ++i)
    canvas.memory[texture.image.address_of(texture.image.levels[0], i % 2, i / 2, 0)] =
        static_cast<std::byte>(bytes[i]);
  EXPECT_EQ(canvas.at(0.5f + 162.0f / 256, 0.5f + 34.0f / 256), 0.6228579878807068f);
  texture.sampler.srgb = true;
  texture.sampler.linear = false;
  EXPECT_EQ(canvas.at(0.5f, 1.5f), 264 / 65536.0f) << "sRGB 13: another answer of the H100";
}

// Cycles of an H100's texture unit for 32 lanes, in fours.
TEST(TextureFilter, TakesPassesByWidthAndFilter) {
  const auto passes = [](std::uint8_t components, bool linear, std::uint32_t depth, bool buffer) {
    Canvas canvas(4, 4, depth);
    canvas.texture.image.components = components;
    canvas.texture.image.buffer = buffer;
    canvas.memory.resize(lay_out(canvas.texture.image, 4, 4, depth, 1));
    canvas.texture.sampler.linear = linear;
    Lookup lookup;
    lookup.at = {1.3f, 1.3f, 1.3f};
    return canvas.look(lookup).passes;
  };
  EXPECT_EQ(passes(1, false, 1, false), 2u);
  EXPECT_EQ(passes(2, false, 1, false), 2u);
  EXPECT_EQ(passes(4, false, 1, false), 4u);
  EXPECT_EQ(passes(1, true, 1, false), 2u);
  EXPECT_EQ(passes(2, true, 1, false), 4u);
  EXPECT_EQ(passes(4, true, 1, false), 8u);
  EXPECT_EQ(passes(1, true, 4, false), 4u);
  EXPECT_EQ(passes(1, false, 1, true), 1u);
  EXPECT_EQ(passes(4, false, 1, true), 2u);
}

TEST(TextureFilter, TakesEightTexelsOfAVolume) {
  Canvas canvas(2, 2, 2);
  canvas.texture.sampler.linear = true;
  for (std::uint32_t i = 0; i < 8; ++i) canvas.put(i & 1, i >> 1 & 1, static_cast<float>(i), i >> 2);
  EXPECT_EQ(canvas.at(1, 1, 1), 3.5f);
  EXPECT_EQ(canvas.at(0.75f, 0.5f, 1.5f), 4.25f);
}

TEST(TextureAddress, WrapsMirrorsClampsAndHasABorder) {
  Canvas canvas(4, 1);
  for (std::uint32_t i = 0; i < 4; ++i) canvas.put(i, 0, static_cast<float>(i));
  Sampler& sampler = canvas.texture.sampler;
  sampler.normalized = true;
  sampler.border = {9, 9, 9, 9};
  const auto row = [&](AddressMode mode) {
    sampler.address.fill(mode);
    std::vector<float> values;
    for (int i = -5; i < 9; ++i) values.push_back(canvas.at((static_cast<float>(i) + 0.5f) / 4));
    return values;
  };
  EXPECT_EQ(row(AddressMode::wrap), (std::vector<float>{3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(row(AddressMode::mirror), (std::vector<float>{3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0}));
  EXPECT_EQ(row(AddressMode::clamp), (std::vector<float>{0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(row(AddressMode::border), (std::vector<float>{9, 9, 9, 9, 9, 0, 1, 2, 3, 9, 9, 9, 9, 9}));
  sampler.normalized = false;
  sampler.address.fill(AddressMode::wrap);
  EXPECT_EQ(canvas.at(-1), 0) << "texels have no period: clamped";
}

TEST(TextureLevels, AreTheNearestOrBlended) {
  Canvas canvas(8, 8, 1, 4);
  for (std::size_t l = 0; l < 4; ++l)
    for (std::uint32_t y = 0; y < 8u >> l; ++y)
      for (std::uint32_t x = 0; x < 8u >> l; ++x) canvas.put(x, y, static_cast<float>(16 * l), 0, l);
  Sampler& sampler = canvas.texture.sampler;
  sampler.normalized = true;
  const auto at = [&](float level) {
    Lookup lookup;
    lookup.at = {0.5f, 0.5f, 0};
    lookup.level = level;
    return std::bit_cast<float>(canvas.look(lookup).words[0]);
  };
  EXPECT_EQ(at(0.49f), 0);
  EXPECT_EQ(at(0.5f), 16);
  EXPECT_EQ(at(9), 48);
  EXPECT_EQ(at(-32), 0);
  sampler.linear_levels = true;
  EXPECT_EQ(at(1.25f), 20);
  sampler.least_level = 2;
  EXPECT_EQ(at(0), 32);
  sampler.least_level = 0;
  sampler.greatest_level = 1.5f;
  EXPECT_EQ(at(3), 24);
}

TEST(Texels, AreIntegersOrFloats) {
  Texture texture;
  texture.image.components = 2;
  texture.image.bits = 8;
  texture.image.kind = TexelKind::signed_integer;
  const std::byte bytes[] = {std::byte{0x80}, std::byte{0x7f}};
  EXPECT_EQ(unpack_texel(texture, bytes), (TexelWords{0xffffff80, 0x7f, 0, 1}));
  texture.sampler.normalized_float = true;
  EXPECT_EQ(std::bit_cast<float>(unpack_texel(texture, bytes)[0]), -1);
  EXPECT_EQ(std::bit_cast<float>(unpack_texel(texture, bytes)[1]), 1);
  texture.image.kind = TexelKind::unsigned_integer;
  EXPECT_EQ(std::bit_cast<float>(unpack_texel(texture, bytes)[0]), 128 / 255.0f);
  texture.image.kind = TexelKind::floating;
  texture.image.bits = 16;
  texture.image.components = 1;
  const std::uint16_t half = 0x3e00;
  EXPECT_EQ(std::bit_cast<float>(unpack_texel(texture, reinterpret_cast<const std::byte*>(&half))[0]), 1.5f);
}

/// A launch with an array of 8 x 4 words, word (x, y) is 100 y + x: handle 1 as a texture, 2 as a surface.
struct WithArray : Assembled {
  TextureTable table;
  std::uint64_t address = 0, out = 0;

  WithArray(const std::string& text, int sm) : Assembled(text, 32, 4, sm) {
    Texture texture;
    texture.image.bits = 32;
    texture.image.dimensions = 2;
    const std::uint64_t bytes = lay_out(texture.image, 8, 4, 1, 1);
    address = memory->allocate(bytes, "array");
    ImageLevel& level = texture.image.levels.front();
    level.address += address;
    for (std::uint32_t y = 0; y < 4; ++y) {
      for (std::uint32_t x = 0; x < 8; ++x) {
        const std::uint32_t value = 100 * y + x;
        memory->write(texture.image.address_of(level, 4 * x, y, 0), std::as_bytes(std::span(&value, 1)));
      }
    }
    table.add(texture);
    texture.surface = true;
    table.add(texture);
    context.textures = &table;
    out = buffer(0, std::vector<std::uint32_t>(64), "out");
    const std::uint32_t handles[] = {1, 2};
    std::memcpy(context.parameters.data() + 8, handles, 8);
  }
};

TEST(TextureProgram, SplitsWordsOverTwoRegistersOnSm80) {
  // x = lane % 8 + 0.5, y = lane / 8 + 0.5; the level follows in the second register.
  WithArray run(std::string(kThreadAddress) + R"(
    LOP3.LUT R4, R0, 0x7, RZ, 0xc0, !PT
    SHF.R.U32.HI R5, RZ, 0x3, R0
    I2F.U32 R4, R4
    I2F.U32 R5, R5
    FADD R4, R4, 0.5
    FADD R5, R5, 0.5
    MOV R6, 0xc2000000
    TEX.SCR.LL P0, RZ, R8, R4, R6, 0x0, 0x5a, 2D, 0x1
    STG.E [R2.64], R8
    SEL R9, RZ, 0x1, P0
    STG.E [R2.64+0x80], R9
    EXIT
)",
                80);
  run.run();
  const auto words = run.read(run.out, 64);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(words[i], 100 * (i / 8) + i % 8) << i;
    EXPECT_EQ(words[32 + i], 1u) << "P0 says that a texel is not there";
  }
}

TEST(TextureProgram, RecordsTheFirstAndTheLastTexelAndThePasses) {
  WithArray run(std::string(kThreadAddress) + R"(
    MOV R4, RZ
    MOV R5, RZ
    MOV R6, RZ
    TEX.SCR.LL RZ, R8, R4, R6, 0x0, 0x5a, 2D, 0x1
    EXIT
)",
                80);
  work::BlockRecord record;
  run.run(&record);
  const work::Shapes shapes(run.program);
  work::WarpCursor cursor(shapes, record.warps.at(0));
  bool seen = false;
  for (work::Step step; cursor.next(step);) {
    if (run.program.code[step.index].opcode != isa::Opcode::TEX) continue;
    seen = true;
    EXPECT_EQ(step.value, 2u);
    EXPECT_EQ(cursor.pattern(0).base, run.address);
    EXPECT_EQ(cursor.pattern(1).base, run.address);
  }
  EXPECT_TRUE(seen);
}

TEST(SurfaceProgram, ReadsZeroOutsideOrTheNearestOrFaults) {
  const auto program = [](const char* mode) {
    return std::string(kThreadAddress) + R"(
    IADD3 R4, R0, -0x4, RZ
    SHF.L.U32 R4, R4, 0x2, RZ
    MOV R5, 0x1
    SULD.D.BA.2D.STRONG.SM)" +
           mode + R"( R8, [R4], 0x0, 0x5b
    STG.E [R2.64], R8
    EXIT
)";
  };
  WithArray zeros(program(".IGN"), 80), nearest(program(""), 80), faults(program(".TRAP"), 80);
  zeros.run();
  nearest.run();
  const auto a = zeros.read(zeros.out, 32), b = nearest.read(nearest.out, 32);
  for (int i = 0; i < 32; ++i) {
    const int x = i - 4;
    const bool inside = x >= 0 && x < 8;
    EXPECT_EQ(a[static_cast<std::size_t>(i)], inside ? 100u + static_cast<std::uint32_t>(x) : 0u) << i;
    EXPECT_EQ(b[static_cast<std::size_t>(i)], 100u + static_cast<std::uint32_t>(std::clamp(x, 0, 7))) << i;
  }
  EXPECT_THROW(faults.run(), KernelFault);
}

TEST(TextureProgram, FaultsWithoutAnObjectOfThatHandle) {
  WithArray run(std::string(kThreadAddress) + R"(
    TLD.SCR.LZ RZ, R8, R0, R0, 0x0, 0x58, 2D, 0x1
    EXIT
)",
                80);
  EXPECT_THROW(run.run(), KernelFault);
  WithArray texture(std::string(kThreadAddress) + R"(
    MOV R5, RZ
    SULD.D.BA.2D.STRONG.SM.IGN R8, [R4], 0x0, 0x5a
    EXIT
)",
                    80);
  EXPECT_THROW(texture.run(), KernelFault);
}

}  // namespace
}  // namespace foretrace::emulate
