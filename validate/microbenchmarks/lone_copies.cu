// What do small bulk copies take that a warp's lanes make one by one?
//
// Models:  cp.async.bulk of 16 bytes to 4 KiB from global to shared memory, one after the other by one lane, or one by each of a warp's lanes
//          (which the warp issues lane by lane), by one to 16 warps of a block, with an mbarrier for all of a warp's.
// Ignores: tensor maps, clusters.
// Source:  the SM's clock: until all copies have been issued, and until all have arrived; ncu's states of warps for the same launches.
#include "bench.cuh"

using namespace bench;

namespace {

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

/// cycles[warp]: until the last was issued; cycles[16 + warp]: until all had arrived. Each warp copies to its own `room` bytes.
__global__ void copies(const char* from, int lanes, int each, int bytes, unsigned long long* cycles) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ alignas(8) uint64_t bars[16];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const uint32_t bar = shared_address(&bars[warp]);
  const uint32_t room = 12288, to = shared_address(memory) + room * static_cast<uint32_t>(warp);
  if (lane == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int pass = 0; pass < 2; ++pass) {  // the first finds neither code nor data
    if (lane == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(lanes * each * bytes) : "memory");
    __syncthreads();
    const unsigned long long begin = clock_now();
    if (lane < lanes) {
#pragma unroll 1
      for (int i = 0; i < each; ++i) {
        const uint32_t offset = static_cast<uint32_t>((i * lanes + lane) * bytes) % room;
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to + offset),
                     "l"(from + (static_cast<std::size_t>(blockIdx.x) * 16 + static_cast<unsigned>(warp)) * room + offset), "r"(bytes), "r"(bar)
                     : "memory");
      }
    }
    __syncwarp();
    const unsigned long long issued = clock_now();
    asm volatile("{\n.reg .pred done;\nL%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra L%=;\n}" ::"r"(bar), "r"(pass) : "memory");
    const unsigned long long arrived = clock_now();
    if (lane == 0 && blockIdx.x == 0) {
      cycles[warp] = issued - begin;
      cycles[16 + warp] = arrived - begin;
    }
    __syncthreads();
  }
}

}  // namespace

int main() {
  Buffer<char> from(std::size_t{64} << 20);
  Buffer<unsigned long long> cycles(32);
  from.zero();
  CHECK(cudaFuncSetAttribute(copies, cudaFuncAttributeMaxDynamicSharedMemorySize, 16 * 12288));
  int launch = 0;
  const auto ask = [&](int blocks, int warps, int lanes, int each, int bytes) {
    std::vector<double> issued, arrived;
    for (int repeat = 0; repeat < 5; ++repeat) {
      copies<<<blocks, 32 * warps, 16 * 12288>>>(from.get(), lanes, each, bytes, cycles.get());
      CHECK(cudaGetLastError());
      const std::vector<unsigned long long> got = cycles.download();
      for (int w = 0; w < warps; ++w) {
        issued.push_back(static_cast<double>(got[static_cast<std::size_t>(w)]) / (lanes * each));
        arrived.push_back(static_cast<double>(got[static_cast<std::size_t>(16 + w)]));
      }
      ++launch;
    }
    for (const bool all : {false, true}) {
      Answer("lone_copies", all ? "cycles until all bulk copies of a warp have arrived" : "cycles per bulk copy until a warp has issued all")
          .add("launch", launch - 1).add("blocks", blocks).add("warps", warps).add("lanes", lanes).add("each", each).add("bytes", bytes)
          .print(summarize(all ? arrived : issued), all ? "cycle" : "cycle per copy");
    }
  };
  for (const int blocks : {1, 132}) {
    for (const int warps : {1, 4, 16}) {
      for (const int bytes : {16, 128, 512}) {
        ask(blocks, warps, 1, 1, bytes);
        ask(blocks, warps, 1, 8, bytes);
        ask(blocks, warps, 1, 32, bytes);
        ask(blocks, warps, 8, 1, bytes);
        ask(blocks, warps, 32, 1, bytes);
        ask(blocks, warps, 32, 4, bytes);
      }
      ask(blocks, warps, 1, 3, 4096);
    }
  }
  return 0;
}
