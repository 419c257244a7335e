// One half sweep over a lattice of spins (bytes, 0 or 1) that wraps around: the sites of one colour of the chessboard, a thread
// each, look at four neighbours and turn over by chance, which a hash of the place decides.

__device__ unsigned hashed(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/// `width` is even and a power of two, `height` even; a thread a site of `colour`.
__global__ void spin_lattice(unsigned char* __restrict__ spins, int width, int height, int colour, unsigned three,
                             unsigned four, unsigned seed) {
  const int half = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (half >= width / 2) return;
  const int x = 2 * half + ((y + colour) & 1);
  const size_t row = static_cast<size_t>(y) * width;
  const size_t above = static_cast<size_t>(y == 0 ? height - 1 : y - 1) * width;
  const size_t below = static_cast<size_t>(y == height - 1 ? 0 : y + 1) * width;
  const int ones = spins[above + x] + spins[below + x] + spins[row + (x - 1 & width - 1)] + spins[row + (x + 1 & width - 1)];
  const unsigned char mine = spins[row + x];
  const int like = mine ? ones : 4 - ones;
  const unsigned chance = hashed(static_cast<unsigned>(row + x) ^ seed);
  if (like <= 2 || chance < (like == 3 ? three : four)) spins[row + x] = 1 - mine;
}
