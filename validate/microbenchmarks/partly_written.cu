// How many partly written sectors does L2 keep, and what decides it?
//
// Models:  every SM's warps store one word of each of N sectors, `pitch` bytes apart, all meet, and then the other
//          seven words. A sector that L2 gave up in between was filled from DRAM (read) and written twice.
// Ignores: time.
// Source:  dram__bytes_read.sum and dram__bytes_write.sum of Nsight Compute: line n describes launch n.
#include "bench.cuh"

using namespace bench;

/// Sector i (of `sectors`) is at byte i / run * pitch + i % run * 32. Blocks of the grid, one an SM, meet between the phases.
__global__ void store_in_two_phases(char* base, std::size_t sectors, std::size_t run, std::size_t pitch, unsigned* meet) {
  const std::size_t first = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = first; i < sectors; i += step) {
    *reinterpret_cast<volatile unsigned*>(base + i / run * pitch + i % run * 32) = 1;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(meet, 1u);
    while (atomicAdd(meet, 0u) < gridDim.x) __nanosleep(200);
  }
  __syncthreads();
  for (std::size_t i = first; i < sectors; i += step) {
    for (int word = 1; word < 8; ++word) {
      *reinterpret_cast<volatile unsigned*>(base + i / run * pitch + i % run * 32 + word * 4) = 2;
    }
  }
}

int main() {
  int device = 0, sms = 0, launch = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  Buffer<char> base(std::size_t{4} << 30);
  Buffer<unsigned> meet(1);
  for (std::size_t pitch : {std::size_t{0}, std::size_t{128}, std::size_t{1024}, std::size_t{4096}, std::size_t{4224}, std::size_t{16384}, std::size_t{16512}}) {
    for (std::size_t kib : {256, 512, 1024, 2048, 4096, 6144, 8192, 12288, 16384, 24576}) {
      const std::size_t sectors = kib * 1024 / 32;
      if (pitch * sectors > (std::size_t{4} << 30)) continue;
      meet.zero();
      Answer("partly_written", "sectors of which one word, later all, is stored: fills and write-backs")
          .add("launch", launch++)
          .add("pitch_bytes", static_cast<double>(pitch == 0 ? 32 : pitch))
          .add("sector_kib", static_cast<double>(kib))
          .print(static_cast<double>(sectors) * 32, "byte", 0);
      store_in_two_phases<<<static_cast<unsigned>(sms), 512>>>(base.get(), sectors, pitch == 0 ? sectors : 1, pitch, meet.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
    }
  }
  return 0;
}
