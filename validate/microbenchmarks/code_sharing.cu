// What does code cost that outgrows the instruction caches, when warps, sub-cores and SMs share them?
//
// Models:  loops over 16 KiB to 1 MiB of multiply-adds in pieces of 8 KiB, entered where each warp is told to: all
//          warps together, each sub-core or each warp at a place of its own; on one SM, a TPC, half a GPC, a GPC, one
//          SM of each GPC, and all; the SMs in step or each at a place of its own. Cold (other code and other data
//          went through the caches before), after the same kernel, and warm.
//          With the word "counters": single launches, to be run under ncu.
// Ignores: jumps but for one compare and untaken branch in 512 instructions, and the way to a warp's first piece (some
//          200 cycles; passes but the first go round often enough to make that less than 1%).
// Source:  clock64 around each pass over the code; a counter in memory starts the SMs of a pass together.
#include <cstring>
#include <map>

#include "sm_groups.h"

using namespace bench;

// 64 multiply-adds on 8 accumulators: 1 KiB of code.
#define FMA8                                                              \
  "fma.rn.f32 %0,%0,%8,%9;fma.rn.f32 %1,%1,%8,%9;fma.rn.f32 %2,%2,%8,%9;" \
  "fma.rn.f32 %3,%3,%8,%9;fma.rn.f32 %4,%4,%8,%9;fma.rn.f32 %5,%5,%8,%9;" \
  "fma.rn.f32 %6,%6,%8,%9;fma.rn.f32 %7,%7,%8,%9;"
#define FMA64 FMA8 FMA8 FMA8 FMA8 FMA8 FMA8 FMA8 FMA8

constexpr int kPieces = 128, kPieceInstructions = 512, kPasses = 4;

struct Sums {
  float f[8];
};
/// 8 KiB of code. The number in the text keeps the compiler from making one piece of all.
template <int kNumber>
__device__ __forceinline__ void piece(Sums& s, float x, float y) {
  asm volatile("// piece %10\n\t" FMA64 FMA64 FMA64 FMA64 FMA64 FMA64 FMA64 FMA64
               : "+f"(s.f[0]), "+f"(s.f[1]), "+f"(s.f[2]), "+f"(s.f[3]), "+f"(s.f[4]), "+f"(s.f[5]),
                 "+f"(s.f[6]), "+f"(s.f[7])
               : "f"(x), "f"(y), "n"(kNumber));
}
#define PIECE(N)       \
  case N:              \
    piece<N>(s, x, y); \
    if (--until == 0) break;
#define PIECES4(N) PIECE(N) PIECE((N) + 1) PIECE((N) + 2) PIECE((N) + 3)
#define PIECES16(N) PIECES4(N) PIECES4((N) + 4) PIECES4((N) + 8) PIECES4((N) + 12)

/// Who runs and where each warp begins. Counts are of pieces of code.
struct Setup {
  int first = 0;      // first piece of the loop
  int pieces = 0;     // of the loop
  int warp_step = 0;  // pieces between the starts of warps w and w + 1
  int core_step = 0;  // and of sub-cores c and c + 1
  int sm_step = 0;    // and of the k-th and the next SM
  int sms = 0;        // that run
  int passes = kPasses;
  int rounds = 1;  // over the loop in each pass but the first
};

__global__ void __launch_bounds__(512) pieces_of_code(Stamp* out, float* sink, float x, float y,
                                                      const int* rank_of_sm, unsigned* gates, Setup setup) {
  extern __shared__ char whole_sm[];  // one block an SM
  const int rank = rank_of_sm[sm_id()];
  if (rank < 0 || whole_sm == nullptr) return;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int start =
      (warp * setup.warp_step + warp % 4 * setup.core_step + rank * setup.sm_step) % setup.pieces;
  Sums s;
  for (int i = 0; i < 8; ++i) s.f[i] = x * static_cast<float>(i + 1);
#pragma unroll 1
  for (int pass = 0; pass < setup.passes; ++pass) {
    if (threadIdx.x == 0 && setup.sms > 1) {
      atomicAdd(&gates[pass], 1u);
      while (*static_cast<volatile unsigned*>(&gates[pass]) < static_cast<unsigned>(setup.sms)) {}
    }
    __syncthreads();
    const unsigned long long t0 = clock_now();
    int at = setup.first + start, left = setup.pieces * (pass == 0 ? 1 : setup.rounds);
#pragma unroll 1
    while (left > 0) {
      int until = min(left, setup.first + setup.pieces - at);  // pieces in a row
      left -= until;
      if (at == 0) goto from_the_first;  // not through the jumps that a switch is made of
      switch (at) {
      from_the_first:
        PIECES16(0)
        PIECES16(16)
        PIECES16(32)
        PIECES16(48)
        PIECES16(64)
        PIECES16(80)
        PIECES16(96)
        PIECES16(112)
      }
      at = setup.first;
    }
    const unsigned long long t1 = clock_now();
    if (threadIdx.x % 32 == 0 && pass < kPasses) {
      out[(rank * kPasses + pass) * 16 + warp] = {t0, t1, 0, 0, sm_id(), 0};
    }
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += s.f[i];
  if (sum == 1.25f) *sink = sum;
}

/// Everything a launch needs, and the launch.
class Code {
 public:
  Code() : out_(16 * kPasses * 256), sink_(1), rank_(256), gates_(16), flush_(256 << 20) {
    CHECK(cudaFuncSetAttribute(pieces_of_code, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  }
  void select(const std::vector<int>& sms) {
    std::vector<int> rank(256, -1);
    for (std::size_t i = 0; i < sms.size(); ++i) rank[static_cast<std::size_t>(sms[i])] = static_cast<int>(i);
    rank_.upload(rank);
    count_ = static_cast<int>(sms.size());
  }
  void launch(Setup setup, int warps) {
    gates_.zero();
    setup.sms = count_;
    pieces_of_code<<<device().multiProcessorCount, 32 * warps, kShared>>>(out_.get(), sink_.get(), 0.5f, 1.5f,
                                                                          rank_.get(), gates_.get(), setup);
    CHECK(cudaGetLastError());
  }
  /// Cycles an instruction of each pass, the mean over SMs of the time to an SM's last warp's end.
  std::vector<double> passes(const Setup& setup, int warps) {
    out_.zero();
    launch(setup, warps);
    CHECK(cudaDeviceSynchronize());
    const std::vector<Stamp> s = out_.download(static_cast<std::size_t>(16 * kPasses * count_));
    std::vector<double> mean(kPasses);
    for (int sm = 0; sm < count_; ++sm) {
      for (int p = 0; p < kPasses; ++p) {
        const auto at = s.begin() + (sm * kPasses + p) * 16;
        mean[static_cast<std::size_t>(p)] +=
            span({at, at + warps}) / (setup.pieces * kPieceInstructions) / (p ? setup.rounds : 1) / count_;
      }
    }
    return mean;
  }
  /// Other code through the instruction caches of all SMs (the last `pieces` of the kernel), other data through L2.
  void flush() {
    std::vector<int> all(static_cast<std::size_t>(device().multiProcessorCount));
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int> rank = rank_.download();
    const int count = count_;
    select(all);
    Setup other;
    other.first = kPieces / 2, other.pieces = kPieces / 2, other.passes = 1;
    launch(other, 4);
    rank_.upload(rank);
    count_ = count;
    CHECK(cudaMemset(flush_.get(), ++fill_, flush_.size()));
    CHECK(cudaDeviceSynchronize());
  }

 private:
  static constexpr int kShared = 120 * 1024;
  Buffer<Stamp> out_;
  Buffer<float> sink_;
  Buffer<int> rank_;
  Buffer<unsigned> gates_;
  Buffer<char> flush_;
  int count_ = 0, fill_ = 0;
};

const char* const kTogether = "together";
const char* const kCoresApart = "sub-cores apart";
const char* const kWarpsApart = "warps apart";

Setup loop_of(int pieces, const char* how, int warps, int sms, bool sms_apart) {
  Setup setup;
  setup.pieces = pieces;
  setup.rounds = std::max(1, 64 / pieces);
  if (how == kCoresApart) setup.core_step = std::max(1, pieces / 4);
  if (how == kWarpsApart) setup.warp_step = std::max(1, pieces / warps);
  if (sms_apart) setup.sm_step = std::max(1, pieces / sms);
  return setup;
}

void measure(Code& code, const char* set, int sms, int pieces, int warps, const char* how, bool sms_apart) {
  const Setup setup = loop_of(pieces, how, warps, sms, sms_apart);
  std::vector<double> first, warm, cold;
  for (int r = 0; r < 3; ++r) {
    if (pieces <= kPieces / 2 && r == 0) {
      code.flush();
      cold.push_back(code.passes(setup, warps)[0]);
    }
    const std::vector<double> p = code.passes(setup, warps);
    first.push_back(p[0]);
    warm.push_back(p[2]);
    warm.push_back(p[3]);
  }
  Answer answer("code_sharing",
                "cycles an instruction of straight-line FFMA code in a loop, to the SM's last warp's end");
  answer.add_text("sms", set)
      .add("sm_count", sms)
      .add_text("sm_starts", sms_apart ? "apart" : kTogether)
      .add("kib", pieces * 8)
      .add("warps", warps)
      .add_text("warp_starts", how)
      .add("first_pass_after_same_kernel", summarize(first).median);
  if (!cold.empty()) answer.add("first_pass_after_flush", summarize(cold).median);
  answer.print(summarize(warm), "cycle");
}

/// Single launches for the counters: their first passes alone, and with four more passes.
void counters(Code& code) {
  const int all = device().multiProcessorCount;
  int launch = 0;
  for (int sms : {1, 2, all}) {
    std::vector<int> which(static_cast<std::size_t>(sms));
    std::iota(which.begin(), which.end(), 0);
    code.select(which);
    for (int pieces : {1, 8, 16, 20, 64, 128}) {
      for (int warps : {4, 16}) {
        for (int passes : {1, 5}) {
          Setup setup = loop_of(pieces, warps == 16 ? kWarpsApart : kTogether, warps, sms, false);
          setup.passes = passes, setup.rounds = 1;
          Answer("code_counters", "what the counters say of one launch over straight-line code")
              .add("launch", launch++)
              .add("sm_count", sms)
              .add("kib", pieces * 8)
              .add("warps", warps)
              .add_text("warp_starts", warps == 16 ? kWarpsApart : kTogether)
              .add("passes", passes)
              .print(pieces * 8, "KiB", 0);
          code.launch(setup, warps);
          CHECK(cudaDeviceSynchronize());
        }
      }
    }
  }
}

int main(int count, char** words) {
  Code code;
  if (count > 1 && std::strcmp(words[1], "counters") == 0) {
    counters(code);
    return 0;
  }
  const std::vector<int> gpc = gpc_of_sms();
  std::map<int, std::vector<int>> groups;
  for (std::size_t i = 0; i < gpc.size(); ++i) groups[gpc[i]].push_back(static_cast<int>(i));
  for (const auto& [first, members] : groups) {
    Answer("gpc_sms", "SMs that clusters show to be of one GPC")
        .add("sms", std::vector<double>(members.begin(), members.end()))
        .print(static_cast<double>(members.size()), "SM", 0);
  }
  code.select({0});
  for (int pieces : {2, 3, 4, 5, 6, 8, 10, 12, 14, 15, 16, 17, 18, 20, 24, 32, 64, 128}) {
    measure(code, "one", 1, pieces, 1, kTogether, false);
    measure(code, "one", 1, pieces, 4, kTogether, false);
    measure(code, "one", 1, pieces, 4, kCoresApart, false);
    for (const char* how : {kTogether, kCoresApart, kWarpsApart}) {
      measure(code, "one", 1, pieces, 8, how, false);
      measure(code, "one", 1, pieces, 16, how, false);
    }
  }
  const std::vector<int>& whole = groups[0];
  const auto half = static_cast<std::ptrdiff_t>(whole.size() / 2);
  std::vector<int> each, all(gpc.size());
  for (const auto& [first, members] : groups) each.push_back(first);
  std::iota(all.begin(), all.end(), 0);
  const std::pair<const char*, std::vector<int>> sets[] = {
      {"TPC", {0, 1}},
      {"half a GPC", {whole.begin(), whole.begin() + half}},
      {"GPC", whole},
      {"one of each GPC", each},
      {"all", all}};
  for (const auto& [name, which] : sets) {
    const int sms = static_cast<int>(which.size());
    code.select(which);
    for (int pieces : {8, 14, 20, 32, 64, 128}) {
      for (bool apart : {false, true}) {
        measure(code, name, sms, pieces, 4, kTogether, apart);
        measure(code, name, sms, pieces, 4, kCoresApart, apart);
        measure(code, name, sms, pieces, 16, kWarpsApart, apart);
      }
    }
  }
  return 0;
}
