// out[index[i]] = in[i]: the stores go where the index says, each to a place of its own. scatter_add adds to places that
// several elements may share.

__global__ void scatter(const float* __restrict__ in, const int* __restrict__ index, float* __restrict__ out,
                        int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

__global__ void scatter_add(const int* __restrict__ in, const int* __restrict__ index, int* __restrict__ out,
                            int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[index[i]], in[i]);
}
