// Lesson: a stride wastes what a sector brings. out[i] = in[i * stride].
//
// What to see: 32 lanes span 128 * stride bytes, so a load touches min(4 * stride, 32) sectors of 8 floats:
//   stride           1   2   3   4   5   6   7   8 ... 32
//   sectors          4   8  12  16  20  24  28  32 ... 32
//   wanted bytes   100  50  33  25  20  17  14  13 ... 13 %
// From 8 on each lane has a sector of its own, and a request's sectors stop growing. The stores stay at 4.

__global__ void copy_stride(const float* in, float* out, int n, int stride) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = in[i * stride];
}
