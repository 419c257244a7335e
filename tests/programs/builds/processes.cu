// A parent that forks before it touches the GPU; each child uses it, one ends by a signal; an IPC handle is asked for.
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
__global__ void square(int* p) { p[threadIdx.x] *= p[threadIdx.x]; }
static int work(int id) {
  int h[32], *d;
  for (int i = 0; i < 32; ++i) h[i] = i + id;
  CHECK(cudaMalloc(&d, 128));
  CHECK(cudaMemcpy(d, h, 128, cudaMemcpyHostToDevice));
  square<<<1, 32>>>(d);
  CHECK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) EXPECT(h[i] == (i + id) * (i + id));
  return 0;
}
int main() {
  for (int id = 0; id < 3; ++id) {
    pid_t child = fork();
    if (child == 0) {
      work(id);
      if (id == 2) raise(SIGKILL);
      _exit(id);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(id == 2 ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == id);
  }
  work(7);
  puts("ok");
}
