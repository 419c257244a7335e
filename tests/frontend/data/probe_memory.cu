// Memory in every space, atomics, asynchronous copies, barriers in memory and fences.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include <cstdint>

__constant__ float coefficients[64] = {1, 2, 3};
__device__ int counter = 7;
__device__ float zeroed[16];
__device__ float* pointer_to_zeroed = zeroed + 2;

__global__ void widths(float4* quads, double2* pairs, uint8_t* bytes, int16_t* halves, int n) {
  const int i = threadIdx.x;
  quads[i] = quads[i + n];
  pairs[i].x = pairs[i + n].y;
  bytes[i] = bytes[i + n] + static_cast<uint8_t>(halves[i]);
  halves[i] = static_cast<int16_t>(static_cast<int8_t>(bytes[i + 2 * n]));
  quads[i].x += __ldg(&quads[i + n].y) + __ldcg(&quads[i].z) + __ldcs(&quads[i].w) + __ldlu(&quads[i].x);
  __stcs(&quads[i + n].y, coefficients[i] + pointer_to_zeroed[i]);
  *reinterpret_cast<volatile float*>(&quads[i].z) = *reinterpret_cast<volatile float*>(&quads[i].w);
  zeroed[i] = coefficients[3];
  counter = i;
}

__global__ void shared_and_local(float* out, const float* in, int n) {
  __shared__ float4 tile[64];
  extern __shared__ float dynamic[];
  float stack[16];
  const int i = threadIdx.x;
  for (int k = 0; k < 16; ++k) stack[(k * n) & 15] = in[i + k];
  tile[i] = make_float4(in[i], stack[n & 15], stack[(n + 1) & 15], 1.0f);
  dynamic[i * n] = in[i + n];
  __syncthreads();
  const float* generic = (n & 1) ? &tile[n].x : (n & 2) ? &stack[n & 7] : in;
  out[i] = tile[63 - i].y + dynamic[n - i] + generic[i & 3] + reinterpret_cast<volatile uint8_t*>(tile)[i];
  *const_cast<float*>(generic) = out[i];
}

__global__ void atomics(int* words, unsigned long long* wide, float* floats, double* doubles, __half2* halves, int n) {
  __shared__ int shared_words[32];
  __shared__ float shared_floats[32];
  __shared__ unsigned long long shared_wide[32];
  const int i = threadIdx.x;
  shared_words[i] = shared_floats[i] = shared_wide[i] = 0;
  __syncthreads();
  atomicAdd(&shared_words[n & 31], i);
  atomicAdd(&shared_words[0], 1);
  words[i] = atomicMin(&shared_words[1], i) + atomicMax(&shared_words[2], i) + atomicExch(&shared_words[3], i) +
             atomicCAS(&shared_words[4], i, n) + atomicAnd(&shared_words[5], i) + atomicOr(&shared_words[6], i) +
             atomicXor(&shared_words[7], i);
  atomicInc(reinterpret_cast<unsigned*>(&shared_words[8]), n);
  atomicAdd(&shared_floats[n], 1.5f);
  atomicAdd(&shared_wide[n], 5ull);
  atomicCAS(&shared_wide[n + 1], 5ull, wide[n]);
  words[i + 1] = atomicAdd(&words[n], i) + atomicSub(&words[n + 1], i) + atomicMin(&words[n + 2], i) +
                 atomicExch(&words[n + 3], i) + atomicCAS(&words[n + 4], i, n) +
                 static_cast<int>(atomicInc(reinterpret_cast<unsigned*>(words), 9));
  atomicDec(reinterpret_cast<unsigned*>(words + 3), n);
  atomicAdd(&words[5], 1);
  wide[i] = atomicAdd(&wide[n], 3ull) + atomicCAS(&wide[n + 1], 5ull, 7ull);
  atomicMax(reinterpret_cast<long long*>(&wide[n + 2]), static_cast<long long>(i));
  floats[i] = atomicAdd(&floats[n], 2.5f);
  atomicAdd(&floats[n + 1], 2.5f);
  atomicAdd(&doubles[n], 2.5);
  doubles[i] = atomicAdd(&doubles[n + 1], 2.5);
  atomicAdd(&halves[n], halves[i]);
  atomicAdd_block(&words[n + 6], 1);
  atomicAdd_system(&words[n + 7], i);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  words[i + 7] = shared_words[i] + static_cast<int>(shared_floats[i]) + static_cast<int>(shared_wide[i]);
}

__global__ void async_copies(float4* out, const float4* in, const float* scalars, int n) {
  __shared__ float4 tile[128];
  __shared__ float small[128];
  __shared__ uint64_t barrier;
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[i], &in[i], 16);
  __pipeline_memcpy_async(&small[i], &scalars[i], 4);
  __pipeline_memcpy_async(&tile[i + 64], &in[i + n], 16, n & 15);
  __pipeline_commit();
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (i == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(n));
  __pipeline_wait_prior(1);
  __syncthreads();
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(address));
  uint64_t token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(address));
  int done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(address), "l"(token));
  __pipeline_wait_prior(0);
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in + n));
  out[i] = tile[i + 1];
  out[i].x += small[i + 3];
}
