// Every operation of validate/vectors gives in the emulator what an H100 answered, bit for bit, from the machine code of each
// architecture. What does not is named here, with how far it may be off: a list that may only become shorter.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "model/units/error.h"
#include "sim/emulate/fault.h"
#include "tests/vectors/run_vectors.h"

namespace foretrace::vectors {
namespace {

const std::string kFolder = FORETRACE_BINARY_DIR "/vectors/";

std::vector<std::uint32_t> device_answers() {
  std::ifstream in(kFolder + "answers.bin", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Operations that were added when the H100 was gone: their answers are 0.
bool is_unasked(const VectorKernel& kernel, const Operation& operation) {
  return has(kernel.name, "_oob") && has(operation.name, "7fff");
}

/// Floating-point tensor arithmetic of the chips that were not asked: sm_80 sums in other pieces, sm_120 multiplies eight-bit floats
/// as they are where sm_90 widens them.
bool is_unchecked(const std::string& sm, const VectorKernel& kernel) {
  if (sm == "80")
    return kernel.name == "mma_sparse" ||
           (kernel.name.starts_with("mma_") && (has(kernel.name, "f16") || has(kernel.name, "tf32")));
  return sm == "120" && kernel.name == "mma_e4m3";
}

/// Last places that an answer may be off: only tanh, whose table is not known.
std::uint32_t tolerance(const Operation& operation) {
  if (!has(operation.name, "tanh")) return 0;
  return operation.name == "tanh.approx.f32" ? 128 : 1;
}

/// The distance of two answers in last places; halves are compared one by one.
std::uint32_t distance(std::uint32_t a, std::uint32_t b, bool single) {
  const auto apart = [](std::uint32_t x, std::uint32_t y) { return x > y ? x - y : y - x; };
  if (single) return apart(a, b);
  return std::max(apart(a & 0xffff, b & 0xffff), apart(a >> 16, b >> 16));
}

class Vectors : public testing::TestWithParam<const char*> {};

TEST_P(Vectors, AgreeWithTheH100) {
  const std::string sm = GetParam();
  const std::vector<std::uint32_t> answers = device_answers();
  std::map<std::string, std::map<std::string, frontend::LoadedKernel>> cubins;
  std::size_t at = 0;
  int compared = 0;
  for (const VectorKernel& kernel : read_table(kFolder + "vectors.txt")) {
    const std::size_t words = std::size_t{kernel.words} * kernel.tuples;
    ASSERT_LE(at + words, answers.size()) << "the answers are those of another table";
    const std::uint32_t* expected = answers.data() + at;
    at += words;
    auto& cubin = cubins[kernel.file];
    if (cubin.empty()) cubin = load_cubin(kFolder + kernel.file + ".sm_" + sm + ".cubin");
    const auto found = cubin.find(kernel.name);
    if (found == cubin.end()) {
      for (const Operation& operation : kernel.operations) {
        EXPECT_FALSE(operation.on(sm)) << kernel.name << " is not in the cubin";
      }
      continue;
    }
    const std::vector<std::uint32_t> got = run_kernel(found->second, kernel);
    if (is_unchecked(sm, kernel)) continue;
    for (const Operation& operation : kernel.operations) {
      if (!operation.on(sm) || !operation.on("90") || is_unasked(kernel, operation)) continue;
      ++compared;
      const bool single = !has(operation.name, "16");
      const std::uint32_t allowed = tolerance(operation);
      std::uint32_t wrong = 0;
      for (std::size_t i = std::size_t{operation.first} * kernel.tuples;
           i < std::size_t{operation.first + operation.words} * kernel.tuples; ++i) {
        if (got[i] == expected[i] || distance(got[i], expected[i], single) <= allowed) continue;
        if (wrong++ == 0) {
          ADD_FAILURE() << kernel.name << ": " << operation.name << ": tuple " << i % kernel.tuples
                        << " word " << i / kernel.tuples - operation.first << std::hex << ": 0x" << got[i]
                        << ", the H100 answered 0x" << expected[i];
        }
      }
    }
  }
  EXPECT_EQ(at, answers.size()) << "the answers are those of another table";
  EXPECT_GT(compared, 1700);
  std::printf("sm_%s: %d operations compared\n", sm.c_str(), compared);
}

INSTANTIATE_TEST_SUITE_P(EachArchitecture, Vectors, testing::Values("80", "90", "120"),
                         [](const auto& parameter) { return std::string("sm_") + parameter.param; });

/// Lines `FUNCTION FIRST STEP COUNT HASH` of what the H100 answered; # starts a comment.
std::map<std::string, std::uint64_t> device_sweeps() {
  std::ifstream in(FORETRACE_SOURCE_DIR "/validate/vectors/sweeps_h100.txt");
  std::map<std::string, std::uint64_t> hashes;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string function, first, step, count, hash;
    if (words >> function >> first >> step >> count >> hash && function != "#") {
      hashes[function + " " + first] = std::stoull(hash, nullptr, 16);
    }
  }
  return hashes;
}

TEST(SpecialFunctions, AreTheH100sToTheLastBit) {
  const std::map<std::string, std::uint64_t> hashes = device_sweeps();
  int compared = 0;
  std::set<std::string> functions;
  for (const Sweep& sweep : kSweeps) {
    const std::string function = sweep.function;
    if (function.starts_with("tanh")) continue;
    char first[16];
    std::snprintf(first, sizeof first, " %08x", sweep.first);
    const auto expected = hashes.find(function + first);
    ASSERT_NE(expected, hashes.end()) << function << first;
    const auto cubin = load_cubin(kFolder + "special_" + function + ".sm_90.cubin");
    EXPECT_EQ(hash_of(run_sweep(cubin.at("special"), sweep)), expected->second)
        << function << " from" << first;
    ++compared;
    functions.insert(function);
  }
  EXPECT_EQ(functions.size(), 11u);
  EXPECT_GE(compared, 30);
}

}  // namespace
}  // namespace foretrace::vectors
