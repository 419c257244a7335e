// How long does a shared-memory access take, and what does a bank conflict cost?
//
// Models:  self-pointing words (each holds its own address), so that a dependent chain keeps any
//          pattern of lanes for ever: latency with one chain, throughput with eight chains and many
//          warps; stores; atomics with and without contention; for 32-, 64- and 128-bit accesses.
// Ignores: LDSM and asynchronous copies.
// Source:  the slope method of bench.cuh.
#include "bench.cuh"

using namespace bench;

constexpr int kBytes = 32768;

enum class Access { kLoad, kStore, kAtomicReturn, kAtomic };

template <Access kAccess, int kWords>
__device__ __forceinline__ void access(unsigned& a, unsigned& other) {
  if constexpr (kAccess == Access::kLoad && kWords == 1) {
    asm volatile("ld.shared.u32 %0, [%0];" : "+r"(a)::"memory");
  } else if constexpr (kAccess == Access::kLoad && kWords == 2) {
    unsigned q;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%0];" : "+r"(a), "=r"(q)::"memory");
    other ^= q;
  } else if constexpr (kAccess == Access::kLoad) {
    unsigned q, r, s;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%0];" : "+r"(a), "=r"(q), "=r"(r), "=r"(s)::"memory");
    other ^= q ^ r ^ s;
  } else if constexpr (kAccess == Access::kStore && kWords == 1) {
    asm volatile("st.shared.u32 [%0], %0;" ::"r"(a) : "memory");
  } else if constexpr (kAccess == Access::kStore && kWords == 2) {
    asm volatile("st.shared.v2.u32 [%0], {%0, %0};" ::"r"(a) : "memory");
  } else if constexpr (kAccess == Access::kStore) {
    asm volatile("st.shared.v4.u32 [%0], {%0, %0, %0, %0};" ::"r"(a) : "memory");
  } else if constexpr (kAccess == Access::kAtomicReturn) {
    asm volatile("atom.shared.or.b32 %0, [%0], %1;" : "+r"(a) : "r"(other) : "memory");
  } else {
    asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(a), "r"(other) : "memory");
  }
}

/// `lane_stride` in bytes between lanes; `distinct` lanes before the pattern repeats (32: all).
template <Access kAccess, int kWords, int N, int Chains>
__global__ void __launch_bounds__(1024)
    shared_chain(Stamp* out, unsigned* sink, unsigned zero, int lane_stride, int distinct, int iterations,
                 int sub_cores) {
  __shared__ __align__(128) unsigned words[kBytes / 4];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words));
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned i = threadIdx.x; i < kBytes / 4; i += blockDim.x) words[i] = base + 4 * i;
  __syncthreads();
  if (static_cast<int>(warp % 4) >= sub_cores) return;
  unsigned a[Chains], other = zero;
#pragma unroll
  for (int c = 0; c < Chains; ++c) {
    const unsigned place = lane % static_cast<unsigned>(distinct);
    a[c] = base + (place * static_cast<unsigned>(lane_stride) + static_cast<unsigned>(c) * 512u) %
                      static_cast<unsigned>(kBytes);
  }
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
      for (int n = 0; n < N; ++n) access<kAccess, kWords>(a[n % Chains], other);
    }
    unsigned sum = other;
#pragma unroll
    for (int c = 0; c < Chains; ++c) sum ^= a[c];
    if (sum == 0x5a5a5a5b) *sink = sum;
    __syncthreads();  // stores have left the queues when a later barrier passes
    t1 = clock_now();
  }
  if (lane == 0) out[warp] = {t0, t1, 0, 0, sm_id(), 0};
}

const char* name_of(Access a) {
  switch (a) {
    case Access::kLoad: return "LDS";
    case Access::kStore: return "STS";
    case Access::kAtomicReturn: return "ATOMS_return";
    default: return "ATOMS_no_return";
  }
}

template <Access kAccess, int kWords, int Chains>
void measure(Buffer<Stamp>& out, Buffer<unsigned>& sink, int warps, int sub_cores, int lane_stride,
             int distinct) {
  constexpr int kShort = 32, kLong = 96, kIterations = 8;
  std::vector<double> slopes;
  for (int r = 0; r < 4; ++r) {
    double t[2];
    for (int i : {0, 1}) {
      out.zero();
      if (i) {
        shared_chain<kAccess, kWords, kLong, Chains>
            <<<1, 128 * warps>>>(out.get(), sink.get(), 0, lane_stride, distinct, kIterations, sub_cores);
      } else {
        shared_chain<kAccess, kWords, kShort, Chains>
            <<<1, 128 * warps>>>(out.get(), sink.get(), 0, lane_stride, distinct, kIterations, sub_cores);
      }
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      t[i] = span(out.download());
    }
    if (r) slopes.push_back((t[1] - t[0]) / ((kLong - kShort) * kIterations) / (warps * sub_cores));
  }
  Answer(Chains == 1 ? "shared_latency" : "shared_throughput",
         Chains == 1 ? "cycles an access in a dependent chain"
                     : "cycles of the SM an access of one warp, independent chains")
      .add_text("access", name_of(kAccess))
      .add("bits", kWords * 32)
      .add("lane_stride_bytes", lane_stride)
      .add("distinct_lanes", distinct)
      .add("chains", Chains)
      .add("warps_a_sub_core", warps)
      .add("sub_cores", sub_cores)
      .print(summarize(slopes), "cycle");
}

template <Access kAccess, int kWords>
void patterns(Buffer<Stamp>& out, Buffer<unsigned>& sink) {
  std::vector<int> strides = {kWords * 4,  kWords * 8,  kWords * 12, kWords * 16,
                              kWords * 32, kWords * 64, kWords * 128};
  if (kWords == 1) strides.insert(strides.end(), {20, 24, 132});
  for (int stride : strides) {
    if (stride > 512) continue;
    if (kAccess == Access::kLoad || kAccess == Access::kAtomicReturn) {
      measure<kAccess, kWords, 1>(out, sink, 1, 1, stride, 32);
    }
    measure<kAccess, kWords, 8>(out, sink, 1, 1, stride, 32);
    measure<kAccess, kWords, 8>(out, sink, 1, 4, stride, 32);
    measure<kAccess, kWords, 8>(out, sink, 4, 4, stride, 32);
  }
  for (int distinct : {1, 2, 4, 8, 16}) {  // broadcast (loads), same-word contention (atomics)
    if (kAccess == Access::kLoad || kAccess == Access::kAtomicReturn) {
      measure<kAccess, kWords, 1>(out, sink, 1, 1, kWords * 4, distinct);
    }
    measure<kAccess, kWords, 8>(out, sink, 4, 4, kWords * 4, distinct);
  }
}

int main() {
  Buffer<Stamp> out(32);
  Buffer<unsigned> sink(1);
  patterns<Access::kLoad, 1>(out, sink);
  patterns<Access::kLoad, 2>(out, sink);
  patterns<Access::kLoad, 4>(out, sink);
  patterns<Access::kStore, 1>(out, sink);
  patterns<Access::kStore, 2>(out, sink);
  patterns<Access::kStore, 4>(out, sink);
  patterns<Access::kAtomicReturn, 1>(out, sink);
  patterns<Access::kAtomic, 1>(out, sink);
  return 0;
}
