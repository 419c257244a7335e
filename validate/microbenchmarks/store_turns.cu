// Which warps take turns at the memory queue while it is full of stores?
//
// Models:  each warp writes records of several words field by field, as an array of structures is written, or whole lines, and reads the clock
//          behind each store, with dependent multiplications before the next. The clock reads of all warps of a sub-core, in order, tell who
//          went when: how often the same warp goes again, and how many warps take turns within 8 and 16 stores. `order`: the warps of one
//          sub-core in the middle of its work, by their number in their block.
// Ignores: what waits between the queue and L2 (stores_under_way).
// Source:  the SMs' clocks.
#include "bench.cuh"

using namespace bench;

constexpr int kRecords = 6;

template <int kWords, int kChain>
__global__ void __launch_bounds__(1024) turns(unsigned* base, unsigned words_apart, unsigned* out, unsigned* place) {
  constexpr int kStores = kWords * kRecords;
  const unsigned threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned times[kStores];
  unsigned x = threadIdx.x;
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kRecords; ++r) {
    unsigned* const record = base + (static_cast<std::size_t>(r) * threads + thread) * words_apart;
#pragma unroll
    for (int f = 0; f < kWords; ++f) {
#pragma unroll
      for (int k = 0; k < kChain; ++k) asm volatile("mad.lo.u32 %0, %0, %0, %1;" : "+r"(x) : "r"(threadIdx.x) : "memory");
      asm volatile("st.global.u32 [%0], %1;" ::"l"(record + f), "r"(x) : "memory");
      asm volatile("mov.u32 %0, %%clock;" : "=r"(times[r * kWords + f])::"memory");
    }
  }
  if (threadIdx.x % 32 != 0) return;
  const unsigned warp = thread / 32;
  unsigned slot;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
  place[warp] = sm_id() << 16 | slot;
#pragma unroll
  for (int i = 0; i < kStores; ++i) out[warp * kStores + i] = times[i];
}

struct Event {
  unsigned time, warp;
};

template <int kWords, int kChain>
void ask(unsigned* base, Buffer<unsigned>& out, Buffer<unsigned>& place, int blocks_an_sm, int threads) {
  constexpr int kStores = kWords * kRecords;
  const int blocks = blocks_an_sm * device().multiProcessorCount, warps = blocks * threads / 32;
  const int shared = 200 * 1024 / blocks_an_sm;  // so many blocks an SM
  CHECK(cudaFuncSetAttribute(turns<kWords, kChain>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  for (int repeat = 0; repeat < 2; ++repeat) {
    turns<kWords, kChain><<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), static_cast<std::size_t>(shared)>>>(
        base, static_cast<unsigned>(kWords), out.get(), place.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  const std::vector<unsigned> times = out.download(static_cast<std::size_t>(warps) * kStores);
  const std::vector<unsigned> places = place.download(static_cast<std::size_t>(warps));
  std::vector<std::vector<Event>> by_core(static_cast<std::size_t>(device().multiProcessorCount) * 4);
  for (int w = 0; w < warps; ++w) {
    const unsigned at = places[static_cast<std::size_t>(w)];
    for (int i = 0; i < kStores; ++i)
      by_core[(at >> 16) * 4 + (at & 3)].push_back({times[static_cast<std::size_t>(w * kStores + i)], static_cast<unsigned>(w)});
  }
  double again = 0, of8 = 0, of16 = 0, looked = 0;
  std::vector<double> order;
  for (std::vector<Event>& events : by_core) {
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
    for (std::size_t i = 16; i + 16 < events.size(); ++i) {  // the queue is full from about the 16th on
      again += events[i].warp == events[i - 1].warp;
      const auto distinct = [&](std::size_t count) {
        std::vector<unsigned> seen;
        for (std::size_t k = i - count; k < i; ++k) seen.push_back(events[k].warp);
        std::sort(seen.begin(), seen.end());
        return static_cast<double>(std::unique(seen.begin(), seen.end()) - seen.begin());
      };
      of8 += distinct(8);
      of16 += distinct(16);
      looked += 1;
    }
    if (order.empty() && events.size() >= 48) {
      const std::size_t from = (events.size() - 32) / 2;
      for (std::size_t i = from; i < from + 32; ++i) order.push_back(events[i].warp % static_cast<unsigned>(threads / 32) + 100.0 * (events[i].warp / static_cast<unsigned>(threads / 32) / device().multiProcessorCount));
    }
  }
  Answer("store_turns", "share of a sub-core's stores that come from the warp of the one before, while its queue is full")
      .add("words", kWords)
      .add("multiplications", kChain)
      .add("blocks_an_sm", blocks_an_sm)
      .add("threads", threads)
      .add("warps_of_8_stores", of8 / looked)
      .add("warps_of_16_stores", of16 / looked)
      .add("order", order)
      .print(again / looked, "1", 0);
}

template <int kWords, int kChain>
void ask_all(unsigned* base, Buffer<unsigned>& out, Buffer<unsigned>& place) {
  ask<kWords, kChain>(base, out, place, 1, 256);
  ask<kWords, kChain>(base, out, place, 1, 1024);
  ask<kWords, kChain>(base, out, place, 4, 256);
  ask<kWords, kChain>(base, out, place, 8, 256);
  ask<kWords, kChain>(base, out, place, 16, 128);
}

int main() {
  Buffer<unsigned> memory((std::size_t{512} << 20) / 4), out(132 * 64 * 64 * 2), place(132 * 64 * 2);
  memory.zero();
  ask_all<4, 0>(memory.get(), out, place);
  ask_all<4, 1>(memory.get(), out, place);
  ask_all<4, 4>(memory.get(), out, place);
  ask_all<5, 1>(memory.get(), out, place);
  ask_all<6, 0>(memory.get(), out, place);
  ask_all<6, 1>(memory.get(), out, place);
  ask_all<6, 4>(memory.get(), out, place);
  ask_all<8, 1>(memory.get(), out, place);
  return 0;
}
