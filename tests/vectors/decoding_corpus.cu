// What the decoding corpus instantiates of CUB, Thrust and cooperative groups; decoding_corpus.tar.xz holds the cubins (nvcc 13.0.88,
// -std=c++17 --extended-lambda) for sm_80, sm_90 and sm_120 with their disassemblies. Never run.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

struct Less {
  template <class T>
  __device__ bool operator()(T x, T y) const {
    return x < y;
  }
};

template <class T>
void all(T* in, T* out, int n, void* t, size_t& b) {
  cub::DeviceReduce::Sum(t, b, in, out, n);
  cub::DeviceReduce::Max(t, b, in, out, n);
  cub::DeviceScan::InclusiveSum(t, b, in, out, n);
  cub::DeviceRadixSort::SortKeys(t, b, in, out, n);
  cub::DeviceSelect::Unique(t, b, in, out, (int*)out, n);
  cub::DeviceRunLengthEncode::Encode(t, b, in, out, (int*)out, (int*)out, n);
  cub::DeviceMergeSort::SortKeys(t, b, in, n, Less{});
}

int main() {
  size_t b;
  void* t = nullptr;
  all<int>(nullptr, nullptr, 1, t, b);
  all<double>(nullptr, nullptr, 1, t, b);
  cub::DeviceHistogram::HistogramEven(t, b, (unsigned char*)t, (int*)t, 257, 0, 256, 100);
  thrust::device_ptr<float> p((float*)t);
  thrust::sort(p, p + 1);
  thrust::reduce_by_key(p, p + 1, p, p, p);
  thrust::transform_reduce(
      p, p + 1, [] __device__(float x) { return x * x; }, 0.f, thrust::plus<float>());
}

__global__ void groups(float* x, unsigned* y) {
  namespace c = cooperative_groups;
  auto b = c::this_thread_block();
  auto w = c::tiled_partition<32>(b);
  auto q = c::tiled_partition<4>(w);
  x[b.thread_rank()] = c::reduce(w, x[b.thread_rank()], c::plus<float>()) +
                       c::reduce(q, x[1 + b.thread_rank()], c::greater<float>());
  auto a = c::coalesced_threads();
  if (x[0] > a.thread_rank()) y[0] = c::coalesced_threads().size();
  y[1] = c::labeled_partition(a, y[threadIdx.x]).size();
  c::this_grid().sync();
}
