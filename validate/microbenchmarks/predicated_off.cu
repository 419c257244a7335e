// What does a memory instruction cost whose lanes are all predicated off?
//
// Models:  loads and stores of shared and global memory, by a predicate that is true in all lanes or in none: a chain in
//          which each waits for the one before (latency), and independent ones of 1 to 32 warps (interval).
// Ignores: misses: every access hits.
// Source:  the SM's clock.
#include "bench.cuh"

using namespace bench;

enum Form : int { shared_load, shared_store, global_load, global_store };
constexpr int kUnroll = 32;

template <int kForm, bool kChain>
__global__ void __launch_bounds__(1024) instructions(unsigned* memory, int on, int rounds, Stamp* out) {
  __shared__ unsigned words[1024];
  words[threadIdx.x] = threadIdx.x * 4;
  memory[threadIdx.x] = 0;
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words));
  unsigned address = base + threadIdx.x * 4, value = 0, sum = 0;
  const unsigned* p = memory + threadIdx.x;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  __syncthreads();
  const unsigned long long t0 = clock_now();
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      if (kForm == shared_load) {
        if (kChain) {  // words hold their own offsets
          asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; @p ld.shared.u32 %0, [%2];}" : "+r"(value) : "r"(on), "r"(address) : "memory");
          address = address + (value & 0x80000000u);
        } else {
          asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; @p ld.shared.u32 %0, [%2];}" : "+r"(value) : "r"(on), "r"(address) : "memory");
          if (i % 8 == 7) sum += value;
        }
      }
      if (kForm == shared_store)
        asm volatile("{.reg .pred p; setp.ne.s32 p, %0, 0; @p st.shared.u32 [%1], %2;}" ::"r"(on), "r"(address), "r"(sum) : "memory");
      if (kForm == global_load) {
        asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; @p ld.global.u32 %0, [%2];}" : "+r"(value) : "r"(on), "l"(p) : "memory");
        if (kChain) p = p + (value & 0x80000000u);
        if (!kChain && i % 8 == 7) sum += value;
      }
      if (kForm == global_store)
        asm volatile("{.reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.u32 [%1], %2;}" ::"r"(on), "l"(p), "r"(sum) : "memory");
    }
  }
  const unsigned long long t1 = clock_now();
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, clock_now(), 0, 0, sm_id(), blockIdx.x};
  if (threadIdx.x % 32 == 0) out[1 + threadIdx.x / 32] = {t0, t1, 0, 0, 0, 0};
  if (sum + address + value == 0x12345) memory[0] = sum;
}

template <int kForm, bool kChain>
void ask(const char* name, Buffer<unsigned>& memory, Buffer<Stamp>& out) {
  for (int on : {1, 0}) {
    for (int warps : {1, 4, 8, 32}) {
      if (kChain && warps > 1) continue;
      std::vector<double> slopes;
      for (int r = 0; r < 5; ++r) {
        double cycles[2];
        for (int k = 0; k < 2; ++k) {
          instructions<kForm, kChain><<<1, static_cast<unsigned>(32 * warps)>>>(memory.get(), on, k ? 12 : 4, out.get());
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          const Stamp s = out.download(1)[0];
          cycles[k] = static_cast<double>(s.stop - s.start);
        }
        slopes.push_back((cycles[1] - cycles[0]) / (8 * kUnroll * warps));
      }
      Answer(kChain ? "predicated_off_latency" : "predicated_off_interval", "cycles an instruction whose lanes are all on or all predicated off")
          .add_text("instruction", name)
          .add("lanes_on", on ? 32 : 0)
          .add("warps", warps)
          .print(summarize(slopes), "cycle");
    }
  }
}

int main() {
  Buffer<unsigned> memory(1024);
  Buffer<Stamp> out(64);
  ask<shared_load, true>("ld.shared", memory, out);
  ask<global_load, true>("ld.global", memory, out);
  ask<shared_load, false>("ld.shared", memory, out);
  ask<shared_store, false>("st.shared", memory, out);
  ask<global_load, false>("ld.global", memory, out);
  ask<global_store, false>("st.global", memory, out);
  return 0;
}
