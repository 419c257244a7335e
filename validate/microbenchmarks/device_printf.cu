// What does printf() of a kernel take?
//
// Models:  lanes of warps that print a line again and again: cycles of a warp from before the call until all its lanes are back from it. How
//          long the line is, how many values are in it, whether one is a text. The instructions that this takes are ncu's to count
//          (profiled_device_printf).
// Ignores: what the host does with the text, which is shown when it synchronises. More text than the buffer holds: it was the same.
// Source:  the SM's clock.
#include <fcntl.h>
#include <unistd.h>

#include "bench.cuh"

using namespace bench;

enum Line : int { kPlain, kLong, kOne, kFour, kEight, kDouble, kText };
const char* const kLines[] = {"9 characters", "89 characters", "one integer", "four integers", "eight integers", "one double", "one text"};

template <int kLine>
__device__ __forceinline__ void print_line(int value) {
  if (kLine == kPlain) printf("a number\n");
  if (kLine == kLong) printf("a number that stands in a line of so many characters that it is ten times as long as it was\n");
  if (kLine == kOne) printf("%d\n", value);
  if (kLine == kFour) printf("%d %d %d %d\n", value, 1, 2, value);
  if (kLine == kEight) printf("%d %d %d %d %d %d %d %d\n", value, 1, 2, 3, value, 4, 5, 6);
  if (kLine == kDouble) printf("%f\n", 0.5 * value);
  if (kLine == kText) printf("%s\n", value < 0 ? "less" : "more");
}

template <int kLine>
__global__ void print_lines(int lanes, int times, unsigned long long* out) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  unsigned long long printing = 0, first = 0;
  for (int i = 0; i < times; ++i) {
    __syncwarp();
    const unsigned long long t0 = clock_now();
    if (lane < static_cast<unsigned>(lanes)) print_line<kLine>(i);
    __syncwarp();
    const unsigned long long took = clock_now() - t0;
    if (i == 0) first = took;  // code comes from DRAM
    else printing += took;
  }
  if (lane == 0) {
    out[2 * warp] = printing / (times - 1);
    out[2 * warp + 1] = first;
  }
}

/// While it lives, what is printed goes nowhere: the answers stand alone.
class Unseen {
 public:
  Unseen() : out_(dup(1)) {
    std::fflush(stdout);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    close(nowhere);
  }
  ~Unseen() {
    std::fflush(stdout);
    dup2(out_, 1);
    close(out_);
  }

 private:
  int out_;
};

bool counts = false;  // one launch per question, for a profiler
int launches = 0;

template <int kLine>
void ask(int blocks, int warps, int lanes) {
  Buffer<unsigned long long> out(static_cast<std::size_t>(2) * blocks * warps);
  std::vector<double> printing, first;
  {
    const Unseen unseen;
    for (int repeat = 0; repeat < (counts ? 1 : 3); ++repeat) {
      print_lines<kLine><<<blocks, 32 * warps>>>(lanes, 9, out.get());
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      const std::vector<double> mean = mean_of_columns(out.download(), 2);
      printing.push_back(mean[0]);
      first.push_back(mean[1]);
    }
  }
  if (counts) {
    Answer("device_printf", "nine calls of printf by a warp, in a loop")
        .add_text("line", kLines[kLine])
        .add("blocks", blocks)
        .add("warps", warps)
        .add("lanes", lanes)
        .add("launch", launches++)
        .print(summarize(printing), "cycle");
    return;
  }
  for (const bool again : {true, false})
    Answer("device_printf", again ? "cycles of a warp's printf" : "cycles of a warp's first printf")
        .add_text("line", kLines[kLine])
        .add("blocks", blocks)
        .add("warps", warps)
        .add("lanes", lanes)
        .print(summarize(again ? printing : first), "cycle");
}

int main(int argc, char** argv) {
  counts = argc > 1 && std::string(argv[1]) == "count";
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, std::size_t{64} << 20));
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    ask<kPlain>(1, 1, lanes);
    ask<kLong>(1, 1, lanes);
    ask<kOne>(1, 1, lanes);
    ask<kFour>(1, 1, lanes);
    ask<kEight>(1, 1, lanes);
    ask<kDouble>(1, 1, lanes);
    ask<kText>(1, 1, lanes);
  }
  for (const int blocks : {1, 32, 132, 1056})
    for (const int warps : {1, 4, 32})
      for (const int lanes : {1, 32})
        if (blocks * warps <= 4224) ask<kOne>(blocks, warps, lanes);
  return 0;
}
