// Two devices: every form of a copy between them, 1 MiB each, and copies and kernels that are none. Prints how many there were.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../../programs/expect.h"
#define COPY(call) EXPECT((call) == cudaSuccess && ++copies)

constexpr size_t kSide = 1024, kBytes = kSide * kSide;

__device__ char variable[kBytes];
__global__ void touch(char* to, const char* from) { to[threadIdx.x] += from[threadIdx.x]; }

template <class Function>
Function driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  OK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
  EXPECT(result == cudaDriverEntryPointSuccess);
  return reinterpret_cast<Function>(found);
}

int main() {
  using Address = unsigned long long;
  char *here = nullptr, *near = nullptr, *there = nullptr, *everywhere = nullptr, *host = nullptr, *far_variable = nullptr;
  int copies = 0;
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&there, kBytes));
  OK(cudaMemset(there, 5, kBytes));
  OK(cudaGetSymbolAddress(reinterpret_cast<void**>(&far_variable), variable));
  cudaArray_t array;
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
  OK(cudaMallocArray(&array, &bytes, kSide, kSide));
  OK(cudaSetDevice(0));
  OK(cudaMalloc(&here, kBytes));
  OK(cudaMalloc(&near, kBytes));
  OK(cudaMallocManaged(&everywhere, kBytes));
  OK(cudaMallocHost(&host, kBytes));
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  COPY(cudaMemcpyPeer(here, 0, there, 1, kBytes));
  COPY(cudaMemcpyPeerAsync(there, 1, here, 0, kBytes, stream));
  COPY(cudaMemcpy(here, there, kBytes, cudaMemcpyDeviceToDevice));
  COPY(cudaMemcpyAsync(here, there, kBytes, cudaMemcpyDefault, stream));
  COPY(cudaMemcpy2DAsync(there, kSide, here, kSide, kSide, kSide, cudaMemcpyDeviceToDevice, stream));
  COPY(cudaMemcpyAsync(far_variable, here, kBytes, cudaMemcpyDeviceToDevice, stream));
  COPY(cudaMemcpy2DToArray(array, 0, 0, here, kSide, kSide, kSide, cudaMemcpyDeviceToDevice));
  cudaMemcpy3DPeerParms box{};
  box.srcDevice = 1, box.srcPtr = make_cudaPitchedPtr(there, kSide, kSide, kSide);
  box.dstDevice = 0, box.dstPtr = make_cudaPitchedPtr(here, kSide, kSide, kSide);
  box.extent = make_cudaExtent(kSide, kSide, 1);
  COPY(cudaMemcpy3DPeerAsync(&box, stream));
  COPY(cudaError_t(driver<int (*)(Address, Address, size_t)>("cuMemcpyDtoD")(Address(here), Address(there), kBytes)));
  COPY(cudaError_t(driver<int (*)(Address, void*, Address, void*, size_t)>("cuMemcpyPeer")(Address(here), nullptr, Address(there), nullptr, kBytes)));
  // A node of a graph, launched twice.
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMemcpyPeerAsync(there, 1, here, 0, kBytes, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&instance, graph, 0));
  COPY(cudaGraphLaunch(instance, stream));
  COPY(cudaGraphLaunch(instance, stream));

  // None of these is one.
  OK(cudaMemcpyPeer(near, 0, here, 0, kBytes));
  OK(cudaMemcpy(near, here, kBytes, cudaMemcpyDefault));
  OK(cudaMemcpy(everywhere, there, kBytes, cudaMemcpyDefault));
  OK(cudaMemcpy(host, there, kBytes, cudaMemcpyDefault));
  OK(cudaMemcpy(there, host, kBytes, cudaMemcpyDefault));
  EXPECT(host[kBytes - 1] == 5);
  touch<<<1, 32, 0, stream>>>(here, near);
  touch<<<1, 32, 0, stream>>>(here, there);  // two of them reach into the other's memory
  touch<<<1, 32, 0, stream>>>(there, here);
  OK(cudaDeviceSynchronize());
  std::printf("%d copies\n", copies);
}
