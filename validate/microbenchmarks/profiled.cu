// What only the profiler's counters can answer: DRAM granularity, store hits, carve-out, launch cost.
//
// Models:  `profiled traffic`: loads and stores of chosen sectors of each 128-byte line over 256 MiB,
//          partly written sectors, load-after-store and the like in L1, dirty data at a kernel's
//          end; `profiled carve_out`: one launch for each block size, shared size and register
//          count; `profiled carve_out_more`: many small blocks; `profiled empty`: empty grids.
// Ignores: time.
// Source:  Nsight Compute's counters, which the driver script joins to the lines printed here: line
//          n describes launch n of the process.
#include <cstring>

#include "bench.cuh"

using namespace bench;

int g_launch = 0;
Answer describe(const char* kernel) {
  Answer a("profiled", "counters of one launch");
  a.add("launch", g_launch++).add_text("kernel", kernel);
  return a;
}

/// One warp takes 32 sectors: 8 lines of 128 bytes. A lane loads `words` words of its sector where
/// the line's sector is in `mask`.
__global__ void load_sectors(const unsigned* base, unsigned mask, int words, unsigned* sink) {
  const std::size_t sector = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (!(mask >> (sector % 4) & 1)) return;
  unsigned sum = 0;
  for (int w = 0; w < words; ++w) sum ^= base[sector * 8 + static_cast<std::size_t>(w)];
  if (sum == 0x12345) *sink = sum;
}
__global__ void store_sectors(unsigned* base, unsigned mask, int words) {
  const std::size_t sector = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (!(mask >> (sector % 4) & 1)) return;
  for (int w = 0; w < words; ++w) base[sector * 8 + static_cast<std::size_t>(w)] = 1;
}
/// Each thread loads one word at `stride` bytes.
__global__ void load_stride(const char* base, std::size_t stride, unsigned* sink) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  const unsigned v = *reinterpret_cast<const unsigned*>(base + i * stride);
  if (v == 0x12345) *sink = v;
}
__global__ void store_stride(char* base, std::size_t stride) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  *reinterpret_cast<unsigned*>(base + i * stride) = 1;
}
/// What stores do in L1: kind 0 store; 1 load, store; 2 store, load; 3 store, store; 4 store, load,
/// load; 5 load, store, load. Each block has 4 KB of its own.
__global__ void l1_store(unsigned* base, int kind, unsigned* sink) {
  unsigned* p = base + blockIdx.x * 1024ull + threadIdx.x;
  unsigned sum = 0;
  auto load = [&] {
    unsigned v;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    sum ^= v;
    if (sum == 0x12345) *sink = sum;  // waits for the load
    __syncthreads();
  };
  auto store = [&] {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(1) : "memory");
    __syncthreads();
  };
  if (kind == 0) store();
  if (kind == 1) load(), store();
  if (kind == 2) store(), load();
  if (kind == 3) store(), store();
  if (kind == 4) store(), load(), load();
  if (kind == 5) load(), store(), load();
}
__global__ void fill(unsigned* base, std::size_t n) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) {
    base[i] = 3;
  }
}
__global__ void copy_words(const unsigned* a, unsigned* b, std::size_t n) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n) b[i] = a[i];
}
__global__ void read_words(const unsigned* a, std::size_t n, unsigned* sink) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n && a[i] == 0x12345) *sink = 1;
}

void traffic() {
  Buffer<unsigned> a(64 << 20), b(64 << 20);  // 256 MiB each
  const unsigned sectors = 8u << 20, grid = sectors / 256;
  for (unsigned mask : {0x1u, 0x2u, 0x4u, 0x8u, 0x3u, 0x5u, 0x6u, 0x9u, 0x7u, 0xfu}) {
    describe("load_sectors").add("mask", mask).add("words", 1).print(sectors, "sector_slot", 0);
    load_sectors<<<grid, 256>>>(a.get(), mask, 1, b.get());
  }
  for (unsigned mask : {0x1u, 0x2u, 0x3u, 0x5u, 0x7u, 0xfu}) {
    for (int words : {1, 4, 8}) {
      describe("store_sectors").add("mask", mask).add("words", words).print(sectors, "sector_slot", 0);
      store_sectors<<<grid, 256>>>(a.get(), mask, words);
    }
  }
  for (std::size_t stride : {4, 8, 16, 32, 64, 96, 128, 160, 256, 512, 1024}) {
    const unsigned threads = static_cast<unsigned>((256u << 20) / stride);
    describe("load_stride").add("stride_bytes", static_cast<double>(stride)).print(threads, "thread", 0);
    load_stride<<<threads / 256, 256>>>(reinterpret_cast<char*>(a.get()), stride, b.get());
    describe("store_stride").add("stride_bytes", static_cast<double>(stride)).print(threads, "thread", 0);
    store_stride<<<threads / 256, 256>>>(reinterpret_cast<char*>(a.get()), stride);
  }
  for (int kind = 0; kind < 6; ++kind) {
    describe("l1_store").add("kind", kind).print(132 * 4, "block", 0);
    l1_store<<<132 * 4, 256>>>(a.get(), kind, b.get());
  }
  for (unsigned mib : {1u, 4u, 8u, 16u, 20u, 24u, 28u, 32u, 40u, 48u, 64u, 96u, 128u, 256u}) {
    describe("fill").add("mib", mib).print(mib, "MiB", 0);
    fill<<<132 * 8, 256>>>(a.get(), static_cast<std::size_t>(mib) << 18);
  }
  for (unsigned mib : {1u, 4u, 8u, 16u, 24u, 32u, 48u, 64u, 128u, 256u}) {
    const std::size_t n = static_cast<std::size_t>(mib) << 18;
    describe("copy_words").add("mib", mib).print(mib, "MiB", 0);
    copy_words<<<static_cast<unsigned>(n / 256), 256>>>(a.get(), b.get(), n);
    describe("read_words").add("mib", mib).print(mib, "MiB", 0);
    read_words<<<static_cast<unsigned>(n / 256), 256>>>(a.get(), n, b.get());
  }
  CHECK(cudaDeviceSynchronize());
}

template <int kLive>
__global__ void with_registers(float* data, int n) {
  extern __shared__ float dynamic_words[];
  float r[kLive];
#pragma unroll
  for (int i = 0; i < kLive; ++i) {
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(r[i]) : "l"(data + i * n) : "memory");
  }
  if (n > 1 << 20) dynamic_words[threadIdx.x] = r[0];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kLive; ++i) {
    asm volatile("st.global.f32 [%0], %1;" ::"l"(data + i * n + threadIdx.x), "f"(r[i]) : "memory");
  }
}
template <int kBytes>
__global__ void with_static(float* data, int n) {
  __shared__ float words[kBytes / 4];
  words[(threadIdx.x * 7u + static_cast<unsigned>(n)) % (kBytes / 4)] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = words[(threadIdx.x + static_cast<unsigned>(n)) % (kBytes / 4)];
}

template <typename Kernel>
void carve(Kernel kernel, const char* name, int threads, int dynamic, Buffer<float>& data) {
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, kernel));
  if (dynamic > 48 * 1024) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic));
  }
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                      static_cast<std::size_t>(dynamic)));
  if (blocks == 0) return;
  describe(name)
      .add("threads", threads)
      .add("dynamic_bytes", dynamic)
      .add("static_bytes", static_cast<double>(attributes.sharedSizeBytes))
      .add("registers", attributes.numRegs)
      .add("blocks_an_sm_by_the_runtime", blocks)
      .print(blocks, "block", 0);
  kernel<<<264, threads, dynamic>>>(data.get(), 1);
  CHECK(cudaGetLastError());
}

void carve_out() {
  Buffer<float> data(1 << 20);
  data.zero();
  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    for (int dynamic :
         {0, 128, 1024, 2048, 4096, 8192, 12288, 16384, 24576, 32768, 49152, 65536, 102400, 166912, 232448}) {
      carve(with_registers<8>, "with_registers<8>", threads, dynamic, data);
    }
  }
  for (int threads : {128, 256, 512}) {
    for (int dynamic : {0, 1024, 4096, 8192, 16384, 32768}) {
      carve(with_registers<32>, "with_registers<32>", threads, dynamic, data);
      carve(with_registers<64>, "with_registers<64>", threads, dynamic, data);
      if (threads <= 256) carve(with_registers<128>, "with_registers<128>", threads, dynamic, data);
    }
  }
  for (int threads : {64, 256, 1024}) {
    carve(with_static<1024>, "with_static<1024>", threads, 0, data);
    carve(with_static<2048>, "with_static<2048>", threads, 0, data);
    carve(with_static<4224>, "with_static<4224>", threads, 0, data);
    carve(with_static<8192>, "with_static<8192>", threads, 0, data);
    carve(with_static<16384>, "with_static<16384>", threads, 0, data);
    carve(with_static<49152>, "with_static<49152>", threads, 0, data);
  }
  CHECK(cudaDeviceSynchronize());
}

/// Many small blocks an SM: how much room the driver leaves beyond what they need.
void carve_out_more() {
  Buffer<float> data(1 << 20);
  data.zero();
  for (int threads : {96, 128, 160, 192, 224, 320}) {
    for (int units : {1, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24}) {
      carve(with_registers<8>, "with_registers<8>", threads, units * 128, data);
    }
  }
  CHECK(cudaDeviceSynchronize());
}

__global__ void empty() {}

void empty_grids() {
  for (unsigned threads : {32u, 128u, 256u, 512u, 1024u}) {
    for (unsigned blocks : {1u, 8u, 66u, 132u, 264u, 528u, 1056u, 4224u, 16896u, 67584u}) {
      describe("empty").add("threads", threads).add("blocks", blocks).print(blocks, "block", 0);
      empty<<<blocks, threads>>>();
    }
  }
  CHECK(cudaDeviceSynchronize());
}

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "traffic") {
    traffic();
  } else if (what == "carve_out") {
    carve_out();
  } else if (what == "carve_out_more") {
    carve_out_more();
  } else if (what == "empty") {
    empty_grids();
  } else {
    std::fprintf(stderr, "usage: profiled traffic|carve_out|carve_out_more|empty\n");
    return 2;
  }
  return 0;
}
