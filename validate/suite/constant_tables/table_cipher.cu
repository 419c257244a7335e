// A cipher in the manner of AES with its table in constant memory: sixteen look-ups a round, each by a byte of the state,
// so that the lanes of a warp ask for as many words as they hold different bytes. A thread enciphers one block of 16 bytes.

#define WORD(i) (((i) + 1u) * 0x9e3779b1u ^ ((i) * 0x85ebca6bu + 0x27d4eb2fu) >> 5)
#define WORDS4(i) WORD(i), WORD((i) + 1u), WORD((i) + 2u), WORD((i) + 3u)
#define WORDS16(i) WORDS4(i), WORDS4((i) + 4u), WORDS4((i) + 8u), WORDS4((i) + 12u)
#define WORDS64(i) WORDS16(i), WORDS16((i) + 16u), WORDS16((i) + 32u), WORDS16((i) + 48u)

__constant__ unsigned substitution[256] = {WORDS64(0u), WORDS64(64u), WORDS64(128u), WORDS64(192u)};

__device__ unsigned mixed(unsigned a, unsigned b, unsigned c, unsigned d) {
  return substitution[a & 255] ^ __funnelshift_l(substitution[b >> 8 & 255], substitution[b >> 8 & 255], 8) ^
         __funnelshift_l(substitution[c >> 16 & 255], substitution[c >> 16 & 255], 16) ^
         __funnelshift_l(substitution[d >> 24], substitution[d >> 24], 24);
}

__global__ void table_cipher(const uint4* __restrict__ in, uint4* __restrict__ out, int count, int rounds,
                             unsigned key) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  uint4 s = in[i];
  for (int round = 0; round < rounds; ++round) {
    const uint4 old = s;
    s.x = mixed(old.x, old.y, old.z, old.w) ^ key;
    s.y = mixed(old.y, old.z, old.w, old.x) ^ key + 1;
    s.z = mixed(old.z, old.w, old.x, old.y) ^ key + 2;
    s.w = mixed(old.w, old.x, old.y, old.z) ^ key + 3;
    key = key * 1664525u + 1013904223u;
  }
  out[i] = s;
}
