// Rotary positions of queries and keys in bfloat16, in place: a block a token, pairs half a head apart, cosines and sines of the
// token's position from a table.
#include <cuda_bf16.h>

__device__ __forceinline__ void rotate(__nv_bfloat16* head, int i, int half, float c, float s) {
  const float x = __bfloat162float(head[i]);
  const float y = __bfloat162float(head[i + half]);
  head[i] = __float2bfloat16(x * c - y * s);
  head[i + half] = __float2bfloat16(y * c + x * s);
}

__global__ void rope_rotate(const int* __restrict__ positions, __nv_bfloat16* __restrict__ query,
                            __nv_bfloat16* __restrict__ key, const float* __restrict__ cos_sin, int half,
                            int query_heads, int key_heads) {
  const int token = blockIdx.x;
  const float* table = cos_sin + positions[token] * 2 * half;
  const int dim = 2 * half;
  for (int i = threadIdx.x; i < query_heads * half; i += blockDim.x) {
    const int head = i / half, at = i % half;
    rotate(query + ((size_t)token * query_heads + head) * dim, at, half, table[at], table[at + half]);
  }
  for (int i = threadIdx.x; i < key_heads * half; i += blockDim.x) {
    const int head = i / half, at = i % half;
    rotate(key + ((size_t)token * key_heads + head) * dim, at, half, table[at], table[at + half]);
  }
}
