#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
__global__ void grid_sum(const int* in, int* part, int* out, int n) {
  auto g = cg::this_grid();
  auto b = cg::this_thread_block();
  auto t = cg::tiled_partition<32>(b);
  __shared__ int s[32];
  int v = 0;
  for (int i = g.thread_rank(); i < n; i += g.size()) v += in[i];
  v = cg::reduce(t, v, cg::plus<int>());
  if (t.thread_rank() == 0) s[t.meta_group_rank()] = v;
  b.sync();
  if (t.meta_group_rank() == 0) {
    int x = t.thread_rank() < t.meta_group_size() ? s[t.thread_rank()] : 0;
    x = cg::reduce(t, x, cg::plus<int>());
    if (t.thread_rank() == 0) part[blockIdx.x] = x;
  }
  g.sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int x = 0;
    for (int i = 0; i < gridDim.x; i++) x += part[i];
    *out = x;
  }
}
__global__ void scan(int* d) {
  auto t = cg::tiled_partition<16>(cg::this_thread_block());
  d[threadIdx.x] = cg::inclusive_scan(t, d[threadIdx.x]);
}
__global__ void tiles(int* d) {
  auto t = cg::tiled_partition<8>(cg::this_thread_block());
  d[threadIdx.x] = cg::reduce(t, (int)threadIdx.x, cg::plus<int>());
}
__global__ void staged(const float* in, float* out) {
  __shared__ alignas(16) float s[256];
  auto b = cg::this_thread_block();
  cg::memcpy_async(b, s, in + blockIdx.x * 256, sizeof(s));
  cg::wait(b);
  out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void bar(int* o) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  __shared__ int s[128];
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  b.arrive_and_wait();
  o[threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void pipe(const int* in, int* out, int tiles) {
  extern __shared__ int sm[];
  constexpr int S = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, S> st;
  auto b = cg::this_thread_block();
  auto p = cuda::make_pipeline(b, &st);
  int n = b.size();
  int f = 0;
  for (int i = 0; i < tiles; i++) {
    for (; f < tiles && f < i + S; f++) {
      p.producer_acquire();
      cuda::memcpy_async(b, sm + (f % S) * n, in + f * n, cuda::aligned_size_t<16>(n * 4), p);
      p.producer_commit();
    }
    p.consumer_wait();
    out[i * n + threadIdx.x] = sm[(i % S) * n + threadIdx.x] * 2;
    p.consumer_release();
  }
}
#define CK(x)                                             \
  do {                                                    \
    cudaError_t e = (x);                                  \
    if (e != cudaSuccess) {                               \
      printf("%d %s\n", __LINE__, cudaGetErrorString(e)); \
      return 1;                                           \
    }                                                     \
  } while (0)
int main() {
  int n = 100000, *in, *part, *out;
  cudaMallocManaged(&in, n * 4);
  cudaMallocManaged(&part, 4096);
  cudaMallocManaged(&out, 4096 * 4);
  for (int i = 0; i < n; i++) in[i] = i % 7;
  long ref = 0;
  for (int i = 0; i < n; i++) ref += in[i];
  int nb;
  CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, grid_sum, 256, 0));
  void* args[] = {&in, &part, &out, &n};
  CK(cudaLaunchCooperativeKernel((void*)grid_sum, 64, 256, args, 0, 0));
  CK(cudaDeviceSynchronize());
  if (*out != ref) {
    printf("wrong %d %ld\n", *out, ref);
    return 1;
  }
  for (int i = 0; i < 64; i++) out[i] = 1;
  scan<<<1, 64>>>(out);
  CK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++)
    if (out[i] != i % 16 + 1) {
      puts("scan");
      return 1;
    }
  tiles<<<1, 64>>>(out);
  CK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++)
    if (out[i] != i / 8 * 64 + 28) {
      puts("tiles");
      return 1;
    }
  float *fi, *fo;
  cudaMallocManaged(&fi, 4096);
  cudaMallocManaged(&fo, 4096);
  for (int i = 0; i < 1024; i++) fi[i] = i;
  staged<<<4, 256>>>(fi, fo);
  CK(cudaDeviceSynchronize());
  if (fo[256] != 511) {
    puts("staged");
    return 1;
  }
  bar<<<1, 128>>>(out);
  CK(cudaDeviceSynchronize());
  if (out[0] != 127) {
    puts("bar");
    return 1;
  }
  pipe<<<1, 128, 2 * 128 * 4>>>(in, out, 8);
  CK(cudaDeviceSynchronize());
  for (int i = 0; i < 1024; i++)
    if (out[i] != 2 * in[i]) {
      puts("pipe");
      return 1;
    }
  puts("ok");
}
