// To 8 bits and back. quantize_rows finds the largest magnitude of a row, a row a block, and writes the row
// in units of a 127th of it; dequantize multiplies it out again, four elements an access.

__global__ void quantize_rows(const float4* __restrict__ in, char4* __restrict__ out,
                              float* __restrict__ scales, int quarters) {
  __shared__ float shared[32];
  const float4* row = in + static_cast<size_t>(blockIdx.x) * quarters;
  float largest = 0.0f;
  for (int i = threadIdx.x; i < quarters; i += blockDim.x) {
    const float4 v = row[i];
    largest = fmaxf(largest, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int w = 0; w < blockDim.x / 32; ++w) largest = fmaxf(largest, shared[w]);
  const float scale = largest / 127.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int i = threadIdx.x; i < quarters; i += blockDim.x) {
    const float4 v = row[i];
    out[static_cast<size_t>(blockIdx.x) * quarters + i] = make_char4(
        static_cast<signed char>(rintf(v.x / scale)), static_cast<signed char>(rintf(v.y / scale)),
        static_cast<signed char>(rintf(v.z / scale)), static_cast<signed char>(rintf(v.w / scale)));
  }
}

__global__ void dequantize(const char4* __restrict__ in, const float* __restrict__ scales,
                           float4* __restrict__ out, int quarters, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (i >= quarters || row >= rows) return;
  const float scale = scales[row];
  const char4 v = in[static_cast<size_t>(row) * quarters + i];
  out[static_cast<size_t>(row) * quarters + i] =
      make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}
