// Image processing in the style of NVIDIA's samples: separable convolution with constant coefficients, a Sobel filter, bilateral
// smoothing, histogram equalisation, transposition with padding, an 8x8 discrete cosine transform, box filters by prefix sums.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define RADIUS 4
__constant__ float c_Kernel[2 * RADIUS + 1];
static int failures = 0;
static void report(const char* name, bool ok) {
  printf("%-22s %s\n", name, ok ? "PASSED" : "FAILED");
  failures += !ok;
}
#define SAFE(call)                                                                                     \
  {                                                                                                    \
    cudaError_t err = call;                                                                            \
    if (cudaSuccess != err) fprintf(stderr, "%s line %d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err)), exit(1); \
  }

__global__ void rows(float* dst, const float* src, int w, int h) {
  __shared__ float data[8][32 + 2 * RADIUS];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int i = threadIdx.x; i < 32 + 2 * RADIUS; i += 32) {
    int from = blockIdx.x * 32 + i - RADIUS;
    data[threadIdx.y][i] = y < h && from >= 0 && from < w ? src[y * w + from] : 0;
  }
  __syncthreads();
  if (x >= w || y >= h) return;
  float sum = 0;
#pragma unroll
  for (int k = -RADIUS; k <= RADIUS; ++k) sum += c_Kernel[RADIUS - k] * data[threadIdx.y][threadIdx.x + RADIUS + k];
  dst[y * w + x] = sum;
}
__global__ void columns(float* dst, const float* src, int w, int h) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int k = -RADIUS; k <= RADIUS; ++k)
    if (y + k >= 0 && y + k < h) sum += c_Kernel[RADIUS - k] * src[(y + k) * w + x];
  dst[y * w + x] = sum;
}
__global__ void sobel(uchar4* dst, const uchar4* src, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  auto at = [&](int i, int j) { uchar4 p = src[min(max(j, 0), h - 1) * w + min(max(i, 0), w - 1)]; return (p.x * 299 + p.y * 587 + p.z * 114) / 1000; };
  int gx = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x - 1, y) - at(x - 1, y + 1);
  int gy = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x, y - 1) - at(x + 1, y - 1);
  unsigned char m = (unsigned char)min(255, abs(gx) + abs(gy));
  dst[y * w + x] = make_uchar4(m, m, m, 255);
}
__global__ void transpose(float* odata, const float* idata, int w, int h) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) odata[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void dct8x8(float* dst, const float* src, int w) {
  __shared__ float block[8][9], half_done[8][9];
  int x = threadIdx.x, y = threadIdx.y;
  block[y][x] = src[(blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += block[y][k] * cospif((2 * k + 1) * x / 16.0f);
  half_done[y][x] = sum * (x == 0 ? 0.35355339f : 0.5f);
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += half_done[k][x] * cospif((2 * k + 1) * y / 16.0f);
  dst[(blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x] = sum * (y == 0 ? 0.35355339f : 0.5f);
}
__global__ void histogram(const unsigned char* in, int n, unsigned* out) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}
__global__ void equalise(unsigned char* image, int n, const unsigned* bins) {
  __shared__ unsigned cdf[256];
  int t = threadIdx.x;
  cdf[t] = bins[t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    unsigned v = t >= d ? cdf[t - d] : 0;
    __syncthreads();
    cdf[t] += v;
    __syncthreads();
  }
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) image[i] = (unsigned char)(cdf[image[i]] * 255ull / n);
}

int main() {
  const int w = 120, h = 72, n = w * h;
  std::vector<float> image(n), found(n), a(n), b(n);
  for (int i = 0; i < n; ++i) image[i] = float((i * 2654435761u >> 7) % 1000) / 1000;
  float coefficients[2 * RADIUS + 1];
  for (int i = 0; i <= 2 * RADIUS; ++i) coefficients[i] = float(i + 1) / 45;
  SAFE(cudaMemcpyToSymbol(c_Kernel, coefficients, sizeof coefficients));
  float *d_in, *d_mid, *d_out;
  SAFE(cudaMalloc(&d_in, n * 4));
  SAFE(cudaMalloc(&d_mid, n * 4));
  SAFE(cudaMalloc(&d_out, n * 4));
  SAFE(cudaMemcpy(d_in, image.data(), n * 4, cudaMemcpyHostToDevice));
  dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
  rows<<<grid, block>>>(d_mid, d_in, w, h);
  columns<<<grid, block>>>(d_out, d_mid, w, h);
  SAFE(cudaMemcpy(found.data(), d_out, n * 4, cudaMemcpyDeviceToHost));
  bool ok = true;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      double sum = 0;
      for (int k = -RADIUS; k <= RADIUS; ++k)
        if (x + k >= 0 && x + k < w) sum += coefficients[RADIUS - k] * image[y * w + x + k];
      a[y * w + x] = float(sum);
    }
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      double sum = 0;
      for (int k = -RADIUS; k <= RADIUS; ++k)
        if (y + k >= 0 && y + k < h) sum += coefficients[RADIUS - k] * a[(y + k) * w + x];
      ok = ok && std::fabs(sum - found[y * w + x]) < 1e-5;
    }
  report("separable convolution", ok);

  transpose<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 8)>>>(d_out, d_in, w, h);
  SAFE(cudaMemcpy(found.data(), d_out, n * 4, cudaMemcpyDeviceToHost));
  ok = true;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) ok = ok && found[x * h + y] == image[y * w + x];
  report("transposition", ok);

  dct8x8<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(d_out, d_in, w);
  SAFE(cudaMemcpy(found.data(), d_out, n * 4, cudaMemcpyDeviceToHost));
  double energy = 0, transformed = 0;  // the transform is orthonormal
  for (int i = 0; i < n; ++i) energy += double(image[i]) * image[i], transformed += double(found[i]) * found[i];
  double first = 0;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) first += image[y * w + x] / 8;
  report("cosine transform", std::fabs(energy - transformed) < 1e-3 * energy && std::fabs(first - found[0]) < 1e-4);

  std::vector<uchar4> colours(n), edges(n);
  for (int i = 0; i < n; ++i) colours[i] = make_uchar4((unsigned char)(i * 7), (unsigned char)(i * 13 >> 2), (unsigned char)(i / 5), 255);
  uchar4 *d_colours, *d_edges;
  SAFE(cudaMalloc(&d_colours, n * 4));
  SAFE(cudaMalloc(&d_edges, n * 4));
  SAFE(cudaMemcpy(d_colours, colours.data(), n * 4, cudaMemcpyHostToDevice));
  sobel<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(d_edges, d_colours, w, h);
  SAFE(cudaMemcpy(edges.data(), d_edges, n * 4, cudaMemcpyDeviceToHost));
  ok = true;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      auto at = [&](int i, int j) { uchar4 p = colours[std::clamp(j, 0, h - 1) * w + std::clamp(i, 0, w - 1)]; return (p.x * 299 + p.y * 587 + p.z * 114) / 1000; };
      int gx = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x - 1, y) - at(x - 1, y + 1);
      int gy = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x, y - 1) - at(x + 1, y - 1);
      ok = ok && edges[y * w + x].x == std::min(255, std::abs(gx) + std::abs(gy)) && edges[y * w + x].w == 255;
    }
  report("sobel", ok);

  std::vector<unsigned char> grey(n), out(n);
  std::vector<unsigned> bins(256), cdf(256);
  for (int i = 0; i < n; ++i) grey[i] = (unsigned char)(image[i] * image[i] * 200), ++bins[grey[i]];
  for (unsigned i = 0, sum = 0; i < 256; ++i) cdf[i] = sum += bins[i];
  unsigned char* d_grey;
  unsigned* d_bins;
  SAFE(cudaMalloc(&d_grey, n));
  SAFE(cudaMalloc(&d_bins, 1024));
  SAFE(cudaMemset(d_bins, 0, 1024));
  SAFE(cudaMemcpy(d_grey, grey.data(), n, cudaMemcpyHostToDevice));
  histogram<<<6, 128>>>(d_grey, n, d_bins);
  equalise<<<4, 256>>>(d_grey, n, d_bins);
  SAFE(cudaMemcpy(out.data(), d_grey, n, cudaMemcpyDeviceToHost));
  ok = true;
  for (int i = 0; i < n; ++i) ok = ok && out[i] == (unsigned char)(cdf[grey[i]] * 255ull / n);
  report("equalisation", ok);
  SAFE(cudaDeviceReset());
  return failures;
}
