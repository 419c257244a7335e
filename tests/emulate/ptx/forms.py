"""The forms of PTX's tensor instructions: mma, wgmma, ldmatrix, stmatrix, cp.async, bulk copies with and without tensor maps, and conversions of narrow floats.

One form is a line of PTX with letters for what it needs: its registers are declared where it stands. `all_forms()` gives them by family; which of them an
architecture has is what its assembler says (check.py). From the PTX ISA 9.0, its chapters 9.7.14 to 9.7.16, 9.7.9.22 and 9.7.9.25.
"""
from collections.abc import Iterator
from itertools import product

FLOAT8 = ("e4m3", "e5m2")
NARROW = (*FLOAT8, "e3m2", "e2m3", "e2m1")


def registers(letter: str, count: int) -> str:
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


def products(text: str, d: int, a: int, b: int, tail: str = "", kinds: str = "rrr") -> str:
    """text D, A, B, D, tail; d, a, b: their registers, and kinds theirs."""
    return f"{text} {registers(kinds[0], d)}, {registers(kinds[1], a)}, {registers(kinds[2], b)}, {registers(kinds[0], d)}{tail};"


def dense() -> Iterator[str]:
    for sums in ("f16", "f32"):
        kind = {"f16": "r", "f32": "f"}[sums] + "rr"
        for a, b in product(("row", "col"), repeat=2):
            yield products(f"mma.sync.aligned.m8n8k4.{a}.{b}.{sums}.f16.f16.{sums}", 4 if sums == "f16" else 8, 2, 2, kinds=kind)
        for k in (8, 16):
            yield products(f"mma.sync.aligned.m16n8k{k}.row.col.{sums}.f16.f16.{sums}", 2 if sums == "f16" else 4, k // 4, k // 8, kinds=kind)
        for (a, b), k in product(product(FLOAT8, repeat=2), (16, 32)):
            yield products(f"mma.sync.aligned.m16n8k{k}.row.col.{sums}.{a}.{b}.{sums}", 2 if sums == "f16" else 4, k // 8, k // 16, kinds=kind)
    for k in (8, 16):
        yield products(f"mma.sync.aligned.m16n8k{k}.row.col.f32.bf16.bf16.f32", 4, k // 4, k // 8, kinds="frr")
        yield products(f"mma.sync.aligned.m16n8k{k // 2}.row.col.f32.tf32.tf32.f32", 4, k // 4, k // 8, kinds="frr")
    yield products("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 2, 1, 1, kinds="ddd")
    for k in (4, 8, 16):
        yield products(f"mma.sync.aligned.m16n8k{k}.row.col.f64.f64.f64.f64", 4, k // 2, k // 4, kinds="ddd")
    for sat, (a, b) in product(("", ".satfinite"), product(("s8", "u8"), repeat=2)):
        yield products(f"mma.sync.aligned.m8n8k16.row.col{sat}.s32.{a}.{b}.s32", 2, 1, 1)
        for k in (16, 32):
            yield products(f"mma.sync.aligned.m16n8k{k}.row.col{sat}.s32.{a}.{b}.s32", 4, k // 8, k // 16)
        a, b = a.replace("8", "4"), b.replace("8", "4")
        yield products(f"mma.sync.aligned.m8n8k32.row.col{sat}.s32.{a}.{b}.s32", 2, 1, 1)
        for k in (32, 64):
            yield products(f"mma.sync.aligned.m16n8k{k}.row.col{sat}.s32.{a}.{b}.s32", 4, k // 16, k // 32)
    for operation in ("xor", "and"):
        yield products(f"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.{operation}.popc", 2, 1, 1)
        for k in (128, 256):
            yield products(f"mma.sync.aligned.m16n8k{k}.row.col.s32.b1.b1.s32.{operation}.popc", 4, k // 64, k // 128)


def sparse() -> Iterator[str]:
    for sp in ("sp", "sp::ordered_metadata"):
        head = f"mma.{sp}.sync.aligned"
        for k, selector in product((16, 32), (0, 1, 2, 3)):
            tail = f", %m0, {selector}"
            for sums in ("f16", "f32"):
                yield products(f"{head}.m16n8k{k}.row.col.{sums}.f16.f16.{sums}", 2 if sums == "f16" else 4, k // 8, k // 8, tail,
                               "rrr" if sums == "f16" else "frr")
            yield products(f"{head}.m16n8k{k}.row.col.f32.bf16.bf16.f32", 4, k // 8, k // 8, tail, "frr")
            yield products(f"{head}.m16n8k{k // 2}.row.col.f32.tf32.tf32.f32", 4, k // 8, k // 8, tail, "frr")
        for sat, (a, b), k, selector in product(("", ".satfinite"), product(("s8", "u8"), repeat=2), (32, 64), (0, 1)):
            yield products(f"{head}.m16n8k{k}.row.col{sat}.s32.{a}.{b}.s32", 4, k // 16, k // 16, f", %m0, {selector}")
            yield products(f"{head}.m16n8k{2 * k}.row.col{sat}.s32.{a.replace('8', '4')}.{b.replace('8', '4')}.s32", 4, k // 16, k // 16, f", %m0, {selector}")
        for (a, b), sums in product(product(FLOAT8, repeat=2), ("f16", "f32")):
            yield products(f"{head}.m16n8k64.row.col.{sums}.{a}.{b}.{sums}", 2 if sums == "f16" else 4, 4, 4, ", %m0, 0", "rrr" if sums == "f16" else "frr")


def narrow() -> Iterator[str]:
    """sm_120a: products of elements of 8, 6 and 4 bits, and block-scaled ones."""
    for sp, k, b_registers, meta in (("", 32, 2, ""), (".sp::ordered_metadata", 64, 4, ", %m0, 0")):
        for (a, b), sums in product(product(NARROW, repeat=2), ("f16", "f32")):
            yield products(f"mma{sp}.sync.aligned.m16n8k{k}.row.col.kind::f8f6f4.{sums}.{a}.{b}.{sums}", 2 if sums == "f16" else 4, 4, b_registers, meta,
                           "rrr" if sums == "f16" else "frr")
        for a, b in product(NARROW, repeat=2):
            yield products(f"mma{sp}.sync.aligned.m16n8k{k}.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.{a}.{b}.f32.ue8m0", 4, 4, b_registers,
                           f"{meta}, %m1, {{%h0, %h1}}, %m2, {{%h2, %h3}}", "frr")
        for kind, vector, scale in (("mxf4", "2X", "ue8m0"), ("mxf4nvf4", "2X", "ue8m0"), ("mxf4nvf4", "4X", "ue4m3"), ("mxf4nvf4", "4X", "ue8m0")):
            for bytes_a, thread_a in product((0, 2), (0, 1)):
                yield products(f"mma{sp}.sync.aligned.m16n8k{2 * k}.row.col.kind::{kind}.block_scale.scale_vec::{vector}.f32.e2m1.e2m1.f32.{scale}", 4, 4,
                               b_registers, f"{meta}, %m1, {{{bytes_a if vector == '2X' else 0}, {thread_a}}}, %m2, {{0, {thread_a}}}", "frr")


def warpgroups() -> Iterator[str]:
    """wgmma: (type, K, its sums, has it scales and transposes)."""
    types = [("f16", "f16", 16, ("f16", "f32"), True, True), ("bf16", "bf16", 16, ("f32",), True, True), ("tf32", "tf32", 8, ("f32",), True, False),
             *((a, b, 32, ("f16", "f32"), True, False) for a, b in product(FLOAT8, repeat=2)),
             *((a, b, 32, ("s32",), False, False) for a, b in product(("s8", "u8"), repeat=2)), ("b1", "b1", 256, ("s32",), False, False)]
    for (a, b, k, all_sums, scales, transposes), sp, from_registers in product(types, ("", ".sp"), (False, True)):
        if a == "b1" and sp:
            continue
        for sums, n in product(all_sums, (8, 16, 24, 40, 64, 128, 256)):
            count = n // 4 if sums == "f16" else n // 2
            d = registers({"f32": "f", "s32": "r", "f16": "r"}[sums], count)
            start = registers("a", 4) if from_registers else "%w0"
            variants = [("1, 1", "0, 0")]
            if scales and n == 16:
                variants += [("-1, 1", "0, 0"), ("1, -1", "0, 0")] + ([("1, 1", "0, 1")] + ([] if from_registers else [("1, 1", "1, 0"), ("-1, -1", "1, 1")]) if transposes else [])
            for sat, (scale, transpose) in product(("", ".satfinite") if sums == "s32" and a != "b1" and n == 16 else ("",), variants):
                turned = (f", {transpose[3:]}" if from_registers else f", {transpose}") if transposes else ""
                tail = f"%p0{f', {scale}' if scales else ''}{turned}"
                operation = ".and.popc" if a == "b1" else ""
                yield (f"wgmma.mma_async{sp}.sync.aligned.m64n{n}k{2 * k if sp else k}{sat}.{sums}.{a}.{b}{operation} {d}, {start}, %w1, "
                       f"{'%m0, 0, ' if sp else ''}{tail};")


def matrices() -> Iterator[str]:
    for x, trans in product((1, 2, 4), ("", ".trans")):
        yield f"ldmatrix.sync.aligned.m8n8.x{x}{trans}.shared.b16 {registers('r', x)}, [%s0];"
        yield f"stmatrix.sync.aligned.m8n8.x{x}{trans}.shared.b16 [%s0], {registers('r', x)};"
    for x in (1, 2, 4):
        yield f"stmatrix.sync.aligned.m16n8.x{x}.trans.shared.b8 [%s0], {registers('r', x)};"
        for source in ("b6x16_p32", "b4x16_p64"):
            yield f"ldmatrix.sync.aligned.m8n16.x{x}.shared.b8x16.{source} {registers('r', x)}, [%s0];"
    for x in (1, 2):
        for source in ("b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"):
            yield f"ldmatrix.sync.aligned.m16n16.x{x}.trans.shared.{source} {registers('r', 2 * x)}, [%s0];"
    yield "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;"


REDUCTIONS = [*(("add", t) for t in ("u32", "s32", "u64", "f16", "bf16", "f32", "f64")), *((o, t) for o in ("min", "max") for t in ("u32", "s32", "u64", "s64", "f16", "bf16")),
              *((o, "u32") for o in ("inc", "dec")), *((o, t) for o in ("and", "or", "xor") for t in ("b32", "b64"))]


def copies() -> Iterator[str]:
    """cp.async, of sm_80 on."""
    for (cache, size), prefetch, hint, part in product((("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)), ("", ".L2::64B", ".L2::128B", ".L2::256B"), (False, True),
                                                       ("", ", %m0", ", %p0")):
        yield (f"cp.async.{cache}.shared.global{'.L2::cache_hint' if hint else ''}{prefetch} [%s0], [%g0], {size}{part}{', %w0' if hint else ''};")
    for noinc in ("", ".noinc"):
        yield f"cp.async.mbarrier.arrive{noinc}.shared::cta.b64 [%s0];"
    yield from ("cp.async.commit_group;", "cp.async.wait_group 2;", "cp.async.wait_all;")


def bulk() -> Iterator[str]:
    full = "mbarrier::complete_tx::bytes"
    for to, hint in product(("shared::cluster", "shared::cta"), ("", ".L2::cache_hint")):
        yield f"cp.async.bulk.{to}.global.{full}{hint} [%s0], [%g0], %m0, [%s1]{', %w0' if hint else ''};"
    for hint in ("", ".L2::cache_hint"):
        policy = ", %w0" if hint else ""
        yield f"cp.async.bulk.shared::cluster.global.{full}.multicast::cluster{hint} [%s0], [%g0], %m0, [%s1], %h0{policy};"
        for mask in ("", ".cp_mask"):
            yield f"cp.async.bulk.global.shared::cta.bulk_group{hint}{mask} [%g0], [%s0], %m0{policy}{', %h0' if mask else ''};"
        yield f"cp.async.bulk.prefetch.L2.global{hint} [%g0], %m0{policy};"
        for operation, type_ in REDUCTIONS:
            flush = ".noftz" if operation == "add" and type_ in ("f16", "bf16") else ""
            yield f"cp.reduce.async.bulk.global.shared::cta.bulk_group{hint}.{operation}{flush}.{type_} [%g0], [%s0], %m0{policy};"
    yield f"cp.async.bulk.shared::cluster.shared::cta.{full} [%s0], [%s1], %m0, [%s2];"
    for operation, type_ in REDUCTIONS:
        yield f"cp.reduce.async.bulk.shared::cluster.shared::cta.{full}.{operation}.{type_} [%s0], [%s1], %m0, [%s2];"
    for order in ("", ".weak"):
        yield f"st.bulk{order}.shared::cta [%s0], %w0, 0;"
    yield from ("cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 3;")


def coordinates(dimensions: int) -> str:
    return "{" + ", ".join(f"%c{i}" for i in range(dimensions)) + "}"


def offsets(count: int) -> str:
    return "{" + ", ".join(f"%h{i + 1}" for i in range(count)) + "}"


def tensors() -> Iterator[str]:
    full = "mbarrier::complete_tx::bytes"
    for n in range(1, 6):
        at = f"[%g0, {coordinates(n)}]"
        modes = [(".tile", "")]
        if n >= 3:
            modes += [(".im2col", f", {offsets(n - 2)}"), (".im2col::w", f", {offsets(2)}"), (".im2col::w::128", f", {offsets(2)}")]
        if n == 2:
            modes += [(".tile::gather4", "")]
        for (mode, more), hint in product(modes, ("", ".L2::cache_hint")):
            policy = ", %w0" if hint else ""
            where = f"[%g0, {coordinates(5)}]" if mode == ".tile::gather4" else at
            for to, multicast, group in product(("shared::cluster", "shared::cta"), ("", ".multicast::cluster"), ("", ".cta_group::1", ".cta_group::2")):
                if hint and group:
                    continue
                yield (f"cp.async.bulk.tensor.{n}d.{to}.global{mode}.{full}{multicast}{group}{hint} [%s0], {where}, [%s1]{more}"
                       f"{', %h0' if multicast else ''}{policy};")
            yield f"cp.async.bulk.prefetch.tensor.{n}d.L2.global{mode}{hint} {where}{more}{policy};"
        stores = [".tile"] + ([".im2col_no_offs"] if n >= 3 else []) + ([".tile::scatter4"] if n == 2 else [])
        for mode, hint in product(stores, ("", ".L2::cache_hint")):
            where = f"[%g0, {coordinates(5)}]" if mode == ".tile::scatter4" else at
            policy = ", %w0" if hint else ""
            yield f"cp.async.bulk.tensor.{n}d.global.shared::cta{mode}.bulk_group{hint} {where}, [%s0]{policy};"
            if mode != ".tile::scatter4":
                for operation in ("add", "min", "max", "inc", "dec", "and", "or", "xor"):
                    yield f"cp.reduce.async.bulk.tensor.{n}d.global.shared::cta.{operation}{mode}.bulk_group{hint} {where}, [%s0]{policy};"
    yield "prefetch.tensormap [%g0];"
    yield "fence.proxy.tensormap::generic.acquire.gpu [%g0], 128;"
    yield "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%g0], [%s0], 128;"
    for space, address in (("global", "%g0"), ("shared::cta", "%s0")):
        yield f"tensormap.replace.tile.global_address.{space}.b1024.b64 [{address}], %w0;"
        yield f"tensormap.replace.tile.rank.{space}.b1024.b32 [{address}], %m0;"
        for field in ("box_dim", "global_dim", "element_stride"):
            yield f"tensormap.replace.tile.{field}.{space}.b1024.b32 [{address}], 1, %m0;"
        yield f"tensormap.replace.tile.global_stride.{space}.b1024.b64 [{address}], 1, %w0;"
        for field, value in (("elemtype", 6), ("interleave_layout", 0), ("swizzle_mode", 3), ("fill_mode", 1)):
            yield f"tensormap.replace.tile.{field}.{space}.b1024.b32 [{address}], {value};"


def conversions() -> Iterator[str]:
    for to, relu in product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        yield f"cvt.rn.satfinite{relu}.{to}.f32 %h0, %f0, %f1;"
        yield f"cvt.rn.satfinite{relu}.{to}.f16x2 %h0, %r0;"
        yield f"cvt.rn{relu}.f16x2.{to} %r0, %h0;"
    for to, relu in product(("e3m2x2", "e2m3x2"), ("", ".relu")):
        yield f"cvt.rn.satfinite{relu}.{to}.f32 %h0, %f0, %f1;"
        yield f"cvt.rn{relu}.f16x2.{to} %r0, %h0;"
    for relu in ("", ".relu"):
        yield f"{{ .reg .b8 x; cvt.rn.satfinite{relu}.e2m1x2.f32 x, %f0, %f1; cvt.u16.u8 %h0, x; }}"
        yield f"{{ .reg .b8 x; cvt.u8.u16 x, %h0; cvt.rn{relu}.f16x2.e2m1x2 %r0, x; }}"
    for rounding, sat in product(("rz", "rp"), ("", ".satfinite")):
        yield f"cvt.{rounding}{sat}.ue8m0x2.f32 %h0, %f0, %f1;"
        yield f"cvt.{rounding}{sat}.ue8m0x2.bf16x2 %h0, %r0;"
    yield "cvt.rn.bf16x2.ue8m0x2 %r0, %h0;"
    for relu, sat in product(("", ".relu"), ("", ".satfinite")):
        for to in ("f16x2", "bf16x2"):
            yield f"cvt.rn{relu}{sat}.{to}.f32 %r0, %f0, %f1;"
            yield f"cvt.rz{relu}{sat}.{to}.f32 %r0, %f0, %f1;"
            yield f"cvt.rs{relu}{sat}.{to}.f32 %r0, %f0, %f1, %m0;"
        for to in ("f16", "bf16"):
            yield f"cvt.rn{relu}{sat}.{to}.f32 %h0, %f0;"
        for rounding in ("rn", "rna", "rz"):
            yield f"cvt.{rounding}{relu}{sat}.tf32.f32 %r0, %f0;"
    for to, relu in product(("e4m3x4", "e5m2x4", "e3m2x4", "e2m3x4"), ("", ".relu")):
        yield f"cvt.rs{relu}.satfinite.{to}.f32 %r0, {{%f0, %f1, %f2, %f3}}, %m0;"
    for relu in ("", ".relu"):
        yield f"cvt.rs{relu}.satfinite.e2m1x4.f32 %h0, {{%f0, %f1, %f2, %f3}}, %m0;"


def all_forms() -> dict[str, list[str]]:
    families = {"mma": dense, "sparse": sparse, "narrow": narrow, "wgmma": warpgroups, "matrices": matrices, "copies": copies, "bulk": bulk, "tensor": tensors, "cvt": conversions}
    return {name: list(dict.fromkeys(family())) for name, family in families.items()}
