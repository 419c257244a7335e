// What do stores cost whose lanes lie in lines of their own, by where the words lie in L1's banks?
//
// Models:  each thread walks a row: it stores a word of it, or loads and stores it, or loads one row and stores another; rows lie `pitch`
//          bytes from each other, so that a warp's words are all in one bank, or spread. The load of a step needs the one before it
//          (`chain`), as sweeps in place do, or nothing. The value is a step's time on an SM with so many warps.
// Ignores: first touches: the rows are walked twice, and the second time is measured.
// Source:  the SM's clock.
#include "bench.cuh"

using namespace bench;

enum Step : int { load, store, load_store_same, load_store_other, two_loads_two_stores };

template <int kStep, bool kChain>
__global__ void __launch_bounds__(1024) walk(float* a, float* b, int columns, int pitch, Stamp* out, float* sink) {
  const unsigned row = threadIdx.x;
  float* const p = a + std::size_t{row} * static_cast<unsigned>(pitch);
  float* const q = b + std::size_t{row} * static_cast<unsigned>(pitch);
  float sum = static_cast<float>(threadIdx.x);
  unsigned long long t0 = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    t0 = clock_now();
    int at = 0;
    for (int c = 0; c < columns; ++c) {
      float v = 0, w = 0;
      if (kStep != store) asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p + at) : "memory");
      if (kStep == two_loads_two_stores) asm volatile("ld.global.f32 %0, [%1];" : "=f"(w) : "l"(q + at) : "memory");
      if (kChain) {
        sum = v * sum + w;
      } else {
        sum += v + w;
      }
      const float value = kChain || kStep == load_store_same ? sum : static_cast<float>(c);
      if (kStep == store || kStep == load_store_same || kStep == two_loads_two_stores)
        asm volatile("st.global.f32 [%0], %1;" ::"l"(p + at), "f"(value) : "memory");
      if (kStep == load_store_other || kStep == two_loads_two_stores)
        asm volatile("st.global.f32 [%0], %1;" ::"l"(q + at), "f"(value) : "memory");
      ++at;
    }
  }
  const unsigned long long t1 = clock_now();
  *sink = sum;
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = {t0, t1, 0, 0, sm_id(), 0};
}

int main() {
  Buffer<float> a(std::size_t{8} << 20), b(std::size_t{8} << 20), sink(1);
  Buffer<Stamp> out(32);
  a.zero();
  b.zero();
  const char* const names[] = {"load", "store", "load and store, the same word", "load of one row, store to another", "two loads, two stores"};
  const auto ask = [&](auto kernel, int step, bool chain, int warps, int pitch, int columns) {
    std::vector<double> times;
    for (int repeat = 0; repeat < 3; ++repeat) {
      kernel<<<1, static_cast<unsigned>(32 * warps)>>>(a.get(), b.get(), columns, pitch, out.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      times.push_back(span(out.download(static_cast<std::size_t>(warps))) / columns);
    }
    const Summary s = summarize(times);
    Answer("row_stores", "threads that each walk a row with stores: time a step")
        .add_text("step", names[step])
        .add("chain", chain)
        .add("warps", warps)
        .add("pitch_bytes", 4.0 * pitch)
        .add("columns", columns)
        .print(s.median, "cycle", s.spread());
  };
  for (const int warps : {1, 2, 4, 8}) {
    for (const int pitch : {33, 34, 36, 40, 48, 64, 160, 161, 256}) {
      const int columns = 32;
      ask(walk<load, true>, load, true, warps, pitch, columns);
      ask(walk<store, false>, store, false, warps, pitch, columns);
      ask(walk<load_store_same, true>, load_store_same, true, warps, pitch, columns);
      ask(walk<load_store_other, true>, load_store_other, true, warps, pitch, columns);
      ask(walk<load_store_other, false>, load_store_other, false, warps, pitch, columns);
      ask(walk<two_loads_two_stores, true>, two_loads_two_stores, true, warps, pitch, columns);
    }
  }
  return 0;
}
