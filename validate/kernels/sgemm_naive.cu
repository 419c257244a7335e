// Lesson: coalescing. c = a * b with one thread an element and nothing shared; the two kernels differ in
// how b lies in memory, and so in which addresses the lanes of one load ask for.
//
// In a 16x16 block a warp is two rows of 16 columns.
//   a[row * n + i]   two addresses, one a row:                                          2 sectors a request
//   b[col * n + i]   (columns) 16 addresses, n floats apart, each in a sector of its own: 16 sectors a request
//   b[i * n + col]   (rows)    16 consecutive floats, 64 bytes:                          2 sectors a request
// For n a multiple of 16. In sgemm_naive_columns b is held transposed (b[col * n + i] is element (i, col)),
// which is what "read by columns" costs. Both do n multiply-adds an element, in ascending i.

__global__ void sgemm_naive_columns(const float* a, const float* b, float* c, int n) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (col >= n || row >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += a[row * n + i] * b[col * n + i];
  c[row * n + col] = sum;
}

__global__ void sgemm_naive_rows(const float* a, const float* b, float* c, int n) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (col >= n || row >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += a[row * n + i] * b[i * n + col];
  c[row * n + col] = sum;
}
