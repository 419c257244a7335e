// Eigen, or arithmetic written another way, holds the CPU references: they are what everything else is compared with.
#include "validate/kernels/references.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace foretrace::references {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Bytes = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, 1>;

template <typename T>
ArgumentView view(std::vector<T>& values) {
  return {values.data(), values.size() * sizeof(T)};
}
ArgumentView view(Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(float)};
}
ArgumentView view(std::int32_t& value) { return {&value, sizeof(value)}; }

Matrix random_matrix(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  return Matrix::NullaryExpr(rows, cols, [&]() { return uniform(generator); });
}

void run(const char* name, const std::vector<ArgumentView>& arguments, Dim3 grid = {}, Dim3 block = {}) {
  const Reference reference = find_reference(name);
  ASSERT_NE(reference, nullptr) << name;
  reference(arguments, grid, block);
}

TEST(Sgemm, IsEigensProduct) {
  std::int32_t n = 65;
  Matrix a = random_matrix(n, n, 1);
  Matrix b = random_matrix(n, n, 2);
  Matrix c = Matrix::Constant(n, n, 99.0f);
  const Eigen::MatrixXd exact = a.cast<double>() * b.cast<double>();
  run("sgemm_rows", {view(a), view(b), view(c), view(n)});
  // n roundings of at most half a unit in the last place of a sum that stays below n.
  const double bound = n * n * std::ldexp(1.0, -24);
  EXPECT_LT((c.cast<double>() - exact).cwiseAbs().maxCoeff(), bound);
  Matrix transposed = b.transpose();
  Matrix by_columns = Matrix::Zero(n, n);
  run("sgemm_columns", {view(a), view(transposed), view(by_columns), view(n)});
  EXPECT_EQ(by_columns, c) << "the same product, bit for bit";
}

TEST(Sgemm, IsAChainOfFusedMultiplyAddsInAscendingOrder) {
  std::int32_t n = 37;
  Matrix a = random_matrix(n, n, 3);
  Matrix b = random_matrix(n, n, 4);
  Matrix c(n, n);
  run("sgemm_rows", {view(a), view(b), view(c), view(n)});
  int differs_unfused = 0;
  int differs_descending = 0;
  for (int row = 0; row < n; ++row) {
    for (int col = 0; col < n; ++col) {
      float fused = 0.0f;
      float unfused = 0.0f;
      float descending = 0.0f;
      for (int i = 0; i < n; ++i) {
        fused = std::fma(a(row, i), b(i, col), fused);
        unfused += a(row, i) * b(i, col);
        descending = std::fma(a(row, n - 1 - i), b(n - 1 - i, col), descending);
      }
      ASSERT_EQ(c(row, col), fused);
      differs_unfused += c(row, col) != unfused;
      differs_descending += c(row, col) != descending;
    }
  }
  EXPECT_GT(differs_unfused, n) << "the test can tell a fused chain from an unfused one";
  EXPECT_GT(differs_descending, n) << "and one order from the other";
}

TEST(Transpose, IsEigens) {
  std::int32_t width = 70;
  std::int32_t height = 50;
  Matrix in = random_matrix(height, width, 5);
  Matrix out = Matrix::Zero(width, height);
  run("transpose", {view(in), view(out), view(width), view(height)});
  EXPECT_EQ(out, in.transpose());
}

TEST(Elementwise, IsEigens) {
  std::int32_t n = 1000;
  Matrix a = random_matrix(n, 1, 6) * 3;
  Matrix b = random_matrix(n, 1, 7);
  Matrix out = Matrix::Constant(n + 1, 1, 99.0f);
  run("vector_add", {view(a), view(b), view(out), view(n)});
  EXPECT_EQ(out.topRows(n), a + b);
  run("relu_add", {view(a), view(out), view(n)});
  EXPECT_EQ(out.topRows(n), (a.array() + 1.0f).max(0.0f).matrix());
  EXPECT_GT((out.topRows(n).array() == 0.0f).count(), 100) << "the test has something to cut off";
  Matrix sum = Matrix::Zero(n, 1);
  run("add_one", {view(a), view(sum), view(n)});
  EXPECT_EQ(sum, (a.array() + 1.0f).matrix());
  Matrix two_kernels = Matrix::Zero(n, 1);
  run("relu", {view(sum), view(two_kernels), view(n)});
  EXPECT_EQ(two_kernels, out.topRows(n)) << "fused and unfused agree";
  EXPECT_EQ(out(n, 0), 99.0f) << "written past n";
}

TEST(Copies, MoveExactlyWhatIsAsked) {
  Matrix in = random_matrix(64, 1, 8);
  Matrix out = Matrix::Zero(64, 1);
  std::int32_t n = 32;
  std::int32_t quarter = 12;
  run("copy_float", {view(in), view(out), view(n)});
  EXPECT_EQ(out.topRows(32), in.topRows(32));
  EXPECT_TRUE(out.bottomRows(32).isZero(0.0f));
  run("copy_float4", {view(in), view(out), view(quarter)});
  EXPECT_EQ(out.topRows(48), in.topRows(48));
  EXPECT_TRUE(out.bottomRows(16).isZero(0.0f));
  std::int32_t stride = 7;
  std::int32_t few = 9;
  run("copy_stride", {view(in), view(out), view(few), view(stride)});
  const Eigen::Map<const Eigen::VectorXf, 0, Eigen::InnerStride<7>> strided(in.data(), few);
  EXPECT_EQ(out.topRows(few), strided);
}

TEST(ImageBrighten, Saturates) {
  std::int32_t width = 16;
  std::int32_t height = 16;
  std::int32_t amount = 60;
  std::vector<std::uint8_t> in(256);
  std::iota(in.begin(), in.end(), std::uint8_t{0});
  std::vector<std::uint8_t> out(256);
  run("image_brighten", {view(in), view(out), view(width), view(height), view(amount)});
  const Eigen::ArrayXi expected =
      (Eigen::Map<const Bytes>(in.data(), 256).cast<int>().array() + amount).min(255);
  EXPECT_TRUE((Eigen::Map<const Bytes>(out.data(), 256).cast<int>().array() == expected).all());
  EXPECT_EQ(out[195], 255);
  EXPECT_EQ(out[194], 254);
}

TEST(RecordThreadCoords, WalksTheGridAsTheHardwareNumbersIt) {
  std::int32_t width = 20;
  std::int32_t height = 12;
  std::vector<std::uint32_t> block_of(240, 99);
  std::vector<std::uint32_t> thread_of(240, 99);
  std::vector<std::uint32_t> lane_of(240, 99);
  const Dim3 grid{3, 2, 1};
  const Dim3 block{10, 7, 1};  // 70 threads: three warps, the last of six
  run("record_thread_coords", {view(block_of), view(thread_of), view(lane_of), view(width), view(height)},
      grid, block);
  // The other way round: from blocks and numbers to pixels.
  int visited = 0;
  for (std::uint32_t number = 0; number < grid.x * grid.y * 70; ++number) {
    const std::uint32_t in_block = number % 70;
    const std::uint32_t x = number / 70 % grid.x * block.x + in_block % block.x;
    const std::uint32_t y = number / 70 / grid.x * block.y + in_block / block.x;
    if (x >= 20 || y >= 12) continue;
    ++visited;
    const std::size_t pixel = y * 20 + x;
    EXPECT_EQ(block_of[pixel], (number / 70 / grid.x) << 16 | number / 70 % grid.x);
    EXPECT_EQ(thread_of[pixel], (in_block / block.x) << 16 | in_block % block.x);
    EXPECT_EQ(lane_of[pixel], (in_block / 32) << 16 | in_block % 32);
  }
  EXPECT_EQ(visited, 240);
}

TEST(Divergence, LanesAndWarpsTakeTheirSides) {
  std::int32_t n = 128;
  std::int32_t rounds = 1;
  std::vector<std::uint32_t> in(128, 1);
  std::vector<std::uint32_t> out(128);
  const std::uint32_t multiplied = 1664525u + 1013904223u;
  const std::uint32_t shifted = 32u ^ 0x9e3779b9u;
  run("divergence_lanes", {view(in), view(out), view(n), view(rounds)}, {2, 1, 1}, {64, 1, 1});
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], i % 2 == 1 ? multiplied : shifted);
  run("divergence_warps", {view(in), view(out), view(n), view(rounds)}, {2, 1, 1}, {64, 1, 1});
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], i / 32 % 2 == 1 ? multiplied : shifted);
}

TEST(BarrierEarlyReturn, ReversesEachBlocksLiveThreads) {
  std::int32_t n = 10;
  std::vector<std::int32_t> in = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<std::int32_t> out(10);
  run("barrier_early_return", {view(in), view(out), view(n)}, {2, 1, 1}, {8, 1, 1});
  EXPECT_EQ(out, (std::vector<std::int32_t>{7, 6, 5, 4, 3, 2, 1, 0, 9, 8}));
}

TEST(FfmaChain, ComesToItsFixedPoint) {
  std::int32_t n = 3;
  std::int32_t rounds = 1;
  std::vector<float> in = {0.0f, 0.5f, 1.0f};
  std::vector<float> out(3);
  run("ffma_chain", {view(in), view(out), view(n), view(rounds)});
  EXPECT_EQ(out[0], 0.001f);
  EXPECT_EQ(out[1], std::fma(0.5f, 0.999f, 0.001f));
  rounds = 20000;
  run("ffma_chain", {view(in), view(out), view(n), view(rounds)});
  for (const float value : out) EXPECT_NEAR(value, 1.0, 1e-4) << "x = 0.999 x + 0.001";
}

TEST(References, RefuseArgumentsThatDoNotFit) {
  std::int32_t n = 10;
  std::vector<float> nine(9);
  std::vector<float> ten(10);
  EXPECT_NO_THROW(find_reference("vector_add")({view(ten), view(ten), view(ten), view(n)}, {}, {}));
  EXPECT_THROW(find_reference("vector_add")({view(ten), view(nine), view(ten), view(n)}, {}, {}),
               std::invalid_argument);
  EXPECT_THROW(find_reference("vector_add")({view(ten), view(ten), view(ten)}, {}, {}),
               std::invalid_argument);
  EXPECT_THROW(find_reference("vector_add")({view(ten), {}, view(ten), view(n)}, {}, {}),
               std::invalid_argument);
  EXPECT_EQ(find_reference("vector"), nullptr);
  const auto names = reference_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

}  // namespace
}  // namespace foretrace::references
