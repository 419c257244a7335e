// How fast do stores to single sectors go, by the distance of the sectors and by how many warps write parts of the same?
//
// Models:  a block's warps store one word in each of 32 sectors, `pitch` bytes apart. `shared`: all warps of the block
//          write words of the same 32 sectors (as a transposition's columns), else each warp has its own.
// Ignores: DRAM: the sectors written fit L2; loads.
// Source:  the SMs' clocks. With four blocks per SM the mean of the blocks' own times, which is less than the SM's: stores of the block that
//          began first go first (sm_ends has both).
#include "bench.cuh"

using namespace bench;

__global__ void store_columns(char* base, std::size_t pitch, unsigned groups, unsigned bands, bool shared, int rounds, Stamp* out) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const unsigned long long t0 = clock_now();
  const unsigned total = groups * bands;
  for (int round = 0; round < rounds; ++round) {
    // Group g is sector g % groups of the 32 lines of band g / groups.
    const unsigned number = (static_cast<unsigned>(round) * gridDim.x + blockIdx.x) * (shared ? 1 : warps) + (shared ? 0 : warp);
    const unsigned g = number % total;
    char* p = base + (static_cast<std::size_t>(g / groups) * 32 + lane) * pitch + g % groups * 32 + (shared ? warp % 8 * 4 : 0);
    *reinterpret_cast<volatile unsigned*>(p) = 1;
  }
  __threadfence();
  const unsigned long long t1 = clock_now();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, t1, 0, 0, sm_id(), blockIdx.x};
}

int main() {
  int device = 0, sms = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  Buffer<char> base(std::size_t{1} << 30);
  Buffer<Stamp> out(4096);
  base.zero();
  for (bool shared : {false, true}) {
    for (std::size_t pitch : {std::size_t{128}, std::size_t{512}, std::size_t{1024}, std::size_t{2048}, std::size_t{4096}, std::size_t{4224}, std::size_t{8192}, std::size_t{16384}, std::size_t{16512}}) {
      for (int blocks_an_sm : {1, 4}) {
        const unsigned groups = static_cast<unsigned>(pitch / 32);
        const unsigned bands = static_cast<unsigned>(std::max<std::size_t>(1, (std::size_t{8} << 20) / (32 * pitch)));
        const int rounds = 64;
        std::vector<double> rates;
        for (int repeat = 0; repeat < 5; ++repeat) {
          store_columns<<<static_cast<unsigned>(sms * blocks_an_sm), 256>>>(base.get(), pitch, groups, bands, shared, rounds, out.get());
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          const std::vector<Stamp> stamps = out.download(static_cast<std::size_t>(sms * blocks_an_sm));
          double busy = 0;
          for (const Stamp& s : stamps) busy += static_cast<double>(s.stop - s.start);
          rates.push_back(64.0 * 8 * 32 * blocks_an_sm / (busy / static_cast<double>(stamps.size())));
        }
        Answer("scattered_stores", "sectors an SM stores a cycle, all SMs at once, one word of each")
            .add("pitch_bytes", static_cast<double>(pitch))
            .add("same_sectors_for_a_block", shared)
            .add("blocks_an_sm", blocks_an_sm)
            .print(summarize(rates), "sector/cycle/SM");
      }
    }
  }
  return 0;
}
