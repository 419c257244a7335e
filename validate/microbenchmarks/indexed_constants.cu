// What does an indexed load of constants cost whose lanes differ?
//
// Models:  warps of one block load words of a table in constant memory, each lane its own: `words` different ones, `apart` bytes from each
//          other, so many bytes a lane, one after the other (`chain`) or independent of each other; then at random from tables of
//          growing size. The slope is in sm__cycles_active.max; the counters tell how often the unit and its cache were passed.
// Ignores: first touches (each kernel goes round often enough).
// Source:  counters of ncu.
#include <cstring>

#include "bench.cuh"

using namespace bench;

constexpr int kTable = 65536;
__constant__ uint4 table[kTable / 16];

template <typename T>
__device__ __forceinline__ unsigned word_of(T v) {
  if constexpr (sizeof(T) <= 4) return v;
  if constexpr (sizeof(T) == 8) return v.x;
  if constexpr (sizeof(T) == 16) return v.x;
}

template <typename T, bool kChain>
__global__ void __launch_bounds__(1024) look_up(const unsigned* offsets, unsigned step, unsigned mask, int rounds, unsigned* sink) {
  const char* const base = reinterpret_cast<const char*>(table);
  unsigned at = offsets[threadIdx.x % 32], sum = 0;
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned v = word_of(*reinterpret_cast<const T*>(base + at));
      sum ^= v;
      at = (at + step) & mask;
      if (kChain) at += v;  // the table holds zeros
    }
  }
  if (sum == 0x12345) *sink = sum;
}

struct Runner {
  Buffer<unsigned> offsets{32}, sink{1};
  int launch = 0;

  template <typename T, bool kChain>
  void run(const char* question, const std::vector<unsigned>& lanes, unsigned words, unsigned apart, unsigned step, unsigned bytes, int warps) {
    offsets.upload(lanes);
    const int rounds = 64;
    look_up<T, kChain><<<1, static_cast<unsigned>(32 * warps)>>>(offsets.get(), step, bytes - 1, rounds, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("indexed_constants", question)
        .add("launch", launch++)
        .add("bytes_a_lane", sizeof(T))
        .add("chain", kChain)
        .add("words", words)
        .add("apart", apart)
        .add("step", step)
        .add("table", bytes)
        .add("warps", warps)
        .print(8.0 * rounds, "load a warp", 0);
  }
};

/// Lanes that load bytes or halves, several of them of one word.
template <typename T>
void parts_of_words(Runner& r, unsigned words, unsigned apart) {
  std::vector<unsigned> at(32);
  for (unsigned i = 0; i < 32; ++i) at[i] = i % words * apart;
  r.run<T, true>("lanes on bytes or halves of words", at, words, apart, 0, 65536, 1);
  r.run<T, false>("lanes on bytes or halves of words", at, words, apart, 0, 65536, 8);
}

int main(int argc, char** argv) {
  Runner r;
  if (argc > 1 && std::strcmp(argv[1], "parts") == 0) {
    for (unsigned words : {2u, 4u, 8u, 16u, 32u}) parts_of_words<unsigned char>(r, words, 1);
    for (unsigned words : {8u, 32u}) parts_of_words<unsigned char>(r, words, 4);
    for (unsigned words : {2u, 16u, 32u}) parts_of_words<unsigned short>(r, words, 2);
    return 0;
  }
  const auto lanes = [](unsigned words, unsigned apart) {
    std::vector<unsigned> at(32);
    for (unsigned i = 0; i < 32; ++i) at[i] = i % words * apart;
    return at;
  };
  const char* const in_order = "lanes on so many words, so far apart";
  for (unsigned words : {1u, 2u, 3u, 4u, 8u, 16u, 32u}) {
    for (unsigned apart : {4u, 8u, 16u, 32u, 64u}) {
      if (words == 1 && apart != 4) continue;
      r.run<unsigned, true>(in_order, lanes(words, apart), words, apart, 0, 65536, 1);
      r.run<unsigned, false>(in_order, lanes(words, apart), words, apart, 0, 65536, 8);
    }
  }
  for (unsigned words : {1u, 4u, 32u}) {
    for (unsigned apart : {16u, 64u}) {
      r.run<uint2, true>(in_order, lanes(words, apart), words, apart, 0, 65536, 1);
      r.run<uint4, true>(in_order, lanes(words, apart), words, apart, 0, 65536, 1);
      r.run<uint2, false>(in_order, lanes(words, apart), words, apart, 0, 65536, 8);
      r.run<uint4, false>(in_order, lanes(words, apart), words, apart, 0, 65536, 8);
    }
  }
  for (unsigned words : {2u, 8u, 32u}) {
    for (int warps : {1, 2, 4, 16, 32}) r.run<unsigned, false>(in_order, lanes(words, 4), words, 4, 0, 65536, warps);
  }
  // Neighbouring lanes on the same word: words in runs instead of in turn.
  for (unsigned words : {2u, 4u, 8u}) {
    std::vector<unsigned> at(32);
    for (unsigned i = 0; i < 32; ++i) at[i] = i / (32 / words) * 4;
    r.run<unsigned, true>("neighbours on the same word", at, words, 4, 0, 65536, 1);
  }
  // Random words of a table; each load some lines on.
  for (unsigned bytes : {256u, 512u, 1024u, 2048u, 4096u, 16384u, 65536u}) {
    std::mt19937 random(bytes);
    std::vector<unsigned> at(32);
    for (unsigned& x : at) x = random() % bytes / 4 * 4;
    std::vector<unsigned> sorted = at;
    std::sort(sorted.begin(), sorted.end());
    const auto words = static_cast<unsigned>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
    for (int warps : {1, 8}) r.run<unsigned, false>("at random", at, words, 4, 68 % bytes, bytes, warps);
    r.run<unsigned, true>("at random", at, words, 4, 68 % bytes, bytes, 1);
  }
  return 0;
}
