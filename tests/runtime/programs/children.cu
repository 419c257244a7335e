// children LAUNCHES: starts itself anew for half as many launches, launches, and forks a process that makes one more. Each prints its
// number and how many launches it made.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

__global__ void step(int* to) { to[threadIdx.x] += 1; }

static bool work(int launches) {
  int* memory = nullptr;
  if (cudaMalloc(&memory, 32 * sizeof(int)) != cudaSuccess) return false;
  for (int launch = 0; launch < launches; ++launch) step<<<1, 32>>>(memory);
  return cudaDeviceSynchronize() == cudaSuccess;
}

static bool ended_well(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char** argv) {
  const int launches = std::atoi(argv[1]);
  if (argc == 2) {
    const pid_t started = fork();  // before it has anything to do with a GPU
    if (started == 0) execl("/proc/self/exe", argv[0], std::to_string(launches / 2).c_str(), "started", nullptr);
    if (!ended_well(started)) return 1;
  }
  if (!work(launches)) return 2;
  if (argc == 2) {
    const pid_t forked = fork();
    if (forked == 0) {
      if (!work(launches + 1)) _exit(3);
      std::printf("%d %d\n", getpid(), launches + 1);
      std::fflush(stdout);
      exit(0);
    }
    if (!ended_well(forked)) return 4;
  }
  std::printf("%d %d\n", getpid(), launches);
}
