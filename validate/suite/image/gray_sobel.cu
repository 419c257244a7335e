// Edges of a colour image: bytes of red, green, blue and opacity, read as one word a pixel, become a gray
// tile with a border in shared memory, and Sobel's two filters give the strength of the edge as a byte.

#define BLOCK_X 32
#define BLOCK_Y 8

__global__ void gray_sobel(const uchar4* __restrict__ in, unsigned char* __restrict__ out, int width,
                           int height) {
  __shared__ int gray[BLOCK_Y + 2][BLOCK_X + 2];
  const int first_x = blockIdx.x * BLOCK_X - 1, first_y = blockIdx.y * BLOCK_Y - 1;
  for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < (BLOCK_X + 2) * (BLOCK_Y + 2);
       i += BLOCK_X * BLOCK_Y) {
    const int tx = i % (BLOCK_X + 2), ty = i / (BLOCK_X + 2);
    const int x = min(max(first_x + tx, 0), width - 1), y = min(max(first_y + ty, 0), height - 1);
    const uchar4 p = in[y * width + x];
    gray[ty][tx] = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
  }
  __syncthreads();
  const int x = first_x + 1 + threadIdx.x, y = first_y + 1 + threadIdx.y;
  if (x >= width || y >= height) return;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int across = gray[ty][tx + 2] + 2 * gray[ty + 1][tx + 2] + gray[ty + 2][tx + 2] - gray[ty][tx] -
                     2 * gray[ty + 1][tx] - gray[ty + 2][tx];
  const int down = gray[ty + 2][tx] + 2 * gray[ty + 2][tx + 1] + gray[ty + 2][tx + 2] - gray[ty][tx] -
                   2 * gray[ty][tx + 1] - gray[ty][tx + 2];
  out[y * width + x] = static_cast<unsigned char>(min((abs(across) + abs(down)) / 2, 255));
}
