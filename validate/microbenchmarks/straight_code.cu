// What does long straight-line code cost?
//
// Models:  integer code in the manner of ciphers and hashes (additions, rotations, three-input logic, some multiplications), `kOps` steps of
//          it in a loop, by number of warps; four chains or one; then double-precision arithmetic, few warps.
// Ignores: memory.
// Source:  counters of ncu, cycles; what is in the loop: cuobjdump.
#include "bench.cuh"

using namespace bench;

/// A round of a hash: depends on the one before in `kChains` places.
template <int kChains>
__device__ __forceinline__ void mix(unsigned (&s)[4], unsigned k) {
#pragma unroll
  for (int c = 0; c < kChains; ++c) {
    asm volatile("{\n\t.reg .u32 t;\n\tadd.u32 %0, %0, %1;\n\tshf.l.wrap.b32 t, %0, %0, 7;\n\txor.b32 %0, t, %1;\n\tlop3.b32 %0, %0, %1, t, 0xE8;\n\tadd.u32 %0, %0, t;\n\t}"
                 : "+r"(s[c]) : "r"(k) : "memory");
  }
}
template <int kSteps, int kChains>
__global__ void __launch_bounds__(1024) hash(unsigned seed, int rounds, unsigned* sink) {
  unsigned s[4] = {threadIdx.x, seed, seed + 1, seed + 2};
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < kSteps / kChains; ++i) mix<kChains>(s, seed + static_cast<unsigned>(i) * 0x9E3779B9u);
  }
  if ((s[0] ^ s[1] ^ s[2] ^ s[3]) == 0x12345) *sink = s[0];
}

template <int kKind, int kChains>
__global__ void __launch_bounds__(1024) doubles(double seed, int rounds, double* sink) {
  double s[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) s[c] = threadIdx.x + c;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        if (kKind == 0) asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(s[c]) : "d"(seed));
        if (kKind == 1) asm volatile("add.f64 %0, %0, %1;" : "+d"(s[c]) : "d"(seed));
        if (kKind == 2) asm volatile("mul.f64 %0, %0, %1;" : "+d"(s[c]) : "d"(seed));
        if (kKind == 3) s[c] = seed / s[c];
        if (kKind == 4) s[c] = sqrt(s[c]);
        if (kKind == 5) asm volatile("{\n\t.reg .f32 t;\n\tcvt.rn.f32.f64 t, %0;\n\tcvt.f64.f32 %0, t;\n\t}" : "+d"(s[c]));
        if (kKind == 6) asm volatile("{\n\t.reg .pred p;\n\tsetp.gt.f64 p, %0, %1;\n\tselp.f64 %0, %0, %1, p;\n\t}" : "+d"(s[c]) : "d"(seed));
        if (kKind == 7) s[c] = exp(s[c]);
      }
    }
  }
  double sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum += s[c];
  if (sum == 0.12345) *sink = sum;
}

struct Runner {
  Buffer<unsigned> sink{1};
  Buffer<double> dsink{1};
  int launch = 0;
  template <int kSteps, int kChains>
  void integer(int warps, int total) {
    hash<kSteps, kChains><<<1, static_cast<unsigned>(32 * warps)>>>(12345, total / kSteps, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("straight_code", "integer code in a loop: cycles").add("launch", launch++).add("steps", kSteps).add("chains", kChains).add("warps", warps)
        .print(total / kSteps, "round", 0);
  }
  template <int kSteps>
  void integers() {
    for (int warps : {1, 4, 8, 16, 32}) {
      integer<kSteps, 1>(warps, 4096);
      integer<kSteps, 4>(warps, 4096);
    }
  }
  template <int kKind, int kChains>
  void real(int warps) {
    static const char* const names[] = {"fma", "add", "mul", "divide", "root", "convert", "compare", "exp"};
    const int rounds = kKind == 3 || kKind == 4 || kKind == 7 ? 8 : 32;
    doubles<kKind, kChains><<<1, static_cast<unsigned>(32 * warps)>>>(1.5, rounds, dsink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("double_code", "double-precision code in a loop: cycles").add("launch", launch++).add_text("operation", names[kKind]).add("chains", kChains)
        .add("warps", warps).print(8.0 * rounds * kChains, "operation", 0);
  }
  template <int kKind>
  void reals() {
    for (int warps : {1, 2, 4, 8, 16}) {
      real<kKind, 1>(warps);
      real<kKind, 4>(warps);
    }
  }
};

int main() {
  Runner r;
  r.integers<16>();
  r.integers<64>();
  r.integers<256>();
  r.integers<512>();
  r.integers<1024>();
  r.reals<0>();
  r.reals<1>();
  r.reals<2>();
  r.reals<3>();
  r.reals<4>();
  r.reals<5>();
  r.reals<6>();
  r.reals<7>();
  return 0;
}
