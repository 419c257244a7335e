// Sorts pieces of 1024 keys each, ascending, by the bitonic network in shared memory: 55 rounds of compare and exchange
// with a barrier between them. 512 threads a block, a pair a thread and round.

#define PIECE 1024

__global__ void bitonic_shared(unsigned* __restrict__ keys) {
  __shared__ unsigned piece[PIECE];
  unsigned* mine = keys + (size_t)blockIdx.x * PIECE;
  const int t = threadIdx.x;
  piece[t] = mine[t];
  piece[t + PIECE / 2] = mine[t + PIECE / 2];
  for (int size = 2; size <= PIECE; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int low = 2 * t - (t & (stride - 1));
      const int high = low + stride;
      const bool ascending = (low & size) == 0 || size == PIECE;
      const unsigned a = piece[low];
      const unsigned b = piece[high];
      if ((a > b) == ascending) {
        piece[low] = b;
        piece[high] = a;
      }
    }
  }
  __syncthreads();
  mine[t] = piece[t];
  mine[t + PIECE / 2] = piece[t + PIECE / 2];
}
