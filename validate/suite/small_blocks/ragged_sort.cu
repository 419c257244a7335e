// Many short lists, a block of 32 threads each, of lengths that differ from 1 to 128: an odd-even sort in
// shared memory, which takes as many rounds as the list is long. Short blocks make room for others while
// long ones still run.

#define LONGEST 128

__global__ void ragged_sort(const unsigned* __restrict__ lengths, unsigned* __restrict__ lists) {
  __shared__ unsigned list[LONGEST];
  const int length = lengths[blockIdx.x];
  unsigned* mine = lists + static_cast<size_t>(blockIdx.x) * LONGEST;
  for (int i = threadIdx.x; i < length; i += 32) list[i] = mine[i];
  __syncwarp();
  for (int round = 0; round < length; ++round) {
    for (int i = round % 2 + 2 * threadIdx.x; i + 1 < length; i += 64) {
      const unsigned a = list[i], b = list[i + 1];
      if (a > b) {
        list[i] = b;
        list[i + 1] = a;
      }
    }
    __syncwarp();
  }
  for (int i = threadIdx.x; i < length; i += 32) mine[i] = list[i];
}
