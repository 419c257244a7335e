// The runtime's calls beyond launches and copies: device queries, occupancy, function attributes, streams with events and
// callbacks, graphs captured and built by hand, pools, managed memory, symbols, error codes.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

static int failures = 0;
#define OK(call)                                                                                  \
  do {                                                                                            \
    cudaError_t e_ = (call);                                                                      \
    if (e_ != cudaSuccess) {                                                                      \
      printf("line %d: %s: %s (%s)\n", __LINE__, #call, cudaGetErrorName(e_), cudaGetErrorString(e_)); \
      ++failures;                                                                                 \
    }                                                                                             \
  } while (0)
#define EXPECT(condition)                                       \
  do {                                                          \
    if (!(condition)) {                                         \
      printf("line %d: expected %s\n", __LINE__, #condition);   \
      ++failures;                                               \
    }                                                           \
  } while (0)

struct Settings { float scale; int offset; };
__constant__ Settings c_settings;
__device__ int d_counter;
__managed__ int m_value = 7;
__device__ float d_table[8];

__global__ void add(int* a, int value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += value;
}
__global__ void use_settings(float* out) {
  out[threadIdx.x] = c_settings.scale * float(threadIdx.x) + float(c_settings.offset);
  if (threadIdx.x == 0) atomicAdd(&d_counter, 5);
  if (threadIdx.x < 8) d_table[threadIdx.x] += 1.5f;
}
__global__ void touch_managed(int* p) {
  p[threadIdx.x] *= 2;
  if (threadIdx.x == 0) m_value += 3;
}
__global__ void __launch_bounds__(192) bounded(int* out) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}
__global__ void mul(int* a, const int* b, int n) {
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) a[i] *= b[i];
}

static void device_queries() {
  int count = 0, device = -1, value = 0, driver = 0, runtime = 0;
  OK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  OK(cudaSetDevice(0));
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaSuccess);
  OK(cudaGetDevice(&device));
  cudaDeviceProp p;
  OK(cudaGetDeviceProperties(&p, device));
  EXPECT(p.warpSize == 32 && p.major >= 8 && p.multiProcessorCount > 0 && p.name[0] != 0);
  EXPECT(p.sharedMemPerBlock == 49152 && p.maxThreadsPerBlock == 1024 && p.totalGlobalMem > (1ull << 30));
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
  EXPECT(value == p.multiProcessorCount);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, device));
  EXPECT(value == p.major);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, device));
  EXPECT(value > 1000000);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, device));
  EXPECT(value == (p.major >= 9));
  OK(cudaRuntimeGetVersion(&runtime));
  OK(cudaDriverGetVersion(&driver));
  EXPECT(runtime == CUDART_VERSION && driver >= runtime);
  size_t free_bytes = 0, total = 0;
  OK(cudaMemGetInfo(&free_bytes, &total));
  EXPECT(total == p.totalGlobalMem && free_bytes <= total);
  int least = 0, greatest = 0;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest < least);
  EXPECT(strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
  EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  char bus[32];
  OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  OK(cudaDeviceGetByPCIBusId(&device, bus));
  int peer = 1;
  OK(cudaDeviceCanAccessPeer(&peer, 0, 0));
  EXPECT(peer == 0);
  OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 21));
}

static void functions_and_occupancy() {
  cudaFuncAttributes a;
  OK(cudaFuncGetAttributes(&a, bounded));
  EXPECT(a.maxThreadsPerBlock == 192 && a.numRegs > 0 && a.sharedSizeBytes == 0);
  int blocks = 0, minimum = 0, size = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  EXPECT(blocks >= 4 && blocks <= 8);
  OK(cudaOccupancyMaxPotentialBlockSize(&minimum, &size, add, 0, 0));
  EXPECT(size >= 256 && size % 32 == 0 && minimum >= 1);
  OK(cudaOccupancyMaxPotentialBlockSize(&minimum, &size, bounded, 1024, 0));
  EXPECT(size <= 192);
  size_t dynamic = 0;
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, bounded, 1, 128));
  EXPECT(dynamic == 48 * 1024);  // no more than the kernel may have (an H100: validate/measurements/driver_calls)
  int* out;
  OK(cudaMalloc(&out, 192 * sizeof(int)));
  bounded<<<1, 192, 60 * 1024>>>(out);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, bounded, 1, 128));
  EXPECT(dynamic == 64 * 1024);
  bounded<<<1, 192, 60 * 1024>>>(out);
  OK(cudaGetLastError());
  bounded<<<1, 256, 1024>>>(out);
  EXPECT(cudaGetLastError() != cudaSuccess);
  bounded<<<1, 2048>>>(out);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  std::vector<int> host(192);
  OK(cudaMemcpy(host.data(), out, 192 * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 191 && host[191] == 0);
  OK(cudaFree(out));
  EXPECT(cudaFree(out) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

static void symbols() {
  Settings settings{2.0f, 100}, back{};
  OK(cudaMemcpyToSymbol(c_settings, &settings, sizeof settings));
  OK(cudaMemcpyFromSymbol(&back, c_settings, sizeof back));
  EXPECT(back.offset == 100);
  float* out;
  OK(cudaMalloc(&out, 32 * sizeof(float)));
  use_settings<<<1, 32>>>(out);
  int counter = 0, offset = 50;
  OK(cudaMemcpyFromSymbol(&counter, d_counter, sizeof counter));
  EXPECT(counter == 5);
  OK(cudaMemcpyToSymbol(c_settings, &offset, sizeof offset, offsetof(Settings, offset)));
  use_settings<<<1, 32>>>(out);
  float host[32], table[8];
  OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[3] == 56.0f);
  void* address = nullptr;
  size_t size = 0;
  OK(cudaGetSymbolAddress(&address, d_table));
  OK(cudaGetSymbolSize(&size, d_table));
  EXPECT(size == sizeof table);
  OK(cudaMemcpy(table, address, size, cudaMemcpyDeviceToHost));
  EXPECT(table[7] == 3.0f);
  OK(cudaFree(out));
}

static void CUDART_CB count_callback(cudaStream_t, cudaError_t status, void* data) {
  if (status == cudaSuccess) ++*static_cast<std::atomic<int>*>(data);
}
static void CUDART_CB count_host(void* data) { ++*static_cast<std::atomic<int>*>(data); }

static void streams_and_events() {
  const int n = 1000;
  int *a, *host;
  OK(cudaMalloc(&a, n * sizeof(int)));
  OK(cudaMallocHost(&host, n * sizeof(int)));
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaStream_t one, two;
  OK(cudaStreamCreate(&one));
  OK(cudaStreamCreateWithPriority(&two, cudaStreamNonBlocking, -1));
  unsigned flags = 0;
  int priority = 0;
  OK(cudaStreamGetFlags(two, &flags));
  OK(cudaStreamGetPriority(two, &priority));
  EXPECT(flags == cudaStreamNonBlocking && priority == -1);
  cudaEvent_t start, middle, stop;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreateWithFlags(&middle, cudaEventDisableTiming));
  OK(cudaEventCreate(&stop));
  float ms = -1;
  EXPECT(cudaEventElapsedTime(&ms, start, stop) == cudaErrorInvalidResourceHandle);
  (void)cudaGetLastError();
  OK(cudaEventRecord(start, one));
  OK(cudaMemcpyAsync(a, host, n * sizeof(int), cudaMemcpyHostToDevice, one));
  add<<<(n + 127) / 128, 128, 0, one>>>(a, 10, n);
  OK(cudaEventRecord(middle, one));
  OK(cudaStreamWaitEvent(two, middle, 0));
  add<<<(n + 127) / 128, 128, 0, two>>>(a, 100, n);
  std::atomic<int> calls{0};
  OK(cudaStreamAddCallback(two, count_callback, &calls, 0));
  OK(cudaLaunchHostFunc(two, count_host, &calls));
  OK(cudaMemcpyAsync(host, a, n * sizeof(int), cudaMemcpyDeviceToHost, two));
  OK(cudaEventRecord(stop, two));
  OK(cudaStreamSynchronize(two));
  OK(cudaStreamQuery(one));
  OK(cudaEventQuery(stop));
  OK(cudaEventSynchronize(stop));
  OK(cudaEventElapsedTime(&ms, start, stop));
  EXPECT(ms >= 0 && calls == 2 && host[5] == 115 && host[999] == 1109);
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(middle));
  OK(cudaEventDestroy(stop));
  OK(cudaStreamDestroy(one));
  OK(cudaStreamDestroy(two));
  OK(cudaFreeHost(host));
  OK(cudaFree(a));
}

static void captured_graph() {
  const int n = 256;
  int *a, *b, host[256];
  OK(cudaMalloc(&a, n * sizeof(int)));
  OK(cudaMalloc(&b, n * sizeof(int)));
  cudaStream_t s, t;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  OK(cudaMemsetAsync(a, 0, n * sizeof(int), s));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(t, fork, 0));
  OK(cudaMemsetAsync(b, 0, n * sizeof(int), t));
  add<<<2, 128, 0, t>>>(b, 3, n);
  OK(cudaEventRecord(join, t));
  add<<<2, 128, 0, s>>>(a, 4, n);
  OK(cudaStreamWaitEvent(s, join, 0));
  mul<<<2, 128, 0, s>>>(a, b, n);
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(t, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  cudaGraph_t graph;
  OK(cudaStreamEndCapture(s, &graph));
  size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 5);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(exec, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 12 && host[255] == 12);

  // Capture again with another value and update the instance.
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  OK(cudaMemsetAsync(a, 0, n * sizeof(int), s));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(t, fork, 0));
  OK(cudaMemsetAsync(b, 0, n * sizeof(int), t));
  add<<<2, 128, 0, t>>>(b, 5, n);
  OK(cudaEventRecord(join, t));
  add<<<2, 128, 0, s>>>(a, 4, n);
  OK(cudaStreamWaitEvent(s, join, 0));
  mul<<<2, 128, 0, s>>>(a, b, n);
  cudaGraph_t again;
  OK(cudaStreamEndCapture(s, &again));
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(exec, again, &info));
  OK(cudaGraphLaunch(exec, s));
  OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[17] == 20);

  // What a capture forbids.
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported);
  cudaGraph_t none;
  EXPECT(cudaStreamEndCapture(s, &none) == cudaErrorStreamCaptureInvalidated);
  (void)cudaGetLastError();
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(again));
  OK(cudaEventDestroy(fork));
  OK(cudaEventDestroy(join));
  OK(cudaStreamDestroy(s));
  OK(cudaStreamDestroy(t));
  OK(cudaFree(a));
  OK(cudaFree(b));
}

// A stream that took part may be destroyed before the capture ends, once others wait for its work.
static void capture_without_its_second_stream(bool joined) {
  int *a, host = 0;
  OK(cudaMalloc(&a, sizeof(int)));
  OK(cudaMemset(a, 0, sizeof(int)));
  cudaStream_t s, t;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(t, fork, 0));
  add<<<1, 32, 0, t>>>(a, 3, 1);
  OK(cudaEventRecord(join, t));
  if (joined) OK(cudaStreamWaitEvent(s, join, 0));
  OK(cudaStreamDestroy(t));
  OK(cudaEventDestroy(fork));
  OK(cudaEventDestroy(join));
  cudaGraph_t graph;
  if (joined) {
    OK(cudaStreamEndCapture(s, &graph));
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaMemcpy(&host, a, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host == 3);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
  } else {
    EXPECT(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureUnjoined);
    (void)cudaGetLastError();
  }
  OK(cudaStreamDestroy(s));
  OK(cudaFree(a));
}

static void built_graph() {
  const int n = 64;
  int *a, host[64], source[64];
  for (int i = 0; i < n; ++i) source[i] = i;
  OK(cudaMalloc(&a, sizeof host));
  cudaGraph_t graph, child;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t in, kernel, out, call, inner, empty, whole;
  OK(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, a, source, sizeof source, cudaMemcpyHostToDevice));
  int value = 5, count = n;
  void* arguments[] = {&a, &value, &count};
  cudaKernelNodeParams parameters{};
  parameters.func = (void*)add;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(64);
  parameters.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&kernel, graph, &in, 1, &parameters));
  OK(cudaGraphCreate(&child, 0));
  OK(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &parameters));
  OK(cudaGraphAddChildGraphNode(&whole, graph, &kernel, 1, child));
  OK(cudaGraphAddEmptyNode(&empty, graph, &whole, 1));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(a, sizeof host, n, 1);
  copy.dstPtr = make_cudaPitchedPtr(host, sizeof host, n, 1);
  copy.extent = make_cudaExtent(sizeof host, 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaGraphAddMemcpyNode(&out, graph, &empty, 1, &copy));
  std::atomic<int> calls{0};
  cudaHostNodeParams function{count_host, &calls};
  OK(cudaGraphAddHostNode(&call, graph, &out, 1, &function));
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(host[0] == 10 && host[63] == 73 && calls == 1);
  value = 1000;  // the instance keeps what it was made with
  OK(cudaGraphLaunch(exec, 0));
  EXPECT(host[1] == 11);
  OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &parameters));
  OK(cudaGraphLaunch(exec, 0));
  EXPECT(host[1] == 1006 && calls == 3);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(call, &type));
  EXPECT(type == cudaGraphNodeTypeHost);
  size_t edges = 0;
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT(edges == 5);
  cudaGraph_t clone;
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphDestroy(clone));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(child));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(a));
}

static void memory_kinds() {
  int* managed;
  OK(cudaMallocManaged(&managed, 32 * sizeof(int)));
  for (int i = 0; i < 32; ++i) managed[i] = i;
  cudaMemLocation place{cudaMemLocationTypeDevice, 0};
  OK(cudaMemAdvise(managed, 32 * sizeof(int), cudaMemAdviseSetReadMostly, place));
  OK(cudaMemPrefetchAsync(managed, 32 * sizeof(int), place, 0, 0));
  touch_managed<<<1, 32>>>(managed);
  OK(cudaDeviceSynchronize());
  EXPECT(managed[31] == 62 && m_value == 10);
  m_value = 20;
  touch_managed<<<1, 32>>>(managed);
  OK(cudaDeviceSynchronize());
  EXPECT(m_value == 23);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  OK(cudaFree(managed));

  cudaMemPool_t pool, own;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = ~0ull, got = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
  EXPECT(got == threshold);
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = place;
  OK(cudaMemPoolCreate(&own, &properties));
  int *a, *b;
  OK(cudaMallocAsync(&a, 128 * sizeof(int), 0));
  OK(cudaMallocFromPoolAsync(&b, 128 * sizeof(int), own, 0));
  OK(cudaMemsetAsync(a, 0, 128 * sizeof(int), 0));
  add<<<1, 128>>>(a, 9, 128);
  OK(cudaMemcpyAsync(b, a, 128 * sizeof(int), cudaMemcpyDeviceToDevice, 0));
  int last = 0;
  OK(cudaMemcpy(&last, b + 127, sizeof last, cudaMemcpyDeviceToHost));
  EXPECT(last == 9);
  OK(cudaFreeAsync(a, 0));
  OK(cudaFreeAsync(b, 0));
  OK(cudaMemPoolDestroy(own));

  // Pitched rows, and a mapped host buffer that a kernel writes to.
  size_t pitch = 0;
  char* rows;
  OK(cudaMallocPitch((void**)&rows, &pitch, 100, 10));
  EXPECT(pitch >= 100 && pitch % 32 == 0);
  OK(cudaMemset2D(rows, pitch, 1, 100, 10));
  char back[10][100];
  OK(cudaMemcpy2D(back, 100, rows, pitch, 100, 10, cudaMemcpyDeviceToHost));
  EXPECT(back[9][99] == 1 && back[0][0] == 1);
  OK(cudaFree(rows));
  int *mapped, *seen;
  OK(cudaHostAlloc(&mapped, 64 * sizeof(int), cudaHostAllocMapped));
  memset(mapped, 0, 64 * sizeof(int));
  OK(cudaHostGetDevicePointer(&seen, mapped, 0));
  add<<<1, 64>>>(seen, 77, 64);
  OK(cudaDeviceSynchronize());
  EXPECT(mapped[63] == 77);
  OK(cudaFreeHost(mapped));
  std::vector<int> registered(64, 1);
  OK(cudaHostRegister(registered.data(), 64 * sizeof(int), cudaHostRegisterDefault));
  add<<<1, 64>>>(registered.data(), 1, 64);
  OK(cudaDeviceSynchronize());
  EXPECT(registered[63] == 2);
  OK(cudaHostUnregister(registered.data()));
}

static void launch_forms() {
  int* a;
  OK(cudaMalloc(&a, 64 * sizeof(int)));
  OK(cudaMemset(a, 0, 64 * sizeof(int)));
  int value = 2, n = 64;
  void* arguments[] = {&a, &value, &n};
  OK(cudaLaunchKernel((const void*)add, dim3(1), dim3(64), arguments, 0, 0));
  OK(cudaLaunchCooperativeKernel((const void*)add, dim3(1), dim3(64), arguments, 0, 0));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(64);
  OK(cudaLaunchKernelEx(&config, add, a, 4, 64));
  int host[64];
  OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 8 && host[63] == 8);
  EXPECT(cudaLaunchKernel((const void*)add, dim3(0), dim3(64), arguments, 0, 0) == cudaErrorInvalidConfiguration);
  (void)cudaGetLastError();
  OK(cudaFree(a));
}

int main() {
  device_queries();
  functions_and_occupancy();
  symbols();
  streams_and_events();
  captured_graph();
  capture_without_its_second_stream(true);
  capture_without_its_second_stream(false);
  built_graph();
  memory_kinds();
  launch_forms();
  OK(cudaDeviceReset());
  printf(failures == 0 ? "all passed\n" : "%d failures\n", failures);
  return failures != 0;
}
