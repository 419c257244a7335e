// What does a first read of data in the other partition cost L2, beyond the reads that follow?
//
// Models:  a kernel writes `mib` MiB, of which each partition then holds its half. Another one reads every sector of it once, in an order that a
//          hash picks, past L1: `sectors` neighbouring sectors of a line at a time, by as many lanes, four loads of a warp in flight. It is
//          launched again: what came from the other partition has a copy now.
// Ignores: DRAM, which holds none of it back.
// Source:  the SMs' clocks: a block an SM, from its first load to its last answer, the mean of the SMs.
#include "bench.cuh"

using namespace bench;

constexpr int kFlight = 4;

__global__ void fill(unsigned* base, unsigned words) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) base[i] = i;
}

__global__ void __launch_bounds__(1024) read(const char* base, unsigned places, unsigned sectors, Stamp* out, unsigned* sink) {
  const unsigned threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (unsigned first = thread; first < places * sectors; first += threads * kFlight) {
    unsigned v[kFlight];
#pragma unroll
    for (int i = 0; i < kFlight; ++i) {
      const unsigned n = first + i * threads;
      v[i] = 0;
      if (n >= places * sectors) continue;
      unsigned h = n / sectors * 2654435761u & (places - 1);  // each place once
      h ^= h >> 9;
      h = h * 2246822519u & (places - 1);
      const char* const p = base + (h * sectors + n % sectors) * 32;
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[i]) : "l"(p) : "memory");
    }
#pragma unroll
    for (int i = 0; i < kFlight; ++i) sum ^= v[i];
  }
  if (sum == 0x12345) *sink = sum;
  __syncthreads();
  const unsigned long long t1 = clock_now();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, t1, 0, 0, sm_id(), blockIdx.x};
}

int main() {
  const int sms = device().multiProcessorCount;
  Buffer<char> memory(std::size_t{16} << 20), others(std::size_t{128} << 20);
  Buffer<unsigned> sink(1);
  Buffer<Stamp> out(static_cast<std::size_t>(sms));
  for (const unsigned mib : {8u, 16u}) {
    for (const unsigned sectors : {1u, 2u, 4u}) {
      std::vector<double> took[2];
      for (int repeat = 0; repeat < 5; ++repeat) {
        fill<<<static_cast<unsigned>(sms) * 2, 1024>>>(reinterpret_cast<unsigned*>(others.get()), (128u << 20) / 4);  // no copy is left
        fill<<<static_cast<unsigned>(sms) * 2, 1024>>>(reinterpret_cast<unsigned*>(memory.get()), (mib << 20) / 4);
        for (int again = 0; again < 2; ++again) {
          read<<<static_cast<unsigned>(sms), 1024>>>(memory.get(), (mib << 20) / 32 / sectors, sectors, out.get(), sink.get());
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          double sum = 0;
          for (const Stamp& stamp : out.download(static_cast<std::size_t>(sms))) sum += static_cast<double>(stamp.stop - stamp.start);
          took[again].push_back(sum / sms);
        }
      }
      for (int again = 0; again < 2; ++again) {
        std::sort(took[again].begin(), took[again].end());
        Answer("first_reads", "reads of every sector once: cycles")
            .add("mib", mib).add("sectors", sectors).add("again", again)
            .print(took[again][2], "cycle", took[again][4] - took[again][0]);
      }
    }
  }
  return 0;
}
