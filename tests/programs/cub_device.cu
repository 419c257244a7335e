// CUB's device-wide algorithms, from the toolkit's headers, against the host.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <cub/cub.cuh>

static int failures = 0;
static void report(const char* name, bool ok) {
  printf("%-24s %s\n", name, ok ? "ok" : "WRONG");
  failures += !ok;
}
#define CHECK(call)                                                           \
  do {                                                                        \
    cudaError_t error = (call);                                               \
    if (error != cudaSuccess) {                                               \
      printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));   \
      exit(2);                                                                \
    }                                                                         \
  } while (0)

template <class T>
struct Buffer {
  T* p = nullptr;
  size_t n;
  explicit Buffer(size_t count) : n(count) { CHECK(cudaMalloc(&p, (n ? n : 1) * sizeof(T))); }
  explicit Buffer(const std::vector<T>& v) : Buffer(v.size()) { CHECK(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice)); }
  ~Buffer() { cudaFree(p); }
  std::vector<T> get(size_t count) const {
    std::vector<T> v(count);
    CHECK(cudaMemcpy(v.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
};

/// Asks for the size of the temporary memory, then runs.
template <class F>
void run(F&& algorithm) {
  size_t bytes = 0;
  CHECK(algorithm(nullptr, bytes));
  Buffer<char> temporary(bytes);
  CHECK(algorithm(temporary.p, bytes));
  CHECK(cudaDeviceSynchronize());
}

struct IsEven {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

int main() {
  const int n = 20000;
  std::vector<int> keys(n), values(n);
  unsigned seed = 12345;
  for (int i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    keys[i] = int(seed >> 12) % 5000 - 1000;
    values[i] = i;
  }
  Buffer<int> in(keys), in_values(values), out(n), out_values(n), count(1);

  run([&](void* t, size_t& b) { return cub::DeviceReduce::Sum(t, b, in.p, out.p, n); });
  report("reduce sum", out.get(1)[0] == std::accumulate(keys.begin(), keys.end(), 0));
  run([&](void* t, size_t& b) { return cub::DeviceReduce::Max(t, b, in.p, out.p, n); });
  report("reduce max", out.get(1)[0] == *std::max_element(keys.begin(), keys.end()));

  std::vector<int> scan(n);
  run([&](void* t, size_t& b) { return cub::DeviceScan::ExclusiveSum(t, b, in.p, out.p, n); });
  std::exclusive_scan(keys.begin(), keys.end(), scan.begin(), 0);
  report("exclusive sum", out.get(n) == scan);
  run([&](void* t, size_t& b) { return cub::DeviceScan::InclusiveSum(t, b, in.p, out.p, n); });
  std::inclusive_scan(keys.begin(), keys.end(), scan.begin());
  report("inclusive sum", out.get(n) == scan);

  std::vector<int> selected;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(selected), IsEven{});
  run([&](void* t, size_t& b) { return cub::DeviceSelect::If(t, b, in.p, out.p, count.p, n, IsEven{}); });
  report("select if", count.get(1)[0] == int(selected.size()) && out.get(selected.size()) == selected);

  const int bins = 50;
  Buffer<int> histogram(bins);
  run([&](void* t, size_t& b) { return cub::DeviceHistogram::HistogramEven(t, b, in.p, histogram.p, bins + 1, -1000, 4000, n); });
  std::vector<int> expected(bins);
  for (int k : keys) ++expected[(k + 1000) / 100];
  report("histogram even", histogram.get(bins) == expected);

  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  std::vector<int> sorted(n);
  for (int i = 0; i < n; ++i) sorted[i] = keys[order[i]];
  run([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortPairs(t, b, in.p, out.p, in_values.p, out_values.p, n); });
  report("radix sort pairs", out.get(n) == sorted && out_values.get(n) == order);

  run([&](void* t, size_t& b) { return cub::DeviceMergeSort::StableSortPairs(t, b, in.p, in_values.p, n, cuda::std::less<int>{}); });
  report("merge sort pairs", in.get(n) == sorted && in_values.get(n) == order);

  Buffer<int> unique(n), lengths(n);
  run([&](void* t, size_t& b) { return cub::DeviceRunLengthEncode::Encode(t, b, out.p, unique.p, lengths.p, count.p, n); });
  std::vector<int> firsts, runs;
  for (int k : sorted) {
    if (firsts.empty() || firsts.back() != k) firsts.push_back(k), runs.push_back(0);
    ++runs.back();
  }
  report("run-length encode",
         count.get(1)[0] == int(firsts.size()) && unique.get(firsts.size()) == firsts && lengths.get(runs.size()) == runs);
  return failures;
}
