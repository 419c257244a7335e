// What the tensor programs of this folder share: barriers, bulk tensor copies, wgmma's products, and a host that makes data and maps.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cudaError_t error = (call);                                                   \
    if (error != cudaSuccess)                                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)), std::exit(1); \
  } while (0)

extern __shared__ unsigned char dynamic[];

__device__ __forceinline__ uint32_t shared_place(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
/// Dynamic shared memory from its first multiple of 1024 on, as swizzles ask.
__device__ __forceinline__ unsigned char* aligned_memory() {
  return dynamic + (1024 - shared_place(dynamic) % 1024) % 1024;
}

// --- mbarriers ---------------------------------------------------------------------------------------------------------------------
__device__ __forceinline__ void init(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_place(barrier)), "r"(arrivals)
               : "memory");
}
__device__ __forceinline__ void fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_place(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_place(barrier)) : "memory");
}
__device__ __forceinline__ void arrive_at(uint64_t* barrier, uint32_t rank) {
  asm volatile(
      "{\n.reg .b32 to;\nmapa.shared::cluster.u32 to, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, "
      "[to];\n}" ::"r"(shared_place(barrier)),
      "r"(rank)
      : "memory");
}
__device__ __forceinline__ void wait(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\nW%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra "
      "W%=;\n}" ::"r"(shared_place(barrier)),
      "r"(parity)
      : "memory");
}

// --- bulk tensor copies --------------------------------------------------------------------------------------------------------------
__device__ __forceinline__ void copy2(void* to, const CUtensorMap* map, uint64_t* barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
      "[%2];" ::"r"(shared_place(to)),
      "l"(map), "r"(shared_place(barrier)), "r"(x), "r"(y)
      : "memory");
}
__device__ __forceinline__ void copy2_to(void* to, const CUtensorMap* map, uint64_t* barrier, int x, int y,
                                         uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, {%3, %4}], [%2], %5;" ::"r"(shared_place(to)),
      "l"(map), "r"(shared_place(barrier)), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}
__device__ __forceinline__ void copy3(void* to, const CUtensorMap* map, uint64_t* barrier, int x, int y,
                                      int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(shared_place(to)),
      "l"(map), "r"(shared_place(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
__device__ __forceinline__ void copy_pixels(void* to, const CUtensorMap* map, uint64_t* barrier, int c, int w,
                                            int h, int n, uint16_t s, uint16_t r) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4, %5, %6}], [%2], {%7, %8};" ::"r"(shared_place(to)),
      "l"(map), "r"(shared_place(barrier)), "r"(c), "r"(w), "r"(h), "r"(n), "h"(s), "h"(r)
      : "memory");
}
__device__ __forceinline__ void store2(const CUtensorMap* map, const void* from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_place(from)), "r"(x), "r"(y)
               : "memory");
}
__device__ __forceinline__ void add2(const CUtensorMap* map, const void* from, int x, int y) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(shared_place(from)), "r"(x), "r"(y)
      : "memory");
}
__device__ __forceinline__ void stores_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void stores_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void group_barrier(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ __forceinline__ void group_arrive(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// --- wgmma ---------------------------------------------------------------------------------------------------------------------------
/// Rows of 128 swizzled bytes; eight rows lie 1024 bytes apart from the next eight, 128 bytes of a transposed operand `block` bytes.
__device__ __forceinline__ uint64_t descriptor(const void* tile, uint32_t block = 16) {
  return (shared_place(tile) & 0x3ffff) >> 4 | static_cast<uint64_t>(block >> 4) << 16 |
         uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}
__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
template <int kCount>
__device__ __forceinline__ void keep(float (&d)[kCount]) {
#pragma unroll
  for (float& x : d) asm volatile("" : "+f"(x)::"memory");
}
template <int kCount>
__device__ __forceinline__ void keep(int (&d)[kCount]) {
#pragma unroll
  for (int& x : d) asm volatile("" : "+r"(x)::"memory");
}

// clang-format off
#define T_8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define T_32 T_8 ",%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define T_64 T_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define T_128 T_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define R_4(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3])
#define R_8(c, i) R_4(c, i), R_4(c, i + 4)
#define R_32(c, i) R_8(c, i), R_8(c, i + 8), R_8(c, i + 16), R_8(c, i + 24)
#define R_64(c, i) R_32(c, i), R_32(c, i + 32)
#define R_128(c, i) R_64(c, i), R_64(c, i + 64)
#define S_8 "%8, %9, p", "%10"
#define S_32 "%32, %33, p", "%34"
#define S_64 "%64, %65, p", "%66"
#define S_128 "%128, %129, p", "%130"
#define F_32 "{%32, %33, %34, %35}, %36, p", "%37"
#define F_64 "{%64, %65, %66, %67}, %68, p", "%69"
#define PRODUCT_TEXT(shape, count, operands, predicate, tail) \
  "{\n.reg .pred p;\nsetp.ne.b32 p, " predicate ", 0;\nwgmma.mma_async" shape " {" T_##count "}, " operands tail ";\n}"
#define PRODUCT_TEXT_(...) PRODUCT_TEXT(__VA_ARGS__)
/// d = a b + (add ? d : 0), both operands in shared memory.
#define SHARED_PRODUCT(name, type, c, count, shape, tail) \
  __device__ __forceinline__ void name(type (&d)[count], uint64_t a, uint64_t b, int add = 1) { \
    asm volatile(PRODUCT_TEXT_(".sync.aligned." shape, count, S_##count, tail) : R_##count(c, 0) : "l"(a), "l"(b), "r"(add)); \
  }
/// The first operand in registers.
#define FRAGMENT_PRODUCT(name, count, shape, tail) \
  __device__ __forceinline__ void name(float (&d)[count], const uint32_t (&a)[4], uint64_t b, int add = 1) { \
    asm volatile(PRODUCT_TEXT_(".sync.aligned." shape, count, F_##count, tail) : R_##count("+f", 0) \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)); \
  }
SHARED_PRODUCT(multiply16, float, "+f", 8, "m64n16k16.f32.bf16.bf16", ", 1, 1, 0, 0")
SHARED_PRODUCT(multiply64, float, "+f", 32, "m64n64k16.f32.bf16.bf16", ", 1, 1, 0, 0")
SHARED_PRODUCT(multiply128, float, "+f", 64, "m64n128k16.f32.bf16.bf16", ", 1, 1, 0, 0")
SHARED_PRODUCT(multiply256, float, "+f", 128, "m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 0")
SHARED_PRODUCT(multiply_tf32, float, "+f", 64, "m64n128k8.f32.tf32.tf32", ", 1, 1")
SHARED_PRODUCT(multiply_fp8, float, "+f", 64, "m64n128k32.f32.e4m3.e4m3", ", 1, 1")
SHARED_PRODUCT(multiply_int8, int, "+r", 64, "m64n128k32.s32.s8.s8", "")
FRAGMENT_PRODUCT(multiply_fragment128, 64, "m64n128k16.f32.bf16.bf16", ", 1, 1, 0")
FRAGMENT_PRODUCT(multiply_fragment64_t, 32, "m64n64k16.f32.bf16.bf16", ", 1, 1, 1")
FRAGMENT_PRODUCT(multiply_fragment128_t, 64, "m64n128k16.f32.bf16.bf16", ", 1, 1, 1")
__device__ __forceinline__ void multiply_sparse(float (&d)[64], uint64_t a, uint64_t b, uint32_t meta) {
  asm volatile("wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.bf16.bf16 {" T_64 "}, %64, %65, %66, 0, 1, 1, 1, 0, 0;"
               : R_64("+f", 0) : "l"(a), "l"(b), "r"(meta));
}
// clang-format on

/// Two sums as a pair of bfloat16, the first in the low half.
__device__ __forceinline__ uint32_t pair_of(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const uint32_t&>(pair);
}

// --- warp-specialised kernels --------------------------------------------------------------------------------------------------------
constexpr int kSide = 128, kTile = kSide * 128;  // bytes of a tile

template <int kStages>
struct Ring {
  uint64_t full[kStages], empty[kStages];
  __device__ void start(int consumers) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) init(&full[s], 1), init(&empty[s], consumers);
      fence_init();
    }
    __syncthreads();
  }
};

template <int kStages>
struct Turn {
  int place = 0;
  uint32_t parity = 0;
  __device__ void next() {
    if (++place == kStages) place = 0, parity ^= 1;
  }
};

constexpr int kStages = 4;

__device__ __forceinline__ void few_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); }
__device__ __forceinline__ void many_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 232;"); }

/// Four products of one stage, 32 bytes of depth each.
template <typename Sums, typename Multiply>
__device__ __forceinline__ void multiply_stage(Sums& sums, uint64_t a, uint64_t b, const Multiply& multiply) {
  products_begin();
#pragma unroll
  for (int k = 0; k < 4; ++k) multiply(sums, a + 2 * k, b + 2 * k, k);
  products_commit();
}

template <typename T>
__device__ __forceinline__ void store_sums(const T (&d)[64], T* c, int columns, int row0, int column0) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  T* to = c + static_cast<size_t>(row0 + warp * 16 + lane / 4) * columns + column0 + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    to[8 * j] = d[4 * j], to[8 * j + 1] = d[4 * j + 1];
    to[8 * static_cast<size_t>(columns) + 8 * j] = d[4 * j + 2],
                                              to[8 * static_cast<size_t>(columns) + 8 * j + 1] = d[4 * j + 3];
  }
}

// --- host ------------------------------------------------------------------------------------------------------------------------------
/// A number of -1 to 1 by place, as every type keeps it exactly: multiples of 1/8.
__host__ __device__ inline float value_of(size_t i, unsigned seed) {
  const unsigned bits = (static_cast<unsigned>(i) * 2654435761u ^ seed * 40503u) * 2246822519u;
  return static_cast<float>(static_cast<int>(bits >> 28) - 8) / 8.0f;
}

template <typename T>
struct Data {
  T* device = nullptr;
  std::vector<float> host;
  Data(size_t count, unsigned seed, bool zero = false) : host(count) {
    std::vector<T> values(count);
    for (size_t i = 0; i < count; ++i)
      host[i] = zero ? 0.0f : value_of(i, seed),
      values[i] = static_cast<T>(host[i] * (std::is_integral_v<T> ? 8 : 1));
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemcpy(device, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> back() const {
    std::vector<T> values(host.size());
    CHECK(cudaMemcpy(values.data(), device, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

template <typename Function>
Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult state;
  CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &state));
  return reinterpret_cast<Function>(found);
}

/// rows x columns of `bytes` each, in boxes of `box_rows` x 128 swizzled bytes (or `box_columns` and no swizzle).
inline CUtensorMap matrix_map(CUtensorMapDataType type, int bytes, void* data, int rows, int columns,
                              int box_rows, int box_columns = 0) {
  CUtensorMap map;
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[1] = {static_cast<cuuint64_t>(columns) * bytes};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns ? box_columns : 128 / bytes),
                             static_cast<cuuint32_t>(box_rows)},
                   step[2] = {1, 1};
  const auto encode = driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  if (encode(&map, type, 2, data, sizes, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
             box_columns ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    std::fprintf(stderr, "cuTensorMapEncodeTiled failed\n"), std::exit(1);
  return map;
}

template <typename Kernel>
void allow(Kernel kernel, int bytes) {
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

inline int sm_count() {
  int count = 0;
  CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

/// Prints right or WRONG: `count` places are compared, those that `wanted(place)` computes.
template <typename Got, typename Wanted>
int compare(const char* name, size_t count, size_t stride, const Got& got, const Wanted& wanted,
            double tolerance) {
  double worst = 0;
  size_t compared = 0;
  for (size_t i = 0; i < count; i += stride, ++compared) {
    const double difference = std::fabs(static_cast<double>(got(i)) - wanted(i));
    worst = difference >= worst || std::isnan(difference) ? difference : worst;
  }
  const bool good = worst <= tolerance;
  std::printf("%s: %s, largest difference %.3g of %zu\n", name, good ? "right" : "WRONG", worst, compared);
  return good ? 0 : 1;
}
