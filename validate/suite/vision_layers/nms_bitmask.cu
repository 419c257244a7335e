// Which boxes overlap which by more than a share, a bit a pair: blocks of 64 boxes against 64 others from shared memory. Boxes
// have whole coordinates: x, y, width, height.

__device__ __forceinline__ float overlap(float4 a, float4 b) {
  const float left = fmaxf(a.x, b.x), right = fminf(a.x + a.z, b.x + b.z);
  const float top = fmaxf(a.y, b.y), bottom = fminf(a.y + a.w, b.y + b.w);
  const float width = fmaxf(right - left, 0.0f), height = fmaxf(bottom - top, 0.0f);
  const float both = width * height;
  return both / (a.z * a.w + b.z * b.w - both);
}

__global__ void nms_bitmask(const int4* __restrict__ boxes, unsigned long long* __restrict__ mask, int n,
                            float threshold) {
  const int row_start = blockIdx.y;
  const int col_start = blockIdx.x;
  if (row_start > col_start) return;
  const int row_size = min(n - row_start * 64, 64);
  const int col_size = min(n - col_start * 64, 64);
  __shared__ float4 others[64];
  if (threadIdx.x < col_size) {
    const int4 box = boxes[col_start * 64 + threadIdx.x];
    others[threadIdx.x] = make_float4(box.x, box.y, box.z, box.w);
  }
  __syncthreads();
  if (threadIdx.x < row_size) {
    const int mine = row_start * 64 + threadIdx.x;
    const int4 box = boxes[mine];
    const float4 own = make_float4(box.x, box.y, box.z, box.w);
    unsigned long long bits = 0;
    for (int i = row_start == col_start ? threadIdx.x + 1 : 0; i < col_size; i++) {
      if (overlap(own, others[i]) > threshold) bits |= 1ULL << i;
    }
    mask[(size_t)mine * gridDim.x + col_start] = bits;
  }
}
