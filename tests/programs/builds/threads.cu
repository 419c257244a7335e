#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <thread>
#include <vector>
__global__ void k(int* p, int v) { p[threadIdx.x] += v; }
int main() {
  std::vector<std::thread> t;
  std::vector<int> r(8);
  for (int i = 0; i < 8; i++)
    t.emplace_back([&, i] {
      cudaStream_t s;
      cudaStreamCreate(&s);
      int* d;
      cudaMalloc(&d, 128);
      cudaMemsetAsync(d, 0, 128, s);
      for (int j = 0; j < 10; j++) k<<<1, 32, 0, s>>>(d, i);
      int h[32];
      cudaMemcpyAsync(h, d, 128, cudaMemcpyDeviceToHost, s);
      cudaStreamSynchronize(s);
      r[i] = h[5];
    });
  for (auto& x : t) x.join();
  for (int i = 0; i < 8; i++)
    if (r[i] != 10 * i) {
      puts("wrong");
      return 1;
    }
  puts("ok");
}
