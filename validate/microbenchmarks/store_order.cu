// Which stores to a line leave the SM as one, by their distance in time, the lines of each and the warps between them?
//
// Models:  warps store the words of a record a lane one after the other, `adds` dependent multiplications of 4 cycles between two; each
//          warp starts `slot` cycles after the one before. When each store issued (the cycles after the first) is part of the answer.
// Ignores: loads; other SMs.
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 4, kFields = 4, kWarps = 8;

template <int kAdds>
__global__ void __launch_bounds__(256) order(char* base, unsigned lane_bytes, unsigned lanes, int fields, int slot, unsigned* stamps) {
  __shared__ unsigned start;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  unsigned x = threadIdx.x, when[kFields] = {};
  for (unsigned r = 0; r < kRounds; ++r) {
    unsigned now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    if (threadIdx.x == 0) start = now + 3000;
    __syncthreads();
    const unsigned until = start + warp * static_cast<unsigned>(slot);
    char* const p = base + (std::size_t{r} * warps + warp) * 8192 + lane * lane_bytes;
    do {
      asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    } while (static_cast<int>(now - until) < 0);
#pragma unroll
    for (int f = 0; f < kFields; ++f) {
      asm volatile("mov.u32 %0, %%clock;" : "=r"(when[f])::"memory");
      if (f < fields && lane < lanes) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + 4 * f), "r"(x) : "memory");
#pragma unroll
      for (int k = 0; k < kAdds; ++k) asm volatile("mad.lo.u32 %0, %0, %0, %1;" : "+r"(x) : "r"(lane_bytes) : "memory");
    }
    if (lane == 0) {
      for (int f = 0; f < kFields; ++f) stamps[warp * kFields + f] = when[f] - start;
    }
    __syncthreads();
  }
}

struct Runner {
  Buffer<char> memory{std::size_t{64} << 20};
  Buffer<unsigned> stamps{kWarps * kFields};
  int launch = 0;
  template <int kAdds>
  void run(unsigned lane_bytes, unsigned lanes, unsigned warps, int slot) {
    const int fields = std::min(kFields, static_cast<int>(lane_bytes / 4));
    order<kAdds><<<1, 32 * warps>>>(memory.get(), lane_bytes, lanes, fields, slot, stamps.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const std::vector<unsigned> when = stamps.download();
    std::vector<double> times;
    for (unsigned w = 0; w < warps; ++w) {
      for (int f = 0; f < fields; ++f) times.push_back(static_cast<double>(static_cast<int>(when[w * kFields + static_cast<unsigned>(f)])));
    }
    Answer("store_order", "stores of a record's words: what comes to L2 (stamps: 1 sector a warp)")
        .add("launch", launch++).add("adds", kAdds).add("lane_bytes", lane_bytes).add("lanes", lanes).add("warps", warps).add("slot", slot)
        .add("fields", fields).add("issued", times).print(kRounds * warps, "record of a warp", 0);
  }
};

int main() {
  Runner r;
  for (unsigned lane_bytes : {8u, 12u, 16u, 20u, 28u, 32u, 64u}) {
    r.run<0>(lane_bytes, 32, 1, 0);
    r.run<4>(lane_bytes, 32, 1, 0);
    r.run<8>(lane_bytes, 32, 1, 0);
    r.run<12>(lane_bytes, 32, 1, 0);
    r.run<16>(lane_bytes, 32, 1, 0);
    r.run<20>(lane_bytes, 32, 1, 0);
    r.run<24>(lane_bytes, 32, 1, 0);
    r.run<28>(lane_bytes, 32, 1, 0);
    r.run<32>(lane_bytes, 32, 1, 0);
    r.run<40>(lane_bytes, 32, 1, 0);
    r.run<48>(lane_bytes, 32, 1, 0);
    r.run<64>(lane_bytes, 32, 1, 0);
    r.run<96>(lane_bytes, 32, 1, 0);
  }
  for (unsigned warps : {2u, 3u, 4u, 5u, 8u}) {
    for (unsigned lane_bytes : {8u, 12u, 16u, 20u, 32u}) {
      for (int slot : {0, 8, 40}) {
        r.run<0>(lane_bytes, 32, warps, slot);
        r.run<8>(lane_bytes, 32, warps, slot);
        r.run<16>(lane_bytes, 32, warps, slot);
      }
    }
  }
  for (unsigned lanes : {1u, 2u, 4u, 6u, 8u, 12u, 16u, 20u, 24u, 28u, 32u}) {
    for (unsigned warps : {1u, 2u, 4u}) {
      r.run<0>(128, lanes, warps, 0);
      r.run<4>(128, lanes, warps, 0);
      r.run<12>(128, lanes, warps, 0);
    }
  }
  return 0;
}
