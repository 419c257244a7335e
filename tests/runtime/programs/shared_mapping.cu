// Memory that cuMemCreate makes, in two processes at once: exported as a file descriptor, sent by a UNIX socket, imported and mapped by a child
// at an address of its own. Either sees what the other's kernels write, and the child still has the memory when the parent has given it up.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "descriptors.h"

#define CHECK(call)                                          \
  do {                                                       \
    const int code = static_cast<int>(call);                 \
    if (code != 0) {                                         \
      std::printf("%s: error %d\n", #call, code);            \
      std::fflush(stdout);                                   \
      _exit(1);                                              \
    }                                                        \
  } while (0)

constexpr size_t kGranule = 2 << 20;
constexpr int kCount = 2 * kGranule / sizeof(int);  // of two granules

__global__ void add(int* p, int what) { p[blockIdx.x * blockDim.x + threadIdx.x] += what; }
__global__ void compare(const int* p, int expected, int* wrong) {
  if (p[blockIdx.x * blockDim.x + threadIdx.x] != expected) atomicAdd(wrong, 1);
}

/// The other process has come as far.
void tell(int socket) {
  const char byte = 1;
  if (write(socket, &byte, 1) != 1) _exit(2);
}
void wait_for(int socket) {
  char byte;
  if (read(socket, &byte, 1) != 1) _exit(2);
}

CUmemAllocationProp properties() {
  CUmemAllocationProp p{};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return p;
}
int* map(CUmemGenericAllocationHandle memory, size_t before) {
  CUdeviceptr room = 0;
  CHECK(cuMemAddressReserve(&room, before + 2 * kGranule, 0, 0, 0));
  CHECK(cuMemMap(room + before, 2 * kGranule, 0, memory, 0));
  CUmemAccessDesc access{};
  access.location = properties().location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CHECK(cuMemSetAccess(room + before, 2 * kGranule, &access, 1));
  return reinterpret_cast<int*>(room + before);
}
void add_to_all(int* p, int what) {
  add<<<kCount / 256, 256>>>(p, what);
  CHECK(cudaDeviceSynchronize());
}
int wrong(const int* p, int expected) {
  static int* count = nullptr;
  if (count == nullptr) CHECK(cudaMallocManaged(&count, sizeof *count));
  *count = 0;
  compare<<<kCount / 256, 256>>>(p, expected, count);
  CHECK(cudaDeviceSynchronize());
  return *count;
}

int child(int socket) {
  const int file = receive_file(socket);
  CHECK(cudaFree(nullptr));
  CUmemGenericAllocationHandle memory = 0;
  CHECK(cuMemImportFromShareableHandle(&memory, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(file);
  int* const p = map(memory, kGranule);  // not at the parent's address
  CHECK(cuMemRelease(memory));           // it is mapped
  std::printf("child: %d wrong\n", wrong(p, 7));
  std::fflush(stdout);
  add_to_all(p, 20);
  tell(socket);
  wait_for(socket);  // the parent has written, and has the memory no longer
  std::printf("child: %d wrong at the end\n", wrong(p, 327));
  std::fflush(stdout);
  CHECK(cuMemUnmap(reinterpret_cast<CUdeviceptr>(p), 2 * kGranule));
  CHECK(cuMemAddressFree(reinterpret_cast<CUdeviceptr>(p) - kGranule, 3 * kGranule));
  return 0;
}

int main() {
  int sockets[2], file = -1, status = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;
  const pid_t other = fork();  // before either has used CUDA
  if (other == 0) _exit(child(sockets[1]));
  close(sockets[1]);
  CHECK(cudaFree(nullptr));
  const CUmemAllocationProp wanted = properties();
  CUmemGenericAllocationHandle memory = 0;
  CHECK(cuMemCreate(&memory, 2 * kGranule, &wanted, 0));
  int* const p = map(memory, 0);
  CHECK(cudaMemset(p, 0, 2 * kGranule));
  add_to_all(p, 7);
  CHECK(cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  send_file(sockets[0], file);
  close(file);
  wait_for(sockets[0]);
  std::printf("parent: %d wrong\n", wrong(p, 27));
  std::fflush(stdout);
  add_to_all(p, 300);
  CHECK(cuMemUnmap(reinterpret_cast<CUdeviceptr>(p), 2 * kGranule));
  CHECK(cuMemRelease(memory));
  CHECK(cuMemAddressFree(reinterpret_cast<CUdeviceptr>(p), 2 * kGranule));
  tell(sockets[0]);
  waitpid(other, &status, 0);
  const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  std::puts(ended ? "ok" : "the child has failed");
  return ended ? 0 : 1;
}
