// Two sorted lists become one. A block makes a piece of the result: where it begins and ends in both lists is found by
// bisection along a diagonal, both parts are brought into shared memory, every thread finds its own beginning in the
// same way, merges ITEMS keys one after the other into registers, and the piece goes back in order through shared
// memory. Of equal keys those of the first list come first.

// How many of the first `diagonal` keys of the result come from a.
template <typename Key>
__device__ __forceinline__ int merge_path(const Key* a, int a_count, const Key* b, int b_count,
                                          int diagonal) {
  int low = max(0, diagonal - b_count);
  int high = min(diagonal, a_count);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS)
    merge_lists(const int* __restrict__ a, int a_count, const int* __restrict__ b, int b_count,
                int* __restrict__ out) {
  constexpr int kPiece = THREADS * ITEMS;
  __shared__ int keys[kPiece];
  __shared__ int from_a[2];

  const int total = a_count + b_count;
  const int first = blockIdx.x * kPiece;
  const int end = min(first + kPiece, total);
  if (threadIdx.x < 2)
    from_a[threadIdx.x] = merge_path(a, a_count, b, b_count, threadIdx.x == 0 ? first : end);
  __syncthreads();

  const int a_first = from_a[0], b_first = first - a_first;
  const int a_part = from_a[1] - a_first;
  const int b_part = end - first - a_part;
  for (int i = threadIdx.x; i < a_part + b_part; i += THREADS) {
    keys[i] = i < a_part ? a[a_first + i] : b[b_first + i - a_part];
  }
  __syncthreads();

  const int own = min(static_cast<int>(threadIdx.x) * ITEMS, a_part + b_part);
  int at_a = merge_path(keys, a_part, keys + a_part, b_part, own);
  int at_b = own - at_a + a_part;  // b's part stands behind a's
  const int last = a_part + b_part - 1;
  int key_a = keys[min(at_a, last)], key_b = keys[min(at_b, last)];
  int merged[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const bool takes_a = at_b > last || (at_a < a_part && key_a <= key_b);
    merged[i] = takes_a ? key_a : key_b;
    if (takes_a) {
      key_a = keys[min(++at_a, last)];
    } else {
      key_b = keys[min(++at_b, last)];
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    if (own + i < a_part + b_part) keys[own + i] = merged[i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < a_part + b_part; i += THREADS) out[first + i] = keys[i];
}

template __global__ void merge_lists<256, 7>(const int*, int, const int*, int, int*);
