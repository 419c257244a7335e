// A pattern matcher: each thread runs a finite automaton over its own text, and the table of 384 states by
// 64 symbols, 96 KiB, fills the shared memory of a block. Few warps, each a chain of dependent loads:
// nothing hides a latency.

#define STATES 384
#define SYMBOLS 64

__global__ void __launch_bounds__(128)
    state_machine(const int4* __restrict__ table, const unsigned* __restrict__ text,
                  unsigned* __restrict__ matches, int words) {
  extern __shared__ int4 shared_table[];
  for (int i = threadIdx.x; i < STATES * SYMBOLS / 4; i += blockDim.x) shared_table[i] = table[i];
  __syncthreads();
  const unsigned* next = reinterpret_cast<const unsigned*>(shared_table);
  const int threads = gridDim.x * blockDim.x;
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = 0;
  unsigned found = 0;
  for (int i = 0; i < words; ++i) {
    unsigned symbols = text[static_cast<size_t>(i) * threads + thread];
    for (int k = 0; k < 4; ++k) {
      state = next[state * SYMBOLS + (symbols & (SYMBOLS - 1))];
      found += state % 16 == 0;
      symbols >>= 8;
    }
  }
  matches[thread] = found;
}
