// One kernel has many spellings.
#include "sim/frontend/names.h"

#include <gtest/gtest.h>

#include "model/units/error.h"
#include "tests/frontend/corpus.h"

namespace foretrace::frontend {
namespace {

const std::vector<std::string> kSymbols = {
    "_Z14transpose_tileILi33EEvPfPKfi",  // void transpose_tile<33>(float*, float const*, int)
    "_Z14transpose_tileILi32EEvPfPKfi",  // void transpose_tile<32>(float*, float const*, int)
    "_ZN4scan6totalsEPiPKi",             // scan::totals(int*, int const*)
    "_Z9templatedIjLj16ELb1EEvPT_",      // void templated<unsigned int, 16u, true>(unsigned int*)
    "_Z4copyPfPKf",                      // copy(float*, float const*)
    "_Z4copyPdPKd",                      // copy(double*, double const*)
    "plain_c"};

std::size_t only(const std::string& wanted) {
  const auto found = match_kernels(kSymbols, wanted, false, "k.cu");
  EXPECT_EQ(found.size(), 1u);
  return found.front();
}
std::string error_for(const std::string& wanted, bool regex = false) {
  return message_of<InputError>([&] { match_kernels(kSymbols, wanted, regex, "k.cu"); });
}

TEST(SourceName, DropsReturnTypeParametersAndCasts) {
  EXPECT_EQ(source_name(kSymbols[0]), "transpose_tile<33>");
  EXPECT_EQ(source_name(kSymbols[2]), "scan::totals");
  EXPECT_EQ(source_name(kSymbols[3]), "templated<unsigned int,16,true>");
  EXPECT_EQ(source_name("plain_c"), "plain_c");
  EXPECT_EQ(source_name("_ZN12_GLOBAL__N_16hiddenILi3EEEvPi"), "(anonymous namespace)::hidden<3>");
}

/// cutlass::device_kernel of a type of more characters than the runtime's demangler takes.
std::string long_instance(const std::string& type) {
  std::string tuple = "N4cute5tupleIJ";
  for (int i = 0; i < 300; ++i) tuple += type;
  return "_ZN7cutlass13device_kernelI" + tuple + "EEEEvPf";
}

TEST(SourceName, OfALongInstanceIsItsBeginningAndANumber) {
  const std::string floats = long_instance("Lf3f800000E"), ints = long_instance("Li1234567E");
  const std::string name = source_name(floats);
  EXPECT_EQ(name.substr(0, 26), "cutlass::device_kernel<...");
  EXPECT_EQ(name.size(), 26u + 9);
  EXPECT_NE(source_name(ints), name) << "another instance";
  EXPECT_EQ(source_name(floats), name) << "in every run";
  EXPECT_EQ(match_kernels({floats, ints}, name, false, "k.cu"), (std::vector<std::size_t>{0}));
  EXPECT_EQ(match_kernels({floats, "plain"}, "device_kernel", false, "k.cu"), (std::vector<std::size_t>{0}));
  const std::string hidden(1100, 'x');
  EXPECT_EQ(source_name("_ZN12_GLOBAL__N_11100" + hidden + "EPf"), "(anonymous namespace)::" + hidden);
}

TEST(SourceName, WhatIsNoNameStaysAsItIs) {
  for (const char* name :
       {"_Z", "_ZN", "_Z9short", "_Z99999999999999999999x", "_ZN0", "_ZTV4copy0", "plain_c", ""})
    EXPECT_EQ(source_name(name), name);
}

TEST(NormalisedName, BlanksCastsAndSuffixes) {
  EXPECT_EQ(normalised_name("transpose_tile< (int)33 >"), "transpose_tile<33>");
  EXPECT_EQ(normalised_name("templated<unsigned, 16u>"), "templated<unsigned int,16>");
  EXPECT_EQ(normalised_name("templated<unsigned  int , 16UL>"), "templated<unsigned int,16>");
  EXPECT_EQ(normalised_name("f<(unsigned char)3, (long)-4>"), "f<3,-4>");
  EXPECT_EQ(normalised_name("f<unsigned char>"), "f<unsigned char>");
}

TEST(MatchKernels, EverySpelling) {
  EXPECT_EQ(only("transpose_tile<33>"), 0u);
  EXPECT_EQ(only("transpose_tile<(int)32>"), 1u);
  EXPECT_EQ(only("transpose_tile< 33 >"), 0u);
  EXPECT_EQ(only("_Z14transpose_tileILi32EEvPfPKfi"), 1u);
  EXPECT_EQ(only("void transpose_tile<33>(float*, float const*, int)"), 0u);
  EXPECT_EQ(only("scan::totals"), 2u);
  EXPECT_EQ(only("totals"), 2u) << "unique without its namespace";
  EXPECT_EQ(only("templated"), 3u) << "unique without its arguments";
  EXPECT_EQ(only("templated<unsigned>"), 3u) << "the other arguments have defaults";
  EXPECT_EQ(only("copy(double*, double const*)"), 5u);
  EXPECT_EQ(only("plain_c"), 6u);
}

TEST(MatchKernels, AmbiguityListsTheCandidates) {
  EXPECT_EQ(error_for("transpose_tile"),
            "k.cu: 'transpose_tile' may be transpose_tile<33> or transpose_tile<32>: give one of them");
  EXPECT_EQ(
      error_for("copy"),
      "k.cu: 'copy' may be copy(float*, float const*) or copy(double*, double const*): give one of them");
}

TEST(MatchKernels, AbsenceListsWhatThereIs) {
  EXPECT_EQ(error_for("transpose_tile<3>")
                .rfind("k.cu: no kernel 'transpose_tile<3>'; it has transpose_tile<33>, ", 0),
            0u);
  EXPECT_NE(message_of<InputError>([] { match_kernels({}, "x", false, "k.cu"); }).find("holds no kernel"),
            std::string::npos);
}

TEST(MatchKernels, Patterns) {
  EXPECT_EQ(match_kernels(kSymbols, "^transpose", true, "k.cu"), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(match_kernels(kSymbols, "total|plain", true, "k.cu"), (std::vector<std::size_t>{2, 6}));
  EXPECT_NE(error_for("^nothing$", true).find("no kernel matches"), std::string::npos);
  EXPECT_NE(error_for("(", true).find("expected a regular expression"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::frontend
