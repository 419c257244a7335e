// Half memory, half arithmetic: each element of a float array is read, takes ITS further fused multiply-adds in one chain, and is
// written back. 2 + 2 ITS operations for 8 bytes. Eight blocks of 256 threads per SM go over the array.

#ifndef ITS
#define ITS 0
#endif

__global__ void roofline(float* a, float factor, float addend, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    float value = fmaf(a[i], factor, addend);
#pragma unroll
    for (int k = 0; k < ITS; ++k) value = fmaf(value, factor, addend);
    a[i] = value;
  }
}
