// The place of each query among sorted keys, by halving: the first steps of all threads meet in the same few keys, the last
// are anywhere.

__global__ void binary_search(const unsigned* __restrict__ keys, const unsigned* __restrict__ queries,
                              int* __restrict__ places, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned wanted = queries[i];
  int low = 0;
  int high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keys[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  places[i] = low;
}
