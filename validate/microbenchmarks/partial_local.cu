// Does a load of local memory wait for L2 where only some lanes have ever written its sectors?
//
// Models:  one warp of which some lanes are left writes words of its local memory, and later reads one of them back, or one that was never
//          written. Cycles from the load to its use.
// Ignores: arrays that outgrow L1.
// Source:  the SM's clock.
#include "bench.cuh"

using namespace bench;

/// Lanes whose bit of `lanes` is not set leave. Words [0, written) are written, word `read` is read.
template <typename T>
__global__ void write_and_read(unsigned lanes, int written, int read, int zero, unsigned long long* out, T* sink) {
  volatile T mine[64];
  __shared__ volatile unsigned char used[32];
  if (!(lanes >> threadIdx.x & 1)) return;
  for (int i = 0; i < written; ++i) mine[i] = static_cast<T>(i + threadIdx.x);
  unsigned long long t0 = clock_now();
  while (clock_now() - t0 < 4000) {
  }
  __syncwarp(lanes);
  t0 = clock_now();
  const T v = mine[read + zero];
  used[threadIdx.x] = static_cast<unsigned char>(v);  // is issued once the word is there
  const unsigned long long t1 = clock_now();
  out[threadIdx.x] = t1 - t0;
  if (v == static_cast<T>(123456789)) *sink = v;
}

int main() {
  Buffer<unsigned long long> out(32);
  Buffer<char> flush(std::size_t{256} << 20);
  const auto ask = [&](auto kernel, auto* sink, const char* type, unsigned lanes, int written, int read) {
    std::vector<double> times;
    for (int repeat = 0; repeat < 4; ++repeat) {
      CHECK(cudaMemset(flush.get(), repeat, flush.size()));
      CHECK(cudaMemset(out.get(), 0, 32 * sizeof(unsigned long long)));
      kernel<<<1, 32>>>(lanes, written, read, 0, out.get(), sink);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      double most = 0;
      for (const unsigned long long c : out.download()) most = std::max(most, static_cast<double>(c));
      if (repeat) times.push_back(most);
    }
    Answer("partial_local", "cycles of a load of local memory that some lanes have written")
        .add_text("type", type)
        .add("lanes", lanes)
        .add("written", written)
        .add("read", read)
        .print(summarize(times), "cycle");
  };
  Buffer<unsigned> word(1);
  Buffer<unsigned char> byte(1);
  for (const unsigned lanes : {0xffffffffu, 0x7fffffffu, 0x00ffffffu, 0x0000ffffu, 0x00000007u, 0x00000001u, 0x55555555u, 0x11111111u}) {
    for (const int read : {0, 3, 40}) {
      ask(write_and_read<unsigned>, word.get(), "u32", lanes, 8, read);
      ask(write_and_read<unsigned char>, byte.get(), "u8", lanes, 8, read);
    }
  }
  return 0;
}
