// What limits loads that L2 serves to many SMs at once?
//
// Models:  warps go over `kib` KiB again and again, past L1: all SMs over the same data, each SM from another place or all from the same;
//          or each SM over data of its own. By width of the load, loads in flight, warps and SMs. Counters tell the sectors that L2
//          looked up, those that went between its partitions and those that came to the SMs, and the cycles.
// Ignores: stores; DRAM (caches are kept between the launches).
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

enum Order : int { kFromOwnPlace, kFromSamePlace, kOwnData, kGridStride };

template <typename T>
__device__ __forceinline__ unsigned load(const char* p) {
  if constexpr (sizeof(T) == 4) {
    unsigned v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
  } else {
    unsigned a, b, c, d;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory");
    return a ^ b ^ c ^ d;
  }
}

template <typename T, int kFlight>
__global__ void __launch_bounds__(1024) stream(const char* base, unsigned bytes, int order, int rounds, unsigned* sink) {
  const unsigned piece = blockDim.x * sizeof(T) * kFlight;  // of a block and round
  unsigned at = 0;
  if (order == kFromOwnPlace) at = bytes / gridDim.x * blockIdx.x / piece * piece;
  if (order == kOwnData) base += std::size_t{blockIdx.x} * bytes;
  if (order == kGridStride) at = blockIdx.x * piece % bytes;
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r) {
    const char* const p = base + at + threadIdx.x * sizeof(T);
    unsigned v[kFlight];
#pragma unroll
    for (int i = 0; i < kFlight; ++i) v[i] = load<T>(p + i * blockDim.x * sizeof(T));
#pragma unroll
    for (int i = 0; i < kFlight; ++i) sum ^= v[i];
    at += order == kGridStride ? piece * gridDim.x : piece;
    if (at >= bytes) at %= bytes;
  }
  if (sum == 0x12345) *sink = sum;
}

struct Runner {
  Buffer<char> memory{std::size_t{256} << 20};
  Buffer<unsigned> sink{1};
  int launch = 0;
  template <typename T, int kFlight>
  void run(unsigned blocks, unsigned warps, unsigned kib, int order, unsigned long long total) {
    const unsigned bytes = kib * 1024;
    const unsigned piece = warps * 32 * sizeof(T) * kFlight;
    const int rounds = static_cast<int>(total / blocks / piece);
    // The first launch brings the data, the second is the one that is asked.
    for (int i = 0; i < 2; ++i) stream<T, kFlight><<<blocks, 32 * warps>>>(memory.get(), bytes, order, rounds, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    ++launch;
    static const char* const names[] = {"all, from places of their own", "all, from the same place", "data of their own", "grid stride"};
    Answer("l2_width", "loads that L2 serves: cycles for so many bytes")
        .add("launch", launch++).add_text("order", names[order]).add("bits", 8 * sizeof(T)).add("in_flight", kFlight)
        .add("blocks", blocks).add("warps", warps).add("kib", kib).add("rounds", rounds)
        .print(static_cast<double>(rounds) * piece * blocks, "byte", 0);
  }
};

int main() {
  Runner r;
  constexpr unsigned long long kBytes = 32ull << 20;
  for (unsigned warps : {4u, 8u, 16u, 32u}) {
    r.run<unsigned, 4>(132, warps, 8192, kFromOwnPlace, kBytes);
    r.run<uint4, 4>(132, warps, 8192, kFromOwnPlace, 2 * kBytes);
  }
  for (int order : {kFromSamePlace, kOwnData, kGridStride}) {
    const unsigned kib = order == kOwnData ? 64 : 8192;
    r.run<unsigned, 4>(132, 16, kib, order, kBytes);
    r.run<uint4, 4>(132, 16, kib, order, 2 * kBytes);
    r.run<unsigned, 1>(132, 32, kib, order, kBytes);
    r.run<uint4, 1>(132, 32, kib, order, 2 * kBytes);
  }
  for (unsigned kib : {256u, 1024u, 2048u, 4096u, 16384u, 32768u}) {
    r.run<unsigned, 4>(132, 32, kib, kFromOwnPlace, 2 * kBytes);
    r.run<uint4, 4>(132, 16, kib, kFromOwnPlace, 2 * kBytes);
  }
  for (unsigned blocks : {1u, 2u, 4u, 8u, 16u, 32u, 66u}) {
    r.run<unsigned, 4>(blocks, 32, 2048, kFromOwnPlace, std::min(kBytes, (512ull << 10) * blocks));
    r.run<uint4, 4>(blocks, 16, 2048, kFromOwnPlace, std::min(kBytes, (512ull << 10) * blocks));
  }
  r.run<unsigned, 4>(264, 32, 8192, kFromOwnPlace, kBytes);
  r.run<uint4, 4>(264, 32, 8192, kFromOwnPlace, 2 * kBytes);
  r.run<unsigned, 1>(264, 32, 8192, kFromOwnPlace, kBytes);
  r.run<uint4, 1>(264, 32, 8192, kFromOwnPlace, 2 * kBytes);
  return 0;
}
