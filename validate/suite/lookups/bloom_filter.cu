// A Bloom filter: keys set k bits of a table each, others ask whether all of theirs are set and are counted by block.

__device__ __forceinline__ unsigned mix(unsigned h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ (h >> 16);
}

__global__ void bloom_insert(const unsigned* __restrict__ keys, unsigned* __restrict__ bits, int n, unsigned mask,
                             int k) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned first = mix(keys[i]);
    const unsigned step = mix(first ^ 0x9e3779b9u) | 1u;
    for (int j = 0; j < k; j++) {
      const unsigned bit = (first + j * step) & mask;
      atomicOr(&bits[bit >> 5], 1u << (bit & 31));
    }
  }
}

__global__ void bloom_query(const unsigned* __restrict__ keys, const unsigned* __restrict__ bits,
                            unsigned char* __restrict__ found, unsigned* __restrict__ count, int n, unsigned mask,
                            int k) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i - threadIdx.x < n; i += gridDim.x * blockDim.x) {
    bool all = i < n;
    if (all) {
      const unsigned first = mix(keys[i]);
      const unsigned step = mix(first ^ 0x9e3779b9u) | 1u;
      for (int j = 0; j < k; j++) {
        const unsigned bit = (first + j * step) & mask;
        if (!(bits[bit >> 5] >> (bit & 31) & 1u)) {
          all = false;
          break;
        }
      }
      found[i] = all;
    }
    const int here = __syncthreads_count(all);
    if (threadIdx.x == 0 && here > 0) atomicAdd(count, here);
  }
}
