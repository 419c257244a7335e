// Lesson: a warp whose lanes disagree executes both sides, one after the other.
//
// Half of the threads run one loop and half the other, in both kernels. In divergence_lanes even lanes take
// one and odd lanes the other, so every warp goes through both with half its lanes asleep; in divergence_warps
// even warps take one and odd warps the other, so each warp goes through one loop with all 32 lanes.
//
// What to see: in divergence_lanes each warp executes both loops, in its twin one of them; as many warps take
// one as the other, so divergence_lanes executes twice the loop instructions, whatever a round of each costs
// (four or five instructions), for the same thread instructions and with half the lanes active. Only what
// stands before and after the loops is not doubled. The branches stay branches in the machine code: a loop is
// not something the compiler replaces by predicates. Both sides reconverge before the store.

__device__ unsigned walk_by_multiplying(unsigned value, int rounds) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) value = value * 1664525u + 1013904223u;
  return value;
}

__device__ unsigned walk_by_shifting(unsigned value, int rounds) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) value = (value << 5 | value >> 27) ^ 0x9e3779b9u;
  return value;
}

__global__ void divergence_lanes(const unsigned* in, unsigned* out, int n, int rounds) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  unsigned value = in[i];
  if (threadIdx.x & 1) {
    value = walk_by_multiplying(value, rounds);
  } else {
    value = walk_by_shifting(value, rounds);
  }
  out[i] = value;
}

__global__ void divergence_warps(const unsigned* in, unsigned* out, int n, int rounds) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  unsigned value = in[i];
  if (threadIdx.x / 32 & 1) {
    value = walk_by_multiplying(value, rounds);
  } else {
    value = walk_by_shifting(value, rounds);
  }
  out[i] = value;
}
