// vectors_sweeps CUBINS SM SWEEPS: runs every sweep over the special functions in the emulator and says how it differs from a device's
// answers (SWEEPS: the folder with FUNCTION.sweeps, as validate/vectors/runner.cu writes them), in last places. Each line starts as
// one of sweeps_h100.txt does.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/vectors/run_vectors.h"

namespace {

using namespace foretrace;
using namespace foretrace::vectors;

/// Undoes write_sweep of the runner.
std::vector<std::uint32_t> answers_of(const std::vector<unsigned char>& bytes, std::size_t& at,
                                      std::uint32_t count) {
  std::vector<std::uint32_t> answers;
  std::size_t rest = at + count;
  std::uint32_t before = 0, last = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto difference = static_cast<std::int8_t>(bytes.at(at + i));
    std::uint32_t answer = 2 * last - before + static_cast<std::uint32_t>(std::int32_t{difference});
    if (bytes[at + i] == 0x80) {
      std::memcpy(&answer, &bytes.at(rest), 4);
      rest += 4;
    }
    answers.push_back(answer);
    before = last;
    last = answer;
  }
  at = rest;
  return answers;
}

/// Place among the floats, in order, for distances.
std::int64_t order(std::uint32_t bits) {
  return (bits >> 31) != 0 ? -std::int64_t{bits & 0x7fffffff} : std::int64_t{bits};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) return std::fprintf(stderr, "vectors_sweeps CUBINS SM SWEEPS\n"), 2;
  std::string function;
  std::vector<unsigned char> bytes;
  std::size_t at = 0;
  for (const Sweep& sweep : kSweeps) {
    if (function != sweep.function) {
      function = sweep.function;
      std::ifstream in(std::string(argv[3]) + "/" + function + ".sweeps", std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), {});
      at = 0;
    }
    std::vector<std::uint32_t> expected;
    try {
      expected = answers_of(bytes, at, sweep.count);
    } catch (const std::out_of_range&) {
      std::printf("# %s from %08x: no answers\n", sweep.function, sweep.first);
      continue;
    }
    const auto loaded =
        load_cubin(std::string(argv[1]) + "/special_" + function + ".sm_" + argv[2] + ".cubin");
    const std::vector<std::uint32_t> got = run_sweep(loaded.at("special"), sweep);
    std::uint32_t same = 0, worst_at = 0, first = ~0u;
    std::int64_t worst = 0;
    double absolute = 0.0;
    for (std::uint32_t i = 0; i < sweep.count; ++i) {
      if (got[i] == expected[i]) {
        ++same;
        continue;
      }
      if (first == ~0u) first = i;
      const std::int64_t distance = std::abs(order(got[i]) - order(expected[i]));
      if (distance > worst) {
        worst = distance;
        worst_at = i;
      }
      const double error =
          std::fabs(double{std::bit_cast<float>(got[i])} - double{std::bit_cast<float>(expected[i])});
      if (error > absolute) absolute = error;
    }
    std::printf("%s %08x %u %u %016llx  # ", sweep.function, sweep.first, sweep.step, sweep.count,
                static_cast<unsigned long long>(hash_of(expected)));
    std::printf("%-9s from %08x step %5u: %8u of %8u equal (%.3f %%)", sweep.function, sweep.first,
                sweep.step, same, sweep.count, 100.0 * same / sweep.count);
    if (same != sweep.count) {
      const auto operand_at = [&](std::uint32_t i) { return sweep.first + i * sweep.step; };
      std::printf(
          ", worst %lld last places, %.3g; first %08x -> %08x (device %08x), worst %08x -> %08x (device "
          "%08x)",
          static_cast<long long>(worst), absolute, operand_at(first), got[first], expected[first],
          operand_at(worst_at), got[worst_at], expected[worst_at]);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
