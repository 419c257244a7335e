#include "references.h"

#include <algorithm>
#include <cmath>
#include <utility>

// One multiply-add costs a library call where the compiler may not assume the instruction; the large products
// are compiled for it as well and choose at run time. Both give the same bits: an fma rounds once.
#if defined(__GNUC__) && defined(__x86_64__)
#define FORETRACE_HAS_FMA_VARIANT 1
#define FORETRACE_INLINE inline __attribute__((always_inline))
#else
#define FORETRACE_HAS_FMA_VARIANT 0
#define FORETRACE_INLINE inline
#endif

namespace foretrace::references {
namespace {

void record_thread_coords(const Arguments& arguments, Dim3, Dim3 block) {
  need(arguments, 5);
  const std::size_t width = count_of(arguments[3]);
  const std::size_t height = count_of(arguments[4]);
  auto* block_of = arguments[0].elements<std::uint32_t>(width * height);
  auto* thread_of = arguments[1].elements<std::uint32_t>(width * height);
  auto* lane_of = arguments[2].elements<std::uint32_t>(width * height);
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      const std::uint32_t number = y % block.y * block.x + x % block.x;
      const std::size_t pixel = y * width + x;
      block_of[pixel] = y / block.y << 16 | x / block.x;
      thread_of[pixel] = y % block.y << 16 | x % block.x;
      lane_of[pixel] = number / 32 << 16 | number % 32;
    }
  }
}

void vector_add(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const auto* a = arguments[0].elements<float>(n);
  const auto* b = arguments[1].elements<float>(n);
  auto* c = arguments[2].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void image_brighten(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t pixels = count_of(arguments[2]) * count_of(arguments[3]);
  const auto amount = arguments[4].value<std::int32_t>();
  const auto* in = arguments[0].elements<std::uint8_t>(pixels);
  auto* out = arguments[1].elements<std::uint8_t>(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    out[i] = static_cast<std::uint8_t>(std::min(in[i] + amount, 255));
  }
}

// c = a * b, all n x n and by rows; each element a chain of fma in ascending i, from zero.
FORETRACE_INLINE void multiply_rows(const float* a, const float* b, float* c, std::size_t n) {
  std::fill(c, c + n * n, 0.0f);
  for (std::size_t row = 0; row < n; ++row) {
    float* sum = c + row * n;
    for (std::size_t i = 0; i < n; ++i) {
      const float from_a = a[row * n + i];
      const float* from_b = b + i * n;
      for (std::size_t col = 0; col < n; ++col) sum[col] = std::fma(from_a, from_b[col], sum[col]);
    }
  }
}

FORETRACE_INLINE void chain(const float* in, float* out, std::size_t n, std::int32_t rounds) {
  for (std::size_t i = 0; i < n; ++i) {
    float value = in[i];
    for (std::int32_t j = 0; j < rounds; ++j) value = std::fma(value, 0.999f, 0.001f);
    out[i] = value;
  }
}

#if FORETRACE_HAS_FMA_VARIANT
bool host_has_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

__attribute__((target("avx2,fma"))) void chain_with_fma(const float* in, float* out, std::size_t n,
                                                        std::int32_t rounds) {
  chain(in, out, n, rounds);
}

__attribute__((target("avx2,fma"))) void multiply_with_fma(const float* a, const float* b, float* c,
                                                           std::size_t n) {
  multiply_rows(a, b, c, n);
}
#endif

void multiply(const float* a, const float* b, float* c, std::size_t n) {
#if FORETRACE_HAS_FMA_VARIANT
  if (host_has_fma()) {
    multiply_with_fma(a, b, c, n);
    return;
  }
#endif
  multiply_rows(a, b, c, n);
}

void sgemm_rows(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  multiply(arguments[0].elements<float>(n * n), arguments[1].elements<float>(n * n),
           arguments[2].elements<float>(n * n), n);
}

void sgemm_columns(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const auto* transposed = arguments[1].elements<float>(n * n);
  std::vector<float> b(n * n);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t col = 0; col < n; ++col) b[row * n + col] = transposed[col * n + row];
  }
  multiply(arguments[0].elements<float>(n * n), b.data(), arguments[2].elements<float>(n * n), n);
}

void transpose(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t width = count_of(arguments[2]);
  const std::size_t height = count_of(arguments[3]);
  const auto* in = arguments[0].elements<float>(width * height);
  auto* out = arguments[1].elements<float>(width * height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) out[x * height + y] = in[y * width + x];
  }
}

void relu_add(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* x = arguments[0].elements<float>(n);
  auto* y = arguments[1].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = std::fmax(x[i] + 1.0f, 0.0f);
}

void add_one(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* x = arguments[0].elements<float>(n);
  auto* sum = arguments[1].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) sum[i] = x[i] + 1.0f;
}

void relu(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* sum = arguments[0].elements<float>(n);
  auto* y = arguments[1].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = std::fmax(sum[i], 0.0f);
}

void copy_float(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  std::memcpy(arguments[1].elements<float>(n), arguments[0].elements<float>(n), n * sizeof(float));
}

void copy_float4(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = 4 * count_of(arguments[2]);
  std::memcpy(arguments[1].elements<float>(n), arguments[0].elements<float>(n), n * sizeof(float));
}

void copy_stride(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[2]);
  const std::size_t stride = count_of(arguments[3]);
  if (n == 0) return;
  const auto* in = arguments[0].elements<float>((n - 1) * stride + 1);
  auto* out = arguments[1].elements<float>(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = in[i * stride];
}

std::uint32_t walk_by_multiplying(std::uint32_t value, std::int32_t rounds) {
  for (std::int32_t i = 0; i < rounds; ++i) value = value * 1664525u + 1013904223u;
  return value;
}

std::uint32_t walk_by_shifting(std::uint32_t value, std::int32_t rounds) {
  for (std::int32_t i = 0; i < rounds; ++i) value = (value << 5 | value >> 27) ^ 0x9e3779b9u;
  return value;
}

/// Threads whose number in the block has `bit` set multiply, the others shift.
void walk(const Arguments& arguments, std::uint32_t bit, Dim3 block) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[2]);
  const auto rounds = arguments[3].value<std::int32_t>();
  const auto* in = arguments[0].elements<std::uint32_t>(n);
  auto* out = arguments[1].elements<std::uint32_t>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool multiplies = (i % block.x & bit) != 0;
    out[i] = multiplies ? walk_by_multiplying(in[i], rounds) : walk_by_shifting(in[i], rounds);
  }
}

void divergence_lanes(const Arguments& arguments, Dim3, Dim3 block) { walk(arguments, 1, block); }

void divergence_warps(const Arguments& arguments, Dim3, Dim3 block) { walk(arguments, 32, block); }

void barrier_early_return(const Arguments& arguments, Dim3, Dim3 block) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* in = arguments[0].elements<std::int32_t>(n);
  auto* out = arguments[1].elements<std::int32_t>(n);
  for (std::size_t first = 0; first < n; first += block.x) {
    const std::size_t left = std::min<std::size_t>(block.x, n - first);
    std::reverse_copy(in + first, in + first + left, out + first);
  }
}

void ffma_chain(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[2]);
  const auto rounds = arguments[3].value<std::int32_t>();
  const auto* in = arguments[0].elements<float>(n);
  auto* out = arguments[1].elements<float>(n);
#if FORETRACE_HAS_FMA_VARIANT
  if (host_has_fma()) {
    chain_with_fma(in, out, n, rounds);
    return;
  }
#endif
  chain(in, out, n, rounds);
}

// Made on first use: the files that register are initialised in any order.
std::vector<Entry>& registry() {
  static std::vector<Entry> entries;
  return entries;
}

const Registration kExamples{
    {"add_one", add_one},
    {"barrier_early_return", barrier_early_return},
    {"copy_float", copy_float},
    {"copy_float4", copy_float4},
    {"copy_stride", copy_stride},
    {"divergence_lanes", divergence_lanes},
    {"divergence_warps", divergence_warps},
    {"ffma_chain", ffma_chain},
    {"image_brighten", image_brighten},
    {"record_thread_coords", record_thread_coords},
    {"relu", relu},
    {"relu_add", relu_add},
    {"sgemm_columns", sgemm_columns},
    {"sgemm_rows", sgemm_rows},
    {"transpose", transpose},
    {"vector_add", vector_add},
};

}  // namespace

Registration::Registration(std::initializer_list<Entry> entries) {
  registry().insert(registry().end(), entries.begin(), entries.end());
}

Reference find_reference(const std::string& name) {
  for (const Entry& entry : registry()) {
    if (name == entry.name) return entry.reference;
  }
  return nullptr;
}

std::vector<std::string> reference_names() {
  std::vector<std::string> names;
  for (const Entry& entry : registry()) names.emplace_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace foretrace::references
