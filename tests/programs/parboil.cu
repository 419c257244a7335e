// Parboil style: 7-point stencil, sparse matrix-vector products (CSR scalar and vector), saturating histogram with shared
// atomics, Coulomb potential with a cutoff, SGEMM with templates and register tiles, sum of absolute differences.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CUDA_ERRCK                                                                                            \
  {                                                                                                           \
    cudaError_t err;                                                                                          \
    if ((err = cudaGetLastError()) != cudaSuccess) {                                                          \
      fprintf(stderr, "CUDA error on line %d: %s\n", __LINE__, cudaGetErrorString(err));                      \
      exit(-1);                                                                                               \
    }                                                                                                         \
  }

static int bad = 0;
static void pass(const char* what, bool ok) {
  printf("%s %s\n", what, ok ? "PASS" : "FAIL");
  bad |= !ok;
}

#define Index3D(_nx, _ny, _i, _j, _k) ((_i) + _nx * ((_j) + _ny * (_k)))
__global__ void block2D_opt_stencil(float c0, float c1, const float* __restrict__ A0, float* __restrict__ Anext, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  extern __shared__ float tile[];
  int tid = threadIdx.x + threadIdx.y * blockDim.x;
  bool inside = i > 0 && j > 0 && i < nx - 1 && j < ny - 1;
  float bottom = i < nx && j < ny ? A0[Index3D(nx, ny, i, j, 0)] : 0, current = i < nx && j < ny ? A0[Index3D(nx, ny, i, j, 1)] : 0;
  for (int k = 1; k < nz - 1; k++) {
    tile[tid] = current;
    float top = i < nx && j < ny ? A0[Index3D(nx, ny, i, j, k + 1)] : 0;
    __syncthreads();
    if (inside) {
      float left = threadIdx.x > 0 ? tile[tid - 1] : A0[Index3D(nx, ny, i - 1, j, k)];
      float right = threadIdx.x + 1 < blockDim.x ? tile[tid + 1] : A0[Index3D(nx, ny, i + 1, j, k)];
      float up = threadIdx.y > 0 ? tile[tid - blockDim.x] : A0[Index3D(nx, ny, i, j - 1, k)];
      float down = threadIdx.y + 1 < blockDim.y ? tile[tid + blockDim.x] : A0[Index3D(nx, ny, i, j + 1, k)];
      Anext[Index3D(nx, ny, i, j, k)] = (top + bottom + left + right + up + down) * c1 - current * c0;
    }
    __syncthreads();
    bottom = current;
    current = top;
  }
}
static void stencil() {
  const int nx = 70, ny = 37, nz = 12;
  const float c0 = 1.0f / 6.0f, c1 = 1.0f / 6.0f / 6.0f;
  std::vector<float> a(nx * ny * nz), out(a.size());
  for (size_t i = 0; i < a.size(); ++i) a[i] = float(i * 2654435761u % 1000) / 1000.0f;
  float *d_a, *d_b;
  cudaMalloc((void**)&d_a, a.size() * sizeof(float));
  cudaMalloc((void**)&d_b, a.size() * sizeof(float));
  cudaMemcpy(d_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, d_a, a.size() * sizeof(float), cudaMemcpyDeviceToDevice);
  dim3 block(32, 4), grid((nx + 31) / 32, (ny + 3) / 4);
  block2D_opt_stencil<<<grid, block, 32 * 4 * sizeof(float)>>>(c0, c1, d_a, d_b, nx, ny, nz);
  CUDA_ERRCK
  cudaMemcpy(out.data(), d_b, a.size() * sizeof(float), cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        auto at = [&](int x, int y, int z) { return a[Index3D(nx, ny, x, y, z)]; };
        bool inner = i > 0 && j > 0 && k > 0 && i < nx - 1 && j < ny - 1 && k < nz - 1;
        float e = inner ? (at(i, j, k + 1) + at(i, j, k - 1) + at(i, j + 1, k) + at(i, j - 1, k) + at(i + 1, j, k) + at(i - 1, j, k)) * c1 - at(i, j, k) * c0
                        : at(i, j, k);
        ok = ok && fabsf(e - out[Index3D(nx, ny, i, j, k)]) < 1e-6f;
      }
  pass("stencil", ok);
  cudaFree(d_a), cudaFree(d_b);
}

__global__ void spmv_csr_scalar(int rows, const int* ptr, const int* col, const double* val, const double* x, double* y) {
  int row = blockDim.x * blockIdx.x + threadIdx.x;
  if (row < rows) {
    double dot = 0;
    for (int jj = ptr[row]; jj < ptr[row + 1]; jj++) dot += val[jj] * __ldg(&x[col[jj]]);
    y[row] = dot;
  }
}
template <unsigned THREADS_PER_ROW>
__global__ void __launch_bounds__(128) spmv_csr_vector(int rows, const int* ptr, const int* col, const double* val, const double* x, double* y) {
  unsigned thread = blockDim.x * blockIdx.x + threadIdx.x, lane = thread % THREADS_PER_ROW;
  for (unsigned row = thread / THREADS_PER_ROW; row < unsigned(rows); row += gridDim.x * blockDim.x / THREADS_PER_ROW) {
    double sum = 0;
    for (int jj = ptr[row] + int(lane); jj < ptr[row + 1]; jj += THREADS_PER_ROW) sum += val[jj] * x[col[jj]];
    unsigned mask = __activemask();
    for (int offset = THREADS_PER_ROW / 2; offset > 0; offset >>= 1) sum += __shfl_down_sync(mask, sum, offset, THREADS_PER_ROW);
    if (lane == 0) y[row] = sum;
  }
}
static void spmv() {
  const int rows = 777;
  std::vector<int> ptr{0}, col;
  std::vector<double> val, x(rows), expected(rows);
  for (int r = 0; r < rows; ++r) {
    x[r] = 0.5 + r % 7;
    for (int k = 0; k < 1 + r * 31 % 40; ++k) col.push_back((r * 17 + k * 29) % rows), val.push_back(0.1 * (k - 5));
    ptr.push_back(int(col.size()));
  }
  for (int r = 0; r < rows; ++r)
    for (int k = ptr[r]; k < ptr[r + 1]; ++k) expected[r] += val[k] * x[col[k]];
  int *d_ptr, *d_col;
  double *d_val, *d_x, *d_y;
  cudaMalloc(&d_ptr, ptr.size() * 4), cudaMalloc(&d_col, col.size() * 4), cudaMalloc(&d_val, val.size() * 8), cudaMalloc(&d_x, rows * 8), cudaMalloc(&d_y, rows * 8);
  cudaMemcpy(d_ptr, ptr.data(), ptr.size() * 4, cudaMemcpyDefault);
  cudaMemcpy(d_col, col.data(), col.size() * 4, cudaMemcpyDefault);
  cudaMemcpy(d_val, val.data(), val.size() * 8, cudaMemcpyDefault);
  cudaMemcpy(d_x, x.data(), rows * 8, cudaMemcpyDefault);
  bool ok = true;
  for (int version = 0; version < 2; ++version) {
    cudaMemset(d_y, 0xff, rows * 8);
    if (version == 0) spmv_csr_scalar<<<(rows + 127) / 128, 128>>>(rows, d_ptr, d_col, d_val, d_x, d_y);
    else spmv_csr_vector<8><<<20, 128>>>(rows, d_ptr, d_col, d_val, d_x, d_y);
    CUDA_ERRCK
    std::vector<double> y(rows);
    cudaMemcpy(y.data(), d_y, rows * 8, cudaMemcpyDeviceToHost);
    for (int r = 0; r < rows; ++r) ok = ok && fabs(y[r] - expected[r]) < 1e-9;
  }
  pass("spmv", ok);
  cudaFree(d_ptr), cudaFree(d_col), cudaFree(d_val), cudaFree(d_x), cudaFree(d_y);
}

__global__ void histo_kernel(const unsigned int* image, int size, unsigned char* out, unsigned int* global, int bins) {
  extern __shared__ unsigned int bin[];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) bin[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) atomicAdd(&bin[image[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) atomicAdd(global + i, bin[i]);
  __threadfence();
  __shared__ bool last;
  if (threadIdx.x == 0) last = atomicInc(global + bins, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  for (int i = threadIdx.x; i < bins; i += blockDim.x) {
    unsigned int count = ((volatile unsigned int*)global)[i];
    out[i] = count > 255 ? 255 : (unsigned char)count;
  }
}
static void histo() {
  const int size = 20000, bins = 96;
  std::vector<unsigned> image(size), expected(bins);
  for (int i = 0; i < size; ++i) image[i] = unsigned(i * 40503u >> 5) % (i % 3 ? bins : 7), ++expected[image[i]];
  unsigned *d_image, *d_global;
  unsigned char* d_out;
  cudaMalloc(&d_image, size * 4), cudaMalloc(&d_global, (bins + 1) * 4), cudaMalloc(&d_out, bins);
  cudaMemcpy(d_image, image.data(), size * 4, cudaMemcpyHostToDevice);
  cudaMemset(d_global, 0, (bins + 1) * 4);
  histo_kernel<<<14, 192, bins * 4>>>(d_image, size, d_out, d_global, bins);
  CUDA_ERRCK
  std::vector<unsigned char> out(bins);
  cudaMemcpy(out.data(), d_out, bins, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int i = 0; i < bins; ++i) ok = ok && out[i] == (expected[i] > 255 ? 255 : expected[i]);
  pass("histo", ok);
  cudaFree(d_image), cudaFree(d_global), cudaFree(d_out);
}

#define MAX_ATOMS 256
__constant__ float4 atominfo[MAX_ATOMS];
__global__ void cutoff_potential(int numatoms, float spacing, float cutoff2, float inv_cutoff2, float* energygrid) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float coorx = spacing * x, coory = spacing * y, energy = 0.0f;
  for (int atomid = 0; atomid < numatoms; atomid++) {
    float dx = coorx - atominfo[atomid].x, dy = coory - atominfo[atomid].y;
    float r2 = dx * dx + dy * dy + atominfo[atomid].z;
    if (r2 < cutoff2) {
      float s = 1.f - r2 * inv_cutoff2;
      energy += atominfo[atomid].w * rsqrtf(r2) * s * s;
    }
  }
  energygrid[gridDim.x * blockDim.x * y + x] += energy;
}
static void cutcp() {
  const int atoms = 200, width = 32, height = 24;
  std::vector<float4> info(atoms);
  for (int i = 0; i < atoms; ++i) info[i] = make_float4(float(i * 13 % 160) / 10, float(i * 29 % 120) / 10, 0.3f + i % 4, i % 2 ? 1.0f : -0.5f);
  float* grid;
  cudaMalloc(&grid, width * height * 4);
  cudaMemset(grid, 0, width * height * 4);
  cudaMemcpyToSymbol(atominfo, info.data(), atoms * sizeof(float4), 0);
  cutoff_potential<<<dim3(width / 16, height / 8), dim3(16, 8)>>>(atoms, 0.5f, 36.0f, 1 / 36.0f, grid);
  CUDA_ERRCK
  std::vector<float> out(width * height);
  cudaMemcpy(out.data(), grid, out.size() * 4, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      double e = 0;
      for (const float4& a : info) {
        double r2 = (0.5 * x - a.x) * (0.5 * x - a.x) + (0.5 * y - a.y) * (0.5 * y - a.y) + a.z, s = 1 - r2 / 36;
        if (r2 < 36) e += a.w / sqrt(r2) * s * s;
      }
      ok = ok && fabs(e - out[y * width + x]) < 1e-3;
    }
  pass("cutcp", ok);
  cudaFree(grid);
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void sgemm_tiles(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
  __shared__ float As[BK][BM], Bs[BK][BN];
  const int threads = (BM / TM) * (BN / TN), tx = threadIdx.x % (BN / TN), ty = threadIdx.x / (BN / TN);
  float sum[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
    for (int i = threadIdx.x; i < BM * BK; i += threads) As[i % BK][i / BK] = A[(blockIdx.y * BM + i / BK) * K + k0 + i % BK];
#pragma unroll
    for (int i = threadIdx.x; i < BN * BK; i += threads) Bs[i / BN][i % BN] = B[(k0 + i / BN) * N + blockIdx.x * BN + i % BN];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k)
#pragma unroll
      for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; ++n) sum[m][n] += As[k][ty * TM + m] * Bs[k][tx * TN + n];
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m)
    for (int n = 0; n < TN; ++n) {
      float* c = &C[(blockIdx.y * BM + ty * TM + m) * N + blockIdx.x * BN + tx * TN + n];
      *c = alpha * sum[m][n] + beta * *c;
    }
}
static void sgemm() {
  const int M = 64, N = 128, K = 48;
  std::vector<float> a(M * K), b(K * N), c(M * N, 1.0f);
  for (size_t i = 0; i < a.size(); ++i) a[i] = float(i % 19) / 19;
  for (size_t i = 0; i < b.size(); ++i) b[i] = float(i % 23) / 23 - 0.4f;
  float *d_a, *d_b, *d_c;
  cudaMalloc(&d_a, a.size() * 4), cudaMalloc(&d_b, b.size() * 4), cudaMalloc(&d_c, c.size() * 4);
  cudaMemcpy(d_a, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_b, b.data(), b.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d_c, c.data(), c.size() * 4, cudaMemcpyHostToDevice);
  sgemm_tiles<32, 64, 8, 4, 8><<<dim3(N / 64, M / 32), 64>>>(M, N, K, 1.5f, d_a, d_b, 0.5f, d_c);
  CUDA_ERRCK
  cudaMemcpy(c.data(), d_c, c.size() * 4, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += double(a[i * K + k]) * b[k * N + j];
      ok = ok && fabs(1.5 * sum + 0.5 - c[i * N + j]) < 1e-3;
    }
  pass("sgemm", ok);
  cudaFree(d_a), cudaFree(d_b), cudaFree(d_c);
}

__global__ void sad_kernel(const uint8_t* current, const uint8_t* reference, int width, unsigned* out) {
  int bx = blockIdx.x * 8, by = blockIdx.y * 8, dx = int(threadIdx.x) - 4, dy = int(threadIdx.y) - 4;
  unsigned sum = 0;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; x += 4) {
      unsigned a = 0, b = 0;
      for (int i = 0; i < 4; ++i) {
        a |= unsigned(current[(by + y) * width + bx + x + i]) << 8 * i;
        int rx = min(max(bx + x + i + dx, 0), width - 1), ry = max(by + y + dy, 0);
        b |= unsigned(reference[min(ry, int(gridDim.y) * 8 - 1) * width + rx]) << 8 * i;
      }
      sum += __vsadu4(a, b);
    }
  unsigned packed = sum << 8 | (threadIdx.y * blockDim.x + threadIdx.x);
  packed = __reduce_min_sync(0xffffffff, packed);
  __shared__ unsigned best;
  if (threadIdx.x == 0 && threadIdx.y == 0) best = ~0u;
  __syncthreads();
  if ((threadIdx.y * blockDim.x + threadIdx.x) % 32 == 0) atomicMin(&best, packed);
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = best;
}
static void sad() {
  const int width = 48, height = 32;
  std::vector<uint8_t> current(width * height), reference(width * height);
  for (int i = 0; i < width * height; ++i) reference[i] = uint8_t(i * 2654435761u >> 13);
  auto ref = [&](int x, int y) { return reference[std::min(std::max(y, 0), height - 1) * width + std::min(std::max(x, 0), width - 1)]; };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) current[y * width + x] = ref(x + 2, y - 1);
  uint8_t *d_c, *d_r;
  unsigned* d_out;
  cudaMalloc(&d_c, current.size()), cudaMalloc(&d_r, current.size()), cudaMalloc(&d_out, 24 * 4);
  cudaMemcpy(d_c, current.data(), current.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(d_r, reference.data(), current.size(), cudaMemcpyHostToDevice);
  sad_kernel<<<dim3(6, 4), dim3(8, 8)>>>(d_c, d_r, width, d_out);
  CUDA_ERRCK
  unsigned out[24];
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (unsigned o : out) ok = ok && o == ((4u - 1) * 8 + 6);  // displacement (2, -1) with a difference of 0
  pass("sad", ok);
  cudaFree(d_c), cudaFree(d_r), cudaFree(d_out);
}

int main() {
  stencil();
  spmv();
  histo();
  cutcp();
  sgemm();
  sad();
  return bad;
}
