// Mean, spread, least and largest of each row of a table, a thread a row, in two walks over it.

__global__ void row_statistics(const float* __restrict__ table, float4* __restrict__ results, int rows, int columns) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = table + static_cast<size_t>(r) * columns;
  float sum = 0.0f, least = row[0], most = row[0];
  for (int c = 0; c < columns; ++c) {
    const float x = row[c];
    sum += x;
    least = fminf(least, x);
    most = fmaxf(most, x);
  }
  const float mean = sum / columns;
  float squares = 0.0f;
  for (int c = 0; c < columns; ++c) {
    const float off = row[c] - mean;
    squares += off * off;
  }
  results[r] = make_float4(mean, sqrtf(squares / columns), least, most);
}
