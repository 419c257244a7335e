// The table of what sampling rests on.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "sim/sampling/constants.h"

namespace foretrace::sampling_tests {
namespace {

TEST(Constants, EachHasAUnitAMeaningASourceAndLiesInItsRange) {
  std::set<std::string> names;
  for (const sampling::Constant& constant : sampling::kConstants) {
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name << " twice";
    EXPECT_NE(std::string(constant.unit), "") << constant.name;
    EXPECT_NE(std::string(constant.meaning), "") << constant.name;
    EXPECT_LE(constant.low, constant.value) << constant.name;
    EXPECT_GE(constant.high, constant.value) << constant.name;
    const std::string source = constant.source;
    EXPECT_TRUE(source == "fit" || source == "bound" || source.starts_with("judgement") ||
                source.starts_with("the "))
        << constant.name << ": " << source;
  }
}

/// A number of which somebody could ask where it is from: of three digits or more, or with a fraction that is no half of something.
TEST(Constants, StandInTheTableAndNowhereElse) {
  const std::regex number(R"((^|[^\w.'])(\d[\d']{2,}|\d*\.\d+|\d+e\d+)(?![\w.']))");
  const std::set<std::string> everyones = {"0.0", "0.5", "1.0", "3.0", "100.0", "0.6180339887498949", "1e-3"};
  const std::regex bound(R"(constexpr [^=]*\bk[A-Z]\w*\s*=\s*\d)");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/sim/sampling")) {
    if (entry.path().extension() != ".cpp") continue;
    ++files;
    std::ifstream file(entry.path());
    bool table = false;  // of Student's distribution
    for (std::string line; std::getline(file, line);) {
      line = line.substr(0, line.find("//"));
      table = table || line.find("kTable[] =") != std::string::npos;
      const bool skip = table;
      table = table && line.find(';') == std::string::npos;
      if (skip) continue;
      EXPECT_FALSE(std::regex_search(line, bound)) << entry.path() << ": " << line;
      for (std::sregex_iterator it(line.begin(), line.end(), number), end; it != end; ++it)
        EXPECT_TRUE(everyones.contains((*it)[2])) << entry.path() << ": " << (*it)[2] << " in " << line;
    }
  }
  EXPECT_GE(files, 6);
}

}  // namespace
}  // namespace foretrace::sampling_tests
