// What do the tensor cores' warp-wide instructions cost, and what do loads and moves of matrices?
//
// Models:  mma.sync of every shape that common code compiles to: in a chain through the accumulators, through A,
//          and with an FADD of each result behind it; in eight independent chains, for 1 to 4 warps a sub-core, on
//          one or all four sub-cores of an SM. ldmatrix and movmatrix in a chain through their own results, and
//          independent ones.
// Ignores: wgmma; FP8 (on sm_90 mma.sync unpacks it to halves); values (no instruction's time depends on them).
// Source:  the slope method of bench.cuh. sass_histogram shows that one mma is one instruction. ptxas puts stall
//          counts and NOPs between dependent mma: a chain's answer is what the compiler allows or the hardware
//          needs, whichever is more.
#include "bench.cuh"

using namespace bench;

struct Values {
  unsigned a[4], b[2];
  double wide_a[4], wide_b[2];
  double never;  // a value no chain reaches: keeps the results alive
};

// One mma: D = A B + C. The operation's text follows the accumulators' type and number.
#define MMA(NAME, TYPE, COUNT, ...)                                                       \
  struct NAME {                                                                           \
    using Type = TYPE;                                                                    \
    static constexpr int kCount = COUNT;                                                  \
    static constexpr const char* name = #NAME;                                            \
    template <typename A, typename B>                                                     \
    static __device__ __forceinline__ void step(Type (&d)[COUNT], const A& a, const B& b, \
                                                const Type (&c)[COUNT]) {                 \
      __VA_ARGS__;                                                                        \
    }                                                                                     \
  };
#define D4 "mma.sync.aligned."
#define A1_B1_2 " {%0,%1},{%2},{%3},{%4,%5};"
#define A2_B1_2 " {%0,%1},{%2,%3},{%4},{%5,%6};"
#define A4_B2_2 " {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};"
#define A2_B1_4 " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};"
#define A4_B2_4 " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
#define OUT2(L) "=" L(d[0]), "=" L(d[1])
#define OUT4(L) "=" L(d[0]), "=" L(d[1]), "=" L(d[2]), "=" L(d[3])
#define A_1 "r"(a[0])
#define A_2 "r"(a[0]), "r"(a[1])
#define A_4 "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define B_1 "r"(b[0])
#define B_2 "r"(b[0]), "r"(b[1])
#define IN2(L) L(c[0]), L(c[1])
#define IN4(L) L(c[0]), L(c[1]), L(c[2]), L(c[3])

#define FLOAT_BIG(PTX) asm volatile(D4 PTX A4_B2_4 : OUT4("f") : A_4, B_2, IN4("f"))
#define FLOAT_SMALL(PTX) asm volatile(D4 PTX A2_B1_4 : OUT4("f") : A_2, B_1, IN4("f"))
MMA(HMMA_16816_F32, float, 4, FLOAT_BIG("m16n8k16.row.col.f32.f16.f16.f32"))
MMA(HMMA_16816_BF16, float, 4, FLOAT_BIG("m16n8k16.row.col.f32.bf16.bf16.f32"))
MMA(HMMA_1688_TF32, float, 4, FLOAT_BIG("m16n8k8.row.col.f32.tf32.tf32.f32"))
MMA(HMMA_1688_F32, float, 4, FLOAT_SMALL("m16n8k8.row.col.f32.f16.f16.f32"))
MMA(HMMA_1688_BF16, float, 4, FLOAT_SMALL("m16n8k8.row.col.f32.bf16.bf16.f32"))
MMA(HMMA_1684_TF32, float, 4, FLOAT_SMALL("m16n8k4.row.col.f32.tf32.tf32.f32"))
MMA(HMMA_16816_F16, unsigned, 2,
    asm volatile(D4 "m16n8k16.row.col.f16.f16.f16.f16" A4_B2_2
                 : OUT2("r")
                 : A_4, B_2, IN2("r")))
MMA(HMMA_1688_F16, unsigned, 2,
    asm volatile(D4 "m16n8k8.row.col.f16.f16.f16.f16" A2_B1_2
                 : OUT2("r")
                 : A_2, B_1, IN2("r")))
MMA(IMMA_16832_S8, unsigned, 4,
    asm volatile(D4 "m16n8k32.row.col.s32.s8.s8.s32" A4_B2_4
                 : OUT4("r")
                 : A_4, B_2, IN4("r")))
MMA(IMMA_16816_S8, unsigned, 4,
    asm volatile(D4 "m16n8k16.row.col.s32.s8.s8.s32" A2_B1_4
                 : OUT4("r")
                 : A_2, B_1, IN4("r")))
MMA(IMMA_8816_S8, unsigned, 2,
    asm volatile(D4 "m8n8k16.row.col.s32.s8.s8.s32" A1_B1_2
                 : OUT2("r")
                 : A_1, B_1, IN2("r")))
MMA(DMMA_884, double, 2,
    asm volatile(D4 "m8n8k4.row.col.f64.f64.f64.f64" A1_B1_2
                 : OUT2("d")
                 : "d"(a[0]), "d"(b[0]), IN2("d")))
MMA(DMMA_1684, double, 4,
    asm volatile(D4 "m16n8k4.row.col.f64.f64.f64.f64" A2_B1_4
                 : OUT4("d")
                 : "d"(a[0]), "d"(a[1]), "d"(b[0]), IN4("d")))
MMA(DMMA_1688, double, 4,
    asm volatile(D4 "m16n8k8.row.col.f64.f64.f64.f64" A4_B2_4
                 : OUT4("d")
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), IN4("d")))

template <typename T>
__device__ __forceinline__ unsigned bits(T x) {
  return static_cast<unsigned>(x);
}
template <>
__device__ __forceinline__ unsigned bits<float>(float x) {
  return __float_as_uint(x);
}

/// How a step depends on the one before.
enum Chain { kAccumulators, kOperand, kThenAdd, kIndependent };
constexpr const char* kChainNames[] = {"accumulators", "operand A", "accumulators and an addition to each",
                                       "8 independent"};

template <typename Op, int N, Chain C>
__global__ void __launch_bounds__(512)
    matrix_chain(Stamp* out, double* sink, Values k, int iterations, int sub_cores) {
  using Type = typename Op::Type;
  constexpr int kChains = C == kIndependent ? 8 : 1;
  constexpr int kCount = Op::kCount;
  const unsigned warp = threadIdx.x / 32;
  if (static_cast<int>(warp % 4) >= sub_cores) return;
  Type s[kChains][kCount], constant[kCount];
  unsigned a[4], b[2];
  double wide_a[4], wide_b[2];
  for (int i = 0; i < 4; ++i) a[i] = k.a[i], wide_a[i] = k.wide_a[i];
  for (int i = 0; i < 2; ++i) b[i] = k.b[i], wide_b[i] = k.wide_b[i];
  for (int i = 0; i < kCount; ++i) constant[i] = static_cast<Type>(k.a[i % 4] + threadIdx.x);
  for (int j = 0; j < kChains; ++j) {
    for (int i = 0; i < kCount; ++i) s[j][i] = static_cast<Type>(static_cast<int>(threadIdx.x) + i + j);
  }
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {  // the first pass warms the instruction caches
    __syncthreads();
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
        Type(&mine)[kCount] = s[n % kChains];
        Type d[kCount];
        if constexpr (sizeof(Type) == 8) {
          Op::step(d, wide_a, wide_b, C == kOperand ? constant : mine);
        } else {
          Op::step(d, a, b, C == kOperand ? constant : mine);
        }
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          if constexpr (C == kThenAdd) {
            d[i] += static_cast<Type>(k.a[0]);
          } else if constexpr (C == kOperand) {
            if constexpr (sizeof(Type) == 8) {
              wide_a[i] = d[i];
            } else {
              a[i] = bits(d[i]);
            }
          }
          mine[i] = d[i];
        }
      }
    }
    t1 = clock_now();
  }
  double sum = 0;
  for (int j = 0; j < kChains; ++j) {
    for (int i = 0; i < kCount; ++i) sum += static_cast<double>(s[j][i]);
  }
  if (sum == k.never) *sink = sum;
  if (threadIdx.x % 32 == 0) out[warp] = {t0, t1, 0, 0, sm_id(), 0};
}

template <typename Op, int N, Chain C>
double run(Buffer<Stamp>& out, Buffer<double>& sink, int warps, int sub_cores, int iterations) {
  Values k{{0x3c003c00, 0x38003800, 0x3c003800, 0x34003400},
           {0x30003000, 0x2c002c00},
           {0.5, 0.25, 0.125, 1},
           {0.5, 0.25},
           -3.25e300};
  out.zero();
  matrix_chain<Op, N, C><<<1, 128 * warps>>>(out.get(), sink.get(), k, iterations, sub_cores);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return span(out.download());
}

template <typename Op, Chain C>
void measure(Buffer<Stamp>& out, Buffer<double>& sink, int warps, int sub_cores) {
  constexpr int kShort = 32, kLong = 96, kIterations = 16;
  std::vector<double> slopes;
  for (int r = 0; r < 5; ++r) {
    const double a = run<Op, kShort, C>(out, sink, warps, sub_cores, kIterations);
    const double b = run<Op, kLong, C>(out, sink, warps, sub_cores, kIterations);
    slopes.push_back((b - a) / ((kLong - kShort) * kIterations) / warps);
  }
  Answer(C == kIndependent ? "tensor_issue_interval" : "tensor_latency",
         C == kIndependent ? "cycles an mma in independent chains, a warp instruction of the sub-core"
                           : "cycles an mma in a dependent chain, a warp of the sub-core")
      .add_text("operation", Op::name)
      .add_text("chain", kChainNames[C])
      .add("warps_a_sub_core", warps)
      .add("sub_cores", sub_cores)
      .print(summarize(slopes), "cycle");
}

template <typename Op>
void all(Buffer<Stamp>& out, Buffer<double>& sink) {
  for (int warps : {1, 2}) measure<Op, kAccumulators>(out, sink, warps, 1);
  measure<Op, kOperand>(out, sink, 1, 1);
  measure<Op, kThenAdd>(out, sink, 1, 1);
  for (int sub_cores : {1, 4}) {
    for (int warps : {1, 2, 3, 4}) measure<Op, kIndependent>(out, sink, warps, sub_cores);
  }
}
template <typename... Ops>
void every(Buffer<Stamp>& out, Buffer<double>& sink) {
  (all<Ops>(out, sink), ...);
}

// --- matrices between shared memory and registers ----------------------------------------------------------

/// Loads of 8x8 matrices: kMatrices of them, a chain through the address or independent.
template <int kMatrices, bool kTransposed, bool kDependent, int N>
__global__ void matrix_load(Stamp* out, unsigned* sink, int iterations, int sub_cores) {
  __shared__ __align__(128) unsigned words[16 * 1024 / 4];
  for (unsigned i = threadIdx.x; i < sizeof words / 4; i += blockDim.x) words[i] = 0;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words)) + lane * 16;  // no bank twice
  unsigned address = base, sum = 0;
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    if (static_cast<int>(warp % 4) >= sub_cores) continue;
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
        unsigned r[4] = {};
        const unsigned at = kDependent ? address : address + static_cast<unsigned>(n) * 16;  // no load twice
        if constexpr (kMatrices == 1) {
          asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0},[%1];" : "=r"(r[0]) : "r"(at));
        } else if constexpr (kMatrices == 2) {
          asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1},[%2];"
                       : "=r"(r[0]), "=r"(r[1])
                       : "r"(at));
        } else if constexpr (!kTransposed) {
          asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                       : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                       : "r"(at));
        } else {
          asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
                       : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                       : "r"(at));
        }
        if constexpr (kDependent) address += r[kMatrices - 1];
        if constexpr (!kDependent) sum += r[0];
      }
      if constexpr (!kDependent) address ^= 512;
    }
    t1 = clock_now();
  }
  if (address + sum == 1) *sink = sum;
  if (lane == 0 && t1 != 0) out[warp] = {t0, t1, 0, 0, sm_id(), 0};
}

template <bool kDependent, int N>
__global__ void matrix_move(Stamp* out, unsigned* sink, int iterations, int sub_cores) {
  const unsigned warp = threadIdx.x / 32;
  unsigned v[8];
  for (unsigned i = 0; i < 8; ++i) v[i] = threadIdx.x * i;
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    if (static_cast<int>(warp % 4) >= sub_cores) continue;
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
        unsigned& x = v[kDependent ? 0 : n % 8];
        asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0,%0;" : "+r"(x));
      }
    }
    t1 = clock_now();
  }
  unsigned sum = 0;
  for (unsigned x : v) sum += x;
  if (sum == 1) *sink = sum;
  if (threadIdx.x % 32 == 0 && t1 != 0) out[warp] = {t0, t1, 0, 0, sm_id(), 0};
}

template <typename Short, typename Long>
void slope(const char* name, bool dependent, Buffer<Stamp>& out, Short short_body, Long long_body) {
  for (int sub_cores : {1, 4}) {
    for (int warps : {1, 2, 4}) {
      if (dependent && (warps > 1 || sub_cores > 1)) continue;
      std::vector<double> slopes;
      for (int r = 0; r < 5; ++r) {
        double t[2];
        for (int i : {0, 1}) {
          out.zero();
          i ? long_body(128 * warps, sub_cores) : short_body(128 * warps, sub_cores);
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
          t[i] = span(out.download());
        }
        slopes.push_back((t[1] - t[0]) / (64 * 16) / warps);
      }
      Answer(dependent ? "matrix_move_latency" : "matrix_move_interval",
             dependent ? "cycles an instruction in a dependent chain (with an addition behind each ldmatrix)"
                       : "cycles an independent instruction, a warp instruction of the sub-core")
          .add_text("operation", name)
          .add("warps_a_sub_core", warps)
          .add("sub_cores", sub_cores)
          .print(summarize(slopes), "cycle");
    }
  }
}

template <int kMatrices, bool kTransposed>
void measure_loads(const char* name, Buffer<Stamp>& out, unsigned* sink) {
  slope(
      name, true, out,
      [&](int t, int s) { matrix_load<kMatrices, kTransposed, true, 32><<<1, t>>>(out.get(), sink, 16, s); },
      [&](int t, int s) { matrix_load<kMatrices, kTransposed, true, 96><<<1, t>>>(out.get(), sink, 16, s); });
  slope(
      name, false, out,
      [&](int t, int s) { matrix_load<kMatrices, kTransposed, false, 32><<<1, t>>>(out.get(), sink, 16, s); },
      [&](int t, int s) {
        matrix_load<kMatrices, kTransposed, false, 96><<<1, t>>>(out.get(), sink, 16, s);
      });
}

int main() {
  Buffer<Stamp> out(32);
  Buffer<double> sink(1);
  Buffer<unsigned> word(1);
  every<HMMA_16816_F32, HMMA_16816_F16, HMMA_16816_BF16, HMMA_1688_F32, HMMA_1688_F16, HMMA_1688_BF16,
        HMMA_1688_TF32, HMMA_1684_TF32, IMMA_16832_S8, IMMA_16816_S8, IMMA_8816_S8, DMMA_884, DMMA_1684,
        DMMA_1688>(out, sink);
  measure_loads<1, false>("LDSM.1", out, word.get());
  measure_loads<2, false>("LDSM.2", out, word.get());
  measure_loads<4, false>("LDSM.4", out, word.get());
  measure_loads<4, true>("LDSM.T.4", out, word.get());
  slope(
      "MOVM", true, out, [&](int t, int s) { matrix_move<true, 32><<<1, t>>>(out.get(), word.get(), 16, s); },
      [&](int t, int s) { matrix_move<true, 96><<<1, t>>>(out.get(), word.get(), 16, s); });
  slope(
      "MOVM", false, out,
      [&](int t, int s) { matrix_move<false, 32><<<1, t>>>(out.get(), word.get(), 16, s); },
      [&](int t, int s) { matrix_move<false, 96><<<1, t>>>(out.get(), word.get(), 16, s); });
  return 0;
}
