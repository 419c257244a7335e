// NVRTC compiles two sources to LTO IR and PTX, nvJitLink links them, the driver loads the result (the idea of NVIDIA's sample jitLto).
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <string>
#include <vector>
#include "check.h"
std::vector<char> lto(const char* source, const char* name) {
  nvrtcProgram program;
  CHECK(nvrtcCreateProgram(&program, source, name, 0, nullptr, nullptr));
  const char* options[] = {"-dlto", "-rdc=true", "-arch=compute_80"};
  nvrtcResult result = nvrtcCompileProgram(program, 3, options);
  size_t size;
  if (result) {
    CHECK(nvrtcGetProgramLogSize(program, &size));
    std::string log(size, ' ');
    CHECK(nvrtcGetProgramLog(program, &log[0]));
    puts(log.c_str());
    exit(1);
  }
  CHECK(nvrtcGetLTOIRSize(program, &size));
  std::vector<char> code(size);
  CHECK(nvrtcGetLTOIR(program, code.data()));
  CHECK(nvrtcDestroyProgram(&program));
  return code;
}
int main() {
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  int major, minor;
  CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  auto a = lto("__device__ float f(float x) { return x * 2 + 1; }", "f.cu");
  auto b =
      lto("__device__ float f(float); extern \"C\" __global__ void apply(float* p) { p[threadIdx.x] = "
          "f(p[threadIdx.x]); }",
          "k.cu");
  std::string arch = "-arch=sm_" + std::to_string(major * 10 + minor);
  const char* options[] = {"-lto", arch.c_str()};
  nvJitLinkHandle link;
  CHECK(nvJitLinkCreate(&link, 2, options));
  CHECK(nvJitLinkAddData(link, NVJITLINK_INPUT_LTOIR, a.data(), a.size(), "f"));
  CHECK(nvJitLinkAddData(link, NVJITLINK_INPUT_LTOIR, b.data(), b.size(), "k"));
  CHECK(nvJitLinkComplete(link));
  size_t size;
  CHECK(nvJitLinkGetLinkedCubinSize(link, &size));
  std::vector<char> cubin(size);
  CHECK(nvJitLinkGetLinkedCubin(link, cubin.data()));
  CHECK(nvJitLinkDestroy(&link));
  CUlibrary library;
  CHECK(cuLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel;
  CHECK(cuLibraryGetKernel(&kernel, library, "apply"));
  CUdeviceptr p;
  float h[32];
  for (int i = 0; i < 32; ++i) h[i] = i;
  CHECK(cuMemAlloc(&p, 128));
  CHECK(cuMemcpyHtoD(p, h, 128));
  void* arguments[] = {&p};
  CHECK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(h, p, 128));
  for (int i = 0; i < 32; ++i) EXPECT(h[i] == 2 * i + 1);
  puts("ok");
}
