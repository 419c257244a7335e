// A filter that keeps edges: neighbours within a radius weighted by distance (from a table made by each block) and by how much
// their four channels differ; pixels packed in bytes.

__device__ __forceinline__ float4 unpack(unsigned c) {
  return make_float4((c & 0xff) / 255.0f, (c >> 8 & 0xff) / 255.0f, (c >> 16 & 0xff) / 255.0f, (c >> 24) / 255.0f);
}

__global__ void bilateral_filter(const unsigned* __restrict__ in, float4* __restrict__ out, int width, int height,
                                 int radius, float sigma, float edge) {
  __shared__ float gaussian[32];
  const int tid = threadIdx.y * blockDim.x + threadIdx.x;
  if (tid <= 2 * radius) {
    const float away = tid - radius;
    gaussian[tid] = expf(-away * away / (2.0f * sigma * sigma));
  }
  __syncthreads();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float4 centre = unpack(in[y * width + x]);
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float weights = 0.0f;
  for (int i = -radius; i <= radius; i++) {
    for (int j = -radius; j <= radius; j++) {
      const int yy = min(max(y + i, 0), height - 1), xx = min(max(x + j, 0), width - 1);
      const float4 p = unpack(in[yy * width + xx]);
      const float dx = p.x - centre.x, dy = p.y - centre.y, dz = p.z - centre.z;
      const float apart = dx * dx + dy * dy + dz * dz;
      const float weight = gaussian[i + radius] * gaussian[j + radius] * __expf(-apart / (2.0f * edge * edge));
      sum.x += weight * p.x;
      sum.y += weight * p.y;
      sum.z += weight * p.z;
      sum.w += weight * p.w;
      weights += weight;
    }
  }
  out[y * width + x] = make_float4(sum.x / weights, sum.y / weights, sum.z / weights, sum.w / weights);
}
