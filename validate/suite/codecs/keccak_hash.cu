// Keccak's permutation of 25 words of 64 bits over messages of 64 bytes, a thread a message; digests of 32 bytes.

__constant__ unsigned long long round_constants[24] = {
    0x0000000000000001ULL, 0x0000000000008082ULL, 0x800000000000808AULL, 0x8000000080008000ULL, 0x000000000000808BULL,
    0x0000000080000001ULL, 0x8000000080008081ULL, 0x8000000000008009ULL, 0x000000000000008AULL, 0x0000000000000088ULL,
    0x0000000080008009ULL, 0x000000008000000AULL, 0x000000008000808BULL, 0x800000000000008BULL, 0x8000000000008089ULL,
    0x8000000000008003ULL, 0x8000000000008002ULL, 0x8000000000000080ULL, 0x000000000000800AULL, 0x800000008000000AULL,
    0x8000000080008081ULL, 0x8000000000008080ULL, 0x0000000080000001ULL, 0x8000000080008008ULL};

__device__ __forceinline__ unsigned long long rotate(unsigned long long x, int by) { return x << by | x >> (64 - by); }

__global__ void keccak_hash(const unsigned long long* __restrict__ messages, unsigned long long* __restrict__ digests,
                            int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int rotations[24] = {1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44};
  const int lanes[24] = {10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1};
  unsigned long long s[25];
#pragma unroll
  for (int k = 0; k < 25; k++) s[k] = k < 8 ? messages[i * 8 + k] : 0;
  s[8] = 0x06;
  s[16] = 0x8000000000000000ULL;
  for (int round = 0; round < 24; round++) {
    unsigned long long c[5];
#pragma unroll
    for (int x = 0; x < 5; x++) c[x] = s[x] ^ s[x + 5] ^ s[x + 10] ^ s[x + 15] ^ s[x + 20];
#pragma unroll
    for (int x = 0; x < 5; x++) {
      const unsigned long long d = c[(x + 4) % 5] ^ rotate(c[(x + 1) % 5], 1);
#pragma unroll
      for (int y = 0; y < 25; y += 5) s[y + x] ^= d;
    }
    unsigned long long moved = s[1];
#pragma unroll
    for (int k = 0; k < 24; k++) {
      const unsigned long long next = s[lanes[k]];
      s[lanes[k]] = rotate(moved, rotations[k]);
      moved = next;
    }
#pragma unroll
    for (int y = 0; y < 25; y += 5) {
#pragma unroll
      for (int x = 0; x < 5; x++) c[x] = s[y + x];
#pragma unroll
      for (int x = 0; x < 5; x++) s[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
    }
    s[0] ^= round_constants[round];
  }
#pragma unroll
  for (int k = 0; k < 4; k++) digests[i * 4 + k] = s[k];
}
