// When does a shared load or store take a pass of the data stage that its addresses do not ask for?
//
// Models:  one group of warps does nothing but shared accesses without conflicts, another moves data through L1
//          beside it: fresh lines of a swept footprint, hits, stores, asynchronous copies, by carve-out, place in
//          shared memory, width, and warps of either group (`mix`); and blocks that load, store to shared memory,
//          meet, read it and store, in one or more waves and with fresh or the same lines (`waves`).
// Ignores: time.
// Source:  l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{ld,st}.sum of Nsight Compute, which counts all passes
//          beyond one an instruction: line n describes launch n of the process. `floor` is what the width adds
//          a warp instruction.
#include "bench.cuh"

using namespace bench;

enum SharedOp { kLoad32, kLoad64, kLoad128, kStore32, kStore64, kStore128, kLoadLane, kStoreLane, kIdle };
enum Traffic { kNone, kFresh, kHit, kStoreFresh, kStoreHit, kCopy16, kFresh128, kFreshGlobal, kFreshSector };

struct Mix {
  int shared_warps, traffic_warps, first_traffic_warp;
  int op, traffic;
  unsigned offset;     // of the shared accesses, bytes
  unsigned lines;      // that the traffic of a block moves, 128 bytes each
  unsigned cycles;     // that the shared accesses go on for
  int gap;             // cycles between groups of eight shared accesses
};

__device__ __forceinline__ unsigned short_clock() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

template <typename Body>
__device__ __forceinline__ void keep_on(const Mix& mix, Body body) {
  const unsigned start = short_clock();
  unsigned last = start;
  while (last - start < mix.cycles) {
    body(), body(), body(), body(), body(), body(), body(), body();
    const unsigned ended = short_clock();
    do last = short_clock();
    while (last - ended < static_cast<unsigned>(mix.gap));
  }
}

__device__ void access_shared(const Mix& mix, unsigned lane, unsigned warp, unsigned* sink) {
  extern __shared__ unsigned words[];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words)) + mix.offset + warp * 512;
  unsigned a = lane, b = lane, c = lane, d = lane;
  switch (mix.op) {
    case kLoad32:
      keep_on(mix, [&] { asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(base + lane * 4) : "memory"); });
      break;
    case kLoad64:
      keep_on(mix, [&] { asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "r"(base + lane * 8) : "memory"); });
      break;
    case kLoad128:
      keep_on(mix, [&] {
        asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(base + lane * 16) : "memory");
      });
      break;
    case kStore32: keep_on(mix, [&] { asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(base + lane * 4), "r"(a) : "memory"); }); break;
    case kStore64:
      keep_on(mix, [&] { asm volatile("st.volatile.shared.v2.u32 [%0], {%1,%2};" ::"r"(base + lane * 8), "r"(a), "r"(b) : "memory"); });
      break;
    case kStore128:
      keep_on(mix, [&] {
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(base + lane * 16), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
      });
      break;
    case kLoadLane:
      if (lane == 0) keep_on(mix, [&] { asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(base) : "memory"); });
      break;
    case kStoreLane:
      if (lane == 0) keep_on(mix, [&] { asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(base), "r"(a) : "memory"); });
      break;
    default: break;
  }
  if ((a ^ b ^ c ^ d) == 0x12345) *sink = a;
}

/// Eight lines at a time, `lines` of them by the block's warps together.
template <int kTraffic>
__device__ void move_lines(const Mix& mix, unsigned lane, unsigned warp, char* from, unsigned* sink) {
  extern __shared__ unsigned words[];
  const unsigned warps = static_cast<unsigned>(mix.traffic_warps);
  char* own = from + static_cast<std::size_t>(blockIdx.x) * mix.lines * 128;
  const unsigned copy_to = static_cast<unsigned>(__cvta_generic_to_shared(words)) + warp * 512 + lane * 16;
  const bool wide = kTraffic == kCopy16 || kTraffic == kFresh128;
  const unsigned lines_an_access = wide ? 4 : 1;
  unsigned sum = 0;
  for (unsigned first = warp * 8 * lines_an_access; first + 8 * lines_an_access <= mix.lines; first += warps * 8 * lines_an_access) {
    unsigned v[8], w[8], x[8], y[8];
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      const bool again = kTraffic == kHit || kTraffic == kStoreHit;
      const unsigned line = again ? (first + i) % 64 : first + i * lines_an_access;
      char* p = own + static_cast<std::size_t>(line) * 128 + lane * (wide ? 16 : 4);
      switch (kTraffic) {
        case kFresh: case kHit: asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[i]) : "l"(p) : "memory"); break;
        case kFreshGlobal: asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[i]) : "l"(p) : "memory"); break;
        case kFreshSector:
          v[i] = 0;
          if (lane < 8) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[i]) : "l"(p) : "memory");
          break;
        case kFresh128:
          asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[i]), "=r"(w[i]), "=r"(x[i]), "=r"(y[i]) : "l"(p) : "memory");
          v[i] ^= w[i] ^ x[i] ^ y[i];
          break;
        case kStoreFresh: case kStoreHit: asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(lane) : "memory"); v[i] = 0; break;
        case kCopy16: asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(copy_to), "l"(p) : "memory"); v[i] = 0; break;
        default: v[i] = 0;
      }
    }
    if (kTraffic == kCopy16) asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 8; ++i) sum ^= v[i];
    if (sum == 0x12345) *sink = sum;  // waits for the eight
  }
}

template <int kTraffic>
__global__ void mix_kernel(Mix mix, char* from, unsigned* sink) {
  const unsigned lane = threadIdx.x % 32;
  const int warp = static_cast<int>(threadIdx.x / 32);
  if (warp < mix.shared_warps) {
    access_shared(mix, lane, static_cast<unsigned>(warp), sink);
  } else if (warp >= mix.first_traffic_warp && warp < mix.first_traffic_warp + mix.traffic_warps && kTraffic != kNone) {
    move_lines<kTraffic>(mix, lane, static_cast<unsigned>(warp - mix.first_traffic_warp), from, sink);
  }
}

/// Blocks that load four lines a warp (kind 1: their own; 2: the same for all), store to shared memory, meet, read another
/// warp's words and store (kind 1: to lines of their own; 2: to the same).
__global__ void waves_kernel(int load, int store, int reads, const unsigned* from, unsigned* to) {
  extern __shared__ unsigned words[];
  unsigned v[4] = {1, 2, 3, 4};
  const std::size_t own = static_cast<std::size_t>(blockIdx.x) * 4 * blockDim.x;
  if (load != 0) {
    const unsigned* p = from + (load == 1 ? own : 0) + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[i]) : "l"(p + i * blockDim.x) : "memory");
  }
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words));
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + (i * blockDim.x + threadIdx.x) * 4), "r"(v[i]) : "memory");
  }
  __syncthreads();
  unsigned sum = 0;
  for (int i = 0; i < reads; ++i) {
    unsigned w;
    const unsigned at = (static_cast<unsigned>(i) % 4 * blockDim.x + (threadIdx.x + 32 * static_cast<unsigned>(i)) % blockDim.x) * 4;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w) : "r"(base + at) : "memory");
    sum += w;
  }
  if (store != 0 || sum == 0x12345) {
    unsigned* p = to + (store == 1 ? own : 0) + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) asm volatile("st.global.u32 [%0], %1;" ::"l"(p + i * blockDim.x), "r"(sum) : "memory");
  }
}

int g_launch = 0;
constexpr unsigned kBlocks = 16;  // one an SM

template <int kTraffic>
void launch_mix(const Mix& mix, unsigned threads, unsigned shared_kib, int carve_out_kib, char* from, unsigned* sink) {
  auto kernel = mix_kernel<kTraffic>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, (carve_out_kib * 100 + 227) / 228));
  kernel<<<kBlocks, threads, shared_kib * 1024>>>(mix, from, sink);
  CHECK(cudaGetLastError());
}

void run_mix(const char* question, Mix mix, unsigned shared_kib, int carve_out_kib, char* from, unsigned* sink) {
  const int warps = std::max(mix.shared_warps, mix.first_traffic_warp + mix.traffic_warps);
  if (mix.cycles == 0) mix.cycles = mix.lines * 128u / static_cast<unsigned>(mix.traffic_warps) + 4000;  // longer than the traffic
  Answer("shared_contention", question)
      .add("launch", g_launch++)
      .add_text("kernel", "mix")
      .add("shared_warps", mix.shared_warps).add("traffic_warps", mix.traffic_warps).add("first_traffic_warp", mix.first_traffic_warp)
      .add("op", mix.op).add("traffic", mix.traffic).add("offset", mix.offset).add("kib", mix.lines / 8.0)
      .add("gap", mix.gap).add("shared_kib", shared_kib).add("carve_out_kib", carve_out_kib)
      .print(kBlocks, "block", 0);
  constexpr decltype(&launch_mix<kNone>) kLaunch[] = {launch_mix<kNone>,      launch_mix<kFresh>,       launch_mix<kHit>,
                                                      launch_mix<kStoreFresh>, launch_mix<kStoreHit>,    launch_mix<kCopy16>,
                                                      launch_mix<kFresh128>,  launch_mix<kFreshGlobal>, launch_mix<kFreshSector>};
  kLaunch[mix.traffic](mix, static_cast<unsigned>(warps) * 32, shared_kib, carve_out_kib, from, sink);
}

int main() {
  Buffer<char> from(std::size_t{256} << 20), to(std::size_t{64} << 20);
  Buffer<unsigned> sink(1);
  from.zero();
  CHECK(cudaFuncSetAttribute(waves_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  const Mix plain{4, 4, 4, kLoad32, kFresh, 0, 0, 0, 32};
  for (int op : {kLoad32, kStore32}) {
    for (int carve_out : {8, 32, 64, 100, 132, 196}) {
      for (unsigned kib : {16u, 32u, 64u, 96u, 128u, 160u, 192u, 224u, 256u, 512u}) {
        Mix mix = plain;
        mix.op = op, mix.lines = kib * 8;
        run_mix("fresh lines by footprint and carve-out", mix, 4, carve_out, from.get(), sink.get());
      }
    }
  }
  for (int op : {kLoad32, kStore32}) {
    for (int traffic : {kNone, kHit, kStoreFresh, kStoreHit, kCopy16, kFresh128, kFreshGlobal, kFreshSector}) {
      for (unsigned kib : {64u, 512u}) {
        Mix mix = plain;
        mix.op = op, mix.traffic = traffic, mix.lines = kib * 8;
        run_mix("other traffic", mix, 4, 64, from.get(), sink.get());
      }
    }
    for (unsigned offset = 0; offset <= 96; offset += 8) {
      Mix mix = plain;
      mix.op = op, mix.lines = 512 * 8, mix.offset = offset * 1024;
      run_mix("place in shared memory", mix, 99, 100, from.get(), sink.get());
    }
    for (int shared_warps : {1, 2, 8}) {
      Mix mix = plain;
      mix.op = op, mix.lines = 512 * 8, mix.shared_warps = shared_warps, mix.first_traffic_warp = 8;
      run_mix("warps that access shared memory", mix, 4, 64, from.get(), sink.get());
    }
    for (int traffic_warps : {1, 2, 8, 16}) {
      Mix mix = plain;
      mix.op = op, mix.lines = 512 * 8, mix.traffic_warps = traffic_warps;
      run_mix("warps that load", mix, 4, 64, from.get(), sink.get());
    }
    for (int first : {4, 5, 6, 7}) {
      Mix mix = plain;
      mix.op = op, mix.lines = 512 * 8, mix.shared_warps = 1, mix.traffic_warps = 1, mix.first_traffic_warp = first;
      run_mix("sub-cores of one and one", mix, 4, 64, from.get(), sink.get());
    }
    for (int gap : {0, 100, 400}) {
      Mix mix = plain;
      mix.op = op, mix.lines = 512 * 8, mix.gap = gap;
      run_mix("rate of the shared accesses", mix, 4, 64, from.get(), sink.get());
    }
  }
  for (int op : {kLoad64, kLoad128, kStore64, kStore128, kLoadLane, kStoreLane, kIdle}) {
    Mix mix = plain;
    mix.op = op, mix.lines = 512 * 8;
    run_mix("width", mix, 4, 64, from.get(), sink.get());
  }
  for (int resident : {8, 2}) {
    CHECK(cudaFuncSetAttribute(waves_kernel, cudaFuncAttributePreferredSharedMemoryCarveout, resident == 8 ? 30 : 100));
    for (int wave : {1, 2, 4}) {
      for (int load : {0, 1, 2}) {
        for (int store : {0, 1, 2}) {
          if (resident == 2 && wave == 2) continue;
          const unsigned grid = 132u * static_cast<unsigned>(resident * wave);
          Answer("shared_contention", "blocks that load, store to shared memory, meet, read and store")
              .add("launch", g_launch++).add_text("kernel", "waves")
              .add("resident", resident).add("waves", wave).add("load", load).add("store", store)
              .print(grid, "block", 0);
          waves_kernel<<<grid, 256, resident == 8 ? 4096u : 100u * 1024>>>(
              load, store, 16, reinterpret_cast<const unsigned*>(from.get()), reinterpret_cast<unsigned*>(to.get()));
          CHECK(cudaGetLastError());
        }
      }
    }
  }
  CHECK(cudaDeviceSynchronize());
  return 0;
}
