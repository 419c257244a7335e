// D = A B by the CollectiveBuilder of CUTLASS 3, whose headers the wheel nvidia-cutlass brings: warp-specialised products in ping-pong
// behind tensor maps, checked on the host. -DPRODUCT_... says which: F16, TF32, FP8 and SPARSE (2 of 4, F16) for
// sm_90a, NVFP4 for sm_120a.
//
//   ./cutlass [M N K]
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
#ifdef PRODUCT_SPARSE
#include "cutlass/transform/device/transform_universal_adapter.hpp"
#include "cutlass/transform/kernel/sparse_gemm_compressor.hpp"
#endif

using namespace cute;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Problem = Shape<int, int, int, int>;
namespace epilogue = cutlass::epilogue;
namespace gemm = cutlass::gemm;

#if defined(PRODUCT_TF32)
using Operand = cutlass::tfloat32_t;
using Stored = float;
using Class = cutlass::arch::OpClassTensorOp;
using BlockTile = Shape<_64, _128, _32>;
#elif defined(PRODUCT_FP8)
using Operand = cutlass::float_e4m3_t;
using Stored = Operand;
using Class = cutlass::arch::OpClassTensorOp;
using BlockTile = Shape<_64, _128, _128>;
#elif defined(PRODUCT_SPARSE)
using Operand = cutlass::half_t;
using Stored = Operand;
using Class = cutlass::arch::OpClassSparseTensorOp;
using BlockTile = Shape<_128, _128, _128>;
#elif defined(PRODUCT_NVFP4)
using Operand = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
using Stored = cutlass::float_e2m1_t;
using Class = cutlass::arch::OpClassBlockScaledTensorOp;
using BlockTile = Shape<_128, _128, _128>;
#else
using Operand = cutlass::half_t;
using Stored = Operand;
using Class = cutlass::arch::OpClassTensorOp;
using BlockTile = Shape<_64, _128, _64>;
#endif
#if defined(PRODUCT_NVFP4)
using Arch = cutlass::arch::Sm120;
using Cluster = Shape<_1, _1, _1>;
using Ends = epilogue::collective::EpilogueScheduleAuto;
constexpr int kAligned = 32;
#else
using Arch = cutlass::arch::Sm90;
using Cluster = Shape<_2, _1, _1>;
using Ends = epilogue::TmaWarpSpecialized;
constexpr int kAligned = 128 / cutlass::sizeof_bits<Operand>::value;
#endif

using Epilogue = epilogue::collective::CollectiveBuilder<Arch, Class, BlockTile, Cluster, epilogue::collective::EpilogueTileAuto, float, float,
                                                         float, Row, 4, float, Row, 4, Ends>::CollectiveOp;
using Mainloop = gemm::collective::CollectiveBuilder<
    Arch, Class, Operand, Row, kAligned, Operand, Column, kAligned, float, BlockTile, Cluster,
    gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
    gemm::KernelTmaWarpSpecializedPingpong>::CollectiveOp;
using Kernel = gemm::kernel::GemmUniversal<Problem, Mainloop, Epilogue>;
using Gemm = gemm::device::GemmUniversalAdapter<Kernel>;

static void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  std::exit(1);
}

template <typename T>
static T* on_device(const std::vector<T>& host) {
  T* device = nullptr;
  check(!cudaMalloc(&device, host.size() * sizeof(T)), "cudaMalloc");
  check(!cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  return device;
}

template <typename Operation, typename Arguments>
static void launch(Operation& operation, const Arguments& arguments, const char* what) {
  check(operation.can_implement(arguments) == cutlass::Status::kSuccess, what);
  void* space = nullptr;
  if (const size_t bytes = Operation::get_workspace_size(arguments)) check(!cudaMalloc(&space, bytes), "workspace");
  check(operation.initialize(arguments, space) == cutlass::Status::kSuccess, what);
  check(operation.run() == cutlass::Status::kSuccess, what);
  check(!cudaDeviceSynchronize(), what);
}

#ifdef PRODUCT_NVFP4
/// Rows of `depth` elements of 4 bits, and their scales where the layout wants them; `plain` gets their products.
template <typename Layout>
static void narrow(std::vector<float>& plain, int rows, int depth, unsigned seed, const Layout& layout, uint8_t*& packed,
                   cutlass::float_ue4m3_t*& scales) {
  const float values[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
  std::vector<uint8_t> bytes(plain.size() / 2);
  std::vector<cutlass::float_ue4m3_t> factors(size(filter_zeros(layout)), cutlass::float_ue4m3_t(0.0f));
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < depth; ++k) {
      const size_t place = size_t(r) * depth + k;
      const unsigned bits = unsigned(place * 2654435761u ^ seed) * 2246822519u >> 28;
      const float scale = float(1 + (r + k / 16 + seed) % 7) / 4;
      bytes[place / 2] |= uint8_t(bits << place % 2 * 4);
      factors[layout(r, k, 0)] = cutlass::float_ue4m3_t(scale);
      plain[place] = values[bits] * scale;
    }
  }
  packed = on_device(bytes), scales = on_device(factors);
}
#else
/// A number of -1 to 1 by its place, a multiple of 1/8, which all types but e2m1 hold.
static float value(size_t place, unsigned seed) { return float(int((place * 2654435761u ^ seed * 40503u) * 2246822519u >> 28 & 15) - 8) / 8; }
#endif

int main(int count, char** words) {
  const int m = count == 4 ? std::atoi(words[1]) : 256, n = count == 4 ? std::atoi(words[2]) : 256, k = count == 4 ? std::atoi(words[3]) : 256;
  const auto stride_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1});
  const auto stride_c = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, {m, n, 1});
  std::vector<float> a(size_t(m) * k), b(size_t(n) * k), d(size_t(m) * n);
  float* result = on_device(d);
#ifdef PRODUCT_NVFP4
  using Scales = typename Mainloop::Sm1xxBlkScaledConfig;
  const auto layout_a = Scales::tile_atom_to_shape_SFA(make_shape(m, n, k, 1));
  const auto layout_b = Scales::tile_atom_to_shape_SFB(make_shape(m, n, k, 1));
  uint8_t *packed_a, *packed_b;
  cutlass::float_ue4m3_t *scales_a, *scales_b;
  narrow(a, m, k, 1, layout_a, packed_a, scales_a);
  narrow(b, n, k, 2, layout_b, packed_b, scales_b);
  const typename Mainloop::Arguments operands{reinterpret_cast<typename Mainloop::ArrayElementA*>(packed_a),
                                              cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1}),
                                              reinterpret_cast<typename Mainloop::ArrayElementB*>(packed_b),
                                              stride_b,
                                              scales_a,
                                              layout_a,
                                              scales_b,
                                              layout_b};
#else
  std::vector<Stored> stored_a(a.size()), stored_b(b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = value(i, 1);
#ifdef PRODUCT_SPARSE  // two of four, neither of them zero
    a[i] = i % 4 == i / 4 % 3 || i % 4 == 3 ? (a[i] == 0 ? 1 : a[i]) : 0;
#endif
    stored_a[i] = Stored(a[i]);
  }
  for (size_t i = 0; i < b.size(); ++i) stored_b[i] = Stored(b[i] = value(i, 2));
  auto* device_a = on_device(stored_a);
  auto* device_b = reinterpret_cast<typename Kernel::ElementB*>(on_device(stored_b));
#ifdef PRODUCT_SPARSE
  using Config = typename Mainloop::SparseConfig;
  using Utility = cutlass::transform::kernel::StructuredSparseCompressorUtility<Problem, Operand, Row, Config>;
  using Compressor = cutlass::transform::device::TransformUniversalAdapter<
      cutlass::transform::kernel::StructuredSparseCompressor<Problem, Operand, Row, Config, cutlass::arch::Sm90>>;
  const Problem problem{m, n, k, 1};
  const auto stride_a = cutlass::make_cute_packed_stride(gemm::TagToStrideA_t<Row>{}, {m, k, 1});
  Utility utility(problem, stride_a);
  auto* compressed = on_device(std::vector<Operand>(size_t(m) * utility.get_tensorA_k_physical()));
  auto* chosen = on_device(std::vector<typename Mainloop::ElementE>(size_t(utility.get_metadata_m_physical()) * utility.get_metadata_k_physical()));
  Compressor compressor;
  launch(compressor, typename Compressor::Arguments{problem, {device_a, stride_a, compressed, chosen}, {}}, "the compressor");
  const typename Mainloop::Arguments operands{compressed, Config::fill_layoutA(problem), device_b, stride_b, chosen, Config::fill_layoutE(problem)};
#else
  const typename Mainloop::Arguments operands{reinterpret_cast<typename Kernel::ElementA*>(device_a),
                                              cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1}), device_b, stride_b};
#endif
#endif
  Gemm product;
  launch(product, typename Gemm::Arguments{gemm::GemmUniversalMode::kGemm, {m, n, k, 1}, operands, {{1.0f, 0.0f}, result, stride_c, result, stride_c}},
         "the product");
  check(!cudaMemcpy(d.data(), result, d.size() * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
  double worst = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int x = 0; x < k; ++x) sum += double(a[size_t(i) * k + x]) * double(b[size_t(j) * k + x]);
      worst = std::fmax(worst, std::fabs(sum - d[size_t(i) * n + j]));
    }
  }
  std::printf("%d x %d x %d: largest difference %.3g\n%s\n", m, n, k, worst, worst == 0 ? "ok" : "WRONG");
  return worst == 0 ? 0 : 1;
}
