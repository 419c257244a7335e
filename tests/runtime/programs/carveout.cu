// A kernel that reads the same 64 KiB again and again, launched with a preferred carve-out: of the launch, of the kernel, of a
// graph's node. Each launch is a line of the report; they are in threes that must be alike.
#include <cuda_runtime.h>

#include <cstdio>

#define OK(x) do { const cudaError_t code_ = (x); if (code_ != cudaSuccess) { std::printf("%s: %s\n", #x, cudaGetErrorString(code_)); return 1; } } while (0)

__global__ void again(const float* in, float* out, int rounds) {
  float sum = 0;
  for (int round = 0; round < rounds; ++round)
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) sum += in[(i + 32 * round) & 16383];
  out[threadIdx.x] = sum;
}

/// The graph's one node has the launch's carve-out; the runtime refuses what is out of range and keeps the rest.
int node_keeps_attributes(cudaGraph_t graph, unsigned percent) {
  cudaGraphNode_t node;
  size_t count = 1;
  cudaLaunchAttributeValue value{};
  OK(cudaGraphGetNodes(graph, &node, &count));
  OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePreferredSharedMemoryCarveout, &value));
  const bool kept = value.sharedMemCarveout == percent;
  value.sharedMemCarveout = 101;
  const bool refused = cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePreferredSharedMemoryCarveout,
                                                       &value) == cudaErrorInvalidValue;
  value.priority = -9;
  OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
  OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value));
  if (kept && refused && value.priority == -5) return 0;
  std::printf("node: %d %d %d\n", kept, refused, value.priority);
  return 1;
}

int main() {
  float *in, *out;
  OK(cudaMalloc(&in, 65536));
  OK(cudaMalloc(&out, 4096));
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int rounds = 8;
  void* arguments[] = {&in, &out, &rounds};
  for (const int percent : {100, 0}) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    attribute.val.sharedMemCarveout = percent;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(256);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    // The launch's goes before the kernel's.
    OK(cudaFuncSetAttribute(again, cudaFuncAttributePreferredSharedMemoryCarveout, 100 - percent));
    OK(cudaLaunchKernelExC(&config, (const void*)again, arguments));
    OK(cudaFuncSetAttribute(again, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
    OK(cudaLaunchKernel((const void*)again, dim3(1), dim3(256), arguments, 0, stream));
    OK(cudaFuncSetAttribute(again, cudaFuncAttributePreferredSharedMemoryCarveout, 100 - percent));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaLaunchKernelExC(&config, (const void*)again, arguments));
    OK(cudaStreamEndCapture(stream, &graph));
    if (node_keeps_attributes(graph, percent)) return 1;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
  }
  std::printf("ok\n");
  return 0;
}
