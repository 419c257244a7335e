// What foretrace run hands to the library arrives as it was sent.
#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/runtime/settings.h"

namespace foretrace::runtime {
namespace {

TEST(Settings, ArriveAsTheyWereSent) {
  Settings sent;
  sent.arch = "gb203";
  sent.set = {"sm.count=10", "l1.latency=33"};
  sent.launches = {{0, 11}, {20, 20}};
  sent.functional = true;
  sent.cold = true;
  sent.host = "none";
  sent.host_time = 0.5;
  sent.link = "pcie5";
  sent.json = "a \"quoted\" name.json";
  sent.max_instructions = 1ull << 40;
  sent.command = {"foretrace", "run", "--", "./a b"};
  const Settings got = settings_from_json(to_json(sent));
  EXPECT_EQ(got.arch, sent.arch);
  EXPECT_EQ(got.set, sent.set);
  EXPECT_EQ(got.launches, sent.launches);
  EXPECT_TRUE(got.functional);
  EXPECT_TRUE(got.cold);
  EXPECT_EQ(got.host, sent.host);
  EXPECT_EQ(got.host_time, sent.host_time);
  EXPECT_EQ(got.link, sent.link);
  EXPECT_FALSE(got.quiet);
  EXPECT_EQ(got.json, sent.json);
  EXPECT_EQ(got.max_instructions, sent.max_instructions);
  EXPECT_EQ(got.command, sent.command);
  EXPECT_EQ(to_json(got), to_json(sent));
}

TEST(Settings, WhatIsNoSettingsIsRefused) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      settings_from_json(text);
    } catch (const InputError& error) { return error.what(); }
    return {};
  };
  const std::string name = kSettingsVariable,
                    expected = "; expected what this version's 'foretrace run' puts there";
  EXPECT_EQ(refusal("{"), name + ": no JSON object" + expected);
  EXPECT_EQ(refusal("[]"), name + ": no JSON object" + expected);
  std::string some = to_json(Settings{});
  const std::string key = "\"arch\":\"";
  some.replace(some.find(key), key.size(), "\"ARCH\":\"");
  EXPECT_EQ(refusal(some), name + ": key 'arch' is missing" + expected);
  EXPECT_EQ(refusal("{\"arch\": 1}"), name + ": key 'arch' is of another type" + expected);
}

TEST(HostTime, NoneMeasuredOrScaled) {
  EXPECT_EQ(parse_host_time("none"), 0);
  EXPECT_EQ(parse_host_time("measured"), 1);
  EXPECT_EQ(parse_host_time("scale=0.25"), 0.25);
  for (const char* wrong : {"", "some", "scale=", "scale=-1", "scale=1x", "scale=inf", "0.5"})
    EXPECT_THROW(parse_host_time(wrong), InputError) << wrong;
}

TEST(Launches, NumbersAndRanges) {
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(parse_launches("3"), (Ranges{{3, 3}}));
  EXPECT_EQ(parse_launches("0-11,20,5-5"), (Ranges{{0, 11}, {20, 20}, {5, 5}}));
  for (const char* wrong : {"", "a", "3-", "-3", "5-4", "1,", "1,,2", "1 2"}) {
    EXPECT_THROW(parse_launches(wrong), InputError) << wrong;
  }
}

}  // namespace
}  // namespace foretrace::runtime
