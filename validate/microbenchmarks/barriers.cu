// What do barriers and fences cost?
//
// Models:  __syncthreads in a row by the number of warps of the block; a barrier that the warps
//          reach one after the other; __syncwarp; fences of the block and of the device, with
//          nothing and with one store before them.
// Ignores: named barriers, clusters, mbarrier.
// Source:  the slope method of bench.cuh.
#include "bench.cuh"

using namespace bench;

enum class Kind { kBlock, kWarp, kFenceBlock, kFenceDevice, kStoreFenceBlock, kStoreFenceDevice,
                  kStoreFenceSystem };
const char* kNames[] = {"BAR.SYNC",           "WARPSYNC",           "MEMBAR.CTA",
                        "MEMBAR.GPU",         "STG+MEMBAR.CTA",     "STG+MEMBAR.GPU",
                        "STG+MEMBAR.SYS"};

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

/// Warp w arrives after w * 64 dependent multiply-adds; the wait of the last is the pure cost.
__global__ void __launch_bounds__(1024) staggered(Stamp* out, float* sink, float x) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  unsigned long long t0 = 0, t1 = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    float s = x;
    for (int i = 0; i < warp * 64; ++i) s = fmaf(s, x, x);
    if (s == 1.5f) *sink = s;
    t0 = clock_now();
    __syncthreads();
    t1 = clock_now();
  }
  if (threadIdx.x % 32 == 0) out[warp] = {t0, t1, 0, 0, sm_id(), 0};
}

int main() {
  Buffer<Stamp> out(32);
  Buffer<unsigned> place(1 << 16);
  Buffer<float> sink(1);
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
  for (int warps : {2, 4, 8, 16, 32}) {
    std::vector<double> last, after;
    for (int r = 0; r < 5; ++r) {
      out.zero();
      staggered<<<1, 32 * warps>>>(out.get(), sink.get(), 0.5f);
      CHECK(cudaDeviceSynchronize());
      const auto s = out.download(static_cast<std::size_t>(warps));
      unsigned long long first_out = ~0ull, last_out = 0;
      for (const Stamp& x : s) {
        first_out = std::min(first_out, x.stop);
        last_out = std::max(last_out, x.stop);
      }
      last.push_back(static_cast<double>(s.back().stop - s.back().start));
      after.push_back(static_cast<double>(last_out - first_out));
    }
    Answer("barrier_last_arrival",
           "cycles from the last warp's clock read before the barrier to its read after it")
        .add("warps", warps)
        .add("first_to_last_release_cycles", summarize(after).median)
        .print(summarize(last), "cycle");
  }
  return 0;
}
