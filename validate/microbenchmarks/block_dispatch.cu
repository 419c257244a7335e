// In what order, how fast and at what cost are blocks started and ended?
//
// Models:  the SM of each block of a grid by occupancy; the time of empty grids by the number and
//          size of blocks; the cycles between the end of a block and the first instruction of the
//          next one on the same SM; the time until the first instruction of every SM's first block.
// Ignores: clusters, priorities, several streams.
// Source:  %smid, clock64 and globaltimer of every block; events.
#include "bench.cuh"

using namespace bench;

/// Every block spins `cycles` cycles and writes when and where it ran.
__global__ void spin_block(Stamp* out, unsigned cycles) {
  const unsigned long long t0 = clock_now(), n0 = nanoseconds_now();
  if (threadIdx.x == 0) {
    out[blockIdx.x].start = t0;
    out[blockIdx.x].start_ns = n0;
    out[blockIdx.x].sm = sm_id();
    out[blockIdx.x].block = blockIdx.x;
  }
  while (clock_now() - t0 < cycles) {}
  __syncthreads();
  if (threadIdx.x == 0) {
    out[blockIdx.x].stop_ns = nanoseconds_now();
    out[blockIdx.x].stop = clock_now();
  }
}

__global__ void empty() {}
__global__ void empty_with_argument(int* p) {
  if (p) *p = 1;
}

std::vector<Stamp> spin(int blocks, int threads, int shared, unsigned cycles) {
  CHECK(cudaFuncSetAttribute(spin_block, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  Buffer<Stamp> out(static_cast<std::size_t>(blocks));
  std::vector<Stamp> result;
  for (int r = 0; r < 2; ++r) {
    out.zero();
    spin_block<<<blocks, threads, shared>>>(out.get(), cycles);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    result = out.download();
  }
  return result;
}

void order(int threads, int shared, const char* why) {
  const int sms = device().multiProcessorCount;
  const auto s = spin(sms * 4, threads, shared, 20000);
  std::vector<double> sm, start;
  unsigned long long first = ~0ull;
  for (const Stamp& x : s) first = std::min(first, x.start_ns);
  for (const Stamp& x : s) {
    sm.push_back(x.sm);
    start.push_back(static_cast<double>(x.start_ns - first));
  }
  Answer("block_order", "the SM (virtual id) of each block in index order, and when it began")
      .add("threads", threads)
      .add("shared_bytes", shared)
      .add_text("limit", why)
      .add("sm", sm)
      .add("start_ns", start)
      .print(static_cast<double>(s.size()), "block", 0);
}

void turnaround(int threads, int shared, unsigned cycles) {
  const int sms = device().multiProcessorCount;
  const auto s = spin(sms * 64, threads, shared, cycles);
  // On each SM, sort the starts and the stops; the k-th start after the first wave follows the
  // (k - residents)-th stop.
  std::vector<std::vector<Stamp>> by_sm(static_cast<std::size_t>(sms));
  for (const Stamp& x : s) by_sm[x.sm].push_back(x);
  int residents = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&residents, spin_block, threads,
                                                      static_cast<std::size_t>(shared)));
  std::vector<double> gaps, lives, intervals;
  for (auto& list : by_sm) {
    std::vector<unsigned long long> starts, stops;
    for (const Stamp& x : list) {
      starts.push_back(x.start);
      stops.push_back(x.stop);
      lives.push_back(static_cast<double>(x.stop - x.start));
    }
    std::sort(starts.begin(), starts.end());
    std::sort(stops.begin(), stops.end());
    for (std::size_t k = static_cast<std::size_t>(residents); k < starts.size(); ++k) {
      gaps.push_back(static_cast<double>(starts[k]) -
                     static_cast<double>(stops[k - static_cast<std::size_t>(residents)]));
    }
    for (std::size_t k = 1; k < static_cast<std::size_t>(residents) && k < starts.size(); ++k) {
      intervals.push_back(static_cast<double>(starts[k] - starts[k - 1]));
    }
  }
  const Summary life = summarize(lives), gap = summarize(gaps), interval = summarize(intervals);
  std::sort(gaps.begin(), gaps.end());
  Answer("block_turnaround",
         "cycles from a block's last clock read to the first one of the block that replaces it")
      .add("threads", threads)
      .add("shared_bytes", shared)
      .add("resident_blocks", residents)
      .add("spin_cycles", cycles)
      .add("block_life_cycles", life.median)
      .add("first_wave_start_interval_cycles", interval.median)
      .add("gap_p10", gaps[gaps.size() / 10])
      .add("gap_p90", gaps[gaps.size() * 9 / 10])
      .print(gap, "cycle");
}

void first_wave() {
  // How the first instruction of the first blocks is spread over the chip.
  const int sms = device().multiProcessorCount;
  for (int threads : {32, 256, 1024}) {
    const auto s = spin(sms, threads, 200 * 1024, 20000);
    std::vector<double> starts;
    unsigned long long first = ~0ull;
    for (const Stamp& x : s) first = std::min(first, x.start_ns);
    for (const Stamp& x : s) starts.push_back(static_cast<double>(x.start_ns - first));
    Answer("first_wave", "nanoseconds from the first block's first instruction to each block's")
        .add("threads", threads)
        .add("start_ns", starts)
        .print(summarize(starts), "ns");
  }
}

void empty_grids() {
  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    for (int blocks : {1, 132, 1056, 4224, 16896, 67584, 270336}) {
      const Summary t = event_time(
          [&] {
            for (int i = 0; i < 8; ++i) empty<<<blocks, threads>>>();
          },
          7);
      Answer("empty_grid", "nanoseconds a launch of an empty kernel, eight in a row in one stream")
          .add("threads", threads)
          .add("blocks", blocks)
          .print(t.median / 8, "ns", t.spread() / 8);
    }
  }
  const Summary t = event_time(
      [&] {
        for (int i = 0; i < 64; ++i) empty_with_argument<<<1, 32>>>(nullptr);
      },
      7);
  Answer("launch_interval", "nanoseconds a launch of a one-warp kernel, 64 in a row in one stream")
      .print(t.median / 64, "ns", t.spread() / 64);
}

int main() {
  order(1024, 120 * 1024, "one block an SM, by shared memory");
  order(1024, 0, "two blocks an SM, by threads");
  order(512, 0, "four blocks an SM, by threads");
  order(256, 0, "eight blocks an SM, by threads");
  order(32, 0, "32 blocks an SM, by block slots");
  first_wave();
  for (unsigned cycles : {500u, 4000u}) {
    turnaround(32, 200 * 1024, cycles);
    turnaround(256, 200 * 1024, cycles);
    turnaround(1024, 200 * 1024, cycles);
    turnaround(1024, 0, cycles);
    turnaround(256, 0, cycles);
    turnaround(128, 0, cycles);
    turnaround(32, 0, cycles);
  }
  empty_grids();
  return 0;
}
