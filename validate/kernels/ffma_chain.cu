// Lesson: latency and throughput of arithmetic. Each thread runs one chain of multiply-adds, each of which
// needs the one before.
//
// What to see: one warp alone on a sub-core issues one FFMA every latency (4 cycles on these chips: HUE
// Table 3); with as many warps a sub-core as the latency has cycles it issues one every cycle, and the FMA
// pipe is full. No memory but one load and one store a thread: DRAM bandwidth changes nothing.

__global__ void ffma_chain(const float* in, float* out, int n, int rounds) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float value = in[i];
#pragma unroll 16
  for (int j = 0; j < rounds; ++j) value = fmaf(value, 0.999f, 0.001f);
  out[i] = value;
}
