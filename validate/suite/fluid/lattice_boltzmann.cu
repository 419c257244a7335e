// One step of a two-dimensional lattice Boltzmann flow with nine velocities, a thread a cell. The nine
// distributions are planes one after the other. A cell takes what its neighbours send it (periodic at all four
// sides) and relaxes towards equilibrium; a solid cell sends everything back where it came from.

__device__ float equilibrium(float weight, float density, float along, float speed2) {
  return weight * density * (1.0f + 3.0f * along + 4.5f * along * along - 1.5f * speed2);
}

__global__ void lattice_boltzmann(const float* __restrict__ from, float* __restrict__ to,
                                  const unsigned char* __restrict__ kind, int width, int height,
                                  float omega) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int west = x == 0 ? width - 1 : x - 1;
  const int east = x == width - 1 ? 0 : x + 1;
  const int south = (y == 0 ? height - 1 : y - 1) * width;
  const int north = (y == height - 1 ? 0 : y + 1) * width;
  const int row = y * width;
  const int here = row + x;
  const int cells = width * height;

  const float f0 = from[here];
  const float f1 = from[1 * cells + row + west];    // moves east
  const float f2 = from[2 * cells + south + x];     // moves north
  const float f3 = from[3 * cells + row + east];    // moves west
  const float f4 = from[4 * cells + north + x];     // moves south
  const float f5 = from[5 * cells + south + west];  // north-east
  const float f6 = from[6 * cells + south + east];  // north-west
  const float f7 = from[7 * cells + north + east];  // south-west
  const float f8 = from[8 * cells + north + west];  // south-east

  if (kind[here] < 4) {
    to[here] = f0;
    to[1 * cells + here] = f3;
    to[2 * cells + here] = f4;
    to[3 * cells + here] = f1;
    to[4 * cells + here] = f2;
    to[5 * cells + here] = f7;
    to[6 * cells + here] = f8;
    to[7 * cells + here] = f5;
    to[8 * cells + here] = f6;
    return;
  }
  const float density = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
  const float u = (f1 + f5 + f8 - f3 - f6 - f7) / density;
  const float v = (f2 + f5 + f6 - f4 - f7 - f8) / density;
  const float speed2 = u * u + v * v;
  const float side = 1.0f / 9.0f, corner = 1.0f / 36.0f;
  to[here] = f0 + omega * (equilibrium(4.0f / 9.0f, density, 0.0f, speed2) - f0);
  to[1 * cells + here] = f1 + omega * (equilibrium(side, density, u, speed2) - f1);
  to[2 * cells + here] = f2 + omega * (equilibrium(side, density, v, speed2) - f2);
  to[3 * cells + here] = f3 + omega * (equilibrium(side, density, -u, speed2) - f3);
  to[4 * cells + here] = f4 + omega * (equilibrium(side, density, -v, speed2) - f4);
  to[5 * cells + here] = f5 + omega * (equilibrium(corner, density, u + v, speed2) - f5);
  to[6 * cells + here] = f6 + omega * (equilibrium(corner, density, v - u, speed2) - f6);
  to[7 * cells + here] = f7 + omega * (equilibrium(corner, density, -u - v, speed2) - f7);
  to[8 * cells + here] = f8 + omega * (equilibrium(corner, density, u - v, speed2) - f8);
}
