// Every way of having memory and of moving bytes; returns the number of the first check that fails.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::printf("line %d: %s; last error %d\n", __LINE__, #condition, cudaGetLastError()); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

__device__ int counter;
__device__ float table[4] = {1, 2, 3, 4};
__constant__ float factors[3] = {10, 20, 30};
__constant__ const float* chosen = &factors[1];
__device__ int* where = &counter;
__managed__ int shared_number = 7;
__managed__ double shared_table[3];

__global__ void add(int* data, int n, int amount) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += amount;
}
__global__ void variables(float* out) {
  if (threadIdx.x == 0) {
    atomicAdd(where, 5);
    shared_number *= 2;
    shared_table[1] = shared_table[0] + 0.5;
    out[0] = table[2] + factors[2];
    out[1] = *chosen;
  }
}
struct Big {
  int values[40];
  double scale;
};
__global__ void structure(Big big, char tail, double* out) {
  double sum = 0;
  for (int i = 0; i < 40; ++i) sum += big.values[i];
  *out = sum * big.scale + tail;
}

static void plain() {
  std::vector<int> host(1000);
  for (int i = 0; i < 1000; ++i) host[i] = i;
  int* device = nullptr;
  OK(cudaMalloc(&device, 4000));
  OK(cudaMemcpy(device, host.data(), 4000, cudaMemcpyHostToDevice));
  add<<<8, 128>>>(device, 1000, 3);
  OK(cudaGetLastError());
  std::vector<int> back(1000);
  OK(cudaMemcpy(back.data(), device, 4000, cudaMemcpyDefault));
  for (int i = 0; i < 1000; ++i) CHECK(back[i] == i + 3);
  int* other = nullptr;
  OK(cudaMallocAsync(&other, 4000, 0));
  OK(cudaMemcpyAsync(other, device, 4000, cudaMemcpyDeviceToDevice, 0));
  OK(cudaMemset(device, 0xff, 400));
  OK(cudaMemcpy(back.data(), device, 404, cudaMemcpyDeviceToHost));
  CHECK(back[0] == -1 && back[99] == -1 && back[100] == 103);
  OK(cudaMemcpyPeer(back.data(), 0, other, 0, 8) == cudaErrorInvalidValue ? cudaSuccess : cudaErrorUnknown);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
  OK(cudaFreeAsync(other, 0));
  OK(cudaFree(device));
  CHECK(cudaFree(device) == cudaErrorInvalidValue);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaFree(nullptr));
}

static void boxes() {
  char* pitched = nullptr;
  size_t pitch = 0;
  OK(cudaMallocPitch(&pitched, &pitch, 100, 5));
  CHECK(pitch >= 100 && pitch % 512 == 0);
  char host[5][100], back[5][50];
  for (int y = 0; y < 5; ++y) std::memset(host[y], 'a' + y, 100);
  OK(cudaMemcpy2D(pitched, pitch, host, 100, 100, 5, cudaMemcpyHostToDevice));
  OK(cudaMemset2D(pitched + 10, pitch, 'z', 2, 5));
  OK(cudaMemcpy2D(back, 50, pitched, pitch, 50, 5, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 5; ++y) CHECK(back[y][9] == 'a' + y && back[y][10] == 'z' && back[y][11] == 'z' && back[y][12] == 'a' + y);
  CHECK(cudaMemcpy2D(back, 50, pitched, pitch, 60, 5, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
  OK(cudaGetLastError() == cudaErrorInvalidPitchValue ? cudaSuccess : cudaErrorUnknown);
  OK(cudaFree(pitched));

  cudaPitchedPtr cube;
  OK(cudaMalloc3D(&cube, make_cudaExtent(16, 4, 3)));
  OK(cudaMemset3D(cube, 1, make_cudaExtent(16, 4, 3)));
  char slab[3][4][16];
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = cube;
  copy.dstPtr = make_cudaPitchedPtr(slab, 16, 16, 4);
  copy.extent = make_cudaExtent(16, 4, 3);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  for (int i = 0; i < 16 * 4 * 3; ++i) CHECK(slab[0][0][i] == 1);
  slab[2][3][15] = 9;
  copy.srcPtr = make_cudaPitchedPtr(slab, 16, 16, 4);
  copy.srcPos = make_cudaPos(15, 3, 2);
  copy.dstPtr = cube;
  copy.dstPos = make_cudaPos(0, 0, 1);
  copy.extent = make_cudaExtent(1, 1, 1);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  char one = 0;
  OK(cudaMemcpy(&one, static_cast<char*>(cube.ptr) + cube.pitch * 4, 1, cudaMemcpyDeviceToHost));
  CHECK(one == 9);
  OK(cudaFree(cube.ptr));
}

/// A batch of boxes: memory to memory, rows of 6 elements in rows of 10, and memory to an array and back.
static void batch() {
  int *from, *to;
  OK(cudaMallocManaged(&from, 240 * sizeof(int)));
  OK(cudaMallocManaged(&to, 240 * sizeof(int)));
  for (int i = 0; i < 240; ++i) from[i] = i;
  std::fill(to, to + 240, -1);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 4, 2)));
  const auto memory = [](int* at, size_t row, size_t rows) {
    cudaMemcpy3DOperand side = {};
    side.type = cudaMemcpyOperandTypePointer;
    side.op.ptr.ptr = at;
    side.op.ptr.rowLength = row;
    side.op.ptr.layerHeight = rows;
    return side;
  };
  cudaMemcpy3DOperand in_array = {};
  in_array.type = cudaMemcpyOperandTypeArray;
  in_array.op.array = {array, {1, 1, 0}};
  cudaMemcpy3DBatchOp operations[3] = {};
  for (cudaMemcpy3DBatchOp& operation : operations) operation.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  operations[0].src = memory(from, 40, 4);  // an element is a byte
  operations[0].dst = memory(to, 0, 0);
  operations[0].extent = make_cudaExtent(24, 3, 2);
  operations[1].src = memory(from, 10, 4);
  operations[1].dst = in_array;
  operations[2].src = in_array;
  operations[2].dst = memory(to + 100, 6, 5);
  operations[1].extent = operations[2].extent = make_cudaExtent(5, 3, 2);
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpy3DBatchAsync(0, operations, 0, stream) == cudaErrorInvalidValue);
  OK(cudaMemcpy3DBatchAsync(3, operations, 0, stream));
  OK(cudaStreamSynchronize(stream));
  for (int slice = 0; slice < 2; ++slice) {
    for (int row = 0; row < 3; ++row) {
      for (int i = 0; i < 6; ++i) {
        const int value = slice * 40 + row * 10 + i;
        CHECK(to[slice * 18 + row * 6 + i] == value);
        CHECK(to[100 + slice * 30 + row * 6 + i] == (i < 5 ? value : -1));
      }
    }
  }
}

static void named() {
  int* out = nullptr;
  OK(cudaMalloc(&out, 64));
  shared_table[0] = 2;
  variables<<<1, 32>>>(reinterpret_cast<float*>(out));
  OK(cudaDeviceSynchronize());
  CHECK(shared_number == 14 && shared_table[1] == 2.5);
  int number = 0;
  OK(cudaMemcpyFromSymbol(&number, counter, sizeof number));
  CHECK(number == 5);
  float pair[2];
  OK(cudaMemcpy(pair, out, 8, cudaMemcpyDeviceToHost));
  CHECK(pair[0] == 33 && pair[1] == 20);
  const float changed[2] = {7, 8};
  OK(cudaMemcpyToSymbol(factors, changed, 8, 4));
  variables<<<1, 32>>>(reinterpret_cast<float*>(out));
  OK(cudaMemcpy(pair, out, 8, cudaMemcpyDeviceToHost));
  CHECK(pair[0] == 11 && pair[1] == 7);
  void* address = nullptr;
  size_t size = 0;
  OK(cudaGetSymbolAddress(&address, table));
  OK(cudaGetSymbolSize(&size, table));
  CHECK(address != nullptr && size == 16);
  const float nine = 9;
  OK(cudaMemcpy(static_cast<float*>(address) + 2, &nine, 4, cudaMemcpyHostToDevice));
  variables<<<1, 32>>>(reinterpret_cast<float*>(out));
  OK(cudaMemcpy(pair, out, 8, cudaMemcpyDeviceToHost));
  CHECK(pair[0] == 17);
  CHECK(cudaMemcpyToSymbol(factors, changed, 8, 8) == cudaErrorInvalidValue);
  int unknown = 0;
  CHECK(cudaMemcpyFromSymbol(&number, unknown, 4) == cudaErrorInvalidSymbol);
  CHECK(cudaGetLastError() == cudaErrorInvalidSymbol);
  OK(cudaFree(out));
}

static void host_side() {
  int *managed = nullptr, *pinned = nullptr, *mapped = nullptr;
  OK(cudaMallocManaged(&managed, 4096));
  OK(cudaMallocHost(&pinned, 4096));
  OK(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped));
  int* plain = static_cast<int*>(std::malloc(4096));
  OK(cudaHostRegister(plain, 4096, cudaHostRegisterDefault));
  CHECK(cudaHostRegister(plain, 4096, cudaHostRegisterDefault) == cudaErrorHostMemoryAlreadyRegistered);
  int* all[] = {managed, pinned, mapped, plain};
  const cudaMemoryType types[] = {cudaMemoryTypeManaged, cudaMemoryTypeHost, cudaMemoryTypeHost, cudaMemoryTypeHost};
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 1024; ++i) all[k][i] = i;
    int* device = all[k];
    OK(cudaHostGetDevicePointer(&device, all[k], 0));
    add<<<4, 256>>>(device, 1024, k + 1);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 1024; ++i) CHECK(all[k][i] == i + k + 1);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, all[k] + 5));
    CHECK(attributes.type == types[k] && attributes.devicePointer == all[k] + 5 && attributes.device == 0);
  }
  OK(cudaHostUnregister(plain));
  std::free(plain);
  OK(cudaFreeHost(pinned));
  OK(cudaFreeHost(mapped));
  OK(cudaFree(managed));
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, &managed));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  OK(cudaPointerGetAttributes(&attributes, &shared_table[2]));
  CHECK(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == &shared_table[2]);
  void* own = nullptr;
  OK(cudaGetSymbolAddress(&own, counter));
  OK(cudaPointerGetAttributes(&attributes, own));
  CHECK(attributes.type == cudaMemoryTypeDevice && attributes.hostPointer == nullptr);
  CHECK(cudaFreeHost(all) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

static void amounts() {
  size_t before = 0, total = 0, after = 0;
  OK(cudaMemGetInfo(&before, &total));
  CHECK(before <= total && total > (size_t{8} << 30));
  void* large = nullptr;
  OK(cudaMalloc(&large, size_t{4} << 30));
  OK(cudaMemGetInfo(&after, &total));
  CHECK(before - after == size_t{4} << 30);
  void* larger = nullptr;
  CHECK(cudaMalloc(&larger, total) == cudaErrorMemoryAllocation && larger == nullptr);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
  OK(cudaFree(large));
  // Freed and allocated again and again: neither addresses nor host memory may run out.
  for (int i = 0; i < 2000; ++i) {
    OK(cudaMalloc(&large, size_t{1} << 30));
    OK(cudaMemset(large, i, 4096));
    OK(cudaFree(large));
  }
}

int main() {
  plain();
  boxes();
  batch();
  named();
  host_side();
  amounts();
  Big big;
  for (int i = 0; i < 40; ++i) big.values[i] = i;
  big.scale = 0.5;
  double* out = nullptr;
  OK(cudaMallocManaged(&out, 8));
  structure<<<1, 1>>>(big, 3, out);
  OK(cudaDeviceSynchronize());
  CHECK(*out == 393);
  std::printf("memory: all right\n");
  return 0;
}
