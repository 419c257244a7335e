// Lesson: a picture as a two-dimensional grid whose last blocks hang over the edge.
//
// What to see at 200x150 pixels with 16x16 blocks: ceil(200/16) * ceil(150/16) = 13 * 10 = 130 blocks of 8
// warps, 1040 warps. A warp is two rows of 16 pixels of a byte each, and rows are 200 bytes apart. A row's
// 16 bytes lie in one 32-byte sector if they start at 0..16 of it, else in two; rows start at multiples of
// 8 bytes, so both happen.

__global__ void image_brighten(const unsigned char* in, unsigned char* out, int width, int height,
                               int amount) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  const int pixel = y * width + x;
  out[pixel] = static_cast<unsigned char>(min(in[pixel] + amount, 255));
}
