// libcu++: barriers, pipelines, latches, atomics, semaphores, memcpy_async, mdspan, tuples, complex numbers on the device.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include "check.h"
namespace cg = cooperative_groups;
__global__ void staged(const int* in, int* out, int batches) {
  auto block = cg::this_thread_block();
  __shared__ alignas(16) int buffer[2][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0, fetched = 0;
  for (int batch = 0; batch < batches; ++batch) {
    for (; fetched < batches && fetched < batch + 2; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % 2], in + fetched * 256, cuda::aligned_size_t<16>(1024),
                         pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += buffer[batch % 2][255 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
__global__ void arrivals(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
  __shared__ cuda::latch<cuda::thread_scope_block>* latch;
  __shared__ alignas(
      cuda::latch<cuda::thread_scope_block>) char room[sizeof(cuda::latch<cuda::thread_scope_block>)];
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    new (&count) cuda::atomic<int, cuda::thread_scope_block>(0);
    latch = new (room) cuda::latch<cuda::thread_scope_block>(blockDim.x);
  }
  __syncthreads();
  auto token = barrier.arrive();
  count.fetch_add(1, cuda::std::memory_order_relaxed);
  barrier.wait(std::move(token));
  latch->arrive_and_wait();
  if (threadIdx.x == 0) out[0] = count.load();
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int sum = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
  int before = cg::exclusive_scan(tile, 1);
  if (tile.thread_rank() == 7) out[1 + tile.meta_group_rank()] = sum * 100 + before;
}
__global__ void types(float* out, int* flags) {
  cuda::std::complex<float> z(threadIdx.x, 1);
  z = z * cuda::std::conj(z);
  cuda::std::array<int, 4> a = {1, 2, 3, 4};
  auto t = cuda::std::make_tuple(a[threadIdx.x % 4], 2.5f);
  cuda::std::optional<float> maybe;
  if (threadIdx.x % 2) maybe = cuda::std::get<1>(t);
  cuda::std::mdspan<float, cuda::std::extents<int, 4, 8>> view(out);
#if __CUDACC_VER_MAJOR__ >= 12
  view(threadIdx.x / 8, threadIdx.x % 8) = z.real() + cuda::std::get<0>(t) + maybe.value_or(0);
#endif
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[0]);
  flag.fetch_max((int)threadIdx.x);
  flag.fetch_add(1);
}
int main() {
  int *in, *out, *flags;
  float* f;
  CHECK(cudaMallocManaged(&in, 8 * 1024));
  CHECK(cudaMallocManaged(&out, 1024));
  CHECK(cudaMallocManaged(&f, 128));
  CHECK(cudaMallocManaged(&flags, 4));
  for (int i = 0; i < 2048; ++i) in[i] = i;
  flags[0] = 0;
  staged<<<1, 256>>>(in, out, 8);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) EXPECT(out[i] == 8 * (255 - i) + 256 * 28);
  arrivals<<<1, 64>>>(out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 64);
  for (int i = 0; i < 8; ++i) EXPECT(out[1 + i] == (28 + 64 * i) * 100 + 7);
  types<<<1, 32>>>(f, flags);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT(f[i] == i * i + 1 + i % 4 + 1 + (i % 2 ? 2.5f : 0));
  EXPECT(flags[0] >= 31);
  puts("ok");
}
