// How long until a result can be used, and how often can each arithmetic pipe take an instruction?
//
// Models:  a dependent chain (latency) and eight independent chains (issue interval) of one
//          operation, for 1 to 8 warps a sub-core, on one or on all four sub-cores of one SM.
// Ignores: operand banks (register_banks asks that) and memory.
// Source:  the slope method of bench.cuh; check_sass counts the instructions that really stand in
//          the body, and the driver divides by that count where ptxas merged or split an operation.
#include "bench.cuh"

using namespace bench;

struct Values {
  float f[2];
  unsigned u[2];
  unsigned a, b, c, d;
  float x, y;
  unsigned long long wide;
  double dx, dy;
  double never;  // a value no chain reaches: keeps the results alive
};

// Each operation: one step on chain state `s`, with constant operands k that only the host knows.
#define OPERATION(NAME, TYPE, INIT, ASM)                                            \
  struct NAME {                                                                     \
    using State = TYPE;                                                             \
    static constexpr const char* name = #NAME;                                      \
    static __device__ __forceinline__ State init(const Values& k, int i) { INIT; }  \
    static __device__ __forceinline__ void step(State& s, const Values& k) { ASM; } \
  };

#define FLOAT_INIT return k.x + static_cast<float>(i)
#define UINT_INIT return k.a + static_cast<unsigned>(i) * 7u

OPERATION(FFMA, float, FLOAT_INIT, asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(s) : "f"(k.x), "f"(k.y)))
OPERATION(FADD, float, FLOAT_INIT, asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(s) : "f"(k.y)))
OPERATION(FMUL, float, FLOAT_INIT, asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(s) : "f"(k.y)))
OPERATION(IADD3, unsigned, UINT_INIT,
          asm volatile("{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c)))
OPERATION(IMAD, unsigned, UINT_INIT,
          asm volatile("mad.lo.u32 %0, %0, %1, %2;"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c)))
OPERATION(LOP3, unsigned, UINT_INIT,
          asm volatile("lop3.b32 %0, %0, %1, %2, 0xe2;"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c)))
OPERATION(SHF, unsigned, UINT_INIT,
          asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c)))
OPERATION(PRMT, unsigned, UINT_INIT, asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(s) : "r"(k.b), "r"(k.c)))
OPERATION(IMNMX, unsigned, UINT_INIT,
          asm volatile("{.reg .u32 t; min.u32 t, %0, %1; max.u32 %0, t, %2;}"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c)))
OPERATION(IMAD_WIDE, unsigned long long, UINT_INIT,
          asm volatile("{.reg .u32 l, h; mov.b64 {l, h}, %0; mad.wide.u32 %0, h, %1, %2;}"
                       : "+l"(s)
                       : "r"(k.b), "l"(k.wide)))
OPERATION(HFMA2, unsigned, UINT_INIT,
          asm volatile("fma.rn.f16x2 %0, %0, %1, %2;"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c)))
OPERATION(DFMA, double, return k.dx + i,
          asm volatile("fma.rn.f64 %0, %0, %1, %2;"
                       : "+d"(s)
                       : "d"(k.dx), "d"(k.dy)))
OPERATION(DADD, double, return k.dx + i, asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(s) : "d"(k.dy)))
OPERATION(MUFU_RSQ, float, FLOAT_INIT, asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(s)))
OPERATION(MUFU_EX2, float, FLOAT_INIT, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(s)))
OPERATION(MUFU_SQRT, float, FLOAT_INIT, asm volatile("sqrt.approx.ftz.f32 %0, %0;" : "+f"(s)))
OPERATION(F2I_then_I2F, float, FLOAT_INIT,
          asm volatile("{.reg .s32 t; cvt.rni.s32.f32 t, %0; cvt.rn.f32.s32 %0, t;}"
                       : "+f"(s)))
OPERATION(I2F_then_FADD, unsigned, UINT_INIT,
          asm volatile("{.reg .f32 t; cvt.rn.f32.u32 t, %0; add.rn.f32 t, t, %1; mov.b32 %0, t;}"
                       : "+r"(s)
                       : "f"(k.y)))
OPERATION(F2F_F16, float, FLOAT_INIT,
          asm volatile("{.reg .b16 t; cvt.rn.f16.f32 t, %0; cvt.f32.f16 %0, t;}"
                       : "+f"(s)))
OPERATION(POPC, unsigned, UINT_INIT, asm volatile("popc.b32 %0, %0;" : "+r"(s)))
OPERATION(FLO, unsigned, UINT_INIT, asm volatile("bfind.u32 %0, %0;" : "+r"(s)))
OPERATION(BREV, unsigned, UINT_INIT, asm volatile("brev.b32 %0, %0;" : "+r"(s)))
OPERATION(SHFL, unsigned, UINT_INIT,
          asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 0x1f, 0xffffffff;"
                       : "+r"(s)
                       : "r"(k.d)))
OPERATION(VOTE, unsigned, UINT_INIT,
          asm volatile("{.reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff;}"
                       : "+r"(s)
                       : "r"(k.b)))
OPERATION(REDUX, unsigned, UINT_INIT, asm volatile("redux.sync.add.u32 %0, %0, 0xffffffff;" : "+r"(s)))
OPERATION(MATCH, unsigned, UINT_INIT, asm volatile("match.any.sync.b32 %0, %0, 0xffffffff;" : "+r"(s)))
OPERATION(ISETP_then_SEL, unsigned, UINT_INIT,
          asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %2, %3, p;}"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c), "r"(k.a)))
OPERATION(ISETP_then_guard, unsigned, UINT_INIT,
          asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; @p mad.lo.u32 %0, %0, %2, %3;}"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c), "r"(k.a)))
OPERATION(FSETP_then_guard, float, FLOAT_INIT,
          asm volatile("{.reg .pred p; setp.lt.f32 p, %0, %1; @p fma.rn.f32 %0, %0, %2, %1;}"
                       : "+f"(s)
                       : "f"(k.x), "f"(k.y)))
OPERATION(LOP3_then_FADD, float, FLOAT_INIT,
          asm volatile("{.reg .b32 t; mov.b32 t, %0; lop3.b32 t, t, %1, %2, 0xe2; mov.b32 %0, t; "
                       "add.rn.f32 %0, %0, %3;}"
                       : "+f"(s)
                       : "r"(k.b), "r"(k.c), "f"(k.y)))
OPERATION(IMAD_then_LOP3, unsigned, UINT_INIT,
          asm volatile("{.reg .u32 t; mad.lo.u32 t, %0, %1, %2; lop3.b32 %0, t, %1, %2, 0xe2;}"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c)))
OPERATION(FFMA_and_LOP3, unsigned, UINT_INIT,
          asm volatile("{.reg .f32 t; lop3.b32 %0, %0, %1, %2, 0xe2; mov.b32 t, %0; "
                       "fma.rn.f32 t, t, %3, %3; mov.b32 %0, t;}"
                       : "+r"(s)
                       : "r"(k.b), "r"(k.c), "f"(k.y)))

template <typename Op, int N, int Chains>
__global__ void __launch_bounds__(1024)
    pipe_chain(Stamp* out, float* sink, Values k, int iterations, int sub_cores) {
  const unsigned warp = threadIdx.x / 32;
  if (static_cast<int>(warp % 4) >= sub_cores) return;
  typename Op::State s[Chains];
#pragma unroll
  for (int i = 0; i < Chains; ++i) s[i] = Op::init(k, i + static_cast<int>(threadIdx.x));
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {  // the first pass warms the instruction caches
    __syncthreads();
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
      for (int n = 0; n < N; ++n) Op::step(s[n % Chains], k);
    }
    t1 = clock_now();
  }
  double sum = 0;
#pragma unroll
  for (int i = 0; i < Chains; ++i) sum += static_cast<double>(s[i]);
  if (sum == k.never) *sink = static_cast<float>(sum);
  if (threadIdx.x % 32 == 0) out[warp] = {t0, t1, 0, 0, sm_id(), 0};
}

template <typename Op, int N, int Chains>
double run(Buffer<Stamp>& out, Buffer<float>& sink, int warps, int sub_cores, int iterations) {
  Values k{};
  k.a = 5, k.b = 0x3f9d70a4, k.c = 0x12345677, k.d = 1, k.wide = 0x123456789abcdefull;
  k.x = 0.9f, k.y = 1.01f, k.dx = 0.9, k.dy = 1.01, k.never = -3.25e300;
  out.zero();
  pipe_chain<Op, N, Chains><<<1, 128 * warps>>>(out.get(), sink.get(), k, iterations, sub_cores);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return span(out.download());
}

template <typename Op, int Chains>
void measure(Buffer<Stamp>& out, Buffer<float>& sink, int warps, int sub_cores) {
  constexpr int kShort = 64, kLong = 192, kIterations = 16;
  std::vector<double> slopes;
  for (int r = 0; r < 5; ++r) {
    const double a = run<Op, kShort, Chains>(out, sink, warps, sub_cores, kIterations);
    const double b = run<Op, kLong, Chains>(out, sink, warps, sub_cores, kIterations);
    slopes.push_back((b - a) / ((kLong - kShort) * kIterations) / warps);
  }
  Answer(Chains == 1 ? "pipe_latency" : "pipe_issue_interval",
         Chains == 1 ? "cycles an operation in a dependent chain, a warp of the sub-core"
                     : "cycles an operation in independent chains, a warp instruction of the sub-core")
      .add_text("operation", Op::name)
      .add("chains", Chains)
      .add("warps_a_sub_core", warps)
      .add("sub_cores", sub_cores)
      .print(summarize(slopes), "cycle");
}

template <typename Op>
void all(Buffer<Stamp>& out, Buffer<float>& sink) {
  measure<Op, 1>(out, sink, 1, 1);
  for (int sub_cores : {1, 4}) {
    for (int warps : {1, 2, 4, 8}) measure<Op, 8>(out, sink, warps, sub_cores);
  }
}

template <typename... Ops>
void every(Buffer<Stamp>& out, Buffer<float>& sink) {
  (all<Ops>(out, sink), ...);
}

int main() {
  Buffer<Stamp> out(32);
  Buffer<float> sink(1);
  every<FFMA, FADD, FMUL, IADD3, IMAD, LOP3, SHF, PRMT, IMNMX, IMAD_WIDE, HFMA2, DFMA, DADD, MUFU_RSQ,
        MUFU_EX2, MUFU_SQRT, F2I_then_I2F, I2F_then_FADD, F2F_F16, POPC, FLO, BREV, SHFL, VOTE, REDUX, MATCH,
        ISETP_then_SEL, ISETP_then_guard, FSETP_then_guard, LOP3_then_FADD, IMAD_then_LOP3, FFMA_and_LOP3>(
      out, sink);
  return 0;
}
