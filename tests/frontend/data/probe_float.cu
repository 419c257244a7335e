// Floating point in four widths, special functions and conversions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void single_precision(float* out, const float* in, float a, int n) {
  const int i = threadIdx.x;
  const float x = in[i], y = in[i + n], z = in[i + 2 * n];
  out[i] = x * y + z;
  out[i + n] = x / y + sqrtf(z) + rsqrtf(x) + 1.0f / z;
  out[i + 2 * n] = fminf(x, y) + fmaxf(z, a) + fabsf(x) - fmaxf(-fabsf(y), 1.5f);
  out[i + 3 * n] = __sinf(x) + __cosf(y) + __expf(z) + __logf(x) + tanhf(y) + __fdividef(x, y);
  out[i + 4 * n] = sinf(x) + cosf(y) + expf(z) + logf(x) + powf(y, z);
  out[i + 5 * n] = x > y ? z : (x != x ? a : INFINITY);
  out[i + 6 * n] = __fmaf_rz(x, y, z) + __fadd_ru(x, y) + __fmul_rd(x, z) + __saturatef(x * y);
  out[i + 7 * n] = floorf(x) + ceilf(y) + truncf(z) + rintf(x) + fmodf(x, y) + ldexpf(x, n);
#if __CUDA_ARCH__ >= 860
  asm("min.xorsign.abs.f32 %0, %1, %2;" : "=f"(out[i + 8 * n]) : "f"(x), "f"(y));
#endif
  asm("tanh.approx.f32 %0, %1;" : "=f"(out[i + 9 * n]) : "f"(x));
  out[i + 10 * n] = x == 1e-30f ? -1e30f : x * -0.0f + 3.14159274f;
}

__global__ void double_precision(double* out, const double* in, double a, int n) {
  const int i = threadIdx.x;
  const double x = in[i], y = in[i + n], z = in[i + 2 * n];
  out[i] = x * y + z;
  out[i + n] = x / y + sqrt(z) + rsqrt(x) + 1.5;
  out[i + 2 * n] = fmin(x, y) + fmax(z, a) + fabs(x) * 1e-300;
  out[i + 3 * n] = x > y ? z : a;
  out[i + 4 * n] = exp(x) + log(y) + sin(z);
  out[i + 5 * n] = floor(x) + static_cast<double>(n) + static_cast<double>(static_cast<float>(y));
}

__global__ void convert(float* out, const float* in, long long* wide, double* doubles, int n) {
  const int i = threadIdx.x;
  const float x = in[i];
  out[i] = static_cast<float>(static_cast<int>(x)) + static_cast<float>(static_cast<unsigned>(in[i + n]));
  out[i + n] = static_cast<float>(wide[i]) + static_cast<float>(static_cast<unsigned long long>(wide[i + n]));
  out[i + 2 * n] = static_cast<float>(static_cast<signed char>(n)) + static_cast<float>(static_cast<short>(wide[i]));
  wide[i] = static_cast<long long>(x) + static_cast<long long>(doubles[i]) + __float2ll_rn(in[i + n]);
  wide[i + n] = static_cast<long long>(static_cast<unsigned long long>(doubles[i]));
  doubles[i] = static_cast<double>(wide[i + 2 * n]) + static_cast<double>(static_cast<unsigned>(n));
  out[i + 3 * n] = static_cast<float>(__float2int_rd(x) + __float2int_ru(x) + __double2int_rn(doubles[i + n]));
  reinterpret_cast<unsigned char*>(out)[i] = static_cast<unsigned char>(x);
}

__global__ void half_precision(__half2* out, const __half2* in, __nv_bfloat162* bout, const __nv_bfloat162* bin, int n) {
  const int i = threadIdx.x;
  const __half2 x = in[i], y = in[i + n], z = in[i + 2 * n];
  out[i] = __hfma2(x, y, z);
  out[i + n] = __hadd2(x, y) * __half2(__float2half(1.5f), __float2half(-2.0f));
  out[i + 2 * n] = __hmax2(x, y) + __hmin2(z, __habs2(x)) - __hneg2(y);
  out[i + 3 * n] = h2exp2(x) + h2sqrt(y) + h2rcp(z) + h2tanh(x);
  out[i + 4 * n] = __hlt2(x, y) + __hge2(y, z);
  out[i + 5 * n] = __hbgt2(x, y) ? x : __lowhigh2highlow(z);
  out[i + 6 * n] = __half2half2(x.x + y.y) + __floats2half2_rn(__low2float(x), __high2float(y));
  out[i + 7 * n] = __hfma2_relu(x, y, z) + __hadd2_sat(x, y);
  out[i + 8 * n] = x.x > y.y ? z : x;
  const __nv_bfloat162 a = bin[i], b = bin[i + n], c = bin[i + 2 * n];
  bout[i] = __hfma2(a, b, c);
  bout[i + n] = __hadd2(a, b) * c;
  bout[i + 2 * n] = __hmax2(a, b);
  bout[i + 3 * n] = __floats2bfloat162_rn(__low2float(a), __high2float(b));
  bout[i + 4 * n] = h2exp2(a) + __hlt2(a, b);
}

__global__ void eight_bit(unsigned short* out, const float2* in, __half2* back, int n) {
  const int i = threadIdx.x;
  out[i] = __nv_cvt_float2_to_fp8x2(in[i], __NV_SATFINITE, __NV_E4M3);
  out[i + n] = __nv_cvt_float2_to_fp8x2(in[i + n], __NV_SATFINITE, __NV_E5M2);
  back[i] = static_cast<__half2>(__nv_cvt_fp8x2_to_halfraw2(out[i + 2 * n], __NV_E4M3));
}
