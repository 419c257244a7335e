// The grammar of arguments: every form that is accepted, and every malformed one refused with a line that names it.
#include "sim/frontend/launch/argument.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

std::string refusal(std::string_view text, std::size_t position = 0) {
  try {
    parse_argument(text, position);
  } catch (const InputError& error) { return error.what(); }
  return "accepted";
}

std::filesystem::path write_file(const std::string& name, const std::string& contents) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path, std::ios::binary) << contents;
  return path;
}

TEST(Argument, BufferWithDefaults) {
  const Argument argument = parse_argument("buf:f32:1000", 2);
  EXPECT_EQ(argument.kind, ArgumentKind::buffer);
  EXPECT_EQ(argument.type, ElementType::f32);
  EXPECT_EQ(argument.count, 1000u);
  EXPECT_EQ(argument.generator.kind, GeneratorKind::zero);
  EXPECT_EQ(argument.generator.seed, 3u) << "1 + the argument's position";
  EXPECT_EQ(argument.name, "");
  EXPECT_EQ(argument.buffer_bytes(), 4000u);
  EXPECT_EQ(argument.parameter_bytes(), 8u);
}

TEST(Argument, BufferOptionsStandInAnyOrder) {
  for (const char* text : {"buf:u16:8:uniform:seed=7:name=in", "buf:u16:8:name=in:seed=0x7:uniform"}) {
    const Argument argument = parse_argument(text, 0);
    EXPECT_EQ(argument.generator.kind, GeneratorKind::uniform);
    EXPECT_EQ(argument.generator.seed, 7u);
    EXPECT_EQ(argument.name, "in");
  }
}

TEST(Argument, CountsMayBePowersAndProducts) {
  EXPECT_EQ(parse_argument("buf:u8:2^24", 0).count, 1u << 24);
  EXPECT_EQ(parse_argument("buf:u8:1024*1024", 0).count, 1u << 20);
  EXPECT_EQ(parse_argument("buf:u8:3*2^20*5", 0).count, 15u << 20);
  EXPECT_EQ(parse_argument("buf:u8:2^40", 0).count, std::uint64_t{1} << 40);
  for (const char* count :
       {"0", "", "-1", "2^", "^2", "2^64", "1*", "*1", "1e6", "1.5", "0*7", "2**3", " 1"}) {
    EXPECT_NE(refusal(std::string("buf:u8:") + count).find("is no element count"), std::string::npos)
        << count;
  }
  EXPECT_NE(refusal("buf:u16:2^40").find("over 2^40 bytes"), std::string::npos);
  EXPECT_NE(refusal("buf:u8:2^63*2").find("is no element count"), std::string::npos) << "2^64 overflows";
}

TEST(Argument, Contents) {
  EXPECT_EQ(parse_argument("buf:f32:4:value=1.5", 0).generator.low_bits, 0x3fc00000u);
  EXPECT_EQ(parse_argument("buf:i8:4:value=-1", 0).generator.low_bits, 0xffu);
  EXPECT_EQ(parse_argument("buf:f16:4:value=0.1", 0).generator.low_bits, 0x2e66u);
  const Argument range = parse_argument("buf:i32:4:range=-5..6", 0);
  EXPECT_EQ(range.generator.kind, GeneratorKind::range);
  EXPECT_EQ(range.generator.low_bits, 0xfffffffbu);
  EXPECT_EQ(range.generator.high_bits, 6u);
  const Argument floats = parse_argument("buf:f32:4:range=-0.5..1.", 0);
  EXPECT_EQ(floats.generator.low_bits, 0xbf000000u);
  EXPECT_EQ(floats.generator.high_bits, 0x3f800000u);
}

TEST(Argument, RangesMustNotBeEmpty) {
  EXPECT_EQ(refusal("buf:i32:4:range=5..6"), "accepted");
  EXPECT_NE(refusal("buf:i32:4:range=5..5").find("is empty"), std::string::npos);
  EXPECT_EQ(refusal("buf:i32:4:range=-1..0"), "accepted") << "compared as signed numbers";
  EXPECT_NE(refusal("buf:i32:4:range=0..-1").find("is empty"), std::string::npos);
  EXPECT_NE(refusal("buf:f32:4:range=1..1").find("is empty"), std::string::npos);
  EXPECT_NE(refusal("buf:f32:4:range=0..inf").find("not finite"), std::string::npos);
  EXPECT_NE(refusal("buf:u8:4:range=0..256").find("fits u8"), std::string::npos);
  EXPECT_NE(refusal("buf:u8:4:range=7").find("expected range=LO..HI"), std::string::npos);
}

TEST(Argument, GeneratorsOfIndices) {
  EXPECT_EQ(parse_argument("buf:i32:9:ramp=12", 0).generator.low_bits, 12u);
  EXPECT_EQ(parse_argument("buf:i32:9:jitter=12", 0).generator.kind, GeneratorKind::jitter);
  EXPECT_EQ(parse_argument("buf:u32:9:skew=0..7", 0).generator.high_bits, 7u);
  const Argument band = parse_argument("buf:i32:9:band=8..64", 0);
  EXPECT_EQ(band.generator.low_bits, 8u);
  EXPECT_EQ(band.generator.high_bits, 64u);
  EXPECT_EQ(parse_argument("buf:u32:9:cycle", 0).generator.kind, GeneratorKind::cycle);
}

TEST(Argument, GeneratorsOfIndicesMustFitTheirType) {
  EXPECT_EQ(refusal("buf:u8:255:ramp=1"), "accepted");
  EXPECT_NE(refusal("buf:u8:256:ramp=1").find("does not fit u8"), std::string::npos);
  EXPECT_EQ(refusal("buf:i8:12:jitter=10"), "accepted");
  EXPECT_NE(refusal("buf:i8:13:jitter=10").find("does not fit i8"), std::string::npos);
  EXPECT_EQ(refusal("buf:i8:113:band=8..114"), "accepted") << "14 + 113";
  EXPECT_NE(refusal("buf:i8:113:band=8..115").find("does not fit i8"), std::string::npos);
  EXPECT_NE(refusal("buf:i8:129:cycle").find("does not fit i8"), std::string::npos);
  EXPECT_NE(refusal("buf:i32:9:ramp=0").find("at least 1"), std::string::npos);
  EXPECT_NE(refusal("buf:i32:9:jitter=-1").find("at least 1"), std::string::npos);
  EXPECT_NE(refusal("buf:i32:9:band=0..4").find("at least 1"), std::string::npos);
  EXPECT_NE(refusal("buf:i32:9:band=4..0").find("at least 1"), std::string::npos);
  EXPECT_NE(refusal("buf:i32:9:band=4").find("expected band=D..W"), std::string::npos);
  EXPECT_NE(refusal("buf:i32:9:skew=4..4").find("is empty"), std::string::npos);
  for (const char* form : {"cycle", "ramp=1", "jitter=1", "skew=0..4", "band=1..4"}) {
    EXPECT_NE(refusal(std::string("buf:f32:9:") + form).find("an integer type"), std::string::npos) << form;
  }
  EXPECT_NE(refusal("buf:i32:9:ramp").find("is no option"), std::string::npos);
  EXPECT_NE(refusal("buf:i32:9:cycle=1").find("is no option"), std::string::npos);
}

TEST(Argument, PermutationsMustBeExactInTheType) {
  EXPECT_EQ(refusal("buf:u8:256:perm"), "accepted");
  EXPECT_NE(refusal("buf:u8:257:perm").find("does not fit u8"), std::string::npos);
  EXPECT_EQ(refusal("buf:i8:128:perm"), "accepted");
  EXPECT_NE(refusal("buf:i8:129:perm").find("does not fit i8"), std::string::npos);
  EXPECT_EQ(refusal("buf:f32:2^24:perm"), "accepted");
  EXPECT_NE(refusal("buf:f32:16777217:perm").find("does not fit f32"), std::string::npos);
}

TEST(Argument, NumbersAreCheckedAgainstTheirType) {
  EXPECT_EQ(parse_argument("val:i32:1000", 0).bytes, (std::vector<std::uint8_t>{0xe8, 3, 0, 0}));
  EXPECT_EQ(parse_argument("val:u16:0xabcd", 0).bytes, (std::vector<std::uint8_t>{0xcd, 0xab}));
  EXPECT_EQ(parse_argument("val:i64:-9223372036854775808", 0).bytes,
            (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 0x80}));
  EXPECT_EQ(parse_argument("val:f32:2", 0).bytes, (std::vector<std::uint8_t>{0, 0, 0, 0x40}));
  EXPECT_EQ(parse_argument("val:f16:-inf", 0).bytes, (std::vector<std::uint8_t>{0, 0xfc}));
  EXPECT_EQ(parse_argument("val:f64:1", 0).parameter_bytes(), 8u);
  EXPECT_EQ(parse_argument("val:i8:1", 0).parameter_bytes(), 1u);
  EXPECT_EQ(refusal("val:i8:127"), "accepted");
  EXPECT_EQ(refusal("val:i8:-128"), "accepted");
  for (const char* text : {"val:i8:128", "val:i8:-129", "val:u8:-1", "val:u8:256", "val:i32:1.0",
                           "val:i32:", "val:u64:18446744073709551616", "val:f16:65520", "val:f32:1e39",
                           "val:f32:1x", "val:f32:0x10"}) {
    EXPECT_NE(refusal(text).find("is no number that fits"), std::string::npos) << text;
  }
}

TEST(Argument, FloatsAreRoundedOnce) {
  // 1 + 2^-24 + 2^-54: just above the middle between two floats, but exactly the middle once rounded to double.
  EXPECT_EQ(parse_argument("val:f32:1.0000000596046448030462", 0).bytes,
            (std::vector<std::uint8_t>{1, 0, 0x80, 0x3f}));
}

TEST(Argument, ReferencesNullAndBytes) {
  const Argument reference = parse_argument("ref:A+16", 0);
  EXPECT_EQ(reference.kind, ArgumentKind::reference);
  EXPECT_EQ(reference.name, "A");
  EXPECT_EQ(reference.offset, 16u);
  EXPECT_EQ(parse_argument("ref:A", 0).offset, 0u);
  EXPECT_EQ(parse_argument("null", 0).kind, ArgumentKind::null);
  EXPECT_EQ(parse_argument("null", 0).parameter_bytes(), 8u);
  EXPECT_EQ(parse_argument("bytes:00ffAb", 0).bytes, (std::vector<std::uint8_t>{0, 0xff, 0xab}));
  EXPECT_EQ(parse_argument("bytes:00ffAb", 0).parameter_bytes(), 3u);
  for (const char* text :
       {"ref:", "ref:1a", "ref:a+", "ref:a+x", "ref:a+-1", "bytes:", "bytes:0", "bytes:0g", "bytes:g0",
        "bytes:0x12", "null:1", "", "buf", "buf:f32", "val:f32", "pointer:1"}) {
    EXPECT_NE(refusal(text).find("expected"), std::string::npos) << text << ": " << refusal(text);
  }
}

TEST(Argument, MessagesNameTheArgumentAndTheForm) {
  EXPECT_EQ(
      refusal("buf:f33:10", 2),
      "argument 3 'buf:f33:10': 'f33' is no element type, expected one of i8 u8 i16 u16 i32 u32 i64 u64 "
      "f16 bf16 f32 f64");
  EXPECT_EQ(refusal("val:i32:x", 0), "argument 1 'val:i32:x': 'x' is no number that fits i32");
  for (const char* text : {"buf:f32:10:ones", "buf:f32:10:", "buf:f32:10:zero=1", "buf:f32:10:value",
                           "buf:f32:10:seed", "buf:f32:10:uniform:extra"}) {
    EXPECT_NE(refusal(text).find("is no option of a buffer, expected buf:TYPE:COUNT[:zero|"),
              std::string::npos)
        << text;
  }
}

TEST(Argument, OptionsStandOnce) {
  EXPECT_NE(refusal("buf:f32:10:zero:iota").find("contents is given twice"), std::string::npos);
  EXPECT_NE(refusal("buf:f32:10:zero:zero").find("contents is given twice"), std::string::npos);
  EXPECT_NE(refusal("buf:f32:10:seed=1:seed=1").find("seed is given twice"), std::string::npos);
  EXPECT_NE(refusal("buf:f32:10:name=a:name=b").find("name is given twice"), std::string::npos);
  EXPECT_NE(refusal("buf:f32:10:name=1a").find("is no buffer name"), std::string::npos);
  EXPECT_NE(refusal("buf:f32:10:seed=-1").find("is no seed"), std::string::npos);
}

TEST(Argument, FilesMustHoldExactlyTheBuffer) {
  const auto path = write_file("foretrace_argument_test.bin", "12345678");
  const auto folder = path.parent_path();
  const Argument argument = parse_argument("buf:f32:2:file=foretrace_argument_test.bin", 0, folder);
  EXPECT_EQ(argument.generator.kind, GeneratorKind::file);
  EXPECT_EQ(argument.file, path);
  EXPECT_EQ(parse_argument("bytes:@foretrace_argument_test.bin", 0, folder).bytes,
            (std::vector<std::uint8_t>{'1', '2', '3', '4', '5', '6', '7', '8'}));
  EXPECT_NE(refusal("buf:f32:3:file=" + path.string()).find("holds 8 bytes, expected the buffer's 12"),
            std::string::npos);
  EXPECT_NE(refusal("buf:f32:1:file=" + path.string()).find("holds 8 bytes"), std::string::npos);
  EXPECT_NE(refusal("buf:f32:1:file=/nowhere/at/all").find("cannot read"), std::string::npos);
  EXPECT_NE(refusal("bytes:@/nowhere/at/all").find("cannot read"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(Symbol, TakesTheSameForms) {
  const Symbol symbol = parse_symbol("weights=buf:f32:64:uniform", 2);
  EXPECT_EQ(symbol.name, "weights");
  EXPECT_EQ(symbol.contents.count, 64u);
  EXPECT_EQ(symbol.contents.generator.seed, 1003u);
  EXPECT_EQ(parse_symbol("a::b=val:i32:1", 0).name, "a::b");
  const auto refused = [](std::string_view text) {
    try {
      parse_symbol(text, 0);
    } catch (const InputError& error) { return std::string(error.what()); }
    return std::string("accepted");
  };
  for (const char* text :
       {"weights", "=val:i32:1", "1a=val:i32:1", "a:b=val:i32:1", "a::=val:i32:1", "a b=null"}) {
    EXPECT_NE(refused(text).find("expected NAME=FORM"), std::string::npos) << text;
  }
  EXPECT_NE(refused("a=val:i32").find("symbol 1 'a=val:i32': expected val:TYPE:V"), std::string::npos);
  EXPECT_NE(refused("a=buf:f32:1:name=b").find("name= is for buffers"), std::string::npos);
}

TEST(Argument, TensorMap) {
  const Argument tiled =
      parse_argument("tmap:f16:of=a+256:dims=4096x512:box=64x128:swizzle=128B:fill=nan", 0);
  EXPECT_EQ(tiled.kind, ArgumentKind::tensor_map);
  EXPECT_EQ(tiled.parameter_bytes(), 128u);
  EXPECT_EQ(tiled.name, "a");
  EXPECT_EQ(tiled.offset, 256u);
  EXPECT_EQ(tiled.tensor.type, "f16");
  EXPECT_EQ(tiled.tensor.dims, (std::vector<std::int64_t>{4096, 512}));
  EXPECT_EQ(tiled.tensor.box, (std::vector<std::int64_t>{64, 128}));
  EXPECT_EQ(tiled.tensor.swizzle_bytes, 128);
  EXPECT_TRUE(tiled.tensor.nan_fill);
  const Argument pixels =
      parse_argument("tmap:f32:of=a:dims=32x9x8x2:lower=-1x-1:upper=0x-2:channels=16:pixels=40", 0);
  EXPECT_TRUE(pixels.tensor.im2col());
  EXPECT_EQ(pixels.tensor.lower, (std::vector<std::int64_t>{-1, -1}));
}

TEST(Argument, TensorMapRefusals) {
  EXPECT_NE(refusal("tmap:f15:of=a:dims=8:box=8").find("'f15' is no type of a tensor"), std::string::npos);
  EXPECT_NE(refusal("tmap:f16:dims=8:box=8").find("expected tmap:TYPE:of=NAME"), std::string::npos);
  EXPECT_NE(refusal("tmap:f16:of=a:dims=8x8:box=8").find("expected 2 numbers of box"), std::string::npos);
  EXPECT_NE(refusal("tmap:f16:of=a:dims=8:box=8:swizzle=96B").find("'swizzle=96B' is no option"),
            std::string::npos);
  EXPECT_NE(refusal("tmap:f16:of=a:dims=8:box=8:box=8").find("box is given twice"), std::string::npos);
  EXPECT_NE(
      refusal("tmap:f16:of=a:dims=8x8:lower=1:upper=1:channels=8:pixels=8").find("im2col takes 3 to 5 dims"),
      std::string::npos);
}

}  // namespace
}  // namespace foretrace::frontend
