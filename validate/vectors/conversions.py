"""Conversions between integers and floats of every width, with every rounding and saturation that PTX has."""
from kernel_text import Kernel

ROUNDINGS = ["rn", "rz", "rm", "rp"]
SMALL = ["s8", "u8", "s16", "u16"]
FLOAT_ANSWER = {"f16": "$h", "bf16": "$h", "f32": "$d", "f64": "$D"}


def from_integers():
    kernels = []
    k = Kernel("convert_from_integer", dict(a="u32"))
    w = Kernel("convert_from_wide", dict(a="u64"))
    for kind in SMALL + ["s32", "u32", "s64", "u64"]:
        kernel = w if kind.endswith("64") else k
        source = "$ah" if kind in SMALL else "$a"
        for target, answer in FLOAT_ANSWER.items():
            for r in ROUNDINGS:
                kernel.add(f"cvt.{r}.{target}.{kind}", f"cvt.{r}.{target}.{kind} {answer}, {source};")
        kernel.add(f"cvt.rn.sat.f32.{kind}", f"cvt.rn.sat.f32.{kind} $d, {source};")
        for target in SMALL + ["s32", "u32", "s64", "u64"]:
            if target == kind:
                continue
            answer = "$h" if target in SMALL else "$D" if target.endswith("64") else "$d"
            kernel.add(f"cvt.{target}.{kind}", f"cvt.{target}.{kind} {answer}, {source};")
            kernel.add(f"cvt.sat.{target}.{kind}", f"cvt.sat.{target}.{kind} {answer}, {source};")
    k.add("byte 2 to float", "shr.u32 $t0, $a, 16; and.b32 $t0, $t0, 255; cvt.rn.f32.u32 $d, $t0;")
    k.add("byte 1 signed to float", "bfe.s32 $t0, $a, 8, 8; cvt.rn.f32.s32 $d, $t0;")
    k.add("high half to double", "cvt.rn.f64.s16 $D, $ag;")
    p = Kernel("convert_pack", dict(a="u32", b="u32", c="u32"))
    for kind in ["u16", "s16"]:
        p.add(f"cvt.pack.sat.{kind}.s32", f"cvt.pack.sat.{kind}.s32 $d, $a, $b;")
    for kind in ["u8", "s8"]:
        p.add(f"cvt.pack.sat.{kind}.s32.b32", f"cvt.pack.sat.{kind}.s32.b32 $d, $a, $b, $c;")
    n = Kernel("convert_pack_narrow", dict(a="u32", b="u32", c="u32"))
    for kind in ["u4", "s4", "u2", "s2"]:
        n.add(f"cvt.pack.sat.{kind}.s32.b32", f"cvt.pack.sat.{kind}.s32.b32 $d, $a, $b, $c;")
    kernels += [k, w, p, n]
    return kernels


def to_integers():
    kernels = []
    for source, operand, register in [("f32", "f32", "$a"), ("f64", "f64", "$a"), ("f16", "h2", "$ah"), ("bf16", "b2", "$ag")]:
        k = Kernel(f"convert_{source}_to_integer", dict(a=operand))
        for kind in SMALL + ["s32", "u32", "s64", "u64"]:
            answer = "$h" if kind in SMALL else "$D" if kind.endswith("64") else "$d"
            for r in ["rni", "rzi", "rmi", "rpi"]:
                for ftz in ["", ".ftz"] if source == "f32" else [""]:
                    k.add(f"cvt.{r}{ftz}.{kind}.{source}", f"cvt.{r}{ftz}.{kind}.{source} {answer}, {register};")
            k.add(f"cvt.rzi.sat.{kind}.{source}", f"cvt.rzi.sat.{kind}.{source} {answer}, {register};")
        if source == "f32":
            k.add("cvt of abs neg", "abs.f32 $t0, $a; neg.f32 $t0, $t0; cvt.rzi.s32.f32 $d, $t0;")
        kernels.append(k)
    return kernels


def between_floats():
    kernels = []
    k = Kernel("convert_floats", dict(a="f32", b="f32"))
    for r in ROUNDINGS:
        for kind in ["f16", "bf16"]:
            k.add(f"cvt.{r}.{kind}.f32", f"cvt.{r}.{kind}.f32 $h, $a;")
            k.add(f"cvt.{r}.ftz.{kind}.f32", f"cvt.{r}.ftz.{kind}.f32 $h, $a;")
            k.add(f"cvt.{r}.sat.{kind}.f32", f"cvt.{r}.sat.{kind}.f32 $h, $a;")
    for r in ["rn", "rz"]:
        for relu in ["", ".relu"]:
            for kind in ["f16", "bf16"]:
                if relu:
                    k.add(f"cvt.{r}{relu}.{kind}.f32", f"cvt.{r}{relu}.{kind}.f32 $h, $b;")
                k.add(f"cvt.{r}{relu}.{kind}x2.f32", f"cvt.{r}{relu}.{kind}x2.f32 $d, $a, $b;")
                k.add(f"cvt.{r}{relu}.satfinite.{kind}x2.f32", f"cvt.{r}{relu}.satfinite.{kind}x2.f32 $d, $a, $b;")
    for kind in ["tf32"]:
        for mode in ["rna", "rn", "rz", "rn.relu", "rz.relu", "rna.satfinite", "rn.satfinite"]:
            k.add(f"cvt.{mode}.{kind}.f32", f"cvt.{mode}.{kind}.f32 $d, $a;")
    for relu in ["", ".relu"]:
        for kind in ["e4m3", "e5m2"]:
            k.add(f"cvt.rn.satfinite{relu}.{kind}x2.f32", f"cvt.rn.satfinite{relu}.{kind}x2.f32 $h, $a, $b;")
    k.add("cvt.f64.f32", "cvt.f64.f32 $D, $a;")
    k.add("cvt.ftz.f64.f32", "cvt.ftz.f64.f32 $D, $a;")
    k.add("cvt.sat.f64.f32", "cvt.sat.f64.f32 $D, $a;")
    kernels.append(k)
    k = Kernel("convert_from_half", dict(a="h2"))
    b = Kernel("convert_from_bfloat", dict(a="b2"))
    for kernel, kind, other in [(k, "f16", "bf16"), (b, "bf16", "f16")]:
        kernel.add(f"cvt.f32.{kind}", f"cvt.f32.{kind} $d, $ah;")
        kernel.add(f"cvt.f32.{kind} high", f"cvt.f32.{kind} $d, $ag;")
        kernel.add(f"cvt.ftz.f32.{kind}", f"cvt.ftz.f32.{kind} $d, $ah;")
        kernel.add(f"cvt.sat.f32.{kind}", f"cvt.sat.f32.{kind} $d, $ah;")
        kernel.add(f"cvt.f64.{kind}", f"cvt.f64.{kind} $D, $ah;")
        for r in ROUNDINGS:
            kernel.add(f"cvt.{r}i.{kind}.{kind}", f"cvt.{r}i.{kind}.{kind} $h, $ah;")
            kernel.add(f"cvt.{r}.{other}.{kind}", f"cvt.{r}.{other}.{kind} $h, $ah;")
        kernel.add(f"cvt.rni.sat.{kind}.{kind}", f"cvt.rni.sat.{kind}.{kind} $h, $ah;")
    for relu in ["", ".relu"]:
        for kind in ["e4m3", "e5m2"]:
            k.add(f"cvt.rn.satfinite{relu}.{kind}x2.f16x2", f"cvt.rn.satfinite{relu}.{kind}x2.f16x2 $h, $a;")
    e = Kernel("convert_from_eight", dict(a="u32"), threads=65536 // 16)
    for relu in ["", ".relu"]:
        for kind in ["e4m3", "e5m2"]:
            e.add(f"cvt.rn{relu}.f16x2.{kind}x2", f"cvt.rn{relu}.f16x2.{kind}x2 $d, $ah;")
    d = Kernel("convert_from_double", dict(a="f64"))
    for r in ROUNDINGS:
        for kind in ["f16", "bf16"]:
            d.add(f"cvt.{r}.{kind}.f64", f"cvt.{r}.{kind}.f64 $h, $a;")
        for mode in ["", ".sat", ".ftz"]:
            d.add(f"cvt.{r}{mode}.f32.f64", f"cvt.{r}{mode}.f32.f64 $d, $a;")
    d.add("cvt.rni.sat.f64.f64", "cvt.rni.sat.f64.f64 $D, $a;")
    kernels += [k, b, e, d]
    return kernels


def all_kernels():
    return [*from_integers(), *to_integers(), *between_floats()]
