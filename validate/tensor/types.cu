// C = A B' of several types by a warp-specialised kernel with one tile a block: plain (bfloat16), tf32, int8, fp8 (a scale a row and 128
// columns of depth), mixed (A int8, turned into fragments), sparse (2 of 4 of A) and skinny (16 columns, as a step of decoding has them).
//
//   nvcc -std=c++17 -cudart shared -gencode arch=compute_90a,code=sm_90a -o types types.cu
//   ./types WAY ROWS COLUMNS DEPTH
#include "hopper.cuh"

namespace {

using bf16 = __nv_bfloat16;

// --- types ---------------------------------------------------------------------------------------------------------------------------
enum class Kind { plain, tf32, int8, fp8, mixed, sparse, skinny };

template <Kind kKind>
constexpr int kBytesOfA = kKind == Kind::mixed ? kTile / 2 : kTile;
template <Kind kKind>
constexpr int kBytesOfB = kKind == Kind::sparse   ? 2 * kTile
                          : kKind == Kind::skinny ? kTile / 8
                                                  : kTile;

/// scales: fp8: of a row and step; meta: sparse: of a row and 16 columns of A.
template <Kind kKind, typename T>
__global__ void __launch_bounds__(384)
    typed(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, T* c,
          int columns, int steps, const float* scales, const uint16_t* meta) {
  constexpr int kA = kBytesOfA<kKind>, kBytes = kA + kBytesOfB<kKind>;
  constexpr int kElements = kKind == Kind::tf32                         ? 32
                            : kKind == Kind::int8 || kKind == Kind::fp8 ? 128
                                                                        : 64;  // of A a step
  __shared__ Ring<kStages> ring;
  unsigned char* memory = aligned_memory();
  ring.start(2);
  Turn<kStages> turn;
  const int group = threadIdx.x / 128 - 1;
  constexpr int kColumns = kKind == Kind::skinny ? 16 : kSide;
  if (group < 0) {
    few_registers();
    if (threadIdx.x != 0) return;
    for (int step = 0; step < steps; ++step, turn.next()) {
      unsigned char* stage = memory + turn.place * kBytes;
      wait(&ring.empty[turn.place], turn.parity ^ 1);
      expect(&ring.full[turn.place], kBytes);
      copy2(stage, &map_a, &ring.full[turn.place], step * kElements, blockIdx.y * kSide);
      copy2(stage + kA, &map_b, &ring.full[turn.place], step * kElements * (kKind == Kind::sparse ? 2 : 1),
            blockIdx.x * kColumns);
      if (kKind == Kind::sparse)
        copy2(stage + kA + kTile, &map_b, &ring.full[turn.place], step * 128 + 64, blockIdx.x * kColumns);
    }
    return;
  }
  many_registers();
  T sums[kKind == Kind::skinny ? 8 : 64];
  float part[kKind == Kind::fp8 ? 64 : 4];
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32,
            row = blockIdx.y * kSide + group * 64 + warp * 16 + lane / 4;
  for (auto& x : sums) x = 0;
  for (int step = 0; step < steps; ++step, turn.next()) {
    wait(&ring.full[turn.place], turn.parity);
    unsigned char* stage = memory + turn.place * kBytes;
    const uint64_t a = descriptor(stage + group * kA / 2), b = descriptor(stage + kA);
    if constexpr (kKind == Kind::mixed) {
      uint32_t fragment[4][4];
      const unsigned char* from = stage + (group * 64 + warp * 16 + lane / 4) * 64 + lane % 4 * 2;
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const auto two = *reinterpret_cast<const char2*>(from + i % 2 * 512 + i / 4 * 16 + i / 2 % 2 * 8);
        fragment[i / 4][i % 4] = pair_of(static_cast<float>(two.x), static_cast<float>(two.y));
      }
      multiply_stage(sums, a, b, [&](auto& d, uint64_t, uint64_t at, int k) {
        multiply_fragment128(d, fragment[k], at);
      });
    } else if constexpr (kKind == Kind::sparse) {
      uint32_t of[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const uint16_t* from = meta + (static_cast<size_t>(row) * steps + step) * 8 + k * 2 + lane % 2;
        of[k] = from[0] | static_cast<uint32_t>(from[static_cast<size_t>(8) * steps * 8]) << 16;
      }
      products_begin();
#pragma unroll
      for (int k = 0; k < 4; ++k)
        multiply_sparse(sums, a + 2 * k, descriptor(stage + kA + k / 2 * kTile) + 4 * (k % 2), of[k]);
      products_commit();
    } else if constexpr (kKind == Kind::fp8) {
      multiply_stage(part, a, b,
                     [&](auto& d, uint64_t x, uint64_t y, int k) { multiply_fp8(d, x, y, k > 0); });
    } else {
      multiply_stage(sums, a, b, [&](auto& d, uint64_t x, uint64_t y, int) {
        if constexpr (kKind == Kind::tf32) multiply_tf32(d, x, y);
        if constexpr (kKind == Kind::int8) multiply_int8(d, x, y);
        if constexpr (kKind == Kind::plain) multiply128(d, x, y);
        if constexpr (kKind == Kind::skinny) multiply16(d, x, y);
      });
    }
    products_wait<0>();
    if (threadIdx.x % 128 == 0) arrive(&ring.empty[turn.place]);
    if constexpr (kKind == Kind::fp8) {
      keep(part);
      const float upper = scales[static_cast<size_t>(row) * steps + step],
                  lower = scales[static_cast<size_t>(row + 8) * steps + step];
#pragma unroll
      for (int i = 0; i < 64; ++i) sums[i] += part[i] * (i / 2 % 2 ? lower : upper);
    }
  }
  keep(sums);
  if constexpr (kKind == Kind::skinny) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      c[static_cast<size_t>(row + i / 2 % 2 * 8) * columns + blockIdx.x * 16 + i / 4 * 8 + lane % 4 * 2 +
        i % 2] = sums[i];
  } else {
    store_sums(sums, c, columns, blockIdx.y * kSide + group * 64, blockIdx.x * kSide);
  }
}

template <Kind kKind, typename Input, typename T>
int run_typed(const char* name, int rows, int columns, int depth, CUtensorMapDataType type) {
  constexpr bool kSparse = kKind == Kind::sparse, kMixed = kKind == Kind::mixed;
  using Left = std::conditional_t<kMixed, signed char, Input>;
  const int stored = kSparse ? depth / 2 : depth, bytes = sizeof(Input);
  Data<Left> a(static_cast<size_t>(rows) * stored, 1);
  Data<Input> b(static_cast<size_t>(columns) * depth, 2);
  Data<T> c(static_cast<size_t>(rows) * columns, 0, true);
  const int steps = depth / (kKind == Kind::tf32 ? 32 : bytes == 1 || kSparse ? 128 : 64);
  Data<float> scales(static_cast<size_t>(rows) * steps, 3);
  std::vector<uint16_t> meta(static_cast<size_t>(rows) * depth / 16);
  for (size_t i = 0; i < meta.size(); ++i) {
    const int pairs[6] = {4, 8, 12, 9, 13, 14};  // two ascending places of four
    for (int k = 0; k < 4; ++k)
      meta[i] = static_cast<uint16_t>(meta[i] | pairs[(i * 7 + k * 5 + i / 11) % 6] << 4 * k);
  }
  uint16_t* meta_device;
  CHECK(cudaMalloc(&meta_device, meta.size() * 2));
  CHECK(cudaMemcpy(meta_device, meta.data(), meta.size() * 2, cudaMemcpyHostToDevice));
  const CUtensorMap map_a =
      kMixed ? matrix_map(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, a.device, rows, depth, kSide, 64)
             : matrix_map(type, bytes, a.device, rows, stored, kSide);
  const CUtensorMap map_b =
      matrix_map(type, bytes, b.device, columns, depth, kKind == Kind::skinny ? 16 : kSide);
  const auto kernel = typed<kKind, T>;
  const int memory = 1024 + kStages * (kBytesOfA<kKind> + kBytesOfB<kKind>);
  allow(kernel, memory);
  kernel<<<dim3(columns / (kKind == Kind::skinny ? 16 : kSide), rows / kSide), 384, memory>>>(
      map_a, map_b, c.device, columns, steps, scales.device, meta_device);
  CHECK(cudaDeviceSynchronize());
  const auto got = c.back();
  const double factor = kKind == Kind::int8 ? 64 : kMixed ? 8 : 1;
  return compare(
      name, got.size(), 1 + got.size() / 4096, [&](size_t i) { return got[i]; },
      [&](size_t i) {
        const size_t row = i / columns, column = i % columns;
        double sum = 0;
        for (int k = 0; k < depth; ++k) {
          double left;
          if (kSparse) {
            const unsigned places = meta[(row * depth + k) / 16] >> k % 16 / 4 * 4 & 15, place = k % 4;
            const size_t at = row * stored + k / 4 * 2;
            left = (places & 3) == place ? a.host[at] : places >> 2 == place ? a.host[at + 1] : 0.0;
          } else {
            left = a.host[row * depth + k];
          }
          sum += left * b.host[column * depth + k] *
                 (kKind == Kind::fp8 ? scales.host[row * steps + k / 128] : 1.0);
        }
        return sum * factor;
      },
      kKind == Kind::fp8 ? 0.05 * std::sqrt(depth / 128.0) : 0.0);
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return std::fprintf(stderr, "expected WAY ROWS COLUMNS DEPTH\n"), 2;
  const char* way = words[1];
  const int rows = std::atoi(words[2]), columns = std::atoi(words[3]), depth = std::atoi(words[4]);
  const auto is = [&](const char* name) { return std::strcmp(way, name) == 0; };
  const CUtensorMapDataType half = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, byte = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  if (is("plain")) return run_typed<Kind::plain, bf16, float>(way, rows, columns, depth, half);
  if (is("tf32"))
    return run_typed<Kind::tf32, float, float>(way, rows, columns, depth, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  if (is("int8")) return run_typed<Kind::int8, signed char, int>(way, rows, columns, depth, byte);
  if (is("fp8")) return run_typed<Kind::fp8, __nv_fp8_e4m3, float>(way, rows, columns, depth, byte);
  if (is("mixed")) return run_typed<Kind::mixed, bf16, float>(way, rows, columns, depth, half);
  if (is("sparse")) return run_typed<Kind::sparse, bf16, float>(way, rows, columns, depth, half);
  if (is("skinny")) return run_typed<Kind::skinny, bf16, float>(way, rows, columns, depth, half);
  return std::fprintf(stderr, "%s: unknown way\n", way), 2;
}
