// How many load instructions of an SM may wait for what they asked L2 and DRAM for?
//
// Models:  warps of one SM that each ask for 1 to 16 lines and then wait for all of them, again and again: of a set that L2 holds, and of
//          one so large that each line comes from DRAM; a sector or all four of a line. And (loads_behind_misses) warps that ask for one line
//          from DRAM and then for 0 to 15 words that L1 has. Where nothing limits them, a round takes the latency and what issuing takes;
//          where an SM keeps only so many, rounds grow with what is over. And (loads_of_one_word) how long the SM takes for a load that hits L1
//          of one word of 4, 8 or 16 bytes for all lanes, or for each lane its own. And (loads_that_join_misses) 32 warps that ask for the same lines
//          from DRAM at once: all but the first wait for what is on its way.
// Ignores: other SMs; stores.
// Source:  the SM's clock, from the first warp's start to the last one's end.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 24;

/// The blocks that come first on SM 0 stay, and begin together. False for all others.
__device__ bool begin_together(unsigned* arrived, unsigned blocks, unsigned& seat) {
  __shared__ unsigned mine;
  if (threadIdx.x == 0) mine = sm_id() == 0 ? atomicAdd(arrived, 1u) : ~0u;
  __syncthreads();
  seat = mine;
  if (seat >= blocks) return false;
  if (threadIdx.x == 0) {
    while (*reinterpret_cast<volatile unsigned*>(arrived) < blocks) {}
  }
  __syncthreads();
  return true;
}

__device__ unsigned next_line(unsigned line) { return line * 1664525u + 1013904223u; }  // no pattern that a memory likes

template <int U>
__global__ void __launch_bounds__(1024, U <= 8 ? 2 : 1)
    ask(const char* memory, unsigned mask_lines, unsigned seed, int lane_bytes, unsigned* arrived, unsigned blocks,
        Stamp* out, float* sink) {
  unsigned seat;
  if (!begin_together(arrived, blocks, seat)) return;
  const unsigned warps = blockDim.x / 32, warp = seat * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  const unsigned long long begin = clock_now();
  unsigned line = warp * 9973u + seed;
  for (int r = 0; r < kRounds; ++r) {
    float got[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      line = next_line(line);
      const char* at = memory + static_cast<size_t>(line >> 4 & mask_lines) * 128 + lane * lane_bytes;
      asm volatile("ld.global.f32 %0, [%1];" : "=f"(got[u]) : "l"(at));
    }
#pragma unroll
    for (int u = 0; u < U; ++u) sum += got[u];
    line += sum == 1.0f;  // the next round waits for this one
  }
  const unsigned long long end = clock_now();
  if (sum == -1.0f) *sink = sum;
  if (lane == 0) out[warp] = {begin, end, 0, 0, sm_id(), seat};
}

/// A line from DRAM, and behind it H words that L1 has, one for all lanes.
template <int H>
__global__ void __launch_bounds__(1024, 2)
    behind(const char* memory, unsigned mask_lines, unsigned seed, const unsigned* resident, unsigned* arrived,
           unsigned blocks, Stamp* out, float* sink) {
  unsigned seat;
  if (!begin_together(arrived, blocks, seat)) return;
  const unsigned warps = blockDim.x / 32, warp = seat * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned bits = resident[0];
  const unsigned long long begin = clock_now();
  unsigned line = warp * 9973u + seed;
  for (int r = 0; r < kRounds; ++r) {
    unsigned got, hit[H + 1];
    line = next_line(line);
    const char* at = memory + static_cast<size_t>(line >> 4 & mask_lines) * 128;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(got) : "l"(at));
    const unsigned* near = resident + (line & 1);
#pragma unroll
    for (int h = 0; h < H; ++h) asm volatile("ld.global.u32 %0, [%1];" : "=r"(hit[h]) : "l"(near + h));
    bits |= got;
#pragma unroll
    for (int h = 0; h < H; ++h) bits |= hit[h];
    line += bits;  // all are 0; the next round waits for this one
  }
  const unsigned long long end = clock_now();
  if (bits) *sink = 1;
  if (lane == 0) out[warp] = {begin, end, 0, 0, sm_id(), seat};
}

/// All 32 warps of a block ask for the same K lines at the same time, of which the first to come has each fetched.
template <int K>
__global__ void __launch_bounds__(1024, 1)
    join(const char* memory, unsigned mask_lines, unsigned seed, unsigned* arrived, unsigned blocks, Stamp* out,
         float* sink) {
  unsigned seat;
  if (!begin_together(arrived, blocks, seat)) return;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned bits = 0;
  const unsigned long long begin = clock_now();
  unsigned line = seed;
  for (int r = 0; r < kRounds; ++r) {
    __syncthreads();
    line = next_line(line + bits);
    const char* at = memory + static_cast<size_t>(line >> 4 & mask_lines & ~127u) * 128;
    unsigned got[K];
#pragma unroll
    for (int k = 0; k < K; ++k) asm volatile("ld.global.u32 %0, [%1];" : "=r"(got[k]) : "l"(at + k * 640));
#pragma unroll
    for (int k = 0; k < K; ++k) bits |= got[k];
  }
  const unsigned long long end = clock_now();
  if (bits) *sink = 1;
  if (lane == 0) out[warp] = {begin, end, 0, 0, sm_id(), seat};
}

template <int Words>
struct Wide;
template <>
struct Wide<1> {
  __device__ static unsigned get(const unsigned* at) {
    unsigned a;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(at));
    return a;
  }
};
template <>
struct Wide<2> {
  __device__ static unsigned get(const unsigned* at) {
    unsigned a, b;
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at));
    return a | b;
  }
};
template <>
struct Wide<4> {
  __device__ static unsigned get(const unsigned* at) {
    unsigned a, b, c, d;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at));
    return a | b | c | d;
  }
};

/// Loads that L1 has, four before any of them is used.
template <int Words>
__global__ void __launch_bounds__(1024, 2)
    one_word(const unsigned* resident, int lane_words, unsigned* arrived, unsigned blocks, Stamp* out, float* sink) {
  unsigned seat;
  if (!begin_together(arrived, blocks, seat)) return;
  const unsigned warps = blockDim.x / 32, warp = seat * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned bits = 0, at = lane * static_cast<unsigned>(lane_words);
  const unsigned long long begin = clock_now();
  for (int r = 0; r < kRounds; ++r) {
    unsigned got[4];
#pragma unroll
    for (unsigned u = 0; u < 4; ++u) got[u] = Wide<Words>::get(resident + at + u * 4);
#pragma unroll
    for (int u = 0; u < 4; ++u) bits |= got[u];
    at += bits;
  }
  const unsigned long long end = clock_now();
  if (bits) *sink = 1;
  if (lane == 0) out[warp] = {begin, end, 0, 0, sm_id(), seat};
}

unsigned next_seed = 0;  // of a large set other lines each time, so that no cache has them

constexpr unsigned kDramLines = 1u << 23, kL2Lines = 1u << 16;  // 1 GiB and 8 MiB

/// `launch`(blocks, threads, seed, arrived, out) four times; the cycles of a round.
template <typename Launch>
std::vector<double> rounds_of(int warps, bool fresh, const Launch& launch) {
  static Buffer<unsigned> arrived(1);
  static Buffer<Stamp> out(64);
  const unsigned blocks = warps > 32 ? 2 : 1, threads = static_cast<unsigned>(warps) * 32 / blocks;
  std::vector<double> rounds;
  for (int repeat = 0; repeat < 4; ++repeat) {
    arrived.zero();
    out.zero();
    launch(blocks, threads, fresh ? ++next_seed * 977u : 0u, arrived.get(), out.get());
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
  return rounds;
}

const unsigned kGrid = 4;  // blocks for each SM, so that SM 0 surely gets enough

template <int U>
void one_point(Buffer<char>& memory, const char* where, unsigned lines, int lane_bytes, int warps) {
  static Buffer<float> sink(1);
  const auto rounds = rounds_of(warps, lines > kL2Lines, [&](unsigned blocks, unsigned threads, unsigned seed,
                                                             unsigned* arrived, Stamp* out) {
    ask<U><<<kGrid * static_cast<unsigned>(device().multiProcessorCount), threads>>>(
        memory.get(), lines - 1, seed, lane_bytes, arrived, blocks, out, sink.get());
  });
  if (rounds.empty()) return;
  Answer("loads_under_way",
         "cycles of a round in which each warp of an SM asks for so many lines and waits for them")
      .add_text("from", where)
      .add("sectors", lane_bytes ? 4 : 1)
      .add("warps", warps)
      .add("loads_a_warp", U)
      .print(summarize(rounds), "cycle");
}

template <int H>
void behind_point(Buffer<char>& memory, int warps) {
  static Buffer<float> sink(1);
  static Buffer<unsigned> resident(64);
  resident.zero();
  const auto rounds =
      rounds_of(warps, true, [&](unsigned blocks, unsigned threads, unsigned seed, unsigned* arrived, Stamp* out) {
        behind<H><<<kGrid * static_cast<unsigned>(device().multiProcessorCount), threads>>>(
            memory.get(), kDramLines - 1, seed, resident.get(), arrived, blocks, out, sink.get());
      });
  if (rounds.empty()) return;
  Answer("loads_behind_misses",
         "cycles of a round in which each warp of an SM asks for a line from DRAM and for so many words that L1 has")
      .add("hits", H)
      .add("warps", warps)
      .print(summarize(rounds), "cycle");
}

template <int K>
void join_point(Buffer<char>& memory) {
  static Buffer<float> sink(1);
  const auto rounds =
      rounds_of(32, true, [&](unsigned blocks, unsigned threads, unsigned seed, unsigned* arrived, Stamp* out) {
        join<K><<<kGrid * static_cast<unsigned>(device().multiProcessorCount), threads>>>(
            memory.get(), kDramLines - 1, seed, arrived, blocks, out, sink.get());
      });
  if (rounds.empty()) return;
  Answer("loads_that_join_misses",
         "cycles of a round in which 32 warps of an SM ask at once for the same so many lines from DRAM")
      .add("lines", K)
      .print(summarize(rounds), "cycle");
}

template <int Words>
void one_word_point(int warps, int lane_words) {
  static Buffer<float> sink(1);
  static Buffer<unsigned> resident(256);
  resident.zero();
  const auto rounds =
      rounds_of(warps, false, [&](unsigned blocks, unsigned threads, unsigned, unsigned* arrived, Stamp* out) {
        one_word<Words><<<kGrid * static_cast<unsigned>(device().multiProcessorCount), threads>>>(
            resident.get(), lane_words, arrived, blocks, out, sink.get());
      });
  if (rounds.empty()) return;
  Answer("loads_of_one_word", "cycles of a round in which each warp of an SM makes four loads that L1 has")
      .add("bytes", 4 * Words)
      .add("lane_bytes", 4 * lane_words)
      .add("warps", warps)
      .print(summarize(rounds), "cycle");
}

int main() {
  Buffer<char> memory(static_cast<std::size_t>(kDramLines) * 128);
  memory.zero();
  for (const bool dram : {false, true}) {
    for (const int lane_bytes : {0, 4}) {
      for (const int warps : {8, 32, 64}) {
        const auto point = [&](auto loads) {
          one_point<decltype(loads)::value>(memory, dram ? "dram" : "l2", dram ? kDramLines : kL2Lines, lane_bytes,
                                            warps);
        };
        point(std::integral_constant<int, 2>{});
        point(std::integral_constant<int, 4>{});
        point(std::integral_constant<int, 8>{});
        if (warps <= 32) point(std::integral_constant<int, 16>{});
      }
    }
  }
  for (const int warps : {8, 16, 32, 64}) {
    behind_point<0>(memory, warps);
    behind_point<1>(memory, warps);
    behind_point<3>(memory, warps);
    behind_point<7>(memory, warps);
    behind_point<11>(memory, warps);
  }
  join_point<1>(memory);
  join_point<4>(memory);
  join_point<6>(memory);
  join_point<8>(memory);
  join_point<12>(memory);
  join_point<16>(memory);
  join_point<24>(memory);
  for (const int warps : {4, 32, 64}) {
    for (const bool own : {false, true}) {
      one_word_point<1>(warps, own ? 1 : 0);
      one_word_point<2>(warps, own ? 2 : 0);
      one_word_point<4>(warps, own ? 4 : 0);
    }
  }
  return 0;
}
