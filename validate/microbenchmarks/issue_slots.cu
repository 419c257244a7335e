// The kernel whose instructions issue.cu replaces before it loads it.
//
// Models:  512 slots in a row, each one FFMA as compiled, run three times; slot i of the first 64
//          writes accumulator i, which tells issue.cu the register of each accumulator.
//          Accumulators 0 and 1 hold an address in global memory, 2 one in shared memory, 3 the lane;
//          after the slots all of them are written out.
// Ignores: the values.
// Source:  compiled to a cubin of its own, never linked.
#define SLOT64                                                                                               \
  "fma.rn.f32 %0,%0,%64,%65;fma.rn.f32 %1,%1,%64,%65;fma.rn.f32 %2,%2,%64,%65;fma.rn.f32 %3,%3,%64,%65;"     \
  "fma.rn.f32 %4,%4,%64,%65;fma.rn.f32 %5,%5,%64,%65;fma.rn.f32 %6,%6,%64,%65;fma.rn.f32 %7,%7,%64,%65;"     \
  "fma.rn.f32 %8,%8,%64,%65;fma.rn.f32 %9,%9,%64,%65;fma.rn.f32 %10,%10,%64,%65;fma.rn.f32 %11,%11,%64,%65;" \
  "fma.rn.f32 %12,%12,%64,%65;fma.rn.f32 %13,%13,%64,%65;fma.rn.f32 %14,%14,%64,%65;fma.rn.f32 "             \
  "%15,%15,%64,%65;"                                                                                         \
  "fma.rn.f32 %16,%16,%64,%65;fma.rn.f32 %17,%17,%64,%65;fma.rn.f32 %18,%18,%64,%65;fma.rn.f32 "             \
  "%19,%19,%64,%65;"                                                                                         \
  "fma.rn.f32 %20,%20,%64,%65;fma.rn.f32 %21,%21,%64,%65;fma.rn.f32 %22,%22,%64,%65;fma.rn.f32 "             \
  "%23,%23,%64,%65;"                                                                                         \
  "fma.rn.f32 %24,%24,%64,%65;fma.rn.f32 %25,%25,%64,%65;fma.rn.f32 %26,%26,%64,%65;fma.rn.f32 "             \
  "%27,%27,%64,%65;"                                                                                         \
  "fma.rn.f32 %28,%28,%64,%65;fma.rn.f32 %29,%29,%64,%65;fma.rn.f32 %30,%30,%64,%65;fma.rn.f32 "             \
  "%31,%31,%64,%65;"                                                                                         \
  "fma.rn.f32 %32,%32,%64,%65;fma.rn.f32 %33,%33,%64,%65;fma.rn.f32 %34,%34,%64,%65;fma.rn.f32 "             \
  "%35,%35,%64,%65;"                                                                                         \
  "fma.rn.f32 %36,%36,%64,%65;fma.rn.f32 %37,%37,%64,%65;fma.rn.f32 %38,%38,%64,%65;fma.rn.f32 "             \
  "%39,%39,%64,%65;"                                                                                         \
  "fma.rn.f32 %40,%40,%64,%65;fma.rn.f32 %41,%41,%64,%65;fma.rn.f32 %42,%42,%64,%65;fma.rn.f32 "             \
  "%43,%43,%64,%65;"                                                                                         \
  "fma.rn.f32 %44,%44,%64,%65;fma.rn.f32 %45,%45,%64,%65;fma.rn.f32 %46,%46,%64,%65;fma.rn.f32 "             \
  "%47,%47,%64,%65;"                                                                                         \
  "fma.rn.f32 %48,%48,%64,%65;fma.rn.f32 %49,%49,%64,%65;fma.rn.f32 %50,%50,%64,%65;fma.rn.f32 "             \
  "%51,%51,%64,%65;"                                                                                         \
  "fma.rn.f32 %52,%52,%64,%65;fma.rn.f32 %53,%53,%64,%65;fma.rn.f32 %54,%54,%64,%65;fma.rn.f32 "             \
  "%55,%55,%64,%65;"                                                                                         \
  "fma.rn.f32 %56,%56,%64,%65;fma.rn.f32 %57,%57,%64,%65;fma.rn.f32 %58,%58,%64,%65;fma.rn.f32 "             \
  "%59,%59,%64,%65;"                                                                                         \
  "fma.rn.f32 %60,%60,%64,%65;fma.rn.f32 %61,%61,%64,%65;fma.rn.f32 %62,%62,%64,%65;fma.rn.f32 "             \
  "%63,%63,%64,%65;"

extern "C" __global__ void __launch_bounds__(512, 1)
    slots(unsigned* out, char* global, float x, float y, unsigned active_warps, int global_stride,
          int shared_stride) {
  __shared__ __align__(128) unsigned words[8192];
  for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = 0;
  __syncthreads();
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (!(active_warps >> warp & 1)) return;
  float f[64];
  for (int i = 0; i < 64; ++i) f[i] = x * static_cast<float>(i);
  const auto address = reinterpret_cast<unsigned long long>(global) + warp * 8192ull +
                       static_cast<unsigned long long>(lane * static_cast<unsigned>(global_stride));
  f[0] = __uint_as_float(static_cast<unsigned>(address));
  f[1] = __uint_as_float(static_cast<unsigned>(address >> 32));
  f[2] = __uint_as_float(static_cast<unsigned>(__cvta_generic_to_shared(words)) +
                         lane * static_cast<unsigned>(shared_stride));
  f[3] = __uint_as_float(lane);
#pragma unroll 1
  for (int pass = 0; pass < 3; ++pass) {
    __syncthreads();
    asm volatile(SLOT64 SLOT64 SLOT64 SLOT64 SLOT64 SLOT64 SLOT64 SLOT64
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]), "+f"(f[4]), "+f"(f[5]), "+f"(f[6]),
                   "+f"(f[7]), "+f"(f[8]), "+f"(f[9]), "+f"(f[10]), "+f"(f[11]), "+f"(f[12]), "+f"(f[13]),
                   "+f"(f[14]), "+f"(f[15]), "+f"(f[16]), "+f"(f[17]), "+f"(f[18]), "+f"(f[19]), "+f"(f[20]),
                   "+f"(f[21]), "+f"(f[22]), "+f"(f[23]), "+f"(f[24]), "+f"(f[25]), "+f"(f[26]), "+f"(f[27]),
                   "+f"(f[28]), "+f"(f[29]), "+f"(f[30]), "+f"(f[31]), "+f"(f[32]), "+f"(f[33]), "+f"(f[34]),
                   "+f"(f[35]), "+f"(f[36]), "+f"(f[37]), "+f"(f[38]), "+f"(f[39]), "+f"(f[40]), "+f"(f[41]),
                   "+f"(f[42]), "+f"(f[43]), "+f"(f[44]), "+f"(f[45]), "+f"(f[46]), "+f"(f[47]), "+f"(f[48]),
                   "+f"(f[49]), "+f"(f[50]), "+f"(f[51]), "+f"(f[52]), "+f"(f[53]), "+f"(f[54]), "+f"(f[55]),
                   "+f"(f[56]), "+f"(f[57]), "+f"(f[58]), "+f"(f[59]), "+f"(f[60]), "+f"(f[61]), "+f"(f[62]),
                   "+f"(f[63])
                 : "f"(x), "f"(y)
                 : "memory");
  }
  for (int i = 0; i < 64; ++i) out[(warp * 32 + lane) * 64 + i] = __float_as_uint(f[i]);
}
