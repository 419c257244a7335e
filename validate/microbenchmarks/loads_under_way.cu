// How many load instructions of an SM may wait for what they asked L2 and DRAM for?
//
// Models:  1 to 64 warps of one SM that each ask for 1 to 16 lines and then wait for all of them, again and again: of a set that L2 holds, and of
//          one so large that each line comes from DRAM; a sector or all four of a line; alone, and each load behind one that hits L1.
//          Where nothing limits them, a round takes the latency and what issuing takes; where an SM keeps only so many, rounds grow with
//          what is over.
// Ignores: other SMs; stores.
// Source:  the SM's clock, from the first warp's start to the last one's end.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 24;

template <int U>
__global__ void __launch_bounds__(1024, U <= 8 ? 2 : 1)
    ask(const char* memory, unsigned mask_lines, unsigned seed, int lane_bytes, int hits,
        const float* resident, unsigned* arrived, unsigned blocks, Stamp* out, float* sink) {
  const unsigned sm = sm_id();
  __shared__ unsigned seat;
  if (threadIdx.x == 0) seat = sm == 0 ? atomicAdd(arrived, 1u) : ~0u;
  __syncthreads();
  if (seat >= blocks) return;
  if (threadIdx.x == 0) {
    while (*reinterpret_cast<volatile unsigned*>(arrived) < blocks) {}
  }
  __syncthreads();
  const unsigned warps = blockDim.x / 32, warp = seat * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = resident[lane];
  const unsigned long long begin = clock_now();
  unsigned line = warp * 9973u + seed;
  for (int r = 0; r < kRounds; ++r) {
    float got[U], hit[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      line = line * 1664525u + 1013904223u;  // no pattern that a memory likes
      const char* at = memory + static_cast<size_t>(line >> 4 & mask_lines) * 128 + lane * lane_bytes;
      hit[u] = 0;
      if (hits) asm volatile("ld.global.f32 %0, [%1];" : "=f"(hit[u]) : "l"(resident + lane));
      asm volatile("ld.global.f32 %0, [%1];" : "=f"(got[u]) : "l"(at));
    }
#pragma unroll
    for (int u = 0; u < U; ++u) sum += got[u] + hit[u];
    line += sum == 1.0f;  // the next round waits for this one
  }
  const unsigned long long end = clock_now();
  if (sum == -1.0f) *sink = sum;
  if (lane == 0) out[warp] = {begin, end, 0, 0, sm, seat};
}

template <int U>
void one_point(Buffer<char>& memory, const char* where, unsigned lines, int lane_bytes, int hits, int warps) {
  static Buffer<float> resident(64), sink(1);
  static Buffer<unsigned> arrived(1);
  static Buffer<Stamp> out(64);
  resident.zero();
  const unsigned blocks = warps > 32 ? 2 : 1, threads = static_cast<unsigned>(warps) * 32 / blocks;
  static unsigned seed = 0;  // of a large set other lines each time, so that no cache has them
  std::vector<double> rounds;
  for (int repeat = 0; repeat < 4; ++repeat) {
    arrived.zero();
    out.zero();
    ask<U><<<4 * static_cast<unsigned>(device().multiProcessorCount), threads>>>(
        memory.get(), lines - 1, lines > 1u << 20 ? ++seed : 0u, lane_bytes, hits, resident.get(),
        arrived.get(), blocks, out.get(), sink.get());
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
    if (repeat > 0 && seen == warps) rounds.push_back(static_cast<double>(end - begin) / kRounds);
  }
  if (rounds.empty()) return;
  Answer("loads_under_way",
         "cycles of a round in which each warp of an SM asks for so many lines and waits for them")
      .add_text("from", where)
      .add("sectors", lane_bytes ? 4 : 1)
      .add("behind_hits", hits)
      .add("warps", warps)
      .add("loads_a_warp", U)
      .print(summarize(rounds), "cycle");
}

int main() {
  constexpr unsigned kDramLines = 1u << 23, kL2Lines = 1u << 16;  // 1 GiB and 8 MiB
  Buffer<char> memory(static_cast<std::size_t>(kDramLines) * 128);
  memory.zero();
  for (const bool dram : {false, true}) {
    for (const int lane_bytes : {0, 4}) {
      for (const int hits : {0, 1}) {
        for (const int warps : {8, 32, 64}) {
          const auto point = [&](auto loads) {
            one_point<decltype(loads)::value>(memory, dram ? "dram" : "l2", dram ? kDramLines : kL2Lines,
                                              lane_bytes, hits, warps);
          };
          point(std::integral_constant<int, 2>{});
          point(std::integral_constant<int, 4>{});
          point(std::integral_constant<int, 8>{});
          if (warps <= 32) point(std::integral_constant<int, 16>{});
        }
      }
    }
  }
  return 0;
}
