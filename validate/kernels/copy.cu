// Lesson: bytes a request. The same copy with 4 and with 16 bytes a lane.
//
// What to see for n floats (n a multiple of 128): copy_float makes n/32 loads of 4 sectors, copy_float4
// n/128 loads of 16 sectors: the same n/8 sectors with a quarter of the instructions, and four times the
// bytes in flight for the same number of warps. At 2^24 floats both are bound by DRAM (2 * 64 MiB).

__global__ void copy_float(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = in[i];
}

__global__ void copy_float4(const float4* in, float4* out, int quarter) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < quarter) out[i] = in[i];
}
