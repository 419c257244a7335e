// Where does cudaMalloc put what it is asked for?
//
// Models:  small and large allocations one after the other, a freed one's place, rows with a pitch, managed, pooled and page-locked memory:
//          the address of each. With an argument: larger ones behind these.
// Ignores: contexts, other processes.
// Source:  the pointers.
#include <cstddef>
#include <cstdio>
#include <initializer_list>

#include <cuda_runtime.h>

static void show(const char* what, std::initializer_list<std::size_t> sizes) {
  std::printf("%s\n", what);
  for (const std::size_t bytes : sizes) {
    void* p = nullptr;
    cudaMalloc(&p, bytes);
    std::printf("  %zu %p\n", bytes, p);
  }
}

int main(int count, char**) {
  constexpr std::size_t kMega = std::size_t{1} << 20;
  cudaFree(nullptr);
  show("mixed", {100 * kMega, 1024, 4, 1024, 4096, 3 * kMega, 1024, 300000, 1024, kMega, kMega - 512, kMega + 512, 2 * kMega,
                 1024, 700000, 700000, 700000, 1500000, 1500000, 513, 511, 1});
  if (count > 1) show("large", {5 * kMega, 5 * kMega, 33 * kMega, 1, 2 * kMega, 2 * kMega});
  void *p = nullptr, *q = nullptr, *r = nullptr;
  cudaMalloc(&p, 1024);
  cudaMalloc(&q, 1024);
  cudaFree(p);
  cudaMalloc(&r, 512);
  std::printf("freed %p, then %p, new of half %p\n", p, q, r);
  std::size_t pitch = 0;
  cudaMallocPitch(&p, &pitch, 100, 10);
  std::printf("pitch %zu at %p\n", pitch, p);
  cudaMallocManaged(&p, 1024);
  cudaMallocManaged(&q, 1024);
  std::printf("managed %p %p\n", p, q);
  cudaMallocAsync(&p, 1024, nullptr);
  cudaMallocAsync(&q, 1024, nullptr);
  std::printf("async %p %p\n", p, q);
  cudaMallocHost(&p, 1024);
  cudaMallocHost(&q, 1024);
  std::printf("host %p %p\n", p, q);
  return 0;
}
