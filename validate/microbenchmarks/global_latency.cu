// How long does one load take, from each level, and where do the levels end?
//
// Models:  one thread that chases pointers (each load's address is the value of the one before):
//          L1 hit, L2 hit, DRAM; the curve over working sets of one SM; TLB reach; and, line by
//          line for every SM, the L2 hit latency that tells the near partition from the far one.
// Ignores: bandwidth (bandwidth.cu) and contention.
// Source:  the slope method of bench.cuh; the cache operators .ca and .cg of the PTX ISA manual.
#include <map>

#include "bench.cuh"

using namespace bench;

template <bool kThroughL1>
__device__ __forceinline__ unsigned long long load_next(unsigned long long address) {
  unsigned long long next;
  if constexpr (kThroughL1) {
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(address) : "memory");
  } else {
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(address) : "memory");
  }
  return next;
}

/// Writes the pointer of each place of a cyclic order: place order[i] points to order[i + 1].
__global__ void link(char* base, const unsigned long long* offsets, unsigned long long count) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const unsigned long long next = i + 1 == count ? 0 : i + 1;
    *reinterpret_cast<unsigned long long*>(base + offsets[i]) =
        reinterpret_cast<unsigned long long>(base + offsets[next]);
  }
}

/// Reads each line of the set once from the SM that will chase (one block runs).
__global__ void touch(const char* base, const unsigned long long* offsets, unsigned long long count,
                      unsigned long long* sink) {
  unsigned long long sum = 0;
  for (unsigned long long i = threadIdx.x; i < count; i += blockDim.x) {
    unsigned long long v;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(base + offsets[i]) : "memory");
    sum += v;
  }
  if (sum == 1) *sink = sum;
}

/// Chases `loads` pointers from `start`, after `warm` untimed ones; out[0] is the interval.
template <bool kThroughL1>
__global__ void chase(unsigned long long start, int warm, int loads, Stamp* out, unsigned long long* sink) {
  unsigned long long p = start;
  for (int i = 0; i < warm; ++i) p = load_next<kThroughL1>(p);
  // A use of p that the clock read waits for: loads of the warm-up must have come back.
  if (p == 1) *sink = p;
  const unsigned long long t0 = clock_now();
#pragma unroll 16
  for (int i = 0; i < loads; ++i) p = load_next<kThroughL1>(p);
  if (p == 1) *sink = p;
  const unsigned long long t1 = clock_now();
  out[0] = {t0, t1, 0, 0, sm_id(), 0};
}

std::vector<unsigned long long> cycle_of(unsigned long long count, unsigned long long stride,
                                         unsigned long long jitter_lines) {
  std::vector<unsigned long long> offsets(count);
  for (unsigned long long i = 0; i < count; ++i) {
    offsets[i] = i * stride + (jitter_lines ? (i * 7919 % jitter_lines) * 128 : 0);
  }
  std::mt19937_64 random(count * 31 + stride);
  std::shuffle(offsets.begin() + 1, offsets.end(), random);
  return offsets;
}

/// Cycles a load over a random cyclic order of `count` places.
template <bool kThroughL1>
Summary chase_cycles(Buffer<char>& memory, const std::vector<unsigned long long>& offsets, int warm,
                     int loads, bool touch_first) {
  Buffer<unsigned long long> device_offsets(offsets.size());
  device_offsets.upload(offsets);
  Buffer<Stamp> out(1);
  Buffer<unsigned long long> sink(1);
  link<<<256, 256>>>(memory.get(), device_offsets.get(), offsets.size());
  CHECK(cudaDeviceSynchronize());
  std::vector<double> values;
  const auto start = reinterpret_cast<unsigned long long>(memory.get() + offsets[0]);
  for (int r = 0; r < 4; ++r) {
    if (touch_first) { touch<<<1, 1024>>>(memory.get(), device_offsets.get(), offsets.size(), sink.get()); }
    chase<kThroughL1><<<1, 1>>>(start, warm, loads, out.get(), sink.get());
    CHECK(cudaDeviceSynchronize());
    const Stamp s = out.download()[0];
    if (r) values.push_back(static_cast<double>(s.stop - s.start) / loads);
  }
  return summarize(values);
}

void levels(Buffer<char>& memory) {
  for (bool through_l1 : {true, false}) {
    const auto offsets = cycle_of(32, 128, 0);
    const Summary s = through_l1 ? chase_cycles<true>(memory, offsets, 64, 4096, false)
                                 : chase_cycles<false>(memory, offsets, 64, 4096, false);
    Answer("global_latency", "cycles a dependent 64-bit load, one thread, 4 KB set")
        .add_text("level", through_l1 ? "l1_hit" : "l2_hit")
        .print(s, "cycle");
  }
}

void working_set(Buffer<char>& memory) {
  std::vector<double> kib;
  for (double k = 8; k < 320; k += 8) kib.push_back(k);
  for (double k : {320.,   512.,   1024.,  2048.,  4096.,  8192.,   12288.,  16384., 20480., 22528.,
                   24576., 26624., 28672., 30720., 32768., 36864.,  40960.,  45056., 49152., 53248.,
                   57344., 61440., 65536., 81920., 98304., 131072., 196608., 262144.}) {
    kib.push_back(k);
  }
  for (double k : kib) {
    const auto lines = static_cast<unsigned long long>(k * 1024 / 128);
    const auto offsets = cycle_of(lines, 128, 0);
    const bool small = k <= 320;
    const int loads = small ? 8192 : 16384;
    const Summary ca =
        chase_cycles<true>(memory, offsets, small ? static_cast<int>(lines) : 0, loads, !small);
    Answer("working_set", "cycles a dependent load over a random cycle of 128-byte lines, one SM")
        .add("kib", k)
        .add("loads", loads)
        .print(ca, "cycle");
  }
}

void tlb(Buffer<char>& memory) {
  const unsigned long long page = 2ull << 20;
  for (unsigned long long pages = 4; pages * page <= memory.size(); pages = pages * 3 / 2) {
    const auto offsets = cycle_of(pages, page, page / 128);
    const int loads = static_cast<int>(std::max<unsigned long long>(2048, pages));
    const Summary s = chase_cycles<false>(memory, offsets, static_cast<int>(pages), loads, false);
    Answer("tlb", "cycles a dependent load that misses L1, one line in each 2 MiB page, lines in L2")
        .add("pages", static_cast<double>(pages))
        .add("reach_mib", static_cast<double>(pages) * 2)
        .print(s, "cycle");
  }
}

void dram(Buffer<char>& memory) {
  // Lines never touched since 512 MB of other data went through L2: each load is a DRAM access.
  // The offsets stay inside 128 MiB, so that the TLB holds them (tlb).
  for (unsigned long long span_mib : {64ull, 128ull, 512ull, 4096ull}) {
    Buffer<Stamp> out(1);
    Buffer<unsigned long long> sink(1);
    const unsigned long long count = 4096;
    const auto offsets = cycle_of(count, (span_mib << 20) / count, 0);
    Buffer<unsigned long long> device_offsets(count);
    device_offsets.upload(offsets);
    std::vector<double> values;
    for (int r = 0; r < 4; ++r) {
      link<<<256, 256>>>(memory.get(), device_offsets.get(), count);
      CHECK(cudaMemset(memory.get() + (memory.size() / 2), r, 512ull << 20));
      chase<false><<<1, 1>>>(reinterpret_cast<unsigned long long>(memory.get() + offsets[0]), 0,
                             static_cast<int>(count), out.get(), sink.get());
      CHECK(cudaDeviceSynchronize());
      const Stamp s = out.download()[0];
      if (r) values.push_back(static_cast<double>(s.stop - s.start) / static_cast<double>(count));
    }
    Answer("global_latency", "cycles a dependent load whose line is in neither cache, one thread")
        .add_text("level", "dram")
        .add("span_mib", static_cast<double>(span_mib))
        .print(summarize(values), "cycle");
  }
}

/// On the block that runs on `target`, times single loads of `count` lines, one after the other,
/// twice over; every other block leaves at once.
__global__ void time_lines(const char* base, unsigned long long stride, int count, unsigned target,
                           unsigned* first, unsigned* second, unsigned long long* sink) {
  extern __shared__ char whole_sm[];
  if (sm_id() != target || threadIdx.x != 0) return;
  (void)whole_sm;
  unsigned long long sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < count; ++i) {
      const auto address = reinterpret_cast<unsigned long long>(base + i * stride) + (sum & 1);
      const unsigned long long t0 = clock_now();
      const unsigned long long v = load_next<false>(address);
      sum += v >> 63;  // pointers and zeros have the top bit clear
      if (sum == 77) *sink = sum;
      const unsigned long long t1 = clock_now();
      (pass ? second : first)[i] = static_cast<unsigned>(t1 - t0);
    }
  }
}

void near_far(Buffer<char>& memory) {
  const cudaDeviceProp p = device();
  const int sms = p.multiProcessorCount, lines = 512;
  const unsigned long long stride = 4096 + 128;
  const int whole = static_cast<int>(p.sharedMemPerBlockOptin);
  CHECK(cudaFuncSetAttribute(time_lines, cudaFuncAttributeMaxDynamicSharedMemorySize, whole));
  Buffer<unsigned> first(lines), second(lines);
  Buffer<unsigned long long> sink(1);
  CHECK(cudaMemset(memory.get(), 0, stride * lines));
  std::map<unsigned, int> histogram_first, histogram_second;
  std::vector<std::vector<unsigned>> rows;
  std::vector<double> means;
  for (int sm = 0; sm < sms; ++sm) {
    CHECK(cudaMemset(memory.get() + (memory.size() / 2), sm, 256ull << 20));  // flush L2
    const unsigned opener = sm == 0 ? 1u : 0u;
    time_lines<<<sms, 32, whole>>>(memory.get(), stride, lines, opener, first.get(), second.get(),
                                   sink.get());
    first.zero();
    second.zero();
    time_lines<<<sms, 32, whole>>>(memory.get(), stride, lines, static_cast<unsigned>(sm), first.get(),
                                   second.get(), sink.get());
    CHECK(cudaDeviceSynchronize());
    const auto a = first.download(), b = second.download();
    for (unsigned v : a) ++histogram_first[v / 8 * 8];
    for (unsigned v : b) ++histogram_second[v / 8 * 8];
    rows.push_back(b);
    double sum = 0;
    for (unsigned v : b) sum += v;
    means.push_back(sum / lines);
  }
  for (int touch : {1, 2}) {
    std::vector<double> bins, counts;
    for (auto [bin, n] : touch == 1 ? histogram_first : histogram_second) {
      bins.push_back(bin);
      counts.push_back(n);
    }
    Answer("l2_latency_histogram",
           "cycles of a single L2-hit load (clock reads included), over all SMs and 512 lines; "
           "touch 1 is the SM's first load of a line that another SM brought, 2 its second")
        .add("touch", touch)
        .add("bin_cycles", bins)
        .add("loads", counts)
        .print(static_cast<double>(counts.size()), "bin", 0);
  }
  Answer("l2_latency_by_sm", "mean cycles of a single L2-hit load (second touch) by SM id")
      .add("mean_cycles", means)
      .print(summarize(means), "cycle");
  for (int sm : {0, 1, 2, 4, 16, 64, 100}) {
    if (sm >= sms) continue;
    std::vector<double> row(rows[sm].begin(), rows[sm].begin() + 128);
    Answer("l2_latency_by_line", "cycles of a single L2-hit load (second touch), line by line")
        .add("sm", sm)
        .add("stride_bytes", static_cast<double>(stride))
        .add("cycles", row)
        .print(summarize(row), "cycle");
  }
}

/// Fills `count` slots of `bytes` bytes each with their own address (its low word for 4 bytes).
__global__ void point_to_self(char* base, int bytes, int count) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= count) return;
  const auto self = reinterpret_cast<unsigned long long>(base + i * bytes);
  *reinterpret_cast<unsigned*>(base + i * bytes) = static_cast<unsigned>(self);
  if (bytes > 4) *reinterpret_cast<unsigned long long*>(base + i * bytes) = self;
}

/// Chases self-pointers in L1 by a whole warp with 32-, 64- and 128-bit loads. A 32-bit load brings
/// the low half of the next address.
template <int kWords>
__global__ void l1_width(const char* base, int loads, Stamp* out, unsigned long long* sink) {
  unsigned long long p = reinterpret_cast<unsigned long long>(base) + threadIdx.x * kWords * 4;
  unsigned long long t0 = 0, t1 = 0, other = 0;
  for (int pass = 0; pass < 2; ++pass) {
    t0 = clock_now();
#pragma unroll 64
    for (int i = 0; i < loads; ++i) {
      if constexpr (kWords == 1) {
        asm volatile(
            "{.reg .u32 l, h; mov.b64 {l, h}, %0; ld.global.u32 l, [%0]; "
            "mov.b64 %0, {l, h};}"
            : "+l"(p)::"memory");
      } else if constexpr (kWords == 2) {
        asm volatile("ld.global.u64 %0, [%0];" : "+l"(p)::"memory");
      } else {
        unsigned long long q;
        asm volatile("ld.global.v2.u64 {%0, %1}, [%0];" : "+l"(p), "=l"(q)::"memory");
        other ^= q;
      }
    }
    if (p == 1) *sink = 1;
    t1 = clock_now();
  }
  if (other == 1) *sink = 2;
  if (threadIdx.x == 0) out[0] = {t0, t1, 0, 0, sm_id(), 0};
}

void widths(Buffer<char>& memory) {
  Buffer<Stamp> out(1);
  Buffer<unsigned long long> sink(1);
  for (int words : {1, 2, 4}) {
    point_to_self<<<1, 32>>>(memory.get(), words * 4, 32);
    std::vector<double> values;
    for (int r = 0; r < 5; ++r) {
      double t[2];
      for (int i : {0, 1}) {
        const int loads = i ? 2048 : 1024;
        if (words == 1) l1_width<1><<<1, 32>>>(memory.get(), loads, out.get(), sink.get());
        if (words == 2) l1_width<2><<<1, 32>>>(memory.get(), loads, out.get(), sink.get());
        if (words == 4) l1_width<4><<<1, 32>>>(memory.get(), loads, out.get(), sink.get());
        CHECK(cudaDeviceSynchronize());
        t[i] = span(out.download());
      }
      values.push_back((t[1] - t[0]) / 1024);
    }
    Answer("l1_latency_by_width", "cycles of a dependent L1-hit load by a whole warp, consecutive lanes")
        .add("bits", words * 32)
        .print(summarize(values), "cycle");
  }
}

int main() {
  std::size_t free_bytes = 0, total = 0;
  CHECK(cudaMemGetInfo(&free_bytes, &total));
  const std::size_t want = std::min<std::size_t>(free_bytes / 10 * 8, 60ull << 30);
  Buffer<char> memory(want / (4 << 20) * (4 << 20));
  levels(memory);
  widths(memory);
  dram(memory);
  near_far(memory);
  tlb(memory);
  working_set(memory);
  return 0;
}
