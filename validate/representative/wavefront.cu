// Dynamic programming by anti-diagonals: grids grow and shrink, 1,023 launches.
__global__ void diagonal(int* table, const char* a, const char* b, int n, int d) {
  const int first = d < n ? 0 : d - n + 1, last = d < n ? d : n - 1;
  const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i > last) return;
  const int j = d - i, w = n + 1;
  int* at = table + (i + 1) * w + j + 1;
  const int best = max(at[-1], at[-w]);
  *at = a[i] == b[j] ? max(best, at[-w - 1] + 1) : best;
}
__global__ void letters(char* a, unsigned seed, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = (i + 1) * 2654435761u + seed;
  if (i < n) a[i] = static_cast<char>((x ^ x >> 13) & 3);
}
int main() {
  const int n = 1024;
  int* table;
  char *a, *b;
  cudaMalloc(&table, (n + 1) * (n + 1) * 4), cudaMalloc(&a, n), cudaMalloc(&b, n);
  cudaMemset(table, 0, (n + 1) * (n + 1) * 4);
  letters<<<n / 128, 128>>>(a, 1, n);
  letters<<<n / 128, 128>>>(b, 2, n);
  for (int d = 0; d < 2 * n - 1; ++d) {
    const int cells = d < n ? d + 1 : 2 * n - 1 - d;
    diagonal<<<(cells + 63) / 64, 64>>>(table, a, b, n, d);
  }
  return cudaDeviceSynchronize();
}
