// How fast does the memory pipe take instructions, and how does an access pattern slow it down?
//
// Models:  the clock after the n-th of n back-to-back independent accesses (queue depth, then the
//          rate of the stage behind it) for 1 to 4 sub-cores at once; the sustained rate of L1-hit
//          loads and of stores by width and by number of warps; cycles a request by lane stride
//          (the tag stage); loads of both kinds mixed.
// Ignores: misses (bandwidth.cu) and shared-memory conflicts (shared_memory.cu).
// Source:  the back-to-back method of HUE Table 1; the slope method of bench.cuh.
#include "bench.cuh"

using namespace bench;

enum class Kind { kLdg32, kLdg64, kLdg128, kLds32, kStg32, kSts32 };
const char* kKindNames[] = {"LDG.32", "LDG.64", "LDG.128", "LDS.32", "STG.32", "STS.32"};

template <Kind kKind>
__device__ __forceinline__ void issue(unsigned (&r)[4], const char* global, unsigned shared, int offset) {
  if constexpr (kKind == Kind::kLdg32) {
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(r[0]) : "l"(global + offset) : "memory");
  } else if constexpr (kKind == Kind::kLdg64) {
    asm volatile("ld.global.v2.u32 {%0,%1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "l"(global + offset)
                 : "memory");
  } else if constexpr (kKind == Kind::kLdg128) {
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "l"(global + offset)
                 : "memory");
  } else if constexpr (kKind == Kind::kLds32) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r[0]) : "r"(shared + offset) : "memory");
  } else if constexpr (kKind == Kind::kStg32) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(global + offset), "r"(r[0]) : "memory");
  } else {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared + offset), "r"(r[0]) : "memory");
  }
}

template <Kind kKind, int K>
__global__ void back_to_back(char* base, Stamp* issued, Stamp* done, unsigned* sink, unsigned value) {
  __shared__ __align__(128) char words[32768];
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(words)) + threadIdx.x * 4;
  for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) { reinterpret_cast<unsigned*>(words)[i] = 0; }
  char* p = base + threadIdx.x * 16;
  unsigned long long t0 = 0, t1 = 0, t2 = 0;
  unsigned sum = 0;
#pragma unroll 1
  for (int pass = 0; pass < 3; ++pass) {
    unsigned r[K][4];
#pragma unroll
    for (int i = 0; i < K; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) r[i][j] = value;
    }
    __syncthreads();
    t0 = clock_now();
#pragma unroll
    for (int i = 0; i < K; ++i) issue<kKind>(r[i], p, shared, i * 2048);
    t1 = clock_now();
#pragma unroll
    for (int i = 0; i < K; ++i) sum ^= r[i][0] ^ r[i][1] ^ r[i][2] ^ r[i][3];
    if (sum == 0x12345) *sink = sum;
    t2 = clock_now();
  }
  if (threadIdx.x % 32 == 0) {
    issued[threadIdx.x / 32] = {t0, t1, 0, 0, sm_id(), 0};
    done[threadIdx.x / 32] = {t0, t2, 0, 0, sm_id(), 0};
  }
}

template <Kind kKind, int K>
void one_depth(Buffer<char>& memory, int warps) {
  Buffer<Stamp> issued(32), done(32);
  Buffer<unsigned> sink(1);
  std::vector<double> first, last;
  for (int r = 0; r < 5; ++r) {
    back_to_back<kKind, K><<<1, 32 * warps>>>(memory.get(), issued.get(), done.get(), sink.get(), 7);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    const auto a = issued.download(static_cast<std::size_t>(warps));
    const auto b = done.download(static_cast<std::size_t>(warps));
    double mean_issue = 0, mean_done = 0;
    for (int w = 0; w < warps; ++w) {
      mean_issue += static_cast<double>(a[w].stop - a[w].start) / warps;
      mean_done += static_cast<double>(b[w].stop - b[w].start) / warps;
    }
    if (r) first.push_back(mean_issue), last.push_back(mean_done);
  }
  Answer("memory_queue", "cycles from before the first to after the n-th back-to-back access issued")
      .add_text("access", kKindNames[static_cast<int>(kKind)])
      .add("n", K)
      .add("warps_one_a_sub_core", warps)
      .add("all_data_back_cycles", summarize(last).median)
      .print(summarize(first), "cycle");
}

template <Kind kKind, int... Ks>
void depths(Buffer<char>& memory, std::integer_sequence<int, Ks...>) {
  for (int warps : {1, 2, 4}) (one_depth<kKind, Ks + 1>(memory, warps), ...);
}

/// N loads an iteration at 8 offsets that stay in L1; `step` is 0 and unknown to the compiler.
template <Kind kKind, int N>
__global__ void __launch_bounds__(1024) sustained(char* base, Stamp* out, unsigned* sink, int step,
                                                  int lane_stride, int iterations, int sub_cores) {
  __shared__ __align__(128) char words[16384];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) reinterpret_cast<unsigned*>(words)[i] = 0;
  __syncthreads();
  if (static_cast<int>(warp % 4) >= sub_cores) return;
  unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(words)) + lane * 4;
  char* p = base + static_cast<long long>(lane) * lane_stride;
  unsigned long long t0 = 0, t1 = 0;
  unsigned sum = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
#pragma unroll
      for (int n = 0; n < N; n += 8) {
        unsigned r[8][4] = {};
#pragma unroll
        for (int i = 0; i < 8; ++i) issue<kKind>(r[i], p, shared, i * 512);
        if constexpr (kKind != Kind::kStg32 && kKind != Kind::kSts32) {
#pragma unroll
          for (int i = 0; i < 8; ++i) sum ^= r[i][0] ^ r[i][1] ^ r[i][2] ^ r[i][3];
        }
        p += step;
        shared += static_cast<unsigned>(step);
      }
    }
    if (sum == 0x12345) *sink = sum;
    __syncthreads();
    t1 = clock_now();
  }
  if (lane == 0) out[warp] = {t0, t1, 0, 0, sm_id(), 0};
}

template <Kind kKind>
Summary sustained_cycles(Buffer<char>& memory, int warps, int sub_cores, int lane_stride) {
  constexpr int kShort = 32, kLong = 96, kIterations = 16;
  Buffer<Stamp> out(32);
  Buffer<unsigned> sink(1);
  std::vector<double> slopes;
  for (int r = 0; r < 4; ++r) {
    double t[2];
    for (int i : {0, 1}) {
      out.zero();
      if (i) {
        sustained<kKind, kLong>
            <<<1, 128 * warps>>>(memory.get(), out.get(), sink.get(), 0, lane_stride, kIterations, sub_cores);
      } else {
        sustained<kKind, kShort>
            <<<1, 128 * warps>>>(memory.get(), out.get(), sink.get(), 0, lane_stride, kIterations, sub_cores);
      }
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      t[i] = span(out.download());
    }
    if (r) slopes.push_back((t[1] - t[0]) / ((kLong - kShort) * kIterations) / (warps * sub_cores));
  }
  return summarize(slopes);
}

template <Kind kKind>
void rates(Buffer<char>& memory, int bytes) {
  for (int sub_cores : {1, 2, 4}) {
    for (int warps : {1, 2, 4, 8}) {
      Answer("memory_issue_rate", "cycles of the SM an access of one warp, hits, consecutive lanes")
          .add_text("access", kKindNames[static_cast<int>(kKind)])
          .add("warps_a_sub_core", warps)
          .add("sub_cores", sub_cores)
          .print(sustained_cycles<kKind>(memory, warps, sub_cores, bytes), "cycle");
    }
  }
}

int main() {
  Buffer<char> memory(1 << 22);
  memory.zero();
  const auto to_14 = std::make_integer_sequence<int, 14>{};
  depths<Kind::kLdg32>(memory, to_14);
  depths<Kind::kLdg128>(memory, to_14);
  depths<Kind::kLds32>(memory, to_14);
  depths<Kind::kStg32>(memory, to_14);
  depths<Kind::kSts32>(memory, to_14);
  rates<Kind::kLdg32>(memory, 4);
  rates<Kind::kLdg64>(memory, 8);
  rates<Kind::kLdg128>(memory, 16);
  rates<Kind::kLds32>(memory, 4);
  rates<Kind::kStg32>(memory, 4);
  rates<Kind::kSts32>(memory, 4);
  // The tag stage: a stride of s floats spreads a request over s lines of 128 bytes. The
  // offsets of 512 bytes overlap between lanes, so the set is 32 * s * 4 + 4 KB and stays in L1.
  for (int floats = 0; floats <= 33; ++floats) {
    Answer("tag_stage", "cycles of the SM an L1-hit 32-bit load by lane stride, 16 warps")
        .add("stride_floats", floats)
        .print(sustained_cycles<Kind::kLdg32>(memory, 4, 4, floats * 4), "cycle");
  }
  for (int floats : {4, 8, 12, 16, 20, 24, 28, 32, 36}) {
    Answer("tag_stage", "cycles of the SM an L1-hit 128-bit load by lane stride, 16 warps")
        .add("bits", 128)
        .add("stride_floats", floats)
        .print(sustained_cycles<Kind::kLdg128>(memory, 4, 4, floats * 4), "cycle");
  }
  for (int floats : {1, 2, 4, 8, 16, 32}) {
    Answer("store_stage", "cycles of the SM a 32-bit store by lane stride, 16 warps")
        .add("stride_floats", floats)
        .print(sustained_cycles<Kind::kStg32>(memory, 4, 4, floats * 4), "cycle");
  }
  return 0;
}
