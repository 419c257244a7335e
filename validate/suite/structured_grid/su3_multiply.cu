// Products of complex 3 x 3 matrices, four links a site of a lattice: a thread an element of a product.

struct Complex {
  float re, im;
};

__global__ void su3_multiply(const Complex* __restrict__ a, const Complex* __restrict__ b,
                             Complex* __restrict__ c, int sites) {
  const int thread = blockDim.x * blockIdx.x + threadIdx.x;
  const int site = thread / 36;
  if (site >= sites) return;
  const int link = (thread % 36) / 9;
  const int k = (thread % 9) / 3;
  const int l = thread % 3;
  const Complex* left = a + (site * 4 + link) * 9;
  const Complex* right = b + link * 9;
  Complex sum = {0.0f, 0.0f};
  for (int m = 0; m < 3; m++) {
    const Complex p = left[k * 3 + m];
    const Complex q = right[m * 3 + l];
    sum.re += p.re * q.re - p.im * q.im;
    sum.im += p.re * q.im + p.im * q.re;
  }
  c[(site * 4 + link) * 9 + k * 3 + l] = sum;
}

// The same with a thread a site, which keeps whole matrices in registers.
__global__ void su3_sites(const Complex* __restrict__ a, const Complex* __restrict__ b, Complex* __restrict__ c,
                          int sites) {
  const int site = blockDim.x * blockIdx.x + threadIdx.x;
  if (site >= sites) return;
  for (int link = 0; link < 4; link++) {
    Complex left[9];
#pragma unroll
    for (int i = 0; i < 9; i++) left[i] = a[(site * 4 + link) * 9 + i];
#pragma unroll
    for (int k = 0; k < 3; k++) {
#pragma unroll
      for (int l = 0; l < 3; l++) {
        Complex sum = {0.0f, 0.0f};
#pragma unroll
        for (int m = 0; m < 3; m++) {
          const Complex q = b[link * 9 + m * 3 + l];
          sum.re += left[k * 3 + m].re * q.re - left[k * 3 + m].im * q.im;
          sum.im += left[k * 3 + m].re * q.im + left[k * 3 + m].im * q.re;
        }
        c[(site * 4 + link) * 9 + k * 3 + l] = sum;
      }
    }
  }
}
