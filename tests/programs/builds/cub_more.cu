// CUB: device-wide select, histogram, run-length encoding, segmented sort, merge sort, top of a block; each with its temporary storage.
#include <cstdint>
#include <cub/cub.cuh>
#include <vector>
#include "check.h"
template <class F>
void with_storage(F f) {
  size_t bytes = 0;
  void* storage = nullptr;
  CHECK(f(storage, bytes));
  CHECK(cudaMalloc(&storage, bytes));
  CHECK(f(storage, bytes));
  CHECK(cudaFree(storage));
}
__global__ void blocks(const int* in, int* out) {
  using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Scan = cub::BlockScan<int, 128>;
  using Sort = cub::BlockRadixSort<int, 128, 4>;
  using Store = cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
  } room;
  int v[4];
  Load(room.load).Load(in, v);
  __syncthreads();
  Sort(room.sort).Sort(v);
  __syncthreads();
  Scan(room.scan).InclusiveSum(v, v);
  __syncthreads();
  Store(room.store).Store(out, v);
}
int main() {
  const int n = 5000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = (i * 7919 + 13) % 1009;
  int *in, *out, *count, *lengths;
  CHECK(cudaMallocManaged(&in, n * 4));
  CHECK(cudaMallocManaged(&out, n * 4));
  CHECK(cudaMallocManaged(&lengths, n * 4));
  CHECK(cudaMallocManaged(&count, 4));
  for (int i = 0; i < n; ++i) in[i] = host[i];
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceSelect::If(s, b, in, out, count, n, [] __device__(int v) { return v < 100; });
  });
  CHECK(cudaDeviceSynchronize());
  int expected = 0;
  for (int v : host) expected += v < 100;
  EXPECT(*count == expected);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceHistogram::HistogramEven(s, b, in, lengths, 11, 0, 1010, n);
  });
  CHECK(cudaDeviceSynchronize());
  int all = 0;
  for (int i = 0; i < 10; ++i) all += lengths[i];
  EXPECT(all == n);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceMergeSort::SortKeys(s, b, in, n, [] __device__(int x, int y) { return x < y; });
  });
  CHECK(cudaDeviceSynchronize());
  for (int i = 1; i < n; ++i) EXPECT(in[i - 1] <= in[i]);
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceRunLengthEncode::Encode(s, b, in, out, lengths, count, n);
  });
  CHECK(cudaDeviceSynchronize());
  EXPECT(*count == 1009);
  int* offsets;
  CHECK(cudaMallocManaged(&offsets, 5 * 4));
  for (int i = 0; i < 5; ++i) offsets[i] = i * 1250;
  for (int i = 0; i < n; ++i) in[i] = host[i];
  with_storage([&](void* s, size_t& b) {
    return cub::DeviceSegmentedSort::SortKeys(s, b, in, out, n, 4, offsets, offsets + 1);
  });
  CHECK(cudaDeviceSynchronize());
  for (int i = 1; i < n; ++i) EXPECT(i % 1250 == 0 || out[i - 1] <= out[i]);
  blocks<<<1, 128>>>(in, lengths);
  CHECK(cudaDeviceSynchronize());
  int sum = 0;
  for (int i = 0; i < 512; ++i) sum += host[i];
  EXPECT(lengths[511] == sum);
  with_storage(
      [&](void* s, size_t& b) { return cub::DeviceReduce::ArgMin(s, b, in, out, (int64_t*)lengths, n); });
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 0);
  puts("ok");
}
