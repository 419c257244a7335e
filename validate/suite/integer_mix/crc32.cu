// CRC-32 of many messages, a thread a message, by a table of 256 words in shared memory: each byte is a
// dependent look-up at an address that differs from lane to lane. The table is made by the block itself,
// bit by bit.

__global__ void crc32(const unsigned* __restrict__ messages, unsigned* __restrict__ sums, int count,
                      int words) {
  __shared__ unsigned table[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
    unsigned value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1u ? value >> 1 ^ 0xedb88320u : value >> 1;
    table[i] = value;
  }
  __syncthreads();
  const int message = blockIdx.x * blockDim.x + threadIdx.x;
  if (message >= count) return;
  unsigned sum = 0xffffffffu;
  for (int i = 0; i < words; ++i) {
    sum ^= messages[static_cast<size_t>(i) * count + message];
#pragma unroll
    for (int byte = 0; byte < 4; ++byte) sum = sum >> 8 ^ table[sum & 255u];
  }
  sums[message] = ~sum;
}
