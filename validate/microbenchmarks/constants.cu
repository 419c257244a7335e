// Where do constants come from, how long does each level take, and what does a launch bring along?
//
// Models:  a chain of indexed loads (LDC) through 256 B to 64 KiB of constant memory, first and later passes, on one SM,
//          the SMs of a GPC, or all; straight code that takes a new constant every 8 or 64 bytes through uniform
//          loads or operands, from a table or from the kernel's parameters, access by access, the first time a block
//          touches them.
//          "after a flush": other constants, code and data went through the caches before; else the same kernel ran.
//          With the word "counters": single launches, to be run under ncu.
// Ignores: instruction fetch, but that a second answer is given where an indexed load touched the words before.
// Source:  clock64 around each access or chain.
#include <cstring>
#include <map>

#include "sm_groups.h"

using namespace bench;

constexpr int kTableBytes = 64 * 1024, kMostAccesses = 1024;
__constant__ unsigned table[kTableBytes / 4];  // byte offsets: the chain

struct Times {
  unsigned first[kMostAccesses];  // each access of the first pass
  unsigned long long pass[4];
  unsigned sm;
};

__device__ __forceinline__ unsigned follow(unsigned offset) {
  return *reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(table) + offset);
}
/// A value is there before what follows issues.
__device__ __forceinline__ void wait_for(unsigned& x, unsigned zero) {
  asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(zero));
}

/// Two instructions read constants by index: ULDC where all lanes have the same address for certain, LDC else.
template <bool kUniform>
__global__ void chase(Times* out, const int* rank_of_sm, int accesses, unsigned start, unsigned zero) {
  __shared__ unsigned times[kMostAccesses];
  extern __shared__ char whole_sm[];  // one block an SM
  const int rank = rank_of_sm[sm_id()];
  if (rank < 0 || whole_sm == nullptr) return;
  unsigned at = start + (kUniform ? 0 : zero * threadIdx.x);
  unsigned long long pass_time[4];
  const unsigned long long begin = clock_now();
#pragma unroll 1
  for (int i = 0; i < accesses; ++i) {
    const unsigned long long t0 = clock_now();
    at = follow(at);
    wait_for(at, zero);
    times[i] = static_cast<unsigned>(clock_now() - t0);
  }
  pass_time[0] = clock_now() - begin;
#pragma unroll 1
  for (int p = 1; p < 4; ++p) {
    const unsigned long long t0 = clock_now();
#pragma unroll 1
    for (int i = 0; i < accesses; i += 4) { at = follow(follow(follow(follow(at)))); }
    wait_for(at, zero);
    pass_time[p] = clock_now() - t0;
  }
  if (threadIdx.x == 0) {
    for (int i = 0; i < accesses; ++i) out[rank].first[i] = times[i] + (at == 1);
    for (int p = 0; p < 4; ++p) out[rank].pass[p] = pass_time[p];
    out[rank].sm = sm_id();
  }
}

__device__ void write(Times& out, const unsigned long long* times, int count, unsigned long long begin,
                      bool odd) {
  if (threadIdx.x != 0) return;
  out.pass[0] = times[count - 1] - begin + odd;
  for (int i = 0; i < count; ++i) {
    out.first[i] = static_cast<unsigned>(times[i] - begin);
    begin = times[i];
  }
}

/// `kCount` words `kStride` bytes apart, each as the multiplier of an FFMA; `touched`: an indexed load took them before.
template <int kCount, int kStride>
__global__ void straight(Times* out, const int* rank_of_sm, int touched, float x, unsigned zero) {
  __shared__ unsigned long long times[kCount];
  extern __shared__ char whole_sm[];
  const int rank = rank_of_sm[sm_id()];
  if (rank < 0 || whole_sm == nullptr) return;
  unsigned sum = 0;
#pragma unroll 1
  for (int i = 0; i < touched; ++i) {
    sum ^= follow(static_cast<unsigned>(i * kStride) + zero * threadIdx.x);
    wait_for(sum, zero);
  }
  float f = x;
  const unsigned long long begin = clock_now();
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                 : "+f"(f)
                 : "f"(__uint_as_float(table[i * kStride / 4])), "f"(x)
                 : "memory");
    times[i] = clock_now();
  }
  write(out[rank], times, kCount, begin, f == 1.25f || sum == 77u);
}

/// The same from the kernel's parameters.
struct Parameters {
  unsigned words[960];
};
template <int kCount, int kStride>
__global__ void parameters(Times* out, const int* rank_of_sm, float x, const __grid_constant__ Parameters p) {
  __shared__ unsigned long long times[kCount];
  extern __shared__ char whole_sm[];
  const int rank = rank_of_sm[sm_id()];
  if (rank < 0 || whole_sm == nullptr) return;
  float f = x;
  const unsigned long long begin = clock_now();
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                 : "+f"(f)
                 : "f"(__uint_as_float(p.words[i * kStride / 4])), "f"(x)
                 : "memory");
    times[i] = clock_now();
  }
  write(out[rank], times, kCount, begin, f == 1.25f);
}

/// Other code, and all of this kernel's own constants, through the caches.
__global__ void other_code(unsigned* sink, unsigned a) {
  unsigned x = a + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 12288; ++i) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(a + 1));
  if (x == 77u) *sink = x;
}

class Constants {
 public:
  Constants() : out_(256), rank_(256), sink_(1), flush_(256 << 20) {
    for (const void* f :
         {reinterpret_cast<const void*>(chase<true>), reinterpret_cast<const void*>(chase<false>),
          reinterpret_cast<const void*>(straight<1024, 64>), reinterpret_cast<const void*>(straight<128, 64>),
          reinterpret_cast<const void*>(straight<64, 8>),
          reinterpret_cast<const void*>(parameters<60, 64>)}) {
      CHECK(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
    }
  }
  void select(const char* name, const std::vector<int>& sms) {
    std::vector<int> rank(256, -1);
    for (std::size_t i = 0; i < sms.size(); ++i) rank[static_cast<std::size_t>(sms[i])] = static_cast<int>(i);
    rank_.upload(rank);
    count_ = static_cast<int>(sms.size()), name_ = name;
  }
  void flush() {
    other_code<<<device().multiProcessorCount, 32>>>(sink_.get(), 3);
    CHECK(cudaMemset(flush_.get(), ++fill_, flush_.size()));
    CHECK(cudaDeviceSynchronize());
  }
  /// The chain through `bytes` of the table, `stride` apart; it ends where it began.
  void make_chain(int bytes, int stride) {
    std::vector<unsigned> words(kTableBytes / 4);
    for (int at = 0; at < bytes; at += stride)
      words[static_cast<std::size_t>(at / 4)] = static_cast<unsigned>((at + stride) % bytes);
    CHECK(cudaMemcpyToSymbol(table, words.data(), kTableBytes));
  }
  void launch_chase(int accesses, bool uniform) {
    (uniform ? chase<true> : chase<false>)<<<device().multiProcessorCount, 32, kShared>>>(
        out_.get(), rank_.get(), accesses, 0, 0);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  void measure_chase(int bytes, int stride, bool uniform) {
    make_chain(bytes, stride);
    const int accesses = std::max(4, std::min(kMostAccesses, bytes / stride));
    std::vector<double> warm;
    std::vector<double> cold, again;
    for (int r = 0; r < 3; ++r) {
      if (r == 0) flush();
      launch_chase(accesses, uniform);
      const std::vector<Times> t = out_.download(static_cast<std::size_t>(count_));
      for (const Times& sm : t) {
        for (int p = 2; p < 4; ++p) warm.push_back(static_cast<double>(sm.pass[p]) / accesses);
      }
      (r == 0 ? cold : again) = mean_of(t, accesses);
    }
    Answer("constant_chain", "cycles an indexed load of constants that needs the one before")
        .add_text("operation", uniform ? "ULDC" : "LDC")
        .add_text("sms", name_)
        .add("sm_count", count_)
        .add("bytes", bytes)
        .add("stride", stride)
        .add("first_pass_after_flush_by_access", shortened(cold))
        .add("first_pass_after_same_kernel_by_access", shortened(again))
        .add("first_pass_after_flush", mean(cold))
        .add("first_pass_after_same_kernel", mean(again))
        .print(summarize(warm), "cycle");
  }
  template <int kCount, int kStride>
  void measure_straight(bool touched) {
    std::vector<double> cold, again, warm;
    for (int r = 0; r < 3; ++r) {
      if (r == 0) flush();
      straight<kCount, kStride><<<device().multiProcessorCount, 32, kShared>>>(out_.get(), rank_.get(),
                                                                               touched ? kCount : 0, 0.5f, 0);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      const std::vector<Times> t = out_.download(static_cast<std::size_t>(count_));
      if (r) warm.push_back(mean(mean_of(t, kCount)));
      (r == 0 ? cold : again) = mean_of(t, kCount);
    }
    describe("table", kCount, kStride, cold, again)
        .add("touched_before", touched ? 1 : 0)
        .print(summarize(warm), "cycle");
  }
  void measure_parameters() {
    std::vector<double> cold, again, warm;
    for (int r = 0; r < 3; ++r) {
      if (r == 0) flush();
      parameters<60, 64>
          <<<device().multiProcessorCount, 32, kShared>>>(out_.get(), rank_.get(), 0.5f, Parameters{});
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      const std::vector<Times> t = out_.download(static_cast<std::size_t>(count_));
      if (r) warm.push_back(mean(mean_of(t, 60)));
      (r == 0 ? cold : again) = mean_of(t, 60);
    }
    describe("parameters", 60, 64, cold, again).print(summarize(warm), "cycle");
  }
  void counters();

 private:
  static constexpr int kShared = 120 * 1024;
  Answer describe(const char* what, int count, int stride, const std::vector<double>& cold,
                  const std::vector<double>& again) {
    Answer answer("constant_straight", "cycles from one use of a new constant in straight code to the next");
    answer.add_text("constants", what)
        .add_text("sms", name_)
        .add("sm_count", count_)
        .add("words", count)
        .add("stride", stride)
        .add("first_pass_after_flush_by_access", shortened(cold))
        .add("first_pass_after_same_kernel_by_access", shortened(again))
        .add("first_pass_after_flush", mean(cold))
        .add("first_pass_after_same_kernel", mean(again));
    return answer;
  }
  static std::vector<double> mean_of(const std::vector<Times>& sms, int accesses) {
    std::vector<double> sum(static_cast<std::size_t>(accesses));
    for (const Times& t : sms) {
      for (int i = 0; i < accesses; ++i)
        sum[static_cast<std::size_t>(i)] += static_cast<double>(t.first[i]) / static_cast<double>(sms.size());
    }
    return sum;
  }
  static double mean(const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  }
  static std::vector<double> shortened(const std::vector<double>& v) {
    return {v.begin(), v.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(96, v.size()))};
  }
  Buffer<Times> out_;
  Buffer<int> rank_;
  Buffer<unsigned> sink_;
  Buffer<char> flush_;
  const char* name_ = "";
  int count_ = 0, fill_ = 0;
};

void Constants::counters() {
  int launch = 0;
  const int all = device().multiProcessorCount;
  std::vector<int> every(static_cast<std::size_t>(all));
  std::iota(every.begin(), every.end(), 0);
  for (int sms : {1, all}) {
    select("", {every.begin(), every.begin() + sms});
    for (bool uniform : {false, true}) {
      for (int bytes : {256, 2048, 8192, 32768, 65536}) {
        make_chain(bytes, 64);
        Answer("constant_counters", "what the counters say of four passes of indexed loads")
            .add_text("operation", uniform ? "ULDC" : "LDC")
            .add("launch", launch++)
            .add("sm_count", sms)
            .add("bytes", bytes)
            .print(bytes / 64, "load", 0);
        launch_chase(bytes / 64, uniform);
      }
    }
    Answer("constant_counters", "what the counters say of straight code")
        .add("launch", launch++)
        .add("sm_count", sms)
        .add("words", 1024)
        .print(1024, "word", 0);
    straight<1024, 64><<<all, 32, kShared>>>(out_.get(), rank_.get(), 0, 0.5f, 0);
    CHECK(cudaDeviceSynchronize());
    Answer("constant_counters", "what the counters say of straight code")
        .add("launch", launch++)
        .add("sm_count", sms)
        .add("words", 64)
        .print(64, "word", 0);
    straight<64, 8><<<all, 32, kShared>>>(out_.get(), rank_.get(), 0, 0.5f, 0);
    CHECK(cudaDeviceSynchronize());
    Answer("constant_counters", "what the counters say of 60 parameters")
        .add("launch", launch++)
        .add("sm_count", sms)
        .add("words", 60)
        .print(60, "word", 0);
    parameters<60, 64><<<all, 32, kShared>>>(out_.get(), rank_.get(), 0.5f, Parameters{});
    CHECK(cudaDeviceSynchronize());
  }
}

int main(int count, char** words) {
  Constants constants;
  if (count > 1 && std::strcmp(words[1], "counters") == 0) {
    constants.counters();
    return 0;
  }
  const std::vector<int> gpc = gpc_of_sms();
  std::vector<int> whole, all(gpc.size());
  for (std::size_t i = 0; i < gpc.size(); ++i) {
    if (gpc[i] == gpc[0]) whole.push_back(static_cast<int>(i));
  }
  std::iota(all.begin(), all.end(), 0);
  const std::pair<const char*, std::vector<int>> sets[] = {
      {"one", {0}}, {"TPC", {0, 1}}, {"GPC", whole}, {"all", all}};
  for (const auto& [name, which] : sets) {
    constants.select(name, which);
    for (int bytes : {256, 512, 1024, 1536, 2048, 2560, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
                      49152, 65536}) {
      for (bool uniform : {false, true}) {
        constants.measure_chase(bytes, 64, uniform);
        if (which.size() == 1 && bytes >= 1024) constants.measure_chase(bytes, 256, uniform);
      }
    }
    for (bool uniform : {false, true}) constants.measure_chase(1024, 4, uniform);
    constants.make_chain(kTableBytes, 64);
    for (bool touched : {false, true}) {
      constants.measure_straight<64, 8>(touched);
      constants.measure_straight<128, 64>(touched);
      constants.measure_straight<1024, 64>(touched);
    }
    constants.measure_parameters();
  }
  return 0;
}
