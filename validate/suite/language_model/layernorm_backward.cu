// The gradient of a layer normalization: a warp a row with two sums, the gradients of scale and shift added up in shared memory
// and then in global memory.

__global__ void layernorm_backward(float* dinp, float* dweight, float* dbias, const float* dout, const float* inp,
                                   const float* weight, const float* mean, const float* rstd, int rows, int width) {
  extern __shared__ float shared[];
  float* dweight_shared = shared;
  float* dbias_shared = shared + width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    dweight_shared[i] = 0.0f;
    dbias_shared[i] = 0.0f;
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const int warps = gridDim.x * blockDim.x / 32;
  for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows; row += warps) {
    const float* dout_row = dout + (size_t)row * width;
    const float* inp_row = inp + (size_t)row * width;
    float* dinp_row = dinp + (size_t)row * width;
    const float m = mean[row], r = rstd[row];
    float norm_mean = 0.0f, norm_product = 0.0f;
    for (int i = lane; i < width; i += 32) {
      const float norm = (inp_row[i] - m) * r;
      const float dnorm = weight[i] * dout_row[i];
      norm_mean += dnorm;
      norm_product += dnorm * norm;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      norm_mean += __shfl_xor_sync(0xffffffffu, norm_mean, offset);
      norm_product += __shfl_xor_sync(0xffffffffu, norm_product, offset);
    }
    norm_mean /= width;
    norm_product /= width;
    for (int i = lane; i < width; i += 32) {
      const float d = dout_row[i];
      const float norm = (inp_row[i] - m) * r;
      atomicAdd(&dbias_shared[i], d);
      atomicAdd(&dweight_shared[i], norm * d);
      dinp_row[i] += (weight[i] * d - norm_mean - norm * norm_product) * r;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    atomicAdd(&dbias[i], dbias_shared[i]);
    atomicAdd(&dweight[i], dweight_shared[i]);
  }
}
