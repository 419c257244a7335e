// The cheapest way down a grid of costs, moving straight or one column aside a row. A block carries its columns
// through several rows in shared memory; the columns at its sides that go wrong meanwhile are its neighbours' to
// make, so that blocks overlap by two columns a row.

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    path_rows(int rows, const int* wall, const int* before, int* after, int cols) {
  __shared__ int previous[THREADS];
  __shared__ int current[THREADS];

  const int tx = threadIdx.x;
  const int keep = THREADS - 2 * rows;
  const int column = blockIdx.x * keep + tx - rows;
  const bool exists = column >= 0 && column < cols;
  const int left = column > 0 ? tx - 1 : tx;
  const int right = column < cols - 1 ? tx + 1 : tx;

  if (exists) previous[tx] = before[column];
  __syncthreads();

  for (int row = 0; row < rows; row++) {
    const bool valid = exists && tx >= row + 1 && tx <= THREADS - 2 - row;
    if (valid) {
      const int best = min(previous[tx], min(previous[left], previous[right]));
      current[tx] = best + wall[row * cols + column];
    }
    __syncthreads();
    if (valid) previous[tx] = current[tx];
    __syncthreads();
  }

  if (exists && tx >= rows && tx < THREADS - rows) after[column] = previous[tx];
}

template __global__ void path_rows<512>(int, const int*, const int*, int*, int);
