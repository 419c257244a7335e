// Counts the lines and the words of a text, 16 characters a load: a word begins where a letter follows a blank. Each thread
// looks at the character before its own; counts are added in the warp and by one atomic each a warp.

__device__ bool is_blank(unsigned c) { return c == ' ' || c == '\n'; }

__global__ void line_count(const uint4* __restrict__ text, unsigned* __restrict__ counts, int quads) {
  unsigned lines = 0;
  unsigned words = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uint4 v = text[i];
    unsigned before =
        i > 0 ? reinterpret_cast<const unsigned char*>(text)[16 * (size_t)i - 1] : (unsigned)' ';
    const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        const unsigned c = word[w] >> 8 * b & 0xffu;
        lines += c == '\n';
        words += !is_blank(c) && is_blank(before);
        before = c;
      }
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    lines += __shfl_down_sync(0xffffffffu, lines, offset);
    words += __shfl_down_sync(0xffffffffu, words, offset);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&counts[0], lines);
    atomicAdd(&counts[1], words);
  }
}
