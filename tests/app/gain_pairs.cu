// Pairs of kernels: NAME_before has a limit, NAME_after does the same work after its source was changed to be without it. What `ideal.NAME`
// says of the first is held against the second (gains.py); gain_pairs.toml launches them.

// Bank conflicts: a tile whose columns lie in one bank; one with a word of padding a row.
template <int WIDTH>
__device__ void transpose(const float* in, float* out, int size) {
  __shared__ float tile[32][WIDTH];
  const int lane = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * 32, y = static_cast<int>(blockIdx.y) * 32;
  for (int j = row; j < 32; j += 8) tile[j][lane] = in[(y + j) * size + x + lane];
  __syncthreads();
  for (int j = row; j < 32; j += 8) out[(x + j) * size + y + lane] = tile[lane][j];
}
__global__ void bank_conflicts_before(const float* in, float* out, int size) { transpose<32>(in, out, size); }
__global__ void bank_conflicts_after(const float* in, float* out, int size) { transpose<33>(in, out, size); }

// Coalescing: an array of structures of eight numbers, of which two are read and one is written; a structure of arrays.
struct Particle {
  float place, speed, mass, charge, spin, age, heat, unused;
};
__global__ void coalescing_before(Particle* particles, float step) {
  Particle& one = particles[blockIdx.x * blockDim.x + threadIdx.x];
  one.place += step * one.speed;
}
__global__ void coalescing_after(float* place, const float* speed, float step) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  place[i] += step * speed[i];
}

// Resident blocks: 48 KB of shared memory a block, of which 4 blocks fit, while each warp waits for one load after the other; 12 KB, of which
// 16 fit, and which leave L1 as small.
template <int BYTES>
__device__ unsigned through_scratch() {
  __shared__ unsigned scratch[BYTES / 4];
  scratch[threadIdx.x] = blockIdx.x * blockDim.x + threadIdx.x;
  __syncthreads();
  return scratch[threadIdx.x ^ 1];
}
template <int BYTES>
__device__ void walk(const unsigned* in, unsigned* out, int rounds) {
  unsigned at = through_scratch<BYTES>();
  for (int round = 0; round < rounds; ++round) at += in[at] + gridDim.x * blockDim.x;  // `in` holds zeros
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
__global__ void residency_before(const unsigned* in, unsigned* out, int rounds) { walk<48 * 1024>(in, out, rounds); }
__global__ void residency_after(const unsigned* in, unsigned* out, int rounds) { walk<12 * 1024>(in, out, rounds); }

// Shared memory: 48 KB a block again; 1 KB, so that L1 is larger as well, for loads that find there what others left.
template <int BYTES>
__device__ void follow(const unsigned* next, unsigned* out, int rounds) {
  unsigned at = through_scratch<BYTES>();
  for (int round = 0; round < rounds; ++round) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
__global__ void shared_memory_before(const unsigned* next, unsigned* out, int rounds) { follow<48 * 1024>(next, out, rounds); }
__global__ void shared_memory_after(const unsigned* next, unsigned* out, int rounds) { follow<1024>(next, out, rounds); }

// Atomics: every lane adds to one word; to a word of its own in one of 128 copies.
__global__ void atomics_before(const float* in, float* sum) { atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]); }
__global__ void atomics_after(const float* in, float* copies) {
  atomicAdd(&copies[blockIdx.x % 128 * blockDim.x + threadIdx.x], in[blockIdx.x * blockDim.x + threadIdx.x]);
}
