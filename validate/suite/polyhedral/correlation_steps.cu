// The correlation of all pairs of columns: moments with a thread a column, then every number less its mean over its deviation,
// then the matrix with a thread a column that goes through the later ones.
#define EPSILON 0.1f

__global__ void corr_moments(const float* data, float* mean, float* deviation, int n, int m) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m) return;
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += data[i * m + j];
  const float middle = sum / (float)n;
  float squares = 0.0f;
  for (int i = 0; i < n; i++) {
    const float d = data[i * m + j] - middle;
    squares += d * d;
  }
  const float root = sqrtf(squares / (float)n);
  mean[j] = middle;
  deviation[j] = root <= EPSILON ? 1.0f : root;
}

__global__ void corr_center(float* data, const float* mean, const float* deviation, int n, int m) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < m) {
    data[i * m + j] -= mean[j];
    data[i * m + j] /= sqrtf((float)n) * deviation[j];
  }
}

__global__ void corr_matrix(const float* data, float* matrix, int n, int m) {
  const int j1 = blockIdx.x * blockDim.x + threadIdx.x;
  if (j1 >= m) return;
  matrix[j1 * m + j1] = 1.0f;
  for (int j2 = j1 + 1; j2 < m; j2++) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += data[i * m + j1] * data[i * m + j2];
    matrix[j1 * m + j2] = sum;
    matrix[j2 * m + j1] = sum;
  }
}
