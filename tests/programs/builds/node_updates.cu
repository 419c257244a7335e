// Kernel nodes that kernels change: parameters, the grid, whether they run, one by one and as a list.
#include "check.h"

__global__ void add(int* at, int value) { atomicAdd(at, value); }

__device__ int value_of_other;

struct Nodes {
  cudaGraphDeviceNode_t one, other;
};

__global__ void change(Nodes nodes, int* to, int* codes, int step) {
  if (step == 0) {
    codes[0] = cudaGraphKernelNodeSetParam(nodes.one, 0, to);
    codes[1] = cudaGraphKernelNodeSetParam(nodes.one, sizeof(int*), 7);
    codes[2] = cudaGraphKernelNodeSetGridDim(nodes.one, dim3(3, 2, 1));
  } else if (step == 1) {
    codes[0] = cudaGraphKernelNodeSetEnabled(nodes.one, false);
  } else if (step == 2) {
    alignas(
        8) unsigned char room[3 * sizeof(cudaGraphKernelNodeUpdate)] = {};  // its union has no constructor
    auto* list = reinterpret_cast<cudaGraphKernelNodeUpdate*>(room);
    value_of_other = 100;
    list[0].node = nodes.one;
    list[0].field = cudaGraphKernelNodeFieldEnabled;
    list[0].updateData.isEnabled = 1;
    list[1].node = nodes.other;
    list[1].field = cudaGraphKernelNodeFieldParam;
    list[1].updateData.param.pValue = &value_of_other;
    list[1].updateData.param.offset = sizeof(int*);
    list[1].updateData.param.size = sizeof(int);
    list[2].node = nodes.other;
    list[2].field = cudaGraphKernelNodeFieldGridDim;
    list[2].updateData.gridDim = dim3(2, 1, 1);
    codes[0] = cudaGraphKernelNodeUpdatesApply(list, 3);
  }
}

/// A kernel node that kernels may change, after another.
cudaGraphNode_t add_node(cudaGraph_t graph, cudaGraphNode_t after, int* at, int value,
                         cudaGraphDeviceNode_t& handle) {
  cudaGraphNode_t node;
  void* arguments[] = {&at, &value};
  cudaKernelNodeParams how{};
  how.func = reinterpret_cast<void*>(add);
  how.gridDim = dim3(1);
  how.blockDim = dim3(1);
  how.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&node, graph, &after, 1, &how));
  cudaLaunchAttributeValue value_of{};
  value_of.deviceUpdatableKernelNode.deviceUpdatable = 1;
  CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeDeviceUpdatableKernelNode, &value_of));
  handle = value_of.deviceUpdatableKernelNode.devNode;
  EXPECT(handle != nullptr);
  return node;
}

int main() {
  int *words, *codes;
  CHECK(cudaMallocManaged(&words, 4 * sizeof(int)));
  CHECK(cudaMallocManaged(&codes, 4 * sizeof(int)));
  for (int i = 0; i < 4; ++i) words[i] = 0, codes[i] = -1;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaGraphCreate(&graph, 0));
  Nodes nodes{};
  int step = 0;
  int* to = words + 1;
  void* arguments[] = {&nodes, &to, &codes, &step};
  cudaGraphNode_t first;
  cudaKernelNodeParams how{};
  how.func = reinterpret_cast<void*>(change);
  how.gridDim = dim3(1);
  how.blockDim = dim3(1);
  how.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &how));
  const cudaGraphNode_t one = add_node(graph, first, words, 1, nodes.one);
  add_node(graph, one, words + 2, 10, nodes.other);
  CHECK(cudaGraphKernelNodeSetParams(first, &how));  // the handles are known now
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphUpload(exec, 0));
  const auto run = [&](int which) {
    step = which;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, first, &how));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
  };
  run(3);  // nothing is changed
  EXPECT(words[0] == 1 && words[1] == 0 && words[2] == 10);
  run(0);  // 6 blocks add 7 each to another word
  printf("codes %d %d %d, words %d %d %d\n", codes[0], codes[1], codes[2], words[0], words[1], words[2]);
  EXPECT(codes[0] == cudaSuccess && codes[1] == cudaSuccess && codes[2] == cudaSuccess);
  EXPECT(words[0] == 1 && words[1] == 42 && words[2] == 20);
  run(3);  // and stay
  EXPECT(words[0] == 1 && words[1] == 84 && words[2] == 30);
  run(1);  // off
  printf("code %d, words %d %d %d\n", codes[0], words[0], words[1], words[2]);
  EXPECT(codes[0] == cudaSuccess && words[1] == 84 && words[2] == 40);
  run(2);  // on again, the other's value and grid
  printf("code %d, words %d %d %d\n", codes[0], words[0], words[1], words[2]);
  EXPECT(codes[0] == cudaSuccess && words[1] == 126 && words[2] == 240);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  puts("ok");
}
