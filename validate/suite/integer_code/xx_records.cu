// XXH64 of records of whole 32-byte stripes, a thread a record: four running sums of 64-bit products and rotations, and the
// final mixing.

#define P1 0x9e3779b185ebca87ull
#define P2 0xc2b2ae3d27d4eb4full
#define P3 0x165667b19e3779f9ull
#define P4 0x85ebca77c2b2ae63ull

__device__ unsigned long long turned(unsigned long long x, int by) { return x << by | x >> (64 - by); }

__device__ unsigned long long stepped(unsigned long long sum, unsigned long long lane) {
  return turned(sum + lane * P2, 31) * P1;
}

__device__ unsigned long long joined(unsigned long long hash, unsigned long long sum) {
  return (hash ^ stepped(0, sum)) * P1 + P4;
}

__global__ void xx_records(const ulonglong2* __restrict__ records, unsigned long long* __restrict__ hashes, int count,
                           int stripes, unsigned long long seed) {
  const int record = blockIdx.x * blockDim.x + threadIdx.x;
  if (record >= count) return;
  const ulonglong2* data = records + static_cast<size_t>(record) * stripes * 2;
  unsigned long long a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
#pragma unroll 4
  for (int s = 0; s < stripes; ++s) {
    const ulonglong2 low = data[2 * s], high = data[2 * s + 1];
    a = stepped(a, low.x);
    b = stepped(b, low.y);
    c = stepped(c, high.x);
    d = stepped(d, high.y);
  }
  unsigned long long hash = turned(a, 1) + turned(b, 7) + turned(c, 12) + turned(d, 18);
  hash = joined(joined(joined(joined(hash, a), b), c), d);
  hash += static_cast<unsigned long long>(stripes) * 32;
  hash = (hash ^ hash >> 33) * P2;
  hash = (hash ^ hash >> 29) * P3;
  hashes[record] = hash ^ hash >> 32;
}
