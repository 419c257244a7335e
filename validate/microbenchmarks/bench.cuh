// What every microbenchmark shares: clock reads, one-SM timing, and JSON lines.
//
// Models:  nothing. A microbenchmark asks the device one question and prints the answer.
// Ignores: host time; every interval here is a count of the SM's own clock (clock64, read by
//          CS2R) or of the device's nanosecond timer (globaltimer).
// Source:  the PTX ISA manual for the special registers and the cache operators.
//
// Method. A body of operations is timed at two lengths and the slope is the answer, so that the
// clock reads, the loop and the first fetch cancel. Each measurement is repeated; the value is the
// median and the spread is the distance between the largest and the smallest repeat.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace bench {

/// Ends the program with the call's own message when a CUDA call failed.
inline void check(cudaError_t error, const char* what, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) ::bench::check((call), #call, __FILE__, __LINE__)

/// One warp's (or block's) interval on the clock of its SM, and where and when it ran.
/// Of rows of `columns` clocks, one row per warp: the mean of each column.
inline std::vector<double> mean_of_columns(const std::vector<unsigned long long>& clocks, std::size_t columns) {
  std::vector<double> mean(columns, 0);
  for (std::size_t i = 0; i < clocks.size(); ++i)
    mean[i % columns] += static_cast<double>(clocks[i]) / static_cast<double>(clocks.size() / columns);
  return mean;
}

struct Stamp {
  unsigned long long start;     // SM clock cycles
  unsigned long long stop;      // SM clock cycles
  unsigned long long start_ns;  // globaltimer
  unsigned long long stop_ns;   // globaltimer
  unsigned sm;
  unsigned block;
};

/// A number without a pattern from another one, for places in memory.
__device__ __forceinline__ unsigned scrambled(unsigned n) {
  unsigned h = n * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  return h ^ h >> 13;
}

__device__ __forceinline__ unsigned long long clock_now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
__device__ __forceinline__ unsigned long long nanoseconds_now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}
__device__ __forceinline__ unsigned sm_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

/// Median and range of a set of repeats.
struct Summary {
  double median = 0;
  double low = 0;
  double high = 0;
  double spread() const { return high - low; }
};
inline Summary summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Summary s;
  if (values.empty()) return s;
  s.median = values[values.size() / 2];
  s.low = values.front();
  s.high = values.back();
  return s;
}

/// One line of output: a JSON object with the benchmark, its question, parameters and the answer.
class Answer {
 public:
  Answer(const char* benchmark, const char* question) {
    add_text("benchmark", benchmark);
    add_text("question", question);
  }
  Answer& add_text(const char* key, const std::string& value) {
    comma();
    text_ += "\"" + std::string(key) + "\":\"" + value + "\"";
    return *this;
  }
  Answer& add(const char* key, double value) {
    comma();
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.6g", value);
    text_ += "\"" + std::string(key) + "\":" + buffer;
    return *this;
  }
  Answer& add(const char* key, const std::vector<double>& values) {
    comma();
    text_ += "\"" + std::string(key) + "\":[";
    for (std::size_t i = 0; i < values.size(); ++i) {
      char buffer[64];
      std::snprintf(buffer, sizeof buffer, "%s%.6g", i ? "," : "", values[i]);
      text_ += buffer;
    }
    text_ += "]";
    return *this;
  }
  void print(double value, const char* unit, double spread) {
    add("value", value);
    add_text("unit", unit);
    add("spread", spread);
    std::printf("{%s}\n", text_.c_str());
    std::fflush(stdout);
  }
  void print(const Summary& s, const char* unit) { print(s.median, unit, s.spread()); }

 private:
  void comma() {
    if (!text_.empty()) text_ += ",";
  }
  std::string text_;
};

/// Device memory that is released with the object.
template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    CHECK(cudaMalloc(&data_, std::max<std::size_t>(count, 1) * sizeof(T)));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return data_; }
  std::size_t size() const { return count_; }
  void zero() { CHECK(cudaMemset(data_, 0, count_ * sizeof(T))); }
  void upload(const std::vector<T>& host) {
    CHECK(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> download(std::size_t count = 0) const {
    std::vector<T> host(count ? count : count_);
    CHECK(cudaMemcpy(host.data(), data_, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// Cycles from the last warp's start to the last warp's stop. Only for warps of one SM that a barrier
/// started: BAR.SYNC.DEFER_BLOCKING lets a warp that waits issue the clock read behind it, so only
/// the last warp to arrive reads its clock when all are released.
inline double span(const std::vector<Stamp>& stamps) {
  unsigned long long begin = 0, last = 0;
  for (const Stamp& s : stamps) {
    if (s.stop == 0) continue;
    begin = std::max(begin, s.start);
    last = std::max(last, s.stop);
  }
  return last > begin ? static_cast<double>(last - begin) : 0.0;
}

inline cudaDeviceProp device() {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  return p;
}

/// Time of the work `launch` queues, in nanoseconds, by events; the median of `repeats`.
template <typename Launch>
Summary event_time(Launch launch, int repeats) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<double> times;
  for (int r = 0; r <= repeats; ++r) {
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaGetLastError());
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (r) times.push_back(ms * 1e6);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return summarize(times);
}

/// SM clock in GHz, from clock64 against globaltimer over about 20 ms of a busy device.
static __global__ void spin_for(unsigned long long ns, Stamp* out) {
  unsigned long long n0 = nanoseconds_now(), c0 = clock_now(), n1;
  do { n1 = nanoseconds_now(); } while (n1 - n0 < ns);
  if (threadIdx.x == 0) { out[blockIdx.x] = {c0, clock_now(), n0, n1, sm_id(), blockIdx.x}; }
}
inline double sm_clock_ghz() {
  Buffer<Stamp> out(256);
  spin_for<<<128, 128>>>(20000000ull, out.get());
  CHECK(cudaDeviceSynchronize());
  Stamp s = out.download(1)[0];
  return static_cast<double>(s.stop - s.start) / static_cast<double>(s.stop_ns - s.start_ns);
}

}  // namespace bench
