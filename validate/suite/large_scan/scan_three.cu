// Running sums over a whole array in three launches: pieces of 2048 by a block of 256 threads each, the pieces' totals by one
// block, and the totals added to the pieces.

__device__ unsigned scan_of_block(unsigned mine, unsigned* totals) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = mine;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned below = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step) sum += below;
  }
  if (lane == 31) totals[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    unsigned total = lane < blockDim.x / 32 ? totals[lane] : 0;
    for (int step = 1; step < 32; step *= 2) {
      const unsigned below = __shfl_up_sync(0xffffffffu, total, step);
      if (lane >= step) total += below;
    }
    totals[lane] = total;
  }
  __syncthreads();
  return sum + (warp > 0 ? totals[warp - 1] : 0);
}

__global__ void __launch_bounds__(256) scan_pieces(const uint4* __restrict__ in, uint4* __restrict__ out,
                                                   unsigned* __restrict__ piece_totals) {
  __shared__ unsigned totals[32];
  const size_t at = static_cast<size_t>(blockIdx.x) * 512 + threadIdx.x * 2;
  uint4 a = in[at], b = in[at + 1];
  a.y += a.x, a.z += a.y, a.w += a.z;
  b.x += a.w, b.y += b.x, b.z += b.y, b.w += b.z;
  const unsigned end = scan_of_block(b.w, totals);
  const unsigned start = end - b.w;
  out[at] = make_uint4(a.x + start, a.y + start, a.z + start, a.w + start);
  out[at + 1] = make_uint4(b.x + start, b.y + start, b.z + start, b.w + start);
  if (threadIdx.x == 255) piece_totals[blockIdx.x] = end;
}

__global__ void __launch_bounds__(1024) scan_totals(unsigned* __restrict__ piece_totals, int pieces) {
  __shared__ unsigned totals[32];
  unsigned carry = 0;
  for (int first = 0; first < pieces; first += 1024) {
    const int i = first + threadIdx.x;
    const unsigned mine = i < pieces ? piece_totals[i] : 0;
    const unsigned sum = scan_of_block(mine, totals);
    if (i < pieces) piece_totals[i] = carry + sum;
    carry += totals[31];
    __syncthreads();
  }
}

/// A block adds what ends before its piece; the first piece has nothing before it.
__global__ void __launch_bounds__(256) add_totals(uint4* __restrict__ out, const unsigned* __restrict__ piece_totals) {
  if (blockIdx.x == 0) return;
  const unsigned before = piece_totals[blockIdx.x - 1];
  const size_t at = static_cast<size_t>(blockIdx.x) * 512 + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    uint4 four = out[at + 256 * i];
    four.x += before, four.y += before, four.z += before, four.w += before;
    out[at + 256 * i] = four;
  }
}
