// A ring all-reduce by peer copies and events: sums an array over all devices, each of which ends with the sum.
//
//     ring_allreduce [BYTES [REPEATS]]
//
// Prints devices, bytes, the time of the last repeat between two events on device 0 (us), and whether every device has the right sums.
// Each device sends one part of the array to the next, n - 1 times to be added there, and n - 1 times to be kept; a part is the n-th of
// the array. One host thread asks for all of it, so that the calls stand in one order.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                    \
  do {                                                                              \
    const cudaError_t code = (call);                                                \
    if (code != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));            \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (0)

__global__ void add(float4* to, const float4* from, size_t count) {
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
    const float4 a = to[i], b = from[i];
    to[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
}

struct Gpu {
  float* data = nullptr;
  float* inbox[2] = {};      // parts that are to be added, in turn
  cudaStream_t stream = nullptr;
  cudaEvent_t sent[2] = {};  // what this device sent has arrived
  cudaEvent_t used[2] = {};  // what lay in the inbox has been added
};

static std::vector<Gpu> gpus;
static size_t part = 0;  // floats
static int blocks = 0;

static int count() { return static_cast<int>(gpus.size()); }
static int next(int d) { return (d + 1) % count(); }
static int before(int d) { return (d + count() - 1) % count(); }
/// Of the array of device d the part that lies `back` parts before its own.
static float* part_of(int owner, int d, int back) {
  return gpus[owner].data + part * static_cast<size_t>(((d - back) % count() + count()) % count());
}

static void send(int d, float* to, const float* from, int step) {
  OK(cudaMemcpyPeerAsync(to, next(d), from, d, part * sizeof(float), gpus[d].stream));
  OK(cudaEventRecord(gpus[d].sent[step % 2], gpus[d].stream));
}

static void allreduce() {
  const int n = count();
  for (int step = 0; step < n - 1; ++step) {
    for (int d = 0; d < n; ++d) {
      OK(cudaSetDevice(d));
      if (step >= 2) OK(cudaStreamWaitEvent(gpus[d].stream, gpus[next(d)].used[step % 2]));
      send(d, gpus[next(d)].inbox[step % 2], part_of(d, d, step), step);
    }
    for (int d = 0; d < n; ++d) {
      OK(cudaSetDevice(d));
      OK(cudaStreamWaitEvent(gpus[d].stream, gpus[before(d)].sent[step % 2]));
      add<<<blocks, 256, 0, gpus[d].stream>>>(reinterpret_cast<float4*>(part_of(d, d, step + 1)),
                                              reinterpret_cast<const float4*>(gpus[d].inbox[step % 2]), part / 4);
      OK(cudaGetLastError());
      OK(cudaEventRecord(gpus[d].used[step % 2], gpus[d].stream));
    }
  }
  for (int step = n - 1; step < 2 * (n - 1); ++step) {
    const int back = step - n;  // the part after its own is the first that it has the sum of
    for (int d = 0; d < n; ++d) {
      OK(cudaSetDevice(d));
      if (step >= n) OK(cudaStreamWaitEvent(gpus[d].stream, gpus[before(d)].sent[(step - 1) % 2]));
      send(d, part_of(next(d), d, back), part_of(d, d, back), step);
    }
  }
  const int last = 2 * (n - 1) - 1;
  for (int d = 0; d < n; ++d) OK(cudaStreamWaitEvent(gpus[d].stream, gpus[before(d)].sent[last % 2]));
}

int main(int argc, char** argv) {
  const size_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : size_t{64} << 20;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 1;
  int n = 0;
  OK(cudaGetDeviceCount(&n));
  if (n < 2 || bytes == 0 || bytes % (16 * static_cast<size_t>(n)) != 0 || repeats < 1) {
    std::fprintf(stderr, "%d devices, %zu bytes: needs two devices or more, and 16 bytes or a multiple for each\n", n, bytes);
    return 1;
  }
  gpus.resize(n);
  part = bytes / sizeof(float) / static_cast<size_t>(n);
  for (int d = 0; d < n; ++d) {
    Gpu& gpu = gpus[d];
    OK(cudaSetDevice(d));
    if (n > 2) OK(cudaDeviceEnablePeerAccess(before(d), 0));
    OK(cudaDeviceEnablePeerAccess(next(d), 0));
    OK(cudaMalloc(&gpu.data, bytes));
    OK(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking));
    for (int i = 0; i < 2; ++i) {
      OK(cudaMalloc(&gpu.inbox[i], part * sizeof(float)));
      OK(cudaEventCreateWithFlags(&gpu.sent[i], cudaEventDisableTiming));
      OK(cudaEventCreateWithFlags(&gpu.used[i], cudaEventDisableTiming));
    }
  }
  int processors = 0;
  OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  blocks = 4 * processors;
  cudaEvent_t begin, end, ready;
  std::vector<cudaEvent_t> done(n);
  OK(cudaSetDevice(0));
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  for (int d = 0; d < n; ++d) {
    OK(cudaSetDevice(d));
    OK(cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming));
  }
  float ms = 0;
  std::vector<float> host(bytes / sizeof(float));
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int d = 0; d < n; ++d) {
      for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 1021 + static_cast<size_t>(d) * 7);
      OK(cudaSetDevice(d));
      OK(cudaMemcpy(gpus[d].data, host.data(), bytes, cudaMemcpyHostToDevice));
      OK(cudaDeviceSynchronize());
    }
    OK(cudaSetDevice(0));
    OK(cudaEventRecord(begin, gpus[0].stream));
    OK(cudaEventRecord(ready, gpus[0].stream));
    for (int d = 1; d < n; ++d) OK(cudaStreamWaitEvent(gpus[d].stream, ready));
    allreduce();
    for (int d = 1; d < n; ++d) {
      OK(cudaSetDevice(d));
      OK(cudaEventRecord(done[d], gpus[d].stream));
      OK(cudaStreamWaitEvent(gpus[0].stream, done[d]));
    }
    OK(cudaSetDevice(0));
    OK(cudaEventRecord(end, gpus[0].stream));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
  }
  size_t wrong = 0;
  for (int d = 0; d < n; ++d) {
    OK(cudaSetDevice(d));
    OK(cudaMemcpy(host.data(), gpus[d].data, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < host.size(); ++i)
      wrong += host[i] != static_cast<float>(static_cast<size_t>(n) * (i % 1021) + 7 * static_cast<size_t>(n * (n - 1) / 2));
  }
  std::printf("%d\t%zu\t%.3f\t%s\n", n, bytes, ms * 1e3, wrong == 0 ? "right" : "wrong");
  return wrong == 0 ? 0 : 1;
}
