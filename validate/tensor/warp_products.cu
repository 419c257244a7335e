// Products of single warps (mma.sync) without bulk tensor copies or warp groups, as they are written for every chip since sm_80.
//   tf32         128 x 128 a block of 8 warps, three stages by cp.async, C = A B' + C / 2 in float: tf32 ROWS COLUMNS DEPTH
//   skinny       16 rows against many columns, weights straight from global memory to registers: skinny COLUMNS DEPTH
//   convolution  3 x 3, every second pixel, half, zeros outside by cp.async: convolution IMAGES SIZE CHANNELS
//   pointwise    1 x 1, the same kernel: pointwise IMAGES SIZE CHANNELS
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o warp_products warp_products.cu
//   ./warp_products WAY SIZES
#include "warps.cuh"

namespace {

constexpr int kAhead = 3;

// --- tf32 ----------------------------------------------------------------------------------------------------------------------------
/// Stresses ldmatrix of 4-byte elements and products with half the depth, two blocks an SM, and an epilogue that reads what it writes.
__global__ void __launch_bounds__(256, 2)
    tf32(const float* a, const float* b, float* c, int columns, int depth) {
  constexpr int kBytes = 2 * kTile;
  unsigned char* memory = aligned_memory();
  const int thread = threadIdx.x, lane = thread % 32, row0 = thread / 128 * 64,
            column0 = thread / 32 % 4 * 32, steps = depth / 32;
  const float* from_a = a + static_cast<size_t>(blockIdx.y * kSide + thread / 8) * depth + thread % 8 * 4;
  const float* from_b = b + static_cast<size_t>(blockIdx.x * kSide + thread / 8) * depth + thread % 8 * 4;
  const auto fetch = [&](int step) {
    if (step < steps) {
      const uint32_t to = shared_place(memory + step % kAhead * kBytes) + swizzled(thread / 8, thread % 8);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        copy16(to + i * 4096, from_a + static_cast<size_t>(i * 32) * depth + step * 32);
        copy16(to + kTile + i * 4096, from_b + static_cast<size_t>(i * 32) * depth + step * 32);
      }
    }
    copies_commit();
  };
  for (int step = 0; step < kAhead - 1; ++step) fetch(step);
  float sums[4][4][4] = {};
  for (int step = 0; step < steps; ++step) {
    copies_wait<kAhead - 2>();
    __syncthreads();
    fetch(step + kAhead - 1);
    const uint32_t stage = shared_place(memory + step % kAhead * kBytes);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      uint32_t left[4][4], right[2][4];
#pragma unroll
      for (int m = 0; m < 4; ++m) fragment_a(left[m], stage, row0 + m * 16, 2 * k);
#pragma unroll
      for (int n = 0; n < 2; ++n) fragment_b(right[n], stage + kTile, column0 + n * 16, 2 * k);
#pragma unroll
      for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int n = 0; n < 4; ++n)
          mma_tf32(sums[m][n], left[m], right[n / 2][n % 2 * 2], right[n / 2][n % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int m = i / 8, n = i / 2 % 4, half = i % 2;
    float2* to = reinterpret_cast<float2*>(
        c + static_cast<size_t>(blockIdx.y * kSide + row0 + m * 16 + lane / 4 + half * 8) * columns +
        blockIdx.x * kSide + column0 + n * 8 + lane % 4 * 2);
    const float2 old = *to;
    *to = make_float2(sums[m][n][2 * half] + 0.5f * old.x, sums[m][n][2 * half + 1] + 0.5f * old.y);
  }
}

int run_tf32(int rows, int columns, int depth) {
  Data<float> a(static_cast<size_t>(rows) * depth, 1), b(static_cast<size_t>(columns) * depth, 2),
      c(static_cast<size_t>(rows) * columns, 3);
  constexpr int kMemory = 1024 + kAhead * 2 * kTile;
  allow(tf32, kMemory);
  tf32<<<dim3(columns / kSide, rows / kSide), 256, kMemory>>>(a.device, b.device, c.device, columns, depth);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  return near(
      "tf32", got.size(), 4096, [&](size_t i) { return got[i]; },
      [&](size_t i) {
        return dot(&a.host[i / columns * depth], 1, &b.host[i % columns * depth], 1, depth) + c.host[i] / 2;
      },
      0.0);
}

// --- 16 rows -------------------------------------------------------------------------------------------------------------------------
/// Stresses memory: 8 warps divide the depth of 16 columns, each lane loads 16 bytes of a row and takes them as the operands of two
/// products (the order of the depth is the same in both operands, so it does not matter); the warps' sums meet in shared memory.
__global__ void __launch_bounds__(256)
    skinny(const bf16* x, const bf16* weights, const float* bias, bf16* out, int columns, int depth) {
  __shared__ float parts[8][16][17];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, column0 = blockIdx.x * 16;
  const size_t at = static_cast<size_t>(lane / 4) * depth + lane % 4 * 8;
  const bf16* left = x + at;
  const bf16* right = weights + static_cast<size_t>(column0) * depth + at;
  float sums[2][4] = {};
#pragma unroll 4
  for (int k = warp * 32; k < depth; k += 256) {
    uint4 rows[2], some[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      rows[i] = __ldg(reinterpret_cast<const uint4*>(left + static_cast<size_t>(i * 8) * depth + k));
      some[i] = __ldcs(reinterpret_cast<const uint4*>(right + static_cast<size_t>(i * 8) * depth + k));
    }
    const uint32_t first[4] = {rows[0].x, rows[1].x, rows[0].y, rows[1].y},
                   second[4] = {rows[0].z, rows[1].z, rows[0].w, rows[1].w};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      mma_bf16(sums[i], first, some[i].x, some[i].y);
      mma_bf16(sums[i], second, some[i].z, some[i].w);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
    parts[warp][lane / 4 + i / 2 % 2 * 8][i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i / 4][i % 4];
  __syncthreads();
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  float sum = bias[column0 + column];
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += parts[i][row][column];
  out[static_cast<size_t>(row) * columns + column0 + column] = __float2bfloat16(sum);
}

int run_skinny(int columns, int depth) {
  Data<bf16> x(static_cast<size_t>(16) * depth, 1), weights(static_cast<size_t>(columns) * depth, 2);
  Data<float> bias(columns, 3);
  Results<bf16> out(static_cast<size_t>(16) * columns);
  skinny<<<columns / 16, 256>>>(x.device, weights.device, bias.device, out.device, columns, depth);
  CHECK(cudaDeviceSynchronize());
  const auto got = out.back();
  return near(
      "skinny", out.count, 4096, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        return dot(&x.host[i / columns * depth], 1, &weights.host[i % columns * depth], 1, depth) +
               bias.host[i % columns];
      },
      0.004);
}

// --- convolutions --------------------------------------------------------------------------------------------------------------------
/// Stresses addresses made by threads: 128 pixels that come out and 64 channels a block of 4 warps, 64 channels of depth a step; as many
/// channels go in as come out, a negative result becomes 0.
template <int kFilter, int kStride>
__global__ void __launch_bounds__(128)
    convolution(const __half* image, const __half* filter, __half* out, int size, int channels) {
  constexpr int kBytes = kTile + 8192, kEdge = kFilter / 2;
  unsigned char* memory = aligned_memory();
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, parts = channels / 64,
            steps = kFilter * kFilter * parts, side = size / kStride, chunk = thread % 8;
  int corner_x[8], corner_y[8];
  const __half* from[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int pixel = blockIdx.y * kSide + thread / 8 + i * 16;
    corner_x[i] = pixel % side * kStride - kEdge, corner_y[i] = pixel / side % side * kStride - kEdge;
    from[i] = image + static_cast<size_t>(pixel / side / side) * size * size * channels + chunk * 8;
  }
  const __half* weights =
      filter + static_cast<size_t>(blockIdx.x * 64 + thread / 8) * kFilter * kFilter * channels + chunk * 8;
  const auto fetch = [&](int step) {
    if (step < steps) {
      const uint32_t to = shared_place(memory + step % kAhead * kBytes) + swizzled(thread / 8, chunk);
      const int place = step / parts, part = step % parts * 64;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int x = corner_x[i] + place % kFilter, y = corner_y[i] + place / kFilter;
        const bool inside = x >= 0 && y >= 0 && x < size && y < size;
        copy16(to + i * 2048, from[i] + (inside ? (y * size + x) * channels + part : 0), inside);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        copy16(to + kTile + i * 2048, weights + static_cast<size_t>(i * 16) * kFilter * kFilter * channels +
                                          place * channels + part);
    }
    copies_commit();
  };
  for (int step = 0; step < kAhead - 1; ++step) fetch(step);
  float sums[2][8][4] = {};
  for (int step = 0; step < steps; ++step) {
    copies_wait<kAhead - 2>();
    __syncthreads();
    fetch(step + kAhead - 1);
    const uint32_t stage = shared_place(memory + step % kAhead * kBytes);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      uint32_t left[2][4], right[4][4];
#pragma unroll
      for (int m = 0; m < 2; ++m) fragment_a(left[m], stage, warp * 32 + m * 16, 2 * k);
#pragma unroll
      for (int n = 0; n < 4; ++n) fragment_b(right[n], stage + kTile, n * 16, 2 * k);
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int n = 0; n < 8; ++n)
          mma_half(sums[m][n], left[m], right[n / 2][n % 2 * 2], right[n / 2][n % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int m = i / 16, n = i / 2 % 8, half = i % 2;
    *reinterpret_cast<__half2*>(
        out + static_cast<size_t>(blockIdx.y * kSide + warp * 32 + m * 16 + lane / 4 + half * 8) * channels +
        blockIdx.x * 64 + n * 8 + lane % 4 * 2) =
        __floats2half2_rn(fmaxf(sums[m][n][2 * half], 0.0f), fmaxf(sums[m][n][2 * half + 1], 0.0f));
  }
}

template <int kFilter, int kStride>
int run_convolution(const char* way, int images, int size, int channels) {
  const int side = size / kStride, pixels = images * side * side;
  Data<__half> image(static_cast<size_t>(images) * size * size * channels, 1),
      filter(static_cast<size_t>(channels) * kFilter * kFilter * channels, 2);
  Results<__half> out(static_cast<size_t>(pixels) * channels);
  constexpr int kMemory = 1024 + kAhead * (kTile + 8192);
  allow(convolution<kFilter, kStride>, kMemory);
  convolution<kFilter, kStride><<<dim3(channels / 64, pixels / kSide), 128, kMemory>>>(
      image.device, filter.device, out.device, size, channels);
  CHECK(cudaDeviceSynchronize());
  const auto got = out.back();
  return near(
      way, out.count, 2048, [&](size_t i) { return static_cast<float>(got[i]); },
      [&](size_t i) {
        const int pixel = static_cast<int>(i / channels), n = pixel / side / side;
        double sum = 0;
        for (int place = 0; place < kFilter * kFilter; ++place) {
          const int x = pixel % side * kStride + place % kFilter - kFilter / 2,
                    y = pixel / side % side * kStride + place / kFilter - kFilter / 2;
          if (x < 0 || y < 0 || x >= size || y >= size) continue;
          sum += dot(&image.host[(static_cast<size_t>(n * size + y) * size + x) * channels], 1,
                     &filter.host[(i % channels * kFilter * kFilter + place) * channels], 1, channels);
        }
        return std::fmax(sum, 0.0);
      },
      0.0006);
}

}  // namespace

int main(int count, char** words) {
  int sizes[3] = {};
  for (int i = 2; i < count && i < 5; ++i) sizes[i - 2] = std::atoi(words[i]);
  if (count == 5 && same(words[1], "tf32")) return run_tf32(sizes[0], sizes[1], sizes[2]);
  if (count == 4 && same(words[1], "skinny")) return run_skinny(sizes[0], sizes[1]);
  if (count == 5 && same(words[1], "convolution"))
    return run_convolution<3, 2>(words[1], sizes[0], sizes[1], sizes[2]);
  if (count == 5 && same(words[1], "pointwise"))
    return run_convolution<1, 1>(words[1], sizes[0], sizes[1], sizes[2]);
  return std::fprintf(stderr,
                      "expected tf32|convolution|pointwise and three sizes, or skinny COLUMNS DEPTH\n"),
         2;
}
