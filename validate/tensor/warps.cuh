// What the programs of the second set share beside hopper.cuh: copies and products of single warps, transposed and wider products of warp
// groups, results through shared memory, maps of three dimensions, and a comparison relative to the size of what is wanted.
#pragma once

#include "hopper.cuh"

using bf16 = __nv_bfloat16;

// --- tiles of 128-byte rows, swizzled as bulk tensor copies swizzle them -------------------------------------------------------------
/// Where 16 bytes lie: chunk 0 to 7 of a row.
__device__ __forceinline__ uint32_t swizzled(int row, int chunk) {
  return static_cast<uint32_t>(row * 128 + (chunk ^ row % 8) * 16);
}
/// 16 bytes to shared memory, or as many zeros.
__device__ __forceinline__ void copy16(uint32_t to, const void* from, bool there = true) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void copies_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}
__device__ __forceinline__ void load_transposed(uint32_t (&r)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}
/// The first operand: 16 rows from `row` on, 32 bytes of depth from `chunk` on.
__device__ __forceinline__ void fragment_a(uint32_t (&r)[4], uint32_t tile, int row, int chunk) {
  const int lane = threadIdx.x % 32;
  load_matrices(r, tile + swizzled(row + lane % 16, chunk + lane / 16));
}
/// The second operand of two products, from rows that are its columns: 16 of them, 32 bytes of depth.
__device__ __forceinline__ void fragment_b(uint32_t (&r)[4], uint32_t tile, int row, int chunk) {
  const int lane = threadIdx.x % 32;
  load_matrices(r, tile + swizzled(row + lane % 8 + lane / 16 * 8, chunk + lane / 8 % 2));
}
/// The same from rows that are its depth: 16 of them, 16 columns from `chunk` on.
__device__ __forceinline__ void fragment_b_transposed(uint32_t (&r)[4], uint32_t tile, int row, int chunk) {
  const int lane = threadIdx.x % 32;
  load_transposed(r, tile + swizzled(row + lane % 16, chunk + lane / 16));
}

// --- products of a warp --------------------------------------------------------------------------------------------------------------
#define WARP_PRODUCT(name, shape)                                                                     \
  __device__ __forceinline__ void name(float(&d)[4], const uint32_t(&a)[4], uint32_t b, uint32_t c) { \
    asm("mma.sync.aligned." shape " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"            \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                              \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(c));                                \
  }
WARP_PRODUCT(mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
WARP_PRODUCT(mma_half, "m16n8k16.row.col.f32.f16.f16.f32")
WARP_PRODUCT(mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")

// --- more products of a warp group ---------------------------------------------------------------------------------------------------
// clang-format off
SHARED_PRODUCT(multiply128_tn, float, "+f", 64, "m64n128k16.f32.bf16.bf16", ", 1, 1, 1, 0")
SHARED_PRODUCT(multiply128_nt, float, "+f", 64, "m64n128k16.f32.bf16.bf16", ", 1, 1, 0, 1")
SHARED_PRODUCT(multiply128_tt, float, "+f", 64, "m64n128k16.f32.bf16.bf16", ", 1, 1, 1, 1")
SHARED_PRODUCT(multiply64_nt, float, "+f", 32, "m64n64k16.f32.bf16.bf16", ", 1, 1, 0, 1")
SHARED_PRODUCT(multiply64_tt, float, "+f", 32, "m64n64k16.f32.bf16.bf16", ", 1, 1, 1, 1")
SHARED_PRODUCT(multiply256_int8, int, "+r", 128, "m64n256k32.s32.s8.s8", "")
// clang-format on

/// keep() for sums that the compiler must not have moved to local memory on account of a loop of pointers.
template <int kCount>
__device__ __forceinline__ void hold(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
__device__ __forceinline__ bool leads() { return threadIdx.x % 128 == 0; }

/// The steps of a consumer with one step of products always under way: a stage is given back when the next one's products are issued.
template <int kDepth, typename Multiply>
__device__ __forceinline__ void consume(Ring<kDepth>& ring, Turn<kDepth>& turn, int steps,
                                        const Multiply& multiply) {
  int last = 0;
  for (int step = 0; step < steps; ++step, turn.next()) {
    wait(&ring.full[turn.place], turn.parity);
    products_begin();
    multiply(turn.place, step);
    products_commit();
    products_wait<1>();
    if (step > 0 && leads()) arrive(&ring.empty[last]);
    last = turn.place;
  }
  products_wait<0>();
  if (leads()) arrive(&ring.empty[last]);
}

/// Sums of a warp group as pairs of 16 bits to boxes of 64 rows of 128 bytes; `pair(i)` packs sums i and i + 1.
template <int kCount, typename Pair>
__device__ __forceinline__ void put_boxes(unsigned char* boxes, const Pair& pair) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const uint32_t to = shared_place(boxes);
#pragma unroll
  for (int j = 0; j < kCount / 4; j += 2)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     to + j / 8 * 8192 + swizzled(warp * 16 + lane % 16, j % 8 + lane / 16)),
                 "r"(pair(4 * j)), "r"(pair(4 * j + 2)), "r"(pair(4 * j + 4)), "r"(pair(4 * j + 6))
                 : "memory");
}

__device__ __forceinline__ void store3(const CUtensorMap* map, const void* from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(shared_place(from)), "r"(x), "r"(y), "r"(z)
               : "memory");
}
__device__ __forceinline__ void stores_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
/// x over 1 + exp(-y).
__device__ __forceinline__ float gated(float x, float y) { return __fdividef(x, 1.0f + __expf(-y)); }
/// GELU by its tanh form.
__device__ __forceinline__ float gelu_of(float x) {
  return gated(x, 1.5957691216f * (x + 0.044715f * x * x * x));
}

// --- host ----------------------------------------------------------------------------------------------------------------------------
/// Device memory for results, all zero.
template <typename T>
struct Results {
  T* device = nullptr;
  size_t count;
  explicit Results(size_t size) : count(size) {
    CHECK(cudaMalloc(&device, count * sizeof(T)));
    CHECK(cudaMemset(device, 0, count * sizeof(T)));
  }
  std::vector<T> back() const {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

/// A dense volume, x fastest, in swizzled boxes whose x is 128 bytes.
inline CUtensorMap volume_map(CUtensorMapDataType type, int bytes, void* data, int x, int y, int z, int box_y,
                              int box_z) {
  CUtensorMap map;
  const cuuint64_t sizes[3] = {static_cast<cuuint64_t>(x), static_cast<cuuint64_t>(y),
                               static_cast<cuuint64_t>(z)};
  const cuuint64_t pitch[2] = {sizes[0] * bytes, sizes[0] * bytes * sizes[1]};
  const cuuint32_t box[3] = {static_cast<cuuint32_t>(128 / bytes), static_cast<cuuint32_t>(box_y),
                             static_cast<cuuint32_t>(box_z)},
                   step[3] = {1, 1, 1};
  const auto encode = driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  if (encode(&map, type, 3, data, sizes, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    std::fprintf(stderr, "cuTensorMapEncodeTiled failed\n"), std::exit(1);
  return map;
}

/// compare(), differences divided by 1 + |wanted|, at about `samples` places.
template <typename Got, typename Wanted>
int near(const char* name, size_t count, size_t samples, const Got& got, const Wanted& wanted,
         double tolerance) {
  return compare(
      name, count, 1 + count / samples,
      [&](size_t i) {
        const double right = wanted(i);
        return (static_cast<double>(got(i)) - right) / (1 + std::fabs(right));
      },
      [](size_t) { return 0.0; }, tolerance);
}

/// A row times a row, `step` apart in both when they are columns.
inline double dot(const float* a, size_t step_a, const float* b, size_t step_b, int depth) {
  double sum = 0;
  for (int k = 0; k < depth; ++k) sum += static_cast<double>(a[k * step_a]) * b[k * step_b];
  return sum;
}

inline bool same(const char* a, const char* b) { return std::strcmp(a, b) == 0; }
