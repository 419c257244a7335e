// Do requests of different SMs for the same sectors merge before they reach L2, which SMs share the place where
// they do, and how long does it wait?
//
// Models:  `request_merging pairs`: SM 0 and each other SM read the same lines at the same time; `delays`: one of
//          the two comes later by a swept time; `groups`: the first n SMs at once; `shapes`: other sectors of the
//          same lines, many lines outstanding, lines that come from DRAM, atomics, .cg and .nc loads.
// Ignores: what the merging saves in time.
// Source:  lts__t_sectors_srcunit_tex_op_read.sum of Nsight Compute: line n describes launch n of the process. A
//          reader alone gives the sectors of one SM; two that never merge give twice as many.
//
// Readers meet once, with atomics (no op_read sectors), and then keep step by their own clocks: reads of round i
// start at t0 + i * period. A constant offset between SMs remains; the sweep of delays shows it.
#include <cstring>

#include "bench.cuh"

using namespace bench;

enum Form { kPlain = 0, kCacheGlobal = 1, kNonCoherent = 2 };

/// Block b of the first on each SM takes part when `reader[smid]` is 1 or 2; readers of kind 2 start `delay` cycles
/// later (earlier if negative) and read `width` sectors from `second` on of each line instead of sector `first` alone.
__global__ void read_in_step(const unsigned char* reader, unsigned readers, int rounds, int period, int delay, int first,
                             int second, int width, int lines, int form, bool warm, const char* base, unsigned* meet, unsigned* taken,
                             unsigned* sink) {
  const unsigned sm = sm_id();
  const unsigned kind = reader[sm];
  if (kind == 0 || threadIdx.x >= 32) return;
  __shared__ unsigned go;
  if (threadIdx.x == 0) go = atomicAdd(taken + sm, 1u) == 0;
  __syncwarp();
  if (!go) return;
  const int lane = static_cast<int>(threadIdx.x);
  unsigned sum = 0;
  if (warm && kind == 1) {
    for (int i = lane; i < rounds * lines; i += 32) {
      unsigned v;
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(base + static_cast<std::size_t>(i) * 128 + first * 32));
      sum ^= v;
    }
  }
  if (sum == 0x12345) *sink = sum;
  __syncwarp();
  if (lane == 0) {
    atomicAdd(meet, 1u);
    while (atomicAdd(meet, 0u) < readers) {
    }
  }
  __syncwarp();
  const long long start = static_cast<long long>(clock_now()) + 20000 + (kind == 2 ? delay : 0);
  const int sector = kind == 2 ? second : first;
  const int sectors = kind == 2 ? width : 1;
  for (int round = 0; round < rounds; ++round) {
    const long long due = start + static_cast<long long>(round) * period;
    while (static_cast<long long>(clock_now()) < due) {
    }
    for (int i = lane; i < lines * sectors; i += 32) {
      const char* p = base + (static_cast<std::size_t>(round) * lines + i / sectors) * 128 + (sector + i % sectors) * 32;
      unsigned v;
      if (form == kPlain) {
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
      } else if (form == kCacheGlobal) {
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
      } else {
        asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
      }
      sum ^= v;
    }
    if (sum == 0x12345) *sink = sum;
  }
}

struct Setting {
  std::vector<unsigned char> reader;
  int delay = 0, first = 0, second = 0, width = 1, lines = 32, form = kPlain;
  bool warm = true;
};

class Runner {
 public:
  Runner() : base_(std::size_t{64} << 20), reader_(512), meet_(1), taken_(512), sink_(1) {
    int device = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaFuncSetAttribute(read_in_step, cudaFuncAttributeMaxDynamicSharedMemorySize, 150 * 1024));
    base_.zero();
  }
  int sms() const { return sms_; }
  void run(const char* question, const Setting& s) {
    std::vector<unsigned char> reader(512, 0);
    std::copy(s.reader.begin(), s.reader.end(), reader.begin());
    const auto readers = static_cast<unsigned>(std::count_if(reader.begin(), reader.end(), [](int k) { return k != 0; }));
    reader_.upload(reader);
    meet_.zero();
    taken_.zero();
    const int rounds = 4096 / s.lines * 2;  // 8192 lines a reader
    std::vector<double> who;
    for (int i = 0; i < 512; ++i) {
      if (reader[static_cast<std::size_t>(i)] != 0 && who.size() < 8) who.push_back(i);
    }
    Answer("request_merging", question)
        .add("launch", launch_++)
        .add("readers", readers)
        .add("sms", who)
        .add("delay_cycles", s.delay)
        .add("sector_of_first", s.first)
        .add("sector_of_second", s.second)
        .add("sectors_of_second", s.width)
        .add("lines_at_once", s.lines)
        .add("form", s.form)
        .add("in_l2", s.warm)
        .print(8192.0 * (1 + (readers - 1) * s.width + (s.warm ? 1 : 0)), "sector if nothing merged", 0);
    read_in_step<<<static_cast<unsigned>(sms_), 32, 150 * 1024>>>(reader_.get(), readers, rounds, 6000, s.delay, s.first,
                                                                   s.second, s.width, s.lines, s.form, s.warm, base_.get(),
                                                                   meet_.get(), taken_.get(), sink_.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  Setting pair(int other) const {
    Setting s;
    s.reader.assign(512, 0);
    s.reader[0] = 1;
    if (other > 0) s.reader[static_cast<std::size_t>(other)] = 2;
    return s;
  }

 private:
  Buffer<char> base_;
  Buffer<unsigned char> reader_;
  Buffer<unsigned> meet_, taken_, sink_;
  int sms_ = 0;
  int launch_ = 0;
};

int main() {
  Runner runner;
  runner.run("one SM alone", runner.pair(0));
  for (int other = 1; other < runner.sms(); ++other) {
    Setting s = runner.pair(other);
    s.warm = false;
    runner.run("which SMs share a merger with SM 0", s);
  }
  for (int other : {1, 16, 32}) {
    for (int delay = -120; delay <= 120; delay += 6) {
      Setting s = runner.pair(other);
      s.delay = delay;
      runner.run("how long it waits, in L2", s);
    }
    for (int delay = -1500; delay <= 1500; delay += 150) {
      Setting s = runner.pair(other);
      s.delay = delay;
      s.warm = false;
      runner.run("how long it waits, from DRAM", s);
    }
  }
  for (int n : {1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, runner.sms()}) {
    for (bool warm : {true, false}) {
      Setting s;
      s.reader.assign(512, 0);
      for (int i = 0; i < n; ++i) s.reader[static_cast<std::size_t>(i)] = i == 0 ? 1 : 2;
      s.warm = warm;
      runner.run("the first n SMs", s);
    }
  }
  for (int other : {1, 16}) {
    for (int width : {1, 2, 4}) {
      for (int second : {0, 1, 2}) {
        if (second + width > 4) continue;
        for (int delay : {-200, 200}) {
          Setting s = runner.pair(other);
          s.second = second;
          s.width = width;
          s.delay = delay;
          s.warm = false;
          runner.run("other sectors of the same lines", s);
        }
      }
    }
    for (int lines : {1, 4, 64, 128, 256, 512, 1024}) {
      Setting s = runner.pair(other);
      s.lines = lines;
      s.warm = false;
      runner.run("many lines at once", s);
    }
    for (int form : {kCacheGlobal, kNonCoherent}) {
      Setting s = runner.pair(other);
      s.form = form;
      s.warm = false;
      runner.run("other loads", s);
    }
  }
  return 0;
}
