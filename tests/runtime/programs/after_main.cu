// Frees memory in a destructor that runs after main, when the thread's own objects are gone and their heap is used again.
#include <cstdio>
#include <vector>

struct Kept {
  void* memory = nullptr;
  ~Kept() {
    std::vector<std::vector<char>> others;
    for (int i = 0; i < 1000; ++i) others.emplace_back(8 + i % 64, 0x55);
    int device = -1;
    const int freed = cudaFree(memory);
    const int asked = cudaGetDevice(&device);
    std::printf("freed after main: %d, %d, device %d\n", freed, asked, device);
  }
} kept;

int main() { return cudaMalloc(&kept.memory, 1000) == cudaSuccess ? 0 : 1; }
