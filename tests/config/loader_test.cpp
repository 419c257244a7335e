// The loader: what it gives for the shipped chips, and that it refuses every kind of wrong file by file, line and key.
#include "model/config/formula.h"
#include "model/config/load.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/config/describe.h"
#include "model/units/error.h"

namespace foretrace::config {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(FORETRACE_SOURCE_DIR) / "configs";

std::string read(const fs::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A copy of the shipped configurations in which one file is changed.
class EditedConfigs : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(FORETRACE_BINARY_DIR) / "test_configs" / info->name() / "configs";
    fs::remove_all(root_);
    fs::create_directories(root_);
    fs::copy(kConfigs, root_, fs::copy_options::recursive);
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = read(root_ / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " is not in " << file;
    text.replace(at, from.size(), to);
    std::ofstream(root_ / file) << text;
  }
  void write(const std::string& file, const std::string& text) { std::ofstream(root_ / file) << text; }
  /// The line on which `what` first stands in a file.
  int line_of(const std::string& file, const std::string& what) const {
    const std::string text = read(root_ / file);
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find(what));
    return static_cast<int>(std::count(text.begin(), end, '\n')) + 1;
  }
  /// The error that loading h100 gives; empty when it loads.
  std::string error(const std::vector<Override>& overrides = {}) const {
    try {
      load_gpu("h100", overrides, {}, root_);
    } catch (const InputError& failure) {
      const std::string text = failure.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << "an error is one line: " << text;
      return text;
    }
    return "";
  }
  fs::path root_;
};

std::string error_of(const std::string& chip, const std::vector<Override>& overrides) {
  try {
    load_gpu(chip, overrides, {}, kConfigs);
  } catch (const InputError& failure) { return failure.what(); }
  return "";
}

constexpr const char* kGood = "sm.count is 132 SMs";
constexpr const char* kCount =
    "count = { value = 132, unit = \"SM\", kind = \"documented\", default = true, source = "
    "\"docs/sources.md:WPH\" }";

TEST(ShippedConfigs, EveryChipLoadsAndIsWhatItIs) {
  struct Expected {
    const char* name;
    int sm_number;
    std::uint32_t sms;
    std::uint64_t l2;
    double gigabytes_per_second;
  };
  const Expected chips[] = {
      {"a100-sxm-40gb", 80, 108, 41943040, 1555},  {"a100-sxm-80gb", 80, 108, 41943040, 2039},
      {"a100-pcie-40gb", 80, 108, 41943040, 1555}, {"h100-pcie", 90, 114, 52428800, 2039},
      {"h100-sxm", 90, 132, 52428800, 3352},       {"h200-sxm", 90, 132, 62914560, 4917},
      {"gh200", 90, 132, 62914560, 4023},          {"b200-sxm", 100, 148, 132710400, 7672},
      {"rtx3090", 86, 82, 6291456, 936},           {"a6000", 86, 84, 6291456, 768},
      {"rtx4090", 89, 128, 75497472, 1008},        {"l40s", 89, 142, 100663296, 864},
      {"rtx5070", 120, 48, 50331648, 672},         {"rtx5070ti", 120, 70, 50331648, 896},
      {"rtx5080", 120, 84, 67108864, 960},         {"rtx5090", 120, 170, 100663296, 1792},
      {"rtxpro6000", 120, 188, 134217728, 1792}};
  ASSERT_EQ(chip_names(kConfigs).size(), std::size(chips));
  for (const Expected& expected : chips) {
    const Loaded loaded = load_gpu(expected.name, {}, {}, kConfigs);
    EXPECT_EQ(loaded.spec.name, expected.name);
    EXPECT_EQ(loaded.spec.sm_number, expected.sm_number);
    EXPECT_EQ(loaded.spec.sm.count, expected.sms);
    EXPECT_EQ(loaded.spec.l2.bytes, expected.l2);
    const double bandwidth = static_cast<double>(loaded.spec.dram.channels) * loaded.spec.dram.channel_bytes *
                             static_cast<double>(loaded.spec.clock.dram) / 1e9;
    EXPECT_NEAR(bandwidth, expected.gigabytes_per_second, 1);
    EXPECT_GT(loaded.assumed, 0);
  }
}

TEST(ShippedConfigs, EverySourceIsInTheListOfSources) {
  const std::string list = read(fs::path(FORETRACE_SOURCE_DIR) / "docs/sources.md");
  for (const std::string& chip : chip_names(kConfigs)) {
    for (const Value& value : load_gpu(chip, {}, {}, kConfigs).values) {
      const bool named = value.source.find("docs/sources.md:") != std::string::npos ||
                         value.source.find("validate/measurements/") != std::string::npos;
      // A judgement says so, and only an assumption or a formula rests on one.
      if (!named) {
        EXPECT_TRUE(value.source.starts_with("judgement: ")) << value.key << ": " << value.source;
        EXPECT_TRUE(value.kind == Kind::assumed || value.kind == Kind::derived) << value.key;
      }
      std::size_t at = 0;
      const std::string prefix = "docs/sources.md:";
      while ((at = value.source.find(prefix, at)) != std::string::npos) {
        at += prefix.size();
        const std::string key = value.source.substr(at, value.source.find_first_of(" ;,:", at) - at);
        EXPECT_NE(list.find("| " + key + " |"), std::string::npos)
            << value.key << " cites " << key << ", which docs/sources.md lacks";
      }
    }
  }
}

TEST(ShippedConfigs, WhatWasFoundOnAnotherDieIsTransferred) {
  // A source that names one of these was not written about the chips of the other rows.
  const std::pair<const char*, const char*> marks[] = {{"h100-sxm-microbenchmarks", "GH100"},
                                                       {"h200-sxm-microbenchmarks", "GH100"},
                                                       {"(H100)", "GH100"},
                                                       {"(GA102)", "GA102"},
                                                       {"(B300)", "GB300"},
                                                       {" V100", "GV100"},
                                                       {"HUE", "GA102"},
                                                       {"JAR", "GB203"},
                                                       {"80 GB H100", "GH100"},
                                                       {"ABD", "GA100"},
                                                       {"(A100)", "GA100"},
                                                       {"A40", "GA102"},
                                                       {"GA102S", "GA102"},
                                                       {"L40", "AD102"},
                                                       {"4090", "AD102"},
                                                       {"GB202", "GB202"}};
  for (const std::string& chip : chip_names(kConfigs)) {
    const Loaded loaded = load_gpu(chip, {}, {}, kConfigs);
    EXPECT_FALSE(loaded.die.empty()) << chip;
    int transferred = 0;
    for (const Value& value : loaded.values) {
      if (value.kind == Kind::transferred) {
        ++transferred;
        EXPECT_FALSE(value.on.empty()) << chip << " " << value.key;
      }
      if (value.kind != Kind::measured && value.kind != Kind::fitted) continue;
      bool any = false, own = false;
      for (const auto& [mark, die] : marks) {
        if (value.source.find(mark) == std::string::npos) continue;
        any = true;
        own = own || loaded.die == die;
      }
      EXPECT_TRUE(own || !any) << chip << " " << value.key << ": " << value.source;
    }
    EXPECT_EQ(loaded.transferred, transferred) << chip;
  }
  EXPECT_GE(load_gpu("a100", {}, {}, kConfigs).transferred, 27);
  EXPECT_GE(load_gpu("rtx5080", {}, {}, kConfigs).transferred, 28);
}

TEST(ShippedConfigs, OneEntryIsMeasuredOnItsOwnDieAndTransferredToOthers) {
  EXPECT_EQ(load_gpu("h100", {}, {}, kConfigs).find("fetch.branch_latency")->kind, Kind::measured);
  EXPECT_EQ(load_gpu("h200", {}, {}, kConfigs).find("fetch.branch_latency")->kind, Kind::measured);
  EXPECT_EQ(load_gpu("a100", {}, {}, kConfigs).find("fetch.branch_latency")->kind, Kind::transferred);
  EXPECT_EQ(load_gpu("a100", {}, {}, kConfigs).find("fetch.branch_latency")->on,
            std::vector<std::string>{"GH100"});
  EXPECT_EQ(
      load_gpu("a100", {{"fetch.branch_latency", "9"}}, {}, kConfigs).find("fetch.branch_latency")->kind,
      Kind::assumed);
}

TEST(ShippedConfigs, EachSaysHowItIsKnown) {
  for (const std::string& chip : chip_names(kConfigs)) {
    const Loaded loaded = load_gpu(chip, {}, {}, kConfigs);
    EXPECT_TRUE(loaded.known.contains("compute")) << chip;
    EXPECT_TRUE(loaded.known.contains("memory")) << chip;
  }
}

TEST(ShippedConfigs, AliasesStandForTheFirstOfEach) {
  EXPECT_EQ(resolve_name("a100"), "a100-sxm-40gb");
  EXPECT_EQ(resolve_name("h100"), "h100-sxm");
  EXPECT_EQ(resolve_name("h200"), "h200-sxm");
  EXPECT_EQ(resolve_name("b200"), "b200-sxm");
  EXPECT_EQ(resolve_name("gb203"), "rtx5070ti");
  EXPECT_EQ(resolve_name("rtx5080"), "rtx5080");
}

TEST(ShippedConfigs, AnUnknownArchIsOneLineWithWhatThereIs) {
  const std::string text = error_of("v100", {});
  EXPECT_TRUE(text.starts_with("unknown arch \"v100\": expected a100-pcie-40gb")) << text;
  EXPECT_NE(text.find("gb203"), std::string::npos);
}

TEST(ShippedConfigs, OpcodesMatchTheLongestPatternAtADot) {
  const spec::GpuSpec h100 = load_gpu("h100", {}, {}, kConfigs).spec;
  ASSERT_NE(find_opcode(h100, "IMAD"), nullptr);
  EXPECT_EQ(find_opcode(h100, "IMAD.MOV.U32")->interval, 0u);
  EXPECT_EQ(find_opcode(h100, "IMAD.WIDE.U32")->interval, 4u);
  EXPECT_EQ(find_opcode(h100, "IMADX"), nullptr);
  EXPECT_EQ(find_opcode(h100, "FFMA")->pipes[1], spec::Pipe::fmaheavy);
  EXPECT_EQ(find_opcode(h100, "DADD")->latency, spec::LatencyClass::fixed);
  EXPECT_EQ(find_opcode(load_gpu("a100", {}, {}, kConfigs).spec, "DADD")->latency, spec::LatencyClass::fp64);
  EXPECT_EQ(find_opcode(h100, "LDCU.64"), nullptr);
}

TEST(Overrides, ReplaceAValueAndWhatDerivesFromIt) {
  const Loaded before = load_gpu("h100", {}, {}, kConfigs);
  const Loaded after = load_gpu("h100", {{"l2.slices", "40"}, {"dram.channels", "40"}}, {}, kConfigs);
  EXPECT_EQ(after.spec.l2.bytes, before.spec.l2.bytes / 2);
  ASSERT_NE(after.find("l2.slices"), nullptr);
  EXPECT_TRUE(after.find("l2.slices")->overridden);
  EXPECT_FALSE(after.find("l2.bytes")->overridden);
  EXPECT_EQ(after.assumed, before.assumed + 2);
  EXPECT_NE(after.sha256, before.sha256);
  EXPECT_EQ(load_gpu("h100", {{"l2.slices", "80"}}, {}, kConfigs).sha256, before.sha256)
      << "the same values are the same config";
  EXPECT_EQ(load_gpu("h100", {{"l1.carveouts", "[0,8192,233472]"}}, {}, kConfigs).spec.l1.carveouts.size(),
            3u);
  EXPECT_EQ(load_gpu("h100", {{"opcodes.wide_multiply.interval", "2"}}, {}, kConfigs).spec.opcodes.size(),
            before.spec.opcodes.size());
}

TEST(Overrides, AreCheckedTheSameWay) {
  EXPECT_EQ(error_of("h100", {{"sm.cuont", "3"}}), "--set sm.cuont=3: unknown key; the nearest is sm.count");
  EXPECT_EQ(error_of("h100", {{"quux.baz", "3"}}),
            "--set quux.baz=3: unknown key; 'foretrace arch NAME' lists those that there are");
  EXPECT_EQ(error_of("h100", {{"sm.count", "0"}}),
            "--set sm.count=0: 0 is out of range: expected 1 to 4096 \"SM\"");
  EXPECT_EQ(error_of("h100", {{"sm.count", "4097"}}),
            "--set sm.count=4097: 4097 is out of range: expected 1 to 4096 \"SM\"");
  EXPECT_EQ(error_of("h100", {{"sm.count", "4096"}}), "");
  EXPECT_EQ(error_of("h100", {{"sm.count", "many"}}), "--set sm.count=many: \"many\" is no number");
  EXPECT_EQ(error_of("h100", {{"sm.count", "1.5"}}),
            "--set sm.count=1.5: 1.5 is not whole: expected a whole number of \"SM\"");
  EXPECT_EQ(error_of("h100", {{"sm.count", "8"}, {"sm.count", "9"}}),
            "--set sm.count=9: the key is set twice");
  EXPECT_EQ(error_of("h100", {{"l1.carveouts", "8192"}}),
            "--set l1.carveouts=8192: expected a list such as [0,8192]");
  EXPECT_EQ(error_of("h100", {{"l1.carveouts", "[8192,0,233472]"}}),
            "--set l1.carveouts=[8192,0,233472]: expected ascending sizes, found 0 after 8192");
  EXPECT_EQ(error_of("h100", {{"l2.slices", "81"}}),
            "--set l2.slices=81: expected a multiple of the 2 partitions");
  EXPECT_EQ(error_of("h100", {{"pipe.alulite.interval", "2"}}),
            "--set pipe.alulite.interval=2: the key does nothing here: no opcode of this machine code uses "
            "the pipe");
  EXPECT_EQ(error_of("gb203", {{"network.partition_latency", "2"}}),
            "--set network.partition_latency=2: the key does nothing here: l2.partitions is 1");
}

TEST(Overrides, OnePartitionNeedsNoPartitionKeys) {
  const spec::GpuSpec spec = load_gpu("h100", {{"l2.partitions", "1"}}, {}, kConfigs).spec;
  EXPECT_EQ(spec.network.partition_latency, 0u);
  EXPECT_NE(error_of("gb203", {{"l2.partitions", "2"}}).find("network.partition_latency is missing"),
            std::string::npos);
}

TEST(Overrides, ParseSet) {
  const std::vector<Override> three = parse_set("sm.count=108,132,144");
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[1].key, "sm.count");
  EXPECT_EQ(three[1].value, "132");
  const std::vector<Override> lists = parse_set("l1.carveouts=[0,8192],[0,16384]");
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].value, "[0,8192]");
  EXPECT_THROW(parse_set("sm.count"), InputError);
  EXPECT_THROW(parse_set("=3"), InputError);
  EXPECT_THROW(parse_set("sm.count=1,,2"), InputError);
}

TEST(Clocks, AreChosenByDomain) {
  const Loaded boost = load_gpu("h100", {}, {}, kConfigs);
  EXPECT_EQ(boost.spec.clock.sm, 1980000000u);
  EXPECT_EQ(boost.spec.clock_choice, spec::ClockChoice::boost);
  const Loaded base = load_gpu("h100", {}, parse_clock("base"), kConfigs);
  EXPECT_LT(base.spec.clock.sm, boost.spec.clock.sm);
  const Loaded custom = load_gpu("h100", {}, parse_clock("sm=1000,dram=2000.5"), kConfigs);
  EXPECT_EQ(custom.spec.clock.sm, 1000000000u);
  EXPECT_EQ(custom.spec.clock.l2, boost.spec.clock.l2);
  EXPECT_EQ(custom.spec.clock.dram, 2000500000u);
  EXPECT_NE(custom.sha256, boost.sha256);
  for (const char* wrong :
       {"turbo", "sm=", "sm=0", "sm=1000,", "sm=1000,sm=2000", "core=1000", "sm=1e9", ""}) {
    EXPECT_THROW(parse_clock(wrong), InputError) << wrong;
  }
}

TEST_F(EditedConfigs, UnchangedLoads) { EXPECT_EQ(error(), "") << kGood; }

TEST_F(EditedConfigs, NamesFileLineAndKeyOfWhateverIsWrongInAnEntry) {
  struct Case {
    const char* to;
    const char* what;
  };
  const Case cases[] = {
      {"count = 132", "expected { value, unit, kind, source }, not a bare value"},
      {"count = { value = 132, unit = \"SMs\", kind = \"documented\", source = \"x\" }",
       "unit \"SMs\": expected \"SM\""},
      {"count = { value = 132, kind = \"documented\", source = \"x\" }",
       "unit is missing: expected unit = \"...\""},
      {"count = { value = 132, unit = \"SM\", source = \"x\" }",
       "kind is missing: expected documented, measured, fitted, derived, transferred or assumed"},
      {"count = { value = 132, unit = \"SM\", kind = \"guessed\", source = \"x\" }",
       "unknown kind \"guessed\": expected documented, measured, fitted, derived, transferred or assumed"},
      {"count = { value = 132, unit = \"SM\", kind = \"documented\" }",
       "source is missing: expected source = \"docs/sources.md:KEY ...\""},
      {"count = { unit = \"SM\", kind = \"documented\", source = \"x\" }",
       "value is missing: expected value = NUMBER"},
      {"count = { value = \"132\", unit = \"SM\", kind = \"documented\", source = \"x\" }",
       "expected a number"},
      {"count = { value = [1, 2], unit = \"SM\", kind = \"documented\", source = \"x\" }",
       "expected one number"},
      {"count = { value = 132, unit = \"SM\", kind = \"documented\", source = \"x\", remark = \"y\" }",
       "unknown attribute remark: expected value or formula, unit, kind, source, on, range, default"},
      {"count = { value = 132, unit = \"SM\", kind = \"assumed\", source = \"x\" }",
       "kind assumed needs range = [lowest, highest]"},
      {"count = { value = 132, unit = \"SM\", kind = \"fitted\", source = \"x\" }",
       "kind fitted needs range = [lowest, highest]"},
      {"count = { value = 132, unit = \"SM\", kind = \"transferred\", source = \"x\" }",
       "a transferred value needs on = \"DIE\", the die that it comes from"},
      {"count = { value = 132, unit = \"SM\", kind = \"transferred\", on = [], source = \"x\" }",
       "a transferred value needs on = \"DIE\", the die that it comes from"},
      {"count = { value = 132, unit = \"SM\", kind = \"transferred\", on = 100, source = \"x\" }",
       "expected a text in quotes"},
      {"count = { value = 132, unit = \"SM\", kind = \"transferred\", on = \"GH100\", source = \"x\" }",
       "transferred from GH100, which is the chip's own die: expected measured"},
      {"count = { value = 132, unit = \"SM\", kind = \"assumed\", on = \"GA100\", range = [1, 140], source = "
       "\"x\" }",
       "on is for values documented, measured, fitted or transferred"},
      {"count = { value = 132, unit = \"SM\", kind = \"assumed\", range = [133, 140], source = \"x\" }",
       "value 132 is outside its range [133, 140]"},
      {"count = { value = 132, unit = \"SM\", kind = \"assumed\", range = [140, 130], source = \"x\" }",
       "expected range = [lowest, highest] with lowest below highest"},
      {"count = { value = 132, unit = \"SM\", kind = \"derived\", source = \"x\" }",
       "a derived value needs formula = \"...\""},
      {"count = { formula = \"66 * 2\", unit = \"SM\", kind = \"measured\", source = \"x\" }",
       "only a derived value has a formula"},
      {"count = { value = 0, unit = \"SM\", kind = \"documented\", source = \"x\" }",
       "0 is out of range: expected 1 to 4096 \"SM\""},
      {"count = { value = 1.5, unit = \"SM\", kind = \"documented\", source = \"x\" }",
       "1.5 is not whole: expected a whole number of \"SM\""},
      {"count = { formula = \"1 / 0\", unit = \"SM\", kind = \"derived\", source = \"x\" }",
       "formula \"1 / 0\", column 6: division by 0"},
      {"count = { formula = \"sm.gpcs / 3\", unit = \"SM\", kind = \"derived\", source = \"x\" }",
       "2.6666666666666665 is not whole: expected a whole number of \"SM\" (ceil or floor in the formula)"},
      {"count = { formula = \"sm.gcps * 2\", unit = \"SM\", kind = \"derived\", source = \"x\" }",
       "formula \"sm.gcps * 2\": unknown key sm.gcps"},
      {"count = { formula = \"sm.count + 1\", unit = \"SM\", kind = \"derived\", source = \"x\" }",
       "circular formulas: sm.count -> sm.count"},
  };
  const int line = line_of("shared/gh100.toml", kCount);
  const std::string whole = read(root_ / "shared/gh100.toml");
  for (const Case& wrong : cases) {
    write("shared/gh100.toml", whole);
    replace("shared/gh100.toml", kCount, wrong.to);
    EXPECT_EQ(error(), "configs/shared/gh100.toml:" + std::to_string(line) + ": sm.count: " + wrong.what);
  }
}

TEST(Formulas, AreRefusedWhenTheyAreNestedWithoutEnd) {
  const auto refusal = [](const std::string& formula) -> std::string {
    try {
      config::evaluate(formula, [](std::string_view) { return std::vector<double>{1}; });
    } catch (const InputError& error) { return error.what(); }
    return "";
  };
  EXPECT_EQ(refusal(std::string(40, '(') + "a" + std::string(40, ')')), "");
  for (const char* each : {"(", "-", "max("}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += each;
    EXPECT_NE(refusal(deep + "a").find("too many brackets and signs"), std::string::npos) << each;
  }
}

TEST_F(EditedConfigs, CircularFormulasAreNamedInOrder) {
  replace("shared/gh100.toml", "bytes       = { formula = \"l2.slices * 655360\"",
          "bytes       = { formula = \"l2.misses * 655360\"");
  replace("shared/common.toml",
          "misses          = { value = 192, unit = \"line\", kind = \"assumed\", range = [64, 512],",
          "misses          = { formula = \"l2.bytes / 655360\", unit = \"line\", kind = \"derived\",");
  EXPECT_NE(error().find("circular formulas: l2.bytes -> l2.misses -> l2.bytes"), std::string::npos)
      << error();
}

TEST_F(EditedConfigs, AMissingKeyIsNamedWithTheFormItNeeds) {
  replace("shared/gh100.toml", kCount, "");
  EXPECT_EQ(error(),
            "configs/h100-sxm.toml: sm.count is missing: expected sm.count = { value = ..., unit = \"SM\", "
            "kind = \"...\", source = \"...\" }");
  EXPECT_EQ(error({{"sm.count", "132"}}), "") << "an override may supply it";
}

TEST_F(EditedConfigs, AnUnknownKeyIsNamedWithTheNearest) {
  replace("shared/gh100.toml", "count = {", "coount = {");
  const int line = line_of("shared/gh100.toml", "coount");
  EXPECT_EQ(error(), "configs/shared/gh100.toml:" + std::to_string(line) +
                         ": sm.coount: unknown key; the nearest is sm.count");
}

TEST_F(EditedConfigs, AKeyTwiceInAFileIsRefused) {
  replace("shared/gh100.toml", kCount, std::string(kCount) + "\n" + kCount);
  const std::string text = error();
  EXPECT_TRUE(text.starts_with(
      "configs/shared/gh100.toml:" + std::to_string(line_of("shared/gh100.toml", kCount) + 1) + ":"))
      << text;
  EXPECT_NE(text.find("count"), std::string::npos) << text;
}

TEST_F(EditedConfigs, AChildMayChangeOnlyWhatIsMarkedAndOnlyToSomethingElse) {
  const std::string chip = read(root_ / "h100-sxm.toml");
  const auto with_queue = [&](int value) {
    return chip + "queue = { value = " + std::to_string(value) +
           ", unit = \"request\", kind = \"assumed\", range = [1, 999], source = \"x\" }\n";
  };
  write("h100-sxm.toml", chip +
                             "\n[sm]\ngpcs = { value = 7, unit = \"GPC\", kind = \"documented\", source = "
                             "\"docs/sources.md:WPH\" }\n");
  EXPECT_NE(error().find("sm.gpcs: set already at configs/shared/gh100.toml:"), std::string::npos) << error();
  write("h100-sxm.toml", with_queue(64));  // the chip's last section is [dram]
  EXPECT_NE(error().find("dram.queue: says the same as configs/shared/common.toml:"), std::string::npos)
      << error();
  write("h100-sxm.toml", with_queue(65));
  EXPECT_EQ(error(), "");
  EXPECT_EQ(load_gpu("h100", {}, {}, root_).spec.dram.queue, 65u);
}

TEST_F(EditedConfigs, AKeyThatNothingReadsIsRefused) {
  replace("shared/gh100.toml", "[pipe]",
          "[pipe]\nfp16.interval = { value = 1, unit = \"cycle\", kind = \"measured\", source = \"x\" }");
  EXPECT_NE(error().find("pipe.fp16.interval: the key does nothing here"), std::string::npos) << error();
}

TEST_F(EditedConfigs, TheOpcodeTableIsCheckedToo) {
  replace("isa/sm_90.toml", "pipes = [\"xu\"]", "pipes = [\"sfu\"]");
  EXPECT_NE(error().find("opcodes.xu: unknown pipe \"sfu\""), std::string::npos) << error();
  replace("isa/sm_90.toml", "pipes = [\"sfu\"]", "pipes = [\"xu\"]");
  replace("isa/sm_90.toml", "\"MUFU\",", "\"MUFU\", \"IADD3\",");
  EXPECT_NE(error().find("IADD3 stands in opcodes."), std::string::npos) << error();
}

TEST_F(EditedConfigs, InheritanceThatGoesAstrayIsNamed) {
  replace("h100-sxm.toml", "shared/gh100.toml", "shared/gh101.toml");
  EXPECT_EQ(error(),
            "configs/h100-sxm.toml: inherits \"shared/gh101.toml\": no such file beside it or in configs");
  replace("h100-sxm.toml", "shared/gh101.toml", "h100-sxm.toml");
  EXPECT_EQ(error(), "configs/h100-sxm.toml: inherits itself");
}

TEST_F(EditedConfigs, AFileOfOnesOwnLoadsByItsPath) {
  fs::copy_file(root_ / "h100-sxm.toml", root_ / "mine.toml");
  EXPECT_EQ(load_gpu((root_ / "mine.toml").string(), {}, {}, root_).spec.name, "mine");
  EXPECT_THROW(load_gpu("nowhere.toml", {}, {}, root_), InputError);
}

TEST(Description, ListsChipsAndSources) {
  const std::string list = describe_chips(kConfigs);
  for (const std::string& chip : chip_names(kConfigs)) EXPECT_NE(list.find(chip), std::string::npos);
  const Loaded loaded = load_gpu("h100", {{"sm.count", "100"}}, {}, kConfigs);
  const std::string plain = describe_chip(loaded, false);
  EXPECT_NE(plain.find("(set)"), std::string::npos);
  EXPECT_EQ(plain.find("docs/sources.md"), std::string::npos);
  const std::string sources = describe_chip(loaded, true);
  EXPECT_NE(sources.find("= l2.slices * 655360"), std::string::npos);
  EXPECT_NE(sources.find("(configs/shared/gh100.toml:"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::config
