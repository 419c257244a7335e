// Threads that work together: shuffles, votes, atomics, barriers, divergence, calls, address spaces, copies, matrices.
// Each kernel reads `in` and writes one word of `out` a thread, or as its comment says; cooperation_test.cpp knows the answers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <mma.h>

using u32 = unsigned;
#define ALL 0xffffffffu
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

__global__ void shuffle_sum(const u32* in, u32* out) {
  u32 v = in[INDEX];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(ALL, v, d);
  out[INDEX] = __shfl_sync(ALL, v, 0) + __shfl_xor_sync(ALL, in[INDEX], 5);
}

__global__ void shuffle_scan(const u32* in, u32* out) {
  u32 v = in[INDEX];
  for (int d = 1; d < 8; d *= 2) {
    const u32 other = __shfl_up_sync(ALL, v, d, 8);
    if ((threadIdx.x & 7) >= d) v += other;
  }
  out[INDEX] = v;
}

__global__ void votes(const u32* in, u32* out) {
  const u32 v = in[INDEX];
  u32 r = __ballot_sync(ALL, v & 1);
  if (v & 2) {
    r ^= __activemask();
    if (__any_sync(__activemask(), v & 4)) r += 3;
  } else {
    r += __popc(__activemask());
  }
  out[INDEX] = r + (__all_sync(ALL, v > 5) ? 7 : 0);
}

__global__ void matches(const u32* in, u32* out) {
  const u32 v = in[INDEX] & 3;
  int all;
  const u32 same = __match_any_sync(ALL, v);
  const u32 whole = __match_all_sync(ALL, blockIdx.x, &all);
  out[INDEX] = same ^ (whole + all);
}

__global__ void warp_reductions(const u32* in, u32* out) {
  const u32 v = in[INDEX];
  out[INDEX] = __reduce_add_sync(ALL, v) ^ __reduce_min_sync(ALL, v) ^
               __reduce_max_sync(ALL, static_cast<int>(v)) ^ __reduce_and_sync(ALL, v | 0xf) ^
               __reduce_or_sync(ALL, v & 0xff) ^ __reduce_xor_sync(ALL, v);
}

/// out[0..63]: how often each value of the low six bits occurs in the grid, through shared counters.
__global__ void histogram(const u32* in, u32* out) {
  __shared__ u32 count[64];
  if (threadIdx.x < 64) count[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&count[in[INDEX] & 63], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], count[threadIdx.x]);
}

/// The same in floats, whose shared addition is a loop.
__global__ void histogram_float(const u32* in, u32* words) {
  auto* out = reinterpret_cast<float*>(words);
  __shared__ float count[64];
  if (threadIdx.x < 64) count[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&count[in[INDEX] & 63], 1.0f);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], count[threadIdx.x]);
}

/// out: sum, least, greatest, and, or, xor, greatest signed, count by CAS, one double's two words.
__global__ void atomics(const u32* in, u32* out) {
  const u32 v = in[INDEX];
  atomicAdd(&out[0], v);
  atomicMin(&out[1], v);
  atomicMax(&out[2], v);
  atomicAnd(&out[3], v | 0xffff);
  atomicOr(&out[4], v & 0xf0f);
  atomicXor(&out[5], v);
  atomicMax(reinterpret_cast<int*>(&out[6]), static_cast<int>(v));
  u32 old = out[7], seen;
  do {
    seen = old;
    old = atomicCAS(&out[7], seen, seen + 2);
  } while (old != seen);
  atomicAdd(reinterpret_cast<double*>(&out[8]), 0.5);
  atomicAdd(reinterpret_cast<unsigned long long*>(&out[10]), static_cast<unsigned long long>(v) << 8);
  atomicInc(&out[12], 99);
  atomicExch(&out[13], 5);
  // A counter that hands out tickets: each thread's is another one.
  out[16 + atomicAdd(&out[14], 1u)] = 1;
}

__global__ void block_scan(const u32* in, u32* out) {
  __shared__ u32 value[1024];
  const u32 t = threadIdx.x;
  value[t] = in[INDEX];
  __syncthreads();
  for (u32 d = 1; d < blockDim.x; d *= 2) {
    const u32 other = t >= d ? value[t - d] : 0;
    __syncthreads();
    value[t] += other;
    __syncthreads();
  }
  out[INDEX] = value[t];
}

__global__ void counted_barriers(const u32* in, u32* out) {
  const u32 v = in[INDEX];
  const int count = __syncthreads_count(v & 1);
  const int all = __syncthreads_and(v != 0);
  const int any = __syncthreads_or(v == 12345);
  out[INDEX] = static_cast<u32>(count * 4 + (all != 0) * 2 + (any != 0));
}

/// The first half produces, the second half consumes, through two numbered barriers. 128 threads.
__global__ void numbered_barriers(const u32* in, u32* out) {
  __shared__ u32 box[64];
  const u32 t = threadIdx.x;
  if (t < 64) {
    box[t] = in[INDEX] * 3;
    asm volatile("bar.arrive 1, 128;" ::: "memory");
    out[INDEX] = 1;
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    out[INDEX] = box[t - 64];
  }
}

__device__ __noinline__ u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion(const u32* in, u32* out) { out[INDEX] = fibonacci(in[INDEX] & 7); }

__device__ __noinline__ u32 twice(u32 v) { return v * 2; }
__device__ __noinline__ u32 square(u32 v) { return v * v; }
__device__ __noinline__ u32 minus(u32 v) { return 0u - v; }
__device__ u32 (*const functions[3])(u32) = {twice, square, minus};
__global__ void function_pointers(const u32* in, u32* out) {
  out[INDEX] = functions[in[INDEX] % 3](in[INDEX]);
}

__global__ void jump_table(const u32* in, u32* out) {
  u32 v = in[INDEX];
  switch (v % 11) {
    case 0: v += 3; break;
    case 1: v *= 5; break;
    case 2: v ^= v >> 7; break;
    case 3: v = out[INDEX] + 9; break;
    case 4: v = __popc(v); break;
    case 5: v = v % 1000; break;
    case 6: v = ~v; break;
    case 7: v <<= 3;  // falls through
    case 8: v -= 77; break;
    case 9: v = __brev(v); break;
    default: v = 42; break;
  }
  out[INDEX] = v;
}

__global__ void local_array(const u32* in, u32* out) {
  u32 stack[24];
  for (int i = 0; i < 24; ++i) stack[i] = in[INDEX] >> (i & 15);
  for (int i = 0; i < 24; ++i) stack[(stack[i] + static_cast<u32>(i)) % 24] += stack[23 - i];
  u32 sum = 0;
  for (int i = 0; i < 24; ++i) sum = sum * 3 + stack[i];
  out[INDEX] = sum;
}

__device__ __noinline__ u32 read_generic(const u32* p) { return *p; }
__global__ void generic_addresses(const u32* in, u32* out) {
  __shared__ u32 there[256];
  u32 here[2] = {in[INDEX] + 1, in[INDEX] + 2};
  there[threadIdx.x] = in[INDEX] + 3;
  __syncthreads();
  const u32* p = in[INDEX] % 3 == 0   ? &here[in[INDEX] & 1]
                 : in[INDEX] % 3 == 1 ? &there[threadIdx.x]
                                      : &in[INDEX];
  out[INDEX] = read_generic(p);
}

__constant__ u32 table[8] = {1, 1, 2, 3, 5, 8, 13, 21};
__device__ u32 base = 1000;
__global__ void variables(const u32* in, u32* out) { out[INDEX] = table[in[INDEX] & 7] + base; }

struct Large {
  u32 word[64];
};
__global__ void large_parameter(const u32* in, u32* out, Large large) {
  out[INDEX] = large.word[in[INDEX] & 63] * 2;
}

__device__ int lock_a = 0, lock_b = 0;
/// out[0]: every thread adds one under a lock, the critical section inside the loop; out[1]: after it.
__global__ void spin_locks(const u32*, u32* out) {
  volatile u32* counters = out;
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock_a, 0, 1) == 0) {
      counters[0] = counters[0] + 1;
      __threadfence();
      atomicExch(&lock_a, 0);
      done = true;
    }
  }
  while (atomicCAS(&lock_b, 0, 1) != 0) {}
  counters[1] = counters[1] + 1;
  __threadfence();
  atomicExch(&lock_b, 0);
}

__global__ void sync_on_both_sides(const u32* in, u32* out) {
  __shared__ u32 box[1024];
  const u32 t = threadIdx.x;
  if (t & 1) {
    box[t] = in[INDEX] * 7;
    __syncwarp();
    out[INDEX] = box[t ^ 1];
  } else {
    box[t] = in[INDEX] + 11;
    __syncwarp();
    out[INDEX] = box[t ^ 1];
  }
}

__global__ void nested_loops(const u32* in, u32* out) {
  const u32 v = in[INDEX];
  u32 sum = 0;
  for (u32 i = 0; i < (v & 15); ++i) {
    if (i == (v >> 4 & 7)) continue;
    for (u32 j = i; j < 20; ++j) {
      if (j * i > (v >> 8 & 63)) break;
      if ((v ^ j) == 0x1234) return;
      sum += j * 3 + i;
    }
    if (sum > (v >> 16 & 255)) break;
  }
  out[INDEX] = sum;
}

/// 16 bytes a thread through shared memory; every third thread's copy is of 0 bytes, every fifth's of 8. Four words a thread.
__global__ void asynchronous_copy(const uint4* in, uint4* out) {
  __shared__ uint4 box[256];
  const u32 t = threadIdx.x;
  const u32 address = static_cast<u32>(__cvta_generic_to_shared(&box[t]));
  const u32 bytes = t % 3 == 0 ? 0 : t % 5 == 0 ? 8 : 16;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(&in[INDEX]), "r"(bytes));
  asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
  __syncthreads();
  out[INDEX] = box[t];
}

/// A pointer to constant or to global memory, which the machine code knows at run time alone.
__constant__ u32 constant_words[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__global__ void constant_by_pointer(const u32* in, u32* out) {
  const u32* words = in[INDEX] & 1 ? constant_words : in;
  out[INDEX] = words[in[INDEX] >> 1 & 7] + __isConstant(words) * 1000;
}

/// All threads copy the same to the same place; with a cache policy the compiler keeps its address in a uniform register.
__global__ void copy_to_one_place(const uint4* in, u32* out) {
  __shared__ uint4 box;
  const u32 address = static_cast<u32>(__cvta_generic_to_shared(&box));
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(address), "l"(&in[blockIdx.x]), "l"(policy));
  asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
  __syncthreads();
  out[INDEX] = reinterpret_cast<const u32*>(&box)[threadIdx.x % 4];
}

/// Tiles of more than a warp work through the shared memory that the system keeps.
__global__ void large_tiles(const u32* in, u32* out) {
  namespace cg = cooperative_groups;
  __shared__ u32 own[32];
  if (threadIdx.x < 32) own[threadIdx.x] = in[INDEX];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  const u32 sum = cg::reduce(tile, in[INDEX], cg::plus<u32>());
  tile.sync();
  __syncthreads();
  out[INDEX] = sum + tile.shfl(in[INDEX], 40) + own[threadIdx.x % 32];
}

/// The sizes of a block's shared memory: all of it without the system's part, what the launch asked for, what begins behind it.
__global__ void shared_sizes(const u32* in, u32* out) {
  __shared__ u32 box[100];
  u32 all, asked, begin, cap;
  asm volatile("mov.u32 %0, %total_smem_size;" : "=r"(all));
  asm volatile("mov.u32 %0, %dynamic_smem_size;" : "=r"(asked));
  asm volatile("mov.u32 %0, %reserved_smem_offset_begin;" : "=r"(begin));
  asm volatile("mov.u32 %0, %reserved_smem_offset_cap;" : "=r"(cap));
  box[threadIdx.x] = in[INDEX];
  __syncthreads();
  out[INDEX] = box[(threadIdx.x + 1) % 64] ^ (all << 16 | asked) ^ (cap - begin) << 8;
}

/// One warp: d = a b with 16x16 matrices of small whole numbers; out is d as floats' bits.
__global__ void matrix_half(const u32* in, u32* words) {
  auto* out = reinterpret_cast<float*>(words);
  using namespace nvcuda::wmma;
  __shared__ __half a[256], b[256];
  for (int i = static_cast<int>(threadIdx.x); i < 256; i += 32) {
    a[i] = __float2half(static_cast<float>(in[i] & 15) - 7.0f);
    b[i] = __float2half(static_cast<float>(in[i] >> 4 & 15) - 8.0f);
  }
  __syncwarp();
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  load_matrix_sync(fa, a, 16);
  load_matrix_sync(fb, b, 16);
  fill_fragment(fc, 1.0f);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(out, fc, 16, mem_row_major);
}

__global__ void matrix_bytes(const u32* in, u32* words) {
  auto* out = reinterpret_cast<int*>(words);
  using namespace nvcuda::wmma;
  const auto* bytes = reinterpret_cast<const signed char*>(in);
  fragment<matrix_a, 16, 16, 16, signed char, row_major> fa;
  fragment<matrix_b, 16, 16, 16, signed char, col_major> fb;
  fragment<accumulator, 16, 16, 16, int> fc;
  load_matrix_sync(fa, bytes, 16);
  load_matrix_sync(fb, bytes + 256, 16);
  fill_fragment(fc, 3);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(out, fc, 16, mem_row_major);
}

__global__ void matrix_double(const u32* in, u32* words) {
  auto* out = reinterpret_cast<double*>(words);
  using namespace nvcuda::wmma;
  __shared__ double a[32], b[32];
  a[threadIdx.x] = static_cast<double>(in[threadIdx.x] & 255);
  b[threadIdx.x] = static_cast<double>(in[threadIdx.x] >> 8 & 255);
  __syncwarp();
  fragment<matrix_a, 8, 8, 4, double, row_major> fa;
  fragment<matrix_b, 8, 8, 4, double, col_major> fb;
  fragment<accumulator, 8, 8, 4, double> fc;
  load_matrix_sync(fa, a, 4);
  load_matrix_sync(fb, b, 4);
  fill_fragment(fc, 0.5);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(out, fc, 8, mem_row_major);
}

__global__ void halves(const u32* in, u32* out) {
  const float x = static_cast<float>(in[INDEX] & 63), y = static_cast<float>(in[INDEX] >> 6 & 63);
  const __half2 a = __floats2half2_rn(x, y), b = __floats2half2_rn(0.5f, -2.0f);
  const __half2 r = __hadd2(__hmul2(a, b), __hfma2(a, a, b));
  out[INDEX] =
      static_cast<u32>(static_cast<int>(__low2float(r) * 2.0f) * 65536 + static_cast<int>(__high2float(r)));
}

__global__ void narrow_accesses(const u32* first, u32* words) {
  const auto* in = reinterpret_cast<const unsigned char*>(first);
  auto* out = reinterpret_cast<short*>(words);
  const signed char v = static_cast<signed char>(in[INDEX]);
  out[INDEX] = static_cast<short>(v * 5 - in[INDEX]);
}

__global__ void tiles(const u32* in, u32* out) {
  namespace cg = cooperative_groups;
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  u32 r = tile.ballot(in[INDEX] & 1);
  for (int d = 4; d > 0; d /= 2) r += tile.shfl_down(r, d);
  r = tile.shfl(r, 0);
  if (in[INDEX] & 2) {
    auto some = cg::coalesced_threads();
    r += some.size() * 256;
  }
  out[INDEX] = r;
}

/// The last block to finish adds up what all wrote: out[gridDim.x].
__device__ u32 finished = 0;
__global__ void last_block(const u32* in, u32* out) {
  __shared__ bool last;
  __shared__ u32 sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[INDEX]);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    u32 total = 0;
    for (u32 i = 0; i < gridDim.x; ++i) total += const_cast<volatile u32*>(out)[i];
    out[gridDim.x] = total;
  }
}

/// All threads arrive at a barrier object in shared memory three times.
__global__ void barrier_object(const u32* in, u32* out) {
  __shared__ unsigned long long barrier;
  __shared__ u32 value[1024];
  const u32 address = static_cast<u32>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(blockDim.x));
  __syncthreads();
  u32 v = in[INDEX];
  for (u32 phase = 0; phase < 3; ++phase) {
    value[threadIdx.x] = v;
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(address) : "memory");
    u32 done = 0;
    while (!done) {
      asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(address), "l"(token)
                   : "memory");
    }
    v += value[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
  }
  out[INDEX] = v;
}

extern __shared__ u32 dynamic[];
__global__ void dynamic_shared(const u32* in, u32* out) {
  dynamic[threadIdx.x] = in[INDEX];
  __syncthreads();
  out[INDEX] = dynamic[blockDim.x - 1 - threadIdx.x];
}

/// All blocks wait for all, twice; each then reads what another block wrote.
__global__ void grid_barrier(const u32* in, u32* out) {
  volatile u32* words = out;
  words[INDEX] = in[INDEX];
  cooperative_groups::this_grid().sync();
  const u32 v = words[(INDEX + blockDim.x) % (gridDim.x * blockDim.x)];
  cooperative_groups::this_grid().sync();
  words[INDEX] = v * 2;
}
