// Particles in boxes of equal count: each meets all particles of its own box and of the 26 around it, with a potential
// that decays as a Gaussian. A block a box of a three-dimensional grid; the neighbour box is brought into shared memory
// and walked through by all. Positions are in the box's own coordinates, in units of its side.

template <typename Real>
struct Particle {
  Real x, y, z, charge;
};

template <typename Real>
struct Result {
  Real potential, fx, fy, fz;
};

__device__ inline float decay(float x) { return expf(x); }
__device__ inline double decay(double x) { return exp(x); }

template <typename Real, int PER_BOX>
__global__ void __launch_bounds__(128) box_forces(const Particle<Real>* __restrict__ particles,
                                                  Result<Real>* __restrict__ results, Real sharpness) {
  __shared__ Particle<Real> other[PER_BOX];

  const int box = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int i = threadIdx.x;
  Particle<Real> own = {};
  if (i < PER_BOX) own = particles[box * PER_BOX + i];
  Result<Real> sum = {};

  for (int dz = -1; dz <= 1; dz++) {
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        const int bx = blockIdx.x + dx, by = blockIdx.y + dy, bz = blockIdx.z + dz;
        if (bx < 0 || by < 0 || bz < 0 || bx >= gridDim.x || by >= gridDim.y || bz >= gridDim.z) continue;
        const int neighbour = (bz * gridDim.y + by) * gridDim.x + bx;
        __syncthreads();
        if (i < PER_BOX) {
          Particle<Real> p = particles[neighbour * PER_BOX + i];
          p.x += dx;
          p.y += dy;
          p.z += dz;
          other[i] = p;
        }
        __syncthreads();
        if (i < PER_BOX) {
          for (int j = 0; j < PER_BOX; j++) {
            const Real x = own.x - other[j].x;
            const Real y = own.y - other[j].y;
            const Real z = own.z - other[j].z;
            const Real weight = other[j].charge * decay(-sharpness * (x * x + y * y + z * z));
            const Real push = 2 * sharpness * weight;
            sum.potential += weight;
            sum.fx += push * x;
            sum.fy += push * y;
            sum.fz += push * z;
          }
        }
      }
    }
  }
  if (i < PER_BOX) results[box * PER_BOX + i] = sum;
}

template __global__ void box_forces<float, 100>(const Particle<float>*, Result<float>*, float);
template __global__ void box_forces<double, 100>(const Particle<double>*, Result<double>*, double);
