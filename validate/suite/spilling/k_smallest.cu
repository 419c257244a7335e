// The 16 smallest distances from a query to a list of points, a thread a query: the best are kept sorted in
// an array that is indexed by a loop variable, so it lives in local memory. Insertion takes as long as it
// takes: the lanes diverge.

#define BEST 16

__global__ void k_smallest(const float* __restrict__ queries, const float* __restrict__ points,
                           float* __restrict__ best, int count, int candidates) {
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  if (query >= count) return;
  const float x = queries[query];
  float kept[BEST];
  for (int i = 0; i < BEST; ++i) kept[i] = INFINITY;
  for (int c = 0; c < candidates; ++c) {
    const float distance = fabsf(points[c] - x);
    if (distance >= kept[BEST - 1]) continue;
    int place = BEST - 1;
    while (place > 0 && kept[place - 1] > distance) {
      kept[place] = kept[place - 1];
      --place;
    }
    kept[place] = distance;
  }
  for (int i = 0; i < BEST; ++i) best[static_cast<size_t>(i) * count + query] = kept[i];
}
