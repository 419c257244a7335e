// The device's mathematical functions against the host's: float, double, large arguments, rounding modes, 128-bit integers, small floats.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include "check.h"
#define FUNCTIONS(F)                                                                                      \
  F(sin)                                                                                                  \
  F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(exp) F(exp2) F(expm1) F(cbrt)  \
      F(erf) F(erfc) F(tgamma) F(lgamma) F(j0) F(j1) F(y0) F(y1) F(log) F(log2) F(log10) F(log1p) F(sqrt) \
          F(floor) F(rint) F(trunc) F(logb)
template <class T>
__global__ void values(const T* x, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k = 0;
#define F(f) out[k++ * n + i] = f(x[i]);
  FUNCTIONS(F)
#undef F
  out[k++ * n + i] = pow(x[i], T(1.7));
  out[k++ * n + i] = fmod(x[i], T(0.3));
  out[k++ * n + i] = hypot(x[i], T(2));
  out[k++ * n + i] = atan2(x[i], T(-3));
  out[k++ * n + i] = remainder(x[i], T(0.7));
  out[k++ * n + i] = nextafter(x[i], T(100));
  out[k++ * n + i] = ldexp(x[i], 5);
  out[k++ * n + i] = normcdf(x[i]);
}
template <class T>
T normcdf_host(T x) {
  return T(0.5) * std::erfc(-x * T(0.70710678118654752440));
}
template <class T>
void compare(double tolerance) {
  const int n = 64, functions = 39;
  T *x, *out;
  CHECK(cudaMallocManaged(&x, n * sizeof(T)));
  CHECK(cudaMallocManaged(&out, functions * n * sizeof(T)));
  for (int i = 0; i < n; ++i) x[i] = i < 32 ? T(i + 0.5) / 33 : i < 60 ? T(i) / 4 : T(1e5) * T(i);
  values<<<1, 64>>>(x, out, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    int k = 0;
    auto same = [&](const char* name, double expected) {
      double got = out[k++ * n + i];
      if (std::isnan(expected) ? !std::isnan(got)
                               : expected != got && std::fabs(got - expected) >
                                                        tolerance * std::max(1.0, std::fabs(expected))) {
        printf("%s(%.17g) is %.17g, not %.17g\n", name, (double)x[i], got, expected);
        exit(1);
      }
    };
#define F(f) same(#f, (double)(T)f((T)x[i]));
    FUNCTIONS(F)
#undef F
    same("pow", std::pow(x[i], T(1.7)));
    same("fmod", std::fmod(x[i], T(0.3)));
    same("hypot", std::hypot(x[i], T(2)));
    same("atan2", std::atan2(x[i], T(-3)));
    same("remainder", std::remainder(x[i], T(0.7)));
    same("nextafter", std::nextafter(x[i], T(100)));
    same("ldexp", std::ldexp(x[i], 5));
    same("normcdf", normcdf_host(x[i]));
  }
  CHECK(cudaFree(x));
}
__global__ void others(float* f, unsigned long long* u, double* d) {
  float x = 1.f / 3;
  f[0] = __fadd_rd(x, x) - __fadd_ru(x, x);
  f[1] = __fdiv_rz(1, 3) - __fdiv_ru(1, 3);
  f[2] = __frsqrt_rn(4.f);
  f[3] = __saturatef(3.f);
  f[4] = erfcinvf(0.5f);
  f[5] = __half2float(hexp(__float2half(1.f)));
  f[6] = __half2float(__hfma(__float2half(1.5f), __float2half(2.f), __float2half(.25f)));
  f[7] = __bfloat162float(__hmul(__float2bfloat16(3.f), __float2bfloat16(.5f)));
  f[8] = float(__nv_fp8_e4m3(3.3f));
  f[9] = float(__nv_fp8_e5m2(3.3f));
  f[10] = __int2float_rz(16777217);
  f[11] = __uint_as_float(__float_as_uint(2.f) + 1);
  f[12] = __low2float(__hadd2(__floats2half2_rn(1, 2), __floats2half2_rn(3, 4)));
  f[13] = rnorm3df(1, 2, 2);
  f[14] = sinpif(0.25f) * sinpif(0.25f);
  f[15] = __expf(1.f);
  unsigned __int128 wide = (unsigned __int128)0x123456789abcdefull * 0xfedcba987654321ull;
  wide /= 1000000007u;
  u[0] = (unsigned long long)wide, u[1] = wide >> 64;
  u[2] = __umul64hi(~0ull, ~0ull);
  u[3] = __brevll(1), u[4] = __popcll(0xff00ff), u[5] = __clzll(1), u[6] = __ffsll(8);
  u[7] = __byte_perm(0x12345678, 0xabcdef01, 0x7040), u[8] = __funnelshift_l(0x80000000u, 1, 4),
  u[9] = __usad(5, 9, 1);
  u[10] = (unsigned)__dp4a(0x01020304, 0x01010101, 5), u[11] = __vaddus4(0xff010203, 0x02020202),
  u[12] = __vabsdiffu2(0x00050001, 0x00010003);
  u[13] = __double2ull_rd(1e15 + 0.7), u[14] = __float2uint_ru(2.1f), u[15] = __mulhi(0x40000000, 8);
  d[0] = __dsqrt_rd(2.) - __dsqrt_ru(2.), d[1] = __fma_rn(1e16, 1. + 1e-15, -1e16), d[2] = cyl_bessel_i0(1.),
  d[3] = rcbrt(27.);
}
int main() {
  compare<float>(4e-6);
  compare<double>(1e-12);
  float* f;
  unsigned long long* u;
  double* d;
  CHECK(cudaMallocManaged(&f, 64));
  CHECK(cudaMallocManaged(&u, 128));
  CHECK(cudaMallocManaged(&d, 32));
  others<<<1, 1>>>(f, u, d);
  CHECK(cudaDeviceSynchronize());
  EXPECT(f[0] < 0 || f[0] == 0);
  EXPECT(f[1] < 0 && f[1] > -1e-7f);
  EXPECT(f[2] == 0.5f && f[3] == 1 && fabsf(f[4] - 0.476936f) < 1e-5f && fabsf(f[5] - 2.71828f) < 2e-3f &&
         f[6] == 3.25f && f[7] == 1.5f);
  EXPECT(f[8] == 3.25f && f[9] == 3.5f && f[10] == 16777216 && f[11] > 2 && f[12] == 4 &&
         fabsf(f[13] - 1 / 3.f) < 1e-6f);
  EXPECT(fabsf(f[14] - 0.5f) < 1e-6f && fabsf(f[15] - 2.71828f) < 1e-4f);
  unsigned __int128 wide = (unsigned __int128)0x123456789abcdefull * 0xfedcba987654321ull;
  wide /= 1000000007u;
  EXPECT(u[0] == (unsigned long long)wide && u[1] == (unsigned long long)(wide >> 64));
  EXPECT(u[2] == ~0ull - 1 && u[3] == 1ull << 63 && u[4] == 16 && u[5] == 63 && u[6] == 4);
  EXPECT(u[7] == 0xab780178 && u[8] == 0x18 && u[9] == 5 && u[10] == 15 && u[11] == 0xff030405 &&
         u[12] == 0x00040002);
  EXPECT(u[13] == 1000000000000000ull && u[14] == 3 && u[15] == 2);
  EXPECT(d[0] < 0 && fabs(d[1] - (std::fma(1e16, 1. + 1e-15, -1e16))) == 0 &&
         fabs(d[2] - 1.2660658777520084) < 1e-14 && fabs(d[3] - 1 / 3.) < 1e-15);
  puts("ok");
}
