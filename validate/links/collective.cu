// NCCL's collectives over all devices of this host, a thread per device: time per operation of many in a row, by launches and as a graph.
//   collective OUT.tsv LABEL LIBNCCL OPS MIN MAX [nograph]     OPS: allreduce,allgather,reducescatter,broadcast
// Rows, tab separated: label, how, operation, bytes, median us per operation, p10, p90, repeats. Bytes are those of the whole array (of the
// output of an all-gather, of the input of a reduce-scatter), as in nccl-tests.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#define OK(x) do { cudaError_t code_ = (x); if (code_ != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(code_)); exit(1); } } while (0)
#define N(x) do { int code_ = (x); if (code_ != 0) { fprintf(stderr, "%s: nccl error %d\n", #x, code_); exit(1); } } while (0)
struct Id { char bytes[128]; };
using Comm = void*;
static int (*get_id)(Id*); static int (*init)(Comm*, int, Id, int); static int (*version)(int*);
static int (*all_reduce)(const void*, void*, size_t, int, int, Comm, cudaStream_t);
static int (*all_gather)(const void*, void*, size_t, int, Comm, cudaStream_t);
static int (*reduce_scatter)(const void*, void*, size_t, int, int, Comm, cudaStream_t);
static int (*broadcast)(const void*, void*, size_t, int, int, Comm, cudaStream_t);
template <class F> static void load(void* lib, const char* name, F& f) { f = reinterpret_cast<F>(dlsym(lib, name)); if (!f) { fprintf(stderr, "no %s\n", name); exit(1); } }
__global__ void spin(long long cycles) { long long b = clock64(); while (clock64() - b < cycles) {} }
int main(int argc, char** argv) {
  if (argc < 7) return 2;
  FILE* out = fopen(argv[1], "a"); const char* label = argv[2];
  void* lib = dlopen(argv[3], RTLD_NOW); if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 1; }
  const std::string ops = argv[4]; const size_t low = strtoull(argv[5], nullptr, 0), high = strtoull(argv[6], nullptr, 0); const bool graphs = argc < 8;
  load(lib, "ncclGetUniqueId", get_id); load(lib, "ncclCommInitRank", init); load(lib, "ncclGetVersion", version);
  load(lib, "ncclAllReduce", all_reduce); load(lib, "ncclAllGather", all_gather); load(lib, "ncclReduceScatter", reduce_scatter); load(lib, "ncclBroadcast", broadcast);
  int n = 0, v = 0; OK(cudaGetDeviceCount(&n)); N(version(&v)); fprintf(out, "# %s: %d devices, NCCL %d\n", label, n, v);
  Id id; N(get_id(&id)); std::barrier sync(n); std::vector<double> times(n);
  auto rank = [&](int r) {
    OK(cudaSetDevice(r)); Comm comm; N(init(&comm, n, id, r));
    char *from, *to; OK(cudaMalloc(&from, high)); OK(cudaMalloc(&to, high)); OK(cudaMemset(from, 0, high));
    cudaStream_t s; OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); cudaEvent_t a, b; OK(cudaEventCreate(&a)); OK(cudaEventCreate(&b));
    for (const char* op : {"allreduce", "allgather", "reducescatter", "broadcast"}) {
      if (ops.find(op) == std::string::npos) continue;
      for (size_t bytes = low; bytes <= high; bytes *= 2) {
        const size_t count = bytes / 4, part = count / n; 
        auto one = [&] {
          if (op[0] == 'b') N(broadcast(from, to, count, 7, 0, comm, s));
          else if (op[0] == 'r') N(reduce_scatter(from, to, part, 7, 0, comm, s));
          else if (op[3] == 'g') N(all_gather(from, to, part, 7, comm, s));
          else N(all_reduce(from, to, count, 7, 0, comm, s));
        };
        const int k = bytes >= (size_t(256) << 20) ? 4 : 20, reps = bytes >= (size_t(64) << 20) ? 7 : 21;
        for (int how = 0; how < (graphs ? 2 : 1); ++how) {
          cudaGraphExec_t e = nullptr;
          for (int i = 0; i < 3; ++i) one();
          OK(cudaStreamSynchronize(s));
          if (how) { cudaGraph_t g; sync.arrive_and_wait(); OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); for (int i = 0; i < k; ++i) one(); OK(cudaStreamEndCapture(s, &g)); OK(cudaGraphInstantiate(&e, g, 0)); OK(cudaGraphDestroy(g)); }
          std::vector<double> v;
          for (int i = 0; i < reps + 2; ++i) {
            sync.arrive_and_wait();
            spin<<<1, 1, 0, s>>>(600000);  // the queue is filled behind it
            OK(cudaEventRecord(a, s));
            if (how) OK(cudaGraphLaunch(e, s)); else for (int j = 0; j < k; ++j) one();
            OK(cudaEventRecord(b, s)); OK(cudaStreamSynchronize(s)); float ms; OK(cudaEventElapsedTime(&ms, a, b)); times[r] = ms * 1e3 / k;
            sync.arrive_and_wait();
            if (r == 0 && i >= 2) v.push_back(*std::min_element(times.begin(), times.end()));
          }
          if (e) OK(cudaGraphExecDestroy(e));
          if (r == 0) { std::sort(v.begin(), v.end()); fprintf(out, "%s\t%s\t%s\t%zu\t%.4f\t%.4f\t%.4f\t%zu\n", label, how ? "graph" : "stream", op, bytes, v[v.size() / 2], v[v.size() / 10], v[v.size() * 9 / 10], v.size()); fflush(out); }
        }
      }
    }
  };
  std::vector<std::thread> all; for (int r = 1; r < n; ++r) all.emplace_back(rank, r);
  rank(0); for (auto& t : all) t.join();
  fclose(out); _exit(0);
}
