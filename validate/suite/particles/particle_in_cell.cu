// The two halves of a particle-in-cell step in two dimensions, a thread a particle in no particular order.
// deposit_charge spreads a particle's charge over the four corners of its cell by atomic additions; push_particles
// interpolates the field from the same four corners and moves the particle, which stops at the walls.

__global__ void deposit_charge(const float2* __restrict__ position, const float* __restrict__ charge,
                               float* __restrict__ density, int particles, int width, int height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= particles) return;
  const float2 p = position[i];
  const float q = charge[i];
  const int x = min(static_cast<int>(p.x), width - 2);
  const int y = min(static_cast<int>(p.y), height - 2);
  const float east = p.x - x, north = p.y - y;
  float* corner = density + y * width + x;
  atomicAdd(corner, q * (1.0f - east) * (1.0f - north));
  atomicAdd(corner + 1, q * east * (1.0f - north));
  atomicAdd(corner + width, q * (1.0f - east) * north);
  atomicAdd(corner + width + 1, q * east * north);
}

__global__ void push_particles(float2* __restrict__ position, float2* __restrict__ velocity,
                               const float2* __restrict__ field, int particles, int width, int height,
                               float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= particles) return;
  float2 p = position[i];
  float2 v = velocity[i];
  const int x = min(static_cast<int>(p.x), width - 2);
  const int y = min(static_cast<int>(p.y), height - 2);
  const float east = p.x - x, north = p.y - y;
  const float2* corner = field + y * width + x;
  const float2 a = corner[0], b = corner[1], c = corner[width], d = corner[width + 1];
  const float2 low = make_float2(a.x + east * (b.x - a.x), a.y + east * (b.y - a.y));
  const float2 high = make_float2(c.x + east * (d.x - c.x), c.y + east * (d.y - c.y));
  v.x += step * (low.x + north * (high.x - low.x));
  v.y += step * (low.y + north * (high.y - low.y));
  p.x = fminf(fmaxf(p.x + step * v.x, 0.0f), static_cast<float>(width - 1));
  p.y = fminf(fmaxf(p.y + step * v.y, 0.0f), static_cast<float>(height - 1));
  position[i] = p;
  velocity[i] = v;
}
