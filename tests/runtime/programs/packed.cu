// Parameters in one buffer that is shorter than they are: a large last one, of which a launch gives what it uses.
#include <cstdio>

#include <cuda.h>
#include <cuda_runtime.h>

struct Large {
  int used, rest[1023];
};
__global__ void takes(int* out, const __grid_constant__ Large large) { *out = large.used; }

static int failures = 0;
static void expect(const char* what, int got, int wanted) {
  if (got != wanted) ++failures, std::printf("%s: %d, not %d\n", what, got, wanted);
}

int main() {
  int* out = nullptr;
  expect("malloc", cudaMalloc(&out, sizeof(int)), cudaSuccess);
  cudaFunction_t function = nullptr;
  expect("function", cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(takes)), cudaSuccess);
  decltype(&cuLaunchKernel) launch = nullptr;
  cudaDriverEntryPointQueryResult found;
  expect("entry", cudaGetDriverEntryPoint("cuLaunchKernel", reinterpret_cast<void**>(&launch), cudaEnableDefault, &found), cudaSuccess);
  struct {
    int* out;
    int used, rest;
  } given{out, 42, 0};
  const auto with = [&](std::size_t size) {
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &given, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    return launch(reinterpret_cast<CUfunction>(function), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
  };
  expect("16 bytes", with(16), CUDA_SUCCESS);
  int got = 0;
  expect("copy", cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
  expect("value", got, 42);
  expect("without the last one", with(8), CUDA_ERROR_INVALID_VALUE);
  if (failures == 0) std::printf("packed: all right\n");
  return failures == 0 ? 0 : 1;
}
