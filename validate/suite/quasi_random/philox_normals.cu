// Normal numbers from a counter: ten rounds of two wide products each, then two pairs by logarithm, root, sine and cosine.

__device__ __forceinline__ uint4 philox(uint4 c, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const unsigned high0 = __umulhi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;
    const unsigned high1 = __umulhi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
    c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
    key.x += 0x9e3779b9u;
    key.y += 0xbb67ae85u;
  }
  return c;
}

__device__ __forceinline__ float2 normal_pair(unsigned a, unsigned b) {
  const float u = a * 2.3283064e-10f + 1.1641532e-10f;
  const float v = b * 2.3283064e-10f + 1.1641532e-10f;
  const float radius = sqrtf(-2.0f * logf(u));
  float s, c;
  sincospif(2.0f * v, &s, &c);
  return make_float2(radius * s, radius * c);
}

__global__ void philox_normals(float4* __restrict__ out, int quads, unsigned long long seed, float mean, float deviation) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
    const uint4 bits = philox(make_uint4(i, 0, 7, 0), make_uint2((unsigned)seed, (unsigned)(seed >> 32)));
    const float2 p = normal_pair(bits.x, bits.y), q = normal_pair(bits.z, bits.w);
    out[i] = make_float4(p.x * deviation + mean, p.y * deviation + mean, q.x * deviation + mean, q.y * deviation + mean);
  }
}
