// One warp loads, three compute, and a ring of four buffers is handed to and fro by mbarriers in shared
// memory: the loader arrives on a buffer's `full`, the workers on its `empty`, and each waits for the phase
// that it needs. The work is a polynomial of each element, added up a thread.

#define RING 4
#define TILE 384
#define WORKERS 96

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void initialise(unsigned long long* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ void arrive(unsigned long long* barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(barrier))
               : "memory");
}

__device__ void wait(unsigned long long* barrier, int parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n"
      "  .reg .pred done;\n"
      "again:\n"
      "  mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "  @!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
#else
  int done = 0;
  while (!done) {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
  }
#endif
}

__global__ void __launch_bounds__(32 + WORKERS)
    mbarrier_ring(const float* __restrict__ in, float* __restrict__ sums, int tiles) {
  __shared__ float ring[RING][TILE];
  __shared__ unsigned long long full[RING];
  __shared__ unsigned long long empty[RING];
  if (threadIdx.x < RING) {
    initialise(&full[threadIdx.x], 32);
    initialise(&empty[threadIdx.x], WORKERS);
  }
  __syncthreads();
  const float* from = in + static_cast<size_t>(blockIdx.x) * tiles * TILE;
  if (threadIdx.x < 32) {
    for (int tile = 0; tile < tiles; ++tile) {
      const int slot = tile % RING;
      if (tile >= RING) wait(&empty[slot], (tile / RING - 1) % 2);
#pragma unroll
      for (int i = 0; i < TILE; i += 32) ring[slot][i + threadIdx.x] = from[tile * TILE + i + threadIdx.x];
      arrive(&full[slot]);
    }
  } else {
    const int worker = threadIdx.x - 32;
    float sum = 0.0f;
    for (int tile = 0; tile < tiles; ++tile) {
      const int slot = tile % RING;
      wait(&full[slot], tile / RING % 2);
#pragma unroll
      for (int i = 0; i < TILE; i += WORKERS) {
        const float x = ring[slot][i + worker];
        sum += ((0.25f * x + 0.5f) * x + 0.75f) * x + 1.0f;
      }
      arrive(&empty[slot]);
    }
    sums[blockIdx.x * WORKERS + worker] = sum;
  }
}
