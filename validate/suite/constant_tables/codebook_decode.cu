// Weights stored as codes, brought back through a codebook in constant memory: one of 256 numbers by whole bytes, one of 16
// by half bytes. Every lane looks up its own codes.

#define ENTRY(i) (((i) * 37 % 256 - 128) / 64.0f)
#define ENTRIES4(i) ENTRY(i), ENTRY((i) + 1), ENTRY((i) + 2), ENTRY((i) + 3)
#define ENTRIES16(i) ENTRIES4(i), ENTRIES4((i) + 4), ENTRIES4((i) + 8), ENTRIES4((i) + 12)
#define ENTRIES64(i) ENTRIES16(i), ENTRIES16((i) + 16), ENTRIES16((i) + 32), ENTRIES16((i) + 48)

__constant__ float book_bytes[256] = {ENTRIES64(0), ENTRIES64(64), ENTRIES64(128), ENTRIES64(192)};
__constant__ float book_nibbles[16] = {ENTRIES16(0)};

__global__ void decode_bytes(const uchar4* __restrict__ codes, float4* __restrict__ out, int quads, float scale) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uchar4 c = codes[i];
    out[i] = make_float4(book_bytes[c.x] * scale, book_bytes[c.y] * scale, book_bytes[c.z] * scale,
                         book_bytes[c.w] * scale);
  }
}

/// A thread's eight numbers lie in two float4.
__global__ void decode_nibbles(const unsigned* __restrict__ codes, float4* __restrict__ out, int words,
                               float scale) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    const unsigned c = codes[i];
    out[2 * i] = make_float4(book_nibbles[c & 15] * scale, book_nibbles[c >> 4 & 15] * scale,
                             book_nibbles[c >> 8 & 15] * scale, book_nibbles[c >> 12 & 15] * scale);
    out[2 * i + 1] = make_float4(book_nibbles[c >> 16 & 15] * scale, book_nibbles[c >> 20 & 15] * scale,
                                 book_nibbles[c >> 24 & 15] * scale, book_nibbles[c >> 28] * scale);
  }
}
