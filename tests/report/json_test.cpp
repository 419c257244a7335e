// The result document: same bytes for the same result, back and forth, and refused where it is damaged.
#include "sim/report/json.h"

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/report/json_text.h"
#include "tests/report/sample.h"

namespace foretrace::report {
namespace {

using testing::sample_document;

/// The InputError of reading this text; empty when it is accepted.
std::string refusal(const std::string& text) {
  try {
    from_json(text, "result.json");
  } catch (const InputError& error) { return error.what(); }
  return {};
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), by);
}

TEST(Json, WritesTheDocumentThatTheSchemaTestReads) {
  const std::filesystem::path folder = std::filesystem::path(FORETRACE_BINARY_DIR) / "documents";
  std::filesystem::create_directories(folder);
  Document document = sample_document({"sample", "other"});
  document.predictions[1].toolkit.clear();  // what may be null is null in one of them
  document.predictions[1].occupancy_next_step.clear();
  document.predictions[1].overrides = {"sm.count=144"};
  document.predictions[1].launch = "sample_small";
  write_file(folder / "report_sample.json", to_json(document));
  EXPECT_EQ(read_file(folder / "report_sample.json"), to_json(document));
  EXPECT_FALSE(std::filesystem::exists(folder / "report_sample.json.partial"));
}

TEST(Json, LaidOutAsATreeOfTheSameMembersWouldBe) {
  Document document = sample_document({"a", "b"});
  LaunchResult& second = document.predictions[1];
  second.kernel = "quoted \"kernel\"\\ \t\n\x7f";
  second.metrics = {};  // few members stand on one line
  second.metrics.set("one", 0.1);
  second.metrics.set("two", std::nullopt);
  second.place.number = 1;
  second.place.beside = LaunchBeside{"simulation", 1.25, {3, 11}};
  second.gains = {{"ideal.l2", "without L2", 12.5}};
  second.over_time = {{"end", {1, 20, 18446744073709551615u}}, {"none", {}}};
  second.instructions[0].inlined = {{"a.cu", 3}, {"b.cu", 4}};
  second.instructions[1].inlined = {{"a.cu", 3}};
  second.instructions[2].inlined = second.instructions[0].inlined;
  LaunchResult empty = document.predictions[0];
  empty.metrics = {};
  empty.instructions.clear();
  for (const double value :
       {1e300, 1e-7, -2.5e20, 9007199254740993.0, -0.0, 1.0 / 3, 5e-324, 1e16, 123456.789})
    empty.metrics.set(fmt::format("{}", value), value);
  document.predictions.push_back(empty);
  ProgramResult program;
  program.represented.resize(2);
  for (const std::string& text : {to_json(document), to_json(document, &program), to_json({}, &program)})
    EXPECT_EQ(with_gains(text, document, {}), text);  // reads it and lays it out
}

TEST(Json, SameResultSameBytes) {
  EXPECT_EQ(to_json(sample_document({"a", "b"})), to_json(sample_document({"a", "b"})));
}

TEST(Json, ReadingGivesBackWhatWasWritten) {
  const Document document = sample_document({"a", "b"});
  const std::string text = to_json(document);
  const Document read = from_json(text, "result.json");
  EXPECT_EQ(to_json(read), text);
  ASSERT_EQ(read.predictions.size(), 2u);
  EXPECT_EQ(read.predictions[1].arch, "b");
  EXPECT_EQ(read.predictions[0].limiter.sentence, document.predictions[0].limiter.sentence);
  EXPECT_EQ(read.predictions[0].instructions[1].stall_cycles(), 28'000u);
  EXPECT_EQ(read.predictions[0].instructions[2].line, 0u);
}

TEST(Json, NumbersAreWholeShortestOrNull) {
  EXPECT_EQ(json_number(40.0).dump(), "40");
  EXPECT_EQ(json_number(0.1).dump(), "0.1");
  EXPECT_EQ(json_number(std::nullopt).dump(), "null");
  EXPECT_EQ(json_number(9007199254740991.0).dump(), "9007199254740991");
  EXPECT_EQ(json_number(4.0 / 3).get<double>(), 4.0 / 3);
}

TEST(Json, NullMetricsStayNull) {
  const Document read = from_json(to_json(sample_document({"a"})), "result.json");
  const auto& metrics = read.predictions[0].metrics;
  EXPECT_TRUE(metrics.has("foretrace__pipe_fp16.pct"));
  EXPECT_FALSE(metrics.get("foretrace__pipe_fp16.pct").has_value());
  EXPECT_EQ(metrics.get("foretrace__pipe_fp16.pct", -1), -1);
}

TEST(Json, BytesThatAreNoUtf8AreReplacedNotFatal) {
  Document document = sample_document({"a"});
  document.predictions[0].instructions[0].file = "caf\xe9.cu";
  EXPECT_NE(to_json(document).find("caf\xef\xbf\xbd.cu"), std::string::npos);
}

TEST(Json, DamageIsNamedInOneLine) {
  const std::string good = to_json(sample_document({"a"}));
  ASSERT_EQ(refusal(good), "");
  EXPECT_EQ(refusal(good.substr(0, good.size() / 2)).find("result.json: line "), 0u);
  EXPECT_NE(refusal("{\"benchmarks\": []}").find("no result document"), std::string::npos);
  EXPECT_NE(refusal("[1, 2]").find("no result document"), std::string::npos);
  EXPECT_NE(
      refusal(replaced(good, "\"schema\": 2", "\"schema\": 3")).find("schema: found 3, expected 2 or 1"),
      std::string::npos);
  EXPECT_NE(refusal(replaced(good, "\"mangled\"", "\"mangeld\"")).find("predictions[0].mangled"),
            std::string::npos);
  EXPECT_NE(refusal(replaced(good, "\"grid\": [20,2,1]", "\"grid\": [20,2]"))
                .find("predictions[0].grid: expected three numbers"),
            std::string::npos);
  EXPECT_NE(refusal(replaced(good, "\"executed\":8000", "\"executed\":-8000"))
                .find("predictions[0].instructions[0].executed"),
            std::string::npos);
  EXPECT_NE(
      refusal(replaced(good, "\"dram__bytes_read.sum\": 960000", "\"dram__bytes_read.sum\": \"960000\""))
          .find("predictions[0].metrics.dram__bytes_read.sum: expected a number or null"),
      std::string::npos);
  EXPECT_EQ(refusal(good.substr(0, 100)).find('\n'), std::string::npos);
}

TEST(Json, DocumentsOfSchemaOneAreReadAndUnknownKeysPassedOver) {
  const std::string now = to_json(sample_document({"a"}));
  const std::string before = replaced(now, "\"schema\": 2", "\"schema\": 1");
  EXPECT_EQ(to_json(from_json(before, "result.json")), now);
  const std::string later = replaced(now, "\"warm\"", "\"since_later\": [1], \"warm\"");
  EXPECT_EQ(to_json(from_json(later, "result.json")), now);
}

TEST(Json, PlaceOfALaunchInItsProgram) {
  Document document = sample_document({"a"});
  const std::string alone = to_json(document);
  for (const char* key :
       {"simulated", "device", "stream", "start_ns", "end_ns", "operator", "operator_note"}) {
    EXPECT_EQ(alone.find(fmt::format("\n   \"{}\"", key)), std::string::npos) << key;
  }
  document.predictions[0].place = {
      "represented", 12, 1, 7, 1500.5, 2750, LaunchBeside{"simulation", 1.25, {3, 11}}, "aten::addmm",
      "not cuBLAS's"};
  const LaunchPlace read = from_json(to_json(document), "result.json").predictions[0].place;
  EXPECT_EQ(read.simulated, "represented");
  EXPECT_EQ(read.device, 1u);
  EXPECT_EQ(read.stream, 7u);
  EXPECT_EQ(read.start_ns, 1500.5);
  EXPECT_EQ(read.end_ns, 2750);
  ASSERT_TRUE(read.beside);
  EXPECT_EQ(read.beside->by, "simulation");
  EXPECT_EQ(read.beside->slowed, 1.25);
  EXPECT_EQ(read.beside->with, (std::vector<std::uint64_t>{3, 11}));
  EXPECT_EQ(read.operation, "aten::addmm");
  EXPECT_EQ(read.operation_note, "not cuBLAS's");
  const std::string wrong = replaced(to_json(document), "\"represented\"", "\"guessed\"");
  EXPECT_NE(refusal(wrong).find("predictions[0].simulated: expected simulated, represented or functional"),
            std::string::npos);
}

TEST(Json, FilesThatCannotBeAreNamed) {
  EXPECT_THROW(read_file("no/such/file.json"), InputError);
  EXPECT_THROW(read_file(FORETRACE_BINARY_DIR), InputError);
  EXPECT_THROW(write_file("no/such/folder/file.json", "{}"), InputError);
}

}  // namespace
}  // namespace foretrace::report
