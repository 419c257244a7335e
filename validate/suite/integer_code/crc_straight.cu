// CRC-32 (IEEE 802.3, bit by bit) of 64 bytes a thread: 512 steps of shift, mask and exclusive or in one straight line.

__global__ void crc_straight(const uint4* __restrict__ data, unsigned* __restrict__ checksums, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned crc = 0xffffffffu;
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const uint4 four = data[4 * i + part];
    const unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      crc ^= words[w];
#pragma unroll
      for (int bit = 0; bit < 32; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
    }
  }
  checksums[i] = ~crc;
}
