// How many random accesses does DRAM serve per cycle: by footprint, by what is done there, and by how many warps?
//
// Models:  each lane touches 64-byte units of a buffer in a random order, none twice: loads of 8 or 32 bytes, reductions, atomics with an answer,
//          stores of parts and of whole sectors, and loads of every other warp beside stores of the rest; footprints from what L2 holds with ease to
//          many of DRAM's rows per bank.
// Ignores: units that are touched again (random_updates, update_grids).
// Source:  counters of ncu: cycles, DRAM's bytes, L2's hits, a line per launch. Its flush before each launch leaves L2 empty.
#include <tuple>
#include <utility>

#include "bench.cuh"

using namespace bench;

namespace {

enum Kind : int { load, load_sector, reduce, exchange, store_part, store_sector, load_and_store, kinds };
const char* const kNames[] = {"loads of 8 bytes", "loads of 32 bytes", "reductions of 4 bytes", "exchanges of 4 bytes", "stores of 8 bytes", "stores of 32 bytes", "loads and stores of 32 bytes by turns"};
constexpr unsigned kUnit = 64;  // bytes

/// A bijection of numbers below 2^bits, as random as it has to be.
__device__ __forceinline__ unsigned shuffled(unsigned x, int bits) {
  const unsigned mask = bits == 32 ? ~0u : (1u << bits) - 1;
#pragma unroll
  for (const unsigned factor : {0x9E3779B1u, 0x85EBCA6Bu, 0xC2B2AE35u}) {
    x ^= x >> (bits / 2);
    x = x * factor & mask;
  }
  return x ^ x >> (bits / 2);
}

template <int kKind>
__global__ void __launch_bounds__(1024) touch(char* units, int bits, unsigned count, unsigned long long* sink) {
  constexpr bool by_two = kKind == load_sector || kKind == store_sector || kKind == load_and_store;
  unsigned long long sum = 0;
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (by_two ? 2 * count : count); i += gridDim.x * blockDim.x) {
    char* const at = units + std::size_t{shuffled(by_two ? i / 2 : i, bits)} * kUnit;
    auto* const half = reinterpret_cast<ulonglong2*>(at) + (i & 1);  // of a sector
    auto* const wide = reinterpret_cast<unsigned long long*>(at);
    auto* const word = reinterpret_cast<unsigned*>(at);
    const bool writes = kKind == store_sector || (kKind == load_and_store && (i / 32 & 1) != 0);
    if (kKind == load) sum += *wide;
    if (by_two && !writes) sum += half->x ^ half->y;
    if (kKind == reduce) atomicAdd(word, i);
    if (kKind == exchange) sum += atomicExch(word, i);
    if (kKind == store_part) *wide = i;
    if (writes) *half = {i, 1};
  }
  if (sum == 123456789u) *sink = sum;
}

template <int kKind>
void ask_kind(int& launch, char* units, int sms, unsigned long long* sink) {
  for (const int bits : {16, 17, 18, 19, 20, 21, 23, 25}) {  // 4 MiB to 2 GiB
    for (const auto& [blocks, threads] : {std::tuple{sms, 256}, {2 * sms, 1024}}) {
      const unsigned count = std::min(1u << bits, 1u << 20);
      touch<kKind><<<blocks, threads>>>(units, bits, count, sink);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      Answer("cold_units", "random units of DRAM, each once")
          .add("launch", launch++).add_text("kind", kNames[kKind]).add("bytes", double(kUnit) * (1u << bits)).add("blocks", blocks).add("threads", threads)
          .print(count, "units", 0);
    }
  }
}

template <int... kKinds>
void ask_kinds(std::integer_sequence<int, kKinds...>, int& launch, char* units, int sms, unsigned long long* sink) {
  (ask_kind<kKinds>(launch, units, sms, sink), ...);
}

}  // namespace

int main() {
  Buffer<char> units(std::size_t{kUnit} << 25);
  Buffer<unsigned long long> sink(1);
  int sms = 0, launch = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  ask_kinds(std::make_integer_sequence<int, kinds>(), launch, units.get(), sms, sink.get());
  return 0;
}
