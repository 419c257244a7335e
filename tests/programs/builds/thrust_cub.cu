#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
struct sq {
  __host__ __device__ double operator()(float x) const { return double(x) * x; }
};
int main() {
  thrust::host_vector<int> h(20000);
  srand(1);
  for (auto& x : h) x = rand() % 5000;
  thrust::device_vector<int> d = h;
  thrust::sort(d.begin(), d.end());
  std::sort(h.begin(), h.end());
  if (d != h) {
    puts("sort");
    return 1;
  }
  auto e = thrust::unique(d.begin(), d.end());
  auto e2 = std::unique(h.begin(), h.end());
  if (e - d.begin() != e2 - h.begin()) {
    puts("unique");
    return 1;
  }
  thrust::device_vector<float> f(10000);
  thrust::sequence(f.begin(), f.end());
  double s = thrust::transform_reduce(f.begin(), f.end(), sq(), 0.0, thrust::plus<double>());
  printf("%f\n", s);
  if (s != 333283335000.0) return 1;
  thrust::device_vector<long> L(10000, 1);
  thrust::inclusive_scan(L.begin(), L.end(), L.begin());
  if (L[9999] != 10000) return 1;
  thrust::device_vector<int> keys(5000), vals(5000);
  for (int i = 0; i < 5000; i++) { keys[i % 10 * 500 + i / 10] = 0; }
  thrust::sequence(vals.begin(), vals.end());
  thrust::sequence(keys.rbegin(), keys.rend());
  thrust::sort_by_key(thrust::device, keys.begin(), keys.end(), vals.begin());
  if (vals[0] != 4999) return 1;
  void* t = nullptr;
  size_t tb = 0;
  int* o;
  cudaMalloc(&o, 4);
  cub::DeviceReduce::Sum(t, tb, thrust::raw_pointer_cast(vals.data()), o, 5000);
  cudaMalloc(&t, tb);
  cub::DeviceReduce::Sum(t, tb, thrust::raw_pointer_cast(vals.data()), o, 5000);
  int r;
  cudaMemcpy(&r, o, 4, cudaMemcpyDeviceToHost);
  if (r != 4999 * 2500) {
    puts("cub");
    return 1;
  }
  int* hist;
  cudaMalloc(&hist, 10 * 4);
  t = nullptr;
  tb = 0;
  cub::DeviceHistogram::HistogramEven(t, tb, thrust::raw_pointer_cast(vals.data()), hist, 11, 0, 5000, 5000);
  cudaMalloc(&t, tb);
  cub::DeviceHistogram::HistogramEven(t, tb, thrust::raw_pointer_cast(vals.data()), hist, 11, 0, 5000, 5000);
  int hh[10];
  cudaMemcpy(hh, hist, 40, cudaMemcpyDeviceToHost);
  for (int x : hh)
    if (x != 500) {
      puts("hist");
      return 1;
    }
  puts("ok");
}
