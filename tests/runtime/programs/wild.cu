// Kernels with pointers that are none: to memory of the host that the program has not shared, and beside what it has. Each ends in
// cudaErrorIllegalAddress, and no byte of the host's is read or written.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

struct alignas(16) Four {
  int v[4];
};

__global__ void reads(const int* from, int* to) { *to = *from; }
__global__ void reads_four(const Four* from, Four* to) { *to = *from; }
__global__ void reads_cached(const int* from, int* to) { *to = __ldg(from); }
__global__ void writes(int* to) { *to = 7; }
__global__ void writes_byte(char* to) { *to = 7; }
__global__ void adds(int* to) { atomicAdd(to, 7); }
__global__ void exchanges(unsigned long long* to, unsigned long long* old) { *old = atomicCAS(to, 5ull, 7ull); }
__global__ void copies_async(const int* from, int* to) {
  __shared__ int room[4];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(room))), "l"(from));
  asm volatile("cp.async.wait_all;");
  *to = room[0];
}
/// Far outside its own shared and local memory.
__global__ void leaves_shared(int* to, unsigned at) {
  int value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at));
  *to = value;
}
__global__ void leaves_local(unsigned at) { asm volatile("st.local.u32 [%0], %1;" ::"r"(at), "r"(7)); }

static int failures = 0;
static const int kSecret = 0x5ec4e7;

static void expect_fault(const char* what, const int* canary) {
  const cudaError_t got = cudaDeviceSynchronize();
  if (got != cudaErrorIllegalAddress) ++failures, std::printf("%s: %s\n", what, cudaGetErrorName(got));
  for (int i = 0; i < 4; ++i) {
    if (canary[i] != kSecret) ++failures, std::printf("%s: word %d of the host's is 0x%x\n", what, i, canary[i]);
  }
  cudaDeviceReset();
}

static int* device() {
  int* memory = nullptr;
  cudaMalloc(&memory, 64);
  return memory;
}

/// Every way to touch 16 bytes that are not the kernel's.
static void touch(const char* where, int* canary) {
  char what[96];
  const auto name = [&](const char* how) { std::snprintf(what, sizeof what, "%s %s", how, where); return what; };
  for (int i = 0; i < 4; ++i) canary[i] = kSecret;
  reads<<<1, 1>>>(canary, device());
  expect_fault(name("reads"), canary);
  reads_four<<<1, 1>>>(reinterpret_cast<Four*>(canary), reinterpret_cast<Four*>(device()));
  expect_fault(name("reads four words of"), canary);
  reads_cached<<<1, 1>>>(canary, device());
  expect_fault(name("reads through __ldg"), canary);
  writes<<<1, 1>>>(canary);
  expect_fault(name("writes"), canary);
  writes_byte<<<1, 1>>>(reinterpret_cast<char*>(canary) + 1);
  expect_fault(name("writes a byte of"), canary);
  adds<<<1, 1>>>(canary);
  expect_fault(name("adds to"), canary);
  exchanges<<<1, 1>>>(reinterpret_cast<unsigned long long*>(canary), reinterpret_cast<unsigned long long*>(device()));
  expect_fault(name("exchanges"), canary);
  copies_async<<<1, 1>>>(canary, device());
  expect_fault(name("copies asynchronously from"), canary);
}

alignas(16) static int global[4];

int main() {
  alignas(16) int stack[4];
  touch("the stack", stack);
  touch("a global variable", global);
  int* heap = static_cast<int*>(std::aligned_alloc(16, 64));
  touch("the heap", heap);

  // Beside a registered buffer: the bytes before and after it on the same page are not shared.
  int* page = static_cast<int*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int* beside : {page + 60, page + 96}) {
    for (int i = 0; i < 4; ++i) beside[i] = kSecret;
    const cudaError_t registered = cudaHostRegister(page + 64, 32 * sizeof(int), cudaHostRegisterDefault);
    if (registered != cudaSuccess) ++failures, std::printf("register: %s\n", cudaGetErrorName(registered));
    reads<<<1, 1>>>(beside, device());
    expect_fault("reads beside a registered buffer", beside);
    cudaHostRegister(page + 64, 32 * sizeof(int), cudaHostRegisterDefault);
    writes<<<1, 1>>>(beside);
    expect_fault("writes beside a registered buffer", beside);
  }

  alignas(16) int canary[4] = {kSecret, kSecret, kSecret, kSecret};
  for (const unsigned at : {1u << 20, 1u << 24, 1u << 31, ~15u}) {
    leaves_shared<<<1, 32>>>(device(), at);
    expect_fault("leaves shared memory", canary);
    leaves_local<<<1, 1>>>(at);
    expect_fault("leaves local memory", canary);
  }
  for (const std::uintptr_t address : {std::uintptr_t{0}, std::uintptr_t{16}, ~std::uintptr_t{15}, std::uintptr_t{1} << 63}) {
    reads<<<1, 1>>>(reinterpret_cast<int*>(address), device());
    expect_fault("reads nowhere", canary);
    writes<<<1, 1>>>(reinterpret_cast<int*>(address));
    expect_fault("writes nowhere", canary);
  }
  std::printf("wild: %s\n", failures == 0 ? "all refused" : "failed");
  return failures == 0 ? 0 : 1;
}
