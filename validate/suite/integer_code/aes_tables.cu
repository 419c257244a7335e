// The rounds of AES (FIPS 197) with a substitution of the caller's: a block of threads makes a table of the substitution and
// its products in shared memory; ten rounds, all unrolled, look up sixteen words each and lay the round's key over them.

__device__ unsigned doubled(unsigned x) { return (x << 1 ^ (x >> 7) * 0x11b) & 255; }

__device__ unsigned rolled(unsigned x, int bytes) { return __funnelshift_l(x, x, 8 * bytes); }

__global__ void aes_tables(const unsigned char* __restrict__ substitution, const uint4* __restrict__ keys,
                           uint4* __restrict__ data, int count) {
  __shared__ unsigned table[256];
  for (int x = threadIdx.x; x < 256; x += blockDim.x) {
    const unsigned s = substitution[x], twice = doubled(s);
    table[x] = twice | s << 8 | s << 16 | (twice ^ s) << 24;
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    uint4 w = data[i];
    const uint4 first = keys[0];
    unsigned s[4] = {w.x ^ first.x, w.y ^ first.y, w.z ^ first.z, w.w ^ first.w};
#pragma unroll
    for (int round = 1; round <= 10; ++round) {
      const uint4 key = keys[round];
      const unsigned k[4] = {key.x, key.y, key.z, key.w};
      unsigned next[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const unsigned t0 = table[s[c] & 255], t1 = table[s[(c + 1) % 4] >> 8 & 255];
        const unsigned t2 = table[s[(c + 2) % 4] >> 16 & 255], t3 = table[s[(c + 3) % 4] >> 24];
        next[c] = round < 10 ? k[c] ^ t0 ^ rolled(t1, 1) ^ rolled(t2, 2) ^ rolled(t3, 3)
                             : k[c] ^ (t0 >> 8 & 0xff) ^ (t1 & 0xff00) ^ (t2 << 8 & 0xff0000) ^ (t3 << 16 & 0xff000000);
      }
#pragma unroll
      for (int c = 0; c < 4; ++c) s[c] = next[c];
    }
    data[i] = make_uint4(s[0], s[1], s[2], s[3]);
  }
}
