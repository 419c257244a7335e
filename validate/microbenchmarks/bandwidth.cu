// How many bytes a cycle come from L2 and from DRAM, and how many accesses must be on the way?
//
// Models:  coalesced loads of a set that fits in L2, by one SM, some, and all SMs; DRAM read, write
//          and copy of sets far above L2; and the same for 1 to 32 warps with 1 to 16 independent
//          loads a warp, whose knee (Little's law) tells the limit of outstanding misses; with the
//          32 lanes on one line (4 sectors) or each on a sector of its own.
// Ignores: L1 hits (load_store_unit.cu); loads use .cg, which L1 does not keep.
// Source:  bytes counted by the program over cycles of clock64 (one SM) or nanoseconds of events.
#include <cstring>

#include "bench.cuh"

using namespace bench;

/// Each warp reads its own places of the set: U loads of kWords words a lane are in flight at once.
template <int kWords, int U>
__global__ void __launch_bounds__(1024)
    read_l2(const char* base, unsigned mask, int lane_stride, int iterations, unsigned active_sms,
            unsigned start, Stamp* out, unsigned* sink) {
  if (sm_id() >= active_sms) {
    if (threadIdx.x == 0) out[blockIdx.x] = {0, 0, 0, 0, 0, 0};
    return;
  }
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned bytes_a_load = lane_stride * 32u;
  // Every round of every warp has places of its own, and the next launch starts where this ended.
  const unsigned warps = blockDim.x / 32;
  unsigned place = start + (sm_id() * warps + warp) * bytes_a_load * U;
  float sum = 0;
  unsigned long long t0 = 0, t1 = 0, n0 = 0, n1 = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    n0 = nanoseconds_now();
    t0 = clock_now();
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
      float r[U][4];
#pragma unroll
      for (int u = 0; u < U; ++u) {
        const char* p = base + ((place + u * bytes_a_load) & mask) + lane * lane_stride;
        if constexpr (kWords == 1) {
          asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(r[u][0]) : "l"(p));
        } else {
          asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
                       : "=f"(r[u][0]), "=f"(r[u][1]), "=f"(r[u][2]), "=f"(r[u][3])
                       : "l"(p));
        }
      }
      // Sums of floats keep their order; with 128 bits ptxas still has at most four in flight.
#pragma unroll
      for (int u = U - 1; u >= 0; --u) {
#pragma unroll
        for (int w = 0; w < kWords; ++w) sum += r[u][w];
      }
      place += active_sms * warps * bytes_a_load * U;
      if (sum == 1.25f) *sink = 1;  // waits for the loads of this iteration
    }
    __syncthreads();
    t1 = clock_now();
    n1 = nanoseconds_now();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, t1, n0, n1, sm_id(), blockIdx.x};
}

/// Each warp writes places of its own: whole lines, or one word of each sector.
template <int kWords>
__global__ void __launch_bounds__(1024) write_l2(char* base, unsigned mask, int lane_stride, int iterations,
                                                 unsigned active_sms, unsigned start, Stamp* out) {
  if (sm_id() >= active_sms) {
    if (threadIdx.x == 0) out[blockIdx.x] = {0, 0, 0, 0, 0, 0};
    return;
  }
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const unsigned bytes_a_store = lane_stride * 32u;
  unsigned place = start + (sm_id() * warps + warp) * bytes_a_store;
  __syncthreads();
  const unsigned long long n0 = nanoseconds_now(), t0 = clock_now();
#pragma unroll 4
  for (int it = 0; it < iterations; ++it) {
    char* p = base + (place & mask) + lane * lane_stride;
    if constexpr (kWords == 1) {
      asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(place) : "memory");
    } else {
      asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(p), "r"(place) : "memory");
    }
    place += active_sms * warps * bytes_a_store;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) { out[blockIdx.x] = {t0, clock_now(), n0, nanoseconds_now(), sm_id(), blockIdx.x}; }
}

struct Rate {
  double bytes_a_cycle;   // of one SM, mean
  double gigabytes;       // of all, a second
  double cycles_a_round;  // one iteration of one warp: the latency under this load
};

template <int kWords, int U>
Rate l2_rate(Buffer<char>& memory, unsigned set_bytes, int lane_stride, int warps, int active_sms,
             int iterations, Buffer<Stamp>& out, Buffer<unsigned>& sink) {
  const int sms = device().multiProcessorCount;
  const int whole = 160 * 1024;  // one block an SM
  static unsigned start = 0;
  start += static_cast<unsigned>(2 * iterations * active_sms * warps * 32 * lane_stride * U);
  CHECK(cudaFuncSetAttribute(read_l2<kWords, U>, cudaFuncAttributeMaxDynamicSharedMemorySize, whole));
  read_l2<kWords, U><<<sms, 32 * warps, whole>>>(memory.get(), set_bytes - 1, lane_stride, iterations,
                                                 static_cast<unsigned>(active_sms), start / 128 * 128,
                                                 out.get(), sink.get());
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const auto stamps = out.download(static_cast<std::size_t>(sms));
  const double useful = 32.0 * std::min(lane_stride, 32) * U * iterations * warps;
  Rate r{};
  double n = 0, cycles = 0;
  unsigned long long first = ~0ull, last = 0;
  for (const Stamp& s : stamps) {
    if (s.stop == 0) continue;
    n += 1;
    r.bytes_a_cycle += useful / static_cast<double>(s.stop - s.start);
    cycles += static_cast<double>(s.stop - s.start);
    first = std::min(first, s.start_ns);
    last = std::max(last, s.stop_ns);
  }
  r.bytes_a_cycle /= n;
  r.cycles_a_round = cycles / n / iterations;
  r.gigabytes = useful * n / static_cast<double>(last - first);
  return r;
}

template <int kWords, int U>
void one_point(Buffer<char>& memory, unsigned set_mib, int lane_stride, int warps, int active_sms,
               Buffer<Stamp>& out, Buffer<unsigned>& sink) {
  std::vector<double> rates, totals, rounds;
  const int iterations = 256;
  for (int r = 0; r < 4; ++r) {
    const Rate rate =
        l2_rate<kWords, U>(memory, set_mib << 20, lane_stride, warps, active_sms, iterations, out, sink);
    if (!r) continue;
    rates.push_back(rate.bytes_a_cycle);
    totals.push_back(rate.gigabytes);
    rounds.push_back(rate.cycles_a_round);
  }
  Answer("load_bandwidth",
         "bytes a cycle and SM of loads that miss L1, with this many loads of a warp in flight")
      .add("set_mib", set_mib)
      .add("sms", active_sms)
      .add("warps", warps)
      .add("loads_in_flight_a_warp", U)
      .add("bits", kWords * 32)
      .add("lane_stride_bytes", lane_stride)
      .add("cycles_a_round", summarize(rounds).median)
      .add("gigabytes_a_second", summarize(totals).median)
      .print(summarize(rates), "byte/cycle/SM");
}

template <int kWords>
void by_flight(Buffer<char>& memory, unsigned set_mib, int lane_stride, int active_sms, Buffer<Stamp>& out,
               Buffer<unsigned>& sink) {
  for (int warps : {1, 2, 4, 8, 16, 32}) {
    one_point<kWords, 1>(memory, set_mib, lane_stride, warps, active_sms, out, sink);
    one_point<kWords, 2>(memory, set_mib, lane_stride, warps, active_sms, out, sink);
    one_point<kWords, 4>(memory, set_mib, lane_stride, warps, active_sms, out, sink);
    one_point<kWords, 8>(memory, set_mib, lane_stride, warps, active_sms, out, sink);
    if (warps <= 16) { one_point<kWords, 16>(memory, set_mib, lane_stride, warps, active_sms, out, sink); }
  }
}

template <int kWords>
void store_point(Buffer<char>& memory, unsigned set_mib, int lane_stride, int warps, int active_sms,
                 Buffer<Stamp>& out) {
  const int sms = device().multiProcessorCount, whole = 160 * 1024, iterations = 1024;
  CHECK(cudaFuncSetAttribute(write_l2<kWords>, cudaFuncAttributeMaxDynamicSharedMemorySize, whole));
  std::vector<double> rates, totals;
  for (int r = 0; r < 4; ++r) {
    write_l2<kWords><<<sms, 32 * warps, whole>>>(memory.get(), (set_mib << 20) - 1, lane_stride, iterations,
                                                 static_cast<unsigned>(active_sms), 0, out.get());
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    double rate = 0, n = 0;
    unsigned long long first = ~0ull, last = 0;
    for (const Stamp& s : out.download(static_cast<std::size_t>(sms))) {
      if (s.stop == 0) continue;
      n += 1;
      rate += 1024.0 * warps / static_cast<double>(s.stop - s.start);
      first = std::min(first, s.start_ns);
      last = std::max(last, s.stop_ns);
    }
    if (!r) continue;
    rates.push_back(rate / n);
    totals.push_back(1024.0 * warps * n * 32 * kWords * 4 / static_cast<double>(last - first));
  }
  Answer("store_bandwidth", "store instructions a cycle and SM, a fence at the end included")
      .add("set_mib", set_mib)
      .add("sms", active_sms)
      .add("warps", warps)
      .add("bits", kWords * 32)
      .add("lane_stride_bytes", lane_stride)
      .add("stored_gigabytes_a_second", summarize(totals).median)
      .print(summarize(rates), "instruction/cycle/SM");
}

template <typename T>
__global__ void stream_read(const T* a, std::size_t n, T* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  float sum = 0;
#pragma unroll 4
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) {
    if constexpr (sizeof(T) == 16) {
      const T v = a[i];
      sum += v.x + v.y + v.z + v.w;
    } else {
      sum += a[i];
    }
  }
  if (sum == 1.25f) *reinterpret_cast<float*>(sink) = sum;
}
template <typename T>
__global__ void stream_write(T* a, std::size_t n, T value) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 4
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) {
    a[i] = value;
  }
}
template <typename T>
__global__ void stream_copy(const T* a, T* b, std::size_t n) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 4
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) {
    b[i] = a[i];
  }
}
template <typename T>
__global__ void copy_one_each(const T* a, T* b, std::size_t n) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n) b[i] = a[i];
}

template <typename T>
void streams(Buffer<char>& memory, const char* type) {
  const std::size_t bytes = 2ull << 30, n = bytes / sizeof(T);
  T* a = reinterpret_cast<T*>(memory.get());
  T* b = reinterpret_cast<T*>(memory.get() + bytes);
  T one;
  std::memset(&one, 0, sizeof one);
  const unsigned sms = static_cast<unsigned>(device().multiProcessorCount);
  const char* question = "bytes a nanosecond of a 2 GiB stream (copies count both ways)";
  auto report = [&](const char* kind, int blocks, double moved, Summary time) {
    Answer("dram_bandwidth", question)
        .add_text("kind", kind)
        .add_text("type", type)
        .add("blocks_an_sm", blocks)
        .print(moved / time.median, "GB/s", moved / time.low - moved / time.high);
  };
  for (unsigned blocks : {1u, 2u, 4u, 8u}) {
    const unsigned grid = sms * blocks;
    const double size = static_cast<double>(bytes);
    const int k = static_cast<int>(blocks);
    report("read", k, size, event_time([&] { stream_read<T><<<grid, 256>>>(a, n, b); }, 5));
    report("write", k, size, event_time([&] { stream_write<T><<<grid, 256>>>(a, n, one); }, 5));
    report("copy", k, 2 * size, event_time([&] { stream_copy<T><<<grid, 256>>>(a, b, n); }, 5));
  }
  for (unsigned threads : {128u, 256u, 512u, 1024u}) {
    const unsigned grid = static_cast<unsigned>(n / threads);
    const Summary t = event_time([&] { copy_one_each<T><<<grid, threads>>>(a, b, n); }, 5);
    Answer("dram_bandwidth", "bytes a nanosecond of a 2 GiB copy, one element a thread")
        .add_text("kind", "copy_one_each")
        .add_text("type", type)
        .add("threads_a_block", threads)
        .print(2.0 * static_cast<double>(bytes) / t.median, "GB/s",
               2.0 * static_cast<double>(bytes) * (1 / t.low - 1 / t.high));
  }
}

int main() {
  Buffer<char> memory(8ull << 30);
  memory.zero();
  Buffer<Stamp> out(256);
  Buffer<unsigned> sink(1);
  const int sms = device().multiProcessorCount;
  Answer("sm_clock", "SM clock while 128 blocks spin, clock64 over globaltimer")
      .print(sm_clock_ghz(), "GHz", 0);
  // One SM: the limit of what it can have on the way, and the width of its port.
  by_flight<1>(memory, 2, 4, 1, out, sink);
  by_flight<4>(memory, 2, 16, 1, out, sink);
  by_flight<1>(memory, 8, 32, 1, out, sink);
  // All SMs, from L2 and from DRAM.
  by_flight<1>(memory, 16, 4, sms, out, sink);
  by_flight<4>(memory, 16, 16, sms, out, sink);
  by_flight<1>(memory, 2048, 4, sms, out, sink);
  by_flight<4>(memory, 2048, 16, sms, out, sink);
  by_flight<4>(memory, 2048, 16, 1, out, sink);
  by_flight<1>(memory, 2048, 32, 1, out, sink);
  by_flight<1>(memory, 2048, 128, 1, out, sink);
  for (int active : {1, sms}) {
    for (unsigned mib : {2u, 16u, 1024u}) {
      for (int warps : {1, 4, 16, 32}) {
        store_point<1>(memory, mib, 4, warps, active, out);
        store_point<4>(memory, mib, 16, warps, active, out);
        store_point<1>(memory, mib, 16, warps, active, out);
        store_point<1>(memory, mib, 32, warps, active, out);
        store_point<1>(memory, mib, 128, warps, active, out);
      }
    }
  }
  // How the rate grows with the number of SMs, and falls with the size of the set.
  for (int active : {2, 4, 8, 16, 32, 64, 96}) {
    if (active < sms) one_point<4, 4>(memory, 16, 16, 16, active, out, sink);
  }
  for (unsigned mib : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 512u}) {
    one_point<4, 4>(memory, mib, 16, 16, sms, out, sink);
  }
  streams<float>(memory, "float");
  streams<float4>(memory, "float4");
  return 0;
}
