// What programmatic dependent launches wait for: chains of kernels by where they let the next go (griddepcontrol.launch_dependents), by what they
// do before they wait (griddepcontrol.wait) and after it, by blocks. None of its points is one of table.cu's. Rows, tab separated:
//
//   way        first, middle, last: lets the next go at once, after `until` behind its wait, in the end; never: by its end; none: no attribute
//   in         stream or graph
//   blocks, threads, launches, before, until, then   ns of work: before the wait, then until it lets go (middle), then to the end
//   each       us per launch, between two events around the chain, behind a kernel that hides the calls; p10, p90
//   begin      us from the last block's letting go until the next kernel's first instruction
//   wait       us from the last instruction of all blocks until the next kernel's first behind its wait
//   begin_end  us from the last instruction of all blocks until the next kernel's first instruction; negative: it began before
//   repeats
//
//     dependent OUT.tsv [REPEATS]      REPEATS 1: under foretrace run; stamps are none then
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "stamps.cuh"

enum Way { first, middle, last, never, none };
static const char* const kWays[] = {"first", "middle", "last", "never", "none"};

/// Of a block: its begin, behind its wait, where it lets the next go, its end.
struct Stamps {
  Stamp begin, waited, let_go, end;
};

template <Way way>
__global__ void link(int before, int until, int then, Stamps* all) {
  Stamps* t = all + blockIdx.x;
  const bool one = threadIdx.x == 0;
  if (one) t->begin = now();
  if constexpr (way == first) {
    if (one) t->let_go = now();
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  float v = chain(threadIdx.x, before);
  if constexpr (way != none) asm volatile("griddepcontrol.wait;" ::: "memory");
  if (one) t->waited = now();
  v = chain(v, until);
  if constexpr (way == middle) {
    if (one) t->let_go = now();
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  v = chain(v, then);
  if (one) t->end = now();
  if constexpr (way == last) {
    if (one) t->let_go = now();
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
  if (v < 0) t->begin = 0;
}

static int rounds_of(double us) { return int(us * 440); }  // about 2.27 ns each
static FILE* out;
static int repeats;
static cudaStream_t s;
static cudaEvent_t from, to;
static Stamps* stamps;
static std::vector<Stamps> seen;

struct Shape {
  int blocks, threads, launches;
  double before, until, then;  // us
  bool graph = false;
};

static void launch(Way way, const Shape& p) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = p.blocks, config.blockDim = p.threads, config.stream = s;
  config.attrs = &attribute, config.numAttrs = way == none ? 0 : 1;
  const auto kernel = way == first    ? link<first>
                      : way == middle ? link<middle>
                      : way == last   ? link<last>
                      : way == never  ? link<never>
                                      : link<none>;
  for (int i = 0; i < p.launches; ++i)
    OK(cudaLaunchKernelEx(&config, kernel, rounds_of(p.before), rounds_of(p.until), rounds_of(p.then),
                          stamps + size_t(i) * p.blocks));
}

static double middle_of(std::vector<double>& v, double share = 0.5) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return v[std::min(v.size() - 1, size_t(v.size() * share))];
}

/// Of one repeat: what lies between neighbours.
static void look(Way way, const Shape& p, std::vector<double> (&between)[3]) {
  OK(cudaMemcpy(seen.data(), stamps, size_t(p.launches) * p.blocks * sizeof(Stamps), cudaMemcpyDeviceToHost));
  for (int i = 0; i + 1 < p.launches; ++i) {
    Stamp let_go = 0, end = 0, begin = ~0ull, waited = ~0ull;
    for (int b = 0; b < p.blocks; ++b) {
      const Stamps &one = seen[size_t(i) * p.blocks + b], &next = seen[size_t(i + 1) * p.blocks + b];
      let_go = std::max(let_go, way == never || way == none ? one.end : one.let_go);
      end = std::max(end, one.end);
      begin = std::min(begin, next.begin), waited = std::min(waited, next.waited);
    }
    const auto us = [](Stamp a, Stamp b) { return (double(b) - double(a)) * 1e-3; };
    between[0].push_back(us(let_go, begin));
    between[1].push_back(us(end, waited));
    between[2].push_back(us(end, begin));
  }
}

static void ask(Way way, const Shape& p) {
  cudaGraphExec_t exec = nullptr;
  if (p.graph) {
    cudaGraph_t graph;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launch(way, p);
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphUpload(exec, s));
    OK(cudaGraphDestroy(graph));
  }
  std::vector<double> each, between[3];
  const int warm = repeats > 1 ? 3 : 0;
  for (int i = 0; i < warm + repeats; ++i) {
    OK(cudaDeviceSynchronize());
    block<<<1, 32, 0, s>>>(rounds_of(p.launches * 8.0 + 80), &stamps->begin);
    OK(cudaEventRecord(from, s));
    if (p.graph) OK(cudaGraphLaunch(exec, s));
    else launch(way, p);
    OK(cudaEventRecord(to, s));
    OK(cudaDeviceSynchronize());
    if (i < warm) continue;
    float ms;
    OK(cudaEventElapsedTime(&ms, from, to));
    each.push_back(ms * 1e3 / p.launches);
    if (repeats > 1) look(way, p, between);
  }
  const double low = middle_of(each, 0.1), high = middle_of(each, 0.9);
  fprintf(out, "%s\t%s\t%d\t%d\t%d\t%ld\t%ld\t%ld\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%d\n", kWays[way],
          p.graph ? "graph" : "stream", p.blocks, p.threads, p.launches, long(p.before * 1e3),
          long(p.until * 1e3), long(p.then * 1e3), middle_of(each), low, high, middle_of(between[0]),
          middle_of(between[1]), middle_of(between[2]), repeats);
  fflush(out);
  if (exec) OK(cudaGraphExecDestroy(exec));
}

int main(int argc, char** argv) {
  if (argc < 2 || (out = fopen(argv[1], "w")) == nullptr) return fprintf(stderr, "dependent OUT.tsv [REPEATS]\n"), 1;
  repeats = argc > 2 ? atoi(argv[2]) : 100;
  OK(cudaSetDevice(0));
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  OK(cudaEventCreate(&from));
  OK(cudaEventCreate(&to));
  seen.resize(20 * 2640);
  OK(cudaMalloc(&stamps, seen.size() * sizeof(Stamps)));
  for (int i = 0; i < (repeats > 1 ? 300 : 0); ++i) block<<<132, 256, 0, s>>>(rounds_of(1000), &stamps->begin);  // clocks up
  fprintf(out, "# way\tin\tblocks\tthreads\tlaunches\tbefore\tuntil\tthen\teach\tp10\tp90\tbegin\twait\tbegin_end\trepeats\n");
  // One block: by what it does before it waits, and where it lets go.
  for (const double before : {0.0, 0.6, 2.2, 4.4, 8.0}) {
    for (const Way way : {first, last, never, none}) ask(way, {1, 32, 20, before, 0, 6});
    for (const double then : {1.0, 4.0, 11.0}) ask(middle, {1, 32, 20, before, 2.5, then});
  }
  for (const double before : {1.2, 9.0})
    for (const Way way : {first, last, never, none}) ask(way, {1, 32, 20, before, 0, 2.6});
  // Rows of two: without what a chain adds.
  for (const Way way : {first, middle, last, never, none}) ask(way, {1, 64, 2, 2.2, 2.5, 4});
  // More blocks, up to several waves of a full chip.
  const int grids[][2] = {{66, 128}, {132, 256}, {264, 512}, {1056, 256}, {2640, 128}, {2640, 256}};
  for (const auto& [blocks, threads] : grids)
    for (const Way way : {first, middle, last, never, none}) ask(way, {blocks, threads, 12, 2.2, 2.5, 4});
  // Graphs, whose edges are the same.
  for (const Way way : {first, middle, last, never, none}) {
    ask(way, {1, 32, 20, 2.2, 2.5, 4, true});
    ask(way, {132, 256, 12, 2.2, 2.5, 4, true});
  }
  fclose(out);
  return 0;
}
