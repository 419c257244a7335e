// Lesson: one thread an element, and the guard for the elements that are not there.
//
// What to see at n = 1000 with blocks of 128: 8 blocks, 32 warps, 1024 threads; the last warp holds threads
// 992..1023, of which 8 are inside. Every load and store of a full warp is 128 consecutive bytes: 4 sectors
// a request; the last warp's is 8 floats, 1 sector. At n = 2^24 the kernel moves 3 * 64 MiB and does one
// addition for 12 bytes: it is bound by DRAM, and the block size (256, 512, 1024) hardly matters.

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + b[i];
}
