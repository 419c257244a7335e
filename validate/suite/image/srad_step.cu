// A step of speckle-reducing anisotropic diffusion, as for ultrasound images: the first kernel keeps the four
// derivatives and the diffusion coefficient of each pixel, the second takes the divergence and changes the image.
// Indices of neighbours are clamped. Everything goes through memory between the two.

__global__ void srad_coefficients(const float* __restrict__ image, float* __restrict__ north,
                                  float* __restrict__ south, float* __restrict__ west,
                                  float* __restrict__ east, float* __restrict__ coefficient, int rows,
                                  int cols, float q0_squared) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  const int index = y * cols + x;
  const float here = __ldg(&image[index]);
  const float n = __ldg(&image[max(y - 1, 0) * cols + x]) - here;
  const float s = __ldg(&image[min(y + 1, rows - 1) * cols + x]) - here;
  const float w = __ldg(&image[y * cols + max(x - 1, 0)]) - here;
  const float e = __ldg(&image[y * cols + min(x + 1, cols - 1)]) - here;

  const float gradient = (n * n + s * s + w * w + e * e) / (here * here);
  const float laplacian = (n + s + w + e) / here;
  const float numerator = 0.5f * gradient - 0.0625f * laplacian * laplacian;
  const float denominator = 1.0f + 0.25f * laplacian;
  const float q_squared = numerator / (denominator * denominator);
  const float c = 1.0f / (1.0f + (q_squared - q0_squared) / (q0_squared * (1.0f + q0_squared)));

  north[index] = n;
  south[index] = s;
  west[index] = w;
  east[index] = e;
  coefficient[index] = __saturatef(c);
}

// Pixels in one dimension, rows and columns by division.
__global__ void srad_update(float* __restrict__ image, const float* __restrict__ north,
                            const float* __restrict__ south, const float* __restrict__ west,
                            const float* __restrict__ east, const float* __restrict__ coefficient, int rows,
                            int cols, float lambda) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= rows * cols) return;
  const int row = index / cols;
  const int col = index % cols;
  const float here = coefficient[index];
  const float below = coefficient[min(row + 1, rows - 1) * cols + col];
  const float right = coefficient[row * cols + min(col + 1, cols - 1)];
  const float divergence =
      here * north[index] + below * south[index] + here * west[index] + right * east[index];
  image[index] += 0.25f * lambda * divergence;
}
