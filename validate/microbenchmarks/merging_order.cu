// What keeps requests of several SMs for the same sectors from merging before L2: their order, requests for other
// sectors of the line between them, stores, how many are under way?
//
// Models:  SMs of one GPC read given sectors in a given order, round after round, each round other ones. One of them is
//          late by a time that is swept over the rounds, so that the part that merges gives the width of the window in
//          which they do; between the two, other SMs ask for other sectors of the line or for other lines, store or add;
//          several SMs, of one GPC and of two, pick sectors at random, up to so many cycles apart. Data come from DRAM or
//          are in L2. `two sectors by one`: which loads of one warp leave its SM as one request.
// Ignores: what the merging saves in time.
// Source:  lts__t_sectors_srcunit_tex_op_read.sum of Nsight Compute: line n describes launch n of the process. About 130
//          sectors a launch are read to find out who takes part; what is in L2 was read by the first before (`span` bytes
//          a round).
//
// Readers meet once, with atomics, and then keep step by the device's timer: each round begins some cycles of the SM's clock
// after the timer has passed a time that all know, which is the same for all to some 15 cycles.
// SMs 0, 1, 16, 17, 32, 33, 48, 49 share a GPC wherever eight GPCs have four TPCs or more (request_merging); which GPCs are
// beside which partition differs from die to die, and the answers tell.
#include <cstring>

#include "bench.cuh"

using namespace bench;

constexpr int kPrograms = 8, kEntries = 128, kStraight = 32;
constexpr unsigned long long kPeriod = 5120;  // ns a round
constexpr unsigned short kNothing = 0xffff;
enum Action { kLoad = 0, kStore = 1, kAdd = 2 };
constexpr unsigned kCrowd = 7;  // this program: each thread a line of its SM's own

/// Sectors that the readers of each kind ask for in a round, in order.
struct Programs {
  unsigned short sector[kPrograms][kEntries];
  int delay[kPrograms];   // cycles
  int sweep[kPrograms];   // cycles more each round
  int jitter[kPrograms];  // cycles, up to which each round adds some
  int action[kPrograms];  // what it does to its first sector instead: kLoad, kStore, kAdd
};

/// One block an SM; role 0 does nothing, role r follows program r - 1. `gather` 0: one thread, a load a sector; 1: one thread a sector.
__global__ void __launch_bounds__(256) follow(const __grid_constant__ Programs programs, const unsigned char* role, unsigned readers,
                                              int rounds, unsigned span, int gather, int warm, const char* base, unsigned* meet,
                                              unsigned* taken, unsigned long long* hour, unsigned* sink) {
  extern __shared__ char whole_sm[];  // one block an SM
  const unsigned sm = sm_id();
  const int kind = role[sm] - 1;
  if (kind < 0) return;
  __shared__ unsigned go;
  __shared__ unsigned long long begin;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) go = atomicAdd(taken + sm, 1u) == 0 && whole_sm != nullptr;
  __syncthreads();
  if (!go) return;
  unsigned sum = 0;
  if (warm && kind == 0) {
    for (unsigned at = static_cast<unsigned>(thread) * 32; at < span * static_cast<unsigned>(rounds); at += blockDim.x * 32) {
      unsigned v;
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(base + at));
      sum ^= v;
    }
  }
  if (sum == 0x12345) *sink = sum;
  __syncthreads();
  if (thread == 0) {
    atomicAdd(meet, 1u);
    while (atomicAdd(meet, 0u) < readers) {
    }
  }
  if (thread == 0) {
    // The first to find the hour unset sets it.
    atomicCAS(hour, 0ull, nanoseconds_now() + 20000);
    begin = atomicAdd(hour, 0ull);
  }
  __syncthreads();
  const unsigned long long start = begin;
  const int sweep = programs.sweep[kind], delay = 1500 + programs.delay[kind];
  const unsigned jitter = static_cast<unsigned>(programs.jitter[kind]);
  const auto wait_for = [&](int round) {
    int late = delay + round * sweep;
    if (jitter != 0) {
      unsigned h = (static_cast<unsigned>(round) * 8 + static_cast<unsigned>(kind)) * 0x9E3779B1u;
      h ^= h >> 15, h *= 0x85EBCA6Bu, h ^= h >> 13;
      late += static_cast<int>(h % jitter);
    }
    while (nanoseconds_now() < start + static_cast<unsigned long long>(round) * kPeriod) {
    }
    const long long due = static_cast<long long>(clock_now()) + late;
    while (static_cast<long long>(clock_now()) < due) {
    }
  };
  if (kind == kCrowd || gather) {
    const unsigned sector = kind == kCrowd ? 0 : thread < kEntries ? programs.sector[kind][thread] : kNothing;
    for (int round = 0; round < rounds; ++round) {
      const char* at = base + static_cast<std::size_t>(round) * span + sector * 32;
      if (kind == kCrowd) at = base + (std::size_t{64} << 20) + ((static_cast<std::size_t>(sm) * static_cast<unsigned>(rounds) + static_cast<unsigned>(round)) * 256 + threadIdx.x) * 128;
      wait_for(round);
      if (sector != kNothing) {
        unsigned v;
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
        sum ^= v;
      }
      if (sum == 0x12345) *sink = sum;
    }
    return;
  }
  if (thread != 0) return;
  if (programs.action[kind] != kLoad) {
    for (int round = 0; round < rounds; ++round) {
      unsigned* const at = reinterpret_cast<unsigned*>(const_cast<char*>(base) + static_cast<std::size_t>(round) * span + programs.sector[kind][0] * 32);
      wait_for(round);
      if (programs.action[kind] == kStore) *at = 0;
      else atomicAdd(at, 0u);
    }
    return;
  }
  unsigned offset[kStraight];
#pragma unroll
  for (int i = 0; i < kStraight; ++i) offset[i] = programs.sector[kind][i] == kNothing ? 1 : programs.sector[kind][i] * 32u;
  for (int round = 0; round < rounds; ++round) {
    const char* at = base + static_cast<std::size_t>(round) * span;
    wait_for(round);
    unsigned v[kStraight];
#pragma unroll
    for (int i = 0; i < kStraight; ++i) {
      asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 1;\n\tmov.u32 %0, 0;\n\t@p ld.global.u32 %0, [%1];\n\t}"
                   : "=r"(v[i]) : "l"(at + offset[i]), "r"(offset[i]) : "memory");
    }
#pragma unroll
    for (int i = 0; i < kStraight; ++i) sum ^= v[i];
    if (sum == 0x12345) *sink = sum;
  }
}

using List = std::vector<int>;
/// What each reader does, and how.
struct Setting {
  std::vector<int> sms;
  std::vector<int> program;  // of each SM
  std::vector<List> lists;   // of each program; a negative entry: nothing
  List delay = List(kPrograms, 0), sweep = List(kPrograms, 0), jitter = List(kPrograms, 0), action = List(kPrograms, 0);
  int rounds = 256;
  bool gather = false, warm = false;
};

class Runner {
 public:
  Runner() : base_(std::size_t{512} << 20), role_(512), meet_(1), taken_(512), sink_(1), hour_(1) {
    int device = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaFuncSetAttribute(follow, cudaFuncAttributeMaxDynamicSharedMemorySize, 150 * 1024));
    base_.zero();
  }
  void run(const char* question, const Setting& s, double parameter = 0) {
    std::vector<unsigned char> role(512, 0);
    Programs programs;
    std::memset(&programs, 0xff, sizeof programs);
    int last = 0, asked = 0;
    for (std::size_t i = 0; i < s.sms.size(); ++i) {
      role[static_cast<std::size_t>(s.sms[i])] = static_cast<unsigned char>(1 + s.program[i]);
      if (s.program[i] == kCrowd) asked += 256;
      else for (int sector : s.lists[static_cast<std::size_t>(s.program[i])]) asked += sector >= 0;
    }
    for (std::size_t p = 0; p < kPrograms; ++p) {
      programs.delay[p] = s.delay[p], programs.sweep[p] = s.sweep[p], programs.jitter[p] = s.jitter[p], programs.action[p] = s.action[p];
      if (p >= s.lists.size()) continue;
      for (std::size_t i = 0; i < s.lists[p].size(); ++i) {
        if (s.lists[p][i] < 0) continue;
        programs.sector[p][i] = static_cast<unsigned short>(s.lists[p][i]);
        last = std::max(last, s.lists[p][i]);
      }
    }
    unsigned span = 4096;
    while (span < static_cast<unsigned>(last + 1) * 32) span *= 2;
    role_.upload(role);
    meet_.zero();
    taken_.zero();
    hour_.zero();
    Answer answer("merging_order", question);
    answer.add("launch", launch_++).add("parameter", parameter).add("gather", s.gather).add("in_l2", s.warm).add("rounds", s.rounds);
    answer.add("sms", std::vector<double>(s.sms.begin(), s.sms.end())).add("programs", std::vector<double>(s.program.begin(), s.program.end()));
    const auto used = [&](const List& list) { return std::vector<double>(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(s.lists.size())); };
    answer.add("delays", used(s.delay)).add("sweeps", used(s.sweep)).add("jitters", used(s.jitter)).add("actions", used(s.action));
    const char* const names[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"};
    for (std::size_t p = 0; p < s.lists.size(); ++p) {
      if (s.lists[p].size() <= 32) answer.add(names[p], std::vector<double>(s.lists[p].begin(), s.lists[p].end()));
    }
    answer.add("span", span);
    answer.print(static_cast<double>(asked) * s.rounds, "sector asked for", 0);
    follow<<<static_cast<unsigned>(sms_), 256, 150 * 1024>>>(programs, role_.get(), static_cast<unsigned>(s.sms.size()), s.rounds, span,
                                                            s.gather, s.warm, base_.get(), meet_.get(), taken_.get(), hour_.get(), sink_.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }

 private:
  Buffer<char> base_;
  Buffer<unsigned char> role_;
  Buffer<unsigned> meet_, taken_, sink_;
  Buffer<unsigned long long> hour_;
  int sms_ = 0;
  int launch_ = 0;
};

/// A sector of each of n lines.
List lines(int n, int sector = 0) {
  List list;
  for (int i = 0; i < n; ++i) list.push_back(i * 4 + sector);
  return list;
}
List reversed(List list) {
  std::reverse(list.begin(), list.end());
  return list;
}
List rotated(List list, int by) {
  std::rotate(list.begin(), list.begin() + by, list.end());
  return list;
}
List shuffled(List list, unsigned seed) {
  std::mt19937 random(seed);
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
  return list;
}
List joined(List a, const List& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// Two, of which the second comes at any time in the `range` cycles around the first.
Setting pair(int other, List first, List second, bool gather, bool warm) {
  const int range = warm ? 512 : 2048;
  Setting s;
  s.sms = {0, other};
  s.program = {0, 1};
  s.lists = {std::move(first), std::move(second)};
  s.delay[1] = -range / 2;
  s.sweep[1] = range / s.rounds;
  s.gather = gather;
  s.warm = warm;
  return s;
}
/// And a third, with the first but for `late` cycles.
Setting with_third(Setting s, int sm, List list, int late) {
  s.sms.push_back(sm);
  s.program.push_back(2);
  s.lists.push_back(std::move(list));
  s.delay[2] = late;
  return s;
}

/// Seven lists of 32 sectors at random for eight SMs: the last two ask for the same. Each round each of them starts up to `jitter`
/// cycles later: h(8 round + program) % jitter, as in the kernel.
Setting at_random(const std::vector<int>& sms, int table, int sectors, int jitter, bool warm) {
  Setting s;
  s.sms = sms;
  s.program = {0, 1, 2, 3, 4, 5, 6, 6};
  std::mt19937 random(static_cast<unsigned>(table + sectors));
  for (std::size_t p = 0; p < 7; ++p) {
    List list;
    for (int i = 0; i < 32; ++i) {
      const int line = static_cast<int>(random() % static_cast<unsigned>(table));
      list.push_back(line * 4 + static_cast<int>(random() % static_cast<unsigned>(sectors)));
    }
    s.lists.push_back(list);
    s.jitter[p] = jitter;
  }
  s.gather = true;
  s.warm = warm;
  return s;
}

int main() {
  Runner runner;
  const std::vector<int> group{0, 1, 16, 17, 32, 33, 48, 49};
  for (bool warm : {false, true}) {
    for (int other : {1, 32}) {
      for (int n : {1, 8, 32, 128}) {
        runner.run("the same order", pair(other, lines(n), lines(n), true, warm), n);
        if (n == 1) continue;
        runner.run("the other way round", pair(other, lines(n), reversed(lines(n)), true, warm), n);
        runner.run("shuffled", pair(other, lines(n), shuffled(lines(n), 1), true, warm), n);
        if (n > 32) runner.run("rotated by half", pair(other, lines(n), rotated(lines(n), n / 2), true, warm), n);
      }
    }
    for (int late : warm ? List{-96, -80, -64, -48, -32, 0, 32, 48, 64, 80, 96} : List{-600, -500, -400, -200, 0, 200, 400, 500, 600}) {
      Setting s = pair(32, {0}, {0}, false, warm);
      s.sweep[1] = 0, s.delay[1] = late;
      runner.run("so much later", s, late);
    }
    // Something else of the line in between: by the first itself, with lines of its own between, or by a third.
    for (int gap : {1, 2, 4, 16}) {
      List list{0};
      for (int i = 1; i < gap; ++i) list.push_back(4 * i);
      list.push_back(2);
      runner.run("the first asks for another sector after it", pair(32, list, {0}, false, warm), gap);
    }
    for (int late : warm ? List{-120, -60, -40, -20, 0, 20, 40, 60, 120} : List{-900, -700, -500, -400, -300, -200, -100, 0, 100, 200, 300, 400, 500, 700, 900}) {
      runner.run("a third asks for another sector", with_third(pair(32, {0}, {0}, false, warm), 16, {2}, late), late);
      runner.run("a third asks for the same and more", with_third(pair(32, {0}, {0}, true, warm), 16, {0, 2}, late), late);
      runner.run("a third asks for one of two", with_third(pair(32, {0, 2}, {0, 2}, true, warm), 16, {0}, late), late);
      runner.run("a third asks for another line", with_third(pair(32, {0}, {0}, false, warm), 16, {4}, late), late);
    }
    for (int late : warm ? List{-25, 25} : List{-200, 200}) {
      for (int third : {16, 8, 2, 4}) {
        runner.run("a third, anywhere, asks for another sector", with_third(pair(32, {0}, {0}, false, warm), third, {2}, late), late);
        runner.run("a third, anywhere, asks for the same", with_third(pair(32, {0}, {0}, false, warm), third, {0}, late), late);
        for (int action : {kStore, kAdd}) {
          Setting s = with_third(pair(32, {0}, {0}, false, warm), third, {2}, late);
          s.action[2] = action;
          runner.run(action == kStore ? "a third, anywhere, stores another sector" : "a third, anywhere, adds to another sector", s, late);
        }
        Setting s = pair(32, {0}, {0}, false, warm);
        s.sms = {0, 32, third, third + 32};
        s.program = {0, 1, 2, 3};
        s.lists = {{0}, {0}, {2}, {2}};
        s.delay[2] = s.delay[3] = late;
        runner.run("two pairs, of two sectors", s, late);
      }
    }
    for (int crowd : {1, 5}) {
      Setting s = pair(32, lines(32), lines(32), true, warm);
      const std::vector<int> others{16, 17, 33, 48, 49};
      for (int i = 0; i < crowd; ++i) s.sms.push_back(others[static_cast<std::size_t>(i)]), s.program.push_back(kCrowd);
      runner.run("a crowd", s, crowd);
    }
    for (int table : {8, 32, 128, 512}) {
      for (int sectors : {1, 4}) {
        const char* const question = sectors == 1 ? "at random, one sector of each line" : "at random";
        runner.run(question, at_random(group, table, sectors, warm ? 400 : 600, warm), table);
        if (table == 512) continue;
        for (int other : {2, 4, 8}) {
          runner.run(question, at_random({0, 1, 16, 17, other, other + 1, other + 16, other + 17}, table, sectors, warm ? 200 : 600, warm), table);
        }
      }
    }
    for (int readers : {2, 3, 4, 5, 6, 8}) {
      Setting s = pair(1, lines(8), lines(8), false, warm);
      s.sms.assign(group.begin(), group.begin() + readers);
      s.program.clear();
      for (int i = 0; i < readers; ++i) s.program.push_back(std::min(i, 6));
      s.lists.assign(static_cast<std::size_t>(std::min(readers, 7)), lines(8));
      s.delay[1] = s.sweep[1] = 0;
      for (std::size_t p = 0; p < 7; ++p) s.jitter[p] = warm ? 200 : 0;
      runner.run("more readers", s, readers);
    }
  }
  for (int between : {0, 1, 2, 4}) {
    List list{0};
    for (int i = 1; i <= between; ++i) list.push_back(4 * i);
    list.push_back(1);
    runner.run("two sectors by one", pair(32, list, {400}, false, false), between);
  }
  runner.run("four sectors by one", pair(32, {0, 1, 2, 3}, {400}, false, false), 4);
  runner.run("two sectors of eight lines by one", pair(32, {0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29}, {400}, false, false), 8);
  return 0;
}
