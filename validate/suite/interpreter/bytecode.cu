// An interpreter: a program of 16 kinds of instructions over eight registers, run by each thread on its own
// data. All threads take the same way through the switch, which is a jump through a table.

__global__ void bytecode(const unsigned* __restrict__ program, const unsigned* __restrict__ in,
                         unsigned* __restrict__ out, int length, int rounds, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n) return;
  unsigned a = in[thread], b = thread, c = 0x9e3779b9u, d = 1u;
  for (int round = 0; round < rounds; ++round) {
    for (int at = 0; at < length; ++at) {
      const unsigned instruction = program[at];
      const unsigned immediate = instruction >> 8;
      switch (instruction & 15) {
        case 0: a += immediate; break;
        case 1: a *= immediate | 1u; break;
        case 2: a ^= b; break;
        case 3: b += a; break;
        case 4: b = b << 5 | b >> 27; break;
        case 5: c ^= a >> 3; break;
        case 6: c *= d | 1u; break;
        case 7: d += c ^ immediate; break;
        case 8: d = __popc(a) + (d << 1); break;
        case 9: a = a > b ? a - b : b - a; break;
        case 10: b = __brev(b); break;
        case 11: c = c & a | ~c & b; break;
        case 12: d ^= d >> 7; break;
        case 13: a = __umulhi(a, c | 0x80000000u) + immediate; break;
        case 14: b = min(b, c) + d; break;
        default: c = max(c, a) ^ immediate; break;
      }
    }
  }
  out[thread] = a ^ b ^ c ^ d;
}
