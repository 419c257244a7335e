// A tensor map for pixels along one row of each image (cuTensorMapEncodeIm2colWide), and a copy by it.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int kChannels = 32, kColumns = 12, kRows = 3, kImages = 9, kPixels = 40, kHalo = 2;
constexpr int kBytes = (kPixels + kHalo) * kChannels * 2;

__global__ void copy(const __grid_constant__ CUtensorMap map, uint16_t* out) {
#if __CUDA_ARCH__ >= 1000
  __shared__ alignas(1024) uint16_t box[kBytes / 2];
  __shared__ uint64_t barrier;
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(box));
  const auto bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(kBytes));
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
        "%4, %5}], [%6], {%7, %8};" ::"r"(at),
        "l"(&map), "r"(0), "r"(-1), "r"(1), "r"(2), "r"(bar), "h"(static_cast<short>(kHalo)),
        "h"(static_cast<short>(1))
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(bar)
      : "memory");
  for (int i = threadIdx.x; i < kBytes / 2; i += blockDim.x) out[i] = box[i];
#endif
}

}  // namespace

int main() {
  std::vector<uint16_t> tensor(kImages * kRows * kColumns * kChannels), got(kBytes / 2);
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<uint16_t>(i * 7 + 3);
  uint16_t *in = nullptr, *out = nullptr;
  cudaMalloc(&in, tensor.size() * 2);
  cudaMalloc(&out, kBytes);
  cudaMemcpy(in, tensor.data(), tensor.size() * 2, cudaMemcpyHostToDevice);
  CUtensorMap map;
  const cuuint64_t dims[] = {kChannels, kColumns, kRows, kImages};
  const cuuint64_t strides[] = {kChannels * 2, kColumns * kChannels * 2, kRows * kColumns * kChannels * 2};
  const cuuint32_t steps[] = {1, 1, 1, 1};
  const auto encode = [&](int upper, CUtensorMapSwizzle swizzle) {
    return cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 4, in, dims, strides, -1, upper,
                                       kChannels, kPixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                       CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  std::printf("none %d, empty %d\n", encode(-1, CU_TENSOR_MAP_SWIZZLE_NONE), encode(-13, CU_TENSOR_MAP_SWIZZLE_64B));
  const CUresult made = encode(-1, CU_TENSOR_MAP_SWIZZLE_64B);
  std::printf("made %d\n", made);
  if (made != CUDA_SUCCESS) return 0;
  copy<<<1, 128>>>(map, out);
  cudaMemcpy(got.data(), out, kBytes, cudaMemcpyDeviceToHost);
  int wrong = 0, column = -1, image = 2;
  const auto check = [&](int pixel, int x) {
    for (int c = 0; c < kChannels; ++c) {
      const int inside = x >= 0 && x < kColumns && image < kImages;
      const int want = inside ? tensor[((image * kRows + 1) * kColumns + x) * kChannels + c] : 0;
      const int byte = pixel * 64 + c * 2;
      wrong += got[(byte ^ ((byte >> 7 & 3) << 4)) / 2] != want;
    }
  };
  for (int p = 0; p < kPixels; ++p) {
    check(p, column++ + 1);
    for (int i = 0; p == kPixels - 1 && i < kHalo; ++i) check(kPixels + i, column + i + 1);
    if (column < kColumns - 1) continue;
    column = -1;
    ++image;
  }
  std::printf("%d wrong, %s\n", wrong, cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
