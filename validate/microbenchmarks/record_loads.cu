// What do loads of single fields of records cost, whose sectors other loads of the same warp are under way to?
//
// Models:  each thread loads fields of its own record of 16 bytes, one load per field or one for all, then goes on to the next record; no two
//          records are under way. L2 holds the data (8 MiB, the grid over all of it, past L1 or through it), or L1 (16 KiB per block, again and again).
// Ignores: stores; DRAM (caches are kept between the launches).
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

enum Way : int { kPastL1, kThroughL1, kInL1 };
const char* const kWays[] = {"past L1", "through L1", "in L1"};

template <int kWay>
__device__ __forceinline__ unsigned word(const char* p) {
  unsigned v;
  if constexpr (kWay == kPastL1) {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  } else {
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  }
  return v;
}

/// `kFields`: a mask of the record's four words, each loaded by itself; 0: all by one load.
template <int kFields, int kWay>
__global__ void __launch_bounds__(1024) fields(const char* base, unsigned bytes, unsigned rounds, unsigned* sink) {
  if (kWay == kInL1) base += std::size_t{blockIdx.x} * bytes;
  const unsigned thread = kWay == kInL1 ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
  unsigned threads = kWay == kInL1 ? blockDim.x : gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    const char* const p = base + ((thread + r * threads) * 16 & (bytes - 1));
    unsigned v[4] = {};
    if constexpr (kFields == 0) {
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(p) : "memory");
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (kFields >> i & 1) v[i] = word<kWay>(p + 4 * i);
    }
    // The next record's address waits for this one's fields.
    if ((v[0] ^ v[1] ^ v[2] ^ v[3]) == 0x12345) sum += threads = 0x12345 + r;
  }
  if (sum) *sink = sum;
}

struct Runner {
  Buffer<char> memory{std::size_t{64} << 20};
  Buffer<unsigned> sink{1};
  int launch = 0;
  template <int kFields, int kWay>
  void run(unsigned blocks, unsigned warps) {
    const unsigned bytes = kWay == kInL1 ? 16u << 10 : 8u << 20, rounds = 32;
    // The first launch brings the data, the second is the one that is asked.
    for (int i = 0; i < 2; ++i) fields<kFields, kWay><<<blocks, 32 * warps>>>(memory.get(), bytes, rounds, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    ++launch;
    Answer("record_loads", "loads of fields of records: cycles for so many records of a warp")
        .add("launch", launch++).add_text("way", kWays[kWay]).add("fields", kFields).add("blocks", blocks).add("warps", warps)
        .print(rounds * warps, "records of a warp, by SM", 0);
  }
  template <int kFields>
  void run_all() {
    for (unsigned warps : {4u, 16u, 32u}) {
      run<kFields, kPastL1>(132, warps);
      run<kFields, kThroughL1>(132, warps);
      run<kFields, kInL1>(132, warps);
    }
    run<kFields, kPastL1>(1, 16);
    run<kFields, kThroughL1>(1, 16);
  }
};

int main() {
  Runner r;
  r.memory.zero();
  r.run_all<0>();
  r.run_all<1>();
  r.run_all<3>();
  r.run_all<9>();
  r.run_all<7>();
  r.run_all<15>();
  return 0;
}
