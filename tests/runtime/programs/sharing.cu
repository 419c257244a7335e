// Two processes and one memory: blocks and events by handles, a pool's block by its own handle. The child writes, the parent reads.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "descriptors.h"

#define CHECK(call)                                                          \
  do {                                                                       \
    const cudaError_t code = (call);                                         \
    if (code != cudaSuccess) {                                               \
      std::printf("%s: %s\n", #call, cudaGetErrorName(code));                \
      std::fflush(stdout);                                                   \
      _exit(1);                                                              \
    }                                                                        \
  } while (0)

__global__ void add(int* p, int n, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += what;
}

struct Message {
  cudaIpcMemHandle_t blocks[3];
  cudaIpcEventHandle_t event;
  cudaMemPoolPtrExportData pooled;
};
constexpr int kSmall = 100, kLarge = 1 << 20;

int child(int socket) {
  Message m;
  if (read(socket, &m, sizeof m) != sizeof m) return 1;
  const int file = receive_file(socket);
  void *blocks[3], *again, *pooled;
  for (int i = 0; i < 3; ++i) CHECK(cudaIpcOpenMemHandle(&blocks[i], m.blocks[i], cudaIpcMemLazyEnablePeerAccess));
  CHECK(cudaIpcOpenMemHandle(&again, m.blocks[0], cudaIpcMemLazyEnablePeerAccess));
  cudaEvent_t event;
  CHECK(cudaIpcOpenEventHandle(&event, m.event));
  CHECK(cudaStreamWaitEvent(0, event, 0));
  cudaMemPool_t pool;
  CHECK(cudaMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                             cudaMemHandleTypePosixFileDescriptor, 0));
  CHECK(cudaMemPoolImportPointer(&pooled, pool, &m.pooled));
  add<<<1, 128>>>(static_cast<int*>(blocks[0]), kSmall, 1);
  add<<<1, 128>>>(static_cast<int*>(blocks[1]), kSmall, 2);
  add<<<kLarge / 256, 256>>>(static_cast<int*>(blocks[2]), kLarge, 3);
  add<<<1, 128>>>(static_cast<int*>(pooled), kSmall, 4);
  CHECK(cudaEventRecord(event, 0));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFreeAsync(pooled, 0));
  CHECK(cudaIpcCloseMemHandle(blocks[0]));
  add<<<1, 128>>>(static_cast<int*>(again), kSmall, 10);  // opened twice, closed once
  CHECK(cudaDeviceSynchronize());
  for (void* block : {again, blocks[1], blocks[2]}) CHECK(cudaIpcCloseMemHandle(block));
  std::printf("child: opened twice %s, closed again %s\n", again == blocks[0] ? "the same" : "another",
              cudaGetErrorName(cudaIpcCloseMemHandle(again)));
  std::fflush(stdout);
  return 0;
}

int main() {
  int sockets[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
  const pid_t other = fork();
  if (other == 0) _exit(child(sockets[1]));
  Message m;
  int *blocks[3], *neighbour, *pooled;
  const int sizes[3] = {kSmall, kSmall, kLarge};
  CHECK(cudaMalloc(&blocks[0], kSmall * sizeof(int)));
  CHECK(cudaMalloc(&neighbour, kSmall * sizeof(int)));
  CHECK(cudaMalloc(&blocks[1], kSmall * sizeof(int)));
  CHECK(cudaMalloc(&blocks[2], kLarge * sizeof(int)));
  CHECK(cudaMemset(neighbour, 0x11, kSmall * sizeof(int)));
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  CHECK(cudaMallocFromPoolAsync(&pooled, kSmall * sizeof(int), pool, 0));
  CHECK(cudaMemset(pooled, 0, kSmall * sizeof(int)));
  for (int i = 0; i < 3; ++i) {
    add<<<sizes[i] / 128 + 1, 128>>>(blocks[i], sizes[i], 100 * i);
    CHECK(cudaIpcGetMemHandle(&m.blocks[i], blocks[i]));
  }
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  CHECK(cudaEventRecord(event, 0));
  CHECK(cudaIpcGetEventHandle(&m.event, event));
  CHECK(cudaMemPoolExportPointer(&m.pooled, pooled));
  int file = -1, status = 0;
  CHECK(cudaMemPoolExportToShareableHandle(&file, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  if (write(sockets[0], &m, sizeof m) != sizeof m) return 1;
  send_file(sockets[0], file);
  waitpid(other, &status, 0);
  std::printf("child ended with %d\n", WEXITSTATUS(status));

  static int back[kLarge];
  bool right = true;
  const int expected[3] = {11, 102, 203};
  for (int i = 0; i < 3; ++i) {
    CHECK(cudaMemcpy(back, blocks[i], sizes[i] * sizeof(int), cudaMemcpyDeviceToHost));
    for (int j = 0; j < sizes[i]; ++j) right = right && back[j] == expected[i];
  }
  CHECK(cudaMemcpy(back, pooled, kSmall * sizeof(int), cudaMemcpyDeviceToHost));
  for (int j = 0; j < kSmall; ++j) right = right && back[j] == 4;
  CHECK(cudaMemcpy(back, neighbour, kSmall * sizeof(int), cudaMemcpyDeviceToHost));
  for (int j = 0; j < kSmall; ++j) right = right && back[j] == 0x11111111;
  // A pool's block may be imported by the process that has it: the same memory once more.
  cudaMemPool_t imported;
  void* twin;
  CHECK(cudaMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                             cudaMemHandleTypePosixFileDescriptor, 0));
  CHECK(cudaMemPoolImportPointer(&twin, imported, &m.pooled));
  add<<<1, 128>>>(static_cast<int*>(twin), kSmall, 5);
  CHECK(cudaMemcpy(back, pooled, kSmall * sizeof(int), cudaMemcpyDeviceToHost));
  for (int j = 0; j < kSmall; ++j) right = right && back[j] == 9;
  CHECK(cudaFreeAsync(twin, 0));
  std::printf("values: %s\n", right ? "right" : "wrong");

  void* own;
  cudaEvent_t plain;
  CHECK(cudaEventCreate(&plain));
  std::printf("own: %s\n", cudaGetErrorName(cudaIpcOpenMemHandle(&own, m.blocks[0], cudaIpcMemLazyEnablePeerAccess)));
  std::printf("host memory: %s\n", cudaGetErrorName(cudaIpcGetMemHandle(&m.blocks[0], back)));
  std::printf("plain event: %s\n", cudaGetErrorName(cudaIpcGetEventHandle(&m.event, plain)));
  std::printf("timed event: %s\n", cudaGetErrorName(cudaEventCreateWithFlags(&plain, cudaEventInterprocess)));
  cudaGetLastError();
  for (int* block : blocks) CHECK(cudaFree(block));
  CHECK(cudaFreeAsync(pooled, 0));
}
