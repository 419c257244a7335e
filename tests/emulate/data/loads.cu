// Kernels of the emulator's benchmark: arithmetic alone, threads that part, atomics on global and on shared memory.
extern "C" __global__ void multiply_adds(const float* in, float* out) {
  float a = in[threadIdx.x], b = in[threadIdx.x + 32], c = 0.5f, d = 0.25f, e = 1.0f, f = 2.0f;
#pragma unroll 1
  for (int i = 0; i < 256; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      c = a * c + b;
      d = a * d + b;
      e = a * e + b;
      f = a * f + b;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = c + d + e + f;
}

/// Lanes take eight ways through a switch, in loops of their own lengths, with loads from places of their own.
extern "C" __global__ void divergent(const unsigned* in, unsigned* out) {
  unsigned x = in[threadIdx.x] + blockIdx.x, sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    switch ((x >> 3) % 8) {
      case 0:
        for (unsigned n = x % 7; n != 0; --n) sum += in[(x + n) % 256];
        break;
      case 1: sum = __popc(x) * sum + 1; break;
      case 2:
        if (x & 1) sum ^= in[x % 512];
        else sum -= x;
        break;
      case 3:
        for (unsigned n = x % 3; n != 0; --n) sum = sum * 5 + n;
        break;
      case 4: sum = max(sum, x) / (x % 13 + 1); break;
      case 5: sum += in[sum % 512]; break;
      case 6:
        if (sum > x) sum >>= 2;
        else if (x & 2) sum = ~sum;
        break;
      default: sum = __brev(sum) + x; break;
    }
    x = x * 1664525u + 1013904223u;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void atomics(const unsigned* in, unsigned* out) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  unsigned x = in[threadIdx.x] * 2654435761u + blockIdx.x;
  for (int k = 0; k < 64; ++k) {
    x = x * 1664525u + 1013904223u;
    atomicAdd(bins + (x >> 24), 1u);
    if (k % 4 == 0) atomicMax(out + 256 + (x >> 22), x);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(out + i, bins[i]);
}

/// Blocks of a few instructions: what starting and ending one costs.
extern "C" __global__ void short_blocks(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}
