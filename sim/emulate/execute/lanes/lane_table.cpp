#include "sim/emulate/execute/lanes/lane_table.h"

#include <cstdlib>
#include <string>

#include "model/units/error.h"

namespace foretrace::emulate {

namespace {

LaneTable make_avx2() {
  LaneTable table{};
  lanes_avx2::fill_bits(table);
  lanes_avx2::fill_integer(table);
  lanes_avx2::fill_float32(table);
  lanes_avx2::fill_float64(table);
  lanes_avx2::fill_half(table);
  lanes_avx2::fill_access(table);
  lanes_avx2::fill_products(table);
  return table;
}

LaneTable make_avx512() {
  LaneTable table{};
  lanes_avx512::fill_bits(table);
  lanes_avx512::fill_integer(table);
  lanes_avx512::fill_float32(table);
  lanes_avx512::fill_float64(table);
  lanes_avx512::fill_half(table);
  lanes_avx512::fill_access(table);
  lanes_avx512::fill_products(table);
  return table;
}

/// Processors with AVX2 have F16C, which clang 14 cannot ask for.
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace

const LaneTable& lane_table() {
  const char* asked = std::getenv("FORETRACE_SIMD");
  const std::string choice = asked == nullptr ? "" : asked;
  if (!choice.empty() && choice != "avx2" && choice != "avx512") {
    throw InputError("FORETRACE_SIMD is \"" + choice + "\"; expected avx2 or avx512");
  }
  if (!has_avx2()) throw InputError("this processor has no AVX2, FMA and F16C, which the emulator needs");
  if (choice == "avx512" && !has_avx512()) {
    throw InputError("FORETRACE_SIMD asks for avx512, but this processor lacks AVX-512 F, BW, DQ or VL");
  }
  // Even what fills a table is compiled for its instruction set: only the chosen one is ever made.
  if (choice == "avx512" || (choice.empty() && has_avx512())) {
    static const LaneTable avx512 = make_avx512();
    return avx512;
  }
  static const LaneTable avx2 = make_avx2();
  return avx2;
}

}  // namespace foretrace::emulate
