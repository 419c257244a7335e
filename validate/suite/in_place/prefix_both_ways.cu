// Sums over all rectangles from a corner, in place: a block has an image of its own, adds along its rows (a thread a row) and
// then down its columns (a thread a column), reading the lines that it has just written.

__global__ void prefix_both_ways(unsigned* __restrict__ images, int size) {
  unsigned* image = images + static_cast<size_t>(blockIdx.x) * size * size;
  for (int row = threadIdx.x; row < size; row += blockDim.x) {
    unsigned sum = 0;
    for (int column = 0; column < size; ++column) {
      sum += image[row * size + column];
      image[row * size + column] = sum;
    }
  }
  __syncthreads();
  for (int column = threadIdx.x; column < size; column += blockDim.x) {
    unsigned sum = 0;
    for (int row = 0; row < size; ++row) {
      sum += image[row * size + column];
      image[row * size + column] = sum;
    }
  }
}
