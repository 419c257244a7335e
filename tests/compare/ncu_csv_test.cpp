// The CSV of `ncu --csv --page raw`: what is read, and what is refused by line and column.
#include "sim/compare/ncu_csv.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/units/error.h"

namespace foretrace::compare {
namespace {

const std::string kLaunch =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC")";
const std::string kNoUnits = R"("","","","","","","","","","","")";
const std::string kRow =
    R"csv("0","17","app","127.0.0.1","void scale<4>(float *, int)","1","7","(16, 16, 1)","(20, 2, 1)","0","9.0")csv";

/// A file of one launch with these further columns; each argument begins with a comma or is empty.
std::string file(const std::string& names, const std::string& units, const std::string& values) {
  return "==PROF== Connected to process 17 (app)\nhello, \"world\n" + kLaunch + names + "\n" + kNoUnits +
         units + "\n" + kRow + values + "\n==PROF== Disconnected from process 17\n";
}

std::string refusal(const std::string& text) {
  try {
    read_ncu_csv(text, "report.csv");
  } catch (const InputError& error) { return error.what(); }
  return {};
}

TEST(NcuCsv, ReadsALaunchBelowWhatTheProgramPrinted) {
  const auto launches = read_ncu_csv(file(R"(,"smsp__inst_executed.sum","launch__func_cache_config")",
                                          R"(,"inst","")", R"(,"1,234,567","CachePreferNone")"),
                                     "report.csv");
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].id, "0");
  EXPECT_EQ(launches[0].kernel, "void scale<4>(float *, int)");
  EXPECT_EQ(launches[0].grid, (Dim3{20, 2, 1}));
  EXPECT_EQ(launches[0].block, (Dim3{16, 16, 1}));
  EXPECT_EQ(launches[0].sm, 90);
  EXPECT_EQ(launches[0].metrics.get("smsp__inst_executed.sum"), 1234567.0);
  EXPECT_FALSE(launches[0].metrics.has("launch__func_cache_config"));  // a text, no metric
}

TEST(NcuCsv, BringsUnitsBackToTheirBase) {
  const auto launches = read_ncu_csv(
      file(
          R"(,"gpu__time_duration.sum","dram__bytes_read.sum","dram__bytes.sum.per_second","gpc__cycles_elapsed.avg.per_second")",
          R"(,"us","Mbyte","Gbyte/second","Ghz")", R"(,"48.06","134.23","2,790.5","1.98")"),
      "report.csv");
  const auto& metrics = launches.at(0).metrics;
  EXPECT_DOUBLE_EQ(metrics.get("gpu__time_duration.sum").value(), 48'060);
  EXPECT_DOUBLE_EQ(metrics.get("dram__bytes_read.sum").value(), 134'230'000);
  EXPECT_DOUBLE_EQ(metrics.get("dram__bytes.sum.per_second").value(), 2.7905e12);
  EXPECT_DOUBLE_EQ(metrics.get("gpc__cycles_elapsed.avg.per_second").value(), 1.98e9);
}

TEST(NcuCsv, RefusesLaunchColumnsThatAreNot) {
  const auto with = [](const std::string& good, const std::string& bad) {
    std::string text = file("", "", "");
    return text.replace(text.rfind(good), good.size(), bad);
  };
  EXPECT_EQ(refusal(with("(20, 2, 1)", "20 by 2")),
            "report.csv: line 5: column \"Grid Size\": expected (x, y, z)");
  EXPECT_EQ(refusal(with("(16, 16, 1)", "(16, 99999999999, 1)")),
            "report.csv: line 5: column \"Block Size\": expected (x, y, z)");
  for (const std::string no : {"Hopper", "1e300", "-9.0", "0"}) {
    EXPECT_EQ(refusal(with("9.0", no)),
              "report.csv: line 5: column \"CC\": expected a compute capability such as 9.0");
  }
}

TEST(NcuCsv, RefusesARowOfUnitsThatIsTooShort) {
  EXPECT_EQ(refusal("\"Metric\"\n" + kLaunch + "\n\"\"\n" + kRow + "\n"),
            "report.csv: line 3: 1 units for 11 columns");
}

TEST(NcuCsv, UnitFactors) {
  std::string base;
  EXPECT_DOUBLE_EQ(unit_factor("", base), 1);
  EXPECT_EQ(base, "");
  EXPECT_DOUBLE_EQ(unit_factor("msecond", base), 1e6);
  EXPECT_EQ(base, "ns");
  EXPECT_DOUBLE_EQ(unit_factor("Kbyte/block", base), 1e3);
  EXPECT_EQ(base, "byte/block");
  EXPECT_DOUBLE_EQ(unit_factor("byte/us", base), 1e6);
  EXPECT_EQ(base, "byte/second");
  EXPECT_DOUBLE_EQ(unit_factor("cycle/nsecond", base), 1e9);
  EXPECT_EQ(base, "hz");
  EXPECT_DOUBLE_EQ(unit_factor("register/thread", base), 1);
  EXPECT_EQ(base, "register/thread");
}

TEST(NcuCsv, NotAvailableIsNoValueAndNoZero) {
  const auto launches =
      read_ncu_csv(file(R"(,"l1tex__t_sector_hit_rate.pct")", R"(,"%")", R"(,"n/a")"), "report.csv");
  EXPECT_TRUE(launches.at(0).metrics.has("l1tex__t_sector_hit_rate.pct"));
  EXPECT_FALSE(launches.at(0).metrics.get("l1tex__t_sector_hit_rate.pct").has_value());
}

TEST(NcuCsv, QuotedCellsHoldCommasAndQuotes) {
  std::string text = file("", "", "");
  const std::string name = "void scale<4>(float *, int)";
  text.replace(text.find(name), name.size(), R"csv(scale<""a"", 4>(float *))csv");
  EXPECT_EQ(read_ncu_csv(text, "report.csv").at(0).kernel, R"csv(scale<"a", 4>(float *))csv");
}

TEST(NcuCsv, RefusesByLineAndColumn) {
  EXPECT_EQ(refusal(file("", "", "")), "");
  EXPECT_NE(refusal("==ERROR== no kernels were profiled\n").find("report.csv: no line begins with \"ID\""),
            std::string::npos);
  EXPECT_NE(refusal(kLaunch + R"(,"Section Name","Metric Name","Metric Unit","Metric Value")" + "\n")
                .find("--page details"),
            std::string::npos);
  EXPECT_NE(refusal(kLaunch + "\n" + kRow + "\n").find("the row of units is missing"), std::string::npos);
  EXPECT_NE(refusal(kLaunch + "\n" + kNoUnits + "\n").find("no launch below the header"), std::string::npos);
  EXPECT_NE(refusal(file(R"(,"smsp__inst_executed.sum")", R"(,"inst")", ""))
                .find("line 5: 11 cells for 12 columns"),
            std::string::npos);
  // A decimal comma would be read as another number: 1.234,5 and 65,77 are refused.
  for (const char* value : {"1.234,5", "65,77", "1,2345", "12,34,567"}) {
    EXPECT_NE(refusal(file(R"(,"smsp__inst_executed.sum")", R"(,"inst")", fmt::format(R"(,"{}")", value)))
                  .find("is no number"),
              std::string::npos)
        << value;
  }
  const std::string broken = refusal(file(R"(,"smsp__inst_executed.sum")", R"(,"inst")", ",\"1\n2\""));
  EXPECT_NE(broken.find("\"1 2\" is no number"), std::string::npos) << broken;  // still one line
  EXPECT_NE(refusal(file(R"(,"gpu__time_duration.sum")", R"(,"cycle")", R"(,"12")"))
                .find("expected a multiple of \"ns\""),
            std::string::npos);
  EXPECT_NE(refusal(kLaunch + "\n" + kNoUnits + "\n\"0\",\"17").find("does not end"), std::string::npos);
}

TEST(NcuCsv, KernelNamesInOneSpelling) {
  EXPECT_EQ(plain_kernel_name("void scale<4>(float *, int)"), "scale<4>");
  EXPECT_EQ(plain_kernel_name("void scale<(int)4, (bool)1>(float *)"), "scale<4,1>");
  EXPECT_EQ(plain_kernel_name("scale<4u, true>"), "scale<4,1>");
  EXPECT_EQ(plain_kernel_name("empty()"), "empty");
  EXPECT_EQ(plain_kernel_name("(anonymous namespace)::k(float (*)[4])"), "(anonymous namespace)::k");
  EXPECT_EQ(plain_kernel_name("sort<unsigned int>(unsigned int *)"), "sort<unsignedint>");
  EXPECT_EQ(base_kernel_name("void scale<(int)4>(float *)"), "scale");
}

}  // namespace
}  // namespace foretrace::compare
