#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) k(int* o) {
  __shared__ int s;
  auto c = cg::this_cluster();
  if (threadIdx.x == 0) s = c.block_rank() + 10;
  c.sync();
  int v = 0;
  for (int i = 0; i < c.num_blocks(); i++) v += *c.map_shared_rank(&s, i);
  c.sync();
  if (threadIdx.x == 0) o[blockIdx.x] = v;
}
int main() {
  int* o;
  cudaMallocManaged(&o, 64);
  k<<<8, 64>>>(o);
  auto e = cudaDeviceSynchronize();
  if (e) {
    puts(cudaGetErrorString(e));
    return 1;
  }
  puts(o[7] == 46 ? "ok" : "wrong");
}
