// The kernel whose instructions register_banks.cu replaces before it loads it.
//
// Models:  a timed loop of 512 slots, each one FFMA as compiled.
// Ignores: the values.
// Source:  compiled to a cubin of its own, never linked.
#define SLOT8                                                                   \
  "fma.rn.f32 %0,%0,%32,%33;fma.rn.f32 %1,%1,%32,%33;fma.rn.f32 %2,%2,%32,%33;" \
  "fma.rn.f32 %3,%3,%32,%33;fma.rn.f32 %4,%4,%32,%33;fma.rn.f32 %5,%5,%32,%33;" \
  "fma.rn.f32 %6,%6,%32,%33;fma.rn.f32 %7,%7,%32,%33;"
#define SLOT32                                                                        \
  SLOT8                                                                               \
  "fma.rn.f32 %8,%8,%32,%33;fma.rn.f32 %9,%9,%32,%33;fma.rn.f32 %10,%10,%32,%33;"     \
  "fma.rn.f32 %11,%11,%32,%33;fma.rn.f32 %12,%12,%32,%33;fma.rn.f32 %13,%13,%32,%33;" \
  "fma.rn.f32 %14,%14,%32,%33;fma.rn.f32 %15,%15,%32,%33;fma.rn.f32 %16,%16,%32,%33;" \
  "fma.rn.f32 %17,%17,%32,%33;fma.rn.f32 %18,%18,%32,%33;fma.rn.f32 %19,%19,%32,%33;" \
  "fma.rn.f32 %20,%20,%32,%33;fma.rn.f32 %21,%21,%32,%33;fma.rn.f32 %22,%22,%32,%33;" \
  "fma.rn.f32 %23,%23,%32,%33;fma.rn.f32 %24,%24,%32,%33;fma.rn.f32 %25,%25,%32,%33;" \
  "fma.rn.f32 %26,%26,%32,%33;fma.rn.f32 %27,%27,%32,%33;fma.rn.f32 %28,%28,%32,%33;" \
  "fma.rn.f32 %29,%29,%32,%33;fma.rn.f32 %30,%30,%32,%33;fma.rn.f32 %31,%31,%32,%33;"

extern "C" __global__ void __launch_bounds__(1024)
    slots(unsigned long long* out, float* sink, float x, float y, int iterations, int sub_cores) {
  const unsigned warp = threadIdx.x / 32;
  if (static_cast<int>(warp % 4) >= sub_cores) return;
  float f[32];
  for (int i = 0; i < 32; ++i) f[i] = x * static_cast<float>(i + threadIdx.x);
  unsigned long long t0 = 0, t1 = 0;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t0)::"memory");
#pragma unroll 1
    for (int it = 0; it < iterations; ++it) {
      asm volatile(SLOT32 SLOT32 SLOT32 SLOT32 SLOT32 SLOT32 SLOT32 SLOT32 SLOT32 SLOT32 SLOT32 SLOT32 SLOT32
                       SLOT32 SLOT32 SLOT32
                   : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]), "+f"(f[4]), "+f"(f[5]), "+f"(f[6]),
                     "+f"(f[7]), "+f"(f[8]), "+f"(f[9]), "+f"(f[10]), "+f"(f[11]), "+f"(f[12]), "+f"(f[13]),
                     "+f"(f[14]), "+f"(f[15]), "+f"(f[16]), "+f"(f[17]), "+f"(f[18]), "+f"(f[19]),
                     "+f"(f[20]), "+f"(f[21]), "+f"(f[22]), "+f"(f[23]), "+f"(f[24]), "+f"(f[25]),
                     "+f"(f[26]), "+f"(f[27]), "+f"(f[28]), "+f"(f[29]), "+f"(f[30]), "+f"(f[31])
                   : "f"(x), "f"(y));
    }
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t1)::"memory");
  }
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum += f[i];
  if (sum == 1.25f) *sink = sum;
  if (threadIdx.x % 32 == 0) out[warp * 2] = t0, out[warp * 2 + 1] = t1;
}
