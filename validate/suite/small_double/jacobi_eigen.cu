// Eigenvalues of many symmetric 3 x 3 matrices, a thread a matrix: Jacobi's rotations in registers, double precision, with a
// root and divisions each.

__device__ void rotate(double& app, double& aqq, double& apq, double& arp, double& arq) {
  if (apq == 0.0) return;
  const double theta = (aqq - app) / (2.0 * apq);
  const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
  const double c = 1.0 / sqrt(t * t + 1.0);
  const double s = t * c;
  app -= t * apq;
  aqq += t * apq;
  apq = 0.0;
  const double keep = arp;
  arp = c * keep - s * arq;
  arq = s * keep + c * arq;
}

__global__ void jacobi_eigen(const double* __restrict__ matrices, double* __restrict__ values, int count, int sweeps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  double a00 = matrices[i], a01 = matrices[count + i], a02 = matrices[2 * count + i];
  double a11 = matrices[3 * count + i], a12 = matrices[4 * count + i], a22 = matrices[5 * count + i];
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    rotate(a00, a11, a01, a02, a12);
    rotate(a00, a22, a02, a01, a12);
    rotate(a11, a22, a12, a01, a02);
  }
  const double least = fmin(a00, fmin(a11, a22)), most = fmax(a00, fmax(a11, a22));
  values[i] = least;
  values[count + i] = a00 + a11 + a22 - least - most;
  values[2 * count + i] = most;
}
