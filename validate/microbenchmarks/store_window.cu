// Which stores of an SM to the same lines leave it as one?
//
// Models:  one warp (or some) stores 16 bytes a lane in parts, one after the other; the pieces lie far apart in time. Counters
//          tell how many requests and sectors came to L2. `lanes` of the warp store, `apart` bytes from each other. Then
//          warps that store to one place after each other, and a thread that does something else between its stores.
// Ignores: loads; other SMs.
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

template <int kBytes>
__global__ void __launch_bounds__(1024) parts(char* base, unsigned apart, unsigned lanes, int count, unsigned* sink) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;
  unsigned x = threadIdx.x;
  for (int i = 0; i < count; ++i) {
    char* p = base + (static_cast<std::size_t>(i) * warps + warp) * 32 * apart + lane * apart;
    const unsigned long long until = clock_now() + 2000;  // what the piece before left has gone
    while (clock_now() < until) {
    }
    __syncthreads();
    if (lane < lanes) {
#pragma unroll
      for (int part = 0; part < 16 / kBytes; ++part) {
        if constexpr (kBytes == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + 4 * part), "r"(x) : "memory");
        if constexpr (kBytes == 8) asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(p + 8 * part), "r"(x) : "memory");
      }
    }
    __syncwarp();
  }
  if (x == 0xffffffffu) *sink = x;
}

template <int kBytes>
void ask(Buffer<char>& memory, Buffer<unsigned>& sink, int warps, unsigned lanes, unsigned apart, int& launch) {
  const int count = 8;
  parts<kBytes><<<1, static_cast<unsigned>(32 * warps)>>>(memory.get(), apart, lanes, count, sink.get());
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Answer("store_window", "stores of a warp in parts: what comes to L2 of a piece (counters: of all pieces)")
      .add("launch", launch++)
      .add("part_bytes", kBytes)
      .add("bytes_between_lanes", apart)
      .add("lanes", lanes)
      .add("warps", warps)
      .print(static_cast<double>(count) * warps, "piece", 0);
}

/// Warps that store to the same word, to words of one sector, or to sectors of one line, one after the other, `apart` cycles
/// between them. stamps: when each did.
enum Meeting : int { same_word, same_sector, same_line };
__global__ void __launch_bounds__(1024) meet(char* base, int meeting, unsigned lanes, int apart, int count, unsigned long long* stamps) {
  __shared__ unsigned long long start;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const unsigned offset = meeting == same_word ? 0 : meeting == same_sector ? 4 * warp : 32 * warp;
  for (int i = 0; i < count; ++i) {
    if (threadIdx.x == 0) start = clock_now() + 3000;
    __syncthreads();
    char* p = base + i * 4096 + offset + lane * 128;
    const unsigned long long until = start + warp * apart;
    unsigned long long now;
    do {
      now = clock_now();
    } while (now < until);
    if (lane < lanes) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(i) : "memory");
    if (lane == 0) stamps[i * warps + warp] = now - start;
    __syncthreads();
  }
}

/// One thread that stores to the words of a sector, and to other lines or from some between each two.
enum Between : int { nothing, stores, loads_that_hit, loads_that_miss };
template <int kBetween>
__global__ void alternate(char* base, char* other, unsigned* sink) {
  unsigned x = threadIdx.x, sum = 0;
  const unsigned long long until = clock_now() + 3000;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(other) : "memory");
  if (x == 12345) *sink = x;
  while (clock_now() < until) {
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(base + 4 * i), "r"(i) : "memory");
    if (kBetween == stores) asm volatile("st.global.u32 [%0], %1;" ::"l"(base + 128 * (1 + i)), "r"(i) : "memory");
    if (kBetween == loads_that_hit) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(other) : "memory");
    if (kBetween == loads_that_miss) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(other + 128 * (1 + i)) : "memory");
    sum += x;
  }
  if (sum == 12345) *sink = sum;
}

int main() {
  Buffer<char> memory(std::size_t{64} << 20);
  Buffer<unsigned> sink(1);
  memory.zero();
  int launch = 0;
  for (unsigned apart : {16u, 32u, 128u}) {
    ask<4>(memory, sink, 1, 32, apart, launch);
    ask<8>(memory, sink, 1, 32, apart, launch);
  }
  for (unsigned lanes : {1u, 2u, 4u, 8u, 16u}) {
    for (unsigned apart : {16u, 128u}) {
      ask<4>(memory, sink, 1, lanes, apart, launch);
      ask<8>(memory, sink, 1, lanes, apart, launch);
    }
  }
  for (int warps : {2, 4, 8, 16, 32}) {
    for (unsigned lanes : {1u, 8u, 32u}) {
      ask<4>(memory, sink, warps, lanes, 16, launch);
      ask<8>(memory, sink, warps, lanes, 16, launch);
      ask<4>(memory, sink, warps, lanes, 32, launch);
    }
  }
  Buffer<unsigned long long> stamps(1024);
  for (int meeting : {same_word, same_sector, same_line}) {
    for (unsigned lanes : {1u, 8u}) {
      for (int warps : {2, 4}) {
        for (int apart : {0, 16, 32, 64, 96, 160}) {
          const int count = 8;
          meet<<<1, static_cast<unsigned>(32 * warps)>>>(memory.get(), meeting, lanes, apart, count, stamps.get());
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          const std::vector<unsigned long long> when = stamps.download();
          std::vector<double> gaps;
          for (int i = 1; i < count; ++i) {
            std::vector<unsigned long long> times(when.begin() + i * warps, when.begin() + (i + 1) * warps);
            std::sort(times.begin(), times.end());
            gaps.push_back(static_cast<double>(times.back() - times.front()) / (warps - 1));
          }
          Answer("store_meeting", "stores of several warps to one place: what comes to L2 (stamps are 1 to 2 sectors a warp and round)")
              .add("launch", launch++)
              .add_text("place", meeting == same_word ? "word" : meeting == same_sector ? "sector" : "line")
              .add("lanes", lanes)
              .add("warps", warps)
              .add("cycles_between", summarize(gaps).median)
              .print(count, "round", 0);
        }
      }
    }
  }
  const auto between = [&](auto kernel, const char* what) {
    kernel<<<1, 1>>>(memory.get(), memory.get() + (1 << 20), sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("store_between", "eight stores to the words of a sector with something between each two: what comes to L2")
        .add("launch", launch++)
        .add_text("between", what)
        .print(8, "store", 0);
  };
  between(alternate<nothing>, "nothing");
  between(alternate<stores>, "stores to other lines");
  between(alternate<loads_that_hit>, "loads that hit L1");
  between(alternate<loads_that_miss>, "loads that miss");
  return 0;
}
