// The Levenshtein distance of many pairs of words, a thread a pair, as a spelling checker has it: the row of the
// table is in shared memory, a byte a place, the threads of a block side by side. Letters are bytes modulo 8.

__global__ void edit_distance(const unsigned char* __restrict__ first,
                              const unsigned char* __restrict__ second, int* __restrict__ distance, int pairs,
                              int length) {
  extern __shared__ unsigned char rows[];  // (length + 1) x blockDim.x
  const int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= pairs) return;
  const unsigned char* a = first + static_cast<size_t>(pair) * length;
  const unsigned char* b = second + static_cast<size_t>(pair) * length;
  unsigned char* row = rows + threadIdx.x;
  const int step = blockDim.x;
  for (int j = 0; j <= length; ++j) row[j * step] = j;
  for (int i = 1; i <= length; ++i) {
    const int letter = a[i - 1] % 8;
    int diagonal = i - 1, left = i;
    row[0] = i;
    for (int j = 1; j <= length; ++j) {
      const int above = row[j * step];
      const int replaced = diagonal + (letter != b[j - 1] % 8);
      left = min(replaced, min(left, above) + 1);
      row[j * step] = left;
      diagonal = above;
    }
  }
  distance[pair] = row[length * step];
}
