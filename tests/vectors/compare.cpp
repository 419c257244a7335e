// vectors_compare TABLE CUBINS SM [ANSWERS [SHOWN]]: runs every kernel of the table in the emulator, and where ANSWERS (a device's
// answers.bin, or this program's own with --write FILE) is given, says which operations differ and how.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "model/units/error.h"
#include "tests/vectors/run_vectors.h"

namespace {

using namespace foretrace;
using namespace foretrace::vectors;

void show(const VectorKernel& kernel, const Operation& operation, std::uint32_t tuple,
          const std::vector<std::uint32_t>& got, const std::uint32_t* expected) {
  std::printf("    tuple %u:", tuple);
  for (std::size_t slot = 0; slot < kernel.operands.size() && slot < 4; ++slot) {
    std::printf(" %0*llx", is_wide(kernel.operands[slot]) ? 16 : 8,
                static_cast<unsigned long long>(operand(kernel.operands[slot], slot, tuple)));
  }
  std::printf(" ->");
  for (std::uint32_t w = 0; w < operation.words; ++w) {
    const std::size_t at = std::size_t{operation.first + w} * kernel.tuples + tuple;
    std::printf(" %08x (expected %08x)", got[at], expected[at]);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return std::fprintf(stderr, "vectors_compare TABLE CUBINS SM [ANSWERS [SHOWN]]\n"), 2;
  const std::string folder = std::string(argv[2]) + "/", sm = argv[3];
  std::vector<std::uint32_t> answers;
  if (argc > 4) {
    std::ifstream in(argv[4], std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    answers.resize(bytes.size() / 4);
    std::memcpy(answers.data(), bytes.data(), answers.size() * 4);
  }
  const int shown = argc > 5 ? std::atoi(argv[5]) : 3;
  std::ofstream write;
  if (std::getenv("VECTORS_WRITE") != nullptr) write.open(std::getenv("VECTORS_WRITE"), std::ios::binary);
  std::map<std::string, std::map<std::string, frontend::LoadedKernel>> cubins;
  std::size_t at = 0;
  int agree = 0, differ = 0, faults = 0;
  for (const VectorKernel& kernel : read_table(argv[1])) {
    if (!cubins.contains(kernel.file)) {
      cubins[kernel.file] = load_cubin(folder + kernel.file + ".sm_" + sm + ".cubin");
    }
    const std::size_t words = std::size_t{kernel.words} * kernel.tuples;
    const std::uint32_t* expected = answers.size() >= at + words ? answers.data() + at : nullptr;
    at += words;
    std::vector<std::uint32_t> got(words, 0xdeadbeef);
    const auto found = cubins[kernel.file].find(kernel.name);
    if (found == cubins[kernel.file].end()) {
      std::printf("%s: not on sm_%s\n", kernel.name.c_str(), sm.c_str());
    } else {
      try {
        got = run_kernel(found->second, kernel);
      } catch (const InputError& error) {
        std::printf("%s: FAULT %s\n", kernel.name.c_str(), error.what());
        ++faults;
      }
    }
    if (write.is_open()) {
      write.write(reinterpret_cast<const char*>(got.data()), static_cast<std::streamsize>(words * 4));
    }
    if (expected == nullptr || expected[0] == 0xdeadbeef || got[0] == 0xdeadbeef) continue;
    for (const Operation& operation : kernel.operations) {
      if (!operation.on(sm) || !operation.on("90")) continue;
      std::uint32_t wrong = 0, first[256] = {};
      for (std::uint32_t i = 0; i < kernel.tuples; ++i) {
        bool same = true;
        for (std::uint32_t w = 0; w < operation.words; ++w) {
          const std::size_t word = std::size_t{operation.first + w} * kernel.tuples + i;
          same = same && got[word] == expected[word];
        }
        if (!same && wrong < 256) first[wrong] = i;
        wrong += same ? 0 : 1;
      }
      ++(wrong == 0 ? agree : differ);
      if (wrong == 0) continue;
      std::printf("%s/%s: %u of %u differ\n", kernel.name.c_str(), operation.name.c_str(), wrong,
                  kernel.tuples);
      for (std::uint32_t i = 0; i < wrong && static_cast<int>(i) < shown; ++i) {
        show(kernel, operation, first[i], got, expected);
      }
    }
  }
  std::printf("%d operations agree, %d differ, %d kernels stopped\n", agree, differ, faults);
  return differ + faults == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
