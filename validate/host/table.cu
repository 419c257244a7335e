// Points that configs/hosts was not fitted to: gaps, graphs, dependent launches, calls, copies and programs in which they overlap. A row per
// point, tab separated: kind, point, method, unit, median, p10, p90, repeats. table.py builds it, with and without CUPTI, and predicts it.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "stamps.cuh"
#include "table_activity.cuh"

using Clock = std::chrono::steady_clock;

// A kernel that lasts as long as its rounds, about 2.27 ns each, and where it is asked to, says when it began and ended.
__global__ void work(int rounds, Stamp* t) {
  if (t && threadIdx.x == 0) t[0] = now();
  const float v = chain(threadIdx.x, rounds);
  __syncthreads();
  if (t && threadIdx.x == 0) t[1] = now();
  if (t && v < 0) t[0] = 0;
}
// Of programmatic dependent launches: the next may begin at once, has work of its own before it waits, or is let go in the end.
__global__ void trigger_first(int before, int rounds, Stamp* t) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  float v = chain(threadIdx.x, before);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (t && threadIdx.x == 0) t[0] = now();
  v = chain(v, rounds);
  if (t && threadIdx.x == 0) t[1] = now();
  if (t && v < 0) t[0] = 0;
}
__global__ void trigger_last(int before, int rounds, Stamp* t) {
  float v = chain(threadIdx.x, before);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (t && threadIdx.x == 0) t[0] = now();
  v = chain(v, rounds);
  if (t && threadIdx.x == 0) t[1] = now();
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (t && v < 0) t[0] = 0;
}
__global__ void polynomial(float* x, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = chain(x[i], rounds);
}
__global__ void scale(float* x, const float* y, int n, float a) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = y[i] * a;
}

static bool predict = false;
static const int kStreams = 8, kStamps = 64;
static const size_t KiB = 1024, MiB = 1024 * KiB, kBig = 768 * MiB;
static cudaStream_t s[kStreams];
static cudaEvent_t from, to, plain[kStreams], timed;
static Stamp* stamps;
static char *d, *d2, *pinned, *pageable;

enum Method : unsigned { kCall = 1, kEvents = 2, kStamped = 4, kGap = 8, kTime = 16, kSpan = 32 };
static const struct {
  Method method;
  const char* name;
} kMethods[] = {{kCall, "call"},     {kEvents, "events"},   {kStamped, "stamps"},
                {kGap, "cupti gap"}, {kTime, "cupti time"}, {kSpan, "cupti span"}};

static int rounds_of(double us) { return int(us * 440); }

static double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return v.empty() ? 0 : sum / v.size();
}

struct Point {
  std::string kind, name;
  unsigned methods;
  double per;     // what times are divided by
  double behind;  // us of a kernel that the work waits for, which hides the calls; 0: the GPU is idle
  int repeats = 200;
  const char* alone = "";  // with stamps: the short kernel of which they leave out the begin and the end
};

static void row(const Point& p, const char* method, std::vector<double> v) {
  printf("%s\t%s\t%s\tus\t", p.kind.c_str(), p.name.c_str(), method);
  if (predict) {
    printf("%.4f\t%g\t%s\n", v.empty() ? 0 : v[0], p.per, p.alone);
  } else {
    std::sort(v.begin(), v.end());
    printf("%.4f\t%.4f\t%.4f\t%zu\n", v[v.size() / 2], v[v.size() / 10], v[v.size() * 9 / 10], v.size());
  }
  fflush(stdout);
}

static void measure(const Point& p, const std::function<void()>& calls, int stamped = 0) {
  const bool traced = activity::on();
  const unsigned mine = p.methods & (predict  ? ~0u
                                     : traced ? kGap | kTime | kSpan
                                              : kCall | kEvents | kStamped);
  if (!mine) return;
  const std::string outer = "p " + p.kind + "/" + p.name, inner = "c " + p.kind + "/" + p.name;
  std::vector<double> values[6];
  const int warm = predict ? 0 : p.repeats < 200 ? 1 : 5, repeats = predict ? 1 : p.repeats;
  for (int i = 0; i < warm + repeats; ++i) {
    OK(cudaDeviceSynchronize());
    activity::take();
    nvtxRangePushA(outer.c_str());
    if (p.behind > 0) block<<<1, 32, 0, s[0]>>>(rounds_of(p.behind * (traced ? 3 : 1)), stamps);
    if (p.methods & kEvents) OK(cudaEventRecord(from, s[0]));
    nvtxRangePushA(inner.c_str());
    const auto begin = Clock::now();
    calls();
    const auto end = Clock::now();
    nvtxRangePop();
    if (p.methods & kEvents) OK(cudaEventRecord(to, s[0]));
    OK(cudaDeviceSynchronize());
    nvtxRangePop();
    if (i < warm) continue;
    if (mine & kCall)
      values[0].push_back(std::chrono::duration<double, std::micro>(end - begin).count() / p.per);
    if (mine & kEvents) {
      float ms;
      OK(cudaEventElapsedTime(&ms, from, to));
      values[1].push_back(ms * 1e3 / p.per);
    }
    if (mine & kStamped && !predict) {
      Stamp t[2 * kStamps];
      OK(cudaMemcpy(t, stamps, sizeof t, cudaMemcpyDeviceToHost));
      std::vector<double> gaps;
      for (int k = 1; k < stamped; ++k) gaps.push_back((double(t[2 * k]) - double(t[2 * k - 1])) * 1e-3);
      values[2].push_back(mean(gaps));
    }
    if (traced) {
      const std::vector<activity::Work> work = activity::take();
      std::vector<double> gaps;
      double time = 0, last = 0;
      for (size_t k = 0; k < work.size(); ++k)
        time += work[k].end - work[k].begin, last = std::max(last, work[k].end);
      for (size_t k = 1; k < work.size(); ++k) gaps.push_back(work[k].begin - work[k - 1].end);
      values[3].push_back(mean(gaps));
      values[4].push_back(time / p.per);
      values[5].push_back(work.empty() ? 0 : (last - work[0].begin) / p.per);
    }
  }
  for (int m = 0; m < 6; ++m) {
    if (mine & kMethods[m].method) row(p, kMethods[m].name, values[m]);
  }
}

static std::string text(const char* format, long a, long b = 0, long c = 0) {
  char out[200];
  snprintf(out, sizeof out, format, a, b, c);
  return out;
}
static std::string bytes(size_t n) {
  char out[50];
  n >= MiB ? snprintf(out, sizeof out, "%g MiB", double(n) / MiB)
           : snprintf(out, sizeof out, "%g KiB", double(n) / KiB);
  return out;
}

#include "table_points.cuh"

int main(int argc, char** argv) {
  predict = argc > 1 && !strcmp(argv[1], "predict");
  OK(cudaSetDevice(0));
  OK(cudaFree(0));
  for (auto& x : s) OK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
  for (auto* x : {&from, &to, &timed}) OK(cudaEventCreate(x));
  for (auto& x : plain) OK(cudaEventCreateWithFlags(&x, cudaEventDisableTiming));
  OK(cudaMalloc(&stamps, 2 * kStamps * sizeof(Stamp)));
  OK(cudaMalloc(&d, kBig));
  OK(cudaMalloc(&d2, kBig));
  OK(cudaMallocHost(&pinned, kBig));
  pageable = static_cast<char*>(malloc(kBig));
  if (!predict) memset(pinned, 0, kBig), memset(pageable, 0, kBig);
  OK(cudaMemset(d, 0, 64 * MiB));
  OK(cudaMemset(d2, 0, 64 * MiB));
  if (!predict) {
    for (int i = 0; i < 300; ++i) work<<<132, 256, 0, s[0]>>>(rounds_of(1000), nullptr);  // clocks up
  }
  OK(cudaDeviceSynchronize());
  activity::start();
  gaps();
  dependents();
  graphs();
  calls();
  copies();
  overlaps();
  beside();
  return 0;
}
