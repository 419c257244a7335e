// Sums of table rows, as a recommender's sparse features are pooled: a bag of 20 indices gives one row of
// 64 floats. Half a warp sums a bag, each thread four neighbouring floats; the index is read by all 16
// threads at once.

__global__ void embedding_bag(const int* __restrict__ indices, const float4* __restrict__ table,
                              float4* __restrict__ out, int bags, int per_bag) {
  const int part = threadIdx.x % 16;
  const int bag = (blockIdx.x * blockDim.x + threadIdx.x) / 16;
  if (bag >= bags) return;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int i = 0; i < per_bag; ++i) {
    const float4 v = table[static_cast<size_t>(indices[bag * per_bag + i]) * 16 + part];
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
  out[static_cast<size_t>(bag) * 16 + part] = sum;
}
