// A kernel reads the same megabyte again and again. Between its launches other data go through L2 or beside it; each launch prints what it should
// find there. `passage kernels`: a kernel writes twice what L2 holds, and each time another kernel reads behind it.
#include <cstdio>
#include <cstdlib>
#include <vector>

static void ok(cudaError_t code, int line) {
  if (code == cudaSuccess) return;
  std::printf("line %d: %s\n", line, cudaGetErrorName(code));
  std::exit(1);
}
#define OK(call) ok(call, __LINE__)

constexpr int kCount = 1 << 18;

__global__ void look(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] != 0) y[0] = 1;
}
template <int kWhich>
__global__ void look_behind(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] != 0) y[kWhich] = 1;
}
__global__ void write(float4* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(1, 1, 1, 1); }

static float *x, *y;
static void launch(const char* finds) {
  look<<<kCount / 256, 256>>>(x, y);
  std::printf("%s\n", finds);
}

static int kernels(std::size_t l2) {
  float4* other;
  OK(cudaMalloc(&other, 2 * l2));
  const unsigned blocks = 2 * l2 / (256 * sizeof(float4));
  write<<<blocks, 256>>>(other);
  look_behind<0><<<kCount / 256, 256>>>(x, y);
  write<<<blocks, 256>>>(other);
  look_behind<1><<<kCount / 256, 256>>>(x, y);
  write<<<blocks, 256>>>(other);
  look_behind<2><<<kCount / 256, 256>>>(x, y);
  look_behind<3><<<kCount / 256, 256>>>(x, y);
  return cudaDeviceSynchronize();
}

int main(int argc, char**) {
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  const std::size_t l2 = properties.l2CacheSize;
  OK(cudaMalloc(&x, kCount * sizeof(float)));
  OK(cudaMalloc(&y, 4 * sizeof(float)));
  if (argc > 1) return kernels(l2);
  char *other, *pinned;
  OK(cudaMalloc(&other, l2));
  OK(cudaMallocHost(&pinned, l2));
  std::vector<char> plain(l2);
  OK(cudaMemset(x, 0, kCount * sizeof(float)));
  launch("nothing");
  launch("all");
  OK(cudaMemset(other, 0, l2));
  launch("nothing");
  launch("all");
  OK(cudaMemset(other, 0, l2 - 4));  // less than L2 holds
  launch("all");
  OK(cudaMemset(other, 0, l2 / 2));
  OK(cudaMemset(other, 1, l2 / 2));  // the same place
  launch("all");
  OK(cudaMemset(other, 0, l2 / 2));
  OK(cudaMemset(other + l2 / 2, 0, l2 / 2));
  launch("nothing");
  OK(cudaMemcpy(other, other + l2 / 2, l2 / 2, cudaMemcpyDeviceToDevice));  // both sides
  launch("nothing");
  OK(cudaMemcpy(other, plain.data(), l2, cudaMemcpyHostToDevice));
  launch("nothing");
  OK(cudaMemcpy2D(plain.data(), 4096, other, 4096, 4096, l2 / 4096, cudaMemcpyDeviceToHost));
  launch("nothing");
  OK(cudaMemcpy(pinned, plain.data(), l2, cudaMemcpyHostToHost));  // beside the device
  launch("all");
  return cudaDeviceSynchronize();
}
