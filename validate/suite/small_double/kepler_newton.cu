// Kepler's equation E - e sin E = M for many bodies, by Newton's method with a fixed number of steps: sine, cosine and a
// division in double precision each.

__global__ void kepler_newton(const double* __restrict__ mean, const double* __restrict__ eccentricity,
                              double* __restrict__ anomaly, int count, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double m = mean[i], e = eccentricity[i];
  double guess = m;
  for (int step = 0; step < steps; ++step) {
    double sine, cosine;
    sincos(guess, &sine, &cosine);
    guess -= (guess - e * sine - m) / (1.0 - e * cosine);
  }
  anomaly[i] = guess;
}
