// out[i] = in[index[i]]: the loads go where the index says. With a permutation each lane has a sector of its own; with
// indices near their place, a warp's lanes share sectors.

__global__ void gather(const float* __restrict__ in, const int* __restrict__ index, float* __restrict__ out,
                       int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}
