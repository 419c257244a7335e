"""What lanes do together: shuffles, votes, matches, reductions; and matrix instructions, each warp one product."""
from kernel_text import Kernel

ALL = "0xffffffff"


def shuffles():
    k = Kernel("shuffles", dict(a="u32", b="u32", c="u32"))
    for mode, clamp in [("idx", 0x1f), ("up", 0), ("down", 0x1f), ("bfly", 0x1f)]:
        k.add(f"shfl.{mode} own lane operand", f"shfl.sync.{mode}.b32 $d|$p, $a, $b, {clamp}, {ALL};")
        for number in [1, 5, 16, 31]:
            k.add(f"shfl.{mode} {number}", f"shfl.sync.{mode}.b32 $d|$p, $a, {number}, {clamp}, {ALL};")
        for width in [2, 4, 8, 16]:
            segment = (32 - width) << 8 | (0 if mode == "up" else 0x1f)
            k.add(f"shfl.{mode} width {width}", f"shfl.sync.{mode}.b32 $d|$p, $a, $b, {segment}, {ALL};")
        k.add(f"shfl.{mode} any clamp", f"and.b32 $t0, $c, 0x1f1f; shfl.sync.{mode}.b32 $d|$p, $a, $b, $t0, {ALL};")
        k.add(f"shfl.{mode} lane clamp", f"mov.u32 $t0, %laneid; shr.u32 $t1, $t0, 1; shfl.sync.{mode}.b32 $d|$p, $a, $t1, 0x1f, {ALL};")
        # Half of the lanes, chosen by the lane's number: the others keep what they had.
        k.add(f"shfl.{mode} odd lanes", "mov.u32 $t0, %laneid; and.b32 $t1, $t0, 1; setp.ne.u32 $x0, $t1, 0; mov.b32 $d, $c;"
              f"@$x0 shfl.sync.{mode}.b32 $d, $a, {2 if mode != 'idx' else 3}, {clamp}, 0xaaaaaaaa;")
    return k


def votes():
    k = Kernel("votes", dict(a="u32", b="u32", c="u32"))
    for how, text in [("random", "setp.lt.s32 $x0, $a, 0;"), ("rare", "and.b32 $t0, $b, 31; setp.eq.u32 $x0, $t0, 7;"),
                      ("mostly", "and.b32 $t0, $b, 31; setp.ne.u32 $x0, $t0, 7;"), ("lane", "mov.u32 $t0, %laneid; setp.lt.u32 $x0, $t0, 11;")]:
        for mode in ["all", "any", "uni"]:
            k.add(f"vote.{mode} {how}", f"{text} vote.sync.{mode}.pred $p, $x0, {ALL};")
        k.add(f"vote.ballot {how}", f"{text} vote.sync.ballot.b32 $d, $x0, {ALL};")
        k.add(f"vote.ballot {how} half warp", f"{text} mov.u32 $t2, %laneid; setp.ge.u32 $x1, $t2, 16; mov.b32 $d, 9;"
              f"@$x1 vote.sync.ballot.b32 $d, $x0, 0xffff0000;")
    for bits in [1, 3, 7]:
        k.add(f"match.any.b32 {bits} bits", f"and.b32 $t0, $a, {(1 << bits) - 1}; match.any.sync.b32 $d, $t0, {ALL};")
        k.add(f"match.any.b64 {bits} bits", f"and.b32 $t0, $a, {(1 << bits) - 1}; mov.b64 $T0, {{$t0, $t0}}; match.any.sync.b64 $d, $T0, {ALL};")
    k.add("match.any.b64 high word", f"and.b32 $t0, $a, 1; and.b32 $t1, $b, 1; mov.b64 $T0, {{$t0, $t1}}; match.any.sync.b64 $d, $T0, {ALL};")
    k.add("match.all.b32 equal", f"mov.u32 $t0, %ctaid.x; match.all.sync.b32 $d|$p, $t0, {ALL};")
    k.add("match.all.b32 unequal", f"and.b32 $t0, $a, 1; match.all.sync.b32 $d|$p, $t0, {ALL};")
    k.add("match.all.b64 high", f"mov.u32 $t0, %ctaid.x; mov.b64 $T0, {{$t0, $t0}}; match.all.sync.b64 $d|$p, $T0, {ALL};")
    for op in ["add", "min", "max"]:
        for kind in ["s32", "u32"]:
            k.add(f"redux.{op}.{kind}", f"redux.sync.{op}.{kind} $d, $a, {ALL};")
    for op in ["and", "or", "xor"]:
        k.add(f"redux.{op}.b32", f"redux.sync.{op}.b32 $d, $a, {ALL};")
    k.add("redux.add half", "mov.u32 $t2, %laneid; setp.lt.u32 $x1, $t2, 13; mov.b32 $d, 9; @$x1 redux.sync.add.u32 $d, $a, 0x1fff;")
    k.add("activemask", "activemask.b32 $d;")
    k.add("activemask divergent", "setp.lt.u32 $x0, $b, 0x40000000; mov.u32 $t0, %laneid; setp.lt.u32 $x1, $t0, 9; mov.b32 $d, 0;"
          "@$x1 vote.sync.ballot.b32 $d, $x0, 0x1ff;")
    k.add("lane masks", "mov.u32 $d, %lanemask_lt; mov.u32 $e, %lanemask_ge; mov.u32 $f, %laneid; mov.u32 $g, %lanemask_eq;")
    k.add("lane masks 2", "mov.u32 $d, %lanemask_le; mov.u32 $e, %lanemask_gt;")
    k.add("elect", f"elect.sync $d|$p, {ALL};")
    k.add("bar.red.popc", "setp.lt.s32 $x0, $a, 0; barrier.sync 0; barrier.red.popc.u32 $d, 0, $x0;")
    k.add("bar.red.and", "setp.ne.s32 $x0, $a, 5; barrier.red.and.pred $p, 0, $x0; barrier.red.or.pred $q, 0, $x0;")
    return k


def uniform():
    """Values that are the same in the whole block: the compiler works on them in uniform registers."""
    k = Kernel("uniform", dict(a="u32"))
    block = "mov.u32 $t0, %ctaid.x; mul.lo.u32 $t1, $t0, 0x9e3779b1; add.u32 $t1, $t1, $k1; xor.b32 $t2, $t1, $k0; shr.u32 $t3, $t1, 27;"
    for name, text in [
            ("add", "add.u32 $t4, $t1, $t2;"), ("sub", "sub.u32 $t4, $t1, $t2;"), ("mad", "mad.lo.u32 $t4, $t1, $t2, $k3;"),
            ("shl", "shl.b32 $t4, $t1, $t3;"), ("shr.s32", "shr.s32 $t4, $t1, $t3;"), ("shr.u32", "shr.u32 $t4, $t1, $t3;"),
            ("lop3", "lop3.b32 $t4, $t0, $t1, $t2, 0x6a;"), ("not", "not.b32 $t4, $t1;"), ("prmt", "prmt.b32 $t4, $t1, $t2, $t0;"),
            ("popc", "popc.b32 $t4, $t1;"), ("clz", "clz.b32 $t4, $t1;"), ("brev", "brev.b32 $t4, $t1;"), ("bfind", "bfind.s32 $t4, $t1;"),
            ("selp", "setp.lt.s32 $x0, $t1, $t2; selp.b32 $t4, $t1, $t3, $x0;"), ("setp.u32", "setp.ge.u32 $x0, $t1, $t2; selp.b32 $t4, 3, 4, $x0;"),
            ("min", "min.s32 $t4, $t1, $t2;"), ("bfe", "bfe.s32 $t4, $t1, 5, 9;"), ("bmsk", "bmsk.clamp.b32 $t4, $t3, $t0;"),
            ("szext", "szext.wrap.s32 $t4, $t1, $t3;"), ("shf", "shf.l.wrap.b32 $t4, $t1, $t2, $t3;"), ("mul.hi", "mul.hi.u32 $t4, $t1, $t2;"),
            ("abs", "abs.s32 $t4, $t1;"), ("lea", "shl.b32 $t4, $t1, 4; add.u32 $t4, $t4, $t2;"),
            ("wide", "mul.wide.u32 $T0, $t1, $t2; add.u64 $T0, $T0, $K1; cvt.u32.u64 $t4, $T0; shr.u64 $T0, $T0, 32; cvt.u32.u64 $t5, $T0; xor.b32 $t4, $t4, $t5;"),
            ("wide shift", "mov.b64 $T0, {$t1, $t2}; shr.u64 $T0, $T0, $t3; cvt.u32.u64 $t4, $T0;"),
            ("predicates", "setp.lt.s32 $x0, $t1, $t2; setp.gt.u32 $x1, $t2, $k2; xor.pred $x2, $x0, $x1; selp.b32 $t4, $t1, $t2, $x2;"),
            ("float", "cvt.rn.f32.u32 $t4, $t1; mul.f32 $t4, $t4, $k4; add.f32 $t4, $t4, $k5;")]:
        k.add(f"uniform {name}", f"{block} {text} add.u32 $d, $t4, $a;")
    k.add("block and grid", "mov.u32 $t0, %nctaid.x; mov.u32 $t1, %ntid.x; mov.u32 $t2, %nctaid.y; mad.lo.u32 $d, $t0, $t1, $t2;")
    return k


def mma_kernel(name, a, b, c, words_a, words_b, words_c, operations, threads=2048):
    """`operations`: (PTX mnemonic, words of C and D). Operand registers are a0.., b0.., c0.. in the order of PTX."""
    operands = {f"a{i}": a for i in range(words_a)} | {f"b{i}": b for i in range(words_b)} | {f"c{i}": c for i in range(words_c)}
    k = Kernel(name, operands, threads=threads)
    answers = ["d", "e", "f", "g"] if c != "mma_f64" else ["D", "E"]
    for mnemonic, count, used_a, used_b in operations:
        def group(letter, number):
            return "{" + ", ".join(f"${letter}{i}" for i in range(number)) + "}"
        d = "{" + ", ".join("$" + x for x in answers[:count]) + "}"
        k.add(mnemonic, f"{mnemonic} {d}, {group('a', used_a)}, {group('b', used_b)}, {group('c', count)};")
    return k


def matrices():
    m = "mma.sync.aligned."
    kernels = [
        mma_kernel("mma_f16", "mma_h2", "mma_h2", "mma_f32", 4, 2, 4, [
            (m + "m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2), (m + "m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1)]),
        mma_kernel("mma_f16_f16", "mma_h2", "mma_h2", "mma_h2", 4, 2, 2, [
            (m + "m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2), (m + "m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1)]),
        mma_kernel("mma_bf16", "mma_b2", "mma_b2", "mma_f32", 4, 2, 4, [
            (m + "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2), (m + "m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1)]),
        mma_kernel("mma_tf32", "mma_f32", "mma_f32", "mma_f32", 4, 2, 4, [
            (m + "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2), (m + "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1)]),
        mma_kernel("mma_e4m3", "mma_e4", "mma_e4", "mma_f32", 4, 2, 4, [
            (m + f"m16n8k32.row.col.f32.{x}.{y}.f32", 4, 4, 2) for x in ["e4m3", "e5m2"] for y in ["e4m3", "e5m2"]]),
        mma_kernel("mma_b1", "u32", "u32", "u32", 4, 2, 4, [
            (m + f"m16n8k256.row.col.s32.b1.b1.s32.{op}.popc", 4, 4, 2) for op in ["and", "xor"]] + [
            (m + f"m16n8k128.row.col.s32.b1.b1.s32.{op}.popc", 4, 2, 1) for op in ["and", "xor"]]),
    ]
    integers = []
    for sat in ["", ".satfinite"]:
        for x in ["s8", "u8"]:
            for y in ["s8", "u8"]:
                integers += [(m + f"m16n8k32.row.col{sat}.s32.{x}.{y}.s32", 4, 4, 2), (m + f"m16n8k16.row.col{sat}.s32.{x}.{y}.s32", 4, 2, 1)]
        for x in ["s4", "u4"]:
            for y in ["s4", "u4"]:
                integers += [(m + f"m16n8k64.row.col{sat}.s32.{x}.{y}.s32", 4, 4, 2), (m + f"m16n8k32.row.col{sat}.s32.{x}.{y}.s32", 4, 2, 1)]
    kernels.append(mma_kernel("mma_integer", "u32", "u32", "u32", 4, 2, 4, integers, threads=512))
    k = Kernel("mma_integer_small", dict(a0="u32", b0="u32", c0="u32", c1="u32"), threads=512)
    for x in ["s8", "u8"]:
        k.add(f"m8n8k16 {x}", f"{m}m8n8k16.row.col.satfinite.s32.{x}.s8.s32 {{$d, $e}}, {{$a0}}, {{$b0}}, {{$c0, $c1}};")
        k.add(f"m8n8k32 {x}", f"{m}m8n8k32.row.col.s32.{x.replace('8', '4')}.u4.s32 {{$d, $e}}, {{$a0}}, {{$b0}}, {{$c0, $c1}};")
    k.add("m8n8k128 and", f"{m}m8n8k128.row.col.s32.b1.b1.s32.and.popc {{$d, $e}}, {{$a0}}, {{$b0}}, {{$c0, $c1}};")
    k.add("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 $d, $a0;")
    kernels.append(k)
    k = Kernel("mma_f64", {f"{x}{i}": "mma_f64" for x, n in [("a", 8), ("b", 4), ("c", 4)] for i in range(n)}, threads=512)
    kinds = "row.col.f64.f64.f64.f64"
    k.add("m8n8k4.f64", f"{m}m8n8k4.{kinds} {{$D, $E}}, {{$a0}}, {{$b0}}, {{$c0, $c1}};")
    for shape, n, p in [("m16n8k4", 2, 1), ("m16n8k8", 4, 2), ("m16n8k16", 8, 4)]:
        a = ", ".join(f"$a{i}" for i in range(n))
        b = ", ".join(f"$b{i}" for i in range(p))
        k.add(f"{shape}.f64", f"{m}{shape}.{kinds} {{$D, $E, $T0, $T1}}, {{{a}}}, {{{b}}}, {{$c0, $c1, $c2, $c3}};"
              "xor.b64 $T1, $T1, 1; xor.b64 $T0, $T0, $T1; mov.b64 {$d, $e}, $T0;")
    kernels.append(k)
    sparse = Kernel("mma_sparse", {f"{x}{i}": kind for x, n, kind in [("a", 4, "mma_h2"), ("b", 4, "mma_h2"), ("c", 4, "mma_f32")] for i in range(n)}, threads=512)
    for selector in [0, 1]:
        sparse.add(f"mma.sp m16n8k32 f16 selector {selector}",
                   "mov.b32 $t0, 0x4e94e94e; mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {$d, $e, $f, $g}, {$a0, $a1, $a2, $a3},"
                   f"{{$b0, $b1, $b2, $b3}}, {{$c0, $c1, $c2, $c3}}, $t0, {selector};")
    kernels.append(sparse)
    return kernels


def all_kernels():
    return [shuffles(), votes(), uniform(), *matrices()]
