// Batch normalization of images by channel, planes of one channel after another (NCHW). batch_norm_statistics: a
// block a channel goes through that channel's plane of every image and writes the mean and the reciprocal standard
// deviation; batch_norm_apply: scale and shift of every pixel by its channel's, and what is negative becomes zero.

__global__ void batch_norm_statistics(const float4* __restrict__ in, float2* __restrict__ statistics,
                                      int images, int quarters, float epsilon) {
  __shared__ float2 shared[32];
  const int channel = blockIdx.x, channels = gridDim.x;
  float sum = 0.0f, squares = 0.0f;
  for (int image = 0; image < images; ++image) {
    const float4* plane = in + static_cast<size_t>(image * channels + channel) * quarters;
    for (int i = threadIdx.x; i < quarters; i += blockDim.x) {
      const float4 v = plane[i];
      sum += (v.x + v.y) + (v.z + v.w);
      squares += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
    squares += __shfl_down_sync(0xffffffffu, squares, offset);
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = make_float2(sum, squares);
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < blockDim.x / 32; ++w) {
    sum += shared[w].x;
    squares += shared[w].y;
  }
  const float count = static_cast<float>(images) * static_cast<float>(4 * quarters);
  const float mean = sum / count;
  statistics[channel] = make_float2(mean, rsqrtf(squares / count - mean * mean + epsilon));
}

__global__ void batch_norm_apply(const float4* __restrict__ in, const float2* __restrict__ statistics,
                                 const float* __restrict__ gamma, const float* __restrict__ beta,
                                 float4* __restrict__ out, int quarters) {
  const int channel = blockIdx.x;
  const size_t plane = static_cast<size_t>(blockIdx.y * gridDim.x + channel) * quarters;
  const float2 s = statistics[channel];
  const float scale = gamma[channel] * s.y;
  const float shift = beta[channel] - s.x * scale;
  for (int i = threadIdx.x; i < quarters; i += blockDim.x) {
    const float4 v = in[plane + i];
    out[plane + i] = make_float4(fmaxf(v.x * scale + shift, 0.0f), fmaxf(v.y * scale + shift, 0.0f),
                                 fmaxf(v.z * scale + shift, 0.0f), fmaxf(v.w * scale + shift, 0.0f));
  }
}
