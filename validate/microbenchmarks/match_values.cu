// What do match.any and match.all take, by how many different values the lanes have?
//
// Models:  one warp in a chain of them, each waiting for the one before; or up to 32 of an SM, which share what compares. Lanes with the same value lie together or take turns; also with some
//          lanes only.
// Ignores: other work of the pipe.
// Source:  the SM's clock.
#include "bench.cuh"

using namespace bench;

enum Kind : int { kAny32, kAny64, kAll32 };

template <int kKind>
__device__ __forceinline__ unsigned match(unsigned mask, unsigned value) {
  unsigned r;
  if constexpr (kKind == kAny32) {
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(value), "r"(mask));
  } else if constexpr (kKind == kAny64) {
    asm volatile("match.any.sync.b64 %0, %1, %2;"
                 : "=r"(r)
                 : "l"(static_cast<unsigned long long>(value) << 32 | value), "r"(mask));
  } else {
    asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %1, %2; }" : "=r"(r) : "r"(value), "r"(mask));
  }
  return r;
}

/// Values are those of `values`, lanes beyond `active` leave.
template <int kKind>
__global__ void matches(const unsigned* values, unsigned active, unsigned zero, int rounds,
                        unsigned long long* out, unsigned* sink) {
  const unsigned lane = threadIdx.x % 32;
  if (lane >= active) return;
  const unsigned mask = active == 32 ? ~0u : (1u << active) - 1;
  unsigned value = values[lane];
  unsigned long long t0 = 0;
  for (int i = -1; i < rounds; ++i) {
    if (i == 0) t0 = clock_now();
#pragma unroll
    for (int k = 0; k < 16; ++k) { value ^= match<kKind>(mask, value) & zero; }
  }
  const unsigned long long t1 = clock_now() + (value & zero);
  if (threadIdx.x == 0) *out = t1 - t0;
  if (value == 0x9e3779b9) *sink = value;
}

int main() {
  Buffer<unsigned> values(32), sink(1);
  Buffer<unsigned long long> out(1);
  const auto ask = [&](auto kernel, const char* kind, unsigned distinct, bool turns, unsigned active,
                       unsigned warps = 1) {
    std::vector<unsigned> v(32);
    for (unsigned i = 0; i < 32; ++i) v[i] = 0x1000 + 77 * (turns ? i % distinct : i * distinct / 32);
    CHECK(cudaMemcpy(values.get(), v.data(), sizeof(unsigned) * 32, cudaMemcpyHostToDevice));
    std::vector<double> slopes;
    for (int repeat = 0; repeat < 4; ++repeat) {
      double length[2];
      for (int l = 0; l < 2; ++l) {
        kernel<<<1, 32 * warps>>>(values.get(), active, 0, 8 << l, out.get(), sink.get());
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        length[l] = static_cast<double>(out.download().front());
      }
      if (repeat) slopes.push_back((length[1] - length[0]) / (8 * 16));
    }
    Answer("match_values", "cycles from one match to the next that waits for it")
        .add_text("kind", kind)
        .add("distinct", distinct)
        .add_text("order", turns ? "in turn" : "together")
        .add("lanes", active)
        .add("warps", warps)
        .print(summarize(slopes), "cycle");
  };
  for (const unsigned distinct : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u, 24u, 32u}) {
    for (const bool turns : {false, true}) {
      ask(matches<kAny32>, "any.b32", distinct, turns, 32);
      ask(matches<kAny64>, "any.b64", distinct, turns, 32);
      ask(matches<kAll32>, "all.b32", distinct, turns, 32);
    }
  }
  for (const unsigned distinct : {1u, 4u, 16u, 32u}) {
    for (const unsigned warps : {2u, 4u, 8u, 16u, 32u}) {
      ask(matches<kAny32>, "any.b32", distinct, true, 32, warps);
      ask(matches<kAny64>, "any.b64", distinct, true, 32, warps);
      if (distinct == 1) ask(matches<kAll32>, "all.b32", distinct, true, 32, warps);
    }
  }
  for (const unsigned active : {1u, 2u, 8u, 16u, 31u}) ask(matches<kAny32>, "any.b32", 32, true, active);
  return 0;
}
