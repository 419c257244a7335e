// The fast Walsh transform: a pass of radix four with a stride in global memory, and all passes of a line in shared memory.

__global__ void walsh_pass(float* data, int stride) {
  const int pos = blockIdx.x * blockDim.x + threadIdx.x;
  const int low = pos & (stride - 1);
  const int i0 = ((pos - low) << 2) + low;
  const int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
  const float d0 = data[i0], d1 = data[i1], d2 = data[i2], d3 = data[i3];
  const float a = d0 + d2, b = d1 + d3, c = d0 - d2, d = d1 - d3;
  data[i0] = a + b;
  data[i1] = a - b;
  data[i2] = c + d;
  data[i3] = c - d;
}

__global__ void walsh_lines(float* data, int log2n) {
  extern __shared__ float line[];
  const int n = 1 << log2n;
  float* mine = data + ((size_t)blockIdx.x << log2n);
  for (int pos = threadIdx.x; pos < n; pos += blockDim.x) line[pos] = mine[pos];
  int stride = n >> 2;
  for (; stride > 0; stride >>= 2) {
    __syncthreads();
    for (int pos = threadIdx.x; pos < n / 4; pos += blockDim.x) {
      const int low = pos & (stride - 1);
      const int i0 = ((pos - low) << 2) + low;
      const int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
      const float d0 = line[i0], d1 = line[i1], d2 = line[i2], d3 = line[i3];
      const float a = d0 + d2, b = d1 + d3, c = d0 - d2, d = d1 - d3;
      line[i0] = a + b;
      line[i1] = a - b;
      line[i2] = c + d;
      line[i3] = c - d;
    }
  }
  if (log2n & 1) {
    __syncthreads();
    for (int pos = threadIdx.x; pos < n / 2; pos += blockDim.x) {
      const float a = line[2 * pos], b = line[2 * pos + 1];
      line[2 * pos] = a + b;
      line[2 * pos + 1] = a - b;
    }
  }
  __syncthreads();
  for (int pos = threadIdx.x; pos < n; pos += blockDim.x) mine[pos] = line[pos];
}
