// PolyBench style: a 3x3 convolution, checked against the host, timed with events.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define NI 128
#define NJ 192
#define DIM_THREAD_BLOCK_X 32
#define DIM_THREAD_BLOCK_Y 8

typedef float DATA_TYPE;

#define CHECK(call)                                                                            \
  do {                                                                                         \
    cudaError_t error = (call);                                                                \
    if (error != cudaSuccess) {                                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));           \
      exit(EXIT_FAILURE);                                                                      \
    }                                                                                          \
  } while (0)

static void init(DATA_TYPE* A) {
  srand(7);
  for (int i = 0; i < NI; ++i)
    for (int j = 0; j < NJ; ++j) A[i * NJ + j] = (float)rand() / (float)RAND_MAX;
}

static void conv2D(const DATA_TYPE* A, DATA_TYPE* B) {
  DATA_TYPE c11 = +0.2f, c21 = +0.5f, c31 = -0.8f, c12 = -0.3f, c22 = +0.6f, c32 = -0.9f, c13 = +0.4f, c23 = +0.7f, c33 = +0.10f;
  for (int i = 1; i < NI - 1; ++i)
    for (int j = 1; j < NJ - 1; ++j)
      B[i * NJ + j] = c11 * A[(i - 1) * NJ + (j - 1)] + c12 * A[i * NJ + (j - 1)] + c13 * A[(i + 1) * NJ + (j - 1)] +
                      c21 * A[(i - 1) * NJ + j] + c22 * A[i * NJ + j] + c23 * A[(i + 1) * NJ + j] +
                      c31 * A[(i - 1) * NJ + (j + 1)] + c32 * A[i * NJ + (j + 1)] + c33 * A[(i + 1) * NJ + (j + 1)];
}

__global__ void convolution2D_kernel(DATA_TYPE* A, DATA_TYPE* B) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  DATA_TYPE c11 = +0.2f, c21 = +0.5f, c31 = -0.8f, c12 = -0.3f, c22 = +0.6f, c32 = -0.9f, c13 = +0.4f, c23 = +0.7f, c33 = +0.10f;
  if ((i < NI - 1) && (j < NJ - 1) && (i > 0) && (j > 0)) {
    B[i * NJ + j] = c11 * A[(i - 1) * NJ + (j - 1)] + c21 * A[(i - 1) * NJ + (j + 0)] + c31 * A[(i - 1) * NJ + (j + 1)] +
                    c12 * A[(i + 0) * NJ + (j - 1)] + c22 * A[(i + 0) * NJ + (j + 0)] + c32 * A[(i + 0) * NJ + (j + 1)] +
                    c13 * A[(i + 1) * NJ + (j - 1)] + c23 * A[(i + 1) * NJ + (j + 0)] + c33 * A[(i + 1) * NJ + (j + 1)];
  }
}

int main() {
  size_t bytes = NI * NJ * sizeof(DATA_TYPE);
  DATA_TYPE* A = (DATA_TYPE*)malloc(bytes);
  DATA_TYPE* B = (DATA_TYPE*)calloc(NI * NJ, sizeof(DATA_TYPE));
  DATA_TYPE* B_gpu_host = (DATA_TYPE*)malloc(bytes);
  init(A);

  cudaDeviceProp deviceProp;
  CHECK(cudaGetDeviceProperties(&deviceProp, 0));
  printf("device %d has compute capability %d.%d and name %s\n", 0, deviceProp.major, deviceProp.minor, deviceProp.name);
  CHECK(cudaSetDevice(0));

  DATA_TYPE *A_gpu, *B_gpu;
  CHECK(cudaMalloc((void**)&A_gpu, bytes));
  CHECK(cudaMalloc((void**)&B_gpu, bytes));
  CHECK(cudaMemset(B_gpu, 0, bytes));
  CHECK(cudaMemcpy(A_gpu, A, bytes, cudaMemcpyHostToDevice));
  dim3 block(DIM_THREAD_BLOCK_X, DIM_THREAD_BLOCK_Y);
  dim3 grid((NJ + block.x - 1) / block.x, (NI + block.y - 1) / block.y);
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  convolution2D_kernel<<<grid, block>>>(A_gpu, B_gpu);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  printf("GPU runtime: %f ms\n", milliseconds);
  CHECK(cudaMemcpy(B_gpu_host, B_gpu, bytes, cudaMemcpyDeviceToHost));

  conv2D(A, B);
  int fail = 0;
  for (int i = 0; i < NI * NJ; ++i)
    if (fabsf(B[i] - B_gpu_host[i]) > 1e-5f) ++fail;
  printf("non-matching outputs: %d\n", fail);
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaFree(A_gpu));
  CHECK(cudaFree(B_gpu));
  free(A);
  free(B);
  free(B_gpu_host);
  return fail != 0 || milliseconds < 0;
}
