// Warp-wide operations, barriers, special registers and everything that changes the flow of control.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void shuffles(int* out, const int* in, int n) {
  const int i = threadIdx.x;
  int x = in[i];
  x += __shfl_sync(~0u, x, n) + __shfl_up_sync(~0u, x, 1) + __shfl_down_sync(~0u, x, 2, 16) + __shfl_xor_sync(~0u, x, n);
  x += __ballot_sync(~0u, x > n) + __any_sync(~0u, x == 3) + __all_sync(~0u, x != 4) + __match_any_sync(~0u, x);
  int all;
  x += __match_all_sync(~0u, x, &all) + all + __activemask();
  x += __reduce_add_sync(~0u, x) + __reduce_min_sync(~0u, x) + __reduce_max_sync(~0u, static_cast<unsigned>(x)) +
       __reduce_and_sync(~0u, static_cast<unsigned>(x)) + __reduce_xor_sync(~0u, static_cast<unsigned>(x));
  if (i & 1) {
    x += __shfl_xor_sync(0xaaaaaaaa, x, 2);
    __syncwarp(0xaaaaaaaa);
  } else {
    x += in[x & 31];
    __syncwarp(0x55555555);
  }
  out[i] = x;
}

__global__ void groups(int* out, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int x = static_cast<int>(tile.thread_rank()) + out[block.thread_rank()];
  x += tile.shfl_down(x, 1) + static_cast<int>(tile.ballot(x > n)) + tile.any(x == n);
  if (x > n) {
    const cg::coalesced_group active = cg::coalesced_threads();
    x += static_cast<int>(active.size()) + active.shfl(x, 0);
  }
  out[block.thread_rank()] = x;
}

__global__ void barriers(int* out, int n) {
  const int i = threadIdx.x;
  out[i] = __syncthreads_count(i > n) + __syncthreads_and(i != n) + __syncthreads_or(i == n);
  asm volatile("bar.sync %0, 64;" ::"r"(n));
  if (i < 32) asm volatile("bar.arrive 2, 64;");
  else asm volatile("bar.sync 2, 64;");
  out[i + n] = out[n - i];
}

__global__ void specials(long long* out) {
  unsigned lane, warp, sm, mask_less, clock_low;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(mask_less));
  asm volatile("mov.u32 %0, %%clock;" : "=r"(clock_low));
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  const long long start = clock64();
  __nanosleep(100);
  __nanosleep(lane);
  out[threadIdx.x + blockIdx.y * gridDim.z] = clock64() - start + lane + warp + sm + mask_less + clock_low +
                                             static_cast<long long>(nanoseconds) + threadIdx.z + blockIdx.z + blockDim.y;
}

__device__ __noinline__ int called(int x, int y) { return x * y + (x >> 3); }
__device__ __noinline__ int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
__device__ int first(int x) { return x + 1; }
__device__ int second(int x) { return x * 3; }
__device__ int third(int x) { return x ^ 5; }

__global__ void calls(int* out, int n) {
  int (*const table[])(int) = {first, second, third};
  const int i = threadIdx.x;
  out[i] = called(i, n) + recursive(n & 7) + table[n % 3](i);
}

__global__ void switches(int* out, int n) {
  const int i = threadIdx.x;
  switch (out[i]) {
    case 0: out[i] = n; break;
    case 1: out[i + 1] = n * 3; break;
    case 2: out[i + 2] = n / 3; break;
    case 3: out[i + 3] = n % 5; break;
    case 4: out[i + 4] = n ^ 9; __syncwarp(); break;
    case 5: out[i + 5] = n - 100; break;
    case 6: out[i + 6] = atomicAdd(out, 3); break;
    default: out[i + 7] = -n;
  }
}

__global__ void loops(int* out, const int* in, int n) {
  const int i = threadIdx.x;
  int sum = 0;
  for (int a = 0; a < in[i]; ++a) {
    for (int b = a; b < n; ++b) {
      if (in[a + b] == 7) goto done;
      if (in[b] < 0) break;
      sum += in[a * b];
      if (sum > 1000) return;
    }
  }
done:
  out[i] = sum;
}

__global__ void spin(int* lock, int* data) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *data += 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void printing(const int* in) {
  if (in[threadIdx.x] < 0) __trap();
  printf("%d of %d\n", in[threadIdx.x], threadIdx.x);
}

template <typename T, int kWidth>
__global__ void templated(T* out) {
  out[threadIdx.x] = static_cast<T>(kWidth);
}
template __global__ void templated<float, 33>(float*);
template __global__ void templated<unsigned int, 16>(unsigned int*);
