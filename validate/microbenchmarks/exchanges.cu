// What do short reductions and scans cost?
//
// Models:  a warp's reduction by shuffles, a block's by shuffles and one barrier or by a tree in shared memory, a block's scan, each
//          `rounds` times in a block; by warps and blocks an SM; then blocks that do one each and end.
// Ignores: global memory, but for one load and one store a block.
// Source:  counters of ncu, cycles, states.
#include "bench.cuh"

using namespace bench;

enum Kind : int { kShuffle, kShuffleUp, kBlockShuffle, kTree, kScan, kBlelloch, kBarriers, kIndex, kVote };

template <int kKind>
__global__ void __launch_bounds__(1024) exchange(const int* in, int* out, int rounds) {
  __shared__ int part[1024], other[1024];
  const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x), lane = t % 32;
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int r = 0; r < rounds; ++r) {
    if constexpr (kKind == kShuffle) {
#pragma unroll
      for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    }
    if constexpr (kKind == kShuffleUp) {
#pragma unroll
      for (int d = 1; d < 32; d *= 2) {
        const int u = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += u;
      }
    }
    if constexpr (kKind == kIndex) {
#pragma unroll
      for (int d = 0; d < 5; ++d) v += __shfl_sync(~0u, v, (v + d) & 31);
    }
    if constexpr (kKind == kVote) {
#pragma unroll
      for (int d = 0; d < 5; ++d) v += static_cast<int>(__ballot_sync(~0u, v & (1 << d)));
    }
    if constexpr (kKind == kBlockShuffle) {
#pragma unroll
      for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
      if (lane == 0) part[t / 32] = v;
      __syncthreads();
      if (t < 32) {
        v = t < n / 32 ? part[t] : 0;
#pragma unroll
        for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
        if (t == 0) part[0] = v;
      }
      __syncthreads();
      v += part[0];
    }
    if constexpr (kKind == kTree) {
      part[t] = v;
      __syncthreads();
      for (int d = n / 2; d; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
      }
      v += part[0];
    }
    if constexpr (kKind == kScan) {
      int* from = part;
      int* to = other;
      from[t] = v;
      __syncthreads();
      for (int d = 1; d < n; d *= 2) {
        to[t] = t >= d ? from[t] + from[t - d] : from[t];
        __syncthreads();
        int* const swap = from;
        from = to;
        to = swap;
      }
      v = from[t];
    }
    if constexpr (kKind == kBlelloch) {
      part[t] = v;
      int offset = 1;
      for (int d = n / 2; d; d /= 2) {
        __syncthreads();
        if (t < d) part[offset * (2 * t + 2) - 1] += part[offset * (2 * t + 1) - 1];
        offset *= 2;
      }
      if (t == 0) part[n - 1] = 0;
      for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
          const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, x = part[a];
          part[a] = part[b];
          part[b] += x;
        }
      }
      __syncthreads();
      v += part[t];
    }
    if constexpr (kKind == kBarriers) {
#pragma unroll
      for (int d = 0; d < 5; ++d) {
        v += d;
        __syncthreads();
      }
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

struct Runner {
  Buffer<int> in{1 << 22}, out{1 << 22};
  int launch = 0;
  template <int kKind>
  void run(unsigned blocks, unsigned threads, int rounds) {
    static const char* const names[] = {"shuffles", "shuffle scan", "block by shuffles", "tree", "scan", "scan of trees", "barriers", "indexed shuffles", "votes"};
    exchange<kKind><<<blocks, threads>>>(in.get(), out.get(), rounds);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("exchanges", "reductions and scans: cycles").add("launch", launch++).add_text("kind", names[kKind]).add("blocks", blocks).add("threads", threads)
        .print(rounds, "round", 0);
  }
  template <int kKind>
  void all() {
    for (unsigned threads : {32u, 128u, 256u, 1024u}) run<kKind>(1, threads, 32);
    for (unsigned threads : {128u, 256u, 1024u}) {
      run<kKind>(132, threads, 1);
      run<kKind>(132 * 2048 / threads, threads, 1);
      run<kKind>(132 * 2048 / threads, threads, 8);
    }
    run<kKind>(4096, 256, 1);
  }
};

int main() {
  Runner r;
  r.in.zero();
  r.all<kShuffle>();
  r.all<kShuffleUp>();
  r.all<kIndex>();
  r.all<kVote>();
  r.all<kBlockShuffle>();
  r.all<kTree>();
  r.all<kScan>();
  r.all<kBlelloch>();
  r.all<kBarriers>();
  return 0;
}
