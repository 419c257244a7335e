// What makes a store leave the SM before the next one to its lines joins it?
//
// Models:  each lane writes the two words of a record, or one word twice, with something between the two stores: arithmetic of so many cycles
//          alone, or that and one instruction of another kind (a load of the line, of another one, a read of the clock, a branch, a barrier, a
//          shuffle, an access to shared memory), or a predicate on the stores. Lines are new in each round. Sectors that come to L2 tell
//          whether the second store met the first.
// Ignores: several warps (store_order, store_window); time, unless the clock is read, a barrier or a fence stands between: the compiler moves the
//          arithmetic in front of both stores.
// Source:  counters of ncu.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 8;
enum Between : int { kArithmetic, kClock, kSameLine, kOtherLine, kBranch, kBarrier, kShuffle, kShared, kSpecial, kPredicate, kVote, kFence, kConstant };

template <int kBetween, int kAdds, bool kAgain>
__global__ void __launch_bounds__(32) pair(unsigned* records, const unsigned* other, int turns, unsigned lanes, unsigned* sink) {
  __shared__ unsigned shared[64];
  const unsigned lane = threadIdx.x;
  unsigned x = lane, sum = 0;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(sum) : "l"(other + lane) : "memory");
  for (int r = 0; r < kRounds; ++r) {
    unsigned* const p = records + (r * 32 + lane) * 2 + sum;  // sum is 0
    const bool on = kBetween != kPredicate || lane < lanes;
    if (on) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(lane) : "memory");
#pragma unroll
    for (int k = 0; k < kAdds; ++k) asm volatile("mad.lo.u32 %0, %0, %0, %1;" : "+r"(x) : "r"(lane) : "memory");
    unsigned v = 0;
    if constexpr (kBetween == kClock) asm volatile("mov.u32 %0, %%clock;" : "=r"(v)::"memory");
    if constexpr (kBetween == kSameLine) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    if constexpr (kBetween == kOtherLine) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(other + lane) : "memory");
    if constexpr (kBetween == kBranch) {
#pragma unroll 1
      for (int t = 0; t < turns; ++t) asm volatile("mad.lo.u32 %0, %0, %0, %1;" : "+r"(x) : "r"(lane) : "memory");
    }
    if constexpr (kBetween == kBarrier) __syncthreads();
    if constexpr (kBetween == kShuffle) v = __shfl_xor_sync(~0u, x, 1);
    if constexpr (kBetween == kShared) asm volatile("st.shared.u32 [%0], %1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared + lane))), "r"(x) : "memory");
    if constexpr (kBetween == kSpecial) asm volatile("ex2.approx.f32 %0, %1;" : "=f"(*reinterpret_cast<float*>(&v)) : "f"(1.0f * static_cast<float>(lane)));
    if constexpr (kBetween == kVote) v = __ballot_sync(~0u, x == 77);
    if constexpr (kBetween == kFence) __threadfence_block();
    if constexpr (kBetween == kConstant) asm volatile("mov.u32 %0, %%nsmid;" : "=r"(v)::"memory");
    x += v;
    if (on) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + (kAgain ? 0 : 1)), "r"(lane) : "memory");
  }
  if (x == 0x12345) *sink = x;
}

struct Runner {
  Buffer<unsigned> records{1 << 20}, other{1024}, sink{1};
  int launch = 0;
  template <int kBetween, int kAdds, bool kAgain>
  void point() {
    static const char* const names[] = {"arithmetic", "a read of the clock", "a load of the line", "a load of another line", "two branches", "a barrier", "a shuffle", "a store to shared memory", "ex2", "predicated stores", "a vote", "a fence of the block", "a special register"};
    pair<kBetween, kAdds, kAgain><<<1, 32>>>(records.get(), other.get(), 2, 32, sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer("store_flush", "pairs of stores of a warp to the same lines: what between them sends the first off")
        .add("launch", launch++).add_text("between", names[kBetween]).add("adds", kAdds).add_text("words", kAgain ? "the same" : "neighbours")
        .print(kRounds, "pair", 0);
  }
  template <int kBetween>
  void kind() {
    point<kBetween, 2, false>();
    point<kBetween, 12, false>();
    point<kBetween, 2, true>();
    point<kBetween, 12, true>();
  }
};

int main() {
  Runner r;
  r.records.zero();
  r.other.zero();
  r.kind<kArithmetic>();
  r.kind<kClock>();
  r.kind<kSameLine>();
  r.kind<kOtherLine>();
  r.kind<kBranch>();
  r.kind<kBarrier>();
  r.kind<kShuffle>();
  r.kind<kShared>();
  r.kind<kSpecial>();
  r.kind<kPredicate>();
  r.kind<kVote>();
  r.kind<kFence>();
  r.kind<kConstant>();
  return 0;
}
