// The loss of a language model's last layer: for each row of logits the logarithm of the sum of exponentials over
// the vocabulary, less the logit of the right word. A block a row reads it once: each thread keeps a running maximum
// and a sum of exponentials relative to it, which are combined by shuffles and through shared memory.

__device__ void combine(float& largest, float& sum, float other_largest, float other_sum) {
  const float both = fmaxf(largest, other_largest);
  sum = sum * __expf(largest - both) + other_sum * __expf(other_largest - both);
  largest = both;
}

__device__ void combine_warp(float& largest, float& sum) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_largest = __shfl_xor_sync(0xffffffffu, largest, offset);
    const float other_sum = __shfl_xor_sync(0xffffffffu, sum, offset);
    combine(largest, sum, other_largest, other_sum);
  }
}

__global__ void cross_entropy(const float4* __restrict__ logits, const int* __restrict__ targets,
                              float* __restrict__ losses, int quarters) {
  __shared__ float largest_of[32];
  __shared__ float sum_of[32];
  const int row = blockIdx.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float4* from = logits + static_cast<size_t>(row) * quarters;
  float largest = -1e30f, sum = 0.0f;
  for (int i = threadIdx.x; i < quarters; i += blockDim.x) {
    const float4 v = from[i];
    const float here = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    if (here > largest) {
      sum *= __expf(largest - here);
      largest = here;
    }
    sum += __expf(v.x - largest) + __expf(v.y - largest) + __expf(v.z - largest) + __expf(v.w - largest);
  }
  combine_warp(largest, sum);
  if (lane == 0) {
    largest_of[warp] = largest;
    sum_of[warp] = sum;
  }
  __syncthreads();
  if (warp > 0) return;
  const bool has_warp = lane < blockDim.x / 32;
  largest = has_warp ? largest_of[lane] : -1e30f;
  sum = has_warp ? sum_of[lane] : 0.0f;
  combine_warp(largest, sum);
  if (lane == 0) {
    const float right = reinterpret_cast<const float*>(from)[targets[row]];
    losses[row] = logf(sum) + largest - right;
  }
}
