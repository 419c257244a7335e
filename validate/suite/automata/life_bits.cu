// A step of the game of life on a torus, 32 cells a word: neighbours of all 32 are counted at once by adders of bits.
// A thread keeps to a column of words and walks down `strip` rows, with the sums of three rows in registers.

struct Sums {
  unsigned low, high;            // of left, middle and right
  unsigned side_low, side_high;  // of left and right only
  unsigned middle;
};

__device__ __forceinline__ Sums sums_of(const unsigned* row, int west, int here, int east) {
  const unsigned middle = row[here];
  const unsigned left = __funnelshift_l(row[west], middle, 1);
  const unsigned right = __funnelshift_r(middle, row[east], 1);
  Sums s;
  s.side_low = left ^ right;
  s.side_high = left & right;
  s.low = s.side_low ^ middle;
  s.high = s.side_high | (s.side_low & middle);
  s.middle = middle;
  return s;
}

__global__ void life_bits(const unsigned* __restrict__ cells, unsigned* __restrict__ next, int words,
                          int rows, int strip) {
  const int here = blockIdx.x * blockDim.x + threadIdx.x;
  if (here >= words) return;
  const int west = here == 0 ? words - 1 : here - 1;
  const int east = here == words - 1 ? 0 : here + 1;
  const int first = (blockIdx.y * blockDim.y + threadIdx.y) * strip;
  const int end = min(first + strip, rows);
  if (first >= end) return;

  const auto row = [&](int y) { return cells + static_cast<size_t>(y) * words; };
  Sums above = sums_of(row(first == 0 ? rows - 1 : first - 1), west, here, east);
  Sums middle = sums_of(row(first), west, here, east);
  for (int y = first; y < end; ++y) {
    const Sums below = sums_of(row(y == rows - 1 ? 0 : y + 1), west, here, east);
    // above + sides + below: ones, two numbers of weight two, then twos and fours.
    const unsigned ones = above.low ^ middle.side_low ^ below.low;
    const unsigned carry = (above.low & middle.side_low) | (below.low & (above.low ^ middle.side_low));
    const unsigned half = above.high ^ middle.side_high;
    const unsigned other = below.high ^ carry;
    const unsigned twos = half ^ other;
    const unsigned fours = (above.high & middle.side_high) | (below.high & carry) | (half & other);
    next[static_cast<size_t>(y) * words + here] = twos & ~fours & (ones | middle.middle);
    above = middle;
    middle = below;
  }
}
