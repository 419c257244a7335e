// A kernel for each function of functions.h: out[i] = f(a[i], b[i]).
#include "functions.h"

#define KERNEL(name, in, out, expression)                                       \
  __global__ void name(const in* first, const in* second, out* result, int n) { \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);      \
    if (i >= n) return;                                                         \
    const in a = first[i], b = second[i];                                       \
    result[i] = (expression);                                                   \
  }
INTEGER_FUNCTIONS(KERNEL)
FLOAT_FUNCTIONS(KERNEL)

#define LIBRARY_KERNEL(name, device, host, bound)                                \
  __global__ void name(const float* first, const float*, float* result, int n) { \
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);       \
    if (i >= n) return;                                                          \
    const float x = first[i];                                                    \
    result[i] = (device);                                                        \
  }
LIBRARY_FUNCTIONS(LIBRARY_KERNEL)
