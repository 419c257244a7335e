// What do stores cost that meet on few words, and which stores of an SM leave it as one?
//
// Models:  `words`: all lanes, or one lane, of every SM store random words of a set, from one word to a megabyte.
//          `parts`: a warp stores 16 bytes a lane in parts, one after the other, of 4, 8 or 16 bytes; neighbouring lanes'
//          are neighbours or lie apart. Counters tell how many sectors and requests come to L2.
// Ignores: loads.
// Source:  the SMs' clocks; counters of ncu.
#include "bench.cuh"

using namespace bench;

__device__ __forceinline__ unsigned scatter(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/// `lanes`: how many lanes of a warp store, each a random word of the set.
__global__ void __launch_bounds__(1024) random_words(unsigned* base, unsigned words, unsigned lanes, int count, Stamp* out) {
  unsigned state = scatter(blockIdx.x * blockDim.x + threadIdx.x + 1);
  __syncthreads();
  const unsigned long long t0 = clock_now();
  if (threadIdx.x % 32 < lanes) {
#pragma unroll 4
    for (int i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      unsigned* p = base + (static_cast<unsigned long long>(state) * words >> 32);
      asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(i) : "memory");
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

/// Each lane stores 16 bytes, `apart` bytes from the next lane's, in parts of kBytes; the warps' pieces follow each other.
template <int kBytes>
__global__ void __launch_bounds__(1024) parts(char* base, unsigned apart, unsigned spread, int count, Stamp* out) {
  const std::size_t thread = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  const std::size_t threads = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (int i = 0; i < count; ++i) {
    char* p = base + (i * threads + thread) * apart;
#pragma unroll
    for (int part = 0; part < 16 / kBytes; ++part) {
      if constexpr (kBytes == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + 4 * part), "r"(i) : "memory");
      if constexpr (kBytes == 8) asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(p + 8 * part), "r"(i) : "memory");
      if constexpr (kBytes == 16) asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(i) : "memory");
      if (spread) {  // the parts of a piece lie some cycles apart
        const unsigned long long until = clock_now() + spread;
        while (clock_now() < until) {
        }
      }
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

double mean_cycles(const Buffer<Stamp>& out, int blocks) {
  double sum = 0;
  for (const Stamp& s : out.download(static_cast<std::size_t>(blocks))) sum += static_cast<double>(s.stop - s.start) / blocks;
  return sum;
}

template <int kBytes>
void ask_parts(Buffer<char>& memory, Buffer<Stamp>& out, int blocks, int threads, unsigned apart, unsigned spread, int& launch, bool counted) {
  const int count = blocks == 1 ? 4 : 2;
  std::vector<double> cycles;
  for (int r = 0; r < (counted ? 1 : 4); ++r) {
    parts<kBytes><<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads)>>>(memory.get(), apart, spread, count, out.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    if (r || counted) cycles.push_back(mean_cycles(out, blocks));
  }
  Answer("store_parts", "cycles of a block that stores 16 bytes a lane in parts")
      .add("launch", launch++)
      .add("part_bytes", kBytes)
      .add("bytes_between_lanes", apart)
      .add("cycles_between_parts", spread)
      .add("blocks", blocks)
      .add("threads", threads)
      .add("pieces", static_cast<double>(blocks) * threads * count)
      .print(summarize(cycles), "cycle");
}

int main(int arguments, char**) {
  const bool counted = arguments > 1;  // under the profiler
  const int sms = device().multiProcessorCount;
  Buffer<char> memory(std::size_t{256} << 20);
  Buffer<Stamp> out(4096);
  memory.zero();
  int launch = 0;
  for (int blocks : {1, sms}) {
    for (int threads : {32, 256, 1024}) {
      for (unsigned apart : {16u, 32u, 128u}) {
        for (unsigned spread : {0u, 64u}) {
          ask_parts<4>(memory, out, blocks, threads, apart, spread, launch, counted);
          ask_parts<8>(memory, out, blocks, threads, apart, spread, launch, counted);
          ask_parts<16>(memory, out, blocks, threads, apart, spread, launch, counted);
        }
      }
    }
  }
  if (counted) return 0;
  unsigned* base = reinterpret_cast<unsigned*>(memory.get());
  for (unsigned words : {1u, 2u, 8u, 32u, 64u, 256u, 1024u, 4096u, 16384u, 65536u, 262144u, 1048576u}) {
    for (unsigned lanes : {1u, 32u}) {
      for (int blocks : {1, sms}) {
        std::vector<double> rates;
        const int threads = 512, count = 64;
        for (int r = 0; r < 4; ++r) {
          random_words<<<static_cast<unsigned>(blocks), threads>>>(base, words, lanes, count, out.get());
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          if (r) rates.push_back(static_cast<double>(blocks) * threads / 32 * count / mean_cycles(out, blocks));
        }
        Answer("store_words", "store instructions of a warp a cycle, all SMs together, on random words of a set")
            .add("words", words)
            .add("lanes", lanes)
            .add("blocks", blocks)
            .print(summarize(rates), "instruction/cycle");
      }
    }
  }
  return 0;
}
