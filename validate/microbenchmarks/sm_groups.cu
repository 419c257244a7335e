// How much do SMs get of L2 beside each other, by where they sit: in one TPC, one CPC, one GPC, or one from each?
//
// Models:  chosen SMs store lone words or lines, load lone sectors or lines that L2 holds, or add to lines, the others do nothing.
//          GPCs are told by the SMs that share clusters; a GPC's TPCs, in order of number, go round its three CPCs.
// Ignores: DRAM; SMs that no cluster of 16 reaches.
// Source:  the SMs' clocks, of each chosen SM from its first access to its last one's end.
#include "bench.cuh"
#include "sm_sets.cuh"

using namespace bench;

enum Work : int { kStoreWords, kStoreLines, kLoadSectors, kLoadLines, kAddLines, kKinds };
const char* const kNames[] = {"store_lone_words", "store_lines", "load_lone_sectors", "load_lines", "add_to_lines"};
const unsigned kBytes[] = {32, 512, 32, 512, 128};  // of L2's sectors that a lane (lone) or a warp's instruction (lines) is for
constexpr unsigned kSpan = 8u << 20, kThreads = 1024;

template <int kWork>
__global__ void __launch_bounds__(kThreads) work(char* base, const unsigned char* chosen, unsigned rounds, unsigned* sink, unsigned* cycles) {
  extern __shared__ char alone[];
  const unsigned sm = sm_id();
  if (!chosen[sm]) return;
  unsigned sum = threadIdx.x;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (unsigned r = 0; r < rounds; ++r) {
    const unsigned number = (sm * rounds + r) * kThreads + threadIdx.x;
    char* const lone = base + scrambled(number) % (kSpan / 32) * 32;
    char* const line = base + (scrambled(number / 32) % (kSpan / 512) * 512 + threadIdx.x % 32 * 16);
    if constexpr (kWork == kStoreWords) {
      asm volatile("st.global.cg.u32 [%0], %1;" ::"l"(lone), "r"(r) : "memory");
    } else if constexpr (kWork == kStoreLines) {
      asm volatile("st.global.cg.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(line), "r"(r) : "memory");
    } else if constexpr (kWork == kLoadSectors) {
      unsigned v;
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(lone) : "memory");
      sum ^= v;
    } else if constexpr (kWork == kLoadLines) {
      unsigned a, b, c, d;
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(line) : "memory");
      sum ^= a ^ b ^ c ^ d;
    } else {
      char* const word = base + (scrambled(number / 32) % (kSpan / 128) * 128 + threadIdx.x % 32 * 4);
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(word), "r"(1) : "memory");
    }
  }
  if (sum == 0x12345) *sink = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) cycles[sm] = static_cast<unsigned>(clock_now() - t0);
}

__global__ void where(unsigned* out) {
  extern __shared__ char alone[];
  if (threadIdx.x == 0) out[blockIdx.x] = sm_id();
  for (const unsigned long long t0 = clock_now(); clock_now() - t0 < 20000;) {
  }
}

/// The SMs of each GPC, in order of number, as clusters of 16 show them.
std::vector<std::vector<unsigned>> gpcs() {
  CHECK(cudaFuncSetAttribute(where, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(cudaFuncSetAttribute(where, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  SmSets together;
  Buffer<unsigned> out(1024);
  for (const unsigned size : {2u, 4u, 6u, 8u, 10u, 12u, 14u, 16u}) {
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {size, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(size);
    config.blockDim = dim3(128);
    config.dynamicSmemBytes = 200 * 1024;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int most = 0;
    if (cudaOccupancyMaxActiveClusters(&most, where, &config) != cudaSuccess || most == 0) continue;
    config.gridDim = dim3(size * static_cast<unsigned>(most));
    for (int repeat = 0; repeat < 8; ++repeat) {
      CHECK(cudaLaunchKernelEx(&config, where, out.get()));
      CHECK(cudaDeviceSynchronize());
      const std::vector<unsigned> sms = out.download(config.gridDim.x);
      for (std::size_t i = 0; i < sms.size(); ++i) together.join(sms[i], sms[i - i % size]);
    }
  }
  std::vector<std::vector<unsigned>> found;
  for (const std::vector<unsigned>& members : together.sets(256))
    if (members.size() >= 16) found.push_back(members);
  return found;
}

struct Bench {
  unsigned sms;
  Buffer<char> memory{kSpan};
  Buffer<unsigned> sink{1}, cycles{256};
  Buffer<unsigned char> flags{256};

  template <int kWork>
  void ask(const char* name, const std::vector<unsigned>& chosen) {
    std::vector<unsigned char> flag(256, 0);
    for (const unsigned sm : chosen) flag[sm] = 1;
    flags.upload(flag);
    CHECK(cudaFuncSetAttribute(work<kWork>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
    const bool lone = kWork == kStoreWords || kWork == kLoadSectors;
    const unsigned rounds = lone ? 32 : 128;
    std::vector<double> of_sm(chosen.size(), 0), means;
    constexpr int kRepeats = 4;
    for (int repeat = 0; repeat <= kRepeats; ++repeat) {
      work<kWork><<<sms, kThreads, 200 * 1024>>>(memory.get(), flags.get(), rounds, sink.get(), cycles.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      if (repeat == 0) continue;
      const std::vector<unsigned> took = cycles.download();
      double mean = 0;
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const double rate = 1.0 * rounds * (lone ? kThreads : kThreads / 32) * kBytes[kWork] / took[chosen[i]];
        of_sm[i] += rate / kRepeats;
        mean += rate / static_cast<double>(chosen.size());
      }
      means.push_back(mean);
    }
    Answer("sm_groups", "bytes of L2's sectors that a chosen SM stores, loads or adds to per cycle, the mean of the chosen")
        .add_text("work", kNames[kWork])
        .add_text("chosen", name)
        .add("sm_count", static_cast<double>(chosen.size()))
        .add("sms", std::vector<double>(chosen.begin(), chosen.end()))
        .add("by_sm", of_sm)
        .print(summarize(means), "B/cycle/SM");
  }
  void ask_all(const char* name, const std::vector<unsigned>& chosen) {
    if (chosen.empty()) return;
    ask<kStoreWords>(name, chosen);
    ask<kStoreLines>(name, chosen);
    ask<kLoadSectors>(name, chosen);
    ask<kLoadLines>(name, chosen);
    ask<kAddLines>(name, chosen);
  }
};

int main() {
  int count = 0;
  CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  Bench bench{static_cast<unsigned>(count)};
  bench.memory.zero();
  const std::vector<std::vector<unsigned>> found = gpcs();
  /// SMs of the GPCs with `size` SMs (0: all), at most `gpc_count`, of each the first `tpcs` TPCs of the CPCs in mask `cpcs`, `per_tpc` of each.
  const auto pick = [&](std::size_t size, unsigned gpc_count, unsigned cpcs, unsigned tpcs, unsigned per_tpc) {
    std::vector<unsigned> chosen;
    for (const std::vector<unsigned>& gpc : found) {
      if ((size && gpc.size() != size) || gpc_count == 0) continue;
      --gpc_count;
      for (unsigned i = 0; i < gpc.size(); ++i) {
        const unsigned tpc = i / 2, cpc = tpc % 3;
        if ((cpcs >> cpc & 1) && tpc / 3 < tpcs && i % 2 < per_tpc) chosen.push_back(gpc[i]);
      }
    }
    return chosen;
  };
  bench.ask_all("one SM", pick(18, 1, 1, 1, 1));
  bench.ask_all("one TPC", pick(18, 1, 1, 1, 2));
  bench.ask_all("one SM of two TPCs of a CPC", pick(18, 1, 1, 2, 1));
  bench.ask_all("one SM of each TPC of a CPC", pick(18, 1, 1, 3, 1));
  bench.ask_all("two TPCs of a CPC", pick(18, 1, 1, 2, 2));
  bench.ask_all("a CPC of six", pick(18, 1, 1, 3, 2));
  bench.ask_all("a CPC of four", pick(16, 1, 4, 3, 2));
  bench.ask_all("one SM of each CPC of a GPC", pick(18, 1, 7, 1, 1));
  bench.ask_all("one TPC of each CPC of a GPC", pick(18, 1, 7, 1, 2));
  bench.ask_all("two TPCs of each CPC of a GPC", pick(18, 1, 7, 2, 2));
  bench.ask_all("two CPCs of six", pick(18, 1, 3, 3, 2));
  bench.ask_all("a GPC of 18", pick(18, 1, 7, 3, 2));
  bench.ask_all("a GPC of 16", pick(16, 1, 7, 3, 2));
  bench.ask_all("a CPC of six of each GPC", pick(0, 8, 1, 3, 2));
  bench.ask_all("a CPC of four of each GPC of 16", pick(16, 8, 4, 3, 2));
  bench.ask_all("one SM of each CPC", pick(0, 8, 7, 1, 1));
  bench.ask_all("one TPC of each CPC", pick(0, 8, 7, 1, 2));
  bench.ask_all("two TPCs of each CPC", pick(0, 8, 7, 2, 2));
  bench.ask_all("GPCs of 18", pick(18, 8, 7, 3, 2));
  bench.ask_all("GPCs of 16", pick(16, 8, 7, 3, 2));
  bench.ask_all("GPCs of 16 and 18", pick(0, 8, 7, 3, 2));
  std::vector<unsigned> all(bench.sms);
  std::iota(all.begin(), all.end(), 0u);
  bench.ask_all("all", all);
  return 0;
}
