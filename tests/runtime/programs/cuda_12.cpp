// A program of CUDA 12: that version's names and structures, linked with libcudart.so.12. They are declared here, as a toolkit of CUDA 12
// need not be there (cuda_runtime_api.h and driver_types.h of CUDA 12.9). cuda_12 FATBIN: a file with the kernel `saxpy`.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using Error = int;
using Handle = void*;
struct dim3 {
  unsigned x, y, z;
};
struct Pointer {
  int type, device;
  void *on_device, *on_host;
};
struct Resource;  // 64 bytes; CUDA 13 has more
struct Texture {
  int address[3], filter, read, srgb;
  float border[4];
  int normalized;
  unsigned anisotropy;
  int mip_filter;
  float bias, least, most;
  int seamless;
};
extern "C" {
Error cudaGetLastError();
Error cudaRuntimeGetVersion(int*);
Error cudaGetDeviceProperties_v2(void*, int);
Error cudaMalloc(void**, std::size_t);
Error cudaMallocManaged(void**, std::size_t, unsigned);
Error cudaMemcpy(void*, const void*, std::size_t, int);
Error cudaPointerGetAttributes(Pointer*, const void*);
Error cudaMemAdvise(const void*, std::size_t, int, int);
Error cudaMemPrefetchAsync(const void*, std::size_t, int, Handle);
Error cudaMemPrefetchAsync_v2(const void*, std::size_t, std::uint64_t, unsigned, Handle);
Error cudaMemRangeGetAttribute(void*, std::size_t, int, const void*, std::size_t);
Error cudaLibraryLoadFromFile(Handle*, const char*, void*, void*, unsigned, void*, void*, unsigned);
Error cudaLibraryGetKernel(Handle*, Handle, const char*);
Error cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, Handle);
Error cudaStreamCreate(Handle*);
Error cudaStreamSynchronize(Handle);
Error cudaStreamBeginCapture(Handle, int);
Error cudaStreamEndCapture(Handle, Handle*);
Error cudaStreamGetCaptureInfo_v2(Handle, int*, unsigned long long*, Handle*, const Handle**, std::size_t*);
Error cudaStreamUpdateCaptureDependencies(Handle, Handle*, std::size_t, unsigned);
Error cudaGraphGetEdges(Handle, Handle*, Handle*, std::size_t*);
Error cudaGraphGetEdges_v2(Handle, Handle*, Handle*, void*, std::size_t*);
Error cudaGraphAddDependencies(Handle, const Handle*, const Handle*, std::size_t);
Error cudaGraphRemoveDependencies(Handle, const Handle*, const Handle*, std::size_t);
Error cudaGraphNodeGetDependencies(Handle, Handle*, std::size_t*);
Error cudaGraphInstantiate(Handle*, Handle, unsigned long long);
Error cudaGraphLaunch(Handle, Handle);
Error cudaMemcpyBatchAsync(void**, void**, std::size_t*, std::size_t, void*, std::size_t*, std::size_t,
                           std::size_t*, Handle);
Error cudaCreateTextureObject(unsigned long long*, const Resource*, const Texture*, const void*);
Error cudaGetTextureObjectResourceDesc(Resource*, unsigned long long);
Error cudaThreadSynchronize();
const char* cudaGetErrorName(Error);
}

static void check(Error error, int line) {
  if (error == 0) return;
  std::printf("line %d: %s\n", line, cudaGetErrorName(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)
#define EXPECT(condition) check((condition) ? 0 : 999, __LINE__)

static int number_at(const unsigned char* bytes, int offset) {
  int value = 0;
  std::memcpy(&value, bytes + offset, 4);
  return value;
}

static void properties() {
  int version = 0;
  CHECK(cudaRuntimeGetVersion(&version));
  EXPECT(version >= 12000 && version < 13000);
  unsigned char bytes[1032 + 64];
  std::memset(bytes, 0x5a, sizeof bytes);
  CHECK(cudaGetDeviceProperties_v2(bytes, 0));
  CHECK(cudaGetLastError());
  EXPECT(std::strlen(reinterpret_cast<char*>(bytes)) > 3);
  EXPECT(number_at(bytes, 336) == 0x7fffffff && number_at(bytes, 340) == 65535);  // maxGridSize
  EXPECT(number_at(bytes, 348) > 500000);                                         // clockRate, kHz
  EXPECT(number_at(bytes, 352) == 65536);                                         // totalConstMem
  EXPECT(number_at(bytes, 360) >= 8 && number_at(bytes, 388) >= 16);  // major, multiProcessorCount
  EXPECT(number_at(bytes, 688) == 1);                                 // cooperativeLaunch
  EXPECT(number_at(bytes, 772) == (number_at(bytes, 360) >= 9));      // clusterLaunch
  for (int i = 1032; i < 1032 + 64; ++i) EXPECT(bytes[i] == 0x5a);
}

static void structures() {
  float* p = nullptr;
  CHECK(cudaMallocManaged(reinterpret_cast<void**>(&p), 4096, 1));
  struct {
    Pointer answer;
    unsigned char guard[64];
  } room;
  std::memset(&room, 0x5a, sizeof room);
  CHECK(cudaPointerGetAttributes(&room.answer, p + 7));
  EXPECT(room.answer.type == 3 && room.answer.on_device == p + 7);
  for (unsigned char byte : room.guard) EXPECT(byte == 0x5a);
  CHECK(cudaMemAdvise(p, 4096, 3, 0));
  int where = -5;
  CHECK(cudaMemRangeGetAttribute(&where, 4, 2, p, 4096));
  EXPECT(where == 0);
  CHECK(cudaMemPrefetchAsync(p, 4096, -1, nullptr));
  CHECK(cudaMemRangeGetAttribute(&where, 4, 4, p, 4096));
  EXPECT(where == -1);
  CHECK(cudaMemPrefetchAsync_v2(p, 4096, 1, 0, nullptr));  // {cudaMemLocationTypeDevice, 0}
  unsigned char description[64 + 64];
  std::memset(description, 0, sizeof description);
  const int kind = 2, bits = 32, floats = 2;
  const std::size_t size = 4096;
  std::memcpy(description, &kind, 4);
  std::memcpy(description + 8, &p, 8);
  std::memcpy(description + 16, &bits, 4);
  std::memcpy(description + 32, &floats, 4);
  std::memcpy(description + 40, &size, 8);
  Texture how{};
  unsigned long long texture = 0;
  CHECK(cudaCreateTextureObject(&texture, reinterpret_cast<Resource*>(description), &how, nullptr));
  unsigned char back[64 + 64];
  std::memset(back, 0x5a, sizeof back);
  CHECK(cudaGetTextureObjectResourceDesc(reinterpret_cast<Resource*>(back), texture));
  EXPECT(std::memcmp(back + 8, description + 8, 28) == 0 && number_at(back, 40) == 4096);
  for (int i = 64; i < 128; ++i) EXPECT(back[i] == 0x5a);
}

static void graphs(Handle kernel) {
  const int n = 1000;
  float *x = nullptr, *y = nullptr;
  CHECK(cudaMallocManaged(reinterpret_cast<void**>(&x), n * sizeof(float), 1));
  CHECK(cudaMallocManaged(reinterpret_cast<void**>(&y), n * sizeof(float), 1));
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i), y[i] = 1;
  float a = 2;
  int count = n;
  void* arguments[] = {&a, &x, &y, &count};
  Handle stream = nullptr, graph = nullptr, exec = nullptr, nodes[4], from[4], to[4];
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, 2));
  for (int i = 0; i < 2; ++i) CHECK(cudaLaunchKernel(kernel, {4, 1, 1}, {256, 1, 1}, arguments, 0, stream));
  int status = 0;
  unsigned long long id = 0;
  const Handle* needs = nullptr;
  std::size_t room = 0;
  CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &needs, &room));
  EXPECT(status == 1 && room == 1);
  nodes[0] = needs[0];
  CHECK(cudaStreamUpdateCaptureDependencies(stream, nodes, 1, 1));
  CHECK(cudaStreamEndCapture(stream, &graph));
  room = 4;
  CHECK(cudaGraphGetEdges(graph, from, to, &room));
  EXPECT(room == 1 && to[0] == nodes[0]);
  CHECK(cudaGraphRemoveDependencies(graph, from, to, 1));
  room = 4;
  CHECK(cudaGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &room));
  EXPECT(room == 0);
  CHECK(cudaGraphAddDependencies(graph, from, to, 1));
  room = 4;
  CHECK(cudaGraphNodeGetDependencies(to[0], nodes, &room));
  EXPECT(room == 1 && nodes[0] == from[0]);
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  void* targets[] = {y + 500};
  void* sources[] = {y};
  std::size_t sizes[] = {40}, index = 0, failed = 7;
  unsigned char attributes[64] = {1};
  CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 1, attributes, &index, 1, &failed, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaThreadSynchronize());
  for (int i = 0; i < n; ++i) {
    const int as = i >= 500 && i < 510 ? i - 500 : i;
    EXPECT(y[i] == 4 * static_cast<float>(as) + 1);
  }
}

int main(int count, char** words) {
  EXPECT(count == 2);
  properties();
  structures();
  Handle library = nullptr, kernel = nullptr;
  CHECK(cudaLibraryLoadFromFile(&library, words[1], nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryGetKernel(&kernel, library, "saxpy"));
  graphs(kernel);
  std::puts("ok");
}
