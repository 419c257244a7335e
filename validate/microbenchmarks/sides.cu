// What does it cost that data lie in the other partition: lines from DRAM and stores, alone and beside each other?
//
// Models:  atomics, which are done at home, tell for each SM and each 2 MiB of memory which partition is near. Then each warp loads `fresh` lines
//          that come from DRAM and stores `stores` lines of which L2 holds the place, past L1, all of them at home in the SM's own partition
//          (near), in the other one (far), or in both by turns;
//          all SMs, or those beside one partition.
//          Then an SM loads lines that are at home in either partition after itself, an SM beside the same partition, or one beside the other one
//          stored to them.
// Ignores: what is written back: the stores' places fit L2 and are written again and again. Held lines: what is far has a copy that is near.
// Source:  the SMs' clocks: a block an SM, from its first access to its last one's end, the mean of the SMs.
#include "sm_sides.cuh"

using namespace bench;

enum Side : int { kNear, kFar, kBoth };

__device__ __forceinline__ unsigned hash(unsigned n) {
  unsigned h = n * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  return h ^ h >> 13;
}

/// SM `sm` stores to (`write`) or loads from 64 lines of partition `side` on, by `lanes` lanes; out: mean cycles of a load by one lane of
/// word `word`, one at a time.
__global__ void touch(char* base, const unsigned char* flip, unsigned first, unsigned side, unsigned sm, bool write, unsigned lanes, unsigned word,
                      unsigned* out) {
  if (sm_id() != sm || blockIdx.x >= gridDim.x) return;
  unsigned sum = 0;
  for (unsigned i = 0; i < 64; ++i) {
    char* const p = line(base, flip, first + i, side);
    if (write) {
      if (threadIdx.x < lanes) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + threadIdx.x * 4), "r"(i) : "memory");
      __threadfence();
    } else if (threadIdx.x == 0) {
      unsigned v;
      const unsigned t0 = clock();
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p + word * 4) : "memory");
      if (v == 0x7fffffff) out[1] = v;  // none is; the clock is read after the answer
      sum += static_cast<unsigned>(clock()) - t0;
    }
  }
  if (!write && threadIdx.x == 0) out[0] = sum / 64;
}

template <int kFresh, int kStores>
__global__ void __launch_bounds__(1024) mix(char* fresh, const unsigned char* fresh_flip, int fresh_side, unsigned fresh_lanes, char* to,
                                            const unsigned char* to_flip, int to_side, unsigned to_lanes, const unsigned char* sm_side,
                                            unsigned lines, int rounds, bool one_side, Stamp* out, unsigned* sink) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  const unsigned mine = sm_side[sm_id()];
  if (one_side && mine != 0) {
    if (threadIdx.x == 0) out[blockIdx.x] = {};
    return;
  }
  unsigned sum = 0;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (int r = 0; r < rounds; ++r) {
    unsigned w[8] = {};
    // Lanes 0 to 7 find the lines to load, 8 to 15 those to store.
    unsigned offset = 0;
    if (lane < kFresh) {
      const unsigned n = (r * warps + warp) * kFresh + lane;
      offset = static_cast<unsigned>(line(fresh, fresh_flip, n, mine ^ (fresh_side == kBoth ? n & 1 : fresh_side)) - fresh);
    } else if (lane >= 8 && lane < 8 + kStores) {
      const unsigned n = hash((r * kStores + lane - 8) * warps + warp + 77);
      offset = static_cast<unsigned>(line(to, to_flip, n % lines, mine ^ (to_side == kBoth ? n >> 31 : to_side)) - to);
    }
#pragma unroll
    for (int i = 0; i < kFresh; ++i) {
      const char* const p = fresh + __shfl_sync(~0u, offset, i) + lane * 4;
      if (lane < fresh_lanes) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(w[i]) : "l"(p) : "memory");
    }
#pragma unroll
    for (int i = 0; i < kStores; ++i) {
      char* const p = to + __shfl_sync(~0u, offset, 8 + i) + lane * 4;
      if (lane < to_lanes) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(r) : "memory");
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) sum ^= w[i];
  }
  if (sum == 0x12345) *sink = sum;
  __threadfence();
  __syncthreads();
  const unsigned long long t1 = clock_now();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, t1, 0, 0, sm_id(), blockIdx.x};
}

int main() {
  const unsigned sms = static_cast<unsigned>(device().multiProcessorCount);
  constexpr unsigned kToPages = 2, kPages = 512;
  constexpr std::size_t kHalf = std::size_t{kPages / 2} * kPage;
  Buffer<char> memory(std::size_t{kToPages + kPages + 1} * kPage);
  Buffer<unsigned> sink(1), took(2);
  Buffer<Stamp> out(sms);
  memory.zero();
  char* const base = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(memory.get()) + kPage - 1) / kPage * kPage);
  constexpr unsigned kAll = kToPages + kPages;
  const Sides found = find_sides(base, kAll);
  const std::vector<unsigned char>&flip = found.flip, &side = found.side;
  const auto count = [](const std::vector<unsigned char>& ones) { return std::count(ones.begin(), ones.end(), 1); };
  Answer("sides", "SMs and pages of the other partition than the first SM's: how many")
      .add("sms", sms).add("pages", kAll).add("far_pages", static_cast<double>(count(flip))).add("least", found.least).add("most", found.most)
      .print(static_cast<double>(count(side)), "SM", 0);
  Buffer<unsigned char> flips(kAll), sides(256);
  CHECK(cudaMemcpy(flips.get(), flip.data(), kAll, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(sides.get(), side.data(), 256, cudaMemcpyHostToDevice));
  char* const fresh = base + std::size_t{kToPages} * kPage;
  // Who stored last: what does a load take then?
  unsigned mate = 0, other_sm = 0, me = found.sms.front();
  for (const unsigned id : found.sms) {
    if (side[id] == side[me] && id / 2 != me / 2) mate = id;
    if (side[id] != side[me]) other_sm = id;
  }
  unsigned first = 0;
  for (const unsigned far : {0u, 1u})
    for (const int writer : {0, 1, 2, 3})                    // none, the reader, one beside the same partition, one beside the other
      for (const unsigned lanes : {1u, 8u, 32u})
        for (const unsigned word : {0u, 1u, 8u}) {
          if (writer == 0 && lanes != 32) continue;
          const unsigned at = side[me] ^ far;
          const auto go = [&](unsigned who, bool write) {
            touch<<<sms, 32>>>(fresh, flips.get() + kToPages, first, at, who, write, lanes, word, took.get());
            CHECK(cudaDeviceSynchronize());
            return took.download(1)[0];
          };
          go(far != 0 ? other_sm : me, false);  // its home has it
          const unsigned writers[] = {0, me, mate, other_sm};
          if (writer != 0) go(writers[writer], true);
          const unsigned once = go(me, false), again = go(me, false);
          first += 64;
          Answer("sides", "a load of what an SM stored: cycles")
              .add("far", far).add("writer", writer).add("lanes", lanes).add("word", word).add("again", again).print(once, "cycle", 0);
        }
  const auto ask = [&](auto kernel, int loads, int stores, int fresh_side, int to_side, unsigned fresh_lanes = 32, unsigned to_lanes = 32,
                       bool one_side = false) {
    constexpr unsigned kLines = kToPages * (kPage / 256);  // of a partition
    const int rounds = 48;
    std::vector<double> cycles;
    double least = 0, most = 0;
    for (int repeat = 0; repeat < 5; ++repeat) {
      mix<0, 8><<<sms, 1024>>>(fresh, flips.get() + kToPages, 0, 32, base, flips.get(), kBoth, 32, sides.get(), kLines, 16, false, out.get(), sink.get());
      kernel<<<sms, 1024>>>(fresh + repeat % 2 * kHalf, flips.get() + kToPages + repeat % 2 * (kPages / 2), fresh_side, fresh_lanes, base,
                            flips.get(), to_side, to_lanes, sides.get(), kLines, rounds, one_side, out.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      double sum = 0;
      least = 1e9, most = 0;
      unsigned count = 0;
      for (const Stamp& stamp : out.download(sms)) {
        const double took = static_cast<double>(stamp.stop - stamp.start);
        if (took == 0) continue;
        least = std::min(least, took), most = std::max(most, took), sum += took, ++count;
      }
      cycles.push_back(sum / count);
    }
    std::sort(cycles.begin(), cycles.end());
    Answer("sides", "lines from DRAM and stores by partition: cycles a round")
        .add("fresh", loads).add("stores", stores).add("fresh_far", loads ? fresh_side / (fresh_side == kBoth ? 4.0 : 1.0) : 0)
        .add("fresh_lanes", loads ? fresh_lanes : 0).add("stores_lanes", stores ? to_lanes : 0)
        .add("one_side", one_side).add("least", least / rounds).add("most", most / rounds).add("stores_far", stores ? to_side / (to_side == kBoth ? 4.0 : 1.0) : 0)
        .print(cycles[2] / rounds, "cycle", (cycles[4] - cycles[0]) / rounds);
  };
  for (const int s : {kNear, kFar, kBoth}) ask(mix<8, 0>, 8, 0, s, 0);
  for (const int s : {kNear, kFar, kBoth}) ask(mix<0, 8>, 0, 8, 0, s);
  for (const int f : {kNear, kFar, kBoth})
    for (const int s : {kNear, kFar, kBoth}) ask(mix<8, 8>, 8, 8, f, s);
  for (const int s : {kNear, kFar, kBoth})
    for (const unsigned lanes : {1u, 8u, 16u}) {
      ask(mix<0, 8>, 0, 8, 0, s, 32, lanes);
      if (lanes > 1) ask(mix<8, 0>, 8, 0, s, 0, lanes);
    }
  for (const int s : {kNear, kFar, kBoth}) {
    for (const unsigned lanes : {1u, 8u, 16u, 32u}) ask(mix<0, 8>, 0, 8, 0, s, 32, lanes, true);
    ask(mix<8, 0>, 8, 0, s, 0, 32, 32, true);
    ask(mix<8, 8>, 8, 8, s, s, 32, 32, true);
  }
  for (const int s : {kNear, kFar}) ask(mix<8, 4>, 8, 4, kBoth, s);
  for (const int s : {kNear, kFar}) ask(mix<4, 8>, 4, 8, s, s);
  return 0;
}
