// What do indexed loads of constants cost when other SMs of the TPC, the GPC or the chip do the same?
//
// Models:  one block an SM on a chosen set of SMs; each warp loads words at random from a table in constant memory, or from the kernel's own
//          parameters, lanes on different words. One SM, the two of a TPC, one SM in each of a GPC's TPCs, a whole GPC, all SMs.
//          The value is the slowest SM's time a load and warp, of loads that are independent of each other.
// Ignores: first touches (each kernel goes round often enough).
// Source:  the SMs' clocks.
#include "bench.cuh"
#include "sm_groups.h"

using namespace bench;

__constant__ uint4 table[65536 / 16];

struct Words {
  unsigned word[960];
};

/// `offsets`: of the lanes, in bytes. `active`: a flag for each SM.
template <bool kParameters>
__global__ void __launch_bounds__(1024) look_up(const Words words, const unsigned* offsets, const unsigned char* active, unsigned step,
                                                unsigned bytes, int rounds, Stamp* out, unsigned* sink) {
  extern __shared__ char whole_sm[];
  const unsigned sm = sm_id();
  if (!active[sm]) return;
  unsigned at = (offsets[threadIdx.x % 32] + threadIdx.x / 32 * 332) % bytes, sum = 0;
  unsigned long long t0 = 0;
  for (int i = -2; i < rounds; ++i) {
    if (i == 0) {
      __syncthreads();
      t0 = clock_now();
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      unsigned v;
      if constexpr (kParameters) {
        v = words.word[at / 4];
      } else {
        v = *reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(table) + at);
      }
      sum ^= v;
      at += step;
      if (at >= bytes) at -= bytes;
    }
  }
  if (sum == 0x12345) *sink = sum + whole_sm[0];
  __syncthreads();
  if (threadIdx.x == 0) out[sm] = {t0, clock_now(), 0, 0, sm, blockIdx.x};
}

int main() {
  const int sms = device().multiProcessorCount;
  const std::vector<int> gpc = gpc_of_sms();
  // The largest GPC's SMs, and sets of them.
  std::vector<std::vector<int>> members(static_cast<std::size_t>(sms));
  for (int i = 0; i < sms; ++i) members[static_cast<std::size_t>(gpc[static_cast<std::size_t>(i)])].push_back(i);
  const std::vector<int> one = *std::max_element(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  struct Set {
    const char* name;
    std::vector<int> sms;
  };
  std::vector<Set> sets = {{"one SM", {one[0]}}, {"a TPC", {}}, {"one SM of each TPC of a GPC", {}}, {"a GPC", one}, {"all", {}}};
  for (const int sm : one) {
    if (sm / 2 == one[0] / 2) sets[1].sms.push_back(sm);
    if (sm % 2 == 0) sets[2].sms.push_back(sm);
  }
  for (int i = 0; i < sms; ++i) sets[4].sms.push_back(i);

  Buffer<unsigned> offsets(32), sink(1);
  Buffer<unsigned char> active(static_cast<std::size_t>(sms));
  Buffer<Stamp> out(static_cast<std::size_t>(sms));
  Words words = {};
  const int shared = 200 * 1024, rounds = 24;
  CHECK(cudaFuncSetAttribute(look_up<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  CHECK(cudaFuncSetAttribute(look_up<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  const auto ask = [&](bool parameters, unsigned bytes, unsigned distinct, int warps, const Set& set) {
    std::mt19937 random(bytes + distinct);
    std::vector<unsigned> at(32);
    for (unsigned i = 0; i < 32; ++i) at[i] = i < distinct ? random() % (bytes / 4) * 4 : at[i % distinct];
    std::vector<unsigned> sorted = at;
    std::sort(sorted.begin(), sorted.end());
    const auto unlike = static_cast<double>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
    offsets.upload(at);
    std::vector<unsigned char> flags(static_cast<std::size_t>(sms), 0);
    for (const int sm : set.sms) flags[static_cast<std::size_t>(sm)] = 1;
    active.upload(flags);
    std::vector<double> times;
    double spread = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      CHECK(cudaMemset(out.get(), 0, sizeof(Stamp) * static_cast<std::size_t>(sms)));
      if (parameters) {
        look_up<true><<<static_cast<unsigned>(sms), static_cast<unsigned>(32 * warps), shared>>>(
            words, offsets.get(), active.get(), 68, bytes, rounds, out.get(), sink.get());
      } else {
        look_up<false><<<static_cast<unsigned>(sms), static_cast<unsigned>(32 * warps), shared>>>(
            words, offsets.get(), active.get(), 68, bytes, rounds, out.get(), sink.get());
      }
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      double most = 0;
      for (const Stamp& s : out.download()) most = std::max(most, static_cast<double>(s.stop - s.start));
      times.push_back(most / (8.0 * rounds * warps));
    }
    const Summary s = summarize(times);
    Answer("constant_sharing", "words at random, lanes on different ones: time a load and warp on the slowest SM")
        .add("parameters", parameters)
        .add("table", bytes)
        .add("words", unlike)
        .add("warps", warps)
        .add_text("sms", set.name)
        .add("sm_count", static_cast<double>(set.sms.size()))
        .print(s.median, "cycle", s.spread() + spread);
  };
  for (const Set& set : sets) {
    for (const int warps : {1, 4, 16}) {
      for (const unsigned bytes : {1024u, 2048u, 3072u, 3840u}) ask(true, bytes, 32, warps, set);
      for (const unsigned bytes : {1024u, 2048u, 3072u, 3840u, 8192u, 32768u}) ask(false, bytes, 32, warps, set);
    }
    ask(false, 8192, 1, 16, set);
    ask(false, 8192, 8, 16, set);
    ask(true, 3840, 8, 16, set);
  }
  return 0;
}
