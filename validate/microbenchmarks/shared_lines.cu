// What does it cost that SMs beside both partitions of L2 load and store the same lines?
//
// Models:  each thread loads random words and then stores to them (or adds to them, or exchanges them), one after the other, of so many lines
//          that are at home in the SM's own partition, the other one, or both; SMs beside either partition load, store, both, or neither.
// Ignores: DRAM: L2 holds all lines. L1: loads go past it.
// Source:  the SMs' clocks: a block an SM, from its first access to its last one's end, the mean of the SMs that work.
#include "sm_sides.cuh"

using namespace bench;

enum Where : int { kNone, kNear, kFar, kBoth };
enum Change : int { kStore, kReduce, kExchange };
const char* const kWhere[] = {"none", "near", "far", "both"};
const char* const kChange[] = {"store", "reduction", "exchange"};

/// What SMs beside a partition do: which lines they load, of which of two tables, and which they change; where all are the same, the same words.
struct Role {
  int load, change;
  int load_table = 0, change_table = 0;
};
constexpr unsigned kTablePages = 2;

__device__ __forceinline__ unsigned long long* word(char* base, const unsigned char* flip, unsigned table, unsigned random, unsigned lines, unsigned mine,
                                                    int where) {
  const unsigned side = where == kBoth ? random >> 31 : mine ^ (where == kFar);
  return reinterpret_cast<unsigned long long*>(line(base + std::size_t{table} * kTablePages * kPage, flip + table * kTablePages, random % lines, side)) + (random >> 20 & 15);
}

/// Every other pair of SMs beside the first partition only loads, lines that nobody changes, near or far.
struct Bystander {
  int load;
};

/// `every`: each so manieth round changes its word.
template <int kChange>
__global__ void __launch_bounds__(1024) share(char* base, const unsigned char* flip, const unsigned char* sm_side, unsigned lines, Role first, Role second,
                                              Bystander bystander, int rounds, int every, Stamp* out, unsigned long long* sink) {
  const unsigned mine = sm_side[sm_id()];
  const bool stands_by = bystander.load != kNone && mine == 0 && sm_id() / 2 % 2 != 0;
  const Role role = stands_by ? Role{bystander.load, kNone} : mine == 0 ? first : second;
  if (stands_by) base += 2 * kTablePages * kPage, flip += 2 * kTablePages;
  if (threadIdx.x == 0) out[blockIdx.x] = {};
  if (role.load == kNone && role.change == kNone) return;
  unsigned x = scrambled(blockIdx.x * blockDim.x + threadIdx.x + 1);
  unsigned long long sum = 0;
  __syncthreads();
  const unsigned long long t0 = clock_now();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    x = scrambled(x + round);
    unsigned long long v = x, w = 0;
    if (role.load != kNone) asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(word(base, flip, role.load_table, x, lines, mine, role.load)) : "memory");
    if (role.change != kNone && (round + threadIdx.x / 32) % every == 0) {
      unsigned long long* const p = word(base, flip, role.change_table, x, lines, mine, role.change);
      if (kChange == kStore) asm volatile("st.global.u64 [%0], %1;" ::"l"(p), "l"(v ^ x) : "memory");
      if (kChange == kReduce) asm volatile("red.global.xor.b64 [%0], %1;" ::"l"(p), "l"(v ^ x) : "memory");
      if (kChange == kExchange) asm volatile("atom.global.exch.b64 %0, [%1], %2;" : "=l"(w) : "l"(p), "l"(v ^ x) : "memory");
    }
    sum += v ^ w;
  }
  if (sum == 0x12345) *sink = sum;
  __threadfence();
  __syncthreads();
  const unsigned long long t1 = clock_now();
  if (threadIdx.x == 0) out[blockIdx.x] = {t0, t1, 0, 0, sm_id(), blockIdx.x};
}

enum Order : int { kLoadOnly, kStoreLoad, kLoadStoreLoad, kStoreLoads, kLoadsStores };
const char* const kOrders[] = {"load", "store, load", "load, store, load", "four times store, load", "four times load, store; load"};

/// One lane's accesses one behind the other, none waited for: cycles from the first to the last answer. Stores go to line `a`, loads to line
/// `b`, 8 bytes `off` from its begin; of those that follow four times, to the next lines.
template <int kOrder>
__global__ void hazard(char* base, const unsigned char* flip, unsigned side, unsigned a, unsigned b, unsigned off, unsigned* out) {
  unsigned least = ~0u, sum = 0;
  for (unsigned i = 0; i < 32; ++i) {
    char *pa[4], *pb[4];
    for (unsigned k = 0; k < 4; ++k) pa[k] = line(base, flip, a + 8 * i + k, side), pb[k] = line(base, flip, b + 8 * i + k, side) + off;
    unsigned v[5] = {};
    __threadfence();
    const unsigned t0 = clock();
#pragma unroll
    for (int k = 0; k < (kOrder == kStoreLoads || kOrder == kLoadsStores ? 4 : 1); ++k) {
      if (kOrder == kLoadStoreLoad || kOrder == kLoadsStores) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k]) : "l"(pb[k]) : "memory");
      if (kOrder != kLoadOnly) asm volatile("st.global.u32 [%0], %1;" ::"l"(pa[k]), "r"(i) : "memory");
      if (kOrder == kStoreLoads) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[k]) : "l"(pb[k]) : "memory");
    }
    if (kOrder == kLoadOnly || kOrder == kStoreLoad || kOrder == kLoadStoreLoad || kOrder == kLoadsStores)
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v[4]) : "l"(pb[0]) : "memory");
    const unsigned got = v[0] + v[1] + v[2] + v[3] + v[4];
    if (got == 0x7fffffff) out[1] = got;  // none is; the clock is read after the answers
    const unsigned took = static_cast<unsigned>(clock()) - t0;
    least = min(least, took);
    if (i >= 16) sum += took;
  }
  out[0] = sum / 16;
  out[2] = least;
}

/// One lane's store to a line, and `kSteps` dependent products later a load of line `b`, or the load first and then the store with a load
/// of its line right behind: cycles from the first of them to the answer. `zero`: is 0.
template <int kSteps, bool kLoads>
__global__ void behind(char* base, const unsigned char* flip, unsigned side, unsigned b, unsigned zero, unsigned* out) {
  unsigned sum = 0, least = ~0u;
  for (unsigned i = 0; i < 32; ++i) {
    char *const pa = line(base, flip, 8 * i, side), *const pb = line(base, flip, b + 8 * i, side);
    unsigned v = 0, w = 0;
    __threadfence();
    const unsigned t0 = clock();
    unsigned chain = t0 * zero;
    if (kLoads)
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(w) : "l"(pb) : "memory");
    else
      asm volatile("st.global.u32 [%0], %1;" ::"l"(pa), "r"(i) : "memory");
#pragma unroll
    for (int k = 0; k < kSteps; ++k) asm volatile("mad.lo.u32 %0, %0, %0, %1;" : "+r"(chain) : "r"(zero));
    if (kLoads) asm volatile("st.global.u32 [%0], %1;" ::"l"(pa + chain), "r"(i) : "memory");
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"((kLoads ? pa : pb) + chain) : "memory");
    if (v + w == 0x7fffffff) out[1] = v;  // none is; the clock is read after the answers
    const unsigned took = static_cast<unsigned>(clock()) - t0;
    least = min(least, took);
    if (i >= 16) sum += took;
  }
  out[0] = sum / 16;
  out[2] = least;
}

template <int kSteps>
void ask_behind(char* base, const unsigned char* flip, unsigned* out_at, const Buffer<unsigned>& out) {
  const auto ask = [&](auto kernel, bool loads, unsigned side, unsigned b) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      kernel<<<1, 1>>>(base, flip, side, b, 0, out_at);
      CHECK(cudaDeviceSynchronize());
    }
    const std::vector<unsigned> took = out.download();
    Answer("shared_lines", "a lone lane's load so many products behind a store, or a store and a load so many behind a load: cycles to the last answer")
        .add("loads", loads).add("far", side).add("lines_apart", b).add("steps", kSteps).add("least", took[2]).print(took[0], "cycle", 0);
  };
  for (const unsigned side : {0u, 1u})
    for (const unsigned b : {0u, 512u}) {
      ask(behind<kSteps, false>, false, side, b);
      ask(behind<kSteps, true>, true, side, b);
    }
}

void ask_hazards(char* base, const unsigned char* flip) {
  Buffer<unsigned> out(3);
  ask_behind<0>(base, flip, out.get(), out);
  ask_behind<1>(base, flip, out.get(), out);
  ask_behind<2>(base, flip, out.get(), out);
  ask_behind<3>(base, flip, out.get(), out);
  ask_behind<4>(base, flip, out.get(), out);
  ask_behind<5>(base, flip, out.get(), out);
  ask_behind<6>(base, flip, out.get(), out);
  ask_behind<8>(base, flip, out.get(), out);
  ask_behind<10>(base, flip, out.get(), out);
  ask_behind<14>(base, flip, out.get(), out);
  ask_behind<20>(base, flip, out.get(), out);
  const auto ask = [&](auto kernel, Order order, unsigned side, unsigned b, unsigned off) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      kernel<<<1, 1>>>(base, flip, side, 0, b, off, out.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
    }
    const std::vector<unsigned> took = out.download();
    Answer("shared_lines", "a lone lane's stores and loads: cycles from the first to the last answer")
        .add_text("order", kOrders[order]).add("far", side).add("lines_apart", b).add("bytes_apart", off).add("least", took[2]).print(took[0], "cycle", 0);
  };
  for (const unsigned side : {0u, 1u})
    for (const unsigned b : {0u, 512u})
      for (const unsigned off : {0u, 8u, 64u}) {
        ask(hazard<kLoadOnly>, kLoadOnly, side, b, off);
        ask(hazard<kStoreLoad>, kStoreLoad, side, b, off);
        ask(hazard<kLoadStoreLoad>, kLoadStoreLoad, side, b, off);
        ask(hazard<kStoreLoads>, kStoreLoads, side, b, off);
        ask(hazard<kLoadsStores>, kLoadsStores, side, b, off);
      }
}

int main() {
  const unsigned sms = static_cast<unsigned>(device().multiProcessorCount);
  constexpr unsigned kPages = 8;
  Buffer<char> memory(std::size_t{kPages + 1} * kPage);
  Buffer<unsigned long long> sink(1);
  Buffer<Stamp> out(sms);
  memory.zero();
  char* const base = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(memory.get()) + kPage - 1) / kPage * kPage);
  const Sides found = find_sides(base, kPages);
  Buffer<unsigned char> flips(kPages), sides(256);
  flips.upload(found.flip);
  sides.upload(found.side);
  const auto ask = [&](auto kernel, Change change, unsigned lines, Role first, Role second, int threads = 256, int every = 1,
                       Bystander bystander = {kNone}) {
    const int rounds = threads == 1024 ? 16 : 32;
    std::vector<double> cycles[3];
    for (int repeat = 0; repeat < 5; ++repeat) {
      kernel<<<sms, threads>>>(base, flips.get(), sides.get(), lines, first, second, bystander, rounds, every, out.get(), sink.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      double sum[3] = {}, count[3] = {};
      for (const Stamp& stamp : out.download(sms)) {
        if (stamp.stop == 0) continue;
        const int side = found.side[stamp.sm] != 0 ? 1 : bystander.load != kNone && stamp.sm / 2 % 2 != 0 ? 2 : 0;
        sum[side] += static_cast<double>(stamp.stop - stamp.start), ++count[side];
      }
      if (repeat == 0) continue;
      for (const int side : {0, 1, 2}) cycles[side].push_back(count[side] == 0 ? 0 : sum[side] / count[side] / rounds);
    }
    for (auto& c : cycles) std::sort(c.begin(), c.end());
    Answer("shared_lines", "words that SMs of both partitions load and change: cycles a round, of the SMs beside the first and the second partition")
        .add_text("change", kChange[change]).add("lines", lines).add("threads", threads).add("every", every)
        .add_text("loads", kWhere[first.load]).add_text("changes", kWhere[first.change])
        .add("table", first.load_table).add("changes_table", first.change_table).add("table_second", second.load_table)
        .add("changes_table_second", second.change_table).add_text("loads_second", kWhere[second.load]).add_text("changes_second", kWhere[second.change]).add("second", cycles[1][2])
        .add_text("bystanders", kWhere[bystander.load]).add("by", cycles[2][2])
        .print(cycles[0][2], "cycle", cycles[0][3] - cycles[0][0]);
  };
  const Role both{kBoth, kBoth}, idle{kNone, kNone};
  // By how many lines there are, of each partition.
  for (const unsigned lines : {256u, 1024u, 2048u, 4096u, 8192u, 32768u}) {
    ask(share<kStore>, kStore, lines, both, both);
    ask(share<kStore>, kStore, lines, {kBoth, kNone}, {kBoth, kNone});
    ask(share<kStore>, kStore, lines, {kNone, kBoth}, {kNone, kBoth});
  }
  for (const unsigned lines : {1024u, 4096u}) {
    for (const int threads : {32, 64, 128, 512, 1024}) ask(share<kStore>, kStore, lines, both, both, threads);
    for (const int every : {2, 4, 8, 16}) ask(share<kStore>, kStore, lines, both, both, 256, every);
    // By who does what, where.
    for (const int where : {kNear, kFar, kBoth}) {
      ask(share<kStore>, kStore, lines, {where, where}, idle);
      ask(share<kStore>, kStore, lines, {where, kNone}, idle);
      ask(share<kStore>, kStore, lines, {kNone, where}, idle);
      ask(share<kStore>, kStore, lines, {where, where}, {where, where});
      ask(share<kReduce>, kReduce, lines, {where, where}, {where, where});
      ask(share<kExchange>, kExchange, lines, {where, where}, {where, where});
    }
    for (const int from : {kNear, kFar})
      for (const int to : {kNear, kFar}) {
        ask(share<kStore>, kStore, lines, {from, kNone}, {kNone, to});
        ask(share<kStore>, kStore, lines, {kNone, from}, {kNone, to});
        ask(share<kStore>, kStore, lines, {from, to}, {from, to});
      }
    ask(share<kStore>, kStore, lines, {kFar, kNone}, {kFar, kFar});
    ask(share<kStore>, kStore, lines, {kFar, kNone}, {kNear, kNear});
    ask(share<kStore>, kStore, lines, {kFar, kFar}, {kNear, kNear});
    ask(share<kStore>, kStore, lines, {kFar, kFar}, {kNear, kNone});
    ask(share<kStore>, kStore, lines, {kFar, kFar}, {kNone, kNear});
    ask(share<kReduce>, kReduce, lines, {kNone, kBoth}, {kNone, kBoth});
    ask(share<kReduce>, kReduce, lines, {kBoth, kNone}, {kNone, kBoth});
  }
  // One of two tables each, or none, that the first ones' far loads and stores are of, and the second ones' near ones.
  for (int some = 0; some < 81; ++some) {
    const int loads = some % 3, stores = some / 3 % 3, second_loads = some / 9 % 3, second_stores = some / 27;
    ask(share<kStore>, kStore, 1024, {loads != 0 ? kFar : kNone, stores != 0 ? kFar : kNone, std::max(loads - 1, 0), std::max(stores - 1, 0)},
        {second_loads != 0 ? kNear : kNone, second_stores != 0 ? kNear : kNone, std::max(second_loads - 1, 0), std::max(second_stores - 1, 0)});
  }
  for (const unsigned lines : {64u, 256u, 1024u, 4096u, 16384u})
    for (const int by : {kNear, kFar}) {
      ask(share<kStore>, kStore, lines, {kNear, kNear}, idle, 256, 1, {by});
      ask(share<kStore>, kStore, lines, {kFar, kFar}, idle, 256, 1, {by});
      ask(share<kStore>, kStore, lines, {kNone, kNear}, idle, 256, 1, {by});
      ask(share<kReduce>, kReduce, lines, {kNear, kNear}, idle, 256, 1, {by});
    }
  for (const unsigned lines : {64u, 256u, 512u, 2048u, 8192u, 16384u}) {
    ask(share<kStore>, kStore, lines, {kNear, kNear}, idle);
    ask(share<kStore>, kStore, lines, {kNone, kNear}, idle);
    ask(share<kReduce>, kReduce, lines, {kNear, kNear}, idle);
    ask(share<kExchange>, kExchange, lines, {kNear, kNear}, idle);
  }
  for (const int threads : {32, 64, 128, 512}) ask(share<kStore>, kStore, 1024, {kNear, kNear}, idle, threads);
  for (const int every : {2, 4, 8, 16}) ask(share<kStore>, kStore, 1024, {kNear, kNear}, idle, 256, every);
  ask_hazards(base, flips.get());
  return 0;
}
