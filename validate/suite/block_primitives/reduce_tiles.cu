// Sum, least and largest of many short segments, a block a segment after the other: butterflies of shuffles, one exchange
// through shared memory. reduce_tiles_redux lets the warp's own reduction instruction do what shuffles did.

struct Summary {
  int sum, least, most;
};

template <bool REDUX>
__device__ Summary of_warp(Summary s) {
  if constexpr (REDUX) {
    return {__reduce_add_sync(0xffffffffu, s.sum), __reduce_min_sync(0xffffffffu, s.least),
            __reduce_max_sync(0xffffffffu, s.most)};
  } else {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      s.sum += __shfl_xor_sync(0xffffffffu, s.sum, step);
      s.least = min(s.least, __shfl_xor_sync(0xffffffffu, s.least, step));
      s.most = max(s.most, __shfl_xor_sync(0xffffffffu, s.most, step));
    }
    return s;
  }
}

template <bool REDUX>
__device__ void reduce(const int* in, Summary* out, int segments) {
  __shared__ Summary partial[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int segment = blockIdx.x; segment < segments; segment += gridDim.x) {
    const int x = in[static_cast<size_t>(segment) * blockDim.x + threadIdx.x];
    Summary s = of_warp<REDUX>({x, x, x});
    if (lane == 0) partial[warp] = s;
    __syncthreads();
    if (warp == 0) {
      const bool has = lane < blockDim.x / 32;
      s = has ? partial[lane] : Summary{0, 0x7fffffff, -0x7fffffff - 1};
      s = of_warp<REDUX>(s);
      if (lane == 0) out[segment] = s;
    }
    __syncthreads();
  }
}

__global__ void reduce_tiles(const int* __restrict__ in, Summary* __restrict__ out, int segments) {
  reduce<false>(in, out, segments);
}

__global__ void reduce_tiles_redux(const int* __restrict__ in, Summary* __restrict__ out, int segments) {
  reduce<true>(in, out, segments);
}
