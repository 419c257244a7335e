// C++ on the device: virtual functions, recursion, function pointers, lambdas, templates, struct arguments, unions, bit fields,
// local arrays, switch tables, half and bfloat16, warp intrinsics, volatile reductions, device printf, malloc, assert, math.
// Compile with --extended-lambda.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

static int failures = 0;
static void report(const char* name, bool ok) {
  printf("%-20s %s\n", name, ok ? "ok" : "WRONG");
  failures += !ok;
}
#define CHECK(x)                                                                          \
  do {                                                                                    \
    cudaError_t e = x;                                                                    \
    if (e != cudaSuccess) printf("%s at line %d\n", cudaGetErrorString(e), __LINE__), exit(3); \
  } while (0)

template <class T>
struct Managed {
  T* p;
  explicit Managed(size_t n) {
    CHECK(cudaMallocManaged(&p, n * sizeof(T)));
    memset(static_cast<void*>(p), 0, n * sizeof(T));
  }
  ~Managed() { cudaFree(p); }
  T& operator[](size_t i) { return p[i]; }
};

// --- virtual functions, objects made on the device
struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};
__global__ void make_shapes(Shape** shapes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) shapes[i] = i % 3 == 0 ? static_cast<Shape*>(new Square(float(i))) : new Circle(float(i));
}
__global__ void sum_areas(Shape** shapes, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, shapes[i]->area());
}
__global__ void delete_shapes(Shape** shapes, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) delete shapes[i];
}
static void virtuals() {
  const int n = 100;
  Managed<Shape*> shapes(n);
  Managed<float> total(1);
  make_shapes<<<2, 64>>>(shapes.p, n);
  sum_areas<<<2, 64>>>(shapes.p, total.p, n);
  delete_shapes<<<2, 64>>>(shapes.p, n);
  CHECK(cudaDeviceSynchronize());
  double expected = 0;
  for (int i = 0; i < n; ++i) expected += double(i) * i * (i % 3 == 0 ? 1 : 3);
  report("virtual functions", std::fabs(total[0] - expected) < 1.0);
}

// --- recursion, function pointers, jump tables
__device__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
typedef float (*Function)(float);
__device__ float twice(float x) { return 2 * x; }
__device__ float squared(float x) { return x * x; }
__device__ float negated(float x) { return -x; }
__device__ Function d_functions[3] = {twice, squared, negated};
__device__ Function chosen = squared;
__global__ void call_functions(unsigned* fib, float* out, const int* which, Function given) {
  int i = threadIdx.x;
  fib[i] = fibonacci(unsigned(i % 12)) + unsigned(ackermann(2, i % 4));
  out[i] = d_functions[which[i]](float(i)) + given(1.5f);
  switch (i) {
    case 0: out[i] += 10; break;
    case 1: out[i] -= 20; break;
    case 2: out[i] *= 30; break;
    case 3: out[i] = 40; break;
    case 4: out[i] += 50 * out[i]; break;
    case 5: out[i] = __int_as_float(0x3f800000); break;
    case 6: out[i] = sqrtf(out[i]); break;
    default: break;
  }
}
static void functions() {
  Managed<unsigned> fib(32);
  Managed<float> out(32);
  Managed<int> which(32);
  for (int i = 0; i < 32; ++i) which[i] = i % 3;
  Function given;
  CHECK(cudaMemcpyFromSymbol(&given, chosen, sizeof given));
  call_functions<<<1, 32>>>(fib.p, out.p, which.p, given);
  CHECK(cudaDeviceSynchronize());
  const unsigned known[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  bool ok = true;
  for (int i = 0; i < 32; ++i) {
    ok = ok && fib[i] == known[i % 12] + unsigned(2 * (i % 4) + 3);
    float e = (i % 3 == 0 ? 2.0f * i : i % 3 == 1 ? float(i) * i : -float(i)) + 2.25f;
    if (i == 0) e += 10;
    if (i == 1) e -= 20;
    if (i == 2) e *= 30;
    if (i == 3) e = 40;
    if (i == 4) e += 50 * e;
    if (i == 5) e = 1;
    if (i == 6) e = std::sqrt(e);
    ok = ok && std::fabs(out[i] - e) < 1e-4f;
  }
  report("function pointers", ok);
}

// --- lambdas and templates
template <class F>
__global__ void for_each(int n, F f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}
template <int N>
struct Power {
  template <class T>
  __host__ __device__ static T of(T x) { return x * Power<N - 1>::of(x); }
};
template <>
struct Power<0> {
  template <class T>
  __host__ __device__ static T of(T) { return T(1); }
};
static void lambdas() {
  const int n = 500;
  Managed<double> data(n);
  double* p = data.p;
  const double scale = 0.25;
  for_each<<<3, 96>>>(n, [=] __device__(int i) { p[i] = scale * Power<3>::of(double(i)); });
  auto add = [] __host__ __device__(double a, double b) { return a + b; };
  for_each<<<2, 64>>>(n, [=] __device__(int i) { p[i] = add(p[i], 1.0); });
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < n; ++i) ok = ok && data[i] == add(0.25 * i * i * double(i), 1.0);
  report("lambdas", ok);
}

// --- structures, unions, bit fields, local arrays
struct alignas(16) Particle { float position[3]; short charge; unsigned flags : 5; unsigned kind : 11; };
union Bits { float f; unsigned u; unsigned char b[4]; };
struct Parameters { Particle first; double weights[4]; const int* table; int count; };
__global__ void structures(Parameters p, Particle* out, long long* sums) {
  int i = threadIdx.x, local[16];
  for (int k = 0; k < 16; ++k) local[k] = p.table[(i + k) % p.count];
  for (int k = 1; k < 16; ++k) {  // insertion sort in local memory
    int v = local[k], at = k - 1;
    for (; at >= 0 && local[at] > v; --at) local[at + 1] = local[at];
    local[at + 1] = v;
  }
  Particle made = p.first;
  made.position[i % 3] += float(p.weights[i % 4]);
  made.kind = unsigned(i);
  made.flags ^= unsigned(i) & 31;
  out[i] = made;
  Bits bits;
  bits.f = float(i);
  sums[i] = (long long)(local[8]) * 1000000007LL + bits.b[3] * 256 + (bits.u >> 23);
}
static void structs() {
  Managed<Particle> out(64);
  Managed<long long> sums(64);
  Managed<int> table(37);
  for (int i = 0; i < 37; ++i) table[i] = i * 29 % 37;
  Parameters p{{{1, 2, 3}, -7, 9, 100}, {0.5, 1.5, 2.5, 3.5}, table.p, 37};
  structures<<<1, 64>>>(p, out.p, sums.p);
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < 64; ++i) {
    std::vector<int> v;
    for (int k = 0; k < 16; ++k) v.push_back(table[(i + k) % 37]);
    std::sort(v.begin(), v.end());
    Bits bits;
    bits.f = float(i);
    ok = ok && sums[i] == v[8] * 1000000007LL + bits.b[3] * 256 + (bits.u >> 23);
    ok = ok && out[i].charge == -7 && out[i].kind == unsigned(i) && out[i].flags == (9u ^ (unsigned(i) & 31));
    ok = ok && out[i].position[i % 3] == float(1 + i % 3) + float(0.5 + i % 4);
  }
  report("structures", ok);
}

// --- half and bfloat16
__global__ void half_math(const float* in, float* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  __half h = __float2half(in[i]);
  __half2 pair = __halves2half2(h, __float2half(2.0f));
  pair = __hfma2(pair, pair, __float2half2_rn(1.0f));
  __nv_bfloat16 b = __float2bfloat16(in[i]);
  b = __hadd(b, __float2bfloat16(1.0f));
  out[i] = __low2float(pair) + __high2float(pair) + __bfloat162float(b) + (__hgt(h, __float2half(0.0f)) ? 100.0f : 0.0f);
}
static void halves() {
  Managed<float> in(32), out(32);
  for (int i = 0; i < 32; ++i) in[i] = float(i - 16) * 0.25f;
  half_math<<<1, 32>>>(in.p, out.p, 32);
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < 32; ++i) {
    float x = in[i], e = (x * x + 1) + 5 + (x + 1) + (x > 0 ? 100 : 0);  // exact in both formats
    ok = ok && out[i] == e;
  }
  report("half, bfloat16", ok);
}

// --- warps
__global__ void warp_functions(int* out) {
  int lane = threadIdx.x % 32;
  unsigned all = 0xffffffffu;
  int sum = lane;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(all, sum, d);
  int prefix = lane;
  for (int d = 1; d < 32; d *= 2) {
    int below = __shfl_up_sync(all, prefix, d);
    if (lane >= d) prefix += below;
  }
  unsigned odd = __ballot_sync(all, lane & 1);
  unsigned same = __match_any_sync(all, lane / 4);
  int every = __all_sync(all, lane < 32), some = __any_sync(all, lane == 7);
  int reduced = __reduce_add_sync(all, lane) + __reduce_max_sync(all, lane);
  out[threadIdx.x] = sum + prefix + __popc(odd) + __ffs(same) + every + some + reduced + __clz(lane + 1) + __brev(1u << 31) + int(__byte_perm(0x12345678, 0, 0x0123) & 0xff);
}
__global__ void volatile_reduction(const int* in, int* out) {
  __shared__ volatile int data[256];
  int tid = threadIdx.x;
  data[tid] = in[blockIdx.x * 256 + tid];
  __syncthreads();
  for (int s = 128; s > 32; s >>= 1) {
    if (tid < s) data[tid] += data[tid + s];
    __syncthreads();
  }
  if (tid < 32) {
    data[tid] += data[tid + 32]; __syncwarp();
    data[tid] += data[tid + 16]; __syncwarp();
    data[tid] += data[tid + 8]; __syncwarp();
    data[tid] += data[tid + 4]; __syncwarp();
    data[tid] += data[tid + 2]; __syncwarp();
    data[tid] += data[tid + 1]; __syncwarp();
  }
  if (tid == 0) out[blockIdx.x] = data[0];
}
static void warps() {
  Managed<int> out(64), in(1024), sums(4);
  warp_functions<<<1, 64>>>(out.p);
  for (int i = 0; i < 1024; ++i) in[i] = i % 91;
  volatile_reduction<<<4, 256>>>(in.p, sums.p);
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < 64; ++i) {
    int lane = i % 32;
    int e = 496 + lane * (lane + 1) / 2 + 16 + (lane / 4 * 4 + 1) + 1 + 1 + 496 + 31 + __builtin_clz(unsigned(lane + 1)) + 1 + 0x12;
    ok = ok && out[i] == e;
  }
  report("warp functions", ok);
  ok = true;
  for (int b = 0; b < 4; ++b) {
    int e = 0;
    for (int i = 0; i < 256; ++i) e += in[b * 256 + i];
    ok = ok && sums[b] == e;
  }
  report("volatile reduction", ok);
}

// --- atomics of all kinds
__global__ void atomics(int* i32, unsigned long long* u64, float* f32, double* f64, unsigned* locks) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i32[0], 1);
  atomicMax(&i32[1], t);
  atomicMin(&i32[2], -t);
  atomicXor(&i32[3], t);
  atomicOr(&i32[4], 1 << (t % 20));
  atomicSub(&i32[5], 2);
  atomicAdd(&u64[0], 1ull << 33);
  atomicMax(&u64[1], (unsigned long long)t << 32);
  atomicAdd(f32, 0.5f);
  atomicAdd(f64, 0.25);
  double* slow = f64 + 1;  // compare-and-swap loop
  unsigned long long old = *reinterpret_cast<unsigned long long*>(slow), assumed;
  do {
    assumed = old;
    old = atomicCAS(reinterpret_cast<unsigned long long*>(slow), assumed, __double_as_longlong(__longlong_as_double(assumed) + 2.0));
  } while (assumed != old);
  bool done = false;  // a spin lock that lanes of one warp fight for
  while (!done) {
    if (atomicCAS(&locks[0], 0u, 1u) == 0u) {
      ++*reinterpret_cast<volatile unsigned*>(&locks[1]);
      __threadfence();
      atomicExch(&locks[0], 0u);
      done = true;
    }
  }
}
static void atomic_functions() {
  Managed<int> i32(8);
  Managed<unsigned long long> u64(2);
  Managed<float> f32(1);
  Managed<double> f64(2);
  Managed<unsigned> locks(2);
  atomics<<<4, 64>>>(i32.p, u64.p, f32.p, f64.p, locks.p);
  CHECK(cudaDeviceSynchronize());
  int x = 0;
  for (int t = 0; t < 256; ++t) x ^= t;
  report("atomics", i32[0] == 256 && i32[1] == 255 && i32[2] == -255 && i32[3] == x && i32[4] == (1 << 20) - 1 && i32[5] == -512 &&
                        u64[0] == 256ull << 33 && u64[1] == 255ull << 32 && f32[0] == 128.0f && f64[0] == 64.0 && f64[1] == 512.0 &&
                        locks[1] == 256);
}

// --- printf, malloc, assert, clock
__global__ void heap(int* out) {
  int* mine = static_cast<int*>(malloc(sizeof(int) * (threadIdx.x + 1)));
  assert(mine != nullptr);
  for (int i = 0; i <= int(threadIdx.x); ++i) mine[i] = i;
  int sum = 0;
  for (int i = 0; i <= int(threadIdx.x); ++i) sum += mine[i];
  out[threadIdx.x] = sum;
  long long begin = clock64();
  free(mine);
  if (threadIdx.x == 5) printf("thread %d: %s %5.2f %llx %c%%\n", threadIdx.x, "text", 2.5, 0xabcdef012345ull, 'z');
  if (clock64() < begin) out[threadIdx.x] = -1;
}
static void driver_functions() {
  Managed<int> out(32);
  heap<<<1, 32>>>(out.p);
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < 32; ++i) ok = ok && out[i] == i * (i + 1) / 2;
  report("malloc, printf", ok);
}

// --- math functions, against the host's
__global__ void math(const double* x, double* out, const float* y, float* fout, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i];
  out[i] = sin(v) + exp(v * 0.1) + log(v + 1) + pow(v, 1.5) + sqrt(v) + erf(v) + tanh(v) + cbrt(v) + fmod(v, 0.7) + atan2(v, 2.0) + tgamma(1 + v * 0.1);
  float f = y[i];
  fout[i] = sinf(f) + cosf(f) + expf(f * 0.1f) + logf(f + 1) + powf(f, 1.5f) + sqrtf(f) + erff(f) + tanhf(f) + cbrtf(f) + fmodf(f, 0.7f) + atan2f(f, 2.0f) + rsqrtf(f + 1) + floorf(f) + rintf(f) + truncf(-f);
}
static void math_functions() {
  const int n = 200;
  Managed<double> x(n), out(n);
  Managed<float> y(n), fout(n);
  for (int i = 0; i < n; ++i) x[i] = i * 0.137, y[i] = float(i) * 0.137f;
  math<<<2, 128>>>(x.p, out.p, y.p, fout.p, n);
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < n; ++i) {
    double v = x[i];
    double e = sin(v) + exp(v * 0.1) + log(v + 1) + pow(v, 1.5) + sqrt(v) + erf(v) + tanh(v) + cbrt(v) + fmod(v, 0.7) + atan2(v, 2.0) + tgamma(1 + v * 0.1);
    ok = ok && fabs(out[i] - e) <= 1e-12 * (1 + fabs(e));
    double f = y[i];
    double g = sin(f) + cos(f) + exp(f * 0.1) + log(f + 1) + pow(f, 1.5) + sqrt(f) + erf(f) + tanh(f) + cbrt(f) + fmodf(y[i], 0.7f) + atan2(f, 2.0) + 1 / sqrt(f + 1) + floorf(y[i]) + rintf(y[i]) + truncf(-y[i]);
    ok = ok && fabs(fout[i] - g) <= 2e-5 * (1 + fabs(g));
  }
  report("math functions", ok);
}

// --- pointers to constant memory, chosen at run time
__constant__ float weights[16];
__device__ float samples[16];
struct Layer {
  const float* values;
  int count;
};
__constant__ Layer layers[2];
__device__ __noinline__ float sum_of(const float* values, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}
__global__ void constant_pointers(float* out, const float* from_host, int count) {
  const int i = threadIdx.x;
  const float* chosen = i & 1 ? weights : samples;
  out[i] = sum_of(chosen, count) + sum_of(weights + (i & 3), 2) + from_host[2] + sum_of(layers[i & 1].values, layers[i & 1].count);
  if (__isConstant(chosen)) out[i] += 1000;
}
static void constants() {
  float w[16], s[16];
  for (int i = 0; i < 16; ++i) w[i] = float(i), s[i] = float(100 + i);
  CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
  CHECK(cudaMemcpyToSymbol(samples, s, sizeof s));
  void *at_weights, *at_samples;
  CHECK(cudaGetSymbolAddress(&at_weights, weights));
  CHECK(cudaGetSymbolAddress(&at_samples, samples));
  const Layer both[2] = {{static_cast<float*>(at_weights), 3}, {static_cast<float*>(at_samples), 1}};
  CHECK(cudaMemcpyToSymbol(layers, both, sizeof both));
  Managed<float> out(32);
  constant_pointers<<<1, 32>>>(out.p, static_cast<float*>(at_weights), 4);
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < 32; ++i)
    ok = ok && out[i] == (i & 1 ? 6.0f + 1000.0f : 406.0f) + float(2 * (i & 3) + 1) + 2.0f + (i & 1 ? 100.0f : 3.0f);
  report("constant pointers", ok);
}

int main() {
  virtuals();
  constants();
  functions();
  lambdas();
  structs();
  halves();
  warps();
  atomic_functions();
  driver_functions();
  math_functions();
  return failures;
}
