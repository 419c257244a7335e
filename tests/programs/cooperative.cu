// Cooperative groups: tiles, partitions, reductions over groups, grid-wide barriers; and blocks that wait for each other by flags.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;
static int failures = 0;
static void report(const char* name, bool ok) {
  printf("%-18s %s\n", name, ok ? "ok" : "WRONG");
  failures += !ok;
}
#define CHECK(x)                                                                               \
  do {                                                                                         \
    cudaError_t e = x;                                                                         \
    if (e != cudaSuccess) printf("%s at line %d\n", cudaGetErrorString(e), __LINE__), exit(3); \
  } while (0)

__global__ void tiles(const int* in, int* out, int* counted) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = in[i];
  for (int d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
  int best = cg::reduce(tile, in[i], cg::greater<int>());
  int before = cg::exclusive_scan(tile, in[i]);
  out[i] = tile.shfl(sum, 0) * 1000 + best + before * 1000000;
  cg::coalesced_group active = cg::coalesced_threads();
  if (in[i] % 2 == 1) {
    cg::coalesced_group odd = cg::coalesced_threads();
    if (odd.thread_rank() == 0) atomicAdd(counted, int(odd.size()));
  }
  active.sync();
  block.sync();
}

__global__ void jacobi(float* a, float* b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    for (int i = int(grid.thread_rank()); i < n; i += int(grid.size())) {
      float left = i > 0 ? a[i - 1] : 0, right = i + 1 < n ? a[i + 1] : 0;
      b[i] = 0.25f * left + 0.5f * a[i] + 0.25f * right;
    }
    grid.sync();
    float* t = a;
    a = b;
    b = t;
  }
}

// Decoupled look-back in small: each block adds what the one before it has published.
__global__ void chained(const int* in, int* out, volatile int* published, volatile int* flags, int* tickets) {
  __shared__ int block, before;
  if (threadIdx.x == 0) block = atomicAdd(tickets, 1);
  __syncthreads();
  __shared__ int data[128];
  data[threadIdx.x] = in[block * 128 + threadIdx.x];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int v = threadIdx.x >= d ? data[threadIdx.x - d] : 0;
    __syncthreads();
    data[threadIdx.x] += v;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    before = 0;
    if (block > 0) {
      while (flags[block - 1] == 0) {}
      __threadfence();
      before = published[block - 1];
    }
    published[block] = before + data[127];
    __threadfence();
    flags[block] = 1;
  }
  __syncthreads();
  out[block * 128 + threadIdx.x] = before + data[threadIdx.x];
}

int main() {
  const int n = 512;
  int *in, *out, *counted;
  CHECK(cudaMallocManaged(&in, n * sizeof(int)));
  CHECK(cudaMallocManaged(&out, n * sizeof(int)));
  CHECK(cudaMallocManaged(&counted, sizeof(int)));
  *counted = 0;
  int odd = 0;
  for (int i = 0; i < n; ++i) in[i] = i * 37 % 64, odd += in[i] % 2;
  tiles<<<n / 128, 128>>>(in, out, counted);
  CHECK(cudaDeviceSynchronize());
  bool ok = *counted == odd;
  for (int t = 0; t < n; t += 8) {
    int sum = 0, best = 0, before = 0;
    for (int k = 0; k < 8; ++k) sum += in[t + k], best = in[t + k] > best ? in[t + k] : best;
    for (int k = 0; k < 8; ++k) {
      ok = ok && out[t + k] == sum * 1000 + best + before * 1000000;
      before += in[t + k];
    }
  }
  report("tiles", ok);

  const int m = 3000, steps = 7;
  float *a, *b;
  CHECK(cudaMallocManaged(&a, m * sizeof(float)));
  CHECK(cudaMallocManaged(&b, m * sizeof(float)));
  std::vector<float> x(m), y(m);
  for (int i = 0; i < m; ++i) a[i] = x[i] = float(i % 17);
  int per_sm = 0, sms = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, jacobi, 128, 0));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  int count = m, times = steps;
  void* arguments[] = {&a, &b, &count, &times};
  CHECK(cudaLaunchCooperativeKernel((void*)jacobi, dim3(12), dim3(128), arguments, 0, 0));
  CHECK(cudaDeviceSynchronize());
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < m; ++i) y[i] = 0.25f * (i > 0 ? x[i - 1] : 0) + 0.5f * x[i] + 0.25f * (i + 1 < m ? x[i + 1] : 0);
    x.swap(y);
  }
  ok = true;
  for (int i = 0; i < m; ++i) ok = ok && b[i] - x[i] < 1e-5f && x[i] - b[i] < 1e-5f;
  report("grid barrier", ok);
  ok = cudaLaunchCooperativeKernel((void*)jacobi, dim3(per_sm * sms + 1), dim3(128), arguments, 0, 0) == cudaErrorCooperativeLaunchTooLarge;
  report("too large a grid", ok && cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);

  const int blocks = 20, total = blocks * 128;
  int *values, *sums, *published, *flags, *tickets;
  CHECK(cudaMallocManaged(&values, total * sizeof(int)));
  CHECK(cudaMallocManaged(&sums, total * sizeof(int)));
  CHECK(cudaMalloc(&published, blocks * sizeof(int)));
  CHECK(cudaMalloc(&flags, blocks * sizeof(int)));
  CHECK(cudaMalloc(&tickets, sizeof(int)));
  CHECK(cudaMemset(flags, 0, blocks * sizeof(int)));
  CHECK(cudaMemset(tickets, 0, sizeof(int)));
  for (int i = 0; i < total; ++i) values[i] = i % 10;
  chained<<<blocks, 128>>>(values, sums, published, flags, tickets);
  CHECK(cudaDeviceSynchronize());
  ok = true;
  for (int i = 0, sum = 0; i < total; ++i) {
    sum += values[i];
    ok = ok && sums[i] == sum;
  }
  report("chained blocks", ok);
  return failures;
}
