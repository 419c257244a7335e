// Volumes of hexahedra in double precision, a thread an element that gathers its eight corners, and the sums of the corners'
// shares at the nodes, a thread a node that goes through a list.

__device__ __forceinline__ double triple(double x1, double y1, double z1, double x2, double y2, double z2,
                                         double x3, double y3, double z3) {
  return x1 * (y2 * z3 - z2 * y3) + x2 * (z1 * y3 - y1 * z3) + x3 * (y1 * z2 - z1 * y2);
}

__global__ void element_volumes(const double* __restrict__ x, const double* __restrict__ y,
                                const double* __restrict__ z, const int* __restrict__ corners,
                                const double* __restrict__ mass, double* __restrict__ volume,
                                double* __restrict__ shares, int elements) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= elements) return;
  double px[8], py[8], pz[8];
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const int node = corners[k * elements + e];
    px[k] = x[node];
    py[k] = y[node];
    pz[k] = z[node];
  }
#define D(a, b) px[a] - px[b], py[a] - py[b], pz[a] - pz[b]
#define S(a, b, c, d) \
  px[a] - px[b] + px[c] - px[d], py[a] - py[b] + py[c] - py[d], pz[a] - pz[b] + pz[c] - pz[d]
  const double v = triple(S(3, 1, 7, 2), D(6, 3), D(2, 0)) + triple(S(4, 3, 5, 7), D(6, 4), D(7, 0)) +
                   triple(S(1, 4, 2, 5), D(6, 1), D(5, 0));
#undef D
#undef S
  volume[e] = v / 12.0;
  const double pressure = mass[e] * sqrt(mass[e] + v * v);
#pragma unroll
  for (int k = 0; k < 8; k++) shares[k * elements + e] = pressure * (px[k] - 0.25 * (py[k] + pz[k]));
}

__global__ void node_sums(const double* __restrict__ shares, const int* __restrict__ first,
                          const int* __restrict__ list, double* __restrict__ force, int nodes) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= nodes) return;
  const int begin = first[n];
  const int end = first[n + 1];
  double sum = 0.0;
  for (int i = begin; i < end; i++) sum += shares[list[i]];
  force[n] = sum;
}
