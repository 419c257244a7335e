// What device code asks of the device runtime beside launches: copies and fills of boxes, texts, occupancy, attributes, limits; and launches
// of graphs: forgotten ones, siblings, and a graph that launches itself again at its tail.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../expect.h"

struct Answers {
  int blocks, blocks_of_nothing, most_threads, refused_pitch;
  size_t heap;
  char name[40], text[40];
};

__global__ void small(int* out) { out[threadIdx.x] = threadIdx.x; }
__device__ void keep(const char* from, char* to) {
  while ((*to++ = *from++) != '\0') {
  }
}

__global__ void ask(Answers* a) {
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a->blocks, small, 256, 1024);
  a->blocks_of_nothing = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a->blocks_of_nothing, small, 0, 0);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, small);
  a->most_threads = attributes.maxThreadsPerBlock;
  cudaDeviceGetLimit(&a->heap, cudaLimitMallocHeapSize);
  keep(cudaGetErrorName(cudaErrorInvalidValue), a->name);
  keep(cudaGetErrorString(cudaErrorInvalidValue), a->text);
  a->refused_pitch = cudaMemset2DAsync(a, 4, 0, 8, 2, cudaStreamPerThread);
}

/// Boxes of 4 bytes by 3 rows by 2 slices: `in` in rows of 8 bytes, `out` in rows of 16, each slice 5 rows.
__global__ void move(char* out, char* in) {
  cudaMemset3DAsync({out, 16, 16, 5}, 7, {4, 3, 2}, cudaStreamPerThread);
  cudaMemset2DAsync(in + 4, 8, 9, 2, 3, cudaStreamPerThread);
  cudaMemcpy2DAsync(out + 200, 16, in, 8, 6, 3, cudaMemcpyDeviceToDevice, cudaStreamPerThread);
  cudaMemcpy3DParms p = {};
  p.srcPtr = {in, 8, 8, 5};
  p.dstPtr = {out + 300, 16, 16, 5};
  p.extent = {4, 3, 2};
  p.kind = cudaMemcpyDeviceToDevice;
  cudaMemcpy3DAsync(&p, cudaStreamPerThread);
}

__global__ void add(int* sum, int value) { atomicAdd(sum, value); }
__global__ void launch(cudaGraphExec_t graph, int* codes) {
  codes[0] = cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
  codes[1] = cudaGraphLaunch(graph, cudaStreamGraphFireAndForgetAsSibling);
  codes[2] = cudaGraphLaunch(graph, cudaStreamGraphTailLaunch);
  codes[3] = cudaGetCurrentGraphExec() != nullptr;
}
__global__ void again(int* rounds, cudaGraphExec_t after) {
  if (++*rounds < 50) {
    cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
  } else {
    cudaGraphLaunch(after, cudaStreamGraphTailLaunch);
  }
}

template <class Work>
cudaGraphExec_t graph_of(cudaStream_t stream, unsigned flags, Work&& work) {
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  work();
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&instance, graph, flags));
  if (flags != 0) OK(cudaGraphUpload(instance, stream));
  return instance;
}

/// The grid's barrier as a function, as numba calls it: each block takes its neighbour's value.
__global__ void round_the_grid(int* values, int* codes) {
  const unsigned long long grid = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
  const unsigned next = (blockIdx.x + 1) % gridDim.x;
  for (int round = 0; round < 3; ++round) {
    const int value = values[next];
    const cudaError_t one = cudaCGSynchronize(grid, 0);
    if (threadIdx.x == 0) values[blockIdx.x] = value;
    const cudaError_t other = cudaCGSynchronize(grid, 0);
    if (one != cudaSuccess || other != cudaSuccess) atomicAdd(codes, 1);
  }
  unsigned threads = 0, grids = 0, rank = 0, of_grid = 9;
  cudaCGGetSize(&threads, &grids, grid);
  cudaCGGetRank(&rank, &of_grid, grid);
  if (threads != gridDim.x * blockDim.x || rank != blockIdx.x * blockDim.x + threadIdx.x || grids != 1 || of_grid != 0)
    atomicAdd(codes, 100);
  if (blockIdx.x == 0 && threadIdx.x == 0) codes[1] = cudaCGSynchronize(0, 0);
}

int main() {
  Answers* answers;
  OK(cudaMallocManaged(&answers, sizeof(Answers)));
  ask<<<1, 1>>>(answers);
  OK(cudaDeviceSynchronize());
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 256, 1024));
  EXPECT(answers->blocks == blocks && answers->blocks_of_nothing == cudaErrorInvalidValue);
  EXPECT(answers->most_threads == 1024 && answers->heap == 8 << 20);
  EXPECT(std::strcmp(answers->name, "cudaErrorInvalidValue") == 0);
  EXPECT(std::strcmp(answers->text, "invalid argument") == 0);
  EXPECT(answers->refused_pitch == cudaErrorInvalidPitchValue);

  char *in, *out;
  OK(cudaMallocManaged(&in, 80));
  OK(cudaMallocManaged(&out, 500));
  for (int i = 0; i < 80; ++i) in[i] = static_cast<char>(i);
  std::memset(out, 0, 500);
  move<<<1, 1>>>(out, in);
  OK(cudaDeviceSynchronize());
  for (int slice = 0; slice < 2; ++slice) {
    for (int row = 0; row < 5; ++row) {
      for (int i = 0; i < 8; ++i) {
        const bool inside = i < 4 && row < 3;
        EXPECT(out[slice * 80 + row * 16 + i] == (inside ? 7 : 0));
        EXPECT(out[300 + slice * 80 + row * 16 + i] == (inside ? slice * 40 + row * 8 + i : 0));
        if (slice == 0 && row < 3) EXPECT(out[200 + row * 16 + i] == (i < 4 ? row * 8 + i : i < 6 ? 9 : 0));
      }
    }
  }

  int *sum, *codes, *rounds;
  OK(cudaMallocManaged(&sum, sizeof(int)));
  OK(cudaMallocManaged(&codes, 4 * sizeof(int)));
  OK(cudaMallocManaged(&rounds, sizeof(int)));
  *sum = *rounds = 0;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  const cudaGraphExec_t adding = graph_of(stream, cudaGraphInstantiateFlagDeviceLaunch,
                                          [&] { add<<<2, 32, 0, stream>>>(sum, 1); });
  const cudaGraphExec_t launching = graph_of(stream, 0, [&] { launch<<<1, 1, 0, stream>>>(adding, codes); });
  OK(cudaGraphLaunch(launching, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(*sum == 3 * 64 && codes[0] == 0 && codes[1] == 0 && codes[2] == 0 && codes[3] == 1);
  launch<<<1, 1, 0, stream>>>(adding, codes);  // from outside of a graph
  OK(cudaStreamSynchronize(stream));
  EXPECT(*sum == 3 * 64 && codes[0] != 0 && codes[2] != 0 && codes[3] == 0);
  const cudaGraphExec_t repeating = graph_of(stream, cudaGraphInstantiateFlagDeviceLaunch,
                                             [&] { again<<<1, 1, 0, stream>>>(rounds, adding); });
  OK(cudaGraphLaunch(repeating, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(*rounds == 50 && *sum == 4 * 64);

  codes[0] = codes[1] = 0;
  int* values;
  OK(cudaMallocManaged(&values, 8 * sizeof(int)));
  for (int i = 0; i < 8; ++i) values[i] = i;
  void* arguments[] = {&values, &codes};
  OK(cudaLaunchCooperativeKernel(round_the_grid, dim3(8), dim3(96), arguments, 0, stream));
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 8; ++i) EXPECT(values[i] == (i + 3) % 8);
  EXPECT(codes[0] == 0 && codes[1] != 0);
  std::puts("ok");
}
