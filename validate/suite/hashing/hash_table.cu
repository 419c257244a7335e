// A hash table with open addressing in global memory. hash_insert puts a key into the first free place from its own on,
// by compare-and-swap, its value beside it; which key gets which place depends on who comes first, but not which places
// are taken, nor how many were looked at in all. hash_probe looks keys up.

#define EMPTY 0xffffffffu

__device__ unsigned mixed(unsigned h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

__global__ void hash_insert(const unsigned* __restrict__ keys, unsigned* __restrict__ table,
                            unsigned* __restrict__ values, unsigned* __restrict__ steps, int n,
                            unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i];
  unsigned place = mixed(key) & mask;
  unsigned looked = 1;
  while (atomicCAS(&table[place], EMPTY, key) != EMPTY) {
    place = (place + 1) & mask;
    ++looked;
  }
  values[place] = key * 3u + 1u;
  atomicAdd(steps, looked);
}

__global__ void hash_probe(const unsigned* __restrict__ wanted, const unsigned* __restrict__ table,
                           const unsigned* __restrict__ values, unsigned* __restrict__ found, int n,
                           unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = wanted[i];
  unsigned place = mixed(key) & mask;
  unsigned result = EMPTY;
  for (;;) {
    const unsigned there = table[place];
    if (there == key) {
      result = values[place];
      break;
    }
    if (there == EMPTY) break;
    place = (place + 1) & mask;
  }
  found[i] = result;
}
