// Local alignment of pairs of sequences, a pair a block: thread i holds row i of the score matrix and moves
// right by one column a step, so that the live cells are an anti-diagonal. Neighbours pass their scores
// through shared memory, with a barrier a step.

#define LENGTH 128  // of the first sequence: the threads of a block
#define MATCH 3
#define MISMATCH (-2)
#define GAP 2

__global__ void __launch_bounds__(LENGTH)
    smith_waterman(const unsigned char* __restrict__ first, const unsigned char* __restrict__ second,
                   int* __restrict__ best, int length) {
  __shared__ int above[2][LENGTH + 1];  // what the row above has made, by the parity of the step
  __shared__ int warp_best[LENGTH / 32];
  const int row = threadIdx.x;
  const int letter = first[blockIdx.x * LENGTH + row] & 3;
  const unsigned char* text = second + static_cast<size_t>(blockIdx.x) * length;
  above[0][row + 1] = 0;
  above[1][row + 1] = 0;
  if (row == 0) above[0][0] = above[1][0] = 0;
  __syncthreads();
  int left = 0;
  int diagonal = 0;
  int largest = 0;
  for (int step = 0; step < length + LENGTH - 1; ++step) {
    const int column = step - row;
    if (column >= 0 && column < length) {
      const int up = above[step & 1][row];
      const int match = (text[column] & 3) == letter ? MATCH : MISMATCH;
      const int score = max(max(diagonal + match, 0), max(left, up) - GAP);
      diagonal = up;
      left = score;
      largest = max(largest, score);
      above[(step & 1) ^ 1][row + 1] = score;
    }
    __syncthreads();
  }
  for (int offset = 16; offset > 0; offset /= 2)
    largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  if (row % 32 == 0) warp_best[row / 32] = largest;
  __syncthreads();
  if (row == 0) {
    for (int w = 1; w < LENGTH / 32; ++w) largest = max(largest, warp_best[w]);
    best[blockIdx.x] = largest;
  }
}
