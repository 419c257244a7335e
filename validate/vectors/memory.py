"""Loads, stores, atomics, copies and matrix loads. What is answered does not depend on the order in which lanes are served."""
from kernel_text import Kernel

SYNC = "bar.warp.sync 0xffffffff;"
WORD, WIDE = "$t9", "$T9"


def places(k, name, text):
    """The same operation in the thread's own shared and global bytes."""
    for space, address in [("shared", "$mine"), ("global", "$global")]:
        k.add(f"{name} {space}", text.replace("{space}", space).replace("{at}", address))


def atomics():
    k = Kernel("atomics", dict(a="u32", b="u32", c="u32"), memory=True)
    ops = [f"{op}.{kind}" for op in ["min", "max"] for kind in ["s32", "u32"]] + ["add.u32", "add.s32", "and.b32", "or.b32", "xor.b32",
                                                                                  "exch.b32", "inc.u32", "dec.u32"]
    for op in ops:
        places(k, f"atom.{op}", f"st.{{space}}.u32 [{{at}}], $b; atom.{{space}}.{op} $d, [{{at}}], $a; ld.{{space}}.u32 $e, [{{at}}];")
        if "exch" not in op:
            places(k, f"red.{op}", f"st.{{space}}.u32 [{{at}}+4], $b; red.{{space}}.{op} [{{at}}+4], $a; ld.{{space}}.u32 $d, [{{at}}+4];")
            if "inc" in op or "dec" in op:
                places(k, f"atom.{op} small", f"and.b32 $t0, $b, 3; st.{{space}}.u32 [{{at}}], $t0; and.b32 $t1, $a, 3;"
                       f"atom.{{space}}.{op} $d, [{{at}}], $t1; ld.{{space}}.u32 $e, [{{at}}];")
            # All lanes of the warp on one word: what is left does not depend on their order.
            base = "and.b32 $t1, $a, 0xff;" if "inc" in op or "dec" in op else "mov.b32 $t1, $a;"
            base = base.replace("$a, 0xff", "0x1f, 0x1f")
            for space, address in [("shared", "$ours"), ("global", "$world")]:
                k.add(f"red.{op} contended {space}", f"{base} {SYNC} st.{space}.u32 [{address}], 0x55; {SYNC} red.{space}.{op} [{address}], $t1; {SYNC}"
                      f" ld.volatile.{space}.u32 $d, [{address}]; {SYNC}")
    places(k, "atom.cas.b32", "st.{space}.u32 [{at}], $b; and.b32 $t0, $c, 1; setp.eq.u32 $x0, $t0, 0; selp.b32 $t1, $b, $a, $x0;"
           "atom.{space}.cas.b32 $d, [{at}], $t1, $c; ld.{space}.u32 $e, [{at}];")
    places(k, "atom.cas.b16", "st.{space}.u32 [{at}], $b; and.b32 $t0, $c, 1; setp.eq.u32 $x0, $t0, 0; selp.b16 $u0, $bg, $ah, $x0;"
           "atom.{space}.cas.b16 $h, [{at}+2], $u0, $ch; ld.{space}.u32 $e, [{at}];")
    k.add("generic atom.add.u32", "cvt.u64.u32 $T0, $mine; cvta.shared.u64 $T0, $T0; st.shared.u32 [$mine], $b; setp.lt.s32 $x0, $c, 0;"
          "st.global.u32 [$global], $b; cvta.global.u64 $T1, $global; selp.b64 $T2, $T0, $T1, $x0;"
          "atom.add.u32 $d, [$T2], $a; ld.shared.u32 $e, [$mine]; ld.global.u32 $f, [$global];")
    return k


def atomics_wide():
    k = Kernel("atomics_wide", dict(a="u64", b="u64", c="u64"), memory=True)
    for op in ["add.u64", "min.s64", "max.s64", "min.u64", "max.u64", "and.b64", "or.b64", "xor.b64", "exch.b64"]:
        places(k, f"atom.{op}", f"st.{{space}}.u64 [{{at}}+8], $b; atom.{{space}}.{op} $D, [{{at}}+8], $a; ld.{{space}}.u64 $E, [{{at}}+8];")
        if "exch" not in op:
            for space, address in [("shared", "$ours"), ("global", "$world")]:
                k.add(f"red.{op} contended {space}", f"mov.b64 $T0, 0x5500000055; {SYNC} st.{space}.u64 [{address}], $T0; {SYNC}"
                      f" red.{space}.{op} [{address}], $a; {SYNC} ld.volatile.{space}.u64 $D, [{address}]; {SYNC}")
    places(k, "atom.cas.b64", "st.{space}.u64 [{at}], $b; cvt.u32.u64 $t0, $c; and.b32 $t0, $t0, 1; setp.eq.u32 $x0, $t0, 0;"
           "selp.b64 $T0, $b, $a, $x0; atom.{space}.cas.b64 $D, [{at}], $T0, $c; ld.{space}.u64 $E, [{at}];")
    places(k, "atom.cas.b128", ".reg .b128 q0, q1, q2; st.{space}.v2.u64 [{at}+16], {$b, $c}; cvt.u32.u64 $t0, $c; and.b32 $t0, $t0, 1;"
           "setp.eq.u32 $x0, $t0, 0; selp.b64 $T0, $b, $a, $x0; mov.b128 q0, {$T0, $c}; mov.b128 q1, {$a, $b};"
           "atom.{space}.cas.b128 q2, [{at}+16], q0, q1; mov.b128 {$D, $E}, q2; ld.{space}.v2.u64 {$T1, $T2}, [{at}+16];"
           "xor.b64 $T1, $T1, $T2; mov.b64 {$d, $e}, $T1;")
    places(k, "atom.exch.b128", ".reg .b128 q1, q2; st.{space}.v2.u64 [{at}+16], {$b, $c}; mov.b128 q1, {$a, $b};"
           "atom.{space}.exch.b128 q2, [{at}+16], q1; mov.b128 {$D, $E}, q2; ld.{space}.v2.u64 {$T1, $T2}, [{at}+16];"
           "xor.b64 $T1, $T1, $T2; mov.b64 {$d, $e}, $T1;")
    return k


def atomics_float():
    k = Kernel("atomics_float", dict(a="f32", b="f32"), memory=True)
    places(k, "atom.add.f32", "st.{space}.u32 [{at}], $b; atom.{space}.add.f32 $d, [{at}], $a; ld.{space}.u32 $e, [{at}];")
    places(k, "red.add.f32", "st.{space}.u32 [{at}], $b; red.{space}.add.f32 [{at}], $a; ld.{space}.u32 $e, [{at}];")
    for space, address in [("shared", "$ours"), ("global", "$world")]:
        k.add(f"red.add.f32 contended {space}", f"mov.u32 $t0, %laneid; cvt.rn.f32.u32 $t0, $t0; {SYNC} st.{space}.u32 [{address}], 0; {SYNC}"
              f" red.{space}.add.f32 [{address}], $t0; {SYNC} ld.volatile.{space}.u32 $d, [{address}]; {SYNC}")
    for width in [2, 4]:
        group = "{" + ", ".join(["$a", "$b", "$a", "$b"][:width]) + "}"
        k.add(f"red.add.v{width}.f32", f"st.global.v4.u32 [$global+16], {{$b, $b, $a, $a}}; red.global.v{width}.f32.add [$global+16], {group};"
              "ld.global.v4.u32 {$d, $e, $f, $g}, [$global+16];")
        old = "{" + ", ".join(["$d", "$e", "$f", "$g"][:width]) + "}"
        k.add(f"atom.add.v{width}.f32", f"st.global.v4.u32 [$global+16], {{$b, $b, $a, $a}}; atom.global.v{width}.f32.add {old}, [$global+16], {group};")
    d = Kernel("atomics_double", dict(a="f64", b="f64"), memory=True)
    places(d, "atom.add.f64", "st.{space}.u64 [{at}], $b; atom.{space}.add.f64 $D, [{at}], $a; ld.{space}.u64 $E, [{at}];")
    places(d, "red.add.f64", "st.{space}.u64 [{at}], $b; red.{space}.add.f64 [{at}], $a; ld.{space}.u64 $E, [{at}];")
    kernels = [k, d]
    for kind, operand in [("f16", "h2"), ("bf16", "b2")]:
        h = Kernel(f"atomics_{kind}", dict(a=operand, b=operand), memory=True)
        places(h, f"atom.add.{kind}x2", f"st.{{space}}.u32 [{{at}}], $b; atom.{{space}}.add.noftz.{kind}x2 $d, [{{at}}], $a; ld.{{space}}.u32 $e, [{{at}}];")
        places(h, f"red.add.{kind}x2", f"st.{{space}}.u32 [{{at}}], $b; red.{{space}}.add.noftz.{kind}x2 [{{at}}], $a; ld.{{space}}.u32 $e, [{{at}}];")
        places(h, f"atom.add.{kind}", f"st.{{space}}.u32 [{{at}}], $b; atom.{{space}}.add.noftz.{kind} $h, [{{at}}+2], $ah; ld.{{space}}.u32 $e, [{{at}}];")
        for op in ["add", "min", "max"]:
            h.add(f"red.{op}.v4.{kind}x2", f"st.global.v4.u32 [$global+16], {{$b, $b, $a, $a}}; red.global.v4.{kind}x2.{op}.noftz [$global+16], {{$a, $b, $a, $b}};"
                  "ld.global.v4.u32 {$d, $e, $f, $g}, [$global+16];")
            h.add(f"red.{op}.v2.{kind}x2", f"st.global.v2.u32 [$global+16], {{$b, $a}}; red.global.v2.{kind}x2.{op}.noftz [$global+16], {{$a, $b}};"
                  "ld.global.v2.u32 {$d, $e}, [$global+16];")
        kernels.append(h)
    return kernels


def accesses():
    k = Kernel("accesses", dict(a="u32", b="u32", c="u32"), memory=True)
    for space, address in [("shared", "$mine"), ("global", "$global"), ("local", "$local")]:
        fill = f"st.{space}.v4.u32 [{address}], {{$a, $b, $c, $a}}; st.{space}.v2.u32 [{address}+16], {{$c, $b}};"
        for kind, answer in [("u8", "$d"), ("s8", "$d"), ("u16", "$d"), ("s16", "$d"), ("u32", "$d")]:
            step = int(kind[1:]) // 8
            k.add(f"ld.{space}.{kind}", f"{fill} ld.{space}.{kind} $d, [{address}+{step}]; ld.{space}.{kind} $e, [{address}+{3 * step}];")
            k.add(f"st.{space}.{kind}", f"{fill} st.{space}.{kind.replace('s', 'u')} [{address}+{step * 5}], $c; st.{space}.{kind.replace('s', 'u')} [{address}+{step * 2}], $b;"
                  f"ld.{space}.v4.u32 {{$d, $e, $f, $g}}, [{address}];")
        k.add(f"ld.{space}.u64", f"{fill} ld.{space}.u64 $D, [{address}+8];")
        k.add(f"ld.{space}.v2.u32", f"{fill} ld.{space}.v2.u32 {{$d, $e}}, [{address}+8];")
        k.add(f"ld.{space}.v4.u32", f"{fill} ld.{space}.v4.u32 {{$d, $e, $f, $g}}, [{address}];")
        k.add(f"ld.{space}.v4.u8", f"{fill} ld.{space}.v4.u8 {{$d, $e, $f, $g}}, [{address}+4];")
        k.add(f"ld.{space}.v2.s16", f"{fill} ld.{space}.v2.s16 {{$d, $e}}, [{address}+4];")
        if space == "global":
            index = "and.b32 $t0, $b, 15; cvt.u64.u32 $T0, $t0; add.u64 $T1, $global, $T0;"
            at = "$T1"
        else:
            index = f"and.b32 $t0, $b, 15; add.u32 $t1, {address}, $t0;"
            at = "$t1"
        k.add(f"ld.{space}.u8 any byte", f"{fill} {index} ld.{space}.u8 $d, [{at}]; ld.{space}.s8 $e, [{at}+3];")
        k.add(f"st.{space}.u8 any byte", f"{fill} {index} st.{space}.u8 [{at}], $c; ld.{space}.v4.u32 {{$d, $e, $f, $g}}, [{address}];")
        if space != "global":
            k.add(f"generic {space}", f"{fill} cvt.u64.u32 $T0, {address}; cvta.{space}.u64 $T0, $T0; ld.u32 $d, [$T0+4]; ld.s8 $e, [$T0+3];"
                  f"st.u16 [$T0+2], $c; ld.v2.u32 {{$f, $g}}, [$T0];")
    k.add("neighbour's shared word", f"{SYNC} st.shared.u32 [$row], $a; st.shared.u32 [$row+4], $b; {SYNC} and.b32 $t0, $c, 31; shl.b32 $t0, $t0, 4; add.u32 $t0, $t0, $rows;"
          f"ld.volatile.shared.v2.u32 {{$d, $e}}, [$t0]; {SYNC}")
    k.add("isspacep", "cvt.u64.u32 $T0, $mine; cvta.shared.u64 $T0, $T0; setp.lt.s32 $x0, $a, 0; cvta.global.u64 $T1, $global; selp.b64 $T0, $T0, $T1, $x0;"
          "isspacep.shared $p, $T0; isspacep.global $q, $T0;")
    k.add("ld.const indexed", "and.b32 $t0, $a, 60; mov.u32 $t1, table; add.u32 $t1, $t1, $t0; ld.const.u32 $d, [$t1]; and.b32 $t0, $b, 63; mov.u32 $t1, table;"
          "add.u32 $t1, $t1, $t0; ld.const.s8 $e, [$t1]; ld.const.u32 $f, [table+8];")
    for size in [4, 8, 16]:
        fill = "st.shared.v4.u32 [$mine+16], {$c, $c, $c, $c}; st.global.v4.u32 [$global], {$a, $b, $c, $a};"
        done = "cp.async.commit_group; cp.async.wait_group 0; ld.shared.v4.u32 {$d, $e, $f, $g}, [$mine+16];"
        cache = "cg" if size == 16 else "ca"
        k.add(f"cp.async {size}", f"{fill} cp.async.{cache}.shared.global [$mine+16], [$global], {size}; {done}")
        k.add(f"cp.async {size} zero fill", f"{fill} and.b32 $t0, $b, {size - 1}; cp.async.{cache}.shared.global [$mine+16], [$global], {size}, $t0; {done}")
        k.add(f"cp.async {size} ignored source", f"{fill} setp.lt.s32 $x0, $b, 0; cp.async.{cache}.shared.global [$mine+16], [$global], {size}, $x0; {done}")
    for order in ["", ".trans"]:
        for count in [1, 2, 4]:
            registers = "{" + ", ".join(["$d", "$e", "$f", "$g"][:count]) + "}"
            perm = "mov.u32 $t0, %laneid; mad.lo.u32 $t0, $t0, 5, 3; and.b32 $t0, $t0, 31; shl.b32 $t0, $t0, 4; add.u32 $t0, $t0, $rows;"
            k.add(f"ldmatrix.x{count}{order}", f"{SYNC} st.shared.v4.u32 [$row], {{$a, $b, $c, $a}}; {perm} {SYNC}"
                  f"ldmatrix.sync.aligned.m8n8.x{count}{order}.shared.b16 {registers}, [$t0]; {SYNC}")
            sources = "{" + ", ".join(["$a", "$b", "$c", "$a"][:count]) + "}"
            k.add(f"stmatrix.x{count}{order}", f"{SYNC} st.shared.v4.u32 [$row], {{0, 1, 2, 3}}; {perm} {SYNC} stmatrix.sync.aligned.m8n8.x{count}{order}.shared.b16 [$t0], {sources};"
                  f"{SYNC} ld.shared.v4.u32 {{$d, $e, $f, $g}}, [$row]; {SYNC}")
    k.add("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 $d, $a;")
    k.add("mbarrier", f"mbarrier.init.shared.b64 [$mine], 2; mbarrier.arrive.shared.b64 $T0, [$mine]; mbarrier.test_wait.shared.b64 $p, [$mine], $T0;"
          "mbarrier.arrive.shared.b64 $T1, [$mine]; mbarrier.test_wait.shared.b64 $q, [$mine], $T0; mbarrier.pending_count.b64 $d, $T1; mbarrier.inval.shared.b64 [$mine];")
    return k


def all_kernels():
    return [atomics(), atomics_wide(), *atomics_float(), accesses()]
