// What does a shared-memory atomic of a warp cost, by the addresses of its lanes and by what the compiler makes of it?
//
// Models:  atomicAdd of 1 without a result (ATOMS.POPC.INC), of another number (ATOMS.ADD), with a result, of floats and
//          of 64 bits (loops around ATOMS.CAST.SPIN), maximum, exchange, compare-and-swap; lanes on one word, on a few
//          words, on words of one bank, on random words of a table, without conflict; 1 to 32 warps of one SM.
// Ignores: several blocks, other traffic.
// Source:  the slope method of bench.cuh.
#include "bench.cuh"

using namespace bench;

enum class Operation { kIncrement, kAdd, kAddReturn, kFloat, kWide, kMax, kExchange, kCas };
const char* const kNames[] = {"increment", "add", "add_result", "add_float", "add_64", "max", "exchange", "compare_and_swap"};
constexpr int kChains = 8;
constexpr unsigned kWords = 4096;

template <Operation kOperation>
__device__ __forceinline__ void operate(unsigned* words, unsigned at, unsigned value, unsigned& sum) {
  if constexpr (kOperation == Operation::kIncrement) {
    atomicAdd(&words[at], 1u);
  } else if constexpr (kOperation == Operation::kAdd) {
    atomicAdd(&words[at], value);
  } else if constexpr (kOperation == Operation::kAddReturn) {
    sum ^= atomicAdd(&words[at], value);
  } else if constexpr (kOperation == Operation::kFloat) {
    atomicAdd(reinterpret_cast<float*>(&words[at]), 1.0f);
  } else if constexpr (kOperation == Operation::kWide) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&words[at & ~1u]), 1ull);
  } else if constexpr (kOperation == Operation::kMax) {
    atomicMax(&words[at], value);
  } else if constexpr (kOperation == Operation::kExchange) {
    sum ^= atomicExch(&words[at], value);
  } else {
    sum ^= atomicCAS(&words[at], value, value + 1);
  }
}

/// Lane l of warp w takes the words places[c * 32 + l] of chain c, `shift` words further a warp.
template <Operation kOperation>
__global__ void __launch_bounds__(1024)
    repeat(const unsigned* places, unsigned shift, unsigned value, int iterations, Stamp* out, unsigned* sink) {
  __shared__ unsigned words[kWords];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = 0;
  unsigned at[kChains], sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) at[c] = (places[c * 32 + lane] + warp * shift) % kWords;
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    t0 = clock_now();
#pragma unroll 1
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) operate<kOperation>(words, at[c], value, sum);
    }
    if (sum == 0x5a5a5a5b) *sink = sum;
    __syncthreads();
    t1 = clock_now();
  }
  if (words[threadIdx.x] == 0x5a5a5a5b) *sink = 1;
  if (lane == 0) out[warp] = {t0, t1, 0, 0, sm_id(), 0};
}

struct Form {
  std::string name;
  std::vector<unsigned> places;  // kChains times 32
};
std::vector<Form> forms() {
  std::vector<Form> all;
  const auto add = [&all](const std::string& name, auto&& place) {
    Form form{name, {}};
    for (unsigned c = 0; c < kChains; ++c) {
      for (unsigned l = 0; l < 32; ++l) form.places.push_back(place(c, l) % kWords);
    }
    all.push_back(form);
  };
  for (unsigned w : {1u, 2u, 4u, 8u, 16u, 32u}) {
    add("words_taking_turns_" + std::to_string(w), [w](unsigned c, unsigned l) { return c * 32 + l % w; });
    if (w > 1 && w < 32) {
      add("words_by_neighbours_" + std::to_string(w), [w](unsigned c, unsigned l) { return c * 32 + l / (32 / w); });
    }
    if (w > 1) add("words_of_a_bank_" + std::to_string(w), [w](unsigned c, unsigned l) { return c + l % w * 32; });
  }
  for (unsigned stride : {2u, 4u, 8u}) {
    add("stride_words_" + std::to_string(stride), [stride](unsigned c, unsigned l) { return c * 256 + l * stride; });
  }
  std::mt19937 random(11);
  for (unsigned words : {4u, 16u, 64u, 256u, 1024u, 4096u}) {
    add("random_of_" + std::to_string(words), [&random, words](unsigned, unsigned) { return static_cast<unsigned>(random() % words); });
  }
  return all;
}

template <Operation kOperation>
void measure(const Form& form, int warps, unsigned shift, Buffer<unsigned>& places, Buffer<Stamp>& out, Buffer<unsigned>& sink) {
  places.upload(form.places);
  std::vector<double> slopes;
  for (int r = 0; r < 4; ++r) {
    double t[2];
    for (int i : {0, 1}) {
      out.zero();
      repeat<kOperation><<<1, static_cast<unsigned>(32 * warps)>>>(places.get(), shift, 3, i ? 24 : 8, out.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      t[i] = span(out.download());
    }
    if (r) slopes.push_back((t[1] - t[0]) / (16 * kChains * warps));
  }
  Answer("shared_atomics", "cycles of the SM an atomic operation of one warp")
      .add_text("operation", kNames[static_cast<int>(kOperation)])
      .add_text("form", form.name)
      .add("warps", warps)
      .add("words_between_warps", shift)
      .print(summarize(slopes), "cycle");
}

template <Operation kOperation>
void ask(const std::vector<Form>& all, Buffer<unsigned>& places, Buffer<Stamp>& out, Buffer<unsigned>& sink) {
  for (const Form& form : all) {
    for (int warps : {1, 4, 16, 32}) measure<kOperation>(form, warps, 0, places, out, sink);
    measure<kOperation>(form, 2, 0, places, out, sink);
    measure<kOperation>(form, 16, 128, places, out, sink);
  }
}

int main() {
  const std::vector<Form> all = forms();
  Buffer<unsigned> places(kChains * 32), sink(1);
  Buffer<Stamp> out(32);
  ask<Operation::kIncrement>(all, places, out, sink);
  ask<Operation::kAdd>(all, places, out, sink);
  ask<Operation::kAddReturn>(all, places, out, sink);
  ask<Operation::kFloat>(all, places, out, sink);
  ask<Operation::kWide>(all, places, out, sink);
  ask<Operation::kMax>(all, places, out, sink);
  ask<Operation::kExchange>(all, places, out, sink);
  ask<Operation::kCas>(all, places, out, sink);
  return 0;
}
