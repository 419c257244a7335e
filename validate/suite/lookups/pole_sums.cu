// Cross sections from poles: for a nuclide's window of poles complex quotients in double precision, with phases whose sines and
// cosines are taken for every look-up.

__global__ void pole_sums(const double2* __restrict__ poles, const double2* __restrict__ residues,
                          const int* __restrict__ window_start, const double* __restrict__ radius,
                          const double* __restrict__ energies, const int* __restrict__ windows,
                          double* __restrict__ out, int lookups) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= lookups) return;
  const double energy = energies[i];
  const double root = sqrt(energy);
  const int window = windows[i];
  double2 factors[4];
#pragma unroll
  for (int l = 0; l < 4; l++) {
    double phase = radius[window * 4 + l] * root;
    if (l == 1) phase -= atan(phase);
    if (l == 2) phase -= atan(3.0 * phase / (3.0 - phase * phase));
    double s, c;
    sincos(2.0 * phase, &s, &c);
    factors[l] = make_double2(c, -s);
  }
  double total = 0.0, absorbed = 0.0;
  for (int p = window_start[window]; p < window_start[window + 1]; p++) {
    const double2 pole = poles[p];
    const double2 residue = residues[p];
    // i / (pole - root), over the energy
    const double re = pole.x - root, im = pole.y;
    const double scale = 1.0 / (energy * (re * re + im * im));
    const double2 q = make_double2(im * scale, re * scale);
    const double2 f = factors[p % 4];
    const double2 g = make_double2(residue.x * q.x - residue.y * q.y, residue.x * q.y + residue.y * q.x);
    total += g.x * f.x - g.y * f.y;
    absorbed += g.x;
  }
  out[2 * i] = total;
  out[2 * i + 1] = absorbed;
}
