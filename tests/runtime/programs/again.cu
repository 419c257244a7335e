// The same launches again and again, and everything that may change between two of them: what each writes is compared with the host's sum.
#include <cstdio>
#include <cstdlib>
#include <vector>

static void ok(cudaError_t code, int line) {
  if (code == cudaSuccess) return;
  std::printf("line %d: %s\n", line, cudaGetErrorName(code));
  std::exit(1);
}
#define OK(call) ok(call, __LINE__)

constexpr int kCount = 1 << 16;
__constant__ float factor;
__device__ float offset;

__global__ void scale(float* y, const float* x, const float* pinned, cudaTextureObject_t texture) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] * factor + offset + pinned[i % 32] + tex1Dfetch<float>(texture, i % 32);
}
__global__ void grow(float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += 1;
}

static float *x, *y, *pinned, *table[2];

static void launch(cudaTextureObject_t texture, float expected) {
  scale<<<kCount / 256, 256>>>(y, x, pinned, texture);
  std::vector<float> got(kCount);
  OK(cudaMemcpy(got.data(), y, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) {
    if (got[i] == expected) continue;
    std::printf("element %d is %g, not %g\n", i, got[i], expected);
    std::exit(1);
  }
}
static void launches(cudaTextureObject_t texture, float expected) {
  for (int i = 0; i < 4; ++i) launch(texture, expected);
}
static cudaTextureObject_t texture_of(float* from) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = from;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  cudaTextureDesc look{};
  look.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  OK(cudaCreateTextureObject(&texture, &resource, &look, nullptr));
  return texture;
}
static void fill(float* to, int count, float value) {
  const std::vector<float> all(count, value);
  OK(cudaMemcpy(to, all.data(), count * sizeof(float), cudaMemcpyHostToDevice));
}

int main() {
  OK(cudaMalloc(&x, kCount * sizeof(float)));
  OK(cudaMalloc(&y, kCount * sizeof(float)));
  OK(cudaMalloc(&table[0], 32 * sizeof(float)));
  OK(cudaMalloc(&table[1], 32 * sizeof(float)));
  OK(cudaMallocHost(&pinned, 32 * sizeof(float)));
  for (int i = 0; i < 32; ++i) pinned[i] = 0;
  fill(x, kCount, 1), fill(table[0], 32, 0), fill(table[1], 32, 100);
  float number = 1;
  OK(cudaMemcpyToSymbol(factor, &number, sizeof number));
  cudaTextureObject_t texture = texture_of(table[0]);
  launches(texture, 1);
  fill(x, kCount, 2);  // a copy
  launches(texture, 2);
  number = 3;
  OK(cudaMemcpyToSymbol(factor, &number, sizeof number));  // constant memory
  launches(texture, 6);
  number = 0.5f;
  OK(cudaMemcpyToSymbol(offset, &number, sizeof number));  // a variable
  launches(texture, 6.5f);
  for (int i = 0; i < 32; ++i) pinned[i] = 10;  // the host's hand
  launches(texture, 16.5f);
  OK(cudaMemset(y, 0, kCount * sizeof(float)));  // what it has written
  launches(texture, 16.5f);
  OK(cudaDestroyTextureObject(texture));
  launches(texture_of(table[1]), 116.5f);  // another texture
  std::vector<float> got(kCount);
  for (int i = 0; i < 20; ++i) grow<<<kCount / 256, 256>>>(y);  // each finds another memory
  OK(cudaMemcpy(got.data(), y, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  for (float value : got) {
    if (value != 136.5f) return std::printf("%g after 20 steps\n", value), 1;
  }
  std::printf("ok\n");
}
