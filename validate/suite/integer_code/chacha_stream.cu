// ChaCha20 (RFC 8439) over a stream: a thread makes one block of 64 bytes of key stream, twenty rounds of additions, exclusive
// ors and rotations with nothing but registers, and lays it over its part of the data.

__device__ void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
  a += b, d ^= a, d = __funnelshift_l(d, d, 16);
  c += d, b ^= c, b = __funnelshift_l(b, b, 12);
  a += b, d ^= a, d = __funnelshift_l(d, d, 8);
  c += d, b ^= c, b = __funnelshift_l(b, b, 7);
}

__global__ void chacha_stream(const unsigned* __restrict__ key, uint4* __restrict__ data, int blocks, unsigned nonce) {
  const int block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= blocks) return;
  unsigned start[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u, key[0], key[1], key[2], key[3],
                        key[4],      key[5],      key[6],      key[7],      static_cast<unsigned>(block),
                        nonce,       nonce + 1,   nonce + 2};
  unsigned s[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) s[i] = start[i];
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    quarter(s[0], s[4], s[8], s[12]);
    quarter(s[1], s[5], s[9], s[13]);
    quarter(s[2], s[6], s[10], s[14]);
    quarter(s[3], s[7], s[11], s[15]);
    quarter(s[0], s[5], s[10], s[15]);
    quarter(s[1], s[6], s[11], s[12]);
    quarter(s[2], s[7], s[8], s[13]);
    quarter(s[3], s[4], s[9], s[14]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    uint4 four = data[4 * block + i];
    four.x ^= s[4 * i] + start[4 * i];
    four.y ^= s[4 * i + 1] + start[4 * i + 1];
    four.z ^= s[4 * i + 2] + start[4 * i + 2];
    four.w ^= s[4 * i + 3] + start[4 * i + 3];
    data[4 * block + i] = four;
  }
}
