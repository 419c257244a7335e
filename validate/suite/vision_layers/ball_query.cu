// For each centre the first points within a radius, the rest of its list filled with the first of them: a thread a centre that goes
// through all points until its list is full.

__global__ void ball_query(const int* __restrict__ centres, const int* __restrict__ points, int* __restrict__ lists, int n,
                           int m, int samples, float radius_squared) {
  const int cloud = blockIdx.y;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= m) return;
  const int* centre = centres + ((size_t)cloud * m + c) * 3;
  const int* point = points + (size_t)cloud * n * 3;
  int* list = lists + ((size_t)cloud * m + c) * samples;
  const float cx = centre[0], cy = centre[1], cz = centre[2];
  int found = 0;
  for (int k = 0; k < n; ++k) {
    const float x = point[k * 3], y = point[k * 3 + 1], z = point[k * 3 + 2];
    const float d = (cx - x) * (cx - x) + (cy - y) * (cy - y) + (cz - z) * (cz - z);
    if (d < radius_squared) {
      if (found == 0) {
        for (int l = 0; l < samples; ++l) list[l] = k;
      }
      list[found] = k;
      if (++found >= samples) break;
    }
  }
}
