// Graphs that allocate: the address of a node, memory that comes with a launch and goes with a free node, the program's own free or the next
// launch; what stands behind it, and what CUDA refuses.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../../programs/expect.h"

constexpr size_t kMebibyte = 1 << 20, kSize = 64 * kMebibyte;  // whole blocks of the driver's pools
constexpr int kCount = 4096;

__global__ void fill(int* p, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) p[i] = value + i;
}
__global__ void sum(const int* p, int* out) {
  if (threadIdx.x == 0) *out = p[0] + p[kCount - 1];
}

cudaStream_t stream;
int* result;  // managed

size_t attribute(cudaGraphMemAttributeType which) {
  size_t value = ~size_t{0};
  OK(cudaDeviceGetGraphMemAttribute(0, which, &value));
  return value;
}
size_t used() { return attribute(cudaGraphMemAttrUsedMemCurrent); }
size_t reserved() { return attribute(cudaGraphMemAttrReservedMemCurrent); }
size_t available() {
  size_t free_bytes, total;
  OK(cudaMemGetInfo(&free_bytes, &total));
  return free_bytes;
}
void trim() { OK(cudaDeviceGraphMemTrim(0)); }

cudaGraphNode_t allocate(cudaGraph_t graph, cudaGraphNode_t after, size_t size, void** p) {
  cudaMemAllocNodeParams wanted = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location.type = cudaMemLocationTypeDevice;
  wanted.bytesize = size;
  cudaGraphNode_t node;
  OK(cudaGraphAddMemAllocNode(&node, graph, &after, after == nullptr ? 0 : 1, &wanted));
  EXPECT(wanted.dptr != nullptr);
  *p = wanted.dptr;
  return node;
}
cudaGraphNode_t release(cudaGraph_t graph, cudaGraphNode_t after, void* p) {
  cudaGraphNode_t node;
  OK(cudaGraphAddMemFreeNode(&node, graph, &after, after == nullptr ? 0 : 1, p));
  return node;
}
cudaGraphExec_t instance(cudaGraph_t graph, unsigned long long flags = 0) {
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, flags));
  OK(cudaGraphDestroy(graph));
  return exec;
}
/// A captured allocation that is filled, and freed or not.
cudaGraphExec_t captured(int** p, int value, bool freed, unsigned long long flags = 0, size_t size = kSize) {
  cudaGraph_t graph;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  OK(cudaMallocAsync(p, size, stream));
  fill<<<kCount / 256, 256, 0, stream>>>(*p, value);
  sum<<<1, 32, 0, stream>>>(*p, result);
  if (freed) OK(cudaFreeAsync(*p, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  return instance(graph, flags);
}
cudaError_t launch(cudaGraphExec_t exec) {
  const cudaError_t launched = cudaGraphLaunch(exec, stream);
  OK(cudaStreamSynchronize(stream));
  return launched;
}

void freed_outside() {
  int* p;
  const cudaGraphExec_t exec = captured(&p, 5, false);
  EXPECT(used() == 0);
  cudaPointerAttributes about;
  OK(cudaPointerGetAttributes(&about, p));
  EXPECT(about.type == cudaMemoryTypeUnregistered);  // as an H100 says
  EXPECT(cudaFree(p) == cudaErrorInvalidValue);  // nothing is there yet
  for (int round = 0; round < 3; ++round) {
    *result = 0;
    OK(launch(exec));
    EXPECT(*result == 10 + kCount - 1);
    // It outlives the launch, and is where it was.
    fill<<<kCount / 256, 256, 0, stream>>>(p, round);
    sum<<<1, 32, 0, stream>>>(p, result);
    OK(cudaStreamSynchronize(stream));
    EXPECT(*result == 2 * round + kCount - 1);
    EXPECT(used() == kSize && reserved() == kSize);
    EXPECT(launch(exec) == cudaErrorInvalidValue);  // unfreed
    if (round == 1) {
      OK(cudaFree(p));
    } else {
      OK(cudaFreeAsync(p, stream));
    }
    EXPECT(cudaFreeAsync(p, stream) == cudaErrorInvalidValue);
    EXPECT(used() == kSize);  // the graph keeps it mapped
  }
  OK(cudaGraphExecDestroy(exec));
  trim();
  EXPECT(used() == 0 && reserved() == 0);
}

void freed_by_the_next_launch() {
  int* p;
  const cudaGraphExec_t exec = captured(&p, 7, false, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int round = 0; round < 3; ++round) {
    OK(launch(exec));
    EXPECT(*result == 14 + kCount - 1);
  }
  EXPECT(used() == kSize);
  // What lives when its graph ends goes on until it is freed.
  OK(cudaGraphExecDestroy(exec));
  trim();
  EXPECT(reserved() == kSize);
  int last = 0;
  OK(cudaMemcpy(&last, p + kCount - 1, sizeof last, cudaMemcpyDeviceToHost));
  EXPECT(last == 7 + kCount - 1);
  OK(cudaFree(p));
  trim();
  EXPECT(reserved() == 0);
}

void freed_by_another_graph() {
  int* p;
  cudaGraph_t graph;
  const cudaGraphExec_t exec = captured(&p, 9, false);
  OK(cudaGraphCreate(&graph, 0));
  release(graph, nullptr, p);
  cudaGraphNode_t node;
  EXPECT(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, p) == cudaErrorInvalidValue);  // twice
  const cudaGraphExec_t freeing = instance(graph);
  EXPECT(launch(freeing) == cudaErrorInvalidValue);  // nothing to free
  for (int round = 0; round < 2; ++round) {
    OK(launch(exec));
    OK(launch(freeing));
    EXPECT(cudaFreeAsync(p, stream) == cudaErrorInvalidValue);
  }
  OK(cudaGraphExecDestroy(freeing));
  OK(cudaGraphExecDestroy(exec));
  trim();
  EXPECT(reserved() == 0);
}

void shared_by_graphs() {
  cudaGraphExec_t execs[4];
  int* p[4];
  for (int i = 0; i < 4; ++i) execs[i] = captured(&p[i], i, true, 0, kSize + i * kSize);
  for (int i = 1; i < 4; ++i) EXPECT(p[i] != p[0]);
  EXPECT(used() == 0 && reserved() == 0);
  const size_t before = available();
  size_t most = 0;
  for (const int i : {0, 1, 3, 2, 0}) {
    OK(launch(execs[i]));
    EXPECT(*result == 2 * i + kCount - 1);
    if (most < kSize + i * kSize) most = kSize + i * kSize;
    EXPECT(reserved() == most && before - available() == most);
  }
  EXPECT(cudaFree(p[0]) == cudaErrorInvalidValue);  // its graph frees it
  trim();
  EXPECT(used() == 0 && reserved() == 0 && available() == before);
  OK(launch(execs[0]));  // mapped again
  EXPECT(used() == kSize);
  for (const cudaGraphExec_t exec : execs) OK(cudaGraphExecDestroy(exec));
  trim();
  EXPECT(available() == before);
  EXPECT(attribute(cudaGraphMemAttrUsedMemHigh) == 4 * kSize &&
         attribute(cudaGraphMemAttrReservedMemHigh) == 4 * kSize);
  size_t none = 0, one = 1;
  EXPECT(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &one) == cudaErrorInvalidValue);
  EXPECT(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &none) == cudaErrorInvalidValue);
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &none));
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &none));
  EXPECT(attribute(cudaGraphMemAttrUsedMemHigh) == 0 && attribute(cudaGraphMemAttrReservedMemHigh) == 0);
}

/// What is unfreed is nobody else's.
void unfreed_are_apart() {
  int *a, *b;
  const cudaGraphExec_t first = captured(&a, 1, false), second = captured(&b, 2, false);
  OK(launch(first));
  OK(launch(second));
  EXPECT(used() == 2 * kSize);
  trim();
  EXPECT(used() == 2 * kSize);
  int values[2];
  OK(cudaMemcpy(&values[0], a, sizeof(int), cudaMemcpyDeviceToHost));
  OK(cudaMemcpy(&values[1], b, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(values[0] == 1 && values[1] == 2);
  OK(cudaFree(a));
  OK(cudaFree(b));
  EXPECT(used() == 2 * kSize);
  trim();
  EXPECT(used() == 0);
  OK(cudaGraphExecDestroy(first));
  OK(cudaGraphExecDestroy(second));
}

void many_graphs() {
  const size_t before = available();
  for (int i = 0; i < 50; ++i) {
    int* p;
    const cudaGraphExec_t exec = captured(&p, i, true, 0, 1024 * kMebibyte);
    OK(launch(exec));
    EXPECT(*result == 2 * i + kCount - 1);
    OK(cudaGraphExecDestroy(exec));
    EXPECT(before - available() == 1024 * kMebibyte);
  }
  trim();
  EXPECT(available() == before);
}

/// A freed address goes to what is allocated behind it; small allocations lie together.
void addresses_in_a_graph() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  void *a, *b, *c, *small[8];
  cudaGraphNode_t node = allocate(graph, nullptr, kSize, &a);
  node = release(graph, node, a);
  node = allocate(graph, node, kSize, &b);
  allocate(graph, nullptr, kSize, &c);  // before or behind: nothing says so
  EXPECT(a == b && c != a);
  node = release(graph, node, b);
  for (void*& p : small) node = allocate(graph, node, 1000, &p);
  for (void* p : small) node = release(graph, node, p);
  const cudaGraphExec_t exec = instance(graph);
  OK(cudaGraphUpload(exec, stream));
  const size_t uploaded = used();
  EXPECT(uploaded > 2 * kSize && uploaded <= 2 * kSize + 32 * kMebibyte);
  OK(launch(exec));
  EXPECT(used() == uploaded);
  OK(cudaFree(c));
  OK(cudaGraphExecDestroy(exec));
  trim();
}

void too_much() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  size_t free_bytes, total;
  OK(cudaMemGetInfo(&free_bytes, &total));
  void* p;
  for (int i = 0; i < 3; ++i) allocate(graph, nullptr, total / 2, &p);
  const cudaGraphExec_t exec = instance(graph);
  EXPECT(cudaGraphLaunch(exec, stream) == cudaErrorMemoryAllocation);
  OK(cudaGraphExecDestroy(exec));
  trim();
  EXPECT(available() == free_bytes);
}

void what_is_refused() {
  cudaGraph_t graph, other, clone;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphCreate(&other, 0));
  void* p;
  const cudaGraphNode_t allocation = allocate(graph, nullptr, 4096, &p);
  cudaGraphNode_t empty, node;
  OK(cudaGraphAddEmptyNode(&empty, graph, &allocation, 1));
  EXPECT(cudaGraphClone(&clone, graph) == cudaErrorNotSupported);
  EXPECT(cudaGraphAddChildGraphNode(&node, other, nullptr, 0, graph) == cudaErrorNotSupported);
  EXPECT(cudaGraphDestroyNode(allocation) == cudaErrorNotSupported);
  EXPECT(cudaGraphDestroyNode(empty) == cudaErrorNotSupported);
  EXPECT(cudaGraphRemoveDependencies(graph, &allocation, &empty, nullptr, 1) == cudaErrorNotSupported);
  cudaGraphExec_t exec, second;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(cudaGraphInstantiate(&second, graph, 0) == cudaErrorNotSupported);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphExecDestroy(exec));

  cudaMemAllocNodeParams wanted = {};
  EXPECT(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted) == cudaErrorInvalidValue);
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location.type = cudaMemLocationTypeDevice;
  EXPECT(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted) == cudaErrorInvalidValue);  // no bytes
  wanted.bytesize = ~size_t{0};
  EXPECT(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted) == cudaErrorMemoryAllocation);
  wanted.bytesize = 4096;
  wanted.poolProps.location.id = 9;
  EXPECT(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &wanted) == cudaErrorInvalidValue);
  EXPECT(wanted.dptr == nullptr);

  int on_host;
  void* plain;
  OK(cudaMalloc(&plain, 4096));
  EXPECT(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, &on_host) == cudaErrorInvalidValue);
  EXPECT(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, plain) == cudaErrorInvalidValue);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT(cudaFreeAsync(plain, stream) == cudaErrorInvalidValue);
  cudaGraph_t ended = nullptr;
  (void)cudaStreamEndCapture(stream, &ended);
  if (ended != nullptr) OK(cudaGraphDestroy(ended));
  (void)cudaGetLastError();
  OK(cudaFree(plain));
  release(other, nullptr, p);
  EXPECT(cudaGraphAddMemFreeNode(&node, graph, &empty, 1, p) == cudaErrorInvalidValue);  // another graph frees it
  EXPECT(cudaGraphClone(&clone, other) == cudaErrorNotSupported);
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(other));
}

/// A child graph that becomes its parent's may allocate.
void moved_child() {
  cudaGraph_t child, parent;
  OK(cudaGraphCreate(&child, 0));
  OK(cudaGraphCreate(&parent, 0));
  void* p;
  cudaGraphNode_t node = allocate(child, nullptr, kSize, &p);
  cudaMemsetParams set = {};
  set.dst = p;
  set.elementSize = 4;
  set.value = 33;
  set.width = kCount;
  set.height = 1;
  cudaGraphNode_t filled;
  OK(cudaGraphAddMemsetNode(&filled, child, &node, 1, &set));
  OK(cudaGraphAddMemcpyNode1D(&node, child, &filled, 1, result, p, sizeof(int), cudaMemcpyDefault));
  release(child, node, p);
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = child;
  params.graph.ownership = cudaGraphChildGraphOwnershipMove;
  OK(cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &params));
  const cudaGraphExec_t exec = instance(parent);
  for (int round = 0; round < 2; ++round) {
    *result = 0;
    OK(launch(exec));
    EXPECT(*result == 33 && used() == kSize);
  }
  OK(cudaGraphExecDestroy(exec));
  trim();
}

int main() {
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaMallocManaged(&result, sizeof(int)));
  int* p;
  OK(cudaMalloc(&p, kCount * sizeof(int)));
  fill<<<kCount / 256, 256, 0, stream>>>(p, 0);  // loads the code
  OK(cudaDeviceSynchronize());
  OK(cudaFree(p));
  freed_outside();
  freed_by_the_next_launch();
  freed_by_another_graph();
  shared_by_graphs();
  unfreed_are_apart();
  many_graphs();
  addresses_in_a_graph();
  too_much();
  what_is_refused();
  moved_child();
  const cudaGraphExec_t exec = captured(&p, 3, false);
  OK(launch(exec));
  OK(cudaDeviceReset());
  EXPECT(used() == 0 && reserved() == 0);
  std::puts("ok");
}
