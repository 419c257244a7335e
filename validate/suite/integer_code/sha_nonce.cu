// A search for a nonce: SHA-256 (FIPS 180-4) of a 64-byte block whose word 3 is the nonce, without padding, hashed once more;
// the least first word of all results is kept. Everything is unrolled; round constants are immediate.

__device__ unsigned right(unsigned x, int by) { return __funnelshift_r(x, x, by); }

__device__ void compress(unsigned (&h)[8], unsigned (&w)[16]) {
  constexpr unsigned k[64] = {
      0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
      0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
      0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
      0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
      0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
      0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
      0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
      0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u};
  unsigned v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = h[i];
#pragma unroll
  for (int t = 0; t < 64; ++t) {
    if (t >= 16) {
      const unsigned early = w[(t + 1) % 16], late = w[(t + 14) % 16];
      w[t % 16] += (right(early, 7) ^ right(early, 18) ^ early >> 3) + w[(t + 9) % 16] +
                   (right(late, 17) ^ right(late, 19) ^ late >> 10);
    }
    const unsigned e = v[4], a = v[0];
    const unsigned first = v[7] + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + k[t] +
                           w[t % 16];
    const unsigned second = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    v[7] = v[6], v[6] = v[5], v[5] = e, v[4] = v[3] + first;
    v[3] = v[2], v[2] = v[1], v[1] = a, v[0] = first + second;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) h[i] += v[i];
}

__device__ void begin(unsigned (&h)[8]) {
  h[0] = 0x6a09e667u, h[1] = 0xbb67ae85u, h[2] = 0x3c6ef372u, h[3] = 0xa54ff53au;
  h[4] = 0x510e527fu, h[5] = 0x9b05688cu, h[6] = 0x1f83d9abu, h[7] = 0x5be0cd19u;
}

__global__ void sha_nonce(const unsigned* __restrict__ header, unsigned* __restrict__ first_words,
                          unsigned* __restrict__ least, int count) {
  const int nonce = blockIdx.x * blockDim.x + threadIdx.x;
  if (nonce >= count) return;
  unsigned w[16], h[8];
#pragma unroll
  for (int i = 0; i < 16; ++i) w[i] = header[i];
  w[3] = nonce;
  begin(h);
  compress(h, w);
#pragma unroll
  for (int i = 0; i < 8; ++i) w[i] = h[i];
  w[8] = 0x80000000u;
#pragma unroll
  for (int i = 9; i < 15; ++i) w[i] = 0;
  w[15] = 256;
  begin(h);
  compress(h, w);
  first_words[nonce] = h[0];
  if (h[0] < *least) atomicMin(least, h[0]);
}
