// Three devices of one chip: each has its memory, streams and variables; copies and accesses between them.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../../programs/expect.h"

__device__ int launches;
__constant__ int table[4];
__managed__ int everywhere = 7;

__global__ void fill(int* out, int value) {
  out[threadIdx.x] = value + table[threadIdx.x % 4];
  if (threadIdx.x == 0) launches += value;
}
__global__ void count(int* out) { *out = launches; }
__global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x] + everywhere; }

int main() {
  constexpr int kDevices = 3;
  int number = 0;
  OK(cudaGetDeviceCount(&number));
  EXPECT(number == kDevices);
  OK(cudaGetDevice(&number));
  EXPECT(number == 0);
  int* memory[kDevices];
  cudaStream_t streams[kDevices];
  cudaEvent_t events[kDevices];
  for (int i = 0; i < kDevices; ++i) {
    OK(cudaSetDevice(i));
    OK(cudaMalloc(&memory[i], 1024));
    OK(cudaStreamCreate(&streams[i]));
    OK(cudaStreamGetDevice(streams[i], &number));
    EXPECT(number == i);
    OK(cudaEventCreate(&events[i]));
    const int values[4] = {10 * i, 10 * i + 1, 10 * i + 2, 10 * i + 3};
    OK(cudaMemcpyToSymbol(table, values, sizeof values));
    fill<<<1, 256, 0, streams[i]>>>(memory[i], i + 1);
    OK(cudaGetLastError());
    OK(cudaEventRecord(events[i], streams[i]));
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, i));
    EXPECT(properties.pciBusID == i);
    char bus[32];
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, i));
    OK(cudaDeviceGetByPCIBusId(&number, bus));
    EXPECT(number == i);
  }
  for (int i = 0; i < kDevices; ++i) {
    OK(cudaSetDevice(i));
    int values[256], sum = 0;
    OK(cudaMemcpy(values, memory[i], sizeof values, cudaMemcpyDefault));
    for (int t = 0; t < 256; ++t) EXPECT(values[t] == i + 1 + 10 * i + t % 4);
    OK(cudaMemcpyFromSymbol(&sum, launches, sizeof sum));
    EXPECT(sum == i + 1);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, memory[i]));
    EXPECT(attributes.device == i);
  }
  // Peers.
  OK(cudaSetDevice(0));
  OK(cudaDeviceCanAccessPeer(&number, 0, 1));
  EXPECT(number == 1);
  OK(cudaDeviceCanAccessPeer(&number, 1, 1));
  EXPECT(number == 0);
  OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  EXPECT(cudaDeviceDisablePeerAccess(2) == cudaErrorPeerAccessNotEnabled);
  EXPECT(cudaSetDevice(kDevices) == cudaErrorInvalidDevice);
  (void)cudaGetLastError();
  copy<<<1, 256, 0, streams[0]>>>(memory[0], memory[1]);
  int value = 0;
  OK(cudaMemcpy(&value, memory[0], sizeof value, cudaMemcpyDefault));
  EXPECT(value == 12 + 7);
  OK(cudaStreamWaitEvent(streams[0], events[2]));
  OK(cudaMemcpyPeerAsync(memory[0], 0, memory[2], 2, 1024, streams[0]));
  OK(cudaMemcpy(&value, memory[0], sizeof value, cudaMemcpyDefault));
  EXPECT(value == 23);
  EXPECT(cudaMemcpyPeer(memory[0], 0, memory[2], kDevices, 4) == cudaErrorInvalidDevice);
  // A stream belongs to its device.
  copy<<<1, 32, 0, streams[1]>>>(memory[0], memory[1]);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  // A managed variable is one for all.
  OK(cudaSetDevice(2));
  everywhere = 100;
  copy<<<1, 32>>>(memory[2], memory[2]);
  OK(cudaMemcpy(&value, memory[2], sizeof value, cudaMemcpyDefault));
  EXPECT(value == 123);
  // Each host thread has a device of its own.
  std::vector<std::thread> threads;
  for (int i = 0; i < kDevices; ++i) {
    threads.emplace_back([&, i] {
      int mine = -1;
      OK(cudaGetDevice(&mine));
      EXPECT(mine == 0);
      OK(cudaSetDevice(i));
      OK(cudaFree(memory[i]));
      size_t before = 0, after = 0, all = 0;
      OK(cudaMemGetInfo(&before, &all));
      OK(cudaMalloc(&memory[i], 64 << 20));
      OK(cudaMemGetInfo(&after, &all));
      EXPECT(before - after == 64 << 20);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::puts("devices: all right");
}
