// Twenty thousand blocks of one warp: each finds the length of one short row and divides the row by it. The
// work of a block is little more than its launch.

__global__ void row_length(const float* __restrict__ in, float* __restrict__ out, int columns) {
  const float* row = in + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 32) sum += row[i] * row[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  const float scale = rsqrtf(sum);
  for (int i = threadIdx.x; i < columns; i += 32)
    out[static_cast<size_t>(blockIdx.x) * columns + i] = row[i] * scale;
}
