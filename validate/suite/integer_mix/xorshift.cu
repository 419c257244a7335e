// A random number generator of 64 bits that multiplies and shifts, many rounds a thread, with the bits that
// it makes counted: integer arithmetic wider than a register, and nothing from memory.

__global__ void xorshift(const unsigned long long* __restrict__ seeds, unsigned long long* __restrict__ ends,
                         unsigned* __restrict__ ones, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long state = seeds[i] | 1ull;
  unsigned count = 0;
  for (int round = 0; round < rounds; ++round) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    count += __popcll(state * 0x2545f4914f6cdd1dull);
  }
  ends[i] = state;
  ones[i] = count;
}
