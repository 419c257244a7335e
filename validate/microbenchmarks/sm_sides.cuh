// Which partition of L2 is near each SM, and which each page of memory begins in: atomics, which are done at home, tell.
//
// Models:  two partitions; runs of 4 KiB of a page are in one, by the parity of some of the address's bits, which are asked for, and of the
//          page's own.
// Source:  the SMs' clocks.
#pragma once

#include "bench.cuh"

namespace bench {

constexpr unsigned kPage = 2u << 20, kGranule = 4096;
/// The bits of an address within its page whose parity says which partition; find_sides sets it.
static __device__ unsigned partition_mask;

/// By block: cycles of an atomic on a word of each of `pages` places, `apart` bytes from one to the next, the least of four; then its SM.
static __global__ void atomic_latencies(char* base, unsigned pages, unsigned* out, std::size_t apart = kPage) {
  for (unsigned page = 0; page < pages; ++page) {
    unsigned least = ~0u;
    for (int i = 0; i < 4; ++i) {
      unsigned v;
      const unsigned t0 = clock();
      asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(v) : "l"(base + page * apart + blockIdx.x % 128 * 32) : "memory");
      if (v != 0) out[0] = v;  // none is; the clock is read after the answer
      least = min(least, static_cast<unsigned>(clock()) - t0);
    }
    out[blockIdx.x * pages + page] = least;
  }
  if (threadIdx.x == 0) out[gridDim.x * pages + blockIdx.x] = sm_id();
}

/// The `n`th line of partition `side`, of a buffer whose pages' first granules are in partition `flip`.
__device__ __forceinline__ char* line(char* base, const unsigned char* flip, unsigned n, unsigned side) {
  const unsigned pair = n / 32;
  const std::size_t at = std::size_t{pair} * 8192;
  const unsigned parity = __popc(static_cast<unsigned>(at) & partition_mask) & 1;
  const unsigned odd = side ^ parity ^ flip[at / kPage];
  return base + at + odd * kGranule + n % 32 * 128;
}

/// Partitions as seen by the SM that the first block runs on: 0 is near it.
struct Sides {
  std::vector<unsigned char> flip;  // by page: whether its first granule is in the first SM's other partition
  std::vector<unsigned char> side;  // by SM
  std::vector<unsigned> sms;        // the SMs that blocks ran on
  unsigned mask = 0;                // as partition_mask
  unsigned least = 0, most = 0;     // cycles of an atomic, by page
};

/// Of `pages` pages from `base` on, which lies at the begin of one.
inline Sides find_sides(char* base, unsigned pages) {
  const unsigned sms = static_cast<unsigned>(device().multiProcessorCount);
  Buffer<unsigned> took(std::max(sms, 512u) * (pages + 1));
  atomic_latencies<<<1, 1>>>(base, pages, took.get());
  CHECK(cudaDeviceSynchronize());
  const std::vector<unsigned> by_page = took.download(pages + 1);
  std::vector<unsigned> sorted(by_page.begin(), by_page.begin() + pages);
  std::sort(sorted.begin(), sorted.end());
  Sides result{std::vector<unsigned char>(pages), std::vector<unsigned char>(256, 0), {}, 0, sorted.front(), sorted[pages - 1 - pages / 50]};
  const unsigned between = (result.least + result.most) / 2;
  atomic_latencies<<<1, 1>>>(base, kPage / kGranule, took.get(), kGranule);
  CHECK(cudaDeviceSynchronize());
  const std::vector<unsigned> granules = took.download(kPage / kGranule);
  for (unsigned bit = kGranule; bit < kPage; bit *= 2)
    if ((granules[bit / kGranule] > between) != (granules[0] > between)) result.mask |= bit;
  CHECK(cudaMemcpyToSymbol(partition_mask, &result.mask, sizeof result.mask));
  unsigned near_page = pages, far_page = pages;
  for (unsigned p = 0; p < pages; ++p) {
    result.flip[p] = by_page[p] > between;
    (result.flip[p] ? far_page : near_page) = p;
  }
  const auto ask = [&](unsigned page) {
    atomic_latencies<<<sms, 1>>>(base + std::size_t{page} * kPage, 1, took.get());
    CHECK(cudaDeviceSynchronize());
    return took.download(2 * sms);
  };
  const std::vector<unsigned> near = ask(near_page), far = ask(far_page);
  std::vector<unsigned> to_far(256, 0);
  for (unsigned b = 0; b < sms; ++b) to_far[far[sms + b] & 255] = far[b];
  for (unsigned b = 0; b < sms; ++b) {
    const unsigned id = near[sms + b] & 255;
    result.sms.push_back(id);
    result.side[id] = near[b] > to_far[id];
  }
  return result;
}

}  // namespace bench
