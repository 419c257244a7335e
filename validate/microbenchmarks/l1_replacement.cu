// Which line leaves L1 when another one comes?
//
// Models:  one lane of one warp walks lines in phases, one load after the other: in order or backwards, so many times, each line so many times
//          in a row, at random, or lines looked up again and again between others that are read once. Counters tell how many loads hit; each
//          launch has an L1 of a size of its own, by its shared memory.
// Ignores: several warps, sectors, stores.
// Source:  counters of ncu.
#include <vector>

#include "bench.cuh"

using namespace bench;

enum Kind : int { kOrder, kBackwards, kRandom, kAmong };

/// One phase: `count` lines from line `first`, each `repeat` times in a row, `rounds` times. kRandom: `rounds` loads of any of the lines.
/// kAmong: lines from `first` on in order, `rounds` of them, and between two of them `repeat` loads of any of `count` lines from line 0 on.
struct Phase {
  int kind;
  unsigned first, count, repeat, rounds;
};
constexpr int kPhases = 4;
struct Phases {
  Phase phase[kPhases];
  int used;
};

__global__ void l1_replacement(const unsigned* lines, Phases phases, unsigned seed, unsigned* out) {
  extern __shared__ unsigned shared[];
  unsigned last = 0, state = seed;
  const auto load = [&](unsigned line) {
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(last) : "l"(lines + std::size_t{line + last} * 32) : "memory");
  };
  const auto any = [&](unsigned count) {
    state = state * 1664525u + 1013904223u;
    return static_cast<unsigned>((static_cast<unsigned long long>(state) * count) >> 32);
  };
  for (int p = 0; p < phases.used; ++p) {
    const Phase phase = phases.phase[p];
    for (unsigned r = 0; r < phase.rounds; ++r) {
      if (phase.kind == kRandom) {
        load(phase.first + any(phase.count));
      } else if (phase.kind == kAmong) {
        load(phase.first + r);
        for (unsigned k = 0; k < phase.repeat; ++k) load(any(phase.count));
      } else {
        for (unsigned i = 0; i < phase.count; ++i) {
          const unsigned line = phase.first + (phase.kind == kOrder ? i : phase.count - 1 - i);
          for (unsigned k = 0; k < phase.repeat; ++k) load(line);
        }
      }
    }
  }
  out[threadIdx.x] = last + shared[0] * 0;
}

struct Runner {
  Buffer<unsigned> lines{std::size_t{1} << 22}, out{32};
  int launch = 0;

  void run(const char* what, unsigned shared_bytes, std::vector<Phase> list) {
    Phases phases{};
    phases.used = static_cast<int>(list.size());
    unsigned loads = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Phase& p = phases.phase[i] = list[i];
      loads += p.kind == kRandom ? p.rounds : p.kind == kAmong ? p.rounds * (1 + p.repeat) : p.rounds * p.count * p.repeat;
    }
    l1_replacement<<<1, 1, shared_bytes>>>(lines.get(), phases, 1, out.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Answer answer("l1_replacement", "which line leaves L1: loads that hit");
    answer.add("launch", launch++).add_text("what", what).add("shared_bytes", shared_bytes).add("phases", phases.used);
    for (int i = 0; i < phases.used; ++i) {
      static const char* const names[] = {"order", "backwards", "random", "among"};
      const Phase& p = phases.phase[i];
      const std::string n = std::to_string(i);
      answer.add_text(("kind_" + n).c_str(), names[p.kind]).add(("first_" + n).c_str(), p.first).add(("count_" + n).c_str(), p.count);
      answer.add(("repeat_" + n).c_str(), p.repeat).add(("rounds_" + n).c_str(), p.rounds);
    }
    answer.print(loads, "load", 0);
  }
};

int main() {
  Runner runner;
  CHECK(cudaFuncSetAttribute(l1_replacement, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  for (unsigned shared : {1024u, 100u * 1024, 164u * 1024, 200u * 1024}) {
    const unsigned kib = shared <= 1024 ? 248 : shared == 100u * 1024 ? 156 : shared == 164u * 1024 ? 89 : 56, all = kib * 8;
    // How many lines there are: read in order, then again in order and backwards.
    for (unsigned more : {0u, all / 64, all / 32, all / 16, all / 8, all / 4, all / 2, all}) {
      runner.run("in order, twice", shared, {{kOrder, 0, all + more, 1, 2}});
      runner.run("in order, then backwards", shared, {{kOrder, 0, all + more, 1, 1}, {kBackwards, 0, all + more, 1, 1}});
    }
    // Lines that were used twice, then others that are read once, then the first ones backwards.
    for (unsigned hot : {all / 8, all / 4, all / 2, all * 3 / 4}) {
      for (unsigned others : {all / 2, all, all * 2, all * 4}) {
        runner.run("twice, others once, again", shared, {{kOrder, 0, hot, 2, 1}, {kOrder, 8192, others, 1, 1}, {kBackwards, 0, hot, 1, 1}});
        runner.run("twice, others twice, again", shared, {{kOrder, 0, hot, 2, 1}, {kOrder, 8192, others, 2, 1}, {kBackwards, 0, hot, 1, 1}});
        runner.run("once, others once, again", shared, {{kOrder, 0, hot, 1, 1}, {kOrder, 8192, others, 1, 1}, {kBackwards, 0, hot, 1, 1}});
      }
    }
    for (unsigned count : {all / 2, all, all * 5 / 4, all * 3 / 2, all * 2, all * 4})
      runner.run("at random", shared, {{kRandom, 0, count, 1, 8 * all}});
    for (unsigned hot : {all / 4, all / 2, all * 3 / 4, all, all * 5 / 4}) {
      for (unsigned repeat : {1u, 3u}) runner.run("at random among others that are read once", shared, {{kAmong, 8192, hot, repeat, 4 * all}});
    }
    for (unsigned count : {all + all / 16, all + all / 4, all * 2}) runner.run("in order, eight times", shared, {{kOrder, 0, count, 1, 8}});
  }
  return 0;
}
