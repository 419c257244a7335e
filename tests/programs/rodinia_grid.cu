// Rodinia style on grids: hotspot (shared tiles with a pyramid), pathfinder, needleman-wunsch, LU decomposition, SRAD.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CUDA_CALL(x)                                                                              \
  if ((x) != cudaSuccess) {                                                                       \
    printf("Error at %s:%d: %s (%s)\n", __FILE__, __LINE__, cudaGetErrorName(cudaGetLastError()), #x); \
    exit(1);                                                                                      \
  }

static int failed = 0;
static void report(const char* name, bool ok) {
  printf("%s: %s\n", name, ok ? "PASSED" : "FAILED");
  if (!ok) failed = 1;
}

// --- hotspot -------------------------------------------------------------------------------------------------------
#define BLOCK_SIZE 16
#define EXPAND_RATE 2
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
__global__ void calculate_temp(int iteration, float* power, float* temp_src, float* temp_dst, int grid_cols, int grid_rows,
                               int border_cols, int border_rows, float Cap, float Rx, float Ry, float Rz, float step) {
  __shared__ float temp_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float power_on_cuda[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ float temp_t[BLOCK_SIZE][BLOCK_SIZE];
  float amb_temp = 80.0;
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  float step_div_Cap = step / Cap, Rx_1 = 1 / Rx, Ry_1 = 1 / Ry, Rz_1 = 1 / Rz;
  int small_block_rows = BLOCK_SIZE - iteration * 2, small_block_cols = BLOCK_SIZE - iteration * 2;
  int blkY = small_block_rows * by - border_rows, blkX = small_block_cols * bx - border_cols;
  int blkYmax = blkY + BLOCK_SIZE - 1, blkXmax = blkX + BLOCK_SIZE - 1;
  int yidx = blkY + ty, xidx = blkX + tx;
  int index = grid_cols * yidx + xidx;
  if (IN_RANGE(yidx, 0, grid_rows - 1) && IN_RANGE(xidx, 0, grid_cols - 1)) {
    temp_on_cuda[ty][tx] = temp_src[index];
    power_on_cuda[ty][tx] = power[index];
  }
  __syncthreads();
  int validYmin = (blkY < 0) ? -blkY : 0;
  int validYmax = (blkYmax > grid_rows - 1) ? BLOCK_SIZE - 1 - (blkYmax - grid_rows + 1) : BLOCK_SIZE - 1;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > grid_cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - grid_cols + 1) : BLOCK_SIZE - 1;
  int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
  N = (N < validYmin) ? validYmin : N;
  S = (S > validYmax) ? validYmax : S;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && IN_RANGE(ty, i + 1, BLOCK_SIZE - i - 2) &&
        IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax)) {
      computed = true;
      temp_t[ty][tx] = temp_on_cuda[ty][tx] +
                       step_div_Cap * (power_on_cuda[ty][tx] +
                                       (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0f * temp_on_cuda[ty][tx]) * Ry_1 +
                                       (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0f * temp_on_cuda[ty][tx]) * Rx_1 +
                                       (amb_temp - temp_on_cuda[ty][tx]) * Rz_1);
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) temp_on_cuda[ty][tx] = temp_t[ty][tx];
    __syncthreads();
  }
  if (computed) temp_dst[index] = temp_t[ty][tx];
}

static void hotspot() {
  const int rows = 64, cols = 64, pyramid = 2, steps = 5;
  const float Cap = 0.5f, Rx = 1.5f, Ry = 1.25f, Rz = 80.0f, step = 0.01f;
  float *temp = (float*)malloc(rows * cols * 4), *power = (float*)malloc(rows * cols * 4);
  for (int i = 0; i < rows * cols; ++i) temp[i] = 70.0f + i % 11, power[i] = 0.01f * (i % 7);
  float *d_temp[2], *d_power;
  CUDA_CALL(cudaMalloc((void**)&d_temp[0], rows * cols * 4));
  CUDA_CALL(cudaMalloc((void**)&d_temp[1], rows * cols * 4));
  CUDA_CALL(cudaMalloc((void**)&d_power, rows * cols * 4));
  CUDA_CALL(cudaMemcpy(d_temp[0], temp, rows * cols * 4, cudaMemcpyHostToDevice));
  CUDA_CALL(cudaMemcpy(d_power, power, rows * cols * 4, cudaMemcpyHostToDevice));
  int src = 1, dst = 0;
  for (int t = 0; t < steps; t += pyramid) {
    std::swap(src, dst);
    int border = pyramid * EXPAND_RATE / 2, small = BLOCK_SIZE - pyramid * EXPAND_RATE;
    dim3 grid((cols + small - 1) / small, (rows + small - 1) / small), block(BLOCK_SIZE, BLOCK_SIZE);
    calculate_temp<<<grid, block>>>(std::min(pyramid, steps - t), d_power, d_temp[src], d_temp[dst], cols, rows, border, border,
                                    Cap, Rx, Ry, Rz, step);
    // With fewer iterations than the pyramid's, blocks still step by the smaller tile of their own iteration count.
    if (std::min(pyramid, steps - t) != pyramid) {
      int rest = steps - t;
      dim3 all((cols + BLOCK_SIZE - 2 * rest - 1) / (BLOCK_SIZE - 2 * rest), (rows + BLOCK_SIZE - 2 * rest - 1) / (BLOCK_SIZE - 2 * rest));
      calculate_temp<<<all, block>>>(rest, d_power, d_temp[src], d_temp[dst], cols, rows, rest, rest, Cap, Rx, Ry, Rz, step);
    }
  }
  float* found = (float*)malloc(rows * cols * 4);
  CUDA_CALL(cudaMemcpy(found, d_temp[dst], rows * cols * 4, cudaMemcpyDeviceToHost));
  float* next = (float*)malloc(rows * cols * 4);
  for (int t = 0; t < steps; ++t) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        auto at = [&](int y, int x) { return temp[std::clamp(y, 0, rows - 1) * cols + std::clamp(x, 0, cols - 1)]; };
        next[r * cols + c] = at(r, c) + step / Cap * (power[r * cols + c] + (at(r + 1, c) + at(r - 1, c) - 2 * at(r, c)) / Ry +
                                                      (at(r, c + 1) + at(r, c - 1) - 2 * at(r, c)) / Rx + (80.0f - at(r, c)) / Rz);
      }
    std::swap(temp, next);
  }
  bool ok = true;
  for (int i = 0; i < rows * cols; ++i) ok = ok && fabsf(found[i] - temp[i]) < 1e-3f;
  report("hotspot", ok);
  cudaFree(d_temp[0]), cudaFree(d_temp[1]), cudaFree(d_power);
  free(temp), free(power), free(found), free(next);
}

// --- pathfinder ----------------------------------------------------------------------------------------------------
#define PATH_BLOCK 128
#define HALO 1
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
__global__ void dynproc_kernel(int iteration, int* gpuWall, int* gpuSrc, int* gpuResults, int cols, int startStep, int border) {
  __shared__ int prev[PATH_BLOCK];
  __shared__ int result[PATH_BLOCK];
  int bx = blockIdx.x, tx = threadIdx.x;
  int small_block_cols = PATH_BLOCK - iteration * HALO * 2;
  int blkX = small_block_cols * bx - border, blkXmax = blkX + PATH_BLOCK - 1;
  int xidx = blkX + tx;
  int validXmin = (blkX < 0) ? -blkX : 0;
  int validXmax = (blkXmax > cols - 1) ? PATH_BLOCK - 1 - (blkXmax - cols + 1) : PATH_BLOCK - 1;
  int W = tx - 1, E = tx + 1;
  W = (W < validXmin) ? validXmin : W;
  E = (E > validXmax) ? validXmax : E;
  bool isValid = IN_RANGE(tx, validXmin, validXmax);
  if (IN_RANGE(xidx, 0, cols - 1)) prev[tx] = gpuSrc[xidx];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, PATH_BLOCK - i - 2) && isValid) {
      computed = true;
      int shortest = MIN(prev[W], prev[tx]);
      shortest = MIN(shortest, prev[E]);
      result[tx] = shortest + gpuWall[cols * (startStep + i) + xidx];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) gpuResults[xidx] = result[tx];
}

static void pathfinder() {
  const int rows = 21, cols = 1000, pyramid = 5;
  int* data = new int[rows * cols];
  for (int i = 0; i < rows * cols; ++i) data[i] = (i * 7919) % 10;
  int *wall, *results[2];
  CUDA_CALL(cudaMalloc(&wall, sizeof(int) * (rows - 1) * cols));
  CUDA_CALL(cudaMalloc(&results[0], sizeof(int) * cols));
  CUDA_CALL(cudaMalloc(&results[1], sizeof(int) * cols));
  CUDA_CALL(cudaMemcpy(results[0], data, sizeof(int) * cols, cudaMemcpyHostToDevice));
  CUDA_CALL(cudaMemcpy(wall, data + cols, sizeof(int) * (rows - 1) * cols, cudaMemcpyHostToDevice));
  int src = 1, dst = 0;
  const int border = pyramid * HALO, small = PATH_BLOCK - pyramid * HALO * 2;
  for (int t = 0; t < rows - 1; t += pyramid) {
    std::swap(src, dst);
    dynproc_kernel<<<(cols + small - 1) / small, PATH_BLOCK>>>(MIN(pyramid, rows - t - 1), wall, results[src], results[dst], cols, t, border);
  }
  int* found = new int[cols];
  CUDA_CALL(cudaMemcpy(found, results[dst], sizeof(int) * cols, cudaMemcpyDeviceToHost));
  int *a = new int[cols], *b = new int[cols];
  memcpy(a, data, sizeof(int) * cols);
  for (int t = 1; t < rows; ++t) {
    for (int c = 0; c < cols; ++c)
      b[c] = data[t * cols + c] + std::min(a[c], std::min(a[std::max(c - 1, 0)], a[std::min(c + 1, cols - 1)]));
    std::swap(a, b);
  }
  report("pathfinder", memcmp(a, found, sizeof(int) * cols) == 0);
  delete[] data, delete[] found, delete[] a, delete[] b;
  cudaFree(wall), cudaFree(results[0]), cudaFree(results[1]);
}

// --- needleman-wunsch ----------------------------------------------------------------------------------------------
__device__ __host__ int maximum(int a, int b, int c) {
  int k = a <= b ? b : a;
  return k <= c ? c : k;
}
__global__ void needle_cuda(int* referrence, int* matrix_cuda, int cols, int penalty, int i, int block_width, int half) {
  int bx = blockIdx.x, tx = threadIdx.x;
  int b_index_x = half == 1 ? bx : bx + block_width - i;
  int b_index_y = half == 1 ? i - 1 - bx : block_width - bx - 1;
  int index = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + tx + (cols + 1);
  int index_n = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + tx + (1);
  int index_w = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + (cols);
  int index_nw = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x;
  __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
  __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
  if (tx == 0) temp[tx][0] = matrix_cuda[index_nw];
  for (int ty = 0; ty < BLOCK_SIZE; ty++) ref[ty][tx] = referrence[index + cols * ty];
  __syncthreads();
  temp[tx + 1][0] = matrix_cuda[index_w + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = matrix_cuda[index_n];
  __syncthreads();
  for (int m = 0; m < BLOCK_SIZE; m++) {
    if (tx <= m) {
      int x = tx + 1, y = m - tx + 1;
      temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int m = BLOCK_SIZE - 2; m >= 0; m--) {
    if (tx <= m) {
      int x = tx + BLOCK_SIZE - m, y = BLOCK_SIZE - tx;
      temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < BLOCK_SIZE; ty++) matrix_cuda[index + ty * cols] = temp[ty + 1][tx + 1];
}

static void needleman_wunsch() {
  const int n = 80, dim = n + 1, penalty = 10;
  int *reference = new int[dim * dim](), *items = new int[dim * dim]();
  for (int i = 1; i < dim; ++i)
    for (int j = 1; j < dim; ++j) reference[i * dim + j] = (i * 5 + j * 3 + i * j) % 15 - 4;
  for (int i = 1; i < dim; ++i) items[i * dim] = items[i] = -i * penalty;
  int *d_ref, *d_items;
  CUDA_CALL(cudaMalloc(&d_ref, sizeof(int) * dim * dim));
  CUDA_CALL(cudaMalloc(&d_items, sizeof(int) * dim * dim));
  CUDA_CALL(cudaMemcpy(d_ref, reference, sizeof(int) * dim * dim, cudaMemcpyHostToDevice));
  CUDA_CALL(cudaMemcpy(d_items, items, sizeof(int) * dim * dim, cudaMemcpyHostToDevice));
  const int width = n / BLOCK_SIZE;
  for (int i = 1; i <= width; i++) needle_cuda<<<i, BLOCK_SIZE>>>(d_ref, d_items, dim, penalty, i, width, 1);
  for (int i = width - 1; i >= 1; i--) needle_cuda<<<i, BLOCK_SIZE>>>(d_ref, d_items, dim, penalty, i, width, 2);
  int* found = new int[dim * dim];
  CUDA_CALL(cudaMemcpy(found, d_items, sizeof(int) * dim * dim, cudaMemcpyDeviceToHost));
  for (int i = 1; i < dim; ++i)
    for (int j = 1; j < dim; ++j)
      items[i * dim + j] = maximum(items[(i - 1) * dim + j - 1] + reference[i * dim + j], items[i * dim + j - 1] - penalty,
                                   items[(i - 1) * dim + j] - penalty);
  report("nw", memcmp(found, items, sizeof(int) * dim * dim) == 0);
  delete[] reference, delete[] items, delete[] found;
  cudaFree(d_ref), cudaFree(d_items);
}

// --- lud -----------------------------------------------------------------------------------------------------------
__global__ void lud_diagonal(float* m, int dim, int offset) {
  __shared__ float shadow[BLOCK_SIZE][BLOCK_SIZE];
  int array_offset = offset * dim + offset;
  for (int i = 0; i < BLOCK_SIZE; i++, array_offset += dim) shadow[i][threadIdx.x] = m[array_offset + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < BLOCK_SIZE - 1; i++) {
    if (threadIdx.x > i) {
      for (int j = 0; j < i; j++) shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }
    __syncthreads();
    if (threadIdx.x > i)
      for (int j = 0; j < i + 1; j++) shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
    __syncthreads();
  }
  array_offset = (offset + 1) * dim + offset;
  for (int i = 1; i < BLOCK_SIZE; i++, array_offset += dim) m[array_offset + threadIdx.x] = shadow[i][threadIdx.x];
}
__global__ void lud_perimeter(float* m, int dim, int offset) {
  __shared__ float dia[BLOCK_SIZE][BLOCK_SIZE], row[BLOCK_SIZE][BLOCK_SIZE], col[BLOCK_SIZE][BLOCK_SIZE];
  int idx = threadIdx.x % BLOCK_SIZE;
  bool upper = threadIdx.x < BLOCK_SIZE;
  int next = (blockIdx.x + 1) * BLOCK_SIZE;
  for (int i = upper ? 0 : 1; i < BLOCK_SIZE; i += 2) dia[i][idx] = m[(offset + i) * dim + offset + idx];
  for (int i = 0; i < BLOCK_SIZE; ++i) {
    if (upper) row[i][idx] = m[(offset + i) * dim + offset + next + idx];
    else col[i][idx] = m[(offset + next + i) * dim + offset + idx];
  }
  __syncthreads();
  if (upper) {
    for (int i = 1; i < BLOCK_SIZE; i++)
      for (int j = 0; j < i; j++) row[i][idx] -= dia[i][j] * row[j][idx];
  } else {
    for (int i = 0; i < BLOCK_SIZE; i++) {
      for (int j = 0; j < i; j++) col[idx][i] -= col[idx][j] * dia[j][i];
      col[idx][i] /= dia[i][i];
    }
  }
  __syncthreads();
  for (int i = 0; i < BLOCK_SIZE; ++i) {
    if (upper) m[(offset + i) * dim + offset + next + idx] = row[i][idx];
    else m[(offset + next + i) * dim + offset + idx] = col[i][idx];
  }
}
__global__ void lud_internal(float* m, int dim, int offset) {
  __shared__ float row[BLOCK_SIZE][BLOCK_SIZE], col[BLOCK_SIZE][BLOCK_SIZE];
  int global_row = offset + (blockIdx.y + 1) * BLOCK_SIZE, global_col = offset + (blockIdx.x + 1) * BLOCK_SIZE;
  row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * dim + global_col + threadIdx.x];
  col[threadIdx.y][threadIdx.x] = m[(global_row + threadIdx.y) * dim + offset + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < BLOCK_SIZE; i++) sum += col[threadIdx.y][i] * row[i][threadIdx.x];
  m[(global_row + threadIdx.y) * dim + global_col + threadIdx.x] -= sum;
}

static void lud() {
  const int dim = 64;
  float *m = new float[dim * dim], *lu = new float[dim * dim];
  for (int i = 0; i < dim * dim; ++i) m[i] = float((i * 13) % 29) / 29.0f + (i % (dim + 1) == 0 ? 20.0f : 0.0f);
  float* d_m;
  CUDA_CALL(cudaMalloc(&d_m, sizeof(float) * dim * dim));
  CUDA_CALL(cudaMemcpy(d_m, m, sizeof(float) * dim * dim, cudaMemcpyHostToDevice));
  int i = 0;
  for (; i < dim - BLOCK_SIZE; i += BLOCK_SIZE) {
    lud_diagonal<<<1, BLOCK_SIZE>>>(d_m, dim, i);
    int blocks = (dim - i) / BLOCK_SIZE - 1;
    lud_perimeter<<<blocks, BLOCK_SIZE * 2>>>(d_m, dim, i);
    lud_internal<<<dim3(blocks, blocks), dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(d_m, dim, i);
  }
  lud_diagonal<<<1, BLOCK_SIZE>>>(d_m, dim, i);
  CUDA_CALL(cudaMemcpy(lu, d_m, sizeof(float) * dim * dim, cudaMemcpyDeviceToHost));
  bool ok = true;
  for (int r = 0; r < dim; ++r)
    for (int c = 0; c < dim; ++c) {
      double sum = 0;
      for (int k = 0; k <= std::min(r, c); ++k) sum += (k == r ? 1.0 : lu[r * dim + k]) * lu[k * dim + c];
      ok = ok && fabs(sum - m[r * dim + c]) < 1e-3;
    }
  report("lud", ok);
  delete[] m, delete[] lu;
  cudaFree(d_m);
}

// --- srad ----------------------------------------------------------------------------------------------------------
__global__ void srad_cuda_1(const float* J, float* c, int cols, int rows, float q0sqr) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float jc = J[y * cols + x];
  float n = J[max(y - 1, 0) * cols + x] - jc, s = J[min(y + 1, rows - 1) * cols + x] - jc;
  float w = J[y * cols + max(x - 1, 0)] - jc, e = J[y * cols + min(x + 1, cols - 1)] - jc;
  float g2 = (n * n + s * s + w * w + e * e) / (jc * jc), l = (n + s + w + e) / jc;
  float num = (0.5f * g2) - ((1.0f / 16.0f) * (l * l)), den = 1 + (.25f * l), qsqr = num / (den * den);
  den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
  c[y * cols + x] = fminf(fmaxf(1.0f / (1.0f + den), 0.0f), 1.0f);
}
__global__ void srad_cuda_2(float* J, const float* before, const float* c, int cols, int rows, float lambda) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  float jc = before[y * cols + x], cc = c[y * cols + x];
  float d = cc * (before[max(y - 1, 0) * cols + x] - jc) + c[min(y + 1, rows - 1) * cols + x] * (before[min(y + 1, rows - 1) * cols + x] - jc) +
            cc * (before[y * cols + max(x - 1, 0)] - jc) + c[y * cols + min(x + 1, cols - 1)] * (before[y * cols + min(x + 1, cols - 1)] - jc);
  J[y * cols + x] = jc + 0.25f * lambda * d;
}

static void srad() {
  const int rows = 48, cols = 80, size = rows * cols;
  const float lambda = 0.5f;
  float *J = new float[size], *found = new float[size], *c = new float[size], *next = new float[size];
  for (int i = 0; i < size; ++i) J[i] = expf(float((i * 37) % 101) / 101.0f);
  float *d_J, *d_old, *d_c;
  CUDA_CALL(cudaMalloc(&d_J, 4 * size));
  CUDA_CALL(cudaMalloc(&d_old, 4 * size));
  CUDA_CALL(cudaMalloc(&d_c, 4 * size));
  CUDA_CALL(cudaMemcpy(d_J, J, 4 * size, cudaMemcpyHostToDevice));
  dim3 block(16, 16), grid((cols + 15) / 16, (rows + 15) / 16);
  for (int iteration = 0; iteration < 3; ++iteration) {
    // The statistics of the whole image are the host's, as in the original.
    CUDA_CALL(cudaMemcpy(found, d_J, 4 * size, cudaMemcpyDeviceToHost));
    float sum = 0, sum2 = 0;
    for (int i = 0; i < size; ++i) sum += found[i], sum2 += found[i] * found[i];
    float mean = sum / size, q0sqr = (sum2 / size - mean * mean) / (mean * mean);
    srad_cuda_1<<<grid, block>>>(d_J, d_c, cols, rows, q0sqr);
    CUDA_CALL(cudaMemcpy(d_old, d_J, 4 * size, cudaMemcpyDeviceToDevice));
    srad_cuda_2<<<grid, block>>>(d_J, d_old, d_c, cols, rows, lambda);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < cols; ++x) {
        auto at = [&](int r, int k) { return J[std::clamp(r, 0, rows - 1) * cols + std::clamp(k, 0, cols - 1)]; };
        float jc = at(y, x), n = at(y - 1, x) - jc, s = at(y + 1, x) - jc, w = at(y, x - 1) - jc, e = at(y, x + 1) - jc;
        float g2 = (n * n + s * s + w * w + e * e) / (jc * jc), l = (n + s + w + e) / jc;
        float num = 0.5f * g2 - l * l / 16, den = 1 + 0.25f * l, q = num / (den * den);
        c[y * cols + x] = std::clamp(1 / (1 + (q - q0sqr) / (q0sqr * (1 + q0sqr))), 0.0f, 1.0f);
      }
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < cols; ++x) {
        auto at = [&](const float* p, int r, int k) { return p[std::clamp(r, 0, rows - 1) * cols + std::clamp(k, 0, cols - 1)]; };
        float jc = at(J, y, x), cc = at(c, y, x);
        next[y * cols + x] = jc + 0.25f * lambda * (cc * (at(J, y - 1, x) - jc) + at(c, y + 1, x) * (at(J, y + 1, x) - jc) +
                                                    cc * (at(J, y, x - 1) - jc) + at(c, y, x + 1) * (at(J, y, x + 1) - jc));
      }
    std::swap(J, next);
  }
  CUDA_CALL(cudaMemcpy(found, d_J, 4 * size, cudaMemcpyDeviceToHost));
  bool ok = true;
  for (int i = 0; i < size; ++i) ok = ok && fabsf(found[i] - J[i]) < 1e-4f;
  report("srad", ok);
  delete[] J, delete[] found, delete[] c, delete[] next;
  cudaFree(d_J), cudaFree(d_old), cudaFree(d_c);
}

int main() {
  hotspot();
  pathfinder();
  needleman_wunsch();
  lud();
  srad();
  CUDA_CALL(cudaDeviceSynchronize());
  return failed;
}
