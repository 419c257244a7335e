// What do arithmetic instructions cost beside loads that keep an SM's L1 busy?
//
// Models:  64 warps of each SM, each of which makes eight loads that L1 or shared memory answers and so many arithmetic instructions of one
//          kind per round. L1 and shared memory serve one load per cycle, so that a round takes eight cycles per warp; a sub-core issues
//          an instruction per cycle, so that arithmetic of up to twenty instructions per round could hide behind them.
// Ignores: misses, conflicts.
// Source:  the SM's clock, from an SM's first warp's start to its last one's end, averaged over the SMs. What a round's addresses
//          take beside (four LOP3, one or two additions, a comparison and a branch) is the same in all.
#include "bench.cuh"

using namespace bench;

constexpr int kRounds = 256, kLoads = 8;

enum Kind : int { kFma, kAdd, kIntegerAdd, kLogic, kMultiply, kWide, kMove, kKinds };
static const char* const kNames[] = {"FFMA", "FADD", "IADD3", "LOP3", "IMAD", "IMAD.WIDE", "SEL"};
enum From : int { kGlobal, kShared, kNone };
static const char* const kPlaces[] = {"global", "shared", "none"};

template <int Operation, int Math, int Where, int Lanes>
__global__ void __launch_bounds__(1024, 2) loads_beside_math(const float* memory, const unsigned* operands, Stamp* out, float* sink) {
  __shared__ float near[2048];
  for (int i = threadIdx.x; i < 2048; i += 1024) near[i] = 0;
  const int lane = threadIdx.x % 32, warp = (blockIdx.x * 1024 + threadIdx.x) / 32;
  const unsigned x = operands[lane], y = operands[lane + 32];  // in registers
  const float* at = memory + (Lanes == 32 ? lane : 0);
  unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(near)) + (Lanes == 32 ? lane * 4 : 0);
  float got[kLoads];
  unsigned acc[8];
  unsigned long long wide[4];
  for (int i = 0; i < kLoads; ++i) got[i] = 0;
  for (int i = 0; i < 8; ++i) acc[i] = x + i * lane;
  for (int i = 0; i < 4; ++i) wide[i] = y + i * lane;
  __syncthreads();
  const unsigned long long begin = clock_now();
#pragma unroll 1
  for (int r = 0; r < kRounds; ++r) {
#pragma unroll
    for (int i = 0; i < (Math > kLoads ? Math : kLoads); ++i) {
      // Loads come evenly between the others.
      const int places = Math > kLoads ? Math : kLoads;
      if ((i + 1) * kLoads / places != i * kLoads / places) {
        const int l = i * kLoads / places;
        if (Where == kGlobal) asm volatile("ld.global.f32 %0, [%1];" : "=f"(got[l]) : "l"(at + l * 32));
        if (Where == kShared) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(got[l]) : "r"(shared + l * 128));
      }
      if ((i + 1) * Math / places == i * Math / places) continue;
      const int j = (i * Math / places) % 8;
      if (Operation == kFma) asm volatile("{.reg .f32 a,b,c; mov.b32 a,%0; mov.b32 b,%1; mov.b32 c,%2; fma.rn.f32 a,a,b,c; mov.b32 %0,a;}" : "+r"(acc[j]) : "r"(x), "r"(y));
      if (Operation == kAdd) asm volatile("{.reg .f32 a,b; mov.b32 a,%0; mov.b32 b,%1; add.rn.f32 a,a,b; mov.b32 %0,a;}" : "+r"(acc[j]) : "r"(x));
      if (Operation == kIntegerAdd) asm volatile("{.reg .u32 a; add.u32 a,%0,%1; add.u32 %0,a,%2;}" : "+r"(acc[j]) : "r"(x), "r"(y));
      if (Operation == kLogic) asm volatile("lop3.b32 %0,%0,%1,%2,0x96;" : "+r"(acc[j]) : "r"(x), "r"(y));
      if (Operation == kMultiply) asm volatile("mad.lo.u32 %0,%0,%1,%2;" : "+r"(acc[j]) : "r"(x), "r"(y));
      if (Operation == kWide) asm volatile("{.reg .b32 l,h; mov.b64 {l,h},%0; mad.wide.u32 %0,l,%1,%0;}" : "+l"(wide[j % 4]) : "r"(y));
      if (Operation == kMove) asm volatile("{.reg .pred p; setp.ne.u32 p,%2,0; selp.u32 %0,%0,%1,p;}" : "+r"(acc[j]) : "r"(x), "r"(y));
    }
    unsigned any = 0;  // 0, which the compiler does not know
    for (int i = 0; i < kLoads; ++i) any |= __float_as_uint(got[i]);
    at += any;
    shared += any;
  }
  const unsigned long long end = clock_now();
  float sum = 0;
  for (int i = 0; i < kLoads; ++i) sum += got[i];
  unsigned bits = 0;
  for (int i = 0; i < 8; ++i) bits ^= acc[i];
  for (int i = 0; i < 4; ++i) bits ^= static_cast<unsigned>(wide[i]) ^ static_cast<unsigned>(wide[i] >> 32);
  if (sum != 0) *sink = sum + bits;
  if (lane == 0) out[warp] = {begin, end, bits, 0, sm_id(), blockIdx.x};
}

template <int Operation, int Math, int Where, int Lanes>
void point() {
  const int sms = device().multiProcessorCount;
  static Buffer<float> memory(2048), sink(1);
  static Buffer<unsigned> operands(64);
  operands.zero();
  static Buffer<Stamp> out(static_cast<std::size_t>(64 * sms));
  memory.zero();
  std::vector<double> rounds;
  for (int repeat = 0; repeat < 4; ++repeat) {
    out.zero();
    loads_beside_math<Operation, Math, Where, Lanes><<<2 * sms, 1024>>>(memory.get(), operands.get(), out.get(), sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<unsigned long long> first(1024, ~0ull), last(1024, 0);
    for (const Stamp& s : out.download()) {
      if (s.stop == 0) continue;
      first[s.sm] = std::min(first[s.sm], s.start);
      last[s.sm] = std::max(last[s.sm], s.stop);
    }
    double sum = 0;
    int seen = 0;
    for (std::size_t sm = 0; sm < first.size(); ++sm) {
      if (last[sm] == 0) continue;
      sum += static_cast<double>(last[sm] - first[sm]);
      ++seen;
    }
    if (repeat > 0) rounds.push_back(sum / seen / (64.0 * kRounds));
  }
  Answer("loads_beside_math", "cycles of an SM per warp's round of eight loads and so many arithmetic instructions")
      .add_text("loads", kPlaces[Where])
      .add("lanes", Lanes)
      .add_text("operation", kNames[Operation])
      .add("operations", Math)
      .print(summarize(rounds), "cycle");
}

template <int Operation>
void points() {
  point<Operation, 8, kNone, 32>();
  point<Operation, 4, kGlobal, 32>();
  point<Operation, 8, kGlobal, 32>();
  point<Operation, 16, kGlobal, 32>();
  point<Operation, 8, kGlobal, 1>();
  point<Operation, 8, kShared, 32>();
  point<Operation, 16, kShared, 32>();
}

int main() {
  point<kFma, 0, kGlobal, 32>();
  point<kFma, 0, kGlobal, 1>();
  point<kFma, 0, kShared, 32>();
  points<kFma>();
  points<kAdd>();
  points<kIntegerAdd>();
  points<kLogic>();
  points<kMultiply>();
  points<kWide>();
  points<kMove>();
  return 0;
}
