// Fluxes of a compressible gas over an unstructured grid of four-sided cells, a thread a cell: density, momentum and
// energy of the cell and of each neighbour make pressure, speed of sound and the flux through the side between them,
// with artificial viscosity. Sides without a neighbour are walls or the far field. Planes of numbers, one a quantity.

#define GAMMA 1.4f
#define SMOOTHING 0.2f

__constant__ float far_density = 1.4f;
__constant__ float far_momentum[3] = {1.2f, 0.1f, 0.0f};
__constant__ float far_energy = 3.1f;

struct State {
  float density, energy;
  float3 momentum;
};

struct Derived {
  float3 velocity;
  float pressure, speed, sound;
};

__device__ inline Derived derive(const State& s) {
  Derived d;
  d.velocity.x = s.momentum.x / s.density;
  d.velocity.y = s.momentum.y / s.density;
  d.velocity.z = s.momentum.z / s.density;
  const float square =
      d.velocity.x * d.velocity.x + d.velocity.y * d.velocity.y + d.velocity.z * d.velocity.z;
  d.speed = sqrtf(square);
  d.pressure = (GAMMA - 1.0f) * (s.energy - 0.5f * s.density * square);
  d.sound = sqrtf(GAMMA * d.pressure / s.density);
  return d;
}

// What one side of it carries along `n`: density, momentum, energy.
__device__ inline void add_flux(const State& s, const Derived& d, const float3& n, State& flux) {
  const float through = n.x * d.velocity.x + n.y * d.velocity.y + n.z * d.velocity.z;
  flux.density += 0.5f * through * s.density;
  flux.momentum.x += 0.5f * (through * s.momentum.x + n.x * d.pressure);
  flux.momentum.y += 0.5f * (through * s.momentum.y + n.y * d.pressure);
  flux.momentum.z += 0.5f * (through * s.momentum.z + n.z * d.pressure);
  flux.energy += 0.5f * through * (s.energy + d.pressure);
}

// The neighbour on side k of cell i is neighbours[4 i + k] - first, if that is a cell; a wall if it is negative.
__global__ void euler_flux(int cells, const int4* __restrict__ neighbours, int first,
                           const float* __restrict__ normals, const float* __restrict__ density,
                           const float* __restrict__ momentum, const float* __restrict__ energy,
                           float* __restrict__ fluxes) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= cells) return;

  const auto load = [&](int at) {
    State s;
    s.density = density[at];
    s.momentum = make_float3(momentum[at], momentum[cells + at], momentum[2 * cells + at]);
    s.energy = energy[at];
    return s;
  };
  const State own = load(i);
  const Derived own_derived = derive(own);
  State flux = {};
  const int4 beside = neighbours[i];
  const int others[4] = {beside.x - first, beside.y - first, beside.z - first, beside.w - first};

#pragma unroll
  for (int side = 0; side < 4; side++) {
    const float3 n = make_float3(normals[(side * 3 + 0) * cells + i], normals[(side * 3 + 1) * cells + i],
                                 normals[(side * 3 + 2) * cells + i]);
    const int other = others[side];
    if (other < 0) {
      flux.momentum.x += n.x * own_derived.pressure;
      flux.momentum.y += n.y * own_derived.pressure;
      flux.momentum.z += n.z * own_derived.pressure;
      continue;
    }
    State there;
    if (other < cells) {
      there = load(other);
    } else {
      there.density = far_density;
      there.momentum = make_float3(far_momentum[0], far_momentum[1], far_momentum[2]);
      there.energy = far_energy;
    }
    const Derived there_derived = derive(there);
    const float area = sqrtf(n.x * n.x + n.y * n.y + n.z * n.z);
    const float viscosity =
        0.5f * SMOOTHING * area *
        (own_derived.speed + there_derived.speed + own_derived.sound + there_derived.sound);
    flux.density -= viscosity * (there.density - own.density);
    flux.momentum.x -= viscosity * (there.momentum.x - own.momentum.x);
    flux.momentum.y -= viscosity * (there.momentum.y - own.momentum.y);
    flux.momentum.z -= viscosity * (there.momentum.z - own.momentum.z);
    flux.energy -= viscosity * (there.energy - own.energy);
    add_flux(own, own_derived, n, flux);
    add_flux(there, there_derived, n, flux);
  }

  fluxes[i] = flux.density;
  fluxes[cells + i] = flux.momentum.x;
  fluxes[2 * cells + i] = flux.momentum.y;
  fluxes[3 * cells + i] = flux.momentum.z;
  fluxes[4 * cells + i] = flux.energy;
}
