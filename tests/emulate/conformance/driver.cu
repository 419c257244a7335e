// Kernels that call what the driver provides: printf, malloc, free, new, delete, assert.
#include <cassert>
#include <cstdio>

extern "C" __global__ void prints(const int* in, int* out) {
  const int i = threadIdx.x;
  if (i % 2 == 0) {
    out[i] = printf("thread %d of %u: %5.2f|%-6s|%06x|%c|%lld|%%\n", i, blockDim.x, in[i] * 0.5, "text", in[i], 'a' + i,
                    -5000000000ll - i);
  } else {
    out[i] = printf("odd\n");
  }
}

extern "C" __global__ void lists(const int* in, int* out) {
  struct Node {
    int value;
    Node* next;
  };
  Node* first = nullptr;
  for (int k = 0; k <= static_cast<int>(threadIdx.x); ++k) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    node->value = in[k];
    node->next = first;
    first = node;
  }
  int sum = 0;
  while (first != nullptr) {
    sum += first->value;
    Node* next = first->next;
    free(first);
    first = next;
  }
  int* array = new int[threadIdx.x + 1];
  for (int k = 0; k <= static_cast<int>(threadIdx.x); ++k) array[k] = k;
  for (int k = 0; k <= static_cast<int>(threadIdx.x); ++k) sum += array[k];
  delete[] array;
  out[threadIdx.x] = sum;
}

extern "C" __global__ void exhausts(const int*, int* out) {
  int blocks = 0;
  while (malloc(1 << 20) != nullptr) ++blocks;
  out[threadIdx.x] = blocks;
}

extern "C" __global__ void asserts(const int* in, int* out) {
  assert(in[threadIdx.x] < 40);
  out[threadIdx.x] = 1;
}

extern "C" __global__ void frees_twice(const int*, int* out) {
  int* p = static_cast<int*>(malloc(16));
  *p = 1;
  out[0] = *p;
  free(p);
  free(p);
}

extern "C" __global__ void uses_freed(const int*, int* out) {
  volatile int* p = static_cast<int*>(malloc(16));
  *p = 1;
  free(const_cast<int*>(p));
  out[0] = *p;
}

extern "C" __global__ void runs_over(const int* in, int* out) {
  int* p = static_cast<int*>(malloc(40));
  p[in[9] + 1] = 1;
  out[0] = p[in[0]];
}

// Calls through a table, virtual functions and recursion, each thread its own way.
struct Shape {
  __device__ virtual int area(int x) const = 0;
};
struct Square : Shape {
  __device__ int area(int x) const override { return x * x; }
};
struct Half : Shape {
  __device__ int area(int x) const override { return x / 2; }
};
__device__ __noinline__ int recurse(int n) { return n < 2 ? 1 : recurse(n - 1) + recurse(n - 2); }
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int next(int x) { return x + 1; }
__device__ int (*const kTable[])(int) = {twice, next, recurse};

extern "C" __global__ void calls(const int* in, int* out) {
  const int i = threadIdx.x;
  Shape* shape = i % 3 == 0 ? static_cast<Shape*>(new Square) : new Half;
  out[i] = kTable[i % 3](in[i] % 12) + shape->area(i);
  delete shape;
}

// A kernel without parameters; another launch sees what it left behind.
__device__ int* kept;
extern "C" __global__ void no_parameters() {
  kept = static_cast<int*>(malloc(4));
  *kept = static_cast<int>(blockDim.x);
  printf("%d\n", *kept + static_cast<int>(gridDim.x));
}
