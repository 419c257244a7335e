// What is no JSON, missing or of another type is named in one line: file, place and what was expected.
#include "sim/report/json_reader.h"

#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/units/error.h"

namespace foretrace::report {
namespace {

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) { return error.what(); }
  return {};
}

std::string parse_refusal(std::string_view text) {
  return refusal([&] { parse_json(text, "a.json", "a list of chips"); });
}

TEST(ParseJson, SaysWhereTheTextStopsToBeJson) {
  EXPECT_EQ(parse_refusal(R"({"a": 1})"), "");
  EXPECT_EQ(parse_refusal(""), "a.json: line 1, column 1: this is not JSON; expected a list of chips");
  EXPECT_EQ(parse_refusal("{\n  \"a\": 1,\n  b\n}"),
            "a.json: line 3, column 3: this is not JSON; expected a list of chips");
  EXPECT_EQ(parse_refusal("[1, 2"), "a.json: line 1, column 6: this is not JSON; expected a list of chips");
  EXPECT_EQ(parse_refusal("[1e999]"), "a.json: a number is too large for a double; expected a list of chips");
}

TEST(JsonReader, NamesThePlaceAndWhatIsExpectedThere) {
  const Json json = Json::parse(
      R"({"schema": 2, "t": 1, "n": "x", "w": -1, "f": 0, "a": {}, "o": [], "rows": [{"n": 1}, 2],
          "texts": ["a", 1], "numbers": [1, null, "2"], "two": [1, 2], "large": [1, 1, 4294967296], "m": {"x": []}, "sizes": {"e": 1e30, "p": 2e30, "n": -1e308}, "each": [1, 2e30],
          "newline\n": 0})");
  const JsonSource source{"a.json", "the manual has it"};
  const JsonReader from(json, source);
  const auto expect = [&](auto&& read, const std::string& rest) {
    EXPECT_EQ(refusal([&] { read(); }), "a.json: " + rest);
  };
  const std::string as = ", as the manual has it";
  expect([&] { (void)from.text("missing"); }, "missing: expected this key" + as);
  expect([&] { (void)from.text("t"); }, "t: expected a string" + as);
  expect([&] { (void)from.text_or_null("t"); }, "t: expected a string" + as);
  expect([&] { (void)from.text_if_there("t", ""); }, "t: expected a string" + as);
  expect([&] { (void)from.number("n"); }, "n: expected a number" + as);
  expect([&] { (void)from.number_or_null("n"); }, "n: expected a number" + as);
  expect([&] { (void)from.number_if_there("n"); }, "n: expected a number" + as);
  const JsonReader sizes = from.object("sizes");
  EXPECT_EQ(sizes.number("e"), 1e30);
  for (const char* name : {"p", "n"})
    expect([&] { (void)sizes.number(name); },
           fmt::format("sizes.{}: expected numbers of at most 1e+30", name) + as);
  expect([&] { (void)from.numbers("each"); }, "each: expected numbers of at most 1e+30" + as);
  expect([&] { (void)from.metrics("sizes"); }, "sizes.p: expected numbers of at most 1e+30" + as);
  expect([&] { (void)from.whole("w"); }, "w: expected a whole number" + as);
  expect([&] { (void)from.flag("f"); }, "f: expected true or false" + as);
  expect([&] { (void)from.array("a"); }, "a: expected an array" + as);
  expect([&] { (void)from.object("o"); }, "o: expected an object" + as);
  expect([&] { (void)from.objects("rows"); }, "rows[1]: expected an object" + as);
  expect([&] { (void)from.texts("texts"); }, "texts: expected an array of strings" + as);
  expect([&] { (void)from.numbers("numbers"); }, "numbers: expected an array of numbers" + as);
  expect([&] { (void)from.dimensions("two"); }, "two: expected three numbers" + as);
  expect([&] { (void)from.dimensions("large"); }, "large: expected numbers below 2^32" + as);
  expect([&] { (void)from.metrics("m"); }, "m.x: expected a number or null" + as);
  expect([&] { (void)from.object("m").object("x"); }, "m.x: expected an object" + as);
  expect([&] { (void)from.text("newline\n"); }, "newline : expected a string" + as);
  expect([&] { from.expect_schema(1); }, "schema 2; expected 1");
  expect([&] { JsonReader(json.at("o"), source); }, "document: expected an object" + as);
}

TEST(JsonReader, ReadsWhatIsThere) {
  const Json json = Json::parse(R"({"schema": 2, "t": "x", "n": 0.5, "w": 3, "f": true, "none": null,
      "rows": [{"n": 1}, {"n": 2}], "numbers": [1, null], "three": [1, 2, 3]})");
  const JsonSource source{"a.json", "the manual has it"};
  const JsonReader from(json, source);
  from.expect_schema(2);
  EXPECT_EQ(from.text("t"), "x");
  EXPECT_EQ(from.text_or_null("none"), "");
  EXPECT_EQ(from.text_if_there("missing", "y"), "y");
  EXPECT_EQ(from.number("n"), 0.5);
  EXPECT_FALSE(from.number_or_null("none").has_value());
  EXPECT_FALSE(from.number_if_there("missing").has_value());
  EXPECT_EQ(from.whole("w"), 3u);
  EXPECT_TRUE(from.flag("f"));
  EXPECT_EQ(from.objects("rows").at(1).number("n"), 2);
  EXPECT_EQ(from.numbers("numbers"), (std::vector<Value>{1.0, std::nullopt}));
  EXPECT_EQ(from.dimensions("three").z, 3u);
  EXPECT_EQ(from.members().size(), 9u);
}

}  // namespace
}  // namespace foretrace::report
