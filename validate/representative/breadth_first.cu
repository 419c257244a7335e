// Breadth-first search from many sources: the levels of each differ in size, and the host reads each level's count.
#include <cstdlib>
#include <vector>
__global__ void level(const int* row, const int* edge, int* depth, int d, int n, int* found) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || depth[i] != d) return;
  for (int e = row[i]; e < row[i + 1]; ++e) {
    if (depth[edge[e]] < 0) depth[edge[e]] = d + 1, *found = 1;
  }
}
__global__ void clear(int* depth, int source, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) depth[i] = i == source ? 0 : -1;
}
int main() {
  const int n = 8192;
  std::vector<int> row(n + 1), edge;
  std::srand(1);
  for (int i = 0; i < n; ++i) {
    row[i] = static_cast<int>(edge.size());
    const int degree = 1 + std::rand() % 4;
    for (int k = 0; k < degree; ++k) edge.push_back((i + 1 + std::rand() % 200 + (std::rand() % 20 == 0 ? 1000 : 0)) % n);
  }
  row[n] = static_cast<int>(edge.size());
  int *r, *e, *depth, *found;
  cudaMalloc(&r, row.size() * 4), cudaMalloc(&e, edge.size() * 4), cudaMalloc(&depth, n * 4), cudaMalloc(&found, 4);
  cudaMemcpy(r, row.data(), row.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(e, edge.data(), edge.size() * 4, cudaMemcpyHostToDevice);
  for (int s = 0; s < 60; ++s) {
    clear<<<n / 256, 256>>>(depth, s * 131 % n, n);
    for (int d = 0, more = 1; more != 0; ++d) {
      cudaMemset(found, 0, 4);
      level<<<n / 256, 256>>>(r, e, depth, d, n, found);
      cudaMemcpy(&more, found, 4, cudaMemcpyDeviceToHost);
    }
  }
  return cudaDeviceSynchronize();
}
