// Integer, logic, shift, byte, compare and select instructions: one kernel a group. Only the disassembly is read.
#include <cstdint>

__global__ void add_multiply(int* out, const int* in, long long* wide, const long long* wide_in, int a, long long b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = in[i], y = in[i + a];
  const long long p = wide_in[i], q = wide_in[i + a];
  out[i] = x * y + a;
  out[i + a] = __mulhi(x, y) + __umulhi(x, a);
  out[i + 2 * a] = x / a + y % 7 + x / 1000003;
  out[i + 3 * a] = __mul24(x, y) - 12345678;
  wide[i] = p * q + b;
  wide[i + a] = p / q;
  wide[i + 2 * a] = static_cast<unsigned long long>(p) % static_cast<unsigned long long>(q + 3);
  wide[i + 3 * a] = __mul64hi(p, q) + (p << (a & 63)) + (q >> a);
  wide[i + 4 * a] = min(p, q) + max(p, b) + (p < q ? b : q) + 0x123456789abcdef1LL;
  wide[i + 5 * a] = static_cast<unsigned long long>(p) > static_cast<unsigned long long>(q) ? 5 : p - q;
}

__global__ void logic(unsigned* out, const unsigned* in, unsigned a, unsigned b) {
  const int i = threadIdx.x;
  const unsigned x = in[i], y = in[i + 32], z = in[i + 64];
  out[i] = (x & y) ^ ~z;
  out[i + 32] = (x | ~a) & (y ^ b) ^ z;
  out[i + 64] = __popc(x) + __clz(y) + __ffs(z) + __brev(x);
  out[i + 96] = __byte_perm(x, y, a) + __byte_perm(x, y, 0x6240);
  out[i + 128] = __funnelshift_l(x, y, a) + __funnelshift_rc(x, y, b) + (x << a) + (y >> b) + (x >> 7);
  out[i + 160] = static_cast<unsigned>(static_cast<int>(x) >> a) + __sad(x, y, z) + __usad(x, y, z);
  out[i + 192] = __dp4a(x, y, z) + __dp4a(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z));
  out[i + 224] = __dp2a_lo(x, y, z) + __dp2a_hi(x, y, z);
  out[i + 256] = __vadd2(x, y) + __vadd4(x, y) + __vsub2(y, z) + __vmaxs2(x, z) + __vminu4(x, y) + __vsadu4(x, y);
  unsigned field, bits, mask, clamped;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(x), "r"(a), "r"(b));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(bits) : "r"(x), "r"(y), "r"(a), "r"(b));
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(mask) : "r"(x), "r"(y));
  asm("szext.wrap.s32 %0, %1, %2;" : "=r"(clamped) : "r"(x), "r"(y));
  out[i + 288] = field + bits + mask + clamped;
  out[i + 320] = abs(static_cast<int>(x)) + max(static_cast<int>(y), -5) + min(z, 0x9abcdef0u);
  out[i + 352] = (x > 0x9abcdef0u ? y : z) + (static_cast<int>(x) < -77 ? 1u : a) + (x == y && y != z || z > a ? 3u : 9u);
}

__global__ void narrow(signed char* bytes, short* halves, unsigned char* unsigned_bytes, int n) {
  const int i = threadIdx.x;
  bytes[i] = static_cast<signed char>(bytes[i + n] + 3);
  halves[i] = static_cast<short>(halves[i + n] * bytes[i]);
  int packed;
  asm("cvt.sat.s8.s32 %0, %1;" : "=r"(packed) : "r"(n * i));
  unsigned_bytes[i] = static_cast<unsigned char>(packed + unsigned_bytes[i + n]);
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(packed) : "r"(n), "r"(i), "r"(packed));
  halves[i + 2 * n] = static_cast<short>(packed);
}
