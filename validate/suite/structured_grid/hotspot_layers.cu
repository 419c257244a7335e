// A step of the heat of a chip of several layers: a thread a column of cells, the cells below, here and above in registers,
// neighbours clamped at the sides.

__global__ void hotspot_layers(const float* power, const float* in, float* out, float per_capacity, int nx,
                               int ny, int nz, float ce, float cw, float cn, float cs, float ct, float cb,
                               float cc) {
  const float ambient = 80.0f;
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  const int j = blockDim.y * blockIdx.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  int c = i + j * nx;
  const int plane = nx * ny;
  const int west = i == 0 ? 0 : -1;
  const int east = i == nx - 1 ? 0 : 1;
  const int north = j == 0 ? 0 : -nx;
  const int south = j == ny - 1 ? 0 : nx;
  float below, here, above;
  below = here = in[c];
  above = in[c + plane];
  out[c] = cc * here + cw * in[c + west] + ce * in[c + east] + cs * in[c + south] + cn * in[c + north] +
           cb * below + ct * above + per_capacity * power[c] + ct * ambient;
  for (int k = 1; k < nz - 1; ++k) {
    c += plane;
    below = here;
    here = above;
    above = in[c + plane];
    out[c] = cc * here + cw * in[c + west] + ce * in[c + east] + cs * in[c + south] + cn * in[c + north] +
             cb * below + ct * above + per_capacity * power[c] + ct * ambient;
  }
  c += plane;
  below = here;
  here = above;
  out[c] = cc * here + cw * in[c + west] + ce * in[c + east] + cs * in[c + south] + cn * in[c + north] +
           cb * below + ct * above + per_capacity * power[c] + ct * ambient;
}
