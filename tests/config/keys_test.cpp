// Keys and the numbers behind them: every field of the chip has a key, formulas compute, SHA-256 is SHA-256.
#include "model/config/keys.h"

#include <gtest/gtest.h>

#include <set>

#include "model/config/formula.h"
#include "model/config/sha256.h"
#include "model/spec/check.h"
#include "model/units/error.h"

namespace foretrace::config {
namespace {

std::size_t keys_of(std::string_view section) {
  std::size_t count = 0;
  for (const Key& key : keys()) count += key.name.substr(0, key.name.find('.')) == section ? 1 : 0;
  return count;
}

TEST(Keys, EveryFieldOfEverySectionHasOne) {
  constexpr std::size_t kField = sizeof(std::uint32_t);
  EXPECT_EQ(keys_of("sm"), sizeof(spec::SmSpec) / kField);
  EXPECT_EQ(keys_of("limits"), sizeof(spec::LimitsSpec) / kField);
  EXPECT_EQ(keys_of("fetch"), sizeof(spec::FetchSpec) / kField);
  EXPECT_EQ(keys_of("register_file"), sizeof(spec::RegisterFileSpec) / kField);
  EXPECT_EQ(keys_of("constant"), sizeof(spec::ConstantSpec) / kField);
  EXPECT_EQ(keys_of("lsu"), sizeof(spec::LsuSpec) / kField);
  EXPECT_EQ(keys_of("match"), sizeof(spec::MatchSpec) / kField);
  EXPECT_EQ(keys_of("texture"), sizeof(spec::TextureSpec) / kField);
  EXPECT_EQ(keys_of("shared"), sizeof(spec::SharedSpec) / kField);
  EXPECT_EQ(keys_of("barrier"), sizeof(spec::BarrierSpec) / kField);
  // Sections with fields of several sizes: a new field stops the compiler here.
  [[maybe_unused]] const auto [a1, b1, c1, d1, e1, f1, g1, h1, i1, j1, k1, l1] = spec::LaunchSpec{};
  EXPECT_EQ(keys_of("launch"), 12u);
  [[maybe_unused]] const auto [a2, b2, c2, d2, e2, f2, g2, h2, i2, j2, k2, l2, m2, n2, o2, p2, q2, r2, s2, t2,
                               u2, v2, w2, x2, y2, z2, aa2, ab2, ac2, ad2, ae2, af2] = spec::L2Spec{};
  EXPECT_EQ(keys_of("l2"), 32u);
  [[maybe_unused]] const auto [a3, b3, c3, d3, e3, f3, g3, h3, i3, j3, k3, l3, m3, n3, o3, p3, q3, r3, s3, t3,
                               u3, v3, w3, x3, y3, z3, aa3, ab3, ac3, ad3, ae3] = spec::L1Spec{};
  EXPECT_EQ(keys_of("l1"), 31u);
  [[maybe_unused]] const auto [a4, b4, c4, d4, e4, f4, g4, h4, i4, j4, k4, l4, m4, n4, o4, p4, q4, r4, s4, t4,
                               u4, v4] = spec::DramSpec{};
  EXPECT_EQ(keys_of("dram"), 22u);
  [[maybe_unused]] const auto [a5, b5, c5, d5, e5, f5] = spec::CudaSpec{};
  EXPECT_EQ(keys_of("cuda"), 6u);
  [[maybe_unused]] const auto [a6, b6, c6, d6, e6, f6, g6, h6, i6, j6, k6, l6, m6] = spec::NetworkSpec{};
  EXPECT_EQ(keys_of("network"), 13u);
  EXPECT_EQ(keys_of("pipe"), static_cast<std::size_t>(spec::kPipes) - 1) << "all but none";
  EXPECT_EQ(keys_of("clock"), 10u);
  std::set<std::string_view> names;
  for (const Key& key : keys()) EXPECT_TRUE(names.insert(key.name).second) << key.name << " is there twice";
}

TEST(Keys, EachFillsAFieldOfItsOwn) {
  // A value no other key has, set through one key, appears in the bytes of the chip, and setting another key leaves it.
  Chip chip;
  std::vector<std::vector<unsigned char>> images;
  for (const Key& key : keys()) {
    if (key.type == KeyType::list) continue;
    Chip fresh;
    const double value = key.type == KeyType::real ? 0.5 : 77;
    key.set(fresh, std::vector<double>{value});
    const auto* bytes = reinterpret_cast<const unsigned char*>(&fresh.clocks);
    std::vector<unsigned char> image(bytes, bytes + sizeof fresh.clocks);
    const auto* more = reinterpret_cast<const unsigned char*>(&fresh.spec.sm);
    const auto* end = reinterpret_cast<const unsigned char*>(&fresh.spec.opcodes);
    image.insert(image.end(), more, end);
    images.push_back(image);
  }
  std::set<std::vector<unsigned char>> distinct(images.begin(), images.end());
  EXPECT_EQ(distinct.size(), images.size()) << "two keys fill the same field";
}

TEST(Keys, WhatAReductionTakesOfItsWayFitsIntoItsId) {
  const double address = find_key("l1.way_address_bytes")->high / spec::kWayPieceBytes;
  const double sector = find_key("l1.way_sector_bytes")->high / spec::kWayPieceBytes;
  EXPECT_LE(32 * address, 255) << "32 lone words, in packets of their own";
  EXPECT_LE(16 * (address + sector), 255) << "16 pairs of words";
}

TEST(Keys, NearestIsByEditDistance) {
  EXPECT_EQ(nearest("sm.cuont", {"sm.gpcs", "sm.count", "l2.ways"}), "sm.count");
  EXPECT_EQ(nearest("l2.wasy", {"sm.gpcs", "sm.count", "l2.ways"}), "l2.ways");
  EXPECT_EQ(hint("l2.wasy", {"sm.gpcs", "sm.count", "l2.ways"}), "; the nearest is l2.ways");
  EXPECT_EQ(hint("foo.bar", {"sm.gpcs", "sm.count", "l2.ways"}), "");
}

TEST(Formula, Computes) {
  const Lookup lookup = [](std::string_view key) -> std::vector<double> {
    if (key == "a.b") return {6};
    if (key == "l1.carveouts") return {0, 8, 100};
    throw InputError("formula: unknown key");
  };
  EXPECT_DOUBLE_EQ(evaluate("2 + 3 * 4", lookup), 14);
  EXPECT_DOUBLE_EQ(evaluate("(2 + 3) * 4", lookup), 20);
  EXPECT_DOUBLE_EQ(evaluate("10 - 4 - 3", lookup), 3);
  EXPECT_DOUBLE_EQ(evaluate("16 / 4 / 2", lookup), 2);
  EXPECT_DOUBLE_EQ(evaluate("-a.b + 1.5", lookup), -4.5);
  EXPECT_DOUBLE_EQ(evaluate("ceil(a.b / 4) + floor(a.b / 4)", lookup), 3);
  EXPECT_DOUBLE_EQ(evaluate("max(l1.carveouts) - min(a.b, 2, 9)", lookup), 98);
}

TEST(Formula, RefusesWhatItCannotMean) {
  const Lookup lookup = [](std::string_view) -> std::vector<double> { return {1, 2}; };
  for (const char* wrong :
       {"", "1 +", "(1", "1 2", "1 / 0", "sqrt(4)", "a.list + 1", "ceil(1, 2)", "1 % 2", "max()"}) {
    EXPECT_THROW(evaluate(wrong, lookup), InputError) << wrong;
  }
}

TEST(Sha256, IsSha256) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Names, PipesAndLatencyClassesReadBack) {
  for (int i = 0; i < spec::kPipes; ++i) {
    spec::Pipe back{};
    ASSERT_TRUE(spec::pipe_from_name(spec::name_of(static_cast<spec::Pipe>(i)), back));
    EXPECT_EQ(static_cast<int>(back), i);
  }
  for (int i = 0; i < spec::kLatencyClasses; ++i) {
    spec::LatencyClass back{};
    ASSERT_TRUE(spec::latency_from_name(spec::name_of(static_cast<spec::LatencyClass>(i)), back));
    EXPECT_EQ(static_cast<int>(back), i);
  }
  spec::Pipe pipe{};
  EXPECT_FALSE(spec::pipe_from_name("sfu", pipe));
}

TEST(Checks, L1CarveOutsStopWhereNoL1IsLeft) {
  spec::L1Spec l1;
  l1.unified_bytes = 64 * 1024;
  l1.sets = 4;
  l1.lines_kept_back = 4;
  l1.carveouts = {0, 63 * 1024};
  EXPECT_FALSE(spec::check(l1).has_value());
  l1.carveouts = {0, 63 * 1024 + 1};
  ASSERT_TRUE(spec::check(l1).has_value());
  EXPECT_EQ(spec::check(l1)->key, "l1.lines_kept_back");
  l1.carveouts = {0, 64 * 1024};
  EXPECT_EQ(spec::check(l1)->key, "l1.carveouts");
  l1.carveouts = {0, 63 * 1024};
  l1.sets = 3;
  EXPECT_EQ(spec::check(l1)->key, "l1.sets");
}

TEST(Checks, RefreshMustLeaveTimeToServe) {
  spec::DramSpec dram;
  dram.access_bytes = 64;
  dram.row_bytes = 1024;
  dram.refresh_interval = 100;
  dram.refresh_cycles = 99;
  EXPECT_FALSE(spec::check(dram).has_value());
  dram.refresh_cycles = 100;
  EXPECT_EQ(spec::check(dram)->key, "dram.refresh_cycles");
}

TEST(Checks, WritesAreDrainedDownToLessThanWhatBeganIt) {
  spec::DramSpec dram;
  dram.access_bytes = 64;
  dram.row_bytes = 1024;
  dram.refresh_interval = 100;
  dram.drain_from = dram.drain_until = 0.5;
  EXPECT_FALSE(spec::check(dram).has_value());
  dram.drain_until = 0.51;
  EXPECT_EQ(spec::check(dram)->key, "dram.drain_until");
}

TEST(Checks, StoresAndReductionsTakeWholePiecesOfTheirWay) {
  spec::L1Spec l1;
  l1.unified_bytes = 64 * 1024;
  l1.sets = 4;
  l1.carveouts = {0};
  l1.way_address_bytes = 48;
  l1.way_sector_bytes = 32;
  EXPECT_FALSE(spec::check(l1).has_value());
  l1.way_address_bytes = 40;
  EXPECT_EQ(spec::check(l1)->key, "l1.way_address_bytes");
  l1.way_address_bytes = 48;
  l1.way_sector_bytes = 33;
  EXPECT_EQ(spec::check(l1)->key, "l1.way_sector_bytes");
  l1.way_sector_bytes = 32;
  l1.store_lines = 2;
  l1.way_bytes = 2 * (48 + 4 * 32) + 15;
  EXPECT_EQ(spec::check(l1)->key, "l1.way_bytes") << "lines that are held would wait for themselves";
  ++l1.way_bytes;
  EXPECT_FALSE(spec::check(l1).has_value());
}

}  // namespace
}  // namespace foretrace::config
