// C = A B' in bfloat16 with sums in single, on sm_90a: tiles of 128 x 128 by two warp groups, 64 deep, brought by bulk tensor copies
// (128-byte swizzle) and multiplied by wgmma.m64n128k16 straight from shared memory. A is rows x depth, B columns x depth, C rows x
// columns; sizes are multiples of 128 (depth: of 64). Three ways to overlap:
//   wgmma_single       one stage: copy, wait, multiply, and again
//   wgmma_stages       four stages; a thread of the multiplying groups keeps three copies on their way
//   wgmma_specialised  a third warp group copies (setmaxnreg gives its registers away), two multiply; full and empty barriers
//
// As a program it makes its own data, checks the result against a plain kernel and says so:
//   nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -o wgmma_product wgmma_product.cu
//   ./wgmma_product single|stages|specialised ROWS COLUMNS DEPTH
// Needs nothing but the runtime: the driver's encoder of tensor maps comes from cudaGetDriverEntryPoint.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define SIDE 128
#define DEEP 64
#define STAGES 4

struct Tiles {
  __nv_bfloat16 a[SIDE * DEEP];
  __nv_bfloat16 b[SIDE * DEEP];
};
constexpr unsigned kTileBytes = sizeof(Tiles);

__device__ unsigned shared_place(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void barrier_init(uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_place(barrier)), "r"(arrivals) : "memory");
}

__device__ void barrier_expect(uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_place(barrier)), "r"(bytes)
               : "memory");
}

__device__ void barrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_place(barrier)) : "memory");
}

__device__ void barrier_wait(uint64_t* barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra WAIT;\n}" ::"r"(shared_place(barrier)),
      "r"(parity)
      : "memory");
}

__device__ void copy_tile(void* to, const CUtensorMap* map, uint64_t* barrier, int depth, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared_place(to)),
      "l"(map), "r"(shared_place(barrier)), "r"(depth), "r"(row)
      : "memory");
}

__device__ void copy_stage(Tiles& stage, const CUtensorMap* map_a, const CUtensorMap* map_b, uint64_t* full, int depth) {
  barrier_expect(full, kTileBytes);
  copy_tile(stage.a, map_a, full, depth, blockIdx.y * SIDE);
  copy_tile(stage.b, map_b, full, depth, blockIdx.x * SIDE);
}

/// A K-major tile with rows of 128 swizzled bytes: eight rows lie 1024 bytes apart from the next eight.
__device__ uint64_t descriptor(const void* tile) {
  return (shared_place(tile) & 0x3ffff) >> 4 | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

#define FOUR(f, i) "+f"(f[i]), "+f"(f[i + 1]), "+f"(f[i + 2]), "+f"(f[i + 3])
#define SIXTEEN(f, i) FOUR(f, i), FOUR(f, i + 4), FOUR(f, i + 8), FOUR(f, i + 12)

__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, 1, 1, 1, 0, 0;"
      : SIXTEEN(d, 0), SIXTEEN(d, 16), SIXTEEN(d, 32), SIXTEEN(d, 48)
      : "l"(a), "l"(b));
}

/// One stage's products of this warp group's 64 rows; they are under way when it returns.
__device__ void multiply_stage(float (&sum)[64], const Tiles& stage, int group) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  const uint64_t a = descriptor(stage.a + group * 64 * DEEP), b = descriptor(stage.b);
#pragma unroll
  for (int k = 0; k < DEEP / 16; ++k) multiply(sum, a + 2 * k, b + 2 * k);  // 32 bytes further on
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Until all groups but the last have ended. The sums still belong to that one.
__device__ void wait_before_last() { asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); }

/// Until all have ended and the sums may be read.
__device__ void wait_products(float (&sum)[64]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}

__device__ void store(const float (&sum)[64], float* c, int columns, int group) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const int row = blockIdx.y * SIDE + group * 64 + warp * 16 + lane / 4;
  float* to = c + static_cast<size_t>(row) * columns + blockIdx.x * SIDE + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    *reinterpret_cast<float2*>(to + 8 * j) = make_float2(sum[4 * j], sum[4 * j + 1]);
    *reinterpret_cast<float2*>(to + 8 * static_cast<size_t>(columns) + 8 * j) =
        make_float2(sum[4 * j + 2], sum[4 * j + 3]);
  }
}

/// Dynamic shared memory begins at a multiple of 1024 bytes, as the swizzle asks.
__device__ Tiles* tiles_of(unsigned char* memory) {
  return reinterpret_cast<Tiles*>(memory + (1024 - shared_place(memory) % 1024) % 1024);
}

extern __shared__ unsigned char dynamic[];

extern "C" __global__ void __launch_bounds__(256)
    wgmma_single(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c, int columns,
                 int depth) {
  __shared__ uint64_t full;
  Tiles* tiles = tiles_of(dynamic);
  if (threadIdx.x == 0) {
    barrier_init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  float sum[64] = {};
  const int group = threadIdx.x / 128;
  for (int step = 0; step < depth / DEEP; ++step) {
    if (threadIdx.x == 0) copy_stage(tiles[0], &map_a, &map_b, &full, step * DEEP);
    barrier_wait(&full, step % 2);
    multiply_stage(sum, tiles[0], group);
    wait_products(sum);
    __syncthreads();
  }
  store(sum, c, columns, group);
}

extern "C" __global__ void __launch_bounds__(256)
    wgmma_stages(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c, int columns,
                 int depth) {
  __shared__ uint64_t full[STAGES];
  Tiles* tiles = tiles_of(dynamic);
  const int steps = depth / DEEP;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) barrier_init(&full[s], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int s = 0; s < STAGES - 1 && s < steps; ++s) copy_stage(tiles[s], &map_a, &map_b, &full[s], s * DEEP);
  }
  __syncthreads();
  float sum[64] = {};
  const int group = threadIdx.x / 128;
  int step = 0;
  do {  // depth is at least one stage
    barrier_wait(&full[step % STAGES], step / STAGES % 2);
    multiply_stage(sum, tiles[step % STAGES], group);
    wait_before_last();  // the step before is done: its stage may be filled again
    __syncthreads();
    const int next = step + STAGES - 1;
    if (threadIdx.x == 0 && next < steps) {
      copy_stage(tiles[next % STAGES], &map_a, &map_b, &full[next % STAGES], next * DEEP);
    }
  } while (++step < steps);
  wait_products(sum);
  store(sum, c, columns, group);
}

extern "C" __global__ void __launch_bounds__(384)
    wgmma_specialised(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* c,
                      int columns, int depth) {
  __shared__ uint64_t full[STAGES], empty[STAGES];
  Tiles* tiles = tiles_of(dynamic);
  const int steps = depth / DEEP;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int group = threadIdx.x / 128 - 1;
  if (group < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      for (int step = 0; step < steps; ++step) {
        const int stage = step % STAGES;
        if (step >= STAGES) barrier_wait(&empty[stage], (step / STAGES - 1) % 2);
        copy_stage(tiles[stage], &map_a, &map_b, &full[stage], step * DEEP);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float sum[64] = {};
    for (int step = 0; step < steps; ++step) {
      const int stage = step % STAGES;
      barrier_wait(&full[stage], step / STAGES % 2);
      multiply_stage(sum, tiles[stage], group);
      wait_before_last();
      if (step > 0 && threadIdx.x % 128 == 0) barrier_arrive(&empty[(step - 1) % STAGES]);
    }
    wait_products(sum);
    store(sum, c, columns, group);
  }
}

__global__ void plain_product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int columns, int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) {
    sum += __bfloat162float(a[static_cast<size_t>(row) * depth + k]) *
           __bfloat162float(b[static_cast<size_t>(column) * depth + k]);
  }
  c[static_cast<size_t>(row) * columns + column] = sum;
}

/// A number of -1 to 1 by place.
__global__ void fill(__nv_bfloat16* to, size_t count, unsigned seed) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += static_cast<size_t>(gridDim.x) * blockDim.x) {
    const unsigned bits = (static_cast<unsigned>(i) * 2654435761u ^ seed) * 2246822519u;
    to[i] = __float2bfloat16(static_cast<float>(bits >> 24) / 128.0f - 1.0f);
  }
}

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static CUtensorMap map_of(Encode encode, void* data, int rows, int depth) {
  CUtensorMap map;
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(depth), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[1] = {static_cast<cuuint64_t>(depth) * 2};
  const cuuint32_t box[2] = {DEEP, SIDE}, step[2] = {1, 1};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, pitch, box, step,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d\n", static_cast<int>(result));
    std::exit(1);
  }
  return map;
}

int main(int count, char** words) {
  if (count != 5) {
    std::fprintf(stderr, "expected single|stages|specialised ROWS COLUMNS DEPTH\n");
    return 2;
  }
  const int rows = std::atoi(words[2]), columns = std::atoi(words[3]), depth = std::atoi(words[4]);
  void* found = nullptr;
  cudaDriverEntryPointQueryResult state;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &state), "encoder");
  const auto encode = reinterpret_cast<Encode>(found);
  __nv_bfloat16 *a, *b;
  float *c, *wanted;
  check(cudaMalloc(&a, sizeof(*a) * rows * depth), "a");
  check(cudaMalloc(&b, sizeof(*b) * columns * depth), "b");
  check(cudaMalloc(&c, sizeof(*c) * rows * columns), "c");
  check(cudaMalloc(&wanted, sizeof(*wanted) * rows * columns), "wanted");
  fill<<<64, 256>>>(a, static_cast<size_t>(rows) * depth, 1);
  fill<<<64, 256>>>(b, static_cast<size_t>(columns) * depth, 2);
  const CUtensorMap map_a = map_of(encode, a, rows, depth), map_b = map_of(encode, b, columns, depth);
  const bool is_single = std::strcmp(words[1], "single") == 0, is_special = std::strcmp(words[1], "specialised") == 0;
  const auto kernel = is_single ? wgmma_single : is_special ? wgmma_specialised : wgmma_stages;
  const int bytes = 1024 + static_cast<int>(kTileBytes) * (is_single ? 1 : STAGES);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
  kernel<<<dim3(columns / SIDE, rows / SIDE), is_special ? 384 : 256, bytes>>>(map_a, map_b, c, columns, depth);
  check(cudaDeviceSynchronize(), words[1]);
  const int checked = rows < 256 ? rows : 256;  // rows compared: the plain kernel is slow
  plain_product<<<dim3(columns / 128, checked), 128>>>(a, b, wanted, columns, depth);
  std::vector<float> got(static_cast<size_t>(checked) * columns), right(got.size());
  check(cudaMemcpy(got.data(), c, got.size() * 4, cudaMemcpyDeviceToHost), "result");
  check(cudaMemcpy(right.data(), wanted, right.size() * 4, cudaMemcpyDeviceToHost), "plain result");
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::fmax(worst, std::fabs(static_cast<double>(got[i]) - right[i]));
  const bool good = worst <= 1e-3 * std::sqrt(static_cast<double>(depth));
  std::printf("%s %d x %d x %d: %s, largest difference %.3g\n", words[1], rows, columns, depth, good ? "right" : "WRONG",
              worst);
  return good ? 0 : 1;
}
