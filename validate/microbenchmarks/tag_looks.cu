// How many lines can L2 look for, and do loads and stores share that?
//
// Models:  warps that load whole requests of one, two or four sectors past L1, each SM data of its own that L2 holds, beside warps that store
//          lone whole sectors (8 rows by 32 bytes an instruction) or whole lines to memory of their SM's own; or either of them alone.
// Ignores: DRAM (a launch before brings the data); loads of several SMs for the same line.
// Source:  counters of ncu, cycles.
#include "bench.cuh"

using namespace bench;

constexpr unsigned kRegion = 128 << 10;  // bytes that an SM loads, and stores

enum class Store { kNone, kSectors, kLines };
const char* const kNames[] = {"none", "sectors", "lines"};

/// Even warps load, odd ones store. `kSectors`: per request; 0: nobody loads.
template <int kSectors, Store kStore>
__global__ void __launch_bounds__(512) looks(const char* from, char* to, unsigned loads, unsigned stores, unsigned* sink) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 64;
  const char* const source = from + std::size_t{blockIdx.x} * kRegion;
  char* const target = to + std::size_t{blockIdx.x} * kRegion;
  if (threadIdx.x / 32 % 2 == 0) {
    if constexpr (kSectors > 0) {
      constexpr unsigned kLanes = 2 * kSectors, kRequests = 32 / kLanes;  // 16 bytes per lane
      unsigned sum = 0;
      for (unsigned i = 0; i < loads; ++i) {
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
          const unsigned line = ((i * 4 + k) * 8 + warp) * kRequests + lane / kLanes;
          uint4 v;
          asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                       : "l"(source + line * 128 % kRegion + lane % kLanes * 16) : "memory");
          sum += v.x;
        }
      }
      if (sum) *sink = sum;
    }
  } else if constexpr (kStore != Store::kNone) {
    for (unsigned i = 0; i < stores; ++i) {
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned n = (i * 8 + warp) * 4 + k;
        if constexpr (kStore == Store::kSectors) {  // eight lines' sectors, the same lines' next ones by other warps later
          *reinterpret_cast<float2*>(target + (n * 8 + lane / 4) * 128 % kRegion + n / 128 % 4 * 32 + lane % 4 * 8) = {1, 2};
        } else {  // two lines
          *reinterpret_cast<float2*>(target + n * 256 % kRegion + lane * 8) = {1, 2};
        }
      }
    }
  }
}

int main() {
  const int shared = 200 * 1024;  // one block per SM
  const unsigned sms = static_cast<unsigned>(device().multiProcessorCount);
  Buffer<char> from(std::size_t{sms} * kRegion), to(std::size_t{sms} * kRegion);
  Buffer<unsigned> sink(1);
  from.zero();
  int launch = 0;
  const auto ask = [&](auto kernel, int sectors, Store store, unsigned loads, unsigned stores) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    // The first launch brings the data, the second is the one that is asked.
    for (int i = 0; i < 2; ++i) kernel<<<sms, 512, shared>>>(from.get(), to.get(), loads, stores, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    ++launch;
    Answer("tag_looks", "loads and stores that look for lines in L2, by all SMs: cycles")
        .add("launch", launch++).add("sectors", sectors).add_text("store", kNames[static_cast<int>(store)])
        .print(stores, "rounds", 0);
  };
  const unsigned stores = 64;  // of four instructions, eight sectors each: 16,384 per SM
  ask(looks<0, Store::kSectors>, 0, Store::kSectors, 0, stores);
  ask(looks<0, Store::kLines>, 0, Store::kLines, 0, stores);
  ask(looks<1, Store::kNone>, 1, Store::kNone, 64, 0);  // 16 requests per instruction, 32,768 per SM
  ask(looks<2, Store::kNone>, 2, Store::kNone, 128, 0);
  ask(looks<4, Store::kNone>, 4, Store::kNone, 256, 0);
  ask(looks<1, Store::kSectors>, 1, Store::kSectors, 64, stores);
  ask(looks<2, Store::kSectors>, 2, Store::kSectors, 128, stores);
  ask(looks<4, Store::kSectors>, 4, Store::kSectors, 256, stores);
  ask(looks<1, Store::kLines>, 1, Store::kLines, 64, stores);
  ask(looks<2, Store::kLines>, 2, Store::kLines, 128, stores);
  ask(looks<4, Store::kLines>, 4, Store::kLines, 256, stores);
  return 0;
}
