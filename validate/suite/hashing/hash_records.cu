// The FNV-1a hash of records of 64 bytes, a thread a record: once read byte by byte, each lane in a record of its own,
// once 16 bytes at a time.

#define RECORD 64
#define BASIS 0x811c9dc5u
#define PRIME 0x01000193u

__global__ void hash_records_bytes(const unsigned char* __restrict__ records, unsigned* __restrict__ hashes,
                                   int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned char* record = records + (size_t)i * RECORD;
  unsigned hash = BASIS;
  for (int b = 0; b < RECORD; ++b) hash = (hash ^ record[b]) * PRIME;
  hashes[i] = hash;
}

__device__ unsigned four_bytes(unsigned hash, unsigned word) {
#pragma unroll
  for (int b = 0; b < 4; ++b) hash = (hash ^ (word >> 8 * b & 0xffu)) * PRIME;
  return hash;
}

__global__ void hash_records_vector(const uint4* __restrict__ records, unsigned* __restrict__ hashes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned hash = BASIS;
#pragma unroll
  for (int q = 0; q < RECORD / 16; ++q) {
    const uint4 v = records[(size_t)i * (RECORD / 16) + q];
    hash = four_bytes(four_bytes(four_bytes(four_bytes(hash, v.x), v.y), v.z), v.w);
  }
  hashes[i] = hash;
}
