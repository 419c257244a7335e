// Lesson: __syncthreads is for every thread of the block that is still there.
//
// barrier_divergent     the classic mistake: the barrier stands in a branch that only the even lanes take. The
//                       language gives this no meaning; the compiler makes it a barrier instruction with a
//                       predicate, which part of each warp's live lanes executes (on sm_80 with a WARPSYNC of
//                       the same predicate before it). It must be reported, with kernel, block, thread,
//                       offset and source line, not run to some end.
// barrier_early_return  the legal and common relative: threads beyond n leave first. Those that have exited do
//                       not count, so the barrier is one of the threads that are left, and the result is
//                       right. At n = 100 with one block of 128, the last warp arrives with 4 lanes.

constexpr int kLargestBlock = 1024;

__global__ void barrier_divergent(const int* in, int* out) {
  __shared__ int shared[kLargestBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const int size = static_cast<int>(blockDim.x);
  const int first = static_cast<int>(blockIdx.x) * size;
  shared[thread] = in[first + thread];
  if (thread % 2 == 0) __syncthreads();
  out[first + thread] = shared[size - 1 - thread];
}

__global__ void barrier_early_return(const int* in, int* out, int n) {
  __shared__ int shared[kLargestBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x * blockDim.x);
  if (first + thread >= n) return;
  shared[thread] = in[first + thread];
  __syncthreads();
  const int left = min(static_cast<int>(blockDim.x), n - first);  // threads that reached the barrier
  out[first + thread] = shared[left - 1 - thread];
}
