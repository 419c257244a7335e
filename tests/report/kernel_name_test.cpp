// Names of templates, shortened for a line.
#include "sim/report/kernel_name.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/report/text.h"
#include "tests/report/sample.h"

namespace foretrace::report {
namespace {

TEST(KernelName, InnermostArgumentsGoFirst) {
  const std::string name = "scan::sweep<Policy<int, Tuning<4, 8>>, Pair<float, int>, (bool)1>";
  EXPECT_EQ(shortened_kernel(name, name.size()), name);
  EXPECT_EQ(shortened_kernel(name, name.size() - 1),
            "scan::sweep<Policy<int, Tuning<...>>, Pair<float, int>, (bool)1>");
  EXPECT_EQ(shortened_kernel(name, 60), "scan::sweep<Policy<...>, Pair<...>, (bool)1>");
  EXPECT_EQ(shortened_kernel(name, 40), "scan::sweep<...>");
}

TEST(KernelName, WhatHasNoMoreArgumentsIsCutInItsMiddle) {
  EXPECT_EQ(shortened_kernel("a_very_long_name_of_a_kernel", 13), "a_ver...ernel");
  EXPECT_EQ(shortened_kernel("a_very_long_name<int, 4>", 13), "a_ver...<...>");
  EXPECT_EQ(shortened_kernel("abcdef", 3), "abc");
  EXPECT_EQ(shortened_kernel("abcdef", 0), "");
}

TEST(KernelName, OperatorsAreNoBrackets) {
  EXPECT_EQ(shortened_kernel("box<&ns::operator< <int>, Of<Deep<1, 2>>>", 34),
            "box<&ns::operator< <...>, Of<...>>");
  EXPECT_EQ(shortened_kernel("x<&ns::operator->, Pair<int, float>>", 30), "x<&ns::operator->, Pair<...>>");
  EXPECT_EQ(shortened_kernel("x<&ns::operator>>, Pair<int, float>>", 30), "x<&ns::operator>>, Pair<...>>");
  // A comparison: its brackets are not in pairs, so nothing is known of levels.
  EXPECT_EQ(shortened_kernel("x<(4>3), Pair<int, float>>", 20).size(), 20);
}

TEST(KernelName, ALineFitsTheTerminal) {
  const std::string name = "scan::sweep<" + std::string(1'000, 'x') + ">";
  EXPECT_EQ(progress_line("foretrace: #7 ", "axpy", 3, 40, 80), "foretrace: #7 axpy: 3 of 40 blocks");
  EXPECT_EQ(progress_line("foretrace: #7 ", name, 3, 40, 80),
            "foretrace: #7 scan::sweep<...>: 3 of 40 blocks");
  for (std::size_t columns = 0; columns != 100; ++columns)
    EXPECT_LT(progress_line("foretrace: #7 ", name, 3, 40, columns).size(),
              std::max<std::size_t>(columns, 1));
}

TEST(KernelName, ATextShortensAndADocumentDoesNot) {
  Document document = testing::sample_document({"a100"});
  const std::string name = "sweep<" + std::string(1'000, 'x') + ">";
  for (LaunchResult& result : document.predictions) result.kernel = name;
  const std::string text = to_text(document);
  EXPECT_NE(text.find("sweep<...> ("), std::string::npos);
  EXPECT_EQ(text.find("xxx"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::report
