// Launches within operators that the program names by Foretrace's own calls; then as many as the first argument says in one more.
#include <dlfcn.h>

#include <cstdlib>
#include <thread>

__global__ void add(float* x) { x[threadIdx.x] += 1; }

int main(int argc, char** argv) {
  const auto begin = reinterpret_cast<void (*)(const char*, const char*)>(dlsym(RTLD_DEFAULT, "foretrace_operator_begin"));
  const auto end = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "foretrace_operator_end"));
  if (begin == nullptr || end == nullptr) return 1;
  float* x = nullptr;
  if (cudaMalloc(&x, 128 * sizeof(float)) != cudaSuccess) return 2;
  end();  // none is open
  add<<<1, 128>>>(x);
  begin("outer", nullptr);
  add<<<1, 128>>>(x);
  begin("aten::mm", "Triton's");
  add<<<1, 128>>>(x);
  std::thread([&] { add<<<1, 128>>>(x); }).join();  // another thread is in none
  end();
  add<<<1, 128>>>(x);
  begin("", "no name");
  add<<<1, 128>>>(x);
  end();
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  begin("captured", nullptr);
  add<<<1, 128, 0, stream>>>(x);
  end();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&instance, graph, 0);
  cudaGraphLaunch(instance, stream);
  cudaStreamSynchronize(stream);
  end();
  add<<<1, 128>>>(x);
  begin("aten::add_", "Triton's");
  for (int i = argc > 1 ? std::atoi(argv[1]) : 0; i > 0; --i) add<<<1, 128>>>(x);
  end();
  return cudaDeviceSynchronize();
}
