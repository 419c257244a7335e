// What does a line that L2 sends take of the time that an SM's L1 has for loads that hit?
//
// Models:  64 warps of one SM that each make 12 loads of 4 bytes per lane before they use any: 0 to 12 of them of lines that L1 has not and L2 has, one
//          sector or all four, the others of one word that L1 has. L1 serves one hit a cycle; what a round takes beyond 12 cycles a warp
//          is what the misses take. Two to sixteen warps may ask for the same lines, of which the first one's request is then under way.
// Ignores: other SMs; stores; DRAM.
// Source:  the SM's clock, from the first warp's start to the last one's end.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 48, kLoads = 12;
constexpr unsigned kWindow = 32 * 1024;  // bytes of a warp: 2 MiB in all, eight times what L1 holds

template <int Misses>
__global__ void __launch_bounds__(1024, 2)
    mixed(const char* memory, const char* resident, int lane_bytes, unsigned share, unsigned* arrived, Stamp* out, float* sink) {
  __shared__ unsigned mine;
  if (threadIdx.x == 0) mine = sm_id() == 0 ? atomicAdd(arrived, 1u) : ~0u;
  __syncthreads();
  const unsigned seat = mine;
  if (seat >= 2) return;
  if (threadIdx.x == 0) {
    while (*reinterpret_cast<volatile unsigned*>(arrived) < 2) {}
  }
  __syncthreads();
  const unsigned warp = seat * 32 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const char* window = memory + warp / share * kWindow + lane * lane_bytes;
  unsigned bits = *reinterpret_cast<const unsigned*>(resident);
  const unsigned long long begin = clock_now();
  unsigned at = 0;
  for (int r = 0; r < kRounds; ++r) {
    const char *lines = window + at, *near = resident + bits;  // bits is 0, which the compiler does not know
    unsigned got[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      // Misses come evenly between the others.
      const bool misses = (i + 1) * Misses / kLoads != i * Misses / kLoads;
      const char* from = misses ? lines + i * 128 : near + i * 4;
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(got[i]) : "l"(from));
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) bits |= got[i];
    at = (at + kLoads * 128 + bits) % kWindow;  // all are 0
  }
  const unsigned long long end = clock_now();
  if (bits) *sink = 1;
  if (lane == 0) out[warp] = {begin, end, 0, 0, sm_id(), seat};
}

template <int Misses>
void point(Buffer<char>& memory, int lane_bytes, unsigned share = 1) {
  static Buffer<char> resident(128);
  static Buffer<float> sink(1);
  static Buffer<unsigned> arrived(1);
  static Buffer<Stamp> out(64);
  resident.zero();
  std::vector<double> rounds;
  for (int repeat = 0; repeat < 4; ++repeat) {
    arrived.zero();
    out.zero();
    mixed<Misses><<<4 * static_cast<unsigned>(device().multiProcessorCount), 1024>>>(
        memory.get(), resident.get(), lane_bytes, share, arrived.get(), out.get(), sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    unsigned long long begin = ~0ull, end = 0;
    int seen = 0;
    for (const Stamp& s : out.download()) {
      if (s.stop == 0) continue;
      begin = std::min(begin, s.start);
      end = std::max(end, s.stop);
      ++seen;
    }
    if (repeat > 0 && seen == 64) rounds.push_back(static_cast<double>(end - begin) / kRounds);
  }
  if (rounds.empty()) return;
  Answer("hits_beside_misses", "cycles of a round of 12 loads by each of 64 warps of an SM, so many of which L2 answers")
      .add("misses", Misses)
      .add("sectors", lane_bytes ? 4 : 1)
      .add("warps_that_share", share)
      .print(summarize(rounds), "cycle");
}

int main() {
  Buffer<char> memory(64 * kWindow + 4096);
  memory.zero();
  for (const int lane_bytes : {0, 4}) {
    point<0>(memory, lane_bytes);
    point<1>(memory, lane_bytes);
    point<2>(memory, lane_bytes);
    point<3>(memory, lane_bytes);
    point<4>(memory, lane_bytes);
    point<6>(memory, lane_bytes);
    for (const unsigned share : {2u, 4u, 8u, 16u, 32u}) {
      point<1>(memory, lane_bytes, share);
      point<3>(memory, lane_bytes, share);
      point<6>(memory, lane_bytes, share);
      point<12>(memory, lane_bytes, share);
    }
  }
  return 0;
}
