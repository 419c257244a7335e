// What nvcc's machine code for sm_80, sm_90 and sm_120 computes in the emulator is what this machine computes, bit for bit:
// integer and floating-point functions over special and random operands. Both vector instruction sets give the same bytes,
// NaNs included. Needs nvcc and nvdisasm.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sim/emulate/emulator.h"
#include "sim/frontend/load.h"
#include "tests/emulate/conformance/functions.h"
#include "tests/emulate/loaded.h"

namespace foretrace {
namespace {

constexpr int kCount = 2000;

/// Special values in all pairs, then random bits.
template <class T>
std::vector<T> operands(bool second) {
  std::vector<T> special;
  if constexpr (std::is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    for (const T x : {T{0}, T{1}, T{1.5}, T{3}, static_cast<T>(0.3), static_cast<T>(123456.7), L::min(),
                      L::denorm_min(), L::max(), L::infinity(), L::epsilon(), T{2} - L::epsilon(),
                      L::min() * T{0.75}, T{1e9}, static_cast<T>(1e-30)}) {
      special.push_back(x);
      special.push_back(-x);
    }
    special.push_back(L::quiet_NaN());
  } else {
    for (const std::int64_t x :
         {0l, 1l, 2l, 3l, 7l, 31l, 32l, 33l, 63l, 64l, 255l, 65535l, 65536l, 0x7fffffffl, 0x80000000l,
          0xffffffffl, 0x123456789abcdefl, std::numeric_limits<std::int64_t>::max()}) {
      special.push_back(static_cast<T>(x));
      special.push_back(static_cast<T>(-x));
    }
  }
  std::vector<T> values;
  for (const T a : special) {
    for (const T b : special) values.push_back(second ? b : a);
  }
  std::mt19937_64 random(second ? 2 : 1);
  while (values.size() < kCount) {
    const std::uint64_t bits = random();
    T x;
    std::memcpy(&x, &bits, sizeof x);
    if constexpr (std::is_floating_point_v<T>) {
      if (values.size() % 2 == 0) x = static_cast<T>(std::ldexp(static_cast<double>(bits >> 11), -40));
    }
    values.push_back(x);
  }
  return values;
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a && b != b) return true;  // which NaN is not asked here
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

class Functions : public testing::TestWithParam<int> {
 protected:
  static const emulate::Kernels& kernels(int sm) {
    return emulate::kernels_of("functions.cu", sm, {"-fmad=false"});
  }

  template <class In, class Out>
  static std::vector<Out> run(const frontend::LoadedKernel& kernel, const std::vector<In>& a,
                              const std::vector<In>& b, const char* simd) {
    emulate::GlobalMemory memory;
    emulate::LaunchContext context;
    context.program = &kernel.program;
    context.memory = &memory;
    context.block = {96, 1, 1};
    context.grid = {static_cast<std::uint32_t>((a.size() + 95) / 96), 1, 1};
    context.parameters.resize(kernel.program.parameter_bytes);
    context.banks[2] = kernel.constant2;
    context.banks[3] = kernel.module->constant3;
    context.banks[4] = kernel.module->constant4;
    if (!kernel.module->globals.empty()) {  // tables of the library's functions
      const std::uint64_t globals = memory.allocate(kernel.module->globals.size(), "globals");
      memory.write(globals, kernel.module->globals);
      for (const frontend::Pointer& pointer : kernel.module->pointers) {
        if (pointer.image != frontend::Image::constant4 || pointer.target != frontend::TargetKind::global)
          continue;
        const std::uint64_t address = globals + pointer.value;
        std::memcpy(context.banks[4].data() + pointer.offset, &address, sizeof address);
      }
    }
    const std::uint64_t at[3] = {memory.allocate(a.size() * sizeof(In), "a"),
                                 memory.allocate(b.size() * sizeof(In), "b"),
                                 memory.allocate(a.size() * sizeof(Out), "out")};
    const int n = static_cast<int>(a.size());
    std::memcpy(context.parameters.data(), at, sizeof at);
    std::memcpy(context.parameters.data() + sizeof at, &n, sizeof n);
    memory.write(at[0], std::as_bytes(std::span(a)));
    memory.write(at[1], std::as_bytes(std::span(b)));
    setenv("FORETRACE_SIMD", simd, 1);
    const emulate::Emulator emulator(context);
    unsetenv("FORETRACE_SIMD");
    for (std::uint64_t block = 0; block < emulator.blocks(); ++block) emulator.run_block(block, nullptr);
    std::vector<Out> got(a.size());
    memory.read(at[2], std::as_writable_bytes(std::span(got)));
    return got;
  }

  template <class In, class Out>
  void check(const std::string& name, Out (*function)(In, In)) {
    SCOPED_TRACE(name);
    const auto found = kernels(GetParam()).find(name);
    ASSERT_NE(found, kernels(GetParam()).end());
    const frontend::LoadedKernel& kernel = found->second;
    const std::vector<In> a = operands<In>(false), b = operands<In>(true);
    const std::vector<Out> got = run<In, Out>(kernel, a, b, "avx2");
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
      const std::vector<Out> wider = run<In, Out>(kernel, a, b, "avx512");
      EXPECT_EQ(std::memcmp(got.data(), wider.data(), got.size() * sizeof(Out)), 0)
          << "AVX2 and AVX-512 differ";
    }
    int wrong = 0;
    for (std::size_t i = 0; i < a.size() && wrong < 3; ++i) {
      const Out expected = function(a[i], b[i]);
      if (same(got[i], expected)) continue;
      ++wrong;
      ADD_FAILURE() << name << "(" << +a[i] << ", " << +b[i] << ") is " << +got[i] << ", expected "
                    << +expected;
    }
  }

  void check_library(const std::string& name, double (*function)(double), int bound) {
    SCOPED_TRACE(name);
    const auto found = kernels(GetParam()).find(name);
    ASSERT_NE(found, kernels(GetParam()).end());
    std::vector<float> x;
    for (int i = -1500; i < 1500; ++i) x.push_back(static_cast<float>(i) * 0.0137f + 0.001f);
    const std::vector<float> got = run<float, float>(found->second, x, x, "avx2");
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = function(x[i]);
      const auto nearest = static_cast<float>(expected);
      const double unit = std::fabs(static_cast<double>(std::nextafter(nearest, HUGE_VALF)) - nearest);
      ASSERT_LE(std::fabs(got[i] - expected), (bound + 0.5) * unit)
          << "at " << x[i] << ": " << got[i] << ", expected " << expected;
    }
  }
};

#define HOST_LIBRARY_FUNCTION(name, device, host, bound) \
  double host_##name(double x) { return (host); }
#define HOST_FUNCTION(name, in, out, expression) \
  out host_##name(in a, in b) {                  \
    (void)b;                                     \
    return (expression);                         \
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wold-style-cast"
INTEGER_FUNCTIONS(HOST_FUNCTION)
FLOAT_FUNCTIONS(HOST_FUNCTION)
LIBRARY_FUNCTIONS(HOST_LIBRARY_FUNCTION)
#pragma GCC diagnostic pop

#define CHECK_FUNCTION(name, in, out, expression) check<in, out>(#name, host_##name);

TEST_P(Functions, IntegersAreExact){INTEGER_FUNCTIONS(CHECK_FUNCTION)} TEST_P(Functions,
                                                                              FloatsAreRoundedOnce){
    FLOAT_FUNCTIONS(CHECK_FUNCTION)}

#define CHECK_LIBRARY_FUNCTION(name, device, host, bound) check_library(#name, host_##name, bound);

TEST_P(Functions, LibraryFunctionsKeepTheirBounds){LIBRARY_FUNCTIONS(CHECK_LIBRARY_FUNCTION)}

INSTANTIATE_TEST_SUITE_P(Architectures, Functions, testing::Values(80, 90, 120));

}  // namespace
}  // namespace foretrace
