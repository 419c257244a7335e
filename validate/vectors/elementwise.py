"""The operations that work on one thread's operands: integer, float, double, half, bfloat16, conversions, predicates."""
from kernel_text import Kernel

ROUNDINGS = ["rn", "rz", "rm", "rp"]


def integer():
    k = Kernel("integer", dict(a="u32", b="u32", c="u32"))
    for op in ["add.s32", "add.sat.s32", "sub.s32", "sub.sat.s32", "mul.lo.s32", "mul.hi.s32", "mul.hi.u32", "mul24.lo.s32",
               "mul24.hi.s32", "mul24.lo.u32", "mul24.hi.u32", "min.s32", "max.s32", "min.u32", "max.u32", "min.relu.s32",
               "max.relu.s32", "min.s16x2", "max.s16x2", "min.u16x2", "max.u16x2", "min.relu.s16x2", "max.relu.s16x2", "add.u16x2",
               "and.b32", "or.b32", "xor.b32", "div.s32", "div.u32", "rem.s32", "rem.u32", "shl.b32", "shr.s32", "shr.u32",
               "szext.clamp.s32", "szext.wrap.s32", "szext.clamp.u32", "szext.wrap.u32", "bmsk.clamp.b32", "bmsk.wrap.b32"]:
        k.add(op, f"{op} $d, $a, $b;")
    for op in ["abs.s32", "neg.s32", "not.b32", "cnot.b32", "popc.b32", "clz.b32", "brev.b32", "bfind.s32", "bfind.u32",
               "bfind.shiftamt.s32", "bfind.shiftamt.u32"]:
        k.add(op, f"{op} $d, $a;")
    for op in ["mad.lo.s32", "mad.hi.s32", "mad.hi.u32", "mad.hi.sat.s32", "mad24.lo.s32", "mad24.hi.u32", "sad.s32", "sad.u32",
               "bfe.s32", "bfe.u32", "shf.l.clamp.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "shf.r.wrap.b32"]:
        k.add(op, f"{op} $d, $a, $b, $c;")
    k.add("bfi.b32", "and.b32 $t0, $c, 63; shr.u32 $t1, $c, 8; and.b32 $t1, $t1, 63; bfi.b32 $d, $a, $b, $t0, $t1;")
    for left in "su":
        for right in "su":
            k.add(f"dp4a.{left}32.{right}32", f"dp4a.{left}32.{right}32 $d, $a, $b, $c;")
            for half in ["lo", "hi"]:
                k.add(f"dp2a.{half}.{left}32.{right}32", f"dp2a.{half}.{left}32.{right}32 $d, $a, $b, $c;")
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"]:
        k.add(f"prmt.b32{mode}", f"prmt.b32{mode} $d, $a, $b, $c;")
    for selector in [0x5410, 0x7632, 0x0123, 0x8888, 0xba98, 0xfedc, 0x3021, 0x1234]:
        k.add(f"prmt.b32 0x{selector:x}", f"prmt.b32 $d, $a, $b, 0x{selector:x};")
    for lut in [0x01, 0x1b, 0x2d, 0x3c, 0x40, 0x69, 0x6a, 0x7f, 0x80, 0x96, 0xac, 0xb8, 0xca, 0xd8, 0xe8, 0xf8, 0xfe]:
        k.add(f"lop3.b32 0x{lut:x}", f"lop3.b32 $d, $a, $b, $c, 0x{lut:x};")
    return k


def integer_operands():
    """The same operations with immediates, constants of the kernel's parameters, negated and absolute operands, shifts by numbers."""
    k = Kernel("integer_operands", dict(a="u32", b="u32", c="u32"))
    for value in [1, -1, 0x7fffffff, 0x12345]:
        k.add(f"add.s32 {value}", f"add.s32 $d, $a, {value};")
        k.add(f"mul.lo.s32 {value}", f"mul.lo.s32 $d, $a, {value};")
        k.add(f"mad.lo.s32 {value}", f"mad.lo.s32 $d, $a, {value}, $b;")
        k.add(f"mad.lo.s32 a b {value}", f"mad.lo.s32 $d, $a, $b, {value};")
        k.add(f"xor.b32 {value}", f"xor.b32 $d, $a, {value};")
        k.add(f"mul.hi.u32 {value}", f"mul.hi.u32 $d, $a, {value};")
        k.add(f"mul.wide.s32 {value}", f"mul.wide.s32 $D, $a, {value};")
    for op in ["add.s32", "sub.s32", "mul.lo.s32", "mul.hi.s32", "mul.hi.u32", "min.s32", "max.u32", "and.b32", "xor.b32", "shl.b32",
               "shr.s32", "shr.u32"]:
        k.add(f"{op} constant", f"{op} $d, $a, $k1;")
        k.add(f"{op} constant left", f"{op} $d, $k0, $b;")
    for op in ["mad.lo.s32", "mad.hi.u32", "shf.l.wrap.b32", "shf.r.clamp.b32", "dp4a.s32.u32", "prmt.b32", "sad.s32"]:
        k.add(f"{op} constant 1", f"{op} $d, $k1, $b, $c;")
        k.add(f"{op} constant 2", f"{op} $d, $a, $k2, $c;")
        k.add(f"{op} constant 3", f"{op} $d, $a, $b, $k3;")
    k.add("add three", "add.s32 $t0, $a, $b; add.s32 $d, $t0, $c;")
    k.add("sub three", "sub.s32 $t0, $a, $b; sub.s32 $d, $t0, $c;")
    k.add("neg add", "neg.s32 $t0, $a; add.s32 $t1, $t0, $b; add.s32 $d, $t1, $c;")
    k.add("mad neg", "neg.s32 $t0, $c; mad.lo.s32 $d, $a, $b, $t0;")
    k.add("abs diff", "sub.s32 $t0, $a, $b; abs.s32 $d, $t0;")
    for shift in [1, 5, 16, 31]:
        k.add(f"shl.b32 {shift}", f"shl.b32 $d, $a, {shift};")
        k.add(f"shr.s32 {shift}", f"shr.s32 $d, $a, {shift};")
        k.add(f"shr.u32 {shift}", f"shr.u32 $d, $a, {shift};")
        k.add(f"lea {shift}", f"shl.b32 $t0, $a, {shift}; add.s32 $d, $t0, $b;")
        k.add(f"lea negative {shift}", f"shl.b32 $t0, $a, {shift}; sub.s32 $d, $b, $t0;")
        k.add(f"lea high {shift}", f"shr.u32 $t0, $a, {shift}; add.s32 $d, $t0, $b;")
        k.add(f"lea high signed {shift}", f"shr.s32 $t0, $a, {shift}; add.s32 $d, $t0, $b;")
        k.add(f"shf.l {shift}", f"shf.l.wrap.b32 $d, $a, $b, {shift};")
        k.add(f"shf.r {shift}", f"shf.r.wrap.b32 $d, $a, $b, {shift};")
        k.add(f"rotate {shift}", f"shf.l.wrap.b32 $d, $a, $a, {shift};")
    for divisor in [3, 7, 10, 1000, 641]:
        k.add(f"div.u32 {divisor}", f"div.u32 $d, $a, {divisor};")
        k.add(f"div.s32 {divisor}", f"div.s32 $d, $a, {divisor};")
        k.add(f"rem.s32 {divisor}", f"rem.s32 $d, $a, {divisor};")
    for bits in [8, 16, 24]:
        k.add(f"bfe.s32 {bits}", f"bfe.s32 $d, $a, {bits // 2}, {bits};")
        k.add(f"bfe.u32 {bits}", f"bfe.u32 $d, $a, {bits // 4}, {bits};")
        k.add(f"bfi.b32 {bits}", f"bfi.b32 $d, $a, $b, {bits // 4}, {bits};")
    for op in ["min", "max"]:
        for kind in ["s32", "u32"]:
            k.add(f"{op}3.{kind}", f"{op}.{kind} $t0, $a, $b; {op}.{kind} $d, $t0, $c;")
            k.add(f"add{op}.{kind}", f"add.{kind} $t0, $a, $b; {op}.{kind} $d, $t0, $c;")
        k.add(f"add{op}.relu.s32", f"add.s32 $t0, $a, $b; {op}.relu.s32 $d, $t0, $c;")
        k.add(f"{op}3.s16x2", f"{op}.s16x2 $t0, $a, $b; {op}.s16x2 $d, $t0, $c;")
    k.add("popc and", "and.b32 $t0, $a, $b; popc.b32 $d, $t0;")
    k.add("popc not", "not.b32 $t0, $a; popc.b32 $d, $t0;")
    k.add("clz not", "not.b32 $t0, $a; clz.b32 $d, $t0;")
    return k


def integer_video():
    k = Kernel("integer_video", dict(a="u32", b="u32", c="u32"))
    for op in ["vadd", "vsub", "vabsdiff", "vmin", "vmax"]:
        for kinds in ["s32.s32.s32", "u32.u32.u32", "s32.u32.s32"]:
            k.add(f"{op}.{kinds}", f"{op}.{kinds} $d, $a, $b;")
            k.add(f"{op}.{kinds}.sat", f"{op}.{kinds}.sat $d, $a, $b;")
        k.add(f"{op} bytes", f"{op}.s32.s32.s32 $d, $a.b1, $b.b2;")
        k.add(f"{op} halves add", f"{op}.s32.u32.u32.add $d, $a.h1, $b.h0, $c;")
    for op in ["vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4"]:
        for kinds in ["s32.s32.s32", "u32.u32.u32"]:
            k.add(f"{op}.{kinds}", f"{op}.{kinds} $d, $a, $b, $c;")
            k.add(f"{op.replace('4', '2')}.{kinds}", f"{op.replace('4', '2')}.{kinds} $d, $a, $b, $c;")
    k.add("vabsdiff4.add", "vabsdiff4.u32.u32.u32.add $d, $a, $b, $c;")
    k.add("vabsdiff4.s.add", "vabsdiff4.s32.s32.s32.add $d, $a, $b, $c;")
    k.add("vset4.lt", "vset4.u32.u32.lt $d, $a, $b, $c;")
    k.add("vset2.ge", "vset2.s32.s32.ge $d, $a, $b, $c;")
    k.add("vmad.shr7", "vmad.s32.s32.s32.shr7 $d, $a.h0, $b.h1, $c;")
    k.add("vmad.u.shr15", "vmad.u32.u32.u32.shr15 $d, $a.b0, $b.b3, $c;")
    k.add("vshl.clamp", "vshl.u32.u32.u32.clamp $d, $a, $b;")
    k.add("vshr.wrap", "vshr.s32.s32.u32.wrap $d, $a, $b;")
    return k


def integer_carries():
    k = Kernel("integer_carries", dict(a="u32", b="u32", c="u32", f="u32"))
    k.add("add.cc addc", "add.cc.u32 $d, $a, $b; addc.u32 $e, $c, $f;".replace("$f;", "$b;"))
    k.add("add.cc addc.cc addc", "add.cc.u32 $d, $a, $b; addc.cc.u32 $e, $b, $c; addc.u32 $g, $c, $a;")
    k.add("sub.cc subc", "sub.cc.u32 $d, $a, $b; subc.u32 $e, $c, $b;")
    k.add("sub.cc subc.cc subc", "sub.cc.u32 $d, $a, $b; subc.cc.u32 $e, $b, $c; subc.u32 $g, $c, $a;")
    k.add("mad.lo.cc madc.hi", "mad.lo.cc.u32 $d, $a, $b, $c; madc.hi.u32 $e, $a, $b, $c;")
    k.add("mad.hi.cc addc", "mad.hi.cc.u32 $d, $a, $b, $c; addc.u32 $e, $a, 0;")
    k.add("mad.lo.cc madc.hi.s32", "mad.lo.cc.s32 $d, $a, $b, $c; madc.hi.s32 $e, $a, $b, $c;")
    k.add("add.cc madc.lo.cc madc.hi", "add.cc.u32 $d, $a, $b; madc.lo.cc.u32 $e, $a, $c, $b; madc.hi.u32 $g, $a, $c, $b;")
    for kind in ["s16", "u16"]:
        k.add(f"mul.wide.{kind}", f"mul.wide.{kind} $d, $ah, $bg;")
        k.add(f"mul.lo.{kind}", f"mul.lo.{kind} $h, $ah, $bg;")
        k.add(f"mul.hi.{kind}", f"mul.hi.{kind} $h, $ah, $bg;")
        k.add(f"mad.wide.{kind}", f"mad.wide.{kind} $d, $ah, $bg, $c;")
        k.add(f"mad.lo.{kind}", f"mad.lo.{kind} $h, $ah, $bg, $ch;")
        for op in ["add", "sub", "min", "max", "div", "rem", "shr"]:
            second = "$b" if op == "shr" else "$bg"
            k.add(f"{op}.{kind}", f"{op}.{kind} $h, $ah, {second};")
        for compare in ["lt", "ge", "eq"]:
            k.add(f"setp.{compare}.{kind}", f"setp.{compare}.{kind} $p, $ah, $bg;")
    k.add("shl.b16", "shl.b16 $h, $ah, $b;")
    k.add("xor.b16", "xor.b16 $h, $ah, $bg;")
    k.add("neg.s16", "neg.s16 $h, $ah;")
    k.add("abs.s16", "abs.s16 $h, $ah;")
    return k


def integer_wide():
    k = Kernel("integer_wide", dict(a="u64", b="u64", c="u64"))
    for op in ["add.s64", "sub.s64", "mul.lo.s64", "mul.hi.s64", "mul.hi.u64", "min.s64", "max.s64", "min.u64", "max.u64", "and.b64",
               "or.b64", "xor.b64"]:
        k.add(op, f"{op} $D, $a, $b;")
    for op in ["abs.s64", "neg.s64", "not.b64", "cnot.b64", "brev.b64"]:
        k.add(op, f"{op} $D, $a;")
    for op in ["popc.b64", "clz.b64", "bfind.s64", "bfind.u64", "bfind.shiftamt.s64", "bfind.shiftamt.u64"]:
        k.add(op, f"{op} $d, $a;")
    for op in ["mad.lo.s64", "mad.hi.s64", "mad.hi.u64", "sad.s64", "sad.u64"]:
        k.add(op, f"{op} $D, $a, $b, $c;")
    for op in ["shl.b64", "shr.s64", "shr.u64"]:
        k.add(op, f"cvt.u32.u64 $t0, $b; {op} $D, $a, $t0;")
        k.add(f"{op} small", f"cvt.u32.u64 $t0, $b; and.b32 $t0, $t0, 127; {op} $D, $a, $t0;")
        for shift in [1, 13, 32, 47, 63]:
            k.add(f"{op} {shift}", f"{op} $D, $a, {shift};")
    k.add("bfe.u64", "cvt.u32.u64 $t0, $b; cvt.u32.u64 $t1, $c; and.b32 $t0, $t0, 127; and.b32 $t1, $t1, 127; bfe.u64 $D, $a, $t0, $t1;")
    k.add("bfe.s64", "cvt.u32.u64 $t0, $b; cvt.u32.u64 $t1, $c; and.b32 $t0, $t0, 127; and.b32 $t1, $t1, 127; bfe.s64 $D, $a, $t0, $t1;")
    k.add("bfi.b64", "cvt.u32.u64 $t0, $c; shr.u32 $t1, $t0, 8; and.b32 $t0, $t0, 127; and.b32 $t1, $t1, 127; bfi.b64 $D, $a, $b, $t0, $t1;")
    for op in ["mul.wide.s32", "mul.wide.u32"]:
        k.add(op, f"cvt.u32.u64 $t0, $a; cvt.u32.u64 $t1, $b; {op} $D, $t0, $t1;")
        mad = op.replace("mul", "mad")
        k.add(mad, f"cvt.u32.u64 $t0, $a; cvt.u32.u64 $t1, $b; {mad} $D, $t0, $t1, $c;")
        k.add(f"{mad} constant", f"cvt.u32.u64 $t0, $a; {mad} $D, $t0, $k1, $c;")
        k.add(f"{mad} 24", f"cvt.u32.u64 $t0, $a; {mad} $D, $t0, 24, $c;")
    k.add("add constant", "add.s64 $D, $a, $K1;")
    k.add("sub constant", "sub.s64 $D, $K2, $a;")
    k.add("lea.64 3", "shl.b64 $T0, $a, 3; add.s64 $D, $T0, $b;")
    k.add("lea.64 3 from 32", "cvt.u32.u64 $t0, $a; cvt.s64.s32 $T0, $t0; shl.b64 $T1, $T0, 3; add.s64 $D, $T1, $b;")
    k.add("add.cc.u64", "add.cc.u64 $D, $a, $b; addc.u64 $E, $c, $b;")
    k.add("sub.cc.u64", "sub.cc.u64 $D, $a, $b; subc.u64 $E, $c, $b;")
    return k


def integer_division():
    k = Kernel("integer_division", dict(a="u64", b="u64"), threads=512)
    for op in ["div.s64", "div.u64", "rem.s64", "rem.u64"]:
        k.add(op, f"{op} $D, $a, $b;")
    k.add("div.u64 10", "div.u64 $D, $a, 10;")
    k.add("div.s64 -7", "div.s64 $D, $a, -7;")
    return k


def comparisons():
    kernels = []
    k = Kernel("compare_integer", dict(a="u32", b="u32", c="u32"))
    for kind in ["s32", "u32"]:
        for compare in ["eq", "ne", "lt", "le", "gt", "ge"]:
            k.add(f"setp.{compare}.{kind}", f"setp.{compare}.{kind} $p, $a, $b;")
            k.add(f"set.{compare}.{kind}", f"set.{compare}.u32.{kind} $d, $a, $b;")
            k.add(f"setp.{compare}.{kind} immediate", f"setp.{compare}.{kind} $p, $a, 100;")
            k.add(f"setp.{compare}.{kind} constant", f"setp.{compare}.{kind} $p, $a, $k1;")
    for join in ["and", "or", "xor"]:
        k.add(f"setp.lt.{join}", f"setp.gt.u32 $x0, $a, $c; setp.lt.{join}.s32 $p|$q, $a, $b, $x0;")
        k.add(f"setp.ne.{join} not", f"setp.gt.u32 $x0, $a, $c; setp.ne.{join}.s32 $p|$q, $a, $b, !$x0;")
    k.add("predicate logic", "setp.gt.u32 $x0, $a, $c; setp.lt.s32 $x1, $a, $b; setp.eq.u32 $x2, $b, $c; and.pred $x3, $x0, $x1;"
          "xor.pred $x3, $x3, $x2; or.pred $p, $x3, !$x1;".replace("or.pred $p, $x3, !$x1;", "not.pred $x4, $x1; or.pred $p, $x3, $x4;"))
    k.add("sign predicates", "setp.lt.s32 $x0, $a, 0; setp.lt.s32 $x1, $b, 0; setp.lt.s32 $x2, $c, 0; xor.pred $x3, $x0, $x1; and.pred $p, $x3, $x2;")
    k.add("selp.b32", "setp.lt.s32 $x0, $a, $b; selp.b32 $d, $a, $c, $x0;")
    k.add("selp.b32 immediate", "setp.lt.u32 $x0, $a, $b; selp.b32 $d, 77, $c, $x0;")
    k.add("selp.b32 constant", "setp.lt.u32 $x0, $a, $b; selp.b32 $d, $k2, $c, $x0;")
    k.add("slct.b32.s32", "slct.b32.s32 $d, $a, $b, $c;")
    k.add("lop3 predicate", "lop3.b32 $t0, $a, $b, $c, 0x80; setp.ne.s32 $p, $t0, 0;")
    k.add("predicated move", "setp.lt.s32 $x0, $a, $b; mov.b32 $d, $c; @$x0 add.s32 $d, $a, 5; @!$x0 xor.b32 $d, $d, $a;")
    kernels.append(k)
    k = Kernel("compare_wide", dict(a="u64", b="u64", c="u64"))
    for kind in ["s64", "u64"]:
        for compare in ["eq", "ne", "lt", "le", "gt", "ge"]:
            k.add(f"setp.{compare}.{kind}", f"setp.{compare}.{kind} $p, $a, $b;")
    k.add("setp.lt.and.s64", "setp.gt.u64 $x0, $a, $c; setp.lt.and.s64 $p|$q, $a, $b, $x0;")
    k.add("selp.b64", "setp.lt.s64 $x0, $a, $b; selp.b64 $D, $a, $c, $x0;")
    k.add("slct.b64.s32", "cvt.u32.u64 $t0, $c; slct.b64.s32 $D, $a, $b, $t0;")
    kernels.append(k)
    orders = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
    k = Kernel("compare_float", dict(a="f32", b="f32", c="f32"))
    for compare in orders:
        k.add(f"setp.{compare}.f32", f"setp.{compare}.f32 $p, $a, $b;")
        k.add(f"setp.{compare}.ftz.f32", f"setp.{compare}.ftz.f32 $p, $a, $b;")
        k.add(f"set.{compare}.f32", f"set.{compare}.f32.f32 $d, $a, $b;")
    k.add("setp.lt.and.f32", "setp.gt.f32 $x0, $a, $c; setp.lt.and.f32 $p|$q, $a, $b, $x0;")
    k.add("setp.lt.f32 abs", "abs.f32 $t0, $a; neg.f32 $t1, $b; setp.lt.f32 $p, $t0, $t1;")
    k.add("setp.ge.f32 immediate", "setp.ge.f32 $p, $a, 0f3F800000;")
    k.add("setp.ge.f32 constant", "setp.ge.f32 $p, $a, $k4;")
    k.add("slct.f32.f32", "slct.b32.f32 $d, $a, $b, $c;")
    k.add("slct.ftz.f32.f32", "slct.ftz.b32.f32 $d, $a, $b, $c;")
    for test in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"]:
        k.add(f"testp.{test}.f32", f"testp.{test}.f32 $p, $a;")
    k.add("selp neg", "setp.lt.f32 $x0, $a, $b; neg.f32 $t0, $c; selp.f32 $d, $a, $t0, $x0;")
    kernels.append(k)
    k = Kernel("compare_double", dict(a="f64", b="f64", c="f64"))
    for compare in orders:
        k.add(f"setp.{compare}.f64", f"setp.{compare}.f64 $p, $a, $b;")
    k.add("setp.lt.or.f64", "setp.gt.f64 $x0, $a, $c; setp.lt.or.f64 $p|$q, $a, $b, $x0;")
    for test in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"]:
        k.add(f"testp.{test}.f64", f"testp.{test}.f64 $p, $a;")
    kernels.append(k)
    for kind, operand in [("f16x2", "h2"), ("bf16x2", "b2")]:
        k = Kernel(f"compare_{kind}", dict(a=operand, b=operand, c=operand))
        for compare in orders:
            k.add(f"setp.{compare}.{kind}", f"setp.{compare}.{kind} $p|$q, $a, $b;")
            k.add(f"set.{compare}.{kind}", f"set.{compare}.{kind}.{kind} $d, $a, $b;")
            k.add(f"set.{compare}.u32.{kind}", f"set.{compare}.u32.{kind[:-2]} $d, $ah, $bh;")
            if kind == "f16x2":
                k.add(f"setp.{compare}.ftz.f16", f"setp.{compare}.ftz.f16 $p, $ag, $bh;")
            else:
                k.add(f"setp.{compare}.bf16", f"setp.{compare}.bf16 $p, $ag, $bh;")
        kernels.append(k)
    return kernels


def float32():
    kernels = []
    for ftz in ["", ".ftz"]:
        k = Kernel("float_arithmetic" + ftz.replace(".", "_"), dict(a="f32", b="f32", c="f32"))
        for r in ROUNDINGS:
            for sat in ["", ".sat"]:
                k.add(f"add.{r}{ftz}{sat}.f32", f"add.{r}{ftz}{sat}.f32 $d, $a, $b;")
                k.add(f"mul.{r}{ftz}{sat}.f32", f"mul.{r}{ftz}{sat}.f32 $d, $a, $b;")
                k.add(f"fma.{r}{ftz}{sat}.f32", f"fma.{r}{ftz}{sat}.f32 $d, $a, $b, $c;")
        for name, text in [("add negative", "neg.f32 $t0, $b; add.rn{z}.f32 $d, $a, $t0;"),
                           ("add absolute", "abs.f32 $t0, $a; abs.f32 $t1, $b; neg.f32 $t1, $t1; add.rn{z}.f32 $d, $t0, $t1;"),
                           ("mul negative", "neg.f32 $t0, $b; mul.rn{z}.f32 $d, $a, $t0;"),
                           ("fma negative", "neg.f32 $t0, $a; neg.f32 $t1, $c; fma.rn{z}.f32 $d, $t0, $b, $t1;"),
                           ("add immediate", "add.rn{z}.f32 $d, $a, 0f3FC00000;"), ("mul immediate", "mul.rn{z}.f32 $d, $a, 0f40490FDB;"),
                           ("fma immediate b", "fma.rn{z}.f32 $d, $a, 0f3EAAAAAB, $c;"),
                           ("fma immediate c", "fma.rn{z}.f32 $d, $a, $b, 0fBF000000;"),
                           ("add constant", "add.rn{z}.f32 $d, $a, $k4;"), ("mul constant", "mul.rn{z}.f32 $d, $a, $k5;"),
                           ("fma constant b", "fma.rn{z}.f32 $d, $a, $k4, $c;"), ("fma constant c", "fma.rn{z}.f32 $d, $a, $b, $k5;"),
                           ("sub", "sub.rn{z}.f32 $d, $a, $b;")]:
            k.add(name + ftz, text.replace("{z}", ftz))
        for op in ["min", "max"]:
            for nan in ["", ".NaN"]:
                for sign in ["", ".xorsign.abs"]:
                    k.add(f"{op}{ftz}{nan}{sign}.f32", f"{op}{ftz}{nan}{sign}.f32 $d, $a, $b;")
            k.add(f"{op}{ftz} abs neg", f"abs.f32 $t0, $a; neg.f32 $t1, $b; {op}{ftz}.f32 $d, $t0, $t1;")
            k.add(f"{op}{ftz} immediate", f"{op}{ftz}.f32 $d, $a, 0f00000000;")
        for op in ["abs", "neg"]:
            k.add(f"{op}{ftz}.f32", f"{op}{ftz}.f32 $d, $a;")
        for r in ["rni", "rzi", "rmi", "rpi"]:
            for sat in ["", ".sat"]:
                k.add(f"cvt.{r}{ftz}{sat}.f32.f32", f"cvt.{r}{ftz}{sat}.f32.f32 $d, $a;")
        k.add(f"cvt{ftz}.sat.f32.f32", f"cvt{ftz}.sat.f32.f32 $d, $a;")
        kernels.append(k)
        k = Kernel("float_division" + ftz.replace(".", "_"), dict(a="f32", b="f32"))
        for r in ROUNDINGS:
            k.add(f"div.{r}{ftz}.f32", f"div.{r}{ftz}.f32 $d, $a, $b;")
            k.add(f"rcp.{r}{ftz}.f32", f"rcp.{r}{ftz}.f32 $d, $a;")
            k.add(f"sqrt.{r}{ftz}.f32", f"sqrt.{r}{ftz}.f32 $d, $a;")
        kernels.append(k)
        k = Kernel("float_approximate" + ftz.replace(".", "_"), dict(a="f32", b="f32"))
        for op in ["rcp", "rsqrt", "sqrt", "sin", "cos", "lg2", "ex2"]:
            k.add(f"{op}.approx{ftz}.f32", f"{op}.approx{ftz}.f32 $d, $a;")
            k.add(f"{op}.approx{ftz}.f32 neg", f"neg.f32 $t0, $a; {op}.approx{ftz}.f32 $d, $t0;")
            k.add(f"{op}.approx{ftz}.f32 abs", f"abs.f32 $t0, $a; {op}.approx{ftz}.f32 $d, $t0;")
        for op in ["div.approx", "div.full"]:
            k.add(f"{op}{ftz}.f32", f"{op}{ftz}.f32 $d, $a, $b;")
        if not ftz:
            k.add("tanh.approx.f32", "tanh.approx.f32 $d, $a;")
            k.add("copysign.f32", "copysign.f32 $d, $a, $b;")
        kernels.append(k)
    return kernels


def float64():
    kernels = []
    k = Kernel("double_arithmetic", dict(a="f64", b="f64", c="f64"))
    for r in ROUNDINGS:
        k.add(f"add.{r}.f64", f"add.{r}.f64 $D, $a, $b;")
        k.add(f"mul.{r}.f64", f"mul.{r}.f64 $D, $a, $b;")
        k.add(f"fma.{r}.f64", f"fma.{r}.f64 $D, $a, $b, $c;")
        k.add(f"cvt.{r}.f32.f64", f"cvt.{r}.f32.f64 $d, $a;")
        k.add(f"cvt.{r}.ftz.sat.f32.f64", f"cvt.{r}.ftz.sat.f32.f64 $d, $a;")
        k.add(f"cvt.{r}i.f64.f64", f"cvt.{r}i.f64.f64 $D, $a;")
    k.add("fma negative", "neg.f64 $T0, $a; neg.f64 $T1, $c; fma.rn.f64 $D, $T0, $b, $T1;")
    k.add("add absolute", "abs.f64 $T0, $a; neg.f64 $T1, $b; add.rn.f64 $D, $T0, $T1;")
    k.add("mul immediate", "mul.rn.f64 $D, $a, 0d3FE8000000000000;")
    k.add("add constant", "add.rn.f64 $D, $a, $K3;")
    k.add("fma constant", "fma.rn.f64 $D, $a, $K3, $c;")
    k.add("fma constant c", "fma.rn.f64 $D, $a, $b, $K3;")
    for op in ["min", "max"]:
        k.add(f"{op}.f64", f"{op}.f64 $D, $a, $b;")
    for op in ["abs", "neg"]:
        k.add(f"{op}.f64", f"{op}.f64 $D, $a;")
    k.add("copysign.f64", "copysign.f64 $D, $a, $b;")
    kernels.append(k)
    k = Kernel("double_division", dict(a="f64", b="f64"), threads=1024)
    for r in ROUNDINGS:
        k.add(f"div.{r}.f64", f"div.{r}.f64 $D, $a, $b;")
        k.add(f"rcp.{r}.f64", f"rcp.{r}.f64 $D, $a;")
        k.add(f"sqrt.{r}.f64", f"sqrt.{r}.f64 $D, $a;")
    for op in ["rcp.approx.ftz.f64", "rsqrt.approx.f64", "rsqrt.approx.ftz.f64"]:
        k.add(op, f"{op} $D, $a;")
    kernels.append(k)
    return kernels


def half():
    kernels = []
    for kind, operand in [("f16", "h2"), ("bf16", "b2")]:
        k = Kernel(f"{kind}_arithmetic", dict(a=operand, b=operand, c=operand))
        for ftz in ["", ".ftz"] if kind == "f16" else [""]:
            for op in ["add", "sub", "mul"]:
                for sat in ["", ".sat"] if kind == "f16" else [""]:
                    for rn in ["", ".rn"]:
                        k.add(f"{op}{rn}{ftz}{sat}.{kind}x2", f"{op}{rn}{ftz}{sat}.{kind}x2 $d, $a, $b;")
                    k.add(f"{op}{ftz}{sat}.{kind}", f"{op}{ftz}{sat}.{kind} $h, $ag, $bh;")
            for sat in ["", ".sat", ".relu"] if kind == "f16" else ["", ".relu"]:
                k.add(f"fma.rn{ftz}{sat}.{kind}x2", f"fma.rn{ftz}{sat}.{kind}x2 $d, $a, $b, $c;")
                k.add(f"fma.rn{ftz}{sat}.{kind}", f"fma.rn{ftz}{sat}.{kind} $h, $ag, $bh, $cg;")
            for op in ["min", "max"]:
                for nan in ["", ".NaN"]:
                    for sign in ["", ".xorsign.abs"]:
                        k.add(f"{op}{ftz}{nan}{sign}.{kind}x2", f"{op}{ftz}{nan}{sign}.{kind}x2 $d, $a, $b;")
                        k.add(f"{op}{ftz}{nan}{sign}.{kind}", f"{op}{ftz}{nan}{sign}.{kind} $h, $ah, $bg;")
            for op in ["abs", "neg"]:
                k.add(f"{op}{ftz}.{kind}x2", f"{op}{ftz}.{kind}x2 $d, $a;")
                k.add(f"{op}{ftz}.{kind}", f"{op}{ftz}.{kind} $h, $ag;")
        one = "0x3c003c00" if kind == "f16" else "0x3f803f80"
        k.add("add immediate", f"mov.b32 $t0, {one}; add.{kind}x2 $d, $a, $t0;")
        k.add("fma immediate", f"mov.b32 $t0, {one}; fma.rn.{kind}x2 $d, $a, $b, $t0;")
        k.add("fma constant", f"fma.rn.{kind}x2 $d, $a, $k6, $c;")
        k.add("fma negative", f"neg.{kind}x2 $t0, $a; neg.{kind}x2 $t1, $c; fma.rn.{kind}x2 $d, $t0, $b, $t1;")
        k.add("fma broadcast", f"mov.b32 $t0, {{$bh, $bh}}; fma.rn.{kind}x2 $d, $a, $t0, $c;")
        k.add("mul swapped", f"mov.b32 $t0, {{$bg, $bh}}; mul.{kind}x2 $d, $a, $t0;")
        if kind == "f16":
            k.add("ex2.approx.f16", "ex2.approx.f16 $h, $ah;")
            k.add("ex2.approx.f16x2", "ex2.approx.f16x2 $d, $a;")
        else:
            k.add("ex2.approx.ftz.bf16", "ex2.approx.ftz.bf16 $h, $ah;")
            k.add("ex2.approx.ftz.bf16x2", "ex2.approx.ftz.bf16x2 $d, $a;")
        k.add(f"tanh.approx.{kind}", f"tanh.approx.{kind} $h, $ah;")
        k.add(f"tanh.approx.{kind}x2", f"tanh.approx.{kind}x2 $d, $a;")
        kernels.append(k)
        k = Kernel(f"{kind}_oob", dict(a=operand, b=operand, c=operand), threads=512)
        k.add("fma.rn.oob", f"fma.rn.oob.{kind}x2 $d, $a, $b, $c;")
        k.add("fma.rn.oob of NaN 7fff", f"or.b32 $t0, $a, 0x7fff; fma.rn.oob.{kind}x2 $d, $t0, $b, $c; fma.rn.oob.{kind}x2 $e, $b, $t0, $c;"
              f"fma.rn.oob.{kind}x2 $f, $b, $c, $t0;")
        kernels.append(k)
    return kernels


def all_kernels():
    return [integer(), integer_operands(), integer_video(), integer_carries(), integer_wide(), integer_division(), *comparisons(),
            *float32(), *float64(), *half()]
