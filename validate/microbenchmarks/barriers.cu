// What do barriers and fences cost?
//
// Models:  __syncthreads in a row by the number of warps of the block; __syncwarp; fences of the block and of the device, with
//          nothing and with one store before them.
// Ignores: named barriers, clusters, mbarrier.
// Source:  the slope method of bench.cuh.
#include "bench.cuh"

using namespace bench;

enum class Kind {
  kBlock,
  kWarp,
  kFenceBlock,
  kFenceDevice,
  kStoreFenceBlock,
  kStoreFenceDevice,
  kStoreFenceSystem
};
const char* kNames[] = {"BAR.SYNC",       "WARPSYNC",       "MEMBAR.CTA",    "MEMBAR.GPU",
                        "STG+MEMBAR.CTA", "STG+MEMBAR.GPU", "STG+MEMBAR.SYS"};

template <Kind kKind, int N>
__global__ void __launch_bounds__(1024) repeat(Stamp* out, unsigned* place, int iterations) {
  unsigned* mine = place + blockIdx.x * 4096 + threadIdx.x;
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
        if constexpr (kKind == Kind::kStoreFenceBlock || kKind == Kind::kStoreFenceDevice ||
                      kKind == Kind::kStoreFenceSystem) {
          asm volatile("st.global.u32 [%0], %1;" ::"l"(mine + n * 1024 % 4096), "r"(n) : "memory");
        }
        if constexpr (kKind == Kind::kBlock) {
          asm volatile("bar.sync 0;" ::: "memory");
        } else if constexpr (kKind == Kind::kWarp) {
          asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
        } else if constexpr (kKind == Kind::kFenceBlock || kKind == Kind::kStoreFenceBlock) {
          asm volatile("fence.acq_rel.cta;" ::: "memory");
        } else if constexpr (kKind == Kind::kStoreFenceSystem) {
          asm volatile("fence.acq_rel.sys;" ::: "memory");
        } else {
          asm volatile("fence.acq_rel.gpu;" ::: "memory");
        }
      }
    }
    t1 = clock_now();
  }
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = {t0, t1, 0, 0, sm_id(), 0};
}

template <Kind kKind>
void measure(Buffer<Stamp>& out, Buffer<unsigned>& place, int warps) {
  constexpr int kShort = 8, kLong = 40, kIterations = 8;
  std::vector<double> slopes;
  for (int r = 0; r < 5; ++r) {
    double t[2];
    for (int i : {0, 1}) {
      out.zero();
      if (i) {
        repeat<kKind, kLong><<<1, 32 * warps>>>(out.get(), place.get(), kIterations);
      } else {
        repeat<kKind, kShort><<<1, 32 * warps>>>(out.get(), place.get(), kIterations);
      }
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      t[i] = span(out.download());
    }
    if (r) slopes.push_back((t[1] - t[0]) / ((kLong - kShort) * kIterations));
  }
  Answer("barrier", "cycles a barrier or fence executed by every warp of one block, in a row")
      .add_text("operation", kNames[static_cast<int>(kKind)])
      .add("warps", warps)
      .print(summarize(slopes), "cycle");
}

int main() {
  Buffer<Stamp> out(32);
  Buffer<unsigned> place(1 << 16);
  for (int warps : {1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 28, 32}) {
    measure<Kind::kBlock>(out, place, warps);
  }
  for (int warps : {1, 4, 32}) measure<Kind::kWarp>(out, place, warps);
  for (int warps : {1, 4, 16, 32}) {
    measure<Kind::kFenceBlock>(out, place, warps);
    measure<Kind::kFenceDevice>(out, place, warps);
    measure<Kind::kStoreFenceBlock>(out, place, warps);
    measure<Kind::kStoreFenceDevice>(out, place, warps);
    measure<Kind::kStoreFenceSystem>(out, place, warps);
  }
  return 0;
}
