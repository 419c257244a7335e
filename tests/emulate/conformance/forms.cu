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
