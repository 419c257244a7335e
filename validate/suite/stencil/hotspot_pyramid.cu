// Heat of a chip under a power map, several time steps in one launch: a block loads a tile with a ghost zone as wide
// as there are steps, and each step leaves one ring fewer of it valid. Outside the chip a cell has its own
// temperature for a neighbour.

template <int BLOCK_X, int BLOCK_Y>
__global__ void hotspot_pyramid(int steps, const float* power, const float* temp_in, float* temp_out,
                                int cols, int rows, float step_over_cap, float rx_inv, float ry_inv,
                                float rz_inv, float ambient) {
  __shared__ float temp[2][BLOCK_Y][BLOCK_X];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = blockIdx.x * (BLOCK_X - 2 * steps) + tx - steps;
  const int y = blockIdx.y * (BLOCK_Y - 2 * steps) + ty - steps;
  const bool on_chip = x >= 0 && x < cols && y >= 0 && y < rows;
  const int index = y * cols + x;

  float here = 0.0f, watts = 0.0f;
  if (on_chip) {
    here = temp_in[index];
    watts = power[index];
  }
  temp[0][ty][tx] = here;
  __syncthreads();

  const int west = x > 0 ? tx - 1 : tx;
  const int east = x < cols - 1 ? tx + 1 : tx;
  const int north = y > 0 ? ty - 1 : ty;
  const int south = y < rows - 1 ? ty + 1 : ty;

  int from = 0;
  for (int step = 1; step <= steps; ++step) {
    const bool valid = tx >= step && tx < BLOCK_X - step && ty >= step && ty < BLOCK_Y - step;
    if (valid && on_chip) {
      const float twice = 2.0f * here;
      here += step_over_cap *
              (watts + (temp[from][south][tx] + temp[from][north][tx] - twice) * ry_inv +
               (temp[from][ty][east] + temp[from][ty][west] - twice) * rx_inv + (ambient - here) * rz_inv);
      temp[1 - from][ty][tx] = here;
    }
    from = 1 - from;
    __syncthreads();
  }

  const bool inner = tx >= steps && tx < BLOCK_X - steps && ty >= steps && ty < BLOCK_Y - steps;
  if (inner && on_chip) temp_out[index] = here;
}

template __global__ void hotspot_pyramid<32, 16>(int, const float*, const float*, float*, int, int, float,
                                                 float, float, float, float);
