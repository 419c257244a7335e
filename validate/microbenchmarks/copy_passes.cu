// What does an asynchronous copy ask L2 for whose lanes meet in the banks of shared memory?
//
// Models:  one warp copies 4, 8 or 16 bytes per lane (cp.async), eight times from new lines. Between its lanes lie so many bytes of global and so
//          many of shared memory: the first say how many sectors the copy has, the second in how many passes shared memory takes it. Counters
//          say what comes to L1 and L2 for it: once per sector, or once for each pass that holds a part of it. `to_apart` 0: lanes write over
//          each other. `turned`: the number that the place of each 16 bytes among the eight of its line is combined with (exclusive or), as
//          layouts of products are swizzled; 8: that of the line.
// Ignores: several copies to one place (copies_under_way); time.
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 8;

template <int kBytes, bool kPast>
__global__ void __launch_bounds__(32) copies(const char* memory, unsigned from_apart, unsigned to_apart, unsigned turned) {
  extern __shared__ __align__(16) char shared[];
  const unsigned lane = threadIdx.x;
  const unsigned place = lane * to_apart, turn = turned == 8 ? place / 128 : turned;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + (place ^ (turn & 7) * 16);
  const char* from = memory + lane * from_apart;
  for (int r = 0; r < kRounds; ++r, from += 32 * from_apart) {
    if constexpr (kPast)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
}

int launched = 0;

template <int kBytes, bool kPast>
void point(const char* memory, unsigned from_apart, unsigned to_apart, unsigned turned = 0) {
  const int bytes = 32 * 512 + 1024;
  CHECK(cudaFuncSetAttribute(copies<kBytes, kPast>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  copies<kBytes, kPast><<<1, 32, bytes>>>(memory, from_apart, to_apart, turned);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Answer("copy_passes", "a warp's asynchronous copies: sectors by bytes from lane to lane in global and in shared memory")
      .add("launch", launched++).add_text("past_l1", kPast ? "yes" : "no").add("bytes", kBytes).add("from_apart", from_apart).add("to_apart", to_apart).add("turned", turned)
      .print(kRounds, "copies", 0);
}

template <int kBytes, bool kPast>
void all(const char* memory) {
  for (unsigned from_apart : {1u, 2u, 4u, 8u}) {
    if (from_apart * kBytes > 128) continue;
    for (unsigned to_apart : {0u, static_cast<unsigned>(kBytes), 2u * kBytes, 4u * kBytes, 8u * kBytes, 5u * kBytes, 128u, 256u, 144u, 512u})
      point<kBytes, kPast>(memory, from_apart * kBytes, to_apart);
  }
}

int main() {
  Buffer<char> memory(1 << 20);
  memory.zero();
  all<16, true>(memory.get());
  for (unsigned turned : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    point<16, true>(memory.get(), 16, 16, turned);
    point<16, true>(memory.get(), 32, 32, turned);
    point<16, true>(memory.get(), 16, 32, turned);
  }
  all<16, false>(memory.get());
  all<8, false>(memory.get());
  all<4, false>(memory.get());
  return 0;
}
