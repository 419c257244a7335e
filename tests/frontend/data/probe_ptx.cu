// PTX that C++ has no name for: one statement a line, each in a kernel of its kind. Only the disassembly is read.
#include <cstdint>

#define ONE(type, constraint, statement)                                                 \
  {                                                                                      \
    type result;                                                                         \
    asm volatile(statement : "=" constraint(result) : constraint(a), constraint(b), constraint(c)); \
    out[__LINE__] = result;                                                              \
  }

__global__ void video(unsigned* out, unsigned a, unsigned b, unsigned c) {
  ONE(unsigned, "r", "vadd.u32.s32.u32.sat %0, %1.b0, %2.h1;")
  ONE(unsigned, "r", "vset.s32.u32.lt %0, %1, %2;")
  ONE(unsigned, "r", "vmad.u32.u32.u32 %0, %1.b0, %2.b1, %3;")
  ONE(unsigned, "r", "vmin4.u32.u32.u32 %0, %1, %2, %3;")
  ONE(unsigned, "r", "vavrg4.u32.u32.u32 %0, %1, %2, %3;")
}

__global__ void integers(unsigned* out, unsigned a, unsigned b, unsigned c) {
  ONE(unsigned, "r", "prmt.b32.f4e %0, %1, %2, %3;")
  ONE(unsigned, "r", "prmt.b32.rc16 %0, %1, %2, %3;")
  ONE(unsigned, "r", "lop3.b32 %0, %1, %2, %3, 0x6a;")
  ONE(unsigned, "r", "shf.l.clamp.b32 %0, %1, %2, %3;")
  ONE(unsigned, "r", "{mad.lo.cc.u32 %0, %1, %2, %3; madc.hi.u32 %0, %1, %2, %0;}")
  ONE(unsigned, "r", "{add.cc.u32 %0, %1, %2; addc.cc.u32 %0, %0, %3; addc.u32 %0, %0, %0;}")
  ONE(unsigned, "r", "{sub.cc.u32 %0, %1, %2; subc.u32 %0, %0, %3;}")
  ONE(unsigned, "r", "bfind.shiftamt.u32 %0, %1;")
  ONE(unsigned, "r", "bfind.s32 %0, %1;")
  ONE(unsigned, "r", "fns.b32 %0, %1, %2, %3;")
  ONE(unsigned, "r", "slct.u32.s32 %0, %1, %2, %3;")
}

__global__ void floats(float* out, float a, float b, float c) {
  ONE(float, "f", "fma.rn.ftz.sat.f32 %0, %1, %2, %3;")
  ONE(float, "f", "copysign.f32 %0, %1, %2;")
  ONE(float, "f", "sqrt.rz.f32 %0, %1;")
  ONE(float, "f", "div.full.f32 %0, %1, %2;")
  ONE(float, "f", "rcp.rp.f32 %0, %1;")
  ONE(float, "f", "set.gtu.f32.f32 %0, %1, %2;")
  ONE(float, "f", "min.NaN.f32 %0, %1, %2;")
  ONE(float, "f", "{.reg .pred p; testp.subnormal.f32 p, %1; selp.f32 %0, %2, %3, p;}")
  ONE(float, "f", "{.reg .b16 h; cvt.rn.f16.f32 h, %1; ex2.approx.f16 h, h; tanh.approx.f16 h, h; cvt.f32.f16 %0, h;}")
  ONE(float, "f", "{.reg .b32 h; cvt.rna.tf32.f32 h, %1; mov.b32 %0, h;}")
  ONE(float, "f", "{.reg .b16 h; cvt.rz.f16.f32 h, %1; abs.f16 h, h; neg.f16 h, h; cvt.f32.f16 %0, h;}")
  ONE(float, "f", "{.reg .b32 h; cvt.rn.relu.f16x2.f32 h, %1, %2; mov.b32 %0, h;}")
  ONE(float, "f", "{.reg .u16 h; cvt.rni.sat.u16.f32 h, %1; cvt.rn.f32.u16 %0, h;}")
  ONE(float, "f", "{.reg .u32 h; cvt.rni.sat.u8.f32 h, %1; cvt.rn.f32.u8 %0, h;}")
}

__global__ void doubles(double* out, double a, double b, double c) {
  ONE(double, "d", "rcp.approx.ftz.f64 %0, %1;")
  ONE(double, "d", "rsqrt.approx.ftz.f64 %0, %1;")
  ONE(double, "d", "fma.rp.f64 %0, %1, %2, %3;")
  ONE(double, "d", "add.rz.f64 %0, %1, %2;")
  ONE(double, "d", "cvt.rpi.f64.f64 %0, %1;")
  ONE(double, "d", "{.reg .f32 f; cvt.rm.f32.f64 f, %1; cvt.f64.f32 %0, f;}")
  ONE(double, "d", "{.reg .b16 f; cvt.rn.f16.f64 f, %1; cvt.f64.f16 %0, f;}")
  ONE(double, "d", "{.reg .s16 f; cvt.rzi.s16.f64 f, %1; cvt.rn.f64.s16 %0, f;}")
}

__global__ void memory(unsigned* words, unsigned long long* wide, unsigned short* halves) {
  unsigned d = 0;
  unsigned long long q = 0;
  asm volatile("ld.global.L1::no_allocate.L2::128B.u32 %0, [%1];" : "=r"(d) : "l"(words)); words[1] = d;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(d) : "l"(words)); words[2] = d;
  asm volatile("st.release.cta.global.u32 [%0], %1;" ::"l"(words + 4), "r"(d));
  asm volatile("ld.volatile.global.v2.u32 {%0, _}, [%1];" : "=r"(d) : "l"(words)); words[3] = d;
  asm volatile("{.reg .b64 p; createpolicy.fractional.L2::evict_last.b64 p, 1.0; ld.global.L2::cache_hint.u32 %0, [%1], p;}"
               : "=r"(d) : "l"(words));
  asm volatile("atom.global.and.b32 %0, [%1], %2;" : "=r"(d) : "l"(words), "r"(d)); words[5] = d;
  asm volatile("atom.acq_rel.sys.global.exch.b64 %0, [%1], %2;" : "=l"(q) : "l"(wide), "l"(q)); wide[1] = q;
  asm volatile("atom.global.cas.b16 %0, [%1], %2, %3;" : "=h"(halves[9]) : "l"(halves), "h"(halves[1]), "h"(halves[2]));
  asm volatile("red.global.or.b64 [%0], %1;" ::"l"(wide), "l"(q));
  asm volatile("red.global.add.noftz.f16 [%0], %1;" ::"l"(halves), "h"(halves[3]));
  asm volatile("prefetch.global.L1 [%0]; prefetchu.L1 [%0]; discard.global.L2 [%0], 128;" ::"l"(words));
  asm volatile("fence.acq_rel.gpu; fence.sc.cta;");
  asm volatile("{.reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(d) : "l"(words)); words[6] = d;
  asm volatile("{.reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(d) : "l"(words)); words[7] = d;
}

__global__ void specials(unsigned* words, unsigned long long* wide) {
  unsigned d = 0;
  unsigned long long q = 0;
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(d)); words[0] = d;
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(d)); words[1] = d;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(q)); wide[0] = q;
  asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(d)); words[2] = d;
  asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(d)); words[3] = d;
  asm volatile("mov.u32 %0, %%globaltimer_hi;" : "=r"(d)); words[4] = d;
  asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(d)); words[5] = d;
  asm volatile("mov.u32 %0, %%envreg3;" : "=r"(d)); words[6] = d;
  asm volatile("{.reg .pred a, b; setp.ne.u32 a, %0, 0; vote.sync.uni.pred b, a, -1; selp.u32 %0, 1, 0, b;}" : "+r"(d));
  words[7] = d;
  asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; barrier.sync 1, 64; barrier.red.popc.u32 %0, 2, 64, p;}" : "+r"(d));
  words[8] = d;
  asm volatile("pmevent 1;");
  if (d == 77) asm volatile("trap;");
  if (d == 78) asm volatile("exit;");
  asm volatile("brkpt;");
}
