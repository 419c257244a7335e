// Sums of segments of a long vector whose heads are flagged by ascending numbers: a warp adds its own stretch by shuffles that stop
// at another number, and only the last of each number's lanes adds to memory.

__global__ void segment_sums(const int* __restrict__ segment, const float* __restrict__ value, float* __restrict__ sums, int n) {
  const int lane = threadIdx.x % 32;
  const int stride = gridDim.x * blockDim.x;
  const int rounds = (n + stride - 1) / stride;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; round++, i += stride) {
    const int mine = i < n ? segment[i] : -1;
    float sum = i < n ? value[i] : 0.0f;
#pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const float other = __shfl_up_sync(0xffffffffu, sum, offset);
      const int its = __shfl_up_sync(0xffffffffu, mine, offset);
      if (lane >= offset && its == mine) sum += other;
    }
    const int next = __shfl_down_sync(0xffffffffu, mine, 1);
    if (mine >= 0 && (lane == 31 || next != mine)) atomicAdd(&sums[mine], sum);
  }
}
