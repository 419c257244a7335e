// Which slice of L2 does each line of a 2 MiB page lie in?
//
// Models:  all SMs add to two lines in turn; in one slice the lines wait for each other, in two they do not. Every line of the first page is
//          tried against one line of each slice found so far, and is the first of a new slice where it waits for none; some lines of other pages
//          are tried against the same ones, so that their slices have the same numbers. Numbers are by the order in which slices were found.
// Ignores: which partition a slice is in; the physical pages behind neighbouring 2 MiB, which are by chance.
// Source:  the SMs' clocks.
#include "bench.cuh"

using namespace bench;

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr unsigned kLine = 128, kLines = kPage / kLine, kWarps = 4, kAdds = 32, kSome = 64;

/// Waits until all blocks have come `turn` times.
__device__ void meet(unsigned* count, unsigned turn) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
    while (*reinterpret_cast<volatile unsigned*>(count) < turn * gridDim.x) {
    }
  }
  __syncthreads();
}

/// The cycles in which all SMs have added to `fixed` and to each of the `tries` lines in turn, by the clock of block 0.
__global__ void __launch_bounds__(32 * kWarps) pairs(char* memory, unsigned fixed, const unsigned* lines, unsigned tries, unsigned* count,
                                                     unsigned* cycles) {
  char* const first = memory + std::size_t{fixed} * kLine;
  for (unsigned i = 0; i < tries; ++i) {
    char* const second = memory + std::size_t{lines[i]} * kLine;
    meet(count, 2 * i + 1);
    const unsigned long long t0 = clock_now();
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (unsigned k = 0; k < kAdds; ++k) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"((k + threadIdx.x / 32) % 2 ? second : first), "r"(1) : "memory");
      }
      __threadfence();
    }
    meet(count, 2 * i + 2);
    if (blockIdx.x == 0 && threadIdx.x == 0) cycles[i] = static_cast<unsigned>(clock_now() - t0);
  }
}

int main() {
  const unsigned sms = static_cast<unsigned>(device().multiProcessorCount);
  const std::vector<unsigned> pages = {0, 1, 2, 3, 4, 8, 12, 16, 32, 64, 128, 256, 512, 1024, 1536, 2048, 4096, 8192, 16384};
  Buffer<char> memory((pages.back() + 2) * kPage);
  char* const base = memory.get() + (kPage - reinterpret_cast<std::uintptr_t>(memory.get()) % kPage) % kPage;
  Buffer<unsigned> lines(kLines), cycles(kLines), count(32);
  const auto times = [&](unsigned fixed, const std::vector<unsigned>& tried) {
    CHECK(cudaMemcpy(lines.get(), tried.data(), tried.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(count.get(), 0, sizeof(unsigned)));
    pairs<<<sms, 32 * kWarps>>>(base, fixed, lines.get(), static_cast<unsigned>(tried.size()), count.get(), cycles.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned> all = cycles.download();
    all.resize(tried.size());
    return all;
  };
  // The time of a line with itself, and the least of others with it: a pair that shares a slice takes about as long as the first.
  std::vector<unsigned> probe(1, 0);
  for (unsigned i = 1; i < 512; ++i) probe.push_back(i * 37 % kLines);
  times(0, probe);
  const std::vector<unsigned> first = times(0, probe);
  std::vector<unsigned> sorted(first.begin() + 1, first.end());
  std::sort(sorted.begin(), sorted.end());
  const double alone = first[0], apart = sorted[sorted.size() / 2], limit = apart + (alone - apart) * 3 / 4;
  Answer("slice_map", "adding to one line and to two of different slices: cycles").add("same", alone).print(apart, "cycle", sorted.back() - sorted.front());

  std::vector<unsigned> found;  // a line of each slice
  for (const unsigned page : pages) {
    const unsigned step = page == 0 ? 1 : kLines / kSome + 2;  // neither lines at one place of each granule nor of one slice
    std::vector<int> slice(kLines, -1);
    unsigned known = 0;
    double doubtful = 0;
    for (;;) {
      std::vector<unsigned> left;
      for (unsigned i = 0; i < kLines; i += step) {
        if (slice[i] < 0) left.push_back(page * kLines + i);
      }
      if (left.empty()) break;
      if (known == found.size()) {
        if (page != 0 || found.size() == 128) break;  // none that the first page has not
        found.push_back(left.front());
      }
      const std::vector<unsigned> taken = times(found[known], left);
      for (std::size_t i = 0; i < left.size(); ++i) {
        if (taken[i] > limit || left[i] == found[known]) slice[left[i] - page * kLines] = static_cast<int>(known);
        if (taken[i] > limit - (alone - apart) / 8 && taken[i] < limit + (alone - apart) / 8) ++doubtful;
      }
      ++known;
    }
    std::string text;
    for (unsigned i = 0; i < kLines; i += step) {
      char two[8];
      std::snprintf(two, sizeof two, "%02x", slice[i] < 0 ? 255u : static_cast<unsigned>(slice[i]));
      text += two;
    }
    Answer("slice_map", "slices of a page's lines, every step-th, two hexadecimal digits each")
        .add("page", page)
        .add("step", step)
        .add("doubtful", doubtful)
        .add_text("map", text)
        .print(static_cast<double>(found.size()), "slice", 0);
  }
  return 0;
}
