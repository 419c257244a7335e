// How fast does DRAM give (and take) pieces that lie at random places, by their size and by how many are asked for at once?
//
// Models:  `random_loads`: warps load words of random pieces of 32 bytes to 8 KiB, a sector a lane; the rate of sectors
//          over the number of warps and of loads each keeps under way, and what a load takes. `random_chase`: chains of
//          dependent loads, a lane or 32 of them a warp. `random_stores`: whole sectors of random pieces.
// Ignores: L2: the places are far more than it holds (the smallest region says what changes when it does not).
// Source:  the SMs' clocks for cycles, events for nanoseconds.
#include "bench.cuh"

using namespace bench;

__device__ __forceinline__ unsigned long long scatter(unsigned long long x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}

/// A piece is 2^`log_piece` sectors; consecutive lanes, then consecutive loads of the warp, take its sectors.
template <int kFlight>
__global__ void __launch_bounds__(1024) random_loads(const char* base, unsigned long long pieces, int log_piece, unsigned seed,
                                                     int rounds, Stamp* out, unsigned* sink) {
  const unsigned long long warp = (blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  unsigned sum = 0;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (int round = 0; round < rounds; ++round) {
    unsigned v[kFlight];
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
      const unsigned long long sector = ((warp * rounds + round) * kFlight + k) * 32 + lane;
      const unsigned long long piece = scatter((sector >> log_piece) + (static_cast<unsigned long long>(seed) << 40)) % pieces;
      const unsigned within = static_cast<unsigned>(sector) & ((1u << log_piece) - 1);
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k]) : "l"(base + ((piece << log_piece) + within) * 32) : "memory");
    }
#pragma unroll
    for (int k = 0; k < kFlight; ++k) sum ^= v[k];
    if (sum == 0x12345) break;  // the next round waits for this one
  }
  if (sum == 0x12345) *sink = sum;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
}

/// Each of the first `lanes` lanes: the next place is a function of the one before and of what was read there (zero).
__global__ void __launch_bounds__(1024)
    random_chase(const char* base, unsigned long long sectors, unsigned lanes, unsigned seed, int steps, Stamp* out, unsigned* sink) {
  const unsigned long long thread = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
  if (threadIdx.x % 32 >= lanes) return;
  unsigned long long at = scatter(thread + (static_cast<unsigned long long>(seed) << 40));
  unsigned v = 0;
  const unsigned long long t0 = clock_now();
  for (int s = 0; s < steps; ++s) {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(base + at % sectors * 32) : "memory");
    at = scatter(at + v + 1);
  }
  if (v == 0x12345) *sink = v;
  const unsigned long long t1 = clock_now();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, t1, 0, 0, sm_id(), blockIdx.x};
}

/// Eight lanes write a whole sector, or one lane a word of it.
__global__ void __launch_bounds__(1024)
    random_stores(char* base, unsigned long long pieces, int log_piece, bool whole, unsigned seed, int rounds) {
  const unsigned long long thread = blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (int round = 0; round < rounds; ++round) {
    const unsigned long long i = static_cast<unsigned long long>(round) * threads + thread;
    const unsigned long long sector = whole ? i / 8 : i;
    const unsigned long long piece = scatter((sector >> log_piece) + (static_cast<unsigned long long>(seed) << 40)) % pieces;
    const unsigned within = static_cast<unsigned>(sector) & ((1u << log_piece) - 1);
    *reinterpret_cast<unsigned*>(base + ((piece << log_piece) + within) * 32 + (whole ? i % 8 * 4 : 0)) = 0;
  }
}

struct Device {
  int sms = 0;
  double ghz = 0;
};

template <int kFlight>
void loads(const Device& chip, Buffer<char>& memory, std::size_t region, int log_piece, int warps_an_sm, Buffer<Stamp>& out,
           Buffer<unsigned>& sink) {
  static unsigned seed = 0;
  const int threads = std::min(warps_an_sm, 16) * 32, blocks = chip.sms * std::max(1, warps_an_sm / 16);
  const int rounds = std::max(16, 96 / kFlight / warps_an_sm + 4);
  const unsigned long long pieces = region / 32 >> log_piece;
  std::vector<double> rates, cycles;
  const double sectors = 32.0 * kFlight * rounds * threads / 32 * blocks;
  for (int r = 0; r < 3; ++r) {
    random_loads<kFlight><<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads)>>>(memory.get(), pieces, log_piece, ++seed, rounds, out.get(), sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    double sum = 0;
    for (const Stamp& s : out.download(static_cast<std::size_t>(blocks))) sum += static_cast<double>(s.stop - s.start) / blocks;
    cycles.push_back(sum / rounds);
    rates.push_back(sectors / sum);
  }
  Answer("random_loads", "sectors a SM cycle of all SMs together, a sector a lane, random pieces")
      .add("region_mib", static_cast<double>(region >> 20))
      .add("piece_bytes", static_cast<double>(32u << log_piece))
      .add("warps_an_sm", warps_an_sm)
      .add("loads_in_flight", kFlight)
      .add("cycles_a_round", summarize(cycles).median)
      .add("sm_ghz", chip.ghz)
      .print(summarize(rates), "sector/cycle");
}

int main() {
  Device chip;
  chip.sms = device().multiProcessorCount;
  chip.ghz = sm_clock_ghz();
  const std::size_t most = std::size_t{16} << 30;
  Buffer<char> memory(most);
  Buffer<Stamp> out(1 << 16);
  Buffer<unsigned> sink(1);
  memory.zero();
  for (int log_piece : {0, 1, 2, 3, 4, 5, 6, 8}) {
    for (int warps : {1, 4, 16, 64}) {
      loads<1>(chip, memory, std::size_t{8} << 30, log_piece, warps, out, sink);
      if (warps <= 16) loads<4>(chip, memory, std::size_t{8} << 30, log_piece, warps, out, sink);
    }
  }
  for (std::size_t region : {std::size_t{16} << 20, std::size_t{256} << 20, std::size_t{1} << 30, std::size_t{4} << 30, most}) {
    for (int warps : {1, 16, 64}) loads<1>(chip, memory, region, 0, warps, out, sink);
  }
  unsigned seed = 1u << 20;
  for (std::size_t region : {std::size_t{64} << 20, std::size_t{1} << 30, std::size_t{8} << 30}) {
    for (unsigned lanes : {1u, 32u}) {
      for (int warps : {1, 16, 132, 528, 1056, 2112, 4224, 8448}) {
        const int threads = warps <= 132 ? 32 : std::max(1, warps / chip.sms) * 32 > 1024 ? 1024 : std::max(1, warps / chip.sms) * 32;
        const int blocks = warps * 32 / threads, steps = warps <= 132 ? 128 : 32;
        std::vector<double> cycles;
        for (int r = 0; r < 3; ++r) {
          random_chase<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads)>>>(memory.get(), region / 32, lanes, ++seed, steps, out.get(), sink.get());
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          double sum = 0;
          for (const Stamp& s : out.download(static_cast<std::size_t>(blocks))) sum += static_cast<double>(s.stop - s.start) / blocks;
          cycles.push_back(sum / steps);
        }
        Answer("random_chase", "cycles a step of a dependent load of random sectors, mean of the blocks' first warps")
            .add("region_mib", static_cast<double>(region >> 20))
            .add("warps", blocks * threads / 32)
            .add("lanes", lanes)
            .print(summarize(cycles), "cycle");
      }
    }
  }
  for (bool whole : {true, false}) {
    for (int log_piece : {0, 1, 2, 5, 8}) {
      const int blocks = 4 * chip.sms, threads = 512, rounds = whole ? 64 : 16;
      const unsigned long long pieces = (std::size_t{8} << 30) / 32 >> log_piece;
      const Summary time = event_time(
          [&] { random_stores<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads)>>>(memory.get(), pieces, log_piece, whole, ++seed, rounds); }, 4);
      const double sectors = static_cast<double>(blocks) * threads * rounds / (whole ? 8 : 1);
      Answer("random_stores", "sectors a nanosecond stored at random places")
          .add("whole_sectors", whole)
          .add("piece_bytes", static_cast<double>(32u << log_piece))
          .add("sectors", sectors)
          .print(sectors / time.median, "sector/ns", sectors / time.low - sectors / time.high);
    }
  }
  return 0;
}
