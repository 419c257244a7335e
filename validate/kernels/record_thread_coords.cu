// Lesson: how a two-dimensional grid becomes threads, warps and lanes.
//
// x runs fastest: a thread's number in its block is threadIdx.y * blockDim.x + threadIdx.x, and every 32
// numbers are one warp. So a 16x16 block is 8 warps of two rows each; an 8x4 block is one warp; a block of
// 10x5 = 50 threads is two warps, the second with 18 live lanes.
//
// What to see on a 20x12 image with 8x4 blocks: a grid of 3x3 = 9 blocks, 9 warps, 288 threads, of which
// 240 stand on a pixel and 48 (the right half of the last block column) leave by the guard.

__global__ void record_thread_coords(unsigned* block_of, unsigned* thread_of, unsigned* lane_of, int width,
                                     int height) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  const unsigned number = threadIdx.y * blockDim.x + threadIdx.x;
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));  // the hardware's own answer, not number % 32
  const int pixel = y * width + x;
  block_of[pixel] = blockIdx.y << 16 | blockIdx.x;
  thread_of[pixel] = threadIdx.y << 16 | threadIdx.x;
  lane_of[pixel] = (number / 32) << 16 | lane;
}
