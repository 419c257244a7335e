// What does a block wait for when it ends, and how fast do many short blocks pass that only store?
//
// Models:  blocks that end right after their last instruction: nothing, stores of whole lines or of words of scattered
//          sectors, reductions, swaps nobody waits for; the cycles from a block's last clock read to the first one of the
//          block that takes its place; the time of a grid of many such blocks.
// Ignores: the block's own stamp is a store as well: `nothing` is the base line.
// Source:  the SMs' clocks; events for the grids.
#include "bench.cuh"

using namespace bench;

enum class Ending { kNothing, kLines, kSectors, kReductions, kFarSectors, kOneWord, kOneWordAtomics };
const char* const kNames[] = {"nothing", "store_lines", "store_word_of_sectors", "reduction_of_lines", "store_word_of_sectors_in_dram",
                              "reduction_of_one_word", "atomic_of_one_word_nobody_waits_for"};

__device__ __forceinline__ unsigned scatter(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

template <Ending kEnding>
__device__ __forceinline__ void end_with(unsigned* base, unsigned sectors, int count) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < count; ++k) {
    const unsigned i = static_cast<unsigned>(k) * threads + thread;
    if constexpr (kEnding == Ending::kLines) {
      base[i & (sectors * 8 - 1)] = i;
    } else if constexpr (kEnding == Ending::kReductions) {
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(base + (i & (sectors * 8 - 1))), "r"(1) : "memory");
    } else if constexpr (kEnding == Ending::kOneWord) {
      asm volatile("red.global.add.u32 [%0], %1;" ::"l"(base + (thread & (sectors - 1))), "r"(1) : "memory");
    } else if constexpr (kEnding == Ending::kOneWordAtomics) {
      unsigned old;  // a swap, which the assembler cannot make a reduction of
      asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(base + (thread & (sectors - 1))), "r"(k) : "memory");
    } else if constexpr (kEnding != Ending::kNothing) {
      base[static_cast<std::size_t>(scatter(i) & (sectors - 1)) * 8] = i;
    }
  }
}

/// `sectors` is a power of two: a division would take longer than what is asked. Spins so that all blocks of an SM do not end together, then ends.
template <Ending kEnding>
__global__ void __launch_bounds__(1024) timed(unsigned* base, unsigned sectors, int count, unsigned cycles, Stamp* out) {
  const unsigned long long t0 = clock_now();
  while (clock_now() - t0 < cycles + blockIdx.x % 16 * 16) {
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
  end_with<kEnding>(base, sectors, count);
}

template <Ending kEnding>
__global__ void __launch_bounds__(1024) bare(unsigned* base, unsigned sectors, int count) {
  end_with<kEnding>(base, sectors, count);
}

template <Ending kEnding>
void ask(unsigned* base, unsigned sectors, Buffer<Stamp>& out) {
  const int sms = device().multiProcessorCount;
  const int shared = 200 * 1024;  // one block an SM
  CHECK(cudaFuncSetAttribute(timed<kEnding>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  for (int count : {1, 4, 16}) {
    if (kEnding == Ending::kNothing && count > 1) continue;
    for (int threads : {32, 256, 1024}) {
      for (int blocks : {2 * sms + 1, 24 * sms}) {
        std::vector<double> gaps;
        for (int r = 0; r < 3; ++r) {
          timed<kEnding><<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), shared>>>(base, sectors, count, 1000, out.get());
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          std::vector<std::vector<Stamp>> by_sm(static_cast<std::size_t>(sms));
          for (const Stamp& s : out.download(static_cast<std::size_t>(blocks))) by_sm[s.sm].push_back(s);
          if (r == 0) continue;
          for (auto& list : by_sm) {
            std::sort(list.begin(), list.end(), [](const Stamp& a, const Stamp& b) { return a.start < b.start; });
            for (std::size_t k = 1; k < list.size(); ++k) gaps.push_back(static_cast<double>(list[k].start) - static_cast<double>(list[k - 1].stop));
          }
        }
        std::sort(gaps.begin(), gaps.end());
        Answer("block_end", "cycles from a block's last clock read, its stores behind it, to the first of the block after it")
            .add_text("ending", kNames[static_cast<int>(kEnding)])
            .add("instructions", count)
            .add("threads", threads)
            .add("blocks", blocks)
            .add("p10", gaps[gaps.size() / 10])
            .add("p90", gaps[gaps.size() * 9 / 10])
            .print(gaps[gaps.size() / 2], "cycle", gaps.back() - gaps.front());
      }
    }
  }
  for (int count : {1, 4}) {
    for (int threads : {32, 128, 256, 1024}) {
      const int blocks = 64 * sms * 256 / threads;
      const Summary time = event_time([&] { bare<kEnding><<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads)>>>(base, sectors, count); }, 5);
      Answer("short_blocks", "nanoseconds of a grid of short blocks")
          .add_text("ending", kNames[static_cast<int>(kEnding)])
          .add("instructions", count)
          .add("threads", threads)
          .add("blocks", blocks)
          .print(time, "ns");
    }
  }
}

int main() {
  Buffer<unsigned> near(8 << 20), far(std::size_t{1} << 30);
  Buffer<Stamp> out(1 << 14);
  near.zero();
  far.zero();
  ask<Ending::kNothing>(near.get(), 1 << 20, out);
  ask<Ending::kLines>(near.get(), 1 << 20, out);
  ask<Ending::kSectors>(near.get(), 1 << 18, out);  // 8 MiB
  ask<Ending::kReductions>(near.get(), 1 << 18, out);
  ask<Ending::kFarSectors>(far.get(), 1 << 27, out);  // 4 GiB
  ask<Ending::kOneWord>(near.get(), 1, out);
  ask<Ending::kOneWordAtomics>(near.get(), 1, out);
  return 0;
}
