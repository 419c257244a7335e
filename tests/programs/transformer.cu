// llm.c style: the pieces of a transformer's forward and backward pass, each against the host.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>

namespace cg = cooperative_groups;
template <class T>
__host__ __device__ T ceil_div(T dividend, T divisor) { return (dividend + divisor - 1) / divisor; }

inline void cudaCheck_(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess) {
    printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
}
#define cudaCheck(err) (cudaCheck_(err, __FILE__, __LINE__))

__global__ void encoder_forward_kernel(float* out, const int* inp, const float* wte, const float* wpe, int B, int T, int C) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x, N = B * T * C;
  if (idx < N) {
    int bt = idx / C, t = bt % T, c = idx % C;
    out[idx] = wte[inp[bt] * C + c] + wpe[t * C + c];
  }
}

__global__ void layernorm_forward_kernel(float* __restrict__ out, float* __restrict__ mean, float* __restrict__ rstd, const float* __restrict__ inp,
                                         const float* __restrict__ weight, const float* __restrict__ bias, int N, int C) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (idx >= N) return;
  const float* x = inp + idx * C;
  float sum = 0.0f;
  for (int i = warp.thread_rank(); i < C; i += warp.size()) sum += x[i];
  float m = cg::reduce(warp, sum, cg::plus<float>{}) / C;
  if (warp.thread_rank() == 0 && mean != nullptr) __stcs(mean + idx, m);
  sum = 0.0f;
  for (int i = warp.thread_rank(); i < C; i += warp.size()) sum += (x[i] - m) * (x[i] - m);
  float s = rsqrtf(cg::reduce(warp, sum, cg::plus<float>{}) / C + 1e-5f);
  if (warp.thread_rank() == 0 && rstd != nullptr) __stcs(rstd + idx, s);
  for (int c = warp.thread_rank(); c < C; c += warp.size()) __stcs(out + idx * C + c, s * (__ldcs(x + c) - m) * weight[c] + bias[c]);
}

__global__ void __launch_bounds__(256) matmul_forward_kernel(float* out, const float* inp, const float* weight, const float* bias, int N, int C, int OC) {
  // out[n][o] = sum_c inp[n][c] * weight[o][c] + bias[o]; 64x64 tiles, four by four results a thread
  __shared__ float lhs[64][33], rhs[64][33];
  int n0 = blockIdx.x * 64, o0 = blockIdx.y * 64, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float vals[4][4] = {};
  for (int k0 = 0; k0 < C; k0 += 32) {
    for (int i = threadIdx.x; i < 64 * 32; i += 256) {
      int row = i / 32, k = i % 32;
      lhs[row][k] = n0 + row < N && k0 + k < C ? inp[(n0 + row) * C + k0 + k] : 0.0f;
      rhs[row][k] = o0 + row < OC && k0 + k < C ? weight[(o0 + row) * C + k0 + k] : 0.0f;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 32; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) vals[i][j] += lhs[ty + 16 * i][k] * rhs[tx + 16 * j][k];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      int n = n0 + ty + 16 * i, o = o0 + tx + 16 * j;
      if (n < N && o < OC) out[n * OC + o] = vals[i][j] + (bias != nullptr ? bias[o] : 0.0f);
    }
}

__global__ void attention_kernel(float* out, float* att, const float* qkv, int B, int T, int C, int NH) {
  // one warp a (batch, head, query); causal
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= B * NH * T) return;
  int t = warp % T, h = warp / T % NH, b = warp / (T * NH), hs = C / NH;
  const float* q = qkv + (b * T + t) * 3 * C + h * hs;
  float* row = att + warp * T;
  float best = -INFINITY;
  for (int t2 = lane; t2 <= t; t2 += 32) {
    const float* k = qkv + (b * T + t2) * 3 * C + C + h * hs;
    float dot = 0;
    for (int i = 0; i < hs; ++i) dot += q[i] * k[i];
    dot *= rsqrtf(float(hs));
    row[t2] = dot;
    best = fmaxf(best, dot);
  }
  for (int d = 16; d > 0; d /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, d));
  float sum = 0;
  for (int t2 = lane; t2 <= t; t2 += 32) sum += row[t2] = expf(row[t2] - best);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int t2 = lane; t2 < T; t2 += 32) row[t2] = t2 <= t ? row[t2] / sum : 0.0f;
  __syncwarp();
  for (int i = lane; i < hs; i += 32) {
    float acc = 0;
    for (int t2 = 0; t2 <= t; ++t2) acc += row[t2] * qkv[(b * T + t2) * 3 * C + 2 * C + h * hs + i];
    out[(b * T + t) * C + h * hs + i] = acc;
  }
}

#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)
__global__ void gelu_forward_kernel(float4* out, const float4* inp, int N4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N4) return;
  float4 x = inp[i];
  auto gelu = [](float v) { return 0.5f * v * (1.0f + tanhf(GELU_SCALING_FACTOR * (v + 0.044715f * v * v * v))); };
  out[i] = make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w));
}
__global__ void gelu_backward_kernel(float* dinp, const float* inp, const float* dout, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float x = inp[i], cube = 0.044715f * x * x * x, arg = GELU_SCALING_FACTOR * (x + cube), t = tanhf(arg), sech = 1 / coshf(arg);
  dinp[i] = (0.5f * (1.0f + t) + x * 0.5f * sech * sech * GELU_SCALING_FACTOR * (1.0f + 3.0f * 0.044715f * x * x)) * dout[i];
}

__device__ float2 block_softmax(const float* row, int V) {
  __shared__ float shared_max[32], shared_sum[32];
  float best = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < V; i += blockDim.x) {
    float v = row[i];
    if (v > best) sum *= expf(best - v), best = v;
    sum += expf(v - best);
  }
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float m = best;
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  sum *= expf(best - m);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) shared_max[warp] = m, shared_sum[warp] = sum;
  __syncthreads();
  float all = lane < warps ? shared_max[lane] : -INFINITY;
  for (int d = 16; d > 0; d /= 2) all = fmaxf(all, __shfl_xor_sync(0xffffffffu, all, d));
  float part = lane < warps ? shared_sum[lane] * expf(shared_max[lane] - all) : 0.0f;
  for (int d = 16; d > 0; d /= 2) part += __shfl_xor_sync(0xffffffffu, part, d);
  return make_float2(all, 1.0f / part);
}
__global__ void fused_classifier_kernel(float* logits, float* losses, const int* targets, int V, float dloss) {
  float* row = logits + blockIdx.x * V;
  int target = targets[blockIdx.x];
  float2 sp = block_softmax(row, V);
  if (threadIdx.x == 0) losses[blockIdx.x] = -logf(expf(row[target] - sp.x) * sp.y);
  __syncthreads();
  for (int i = threadIdx.x; i < V; i += blockDim.x) row[i] = (expf(row[i] - sp.x) * sp.y - (i == target ? 1.0f : 0.0f)) * dloss;
}

__global__ void layernorm_backward_kernel(float* dinp, float* dweight, float* dbias, const float* dout, const float* inp, const float* weight,
                                          const float* mean, const float* rstd, int N, int C) {
  extern __shared__ float shared[];
  float *dbias_shared = shared, *dweight_shared = shared + C;
  for (int i = threadIdx.x; i < 2 * C; i += blockDim.x) shared[i] = 0.0f;
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, idx = blockIdx.x * (blockDim.x / 32) + warp;
  if (idx < N) {
    float a = 0, b = 0;
    for (int i = lane; i < C; i += 32) {
      float norm = (inp[idx * C + i] - mean[idx]) * rstd[idx], d = weight[i] * dout[idx * C + i];
      a += d, b += d * norm;
    }
    for (int d = 16; d > 0; d /= 2) a += __shfl_xor_sync(0xffffffffu, a, d), b += __shfl_xor_sync(0xffffffffu, b, d);
    a /= C, b /= C;
    for (int i = lane; i < C; i += 32) {
      float norm = (inp[idx * C + i] - mean[idx]) * rstd[idx];
      atomicAdd(&dbias_shared[i], dout[idx * C + i]);
      atomicAdd(&dweight_shared[i], norm * dout[idx * C + i]);
      dinp[idx * C + i] += (weight[i] * dout[idx * C + i] - a - norm * b) * rstd[idx];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < C; i += blockDim.x) {
    atomicAdd(&dbias[i], dbias_shared[i]);
    atomicAdd(&dweight[i], dweight_shared[i]);
  }
}

__global__ void adamw_kernel(float* params, const float* grads, float* m, float* v, long n, float lr, float beta1, float beta2, float c1, float c2, float eps, float decay) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  float g = grads[i];
  m[i] = beta1 * m[i] + (1 - beta1) * g;
  v[i] = beta2 * v[i] + (1 - beta2) * g * g;
  params[i] -= lr * (m[i] / c1 / (sqrtf(v[i] / c2) + eps) + decay * params[i]);
}

static int failures = 0;
static void compare(const char* name, const std::vector<double>& expected, const std::vector<float>& found, double tolerance) {
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::fabs(expected[i] - found[i]) / (1 + std::fabs(expected[i])));
  bool ok = worst <= tolerance;  // false for NaN
  printf("%-20s %s (largest error %.1e)\n", name, ok ? "OK" : "NOT OK", worst);
  failures += !ok;
}
static std::vector<float> random_values(size_t n, unsigned seed) {
  std::vector<float> v(n);
  for (float& x : v) seed = seed * 1664525u + 1013904223u, x = float(seed >> 8) / float(1 << 24) - 0.5f;
  return v;
}
struct Tensor {
  float* d = nullptr;
  size_t n;
  explicit Tensor(const std::vector<float>& v) : n(v.size()) {
    cudaCheck(cudaMalloc(&d, n * sizeof(float)));
    cudaCheck(cudaMemcpy(d, v.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  }
  explicit Tensor(size_t count) : Tensor(std::vector<float>(count, 0.0f)) {}
  ~Tensor() { cudaFree(d); }
  std::vector<float> get() const {
    std::vector<float> v(n);
    cudaCheck(cudaMemcpy(v.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost));
    return v;
  }
};

int main() {
  const int B = 2, T = 24, C = 64, NH = 4, V = 150, N = B * T, hs = C / NH;
  cudaDeviceProp deviceProp;
  cudaCheck(cudaGetDeviceProperties(&deviceProp, 0));
  printf("Device: %s\n", deviceProp.name);

  std::vector<float> wte = random_values(V * C, 1), wpe = random_values(T * C, 2), weight = random_values(C, 3), bias = random_values(C, 4);
  std::vector<int> tokens(N), targets(N);
  for (int i = 0; i < N; ++i) tokens[i] = i * 31 % V, targets[i] = i * 17 % V;
  int *d_tokens, *d_targets;
  cudaCheck(cudaMalloc(&d_tokens, N * sizeof(int)));
  cudaCheck(cudaMalloc(&d_targets, N * sizeof(int)));
  cudaCheck(cudaMemcpy(d_tokens, tokens.data(), N * sizeof(int), cudaMemcpyHostToDevice));
  cudaCheck(cudaMemcpy(d_targets, targets.data(), N * sizeof(int), cudaMemcpyHostToDevice));

  Tensor d_wte(wte), d_wpe(wpe), x(size_t(N) * C);
  encoder_forward_kernel<<<ceil_div(N * C, 256), 256>>>(x.d, d_tokens, d_wte.d, d_wpe.d, B, T, C);
  cudaCheck(cudaGetLastError());
  std::vector<float> hx = x.get();
  std::vector<double> expected(size_t(N) * C);
  for (int i = 0; i < N * C; ++i) expected[i] = wte[tokens[i / C] * C + i % C] + wpe[i / C % T * C + i % C];
  compare("encoder", expected, hx, 1e-6);

  Tensor d_weight(weight), d_bias(bias), ln(size_t(N) * C), mean(N), rstd(N);
  layernorm_forward_kernel<<<ceil_div(N * 32, 256), 256>>>(ln.d, mean.d, rstd.d, x.d, d_weight.d, d_bias.d, N, C);
  cudaCheck(cudaGetLastError());
  std::vector<double> hm(N), hr(N);
  for (int n = 0; n < N; ++n) {
    for (int c = 0; c < C; ++c) hm[n] += hx[n * C + c] / C;
    double var = 0;
    for (int c = 0; c < C; ++c) var += (hx[n * C + c] - hm[n]) * (hx[n * C + c] - hm[n]) / C;
    hr[n] = 1 / sqrt(var + 1e-5);
    for (int c = 0; c < C; ++c) expected[n * C + c] = hr[n] * (hx[n * C + c] - hm[n]) * weight[c] + bias[c];
  }
  compare("layernorm", expected, ln.get(), 1e-4);

  std::vector<float> wqkv = random_values(3 * C * C, 5), bqkv = random_values(3 * C, 6), hln = ln.get();
  Tensor d_wqkv(wqkv), d_bqkv(bqkv), qkv(size_t(N) * 3 * C);
  matmul_forward_kernel<<<dim3(ceil_div(N, 64), ceil_div(3 * C, 64)), 256>>>(qkv.d, ln.d, d_wqkv.d, d_bqkv.d, N, C, 3 * C);
  cudaCheck(cudaGetLastError());
  std::vector<double> mm(size_t(N) * 3 * C);
  for (int n = 0; n < N; ++n)
    for (int o = 0; o < 3 * C; ++o) {
      double sum = bqkv[o];
      for (int c = 0; c < C; ++c) sum += double(hln[n * C + c]) * wqkv[o * C + c];
      mm[n * 3 * C + o] = sum;
    }
  compare("matmul", mm, qkv.get(), 1e-4);

  Tensor out(size_t(N) * C), att(size_t(B) * NH * T * T);
  attention_kernel<<<ceil_div(B * NH * T * 32, 128), 128>>>(out.d, att.d, qkv.d, B, T, C, NH);
  cudaCheck(cudaGetLastError());
  std::vector<float> hq = qkv.get();
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < NH; ++h)
      for (int t = 0; t < T; ++t) {
        std::vector<double> p(t + 1);
        double sum = 0;
        for (int t2 = 0; t2 <= t; ++t2) {
          double dot = 0;
          for (int i = 0; i < hs; ++i) dot += double(hq[(b * T + t) * 3 * C + h * hs + i]) * hq[(b * T + t2) * 3 * C + C + h * hs + i];
          sum += p[t2] = exp(dot / sqrt(double(hs)));
        }
        for (int i = 0; i < hs; ++i) {
          double acc = 0;
          for (int t2 = 0; t2 <= t; ++t2) acc += p[t2] / sum * hq[(b * T + t2) * 3 * C + 2 * C + h * hs + i];
          expected[(b * T + t) * C + h * hs + i] = acc;
        }
      }
  compare("attention", expected, out.get(), 1e-4);

  Tensor act(size_t(N) * C), dact(size_t(N) * C);
  gelu_forward_kernel<<<ceil_div(N * C / 4, 128), 128>>>((float4*)act.d, (const float4*)x.d, N * C / 4);
  gelu_backward_kernel<<<ceil_div(N * C, 128), 128>>>(dact.d, x.d, ln.d, N * C);
  cudaCheck(cudaGetLastError());
  std::vector<double> dgelu(size_t(N) * C);
  for (int i = 0; i < N * C; ++i) {
    double v = hx[i], k = sqrt(2 / M_PI), arg = k * (v + 0.044715 * v * v * v), th = tanh(arg);
    expected[i] = 0.5 * v * (1 + th);
    dgelu[i] = (0.5 * (1 + th) + 0.5 * v * (1 - th * th) * k * (1 + 3 * 0.044715 * v * v)) * hln[i];
  }
  compare("gelu", expected, act.get(), 1e-5);
  compare("gelu backward", dgelu, dact.get(), 1e-4);

  std::vector<float> hl = random_values(size_t(N) * V, 7);
  for (float& l : hl) l *= 8;
  Tensor logits(hl), losses(N);
  fused_classifier_kernel<<<N, 96>>>(logits.d, losses.d, d_targets, V, 1.0f / N);
  cudaCheck(cudaGetLastError());
  std::vector<double> loss(N), dlogits(size_t(N) * V);
  for (int n = 0; n < N; ++n) {
    double best = -1e30, sum = 0;
    for (int v = 0; v < V; ++v) best = std::max(best, double(hl[n * V + v]));
    for (int v = 0; v < V; ++v) sum += exp(hl[n * V + v] - best);
    loss[n] = -(hl[n * V + targets[n]] - best - log(sum));
    for (int v = 0; v < V; ++v) dlogits[n * V + v] = (exp(hl[n * V + v] - best) / sum - (v == targets[n])) / N;
  }
  compare("losses", loss, losses.get(), 1e-4);
  compare("classifier", dlogits, logits.get(), 1e-5);

  Tensor dinp(size_t(N) * C), dw(C), db(C), dout(random_values(size_t(N) * C, 8));
  cudaCheck(cudaFuncSetAttribute(layernorm_backward_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * C * int(sizeof(float))));
  layernorm_backward_kernel<<<ceil_div(N, 8), 256, 2 * C * sizeof(float)>>>(dinp.d, dw.d, db.d, dout.d, x.d, d_weight.d, mean.d, rstd.d, N, C);
  cudaCheck(cudaGetLastError());
  std::vector<float> hd = dout.get();
  std::vector<double> ew(C), eb(C);
  for (int n = 0; n < N; ++n) {
    double a = 0, b = 0;
    for (int c = 0; c < C; ++c) {
      double norm = (hx[n * C + c] - hm[n]) * hr[n], d = double(weight[c]) * hd[n * C + c];
      a += d / C, b += d * norm / C;
      ew[c] += norm * hd[n * C + c], eb[c] += hd[n * C + c];
    }
    for (int c = 0; c < C; ++c) {
      double norm = (hx[n * C + c] - hm[n]) * hr[n];
      expected[n * C + c] = (double(weight[c]) * hd[n * C + c] - a - norm * b) * hr[n];
    }
  }
  compare("layernorm backward", expected, dinp.get(), 1e-4);
  compare("  weight", ew, dw.get(), 1e-4);
  compare("  bias", eb, db.get(), 1e-4);

  std::vector<float> hp = random_values(1000, 9), hg = random_values(1000, 10);
  Tensor params(hp), grads(hg), m(1000), v(1000);
  for (int step = 1; step <= 3; ++step) {
    adamw_kernel<<<ceil_div(1000, 512), 512>>>(params.d, grads.d, m.d, v.d, 1000, 1e-2f, 0.9f, 0.95f, 1 - std::pow(0.9f, float(step)), 1 - std::pow(0.95f, float(step)), 1e-8f, 0.01f);
  }
  cudaCheck(cudaDeviceSynchronize());
  std::vector<double> ep(hp.begin(), hp.end());
  for (int i = 0; i < 1000; ++i) {
    double em = 0, ev = 0;
    for (int step = 1; step <= 3; ++step) {
      em = 0.9 * em + 0.1 * hg[i], ev = 0.95 * ev + 0.05 * double(hg[i]) * hg[i];
      ep[i] -= 1e-2 * (em / (1 - pow(0.9, step)) / (sqrt(ev / (1 - pow(0.95, step))) + 1e-8) + 0.01 * ep[i]);
    }
  }
  compare("adamw", ep, params.get(), 1e-4);
  cudaCheck(cudaFree(d_tokens));
  cudaCheck(cudaFree(d_targets));
  return failures;
}
