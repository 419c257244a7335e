// The input of a convolution of 3 x 3 turned into the transform's domain: a thread a tile of 4 x 4 of a channel, tiles overlap by
// two, sixteen planes of results.

__global__ void winograd_input(const float* __restrict__ in, float* __restrict__ out, int channels, int height, int width,
                               int tiles_y, int tiles_x) {
  const int tile = blockIdx.x * blockDim.x + threadIdx.x;
  const int channel = blockIdx.y;
  if (tile >= tiles_y * tiles_x) return;
  const int y0 = tile / tiles_x * 2 - 1, x0 = tile % tiles_x * 2 - 1;
  float d[4][4], t[4][4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int y = y0 + i, x = x0 + j;
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      d[i][j] = inside ? in[(channel * height + y) * width + x] : 0.0f;
    }
  }
#pragma unroll
  for (int j = 0; j < 4; j++) {
    t[0][j] = d[0][j] - d[2][j];
    t[1][j] = d[1][j] + d[2][j];
    t[2][j] = d[2][j] - d[1][j];
    t[3][j] = d[1][j] - d[3][j];
  }
  const int plane = channels * tiles_y * tiles_x;
  float* to = out + channel * tiles_y * tiles_x + tile;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    to[(i * 4 + 0) * plane] = t[i][0] - t[i][2];
    to[(i * 4 + 1) * plane] = t[i][1] + t[i][2];
    to[(i * 4 + 2) * plane] = t[i][2] - t[i][1];
    to[(i * 4 + 3) * plane] = t[i][1] - t[i][3];
  }
}
