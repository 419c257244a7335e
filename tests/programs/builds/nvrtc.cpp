#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>
#include <cstdio>
#include <string>
#include <vector>
int main() {
  const char* src =
      "template<class T> __global__ void scale(T*x,T a,int n){int "
      "i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n)x[i]*=a;}";
  nvrtcProgram p;
  nvrtcCreateProgram(&p, src, "s.cu", 0, 0, 0);
  nvrtcAddNameExpression(p, "scale<float>");
  cudaDeviceProp pr;
  cudaGetDeviceProperties(&pr, 0);
  std::string arch = "--gpu-architecture=compute_" + std::to_string(pr.major * 10 + pr.minor);
  const char* o[] = {arch.c_str()};
  if (nvrtcCompileProgram(p, 1, o)) {
    puts("compile");
    return 1;
  }
  const char* low;
  nvrtcGetLoweredName(p, "scale<float>", &low);
  size_t n;
  nvrtcGetPTXSize(p, &n);
  std::vector<char> ptx(n);
  nvrtcGetPTX(p, ptx.data());
  cudaFree(0);
  CUmodule m;
  CUresult r = cuModuleLoadDataEx(&m, ptx.data(), 0, 0, 0);
  if (r) {
    printf("load %d\n", r);
    return 1;
  }
  CUfunction f;
  cuModuleGetFunction(&f, m, low);
  float* d;
  cudaMallocManaged(&d, 4000);
  for (int i = 0; i < 1000; i++) d[i] = i;
  float a = 3;
  int N = 1000;
  void* args[] = {&d, &a, &N};
  r = cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, 0, args, 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < 1000; i++)
    if (d[i] != 3 * i) {
      puts("wrong");
      return 1;
    }
  puts("ok");
}
