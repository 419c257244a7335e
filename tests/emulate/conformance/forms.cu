// One kernel for each form of PTX that CUDA's headers do not make and few programs hold: sm_90, sm_100 and sm_120.

__device__ unsigned address_of(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

/// Two mbarriers of 1000 arrivals. Lane i of the warp arrives (kDrops: and drops out) in[i] times at number i % 2 without completing the phase,
/// if in[32 + i] says so: out[i] is what was pending before. Then lane 0 arrives for those that are missing, and out[32], out[33]
/// say whether the phase has ended; out[34], out[35] how many arrivals the next one expects.
template <bool kDrops>
__device__ void arrivals(const unsigned* in, unsigned* out) {
  __shared__ unsigned long long barriers[2];
  const unsigned lane = threadIdx.x;
  if (lane < 2) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1000;" ::"r"(address_of(barriers + lane)));
  __syncwarp();
  const unsigned at = address_of(barriers + lane % 2), count = in[lane];
  unsigned long long state = 0;
  unsigned pending = 0;
  if (in[32 + lane] != 0) {
    if (kDrops) {
      asm volatile("mbarrier.arrive_drop.noComplete.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(at), "r"(count));
    } else {
      asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(at), "r"(count));
    }
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
  }
  out[lane] = pending;
  __syncwarp();
  if (lane >= 2) return;
  unsigned rest = 1000, ended = 0;
  for (unsigned i = lane; i < 32; i += 2) rest -= in[32 + i] != 0 ? in[i] : 0;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(at), "r"(rest));
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(ended) : "r"(at));
  out[32 + lane] = ended;
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 1;" : "=l"(state) : "r"(at));
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
  out[34 + lane] = pending;
}
extern "C" __global__ void arrive_no_complete(const unsigned* in, unsigned* out) { arrivals<false>(in, out); }
extern "C" __global__ void drop_no_complete(const unsigned* in, unsigned* out) { arrivals<true>(in, out); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000
/// Of thread i: halves (or bfloat16) a and b are the parts of word i of the input, c word 32 + i; a + c, a - c, b + c downwards, saturated; a * b + c, to zero, upwards and
/// saturated; -b * a - c.
#define MIXES(name, type)                                                                                   \
  extern "C" __global__ void name(const unsigned* in, unsigned* out) {                                      \
    const unsigned i = threadIdx.x, halves = in[i], c = in[32 + i];                                          \
    unsigned* o = out + 8 * i;                                                                               \
    asm volatile(                                                                                            \
        "{.reg .b16 a, b, n; .reg .f32 c, m; mov.b32 {a, b}, %6; mov.b32 c, %7; neg.f32 m, c; neg." type " n, b;" \
        "add.f32." type " %0, a, c; sub.f32." type " %1, a, c; add.rm.sat.f32." type " %2, b, c;"            \
        "fma.rn.f32." type " %3, a, b, c; fma.rz.f32." type " %4, b, b, c; fma.rp.sat.f32." type " %5, a, b, c;}" \
        : "=r"(o[0]), "=r"(o[1]), "=r"(o[2]), "=r"(o[3]), "=r"(o[4]), "=r"(o[5]) : "r"(halves), "r"(c));     \
    asm volatile(                                                                                            \
        "{.reg .b16 a, b, n; .reg .f32 c, m; mov.b32 {a, b}, %2; mov.b32 c, %3; neg.f32 m, c; neg." type " n, b;" \
        "fma.rn.f32." type " %0, n, a, m; add.f32." type " %1, b, 0f3FC00000;}" : "=r"(o[6]), "=r"(o[7]) : "r"(halves), "r"(c)); \
  }
MIXES(mixes_halves, "f16")
MIXES(mixes_bfloats, "bf16")

/// Clears shared memory that held the thread's number in every word: words [16, 16 + in[0] / 4), then by a generic address [1000, 1002).
extern "C" __global__ void clears(const unsigned* in, unsigned* out) {
  __shared__ alignas(16) unsigned words[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += 32) words[i] = i + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"(address_of(words + 16)), "l"(static_cast<unsigned long long>(in[0])) : "memory");
    asm volatile("st.bulk [%0], 8, 0;" ::"l"(words + 1000) : "memory");
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 1024; i += 32) out[i] = words[i];
}

/// Shared memory that nobody has written, cleared by one warp and read by another; in[0]: with a barrier between them.
extern "C" __global__ void clears_for_others(const unsigned* in, unsigned* out) {
  __shared__ alignas(16) unsigned words[64];
  if (threadIdx.x == 0)
    asm volatile("st.bulk.weak.shared::cta [%0], 256, 0;" ::"r"(address_of(words)) : "memory");
  if (in[0] != 0) __syncthreads();
  if (threadIdx.x >= 32) out[threadIdx.x] = words[threadIdx.x] + 5;
}

/// in[1] bytes from shared memory, where word i is i * in[2]; of every 16 bytes those whose bits in[0] has.
extern "C" __global__ void copies_some_bytes(const unsigned* in, unsigned* out) {
  __shared__ alignas(128) unsigned words[256];
  for (unsigned i = threadIdx.x; i < 256; i += 32) words[i] = i * in[2];
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;" ::"l"(out + 8), "r"(address_of(words)), "r"(in[1]), "h"(static_cast<unsigned short>(in[0])) : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;");
  }
}

/// Four rows of a matrix, numbers at[1] to at[4], from column at[0] on, into shared memory and out again: 512 words; out[512]: whether their bytes
/// have been told. in: the tensor map.
extern "C" __global__ void gathers(const void* in, unsigned* out, const int* at) {
  __shared__ alignas(1024) unsigned words[512];
  __shared__ unsigned long long barrier;
  for (unsigned i = threadIdx.x; i < 512; i += 32) words[i] = 0xabababab;
  const unsigned there = address_of(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(there));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(there), "r"(at[5]));
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
                 ::"r"(address_of(words)), "l"(in), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]), "r"(there) : "memory");
  }
  __syncthreads();
  unsigned done;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(there) : "memory");
  for (unsigned i = threadIdx.x; i < 512; i += 32) out[i] = words[i];
  if (threadIdx.x == 0) out[512] = done;
}
#endif

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
/// Four rows of shared memory, whose word i is i + 1, to rows at[1] to at[4] of a matrix.
extern "C" __global__ void scatters(const void* in, unsigned* out, const int* at) {
  __shared__ alignas(1024) unsigned words[512];
  for (unsigned i = threadIdx.x; i < 512; i += 32) words[i] = i + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];"
                 ::"l"(in), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]), "r"(address_of(words)) : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;");
    out[0] = 1;
  }
}

extern "C" __global__ void loads_wide(const void* in, unsigned* out, const int* at) {
  __shared__ alignas(1024) unsigned words[512];
  __shared__ unsigned long long barrier;
  asm volatile("cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2, %2}], [%3], {%4, %4};"
               ::"r"(address_of(words)), "l"(in), "r"(at[0]), "r"(address_of(&barrier)), "h"(static_cast<unsigned short>(1)) : "memory");
  out[threadIdx.x] = words[threadIdx.x];
}
/// Told to the other block of the pair.
extern "C" __global__ void loads_for_two(const void* in, unsigned* out, const int* at) {
  __shared__ alignas(1024) unsigned words[512];
  __shared__ unsigned long long barrier;
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %2}], [%3];"
               ::"r"(address_of(words)), "l"(in), "r"(at[0]), "r"(address_of(&barrier)) : "memory");
  out[threadIdx.x] = words[threadIdx.x];
}

/// Of thread i: four numbers, word i, 32 + i, 64 + i, 96 + i of the input, and random bits, word 128 + i. Of two numbers, then of four.
#define ROUNDS(name, first, second, third, fourth)                                                           \
  extern "C" __global__ void name(const float* in, unsigned* out) {                                          \
    const unsigned i = threadIdx.x, bits = __float_as_uint(in[128 + i]);                                     \
    const float a = in[i], b = in[32 + i], e = in[64 + i], f = in[96 + i];                                   \
    asm volatile("cvt.rs" first ".f32 %0, %1, %2, %3;" : "=r"(out[4 * i]) : "f"(a), "f"(b), "r"(bits));        \
    asm volatile("cvt.rs" second ".f32 %0, %1, %2, %3;" : "=r"(out[4 * i + 1]) : "f"(a), "f"(b), "r"(bits));   \
    asm volatile("cvt.rs" third ".f32 %0, {%1, %2, %3, %4}, %5;" : "=r"(out[4 * i + 2]) : "f"(a), "f"(b), "f"(e), "f"(f), "r"(bits)); \
    asm volatile("cvt.rs" fourth ".f32 %0, {%1, %2, %3, %4}, %5;" : "=r"(out[4 * i + 3]) : "f"(a), "f"(b), "f"(e), "f"(f), "r"(bits)); \
  }
ROUNDS(rounds_stochastically, ".satfinite.f16x2", ".bf16x2", ".satfinite.e4m3x4", ".satfinite.e5m2x4")
ROUNDS(rounds_narrower, ".relu.satfinite.f16x2", ".relu.satfinite.bf16x2", ".satfinite.e3m2x4", ".relu.satfinite.e2m3x4")

extern "C" __global__ void rounds_to_half(const float* in, unsigned* out) {
  asm volatile("cvt.rs.f16x2.f32 %0, %1, %2, %3;" : "=r"(out[threadIdx.x]) : "f"(in[threadIdx.x]), "f"(in[32 + threadIdx.x]), "r"(__float_as_uint(in[128 + threadIdx.x])));
}
extern "C" __global__ void rounds_to_fours(const float* in, unsigned* out) {
  asm volatile("{.reg .b16 h; cvt.rs.satfinite.e2m1x4.f32 h, {%1, %2, %3, %4}, %5; cvt.u32.u16 %0, h;}"
               : "=r"(out[threadIdx.x])
               : "f"(in[threadIdx.x]), "f"(in[32 + threadIdx.x]), "f"(in[64 + threadIdx.x]), "f"(in[96 + threadIdx.x]), "r"(__float_as_uint(in[128 + threadIdx.x])));
}
#endif
