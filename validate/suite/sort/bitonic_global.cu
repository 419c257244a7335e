// One round of the bitonic network over an array in global memory: a thread compares two keys `stride` apart and
// exchanges them where they are in the wrong order for their run of `size`. Only keys that move are written.

__global__ void bitonic_global(unsigned* __restrict__ keys, int pairs, int stride, int size) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= pairs) return;
  const int low = 2 * t - (t & (stride - 1));
  const int high = low + stride;
  const bool ascending = (low & size) == 0;
  const unsigned a = keys[low];
  const unsigned b = keys[high];
  if ((a > b) == ascending) {
    keys[low] = b;
    keys[high] = a;
  }
}
