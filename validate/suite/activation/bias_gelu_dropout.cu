// The end of a transformer's feed-forward layer in one pass: a bias, a GELU by its hyperbolic tangent, dropout, and the
// residual. Random numbers are made from the element's place by ten rounds of the counter-based Philox 4x32, one call
// for the four elements of a thread's float4; which elements were kept is written for the way back. Grid-stride loop.

struct Random4 {
  unsigned x, y, z, w;
};

__device__ __forceinline__ Random4 philox(unsigned counter_low, unsigned counter_high, unsigned key0,
                                          unsigned key1) {
  Random4 c = {counter_low, counter_high, 0u, 0u};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned low0 = 0xD2511F53u * c.x, high0 = __umulhi(0xD2511F53u, c.x);
    const unsigned low1 = 0xCD9E8D57u * c.z, high1 = __umulhi(0xCD9E8D57u, c.z);
    c = {high1 ^ c.y ^ key0, low1, high0 ^ c.w ^ key1, low0};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

__device__ __forceinline__ float gelu(float x) {
  const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

__device__ __forceinline__ float keep(float x, float bias, float residual, bool is_kept, float scale) {
  return residual + (is_kept ? gelu(x + bias) * scale : 0.0f);
}

__global__ void bias_gelu_dropout(const float4* __restrict__ in, const float4* __restrict__ bias,
                                  const float4* __restrict__ residual, float4* __restrict__ out,
                                  uchar4* __restrict__ mask, int quarters, int row_quarters,
                                  unsigned threshold, float scale, unsigned long long seed) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quarters; i += gridDim.x * blockDim.x) {
    const Random4 r = philox(i, 0u, static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
    const float4 x = in[i];
    const float4 b = __ldg(&bias[i % row_quarters]);
    const float4 old = residual[i];
    const uchar4 kept = make_uchar4(r.x >= threshold, r.y >= threshold, r.z >= threshold, r.w >= threshold);
    float4 y;
    y.x = keep(x.x, b.x, old.x, kept.x, scale);
    y.y = keep(x.y, b.y, old.y, kept.y, scale);
    y.z = keep(x.z, b.z, old.z, kept.z, scale);
    y.w = keep(x.w, b.w, old.w, kept.w, scale);
    out[i] = y;
    mask[i] = kept;
  }
}
