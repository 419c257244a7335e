// PolyBench style: 3MM, ATAX, BICG, GEMVER's rank-one updates, Gram-Schmidt and correlation, each against the host.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t code, const char* file, int line, bool abort = true) {
  if (code != cudaSuccess) {
    fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    if (abort) exit(code);
  }
}
#define gpuErrchk(ans) { check((ans), __FILE__, __LINE__); }

static int failures = 0;
static void compare(const char* name, const std::vector<float>& expected, const std::vector<float>& found, float tolerance) {
  int bad = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(fabsf(expected[i] - found[i]) <= tolerance * (1.0f + fabsf(expected[i])))) ++bad;
  printf("%-12s %s\n", name, bad == 0 ? "ok" : "WRONG");
  failures += bad != 0;
}

struct Matrix {
  int rows, columns;
  std::vector<float> host;
  float* device = nullptr;
  Matrix(int r, int c, bool fill = true) : rows(r), columns(c), host(size_t(r) * c) {
    if (fill)
      for (size_t i = 0; i < host.size(); ++i) host[i] = float((i * 7 + 3) % 13) / 13.0f - 0.3f;
    gpuErrchk(cudaMalloc(&device, host.size() * sizeof(float)));
    gpuErrchk(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  ~Matrix() { cudaFree(device); }
  std::vector<float> read() const {
    std::vector<float> out(host.size());
    gpuErrchk(cudaMemcpy(out.data(), device, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return out;
  }
};

__global__ void mm_kernel(int ni, int nj, int nk, const float* A, const float* B, float* C) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < ni && j < nj) {
    float sum = 0;
    for (int k = 0; k < nk; ++k) sum += A[i * nk + k] * B[k * nj + j];
    C[i * nj + j] = sum;
  }
}

static std::vector<float> mm_host(const Matrix& a, const std::vector<float>& A, const Matrix& b, const std::vector<float>& B) {
  std::vector<float> C(size_t(a.rows) * b.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j) {
      double sum = 0;
      for (int k = 0; k < a.columns; ++k) sum += double(A[size_t(i) * a.columns + k]) * B[size_t(k) * b.columns + j];
      C[size_t(i) * b.columns + j] = float(sum);
    }
  return C;
}

static void mm(const Matrix& a, const Matrix& b, Matrix& c) {
  dim3 block(32, 8), grid((b.columns + 31) / 32, (a.rows + 7) / 8);
  mm_kernel<<<grid, block>>>(a.rows, b.columns, a.columns, a.device, b.device, c.device);
  gpuErrchk(cudaGetLastError());
}

__global__ void atax_kernel1(int nx, int ny, const float* A, const float* x, float* tmp) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) {
    tmp[i] = 0;
    for (int j = 0; j < ny; ++j) tmp[i] += A[i * ny + j] * x[j];
  }
}
__global__ void atax_kernel2(int nx, int ny, const float* A, float* y, const float* tmp) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < ny) {
    y[j] = 0;
    for (int i = 0; i < nx; ++i) y[j] += A[i * ny + j] * tmp[i];
  }
}

__global__ void gramschmidt_kernel1(int ni, int nj, const float* a, float* r, int k) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
    float nrm = 0;
    for (int i = 0; i < ni; ++i) nrm += a[i * nj + k] * a[i * nj + k];
    r[k * nj + k] = sqrtf(nrm);
  }
}
__global__ void gramschmidt_kernel2(int ni, int nj, const float* a, const float* r, float* q, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ni) q[i * nj + k] = a[i * nj + k] / r[k * nj + k];
}
__global__ void gramschmidt_kernel3(int ni, int nj, float* a, float* r, const float* q, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j > k && j < nj) {
    r[k * nj + j] = 0;
    for (int i = 0; i < ni; ++i) r[k * nj + j] += q[i * nj + k] * a[i * nj + j];
    for (int i = 0; i < ni; ++i) a[i * nj + j] -= q[i * nj + k] * r[k * nj + j];
  }
}

__global__ void mean_kernel(int n, int m, float* mean, const float* data) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < m) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += data[i * m + j];
    mean[j] = sum / n;
  }
}
__global__ void std_kernel(int n, int m, const float* mean, float* std_, const float* data) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < m) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += (data[i * m + j] - mean[j]) * (data[i * m + j] - mean[j]);
    sum = sqrtf(sum / n);
    std_[j] = sum <= 0.005f ? 1.0f : sum;
  }
}
__global__ void reduce_kernel(int n, int m, const float* mean, const float* std_, float* data) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < m) {
    data[i * m + j] -= mean[j];
    data[i * m + j] /= sqrtf(float(n)) * std_[j];
  }
}
__global__ void corr_kernel(int n, int m, float* symmat, const float* data) {
  int j1 = blockIdx.x * blockDim.x + threadIdx.x;
  if (j1 >= m) return;
  symmat[j1 * m + j1] = 1.0f;
  for (int j2 = j1 + 1; j2 < m; ++j2) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += data[i * m + j1] * data[i * m + j2];
    symmat[j1 * m + j2] = symmat[j2 * m + j1] = sum;
  }
}

static void three_mm() {
  Matrix A(48, 64), B(64, 40), C(40, 72), D(72, 56), E(48, 40, false), F(40, 56, false), G(48, 56, false);
  mm(A, B, E);
  mm(C, D, F);
  mm(E, F, G);
  gpuErrchk(cudaDeviceSynchronize());
  compare("3MM", mm_host(E, mm_host(A, A.host, B, B.host), F, mm_host(C, C.host, D, D.host)), G.read(), 1e-4f);
}

static void atax() {
  const int nx = 96, ny = 160;
  Matrix A(nx, ny), x(1, ny), y(1, ny, false), tmp(1, nx, false);
  atax_kernel1<<<(nx + 127) / 128, 128>>>(nx, ny, A.device, x.device, tmp.device);
  atax_kernel2<<<(ny + 127) / 128, 128>>>(nx, ny, A.device, y.device, tmp.device);
  gpuErrchk(cudaDeviceSynchronize());
  std::vector<float> expected(ny, 0);
  for (int i = 0; i < nx; ++i) {
    double t = 0;
    for (int j = 0; j < ny; ++j) t += double(A.host[i * ny + j]) * x.host[j];
    for (int j = 0; j < ny; ++j) expected[j] += float(A.host[i * ny + j] * t);
  }
  compare("ATAX", expected, y.read(), 1e-3f);
}

static void gramschmidt() {
  const int ni = 40, nj = 24;
  Matrix A(ni, nj, false), R(nj, nj, false), Q(ni, nj, false);
  for (int i = 0; i < ni; ++i)
    for (int j = 0; j < nj; ++j) A.host[i * nj + j] = float((i * 31 + j * 17 + i * j) % 23) / 23.0f + (i == j ? 2.0f : 0.0f);
  gpuErrchk(cudaMemcpy(A.device, A.host.data(), A.host.size() * sizeof(float), cudaMemcpyHostToDevice));
  for (int k = 0; k < nj; ++k) {
    gramschmidt_kernel1<<<1, 32>>>(ni, nj, A.device, R.device, k);
    gramschmidt_kernel2<<<(ni + 31) / 32, 32>>>(ni, nj, A.device, R.device, Q.device, k);
    gramschmidt_kernel3<<<(nj + 31) / 32, 32>>>(ni, nj, A.device, R.device, Q.device, k);
  }
  gpuErrchk(cudaDeviceSynchronize());
  compare("GRAMSCHM", A.host, mm_host(Q, Q.read(), R, R.read()), 1e-4f);
}

static void correlation() {
  const int n = 64, m = 48;
  Matrix data(n, m), mean(1, m, false), deviation(1, m, false), symmat(m, m, false);
  mean_kernel<<<1, 64>>>(n, m, mean.device, data.device);
  std_kernel<<<1, 64>>>(n, m, mean.device, deviation.device, data.device);
  reduce_kernel<<<dim3(2, 8), dim3(32, 8)>>>(n, m, mean.device, deviation.device, data.device);
  corr_kernel<<<1, 64>>>(n, m, symmat.device, data.device);
  gpuErrchk(cudaDeviceSynchronize());
  std::vector<double> mu(m), sigma(m);
  for (int j = 0; j < m; ++j) {
    for (int i = 0; i < n; ++i) mu[j] += data.host[i * m + j];
    mu[j] /= n;
    for (int i = 0; i < n; ++i) sigma[j] += (data.host[i * m + j] - mu[j]) * (data.host[i * m + j] - mu[j]);
    sigma[j] = sqrt(sigma[j] / n);
  }
  std::vector<float> expected(m * m);
  for (int a = 0; a < m; ++a)
    for (int b = 0; b < m; ++b) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += (data.host[i * m + a] - mu[a]) * (data.host[i * m + b] - mu[b]);
      expected[a * m + b] = a == b ? 1.0f : float(sum / (n * sigma[a] * sigma[b]));
    }
  compare("CORR", expected, symmat.read(), 1e-3f);
}

int main() {
  three_mm();
  atax();
  gramschmidt();
  correlation();
  gpuErrchk(cudaDeviceReset());
  return failures;
}
