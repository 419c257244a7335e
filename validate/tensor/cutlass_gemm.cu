// D = A B with the CollectiveBuilder of CUTLASS 3, whose headers the wheel nvidia-cutlass brings: a warp-specialised product in half
// precision (ping-pong, tensor maps, clusters of two), checked on the host.
//
//   nvcc -std=c++17 -cudart shared --expt-relaxed-constexpr -gencode arch=compute_90a,code=sm_90a -I CUTLASS/include -I CUTLASS/tools/util/include -o cutlass_gemm cutlass_gemm.cu
//   ./cutlass_gemm [M N K]
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"

using namespace cute;
using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using BlockTile = Shape<_64, _128, _64>;
using Cluster = Shape<_2, _1, _1>;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, BlockTile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float, float,
    Row, 4, float, Row, 4, cutlass::epilogue::TmaWarpSpecialized>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Half, Row, 8, Half, Column, 8, float, BlockTile, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
    cutlass::gemm::KernelTmaWarpSpecializedPingpong>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

static void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  std::exit(1);
}

int main(int count, char** words) {
  const int m = count == 4 ? std::atoi(words[1]) : 256, n = count == 4 ? std::atoi(words[2]) : 256, k = count == 4 ? std::atoi(words[3]) : 192;
  std::vector<Half> a(size_t(m) * k), b(size_t(n) * k);
  for (size_t i = 0; i < a.size(); ++i) a[i] = Half(float(int(i * 2654435761u >> 24) % 17 - 8) / 8);
  for (size_t i = 0; i < b.size(); ++i) b[i] = Half(float(int(i * 2246822519u >> 24) % 13 - 6) / 8);
  Half *da, *db;
  float* dd;
  check(!cudaMalloc(&da, a.size() * 2) && !cudaMalloc(&db, b.size() * 2) && !cudaMalloc(&dd, size_t(m) * n * 4), "cudaMalloc");
  check(!cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice) && !cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice),
        "cudaMemcpy");
  const auto stride_a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1});
  const auto stride_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1});
  const auto stride_c = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, {m, n, 1});
  const auto stride_d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1});
  typename Gemm::Arguments arguments{
      cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k, 1}, {da, stride_a, db, stride_b}, {{1.0f, 0.0f}, dd, stride_c, dd, stride_d}};
  Gemm gemm;
  check(gemm.can_implement(arguments) == cutlass::Status::kSuccess, "can_implement");
  void* space = nullptr;
  if (const size_t bytes = Gemm::get_workspace_size(arguments)) check(!cudaMalloc(&space, bytes), "workspace");
  check(gemm.initialize(arguments, space) == cutlass::Status::kSuccess, "initialize");
  check(gemm.run() == cutlass::Status::kSuccess, "run");
  check(!cudaDeviceSynchronize(), "the kernel");
  std::vector<float> d(size_t(m) * n);
  check(!cudaMemcpy(d.data(), dd, d.size() * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
  double worst = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int x = 0; x < k; ++x) sum += double(float(a[size_t(i) * k + x])) * double(float(b[size_t(j) * k + x]));
      worst = std::fmax(worst, std::fabs(sum - d[size_t(i) * n + j]));
    }
  }
  std::printf("cutlass_gemm %d x %d x %d: %s, largest difference %.3g\n", m, n, k, worst < 1e-3 ? "right" : "WRONG", worst);
  return worst < 1e-3 ? 0 : 1;
}
