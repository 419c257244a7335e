// How many reads under way can the place remember at which reads of one GPC for the same sectors merge?
//
// Models:  `pair`: two SMs of a TPC read the same n lines, one some cycles later, in the same or another order, while
//          other SMs of their GPC, or of another, read lines of their own in between; `gather`: every SM reads words
//          of one table in an order of its own, all at once; `walk`: blocks that read the same in the same order.
// Ignores: what the merging saves in time; which SMs are of one GPC on another die: `noise` lists them by number, and
//          answers of one die are read beside those of request_merging on the same; that the first warp of `pair` starts
//          later than the others, whose clock reads pass the barrier: what another order changes there is that
//          (merging_order, where all start together, finds no change).
// Source:  lts__t_sectors_srcunit_tex_op_read.sum of Nsight Compute: line n describes launch n of the process.
#include "bench.cuh"

using namespace bench;

/// A warp instruction that loads 32 words of 32 lines (`whole` 0) or of one line (`whole` 1).
struct Reading {
  int lines;      // of a participant in a round, at most 1024
  int rounds;
  int delay;      // of the second, cycles
  int noise_delay;
  int whole;
  int stride;     // the second reads line i * stride % lines in i's place
};

/// role: 1 first, 2 second, 3 and more: noise, with lines of its own.
__global__ void __launch_bounds__(1024) read_lines(Reading reading, const unsigned char* role, unsigned readers, const char* base,
                                                   unsigned* meet, unsigned* taken, unsigned* sink) {
  extern __shared__ char whole_sm[];  // one block an SM
  const unsigned sm = sm_id();
  const int kind = role[sm];
  if (kind == 0) return;
  __shared__ unsigned go;
  if (threadIdx.x == 0) go = atomicAdd(taken + sm, 1u) == 0 && whole_sm != nullptr;
  __syncthreads();
  if (!go) return;
  if (threadIdx.x == 0) {
    atomicAdd(meet, 1u);
    while (atomicAdd(meet, 0u) < readers) {
    }
  }
  __syncthreads();
  const long long late = kind == 2 ? reading.delay : kind > 2 ? reading.noise_delay : 0;
  const long long start = static_cast<long long>(clock_now()) + 20000 + late;
  const int n = kind > 2 ? 1024 : reading.lines;
  const int thread = static_cast<int>(threadIdx.x);
  const int stride = kind == 2 ? reading.stride : 1;
  const char* own = base + (kind > 2 ? static_cast<std::size_t>(kind) << 24 : 0);
  unsigned sum = 0;
  for (int round = 0; round < reading.rounds; ++round) {
    const int item = reading.whole ? thread / 32 : thread;
    const char* p = own + (static_cast<std::size_t>(round) * static_cast<std::size_t>(n) + static_cast<std::size_t>(item * stride % n)) * 128 +
                    (reading.whole ? thread % 32 * 4 : 0);
    const long long due = start + static_cast<long long>(round) * 8000;
    while (static_cast<long long>(clock_now()) < due) {
    }
    if (item < n) {
      unsigned v;
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
      sum ^= v;
    }
    if (sum == 0x12345) *sink = sum;
  }
}

/// Thread i of the grid reads word hash(i) of a table, `loads` times.
__global__ void __launch_bounds__(1024) gather(const unsigned* table, unsigned words, int loads, unsigned* sink) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (int k = 0; k < loads; ++k) {
    unsigned h = (i + static_cast<unsigned>(k) * 0x9E3779B9u) * 0x85EBCA6Bu;
    h ^= h >> 15, h *= 0xC2B2AE35u, h ^= h >> 13;
    unsigned v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(table + h % words) : "memory");
    sum ^= v;
  }
  if (sum == 0x12345) *sink = sum;
}

/// All blocks read the same data in the same order: one piece of 16 bytes a step for all threads (`tile` 0), or four bytes a thread,
/// with a barrier after each step (`tile` 1). Data come from DRAM.
__global__ void __launch_bounds__(1024) walk_together(const uint4* base, int steps, int tile, unsigned* sink) {
  unsigned sum = 0;
  if (tile != 0) {
    for (int step = 0; step < steps; ++step) {
      sum += reinterpret_cast<const unsigned*>(base)[static_cast<unsigned>(step) * blockDim.x + threadIdx.x];
      if (sum == 0x12345) *sink = sum;
      __syncthreads();
    }
  } else {
#pragma unroll 4
    for (int step = 0; step < steps; ++step) sum = sum * 3 + (base[step].x ^ base[step].w);
  }
  if (sum == 0x12345) *sink = sum;
}

class Runner {
 public:
  Runner() : base_(std::size_t{512} << 20), role_(512), meet_(1), taken_(512), sink_(1) {
    int device = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaFuncSetAttribute(read_lines, cudaFuncAttributeMaxDynamicSharedMemorySize, 150 * 1024));
    base_.zero();
  }
  void pair(const char* question, const Reading& reading, int noise = 0, bool same_gpc = true) {
    std::vector<unsigned char> role(512, 0);
    role[0] = 1, role[1] = 2;
    const std::vector<int>& others = same_gpc ? kSame : kElsewhere;
    noise = std::min(noise, static_cast<int>(others.size()));
    for (int i = 0; i < noise; ++i) role[static_cast<std::size_t>(others[static_cast<std::size_t>(i)])] = static_cast<unsigned char>(3 + i);
    role_.upload(role);
    meet_.zero();
    taken_.zero();
    const int sectors = reading.lines * reading.rounds * (reading.whole ? 4 : 1);
    Answer("merging_capacity", question)
        .add("launch", launch_++)
        .add("lines", reading.lines).add("delay_cycles", reading.delay).add("whole_lines", reading.whole).add("stride", reading.stride)
        .add("noise_sms", noise).add("noise_delay", reading.noise_delay).add("noise_in_gpc", same_gpc)
        .add("noise_sectors", (noise) * 1024.0 * reading.rounds * (reading.whole ? 0.125 : 1))
        .print(sectors, "sector of each", 0);
    read_lines<<<static_cast<unsigned>(sms_), 1024, 150 * 1024>>>(reading, role_.get(), static_cast<unsigned>(2 + noise),
                                                                           base_.get(), meet_.get(), taken_.get(), sink_.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  void gather_words(unsigned blocks, unsigned threads, unsigned words, int loads) {
    Answer("merging_capacity", "every SM reads words of one table, in an order of its own")
        .add("launch", launch_++).add("blocks", blocks).add("threads", threads).add("words", words).add("loads", loads)
        .print(static_cast<double>(blocks) * threads * loads, "word", 0);
    gather<<<blocks, threads>>>(reinterpret_cast<const unsigned*>(base_.get()), words, loads, sink_.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  void walk(unsigned blocks, unsigned threads, int steps, int tile) {
    Answer("merging_capacity", "blocks that read the same in the same order")
        .add("launch", launch_++).add("blocks", blocks).add("threads", threads).add("steps", steps).add("tile", tile)
        .print(blocks * (tile ? threads / 8.0 : 0.5) * steps, "sector of all", 0);
    walk_together<<<blocks, threads>>>(reinterpret_cast<const uint4*>(base_.get()), steps, tile, sink_.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }

 private:
  Buffer<char> base_;
  Buffer<unsigned char> role_;
  Buffer<unsigned> meet_, taken_, sink_;
  // SMs that merge with SM 0 on the die of request_merging's answers, and some that do not.
  const std::vector<int> kSame{16, 17, 32, 33, 48, 49, 124, 125, 130, 131}, kElsewhere{2, 3, 4, 5, 6, 7, 10, 11, 12, 13};
  int sms_ = 0;
  int launch_ = 0;
};

int main() {
  Runner runner;
  const Reading plain{64, 32, 200, 100, 0, 1};
  for (int lines : {32, 64, 128, 256, 512, 1024}) {
    for (int delay : {0, 100, 200, 300}) {
      Reading reading = plain;
      reading.lines = lines, reading.delay = delay;
      runner.pair("many lines and a delay", reading);
    }
  }
  for (int delay : {100, 200}) {
    for (int noise : {1, 2, 4, 10}) {
      for (bool same : {true, false}) {
        Reading reading = plain;
        reading.delay = delay, reading.noise_delay = delay / 2;
        runner.pair("others between the two", reading, noise, same);
      }
    }
  }
  for (int lines : {4, 8, 16, 32}) {
    Reading reading = plain;
    reading.whole = 1, reading.lines = lines;
    runner.pair("whole lines and a delay", reading);
  }
  for (int lines : {64, 256, 1024}) {
    for (int delay : {0, 200}) {
      Reading reading = plain;
      reading.lines = lines, reading.delay = delay, reading.stride = 37;
      runner.pair("another order", reading);
    }
  }
  for (unsigned words : {1024u, 8192u, 32768u, 262144u}) {
    for (unsigned blocks : {16u, 132u}) {
      for (unsigned threads : {32u, 256u, 1024u}) runner.gather_words(blocks, threads, words, 1);
    }
  }
  for (unsigned words : {8192u, 32768u}) runner.gather_words(132, 256, words, 8);
  for (unsigned blocks : {2u, 4u, 8u, 9u, 16u, 132u}) {
    runner.walk(blocks, 64, 2048, 0);
    runner.walk(blocks, 256, 2048, 0);
    runner.walk(blocks, 256, 64, 1);
    runner.walk(blocks, 1024, 64, 1);
  }
  return 0;
}
