// What does fma.rn.oob give where operands are the NaN that tensor copies fill with (0x7ff7), of either sign, and others?
//   nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a oob.cu -o oob && ./oob
// Prints for each form a hash of its 32,768 words: all triples of 32 halves, beside each the halves 7, 3 and 1 places on. oob_h200.txt has an H200's;
// `foretrace run --arch h200 -- ./oob` prints the emulator's.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                       \
  do {                                                                                 \
    const cudaError_t code = (call);                                                   \
    if (code != cudaSuccess) {                                                         \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));               \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (0)

constexpr int kHalves = 32, kTriples = kHalves * kHalves * kHalves;
__constant__ uint16_t halves[kHalves];

__device__ uint32_t pair(unsigned place, unsigned next) {
  return halves[place & 31] | static_cast<uint32_t>(halves[(place + next) & 31]) << 16;
}

template <int kForm>
__global__ void ask(uint32_t* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t a = pair(i & 31, 7), b = pair(i >> 5 & 31, 3), c = pair(i >> 10 & 31, 1);
  uint32_t d = 0;
  if (kForm == 0) asm volatile("fma.rn.oob.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  if (kForm == 1) asm volatile("fma.rn.oob.relu.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  if (kForm == 2) asm volatile("fma.rn.oob.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  if (kForm == 3) asm volatile("fma.rn.oob.relu.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  out[i] = d;
}

template <int kForm>
void show(const char* form, uint32_t* out) {
  ask<kForm><<<kTriples / 256, 256>>>(out);
  std::vector<uint32_t> words(kTriples);
  OK(cudaMemcpy(words.data(), out, 4 * words.size(), cudaMemcpyDeviceToHost));
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, word by word
  for (const uint32_t word : words) hash = (hash ^ word) * 0x100000001b3;
  std::printf("%s %016llx\n", form, static_cast<unsigned long long>(hash));
}

int main() {
  const uint16_t set[kHalves] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7fff, 0xffff, 0x7ff7, 0xfff7, 0x7e00, 0xfe00, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7fc0, 0xffc0,
                                 0x7c01, 0x7f81, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x7f7f, 0xff7f, 0x4248, 0xc1f3, 0x3555, 0x2e66, 0x7ff8, 0x7ff6};
  OK(cudaMemcpyToSymbol(halves, set, sizeof set));
  uint32_t* out = nullptr;
  OK(cudaMalloc(&out, 4 * kTriples));
  show<0>("fma.rn.oob.f16x2", out);
  show<1>("fma.rn.oob.relu.f16x2", out);
  show<2>("fma.rn.oob.bf16x2", out);
  show<3>("fma.rn.oob.relu.bf16x2", out);
  OK(cudaFree(out));
}
