// The vector work of a step of the conjugate gradient method in one pass: the solution goes along the direction, the
// residual against its image, and the residual's new square is summed up: registers, shuffles, one atomic a block.

__global__ void conjugate_gradient(float4* __restrict__ solution, float4* __restrict__ residual,
                                   const float4* __restrict__ direction, const float4* __restrict__ image,
                                   float* __restrict__ square, int quarters, float alpha) {
  __shared__ float shared[16];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quarters; i += gridDim.x * blockDim.x) {
    const float4 p = direction[i], q = image[i];
    float4 x = solution[i], r = residual[i];
    x = make_float4(x.x + alpha * p.x, x.y + alpha * p.y, x.z + alpha * p.z, x.w + alpha * p.w);
    r = make_float4(r.x - alpha * q.x, r.y - alpha * q.y, r.z - alpha * q.z, r.w - alpha * q.w);
    solution[i] = x;
    residual[i] = r;
    sum += r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < blockDim.x / 32; ++w) sum += shared[w];
  atomicAdd(square, sum);
}
