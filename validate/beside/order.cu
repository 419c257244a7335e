// Which warps of an SM go first when its schedulers are full: ends of warps by age, one JSON line a case.
//   order [REPEATS]
// Each warp of a kernel of multiply-adds notes its SM, its slot, and when it began and ended (%clock64). A line has, for each block of an SM in the
// order of their beginnings, the mean end of its warps by warp of the block (sub-core 0 and all), cycles after the SM's first begin.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#define OK(x)                                                                \
  do {                                                                       \
    cudaError_t code_ = (x);                                                 \
    if (code_ != cudaSuccess) {                                              \
      fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_));            \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

struct Note {
  unsigned long long from, to;
  unsigned sm, slot, block, warp;
};
__device__ unsigned long long cycle() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
  return t;
}
template <int CHAINS>
__global__ void work(float* out, int rounds, Note* notes) {
  extern __shared__ float tile[];
  const unsigned long long from = cycle();
  float v[CHAINS];
  for (int c = 0; c < CHAINS; ++c) v[c] = threadIdx.x + c;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 32 / CHAINS; ++i)
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) v[c] = fmaf(v[c], 0.999f, 0.25f);
  }
  float sum = 0;
  for (int c = 0; c < CHAINS; ++c) sum += v[c];
  if (sum == 12345.f) out[0] = sum + tile[0];
  const unsigned long long to = cycle();
  if (threadIdx.x % 32 == 0) {
    unsigned sm, slot;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
    notes[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = {from, to, sm, slot, blockIdx.x, threadIdx.x / 32};
  }
}
__global__ void spin(long cycles) {
  const unsigned long long from = cycle();
  while (cycle() - from < static_cast<unsigned long long>(cycles)) {}
}

struct Case {
  const char* name;
  int chains, block, shared, blocks, rounds, grids, priority;  // blocks: a grid
  double later;                                                // us, host
};
void launch(const Case& c, float* out, Note* notes, cudaStream_t s) {
  if (c.chains == 1) work<1><<<c.blocks, c.block, c.shared, s>>>(out, c.rounds, notes);
  else work<4><<<c.blocks, c.block, c.shared, s>>>(out, c.rounds, notes);
  OK(cudaGetLastError());
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 20, kNotes = 1 << 16;
  float* out;
  OK(cudaMalloc(&out, 4));
  Note* d[2];
  for (Note*& x : d) OK(cudaMalloc(&x, kNotes * sizeof(Note)));
  int low, high;
  OK(cudaDeviceGetStreamPriorityRange(&low, &high));
  cudaStream_t first, plain, urgent;
  OK(cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, low));
  OK(cudaStreamCreateWithPriority(&plain, cudaStreamNonBlocking, low));
  OK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, high));
  OK(cudaFuncSetAttribute(work<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  OK(cudaFuncSetAttribute(work<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  const int sms = 132;
  const Case cases[] = {
      {"one_block_32_warps", 4, 1024, 120 << 10, sms, 400, 1, 0, 0},
      {"one_block_32_warps", 1, 1024, 120 << 10, sms, 400, 1, 0, 0},
      {"two_blocks_16_warps", 4, 512, 100 << 10, 2 * sms, 400, 1, 0, 0},
      {"two_blocks_16_warps", 1, 512, 100 << 10, 2 * sms, 400, 1, 0, 0},
      {"eight_blocks_4_warps", 4, 128, 26 << 10, 8 * sms, 400, 1, 0, 0},
      {"eight_blocks_4_warps", 1, 128, 26 << 10, 8 * sms, 400, 1, 0, 0},
      {"waves_of_two_blocks_16_warps", 4, 512, 100 << 10, 6 * sms, 400, 1, 0, 0},
      {"two_grids_16_warps", 4, 512, 100 << 10, sms, 1200, 2, 0, 12},
      {"two_grids_16_warps", 1, 512, 100 << 10, sms, 1200, 2, 0, 12},
      {"two_grids_16_warps_second_urgent", 4, 512, 100 << 10, sms, 1200, 2, 1, 12},
      {"two_grids_4_warps", 1, 128, 100 << 10, sms, 4000, 2, 0, 12},
      {"two_grids_4_warps", 4, 128, 100 << 10, sms, 4000, 2, 0, 12},
  };
  for (const Case& c : cases) {
    // By grid, rank of the block on its SM, and warp: sums of begin and end; slots of the first repeat's SM 0.
    std::map<std::vector<int>, std::vector<double>> sums;
    std::map<std::vector<int>, unsigned> slots;
    for (int r = -2; r < repeats; ++r) {
      OK(cudaDeviceSynchronize());
      launch(c, out, d[0], first);
      if (c.grids == 2) {
        const auto from = std::chrono::steady_clock::now();
        while (std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - from).count() < c.later) {}
        launch(c, out, d[1], c.priority ? urgent : plain);
      }
      OK(cudaDeviceSynchronize());
      if (r < 0) continue;
      std::vector<std::vector<Note>> by_sm(sms);
      std::vector<Note> notes(c.blocks * c.block / 32);
      for (int g = 0; g < c.grids; ++g) {
        OK(cudaMemcpy(notes.data(), d[g], notes.size() * sizeof(Note), cudaMemcpyDeviceToHost));
        for (Note n : notes) {
          n.block += g << 20;
          by_sm[n.sm].push_back(n);
        }
      }
      for (int sm = 0; sm < sms; ++sm) {
        std::map<unsigned, unsigned long long> begins;
        unsigned long long zero = ~0ull;
        for (const Note& n : by_sm[sm]) {
          zero = std::min(zero, n.from);
          auto [at, fresh] = begins.try_emplace(n.block, n.from);
          if (!fresh) at->second = std::min(at->second, n.from);
        }
        std::vector<std::pair<unsigned long long, unsigned>> order;
        for (const auto& [block, begin] : begins) order.push_back({begin, block});
        std::sort(order.begin(), order.end());
        std::map<unsigned, int> rank;
        for (size_t i = 0; i < order.size(); ++i) rank[order[i].second] = static_cast<int>(i);
        for (const Note& n : by_sm[sm]) {
          const std::vector<int> key{static_cast<int>(n.block >> 20), rank[n.block], static_cast<int>(n.warp)};
          std::vector<double>& sum = sums[key];
          sum.resize(3);
          sum[0] += static_cast<double>(n.from - zero), sum[1] += static_cast<double>(n.to - zero), sum[2] += 1;
          if (sm == 0) slots.try_emplace(key, n.slot);
        }
      }
    }
    std::map<std::vector<int>, int> seen;
    printf("{\"case\": \"%s\", \"chains\": %d, \"block\": %d, \"rounds\": %d, \"grids\": %d, \"blocks\": [", c.name, c.chains, c.block, c.rounds, c.grids);
    const char* comma = "";
    for (const auto& [key, sum] : sums) {
      const std::vector<int> block{key[0], key[1]};
      if (!seen[block]++) {
        printf("%s{\"grid\": %d, \"rank\": %d, \"seen\": %.0f, \"warps\": [", comma, key[0], key[1], sum[2]);
        comma = "";
      }
      printf("%s[%d, %u, %.0f, %.0f]", comma, key[2], slots.count(key) ? slots[key] : 999, sum[0] / sum[2], sum[1] / sum[2]);
      comma = ", ";
      if (seen[block] == c.block / 32) printf("]}");
    }
    printf("], \"warps_are\": \"warp, slot on SM 0, mean begin, mean end\"}\n");
    fflush(stdout);
  }
  return 0;
}
