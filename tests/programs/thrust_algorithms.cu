// Thrust from the toolkit's headers: sort, reduce_by_key, transform_reduce, unique, sort_by_key over zip iterators, scans,
// vectors, counting iterators, partition and merge, each against the host.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

static int failures = 0;
static void report(const char* name, bool ok) {
  printf("%-18s %s\n", name, ok ? "ok" : "WRONG");
  failures += !ok;
}

struct Square {
  __host__ __device__ double operator()(double x) const { return x * x; }
};
struct Odd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};

int main() {
  const int n = 6000;
  thrust::host_vector<int> keys(n);
  unsigned seed = 99;
  for (int i = 0; i < n; ++i) seed = seed * 1664525u + 1013904223u, keys[i] = int(seed >> 16) % 300;
  thrust::device_vector<int> d_keys = keys, values(n), unique_keys(n), sums(n);

  thrust::sequence(values.begin(), values.end());
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  thrust::stable_sort_by_key(d_keys.begin(), d_keys.end(), values.begin());
  bool ok = true;
  for (int i = 0; i < n; ++i) ok = ok && values[i] == order[i];
  report("sort_by_key", ok);

  auto ends = thrust::reduce_by_key(d_keys.begin(), d_keys.end(), values.begin(), unique_keys.begin(), sums.begin());
  std::vector<long> expected(300, -1);
  for (int i = 0; i < n; ++i) expected[keys[i]] = std::max(expected[keys[i]], 0L) + i;
  const int groups = int(ends.first - unique_keys.begin());
  ok = groups == std::count_if(expected.begin(), expected.end(), [](long e) { return e >= 0; });
  thrust::host_vector<int> host_keys = unique_keys, host_sums = sums;
  for (int g = 0; g < groups; ++g) ok = ok && host_sums[g] == expected[host_keys[g]];
  report("reduce_by_key", ok);

  double norm = std::sqrt(thrust::transform_reduce(d_keys.begin(), d_keys.end(), Square(), 0.0, thrust::plus<double>()));
  double sum = 0;
  for (int k : keys) sum += double(k) * k;
  report("transform_reduce", std::fabs(norm - std::sqrt(sum)) < 1e-9);

  thrust::device_vector<int> distinct = d_keys;
  distinct.erase(thrust::unique(distinct.begin(), distinct.end()), distinct.end());
  report("unique", int(distinct.size()) == groups);

  thrust::device_vector<float> x(n), y(n);
  thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n), x.begin(), Square());
  thrust::sequence(y.begin(), y.end(), float(n), -1.0f);
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(x.begin(), y.begin()));
  thrust::device_vector<int> falling(n);
  thrust::sequence(falling.begin(), falling.end(), n, -1);
  thrust::sort_by_key(falling.begin(), falling.end(), zipped);
  report("zip sort", float(x[0]) == float(n - 1) * float(n - 1) && float(y[0]) == 1.0f && float(y[n - 1]) == float(n));

  thrust::device_vector<int> scanned(n);
  thrust::inclusive_scan(d_keys.begin(), d_keys.end(), scanned.begin());
  report("scan", int(scanned[n - 1]) == std::accumulate(keys.begin(), keys.end(), 0));
  report("count_if", thrust::count_if(d_keys.begin(), d_keys.end(), Odd()) == std::count_if(keys.begin(), keys.end(), Odd()));

  thrust::device_vector<int> parted = keys;
  auto middle = thrust::stable_partition(parted.begin(), parted.end(), Odd());
  std::vector<int> host_parted(keys.begin(), keys.end());
  std::stable_partition(host_parted.begin(), host_parted.end(), Odd());
  thrust::host_vector<int> found = parted;
  report("partition", std::equal(found.begin(), found.end(), host_parted.begin()) && middle - parted.begin() == std::count_if(keys.begin(), keys.end(), Odd()));

  thrust::device_vector<float> floats(n);
  for (int i = 0; i < n; ++i) keys[i] = keys[i] * 7 - 1000;
  thrust::copy(keys.begin(), keys.end(), floats.begin());
  thrust::sort(floats.begin(), floats.end(), thrust::greater<float>());
  std::vector<int> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<int>());
  thrust::host_vector<float> host_floats = floats;
  report("sort greater", std::equal(sorted.begin(), sorted.end(), host_floats.begin(), [](int a, float b) { return float(a) == b; }));
  return failures;
}
