// SHA-256 (FIPS 180-4) of many messages of whole 64-byte blocks, a thread a message: 64 rounds a block of 32-bit
// rotations, logic and additions with the schedule in registers, all unrolled. Messages are bytes, so words are
// reversed on loading; the caller has padded them. A digest is eight words.

__constant__ unsigned round_constants[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u};

__device__ unsigned rotated(unsigned x, int by) { return __funnelshift_r(x, x, by); }

__global__ void sha256(const uint4* __restrict__ messages, uint4* __restrict__ digests, int count,
                       int blocks) {
  const int message = blockIdx.x * blockDim.x + threadIdx.x;
  if (message >= count) return;
  unsigned state[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                       0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
  const uint4* data = messages + static_cast<size_t>(message) * blocks * 4;
  for (int block = 0; block < blocks; ++block, data += 4) {
    unsigned w[16];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint4 four = data[i];
      w[4 * i + 0] = __byte_perm(four.x, 0, 0x0123);
      w[4 * i + 1] = __byte_perm(four.y, 0, 0x0123);
      w[4 * i + 2] = __byte_perm(four.z, 0, 0x0123);
      w[4 * i + 3] = __byte_perm(four.w, 0, 0x0123);
    }
    unsigned a = state[0], b = state[1], c = state[2], d = state[3];
    unsigned e = state[4], f = state[5], g = state[6], h = state[7];
#pragma unroll
    for (int t = 0; t < 64; ++t) {
      if (t >= 16) {
        const unsigned early = w[(t + 1) % 16], late = w[(t + 14) % 16];
        w[t % 16] += (rotated(early, 7) ^ rotated(early, 18) ^ early >> 3) + w[(t + 9) % 16] +
                     (rotated(late, 17) ^ rotated(late, 19) ^ late >> 10);
      }
      const unsigned first = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) +
                             round_constants[t] + w[t % 16];
      const unsigned second =
          (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
  digests[2 * message] = make_uint4(state[0], state[1], state[2], state[3]);
  digests[2 * message + 1] = make_uint4(state[4], state[5], state[6], state[7]);
}
