// Normalization over groups of channels: a block an image's group, sum and sum of squares in one pass of float4, then a second.

__global__ void group_norm(const float4* __restrict__ in, const float* __restrict__ gamma, const float* __restrict__ beta,
                           float4* __restrict__ out, int channels_per_group, int pixels4, int groups, float epsilon) {
  __shared__ float sums[32], squares[32];
  const int group = blockIdx.x % groups;
  const int count4 = channels_per_group * pixels4;
  const float4* from = in + (size_t)blockIdx.x * count4;
  float4* to = out + (size_t)blockIdx.x * count4;
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < count4; i += blockDim.x) {
    const float4 v = from[i];
    sum += v.x + v.y + v.z + v.w;
    square += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  for (int offset = 16; offset > 0; offset >>= 1) {
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
    square += __shfl_down_sync(0xffffffffu, square, offset);
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) {
    sums[warp] = sum;
    squares[warp] = square;
  }
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? sums[lane] : 0.0f;
    square = lane < blockDim.x / 32 ? squares[lane] : 0.0f;
    for (int offset = 16; offset > 0; offset >>= 1) {
      sum += __shfl_down_sync(0xffffffffu, sum, offset);
      square += __shfl_down_sync(0xffffffffu, square, offset);
    }
    if (lane == 0) {
      const float mean = sum / (4.0f * count4);
      sums[0] = mean;
      squares[0] = rsqrtf(square / (4.0f * count4) - mean * mean + epsilon);
    }
  }
  __syncthreads();
  const float mean = sums[0], scale = squares[0];
  for (int i = threadIdx.x; i < count4; i += blockDim.x) {
    const int channel = group * channels_per_group + i / pixels4;
    const float g = gamma[channel] * scale, b = beta[channel] - mean * g;
    const float4 v = from[i];
    to[i] = make_float4(v.x * g + b, v.y * g + b, v.z * g + b, v.w * g + b);
  }
}
