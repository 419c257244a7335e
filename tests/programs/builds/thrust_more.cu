// Thrust beyond sorting: iterators, segmented operations, universal vectors, execution on a stream, a caching allocator.
#include <thrust/async/reduce.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/unique.h>
#include <thrust/universal_vector.h>
#include "check.h"
struct Square {
  __host__ __device__ long operator()(long x) const { return x * x; }
};
int main() {
  const int n = 3000;
  thrust::counting_iterator<int> counting(0);
  long squares = thrust::transform_reduce(counting, counting + n, Square(), 0L, thrust::plus<long>());
  EXPECT(squares == (long)(n - 1) * n * (2L * n - 1) / 6);
  thrust::device_vector<int> keys(n), values(n), out_keys(n), out_values(n);
  thrust::transform(counting, counting + n, keys.begin(), [] __host__ __device__(int i) { return i / 100; });
  thrust::fill(values.begin(), values.end(), 2);
  auto end =
      thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), out_keys.begin(), out_values.begin());
  EXPECT(end.first - out_keys.begin() == n / 100);
  EXPECT(out_values[3] == 200);
  thrust::inclusive_scan_by_key(keys.begin(), keys.end(), values.begin(), out_values.begin());
  EXPECT(out_values[99] == 200 && out_values[100] == 2);
  auto middle =
      thrust::stable_partition(values.begin(), values.end(), [] __host__ __device__(int v) { return v > 2; });
  EXPECT(middle == values.begin());
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  thrust::universal_vector<int> u(n);
  thrust::transform(thrust::cuda::par.on(stream), counting, counting + n, u.begin(),
                    [] __host__ __device__(int i) { return (i * 7919) % 3001; });
  thrust::sort(thrust::cuda::par_nosync.on(stream), u.begin(), u.end(), thrust::greater<int>());
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 1; i < n; ++i) EXPECT(u[i - 1] >= u[i]);
  thrust::device_vector<int> map(n);
  thrust::sequence(map.rbegin(), map.rend());
  auto gathered = thrust::make_permutation_iterator(keys.begin(), map.begin());
  EXPECT(gathered[0] == (n - 1) / 100);
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(keys.begin(), map.begin()));
  int dots = thrust::transform_reduce(
      zipped, zipped + n,
      [] __host__ __device__(const thrust::tuple<int, int>& t) {
        return thrust::get<0>(t) + thrust::get<1>(t);
      },
      0, thrust::plus<int>());
  EXPECT(dots == 100 * (30 * 29 / 2) + n * (n - 1) / 2);
  thrust::host_vector<int> a(50), b(50);
  for (int i = 0; i < 50; ++i) a[i] = 2 * i, b[i] = 3 * i;
  thrust::device_vector<int> da = a, db = b, both(50);
  auto last = thrust::set_intersection(da.begin(), da.end(), db.begin(), db.end(), both.begin());
  EXPECT(last - both.begin() == 17);
  auto random = [] __host__ __device__(int i) {
    thrust::default_random_engine engine(i);
    return thrust::uniform_real_distribution<float>(0, 1)(engine);
  };
  float mean = thrust::transform_reduce(counting, counting + n, random, 0.f, thrust::plus<float>()) / n;
  EXPECT(mean > 0.3f && mean < 0.7f);
  puts("ok");
}
