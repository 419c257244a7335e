// How many loads of lone sectors does L2 serve a cycle?
//
// Models:  each lane loads a word of a sector of its own, past L1, from data that L2 holds: lanes `pitch` bytes apart, or at places that a
//          hash picks (pitch 0); `sectors` neighbouring sectors of a line at a time, by as many lanes. A warp has four loads in flight.
// Ignores: DRAM (the data were brought by a launch before); loads of several SMs for the same line.
// Source:  counters of ncu, cycles.
#include "bench.cuh"

using namespace bench;

constexpr int kFlight = 4;

__global__ void __launch_bounds__(1024) gather(const char* base, unsigned bytes, unsigned pitch, unsigned sectors, int rounds, unsigned* sink) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r) {
    unsigned v[kFlight];
#pragma unroll
    for (int i = 0; i < kFlight; ++i) {
      const unsigned turn = (r * kFlight + i) * warps + warp;
      unsigned at;
      if (pitch == 0) {
        unsigned h = (turn * 32 + lane) / sectors * 2654435761u;
        h = (h ^ h >> 15) * 2246822519u;
        h ^= h >> 13;
        at = h % (bytes / (32 * sectors)) * (32 * sectors) + lane % sectors * 32;
      } else {
        at = (turn * 32 + lane) * pitch % bytes;
      }
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[i]) : "l"(base + at) : "memory");
    }
#pragma unroll
    for (int i = 0; i < kFlight; ++i) sum ^= v[i];
  }
  if (sum == 0x12345) *sink = sum;
}

int main() {
  const int sms = device().multiProcessorCount;
  Buffer<char> memory(std::size_t{64} << 20);
  Buffer<unsigned> sink(1);
  memory.zero();
  int launch = 0;
  const auto ask = [&](unsigned mib, unsigned pitch, unsigned sectors, unsigned warps) {
    const int rounds = static_cast<int>(128 / warps);
    // The first launch brings the data, the second is the one that is asked.
    for (int i = 0; i < 2; ++i)
      gather<<<static_cast<unsigned>(sms), 32 * warps>>>(memory.get(), mib << 20, pitch, sectors, rounds, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    launch += 2;
    Answer("lone_loads", "loads of lone sectors that L2 holds: cycles")
        .add("launch", launch - 1).add("mib", mib).add("pitch", pitch).add("sectors", sectors).add("warps", warps)
        .print(double(sms) * warps * 32 * rounds * kFlight, "sector", 0);
  };
  for (const unsigned mib : {4u, 16u}) {
    for (const unsigned pitch : {32u, 64u, 128u, 160u, 256u}) ask(mib, pitch, 1, 32);
    for (const unsigned sectors : {1u, 2u, 4u}) ask(mib, 0, sectors, 32);
  }
  for (const unsigned warps : {4u, 16u}) ask(4, 0, 1, warps);
  return 0;
}
