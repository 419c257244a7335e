// Which blocks of an SM go first where memory limits them: mean begin and end of the blocks by age, one JSON line per case.
//   order_memory [REPEATS]
// Each warp does the same work: multiply-adds, loads from shared memory, loads that L1, L2 or DRAM answers, or stores, several under way at a time.
// Blocks are ordered by their begin on their SM; times are SM cycles after the SM's first begin, means over SMs and repeats.
#include <cuda_runtime.h>

#include <algorithm>
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

enum Kind : int { compute, shared_loads, l1_loads, l2_loads, dram_loads, stores };
const char* const kNames[] = {"compute", "shared_loads", "l1_loads", "l2_loads", "dram_loads", "stores"};

struct Note {
  unsigned long long from, to;
  unsigned sm, block;
};

template <int K>
__global__ void __launch_bounds__(256) work(float* memory, int rounds, Note* notes, float* sink) {
  __shared__ float tile[1024];
  const unsigned long long from = clock64();
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32,
                 warps = gridDim.x * blockDim.x / 32;
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = 0;
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    float v[4] = {sum, 1, 2, 3};
    if (K == compute) {
#pragma unroll
      for (int i = 0; i < 16; ++i)
#pragma unroll
        for (int c = 0; c < 4; ++c) v[c] = fmaf(v[c], 0.999f, 0.25f);
    } else {
#pragma unroll
      for (unsigned c = 0; c < 4; ++c) {
        // L1: 16 KiB that all warps read; L2: 8 MiB; DRAM: each line once.
        const size_t line = K == l1_loads ? (r * 4 + c) % 128
                            : K == l2_loads ? (static_cast<size_t>(r * 4 + c) * warps + warp) % 65536
                                            : static_cast<size_t>(r * 4 + c) * warps + warp;
        if (K == shared_loads) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v[c]) : "r"((r * 4 + c) % 32 * 128 + lane * 4 + static_cast<unsigned>(__cvta_generic_to_shared(tile))) : "memory");
        else if (K == stores) memory[line * 32 + lane] = static_cast<float>(r);
        else asm volatile("ld.global.f32 %0, [%1];" : "=f"(v[c]) : "l"(memory + line * 32 + lane) : "memory");
      }
    }
    sum += v[0] + v[1] + v[2] + v[3];
  }
  if (sum == 12345.f) *sink = sum;
  const unsigned long long to = clock64();
  if (lane == 0) {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    notes[warp] = {from, to, sm, blockIdx.x};
  }
}

template <int K>
void ask(float* memory, Note* device_notes, float* sink, int repeats, int rounds, int waves) {
  const int sms = 132, blocks = sms * 8 * waves, warps = blocks * 8;
  std::map<int, std::vector<double>> sums;  // by rank of the block on its SM
  for (int r = -1; r < repeats; ++r) {
    work<K><<<blocks, 256>>>(memory, rounds, device_notes, sink);
    OK(cudaDeviceSynchronize());
    if (r < 0) continue;
    std::vector<Note> notes(static_cast<size_t>(warps));
    OK(cudaMemcpy(notes.data(), device_notes, notes.size() * sizeof(Note), cudaMemcpyDeviceToHost));
    std::map<unsigned, std::map<unsigned, std::pair<unsigned long long, unsigned long long>>> by_sm;
    for (const Note& n : notes) {
      auto [at, fresh] = by_sm[n.sm].try_emplace(n.block, n.from, n.to);
      if (!fresh) at->second = {std::min(at->second.first, n.from), std::max(at->second.second, n.to)};
    }
    for (const auto& [sm, of_sm] : by_sm) {
      std::vector<std::pair<unsigned long long, unsigned long long>> order;
      for (const auto& [block, times] : of_sm) order.push_back(times);
      std::sort(order.begin(), order.end());
      for (size_t i = 0; i < order.size(); ++i) {
        auto& sum = sums[static_cast<int>(i)];
        sum.resize(3);
        sum[0] += static_cast<double>(order[i].first - order[0].first);
        sum[1] += static_cast<double>(order[i].second - order[0].first);
        sum[2] += 1;
      }
    }
  }
  printf("{\"case\": \"%s\", \"rounds\": %d, \"waves\": %d, \"blocks\": [", kNames[K], rounds, waves);
  const char* comma = "";
  for (const auto& [rank, sum] : sums) {
    printf("%s[%.0f, %.0f]", comma, sum[0] / sum[2], sum[1] / sum[2]);
    comma = ", ";
  }
  printf("], \"blocks_are\": \"mean begin, mean end, by begin on the SM\"}\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 20;
  float *memory, *sink;
  Note* notes;
  OK(cudaMalloc(&memory, size_t{4} << 30));
  OK(cudaMemset(memory, 0, size_t{4} << 30));
  OK(cudaMalloc(&sink, 4));
  OK(cudaMalloc(&notes, (1 << 17) * sizeof(Note)));
  for (const int waves : {1, 3}) {
    ask<compute>(memory, notes, sink, repeats, 200, waves);
    ask<shared_loads>(memory, notes, sink, repeats, 400, waves);
    ask<l1_loads>(memory, notes, sink, repeats, 400, waves);
    ask<l2_loads>(memory, notes, sink, repeats, 100, waves);
    ask<dram_loads>(memory, notes, sink, repeats, 60, waves);
    ask<stores>(memory, notes, sink, repeats, 60, waves);
  }
  return 0;
}
