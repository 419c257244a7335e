// How long does a refresh of DRAM hold up a load, how often, and does it hold up a whole channel or one bank?
//
// Models:  one thread that loads lines of one slice of L2, hence of one channel, one after the other, none of them in a cache: most take the same
//          time, and those that meet a refresh longer, at most by what a refresh takes. Then two lines at once, of one slice and of two: where a
//          refresh takes the whole channel, both lines of one slice wait, and in few cases one alone. When the loads that waited began tells whether
//          refreshes of the channel come at one time in each interval (one refresh of all banks) or evenly (bank after bank).
// Ignores: which bank a line is in; lines of a slice that are in one bank but not in one row wait for each other at random.
// Source:  the SM's clock; slice_pairs.cuh says which lines share a slice.
#include <cmath>

#include "slice_pairs.cuh"

using namespace bench;

constexpr unsigned kPages = 24, kAtOnce = 2, kWait = 60;  // cycles more than the median: a load that waited

struct Timed {
  unsigned long long began;
  unsigned cycles[kAtOnce];
};

/// Loads the lines `kTogether` at a time and writes when each group began and how long each of its loads took.
template <unsigned kTogether>
__global__ void lone(const char* memory, const unsigned* lines, unsigned count, Timed* out, unsigned* sink) {
  unsigned sum = 0;
  for (unsigned page = 0; page < kPages; ++page) {
    unsigned v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(memory + page * kPage) : "memory");
    sum += v;
  }
  if (sum == 1) *sink = sum;
  for (unsigned i = 0; i + kTogether <= count; i += kTogether) {
    const unsigned first = lines[i], second = lines[i + kTogether - 1];
    if (first + second == 0xffffffff) *sink = first;  // the addresses are there before the clock is read
    const char* const a = memory + std::size_t{first} * kLine;
    const char* const b = memory + std::size_t{second} * kLine;
    unsigned x, y = 0;
    const unsigned long long t0 = clock_now();
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(a) : "memory");
    if constexpr (kTogether == 2) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(y) : "l"(b) : "memory");
    if (x == 1) *sink = x;
    const unsigned long long t1 = clock_now();
    if (y == 1) *sink = y;
    const unsigned long long t2 = clock_now();
    out[i / kTogether] = {t0, {static_cast<unsigned>(t1 - t0), static_cast<unsigned>(t2 - t0)}};
  }
}

/// Reads a buffer larger than L2, so that nothing else is in it and nothing in it has to be written back.
__global__ void read_all(const uint4* memory, std::size_t count, unsigned* sink) {
  unsigned sum = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += memory[i].x;
  if (sum == 1) *sink = sum;
}

/// How far the times agree when they are taken modulo `period`: 1 where all are the same, near zero where they are even.
double agreement(const std::vector<double>& times, double period) {
  double x = 0, y = 0;
  for (const double t : times) {
    x += std::cos(2 * M_PI * t / period);
    y += std::sin(2 * M_PI * t / period);
  }
  return std::hypot(x, y) / static_cast<double>(std::max<std::size_t>(times.size(), 1));
}

int main() {
  Buffer<char> memory((kPages + 1) * kPage), flush(256 << 20);
  char* const base = memory.get() + (kPage - reinterpret_cast<std::uintptr_t>(memory.get()) % kPage) % kPage;
  memory.zero();
  flush.zero();
  SlicePairs slices(base);
  // Lines of two slices: that of line 0, and that of the first line that is not in it.
  std::vector<unsigned> of[2];
  unsigned fixed = 0;
  for (unsigned k = 0; k < 2; ++k) {
    if (k == 1)
      while (std::find(of[0].begin(), of[0].end(), fixed) != of[0].end()) ++fixed;
    for (unsigned page = 0; page < kPages; ++page) {
      std::vector<unsigned> all(kLines);
      std::iota(all.begin(), all.end(), page * kLines);
      const std::vector<unsigned> taken = slices.times(fixed, all);
      for (unsigned i = 0; i < kLines; ++i) {
        if (taken[i] > slices.limit()) of[k].push_back(all[i]);
      }
    }
  }
  Buffer<Timed> out(kPages * kLines);
  Buffer<unsigned> order(kPages * kLines), sink(1);
  std::mt19937 random(1);
  const auto ask = [&](unsigned together, const std::vector<unsigned>& lines) {
    read_all<<<1024, 256>>>(reinterpret_cast<const uint4*>(flush.get()), flush.size() / sizeof(uint4),
                            sink.get());
    CHECK(cudaMemcpy(order.get(), lines.data(), lines.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
    const unsigned count = static_cast<unsigned>(lines.size());
    if (together == 1)
      lone<1><<<1, 1>>>(base, order.get(), count, out.get(), sink.get());
    else
      lone<2><<<1, 1>>>(base, order.get(), count, out.get(), sink.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return out.download(lines.size() / together);
  };

  std::vector<double> histogram(100, 0);
  std::vector<double> usual, waits;
  double asked = 0, best = 0, period = 0;
  for (unsigned repeat = 0; repeat < 8; ++repeat) {
    std::vector<unsigned> lines = of[0];
    std::shuffle(lines.begin(), lines.end(), random);
    std::vector<Timed> timed = ask(1, lines);
    timed.erase(timed.begin(), timed.begin() + 16);
    std::vector<double> cycles, late;
    for (const Timed& t : timed) cycles.push_back(t.cycles[0]);
    const double median = summarize(cycles).median;
    usual.push_back(median);
    for (const Timed& t : timed) {
      ++asked;
      ++histogram[std::min<std::size_t>(t.cycles[0] / 20, histogram.size() - 1)];
      if (t.cycles[0] <= median + kWait) continue;
      waits.push_back(t.cycles[0] - median);
      late.push_back(
          static_cast<double>(t.began + t.cycles[0] - timed.front().began));  // a wait ends with the refresh
    }
    for (double p = 1000; p < 20000; p *= 1.0002) {
      if (agreement(late, p) > best) best = agreement(late, period = p);
    }
  }
  std::sort(waits.begin(), waits.end());
  const auto quantile = [&](double q) {
    return waits.empty() ? 0 : waits[static_cast<std::size_t>(q * static_cast<double>(waits.size() - 1))];
  };
  Answer("dram_refresh",
         "loads of a slice's lines, one after the other: cycles; loads by 20 cycles; those that waited")
      .add("lines", static_cast<double>(of[0].size()))
      .add("by_20_cycles", histogram)
      .add("waited_pct", 100 * static_cast<double>(waits.size()) / asked)
      .add("wait_p10_p50_p90_p99", {quantile(0.1), quantile(0.5), quantile(0.9), quantile(0.99)})
      .add("period", period)
      .add("agreement", best)
      .print(summarize(usual), "cycle");

  for (const bool apart : {false, true}) {
    double pairs = 0, first = 0, beyond = 0;
    std::vector<double> usually;
    for (unsigned repeat = 0; repeat < 8; ++repeat) {
      std::vector<unsigned> a = of[0], b = apart ? of[1] : of[0], lines;
      std::shuffle(a.begin(), a.end(), random);
      std::shuffle(b.begin(), b.end(), random);
      const std::size_t half = std::min(a.size(), b.size()) / 2;
      for (std::size_t i = 0; i < half; ++i) {
        lines.push_back(a[i]);
        lines.push_back(apart ? b[i] : a[half + i]);
      }
      std::vector<Timed> timed = ask(2, lines);
      timed.erase(timed.begin(), timed.begin() + 16);
      std::vector<double> of_first, more;
      for (const Timed& t : timed) {
        of_first.push_back(t.cycles[0]);
        more.push_back(t.cycles[1] - t.cycles[0]);
      }
      const double usual = summarize(of_first).median, usually_more = summarize(more).median;
      usually.push_back(usual);
      for (const Timed& t : timed) {
        ++pairs;
        first += t.cycles[0] > usual + kWait;
        beyond += t.cycles[1] > std::max<double>(t.cycles[0], usual) + usually_more + kWait;
      }
    }
    Answer("dram_refresh",
           "two loads at once: percent of pairs of which the first waited, and of which the second waited "
           "longer")
        .add("slices", apart ? 2 : 1)
        .add("first_pct", 100 * first / pairs)
        .add("second_longer_pct", 100 * beyond / pairs)
        .add("pairs", pairs)
        .print(summarize(usually), "cycle");
  }
  return 0;
}
