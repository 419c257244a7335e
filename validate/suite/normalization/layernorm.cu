// Layer normalisation, a row a block of 256 threads: four floats an access, mean and variance in two passes
// over the row (the second finds it in the caches), then scale and shift.

__device__ float block_sum(float value, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x] : 0.0f;
  if (threadIdx.x < 32) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (threadIdx.x == 0) shared[0] = value;
  }
  __syncthreads();
  value = shared[0];
  __syncthreads();
  return value;
}

__global__ void layernorm(const float4* __restrict__ in, const float4* __restrict__ gamma,
                          const float4* __restrict__ beta, float4* __restrict__ out, int quarters,
                          float epsilon) {
  __shared__ float shared[32];
  const float4* row = in + static_cast<size_t>(blockIdx.x) * quarters;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < quarters; i += blockDim.x) {
    const float4 v = row[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  const float mean = block_sum(sum, shared) / (4.0f * quarters);
  float squares = 0.0f;
  for (int i = threadIdx.x; i < quarters; i += blockDim.x) {
    const float4 v = row[i];
    const float x = v.x - mean, y = v.y - mean, z = v.z - mean, w = v.w - mean;
    squares += x * x + y * y + z * z + w * w;
  }
  const float scale = rsqrtf(block_sum(squares, shared) / (4.0f * quarters) + epsilon);
  for (int i = threadIdx.x; i < quarters; i += blockDim.x) {
    const float4 v = row[i], g = gamma[i], b = beta[i];
    float4 result;
    result.x = (v.x - mean) * scale * g.x + b.x;
    result.y = (v.y - mean) * scale * g.y + b.y;
    result.z = (v.z - mean) * scale * g.z + b.z;
    result.w = (v.w - mean) * scale * g.w + b.w;
    out[static_cast<size_t>(blockIdx.x) * quarters + i] = result;
  }
}
