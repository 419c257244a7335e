"""Compiles the kernels for sm_90 by Triton and writes their cubins and launch files: make.py [NAME...] (Triton 3.9, no GPU, no PyTorch)."""

import os
import pathlib
import sys

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # it would hold this folder's path

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

import kernels  # noqa: E402
import products  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
LAUNCHES = {}  # by name: compiles it and writes its files
TYPES = {"f32": "*fp32", "f16": "*fp16", "bf16": "*bf16", "i32": "*i32", "i8": "*i8", "e4m3": "*fp8e4nv"}


def buf(kind, count, content="zero", name=None):
    """A pointer's Triton type and its form; e4m3 numbers are bytes in a launch file."""
    return TYPES[kind], f"buf:{'u8' if kind == 'e4m3' else kind}:{count}:{content}" + (f":name={name}" if name else "")


def i32(value):
    return "i32", f"val:i32:{value}"


def f32(value):
    return "fp32", f"val:f32:{value}"


def tensor_map(of, rows, columns, box_rows, box_columns):
    """A host's descriptor of a row-major f16 tensor; its form is known once the kernel is compiled."""
    return f"tensordesc<fp16[{box_rows},{box_columns}]>", (of, rows, columns)


def map_forms(of, rows, columns, meta):
    """A descriptor's parameters as the launcher fills them: the map, the tensor's dimensions and its strides."""
    box_rows, box_columns = meta["block_size"]
    swizzle = ["", ":swizzle=32B", ":swizzle=64B", ":swizzle=128B"][meta["swizzle"]]
    return [f"tmap:f16:of={of}:dims={columns}x{rows}:box={box_columns}x{box_rows}{swizzle}:promotion=128B",
            f"val:i32:{rows}", f"val:i32:{columns}", f"val:i64:{columns}", "val:i64:1"]


def launch(name, kernel, grid, args, reference, checks, constants, warps=4, stages=3):
    """args: of the parameters that are no constants. Pointers and numbers that 16 divides are told apart, and a 1 is a constant, as the
    launcher has it. checks: buffer, relative and absolute tolerance."""
    LAUNCHES[f"triton2_{name}"] = lambda full: make(full, kernel, grid, args, reference, checks, constants, warps, stages)


def make(name, kernel, grid, args, reference, checks, constants, warps, stages):
    names = [n for n in kernel.arg_names if n not in constants]
    assert len(names) == len(args), (name, names)
    ones = [n for n, (type_, form) in zip(names, args) if form == "val:i32:1"]
    constants = constants | {n: 1 for n in ones}
    args = [(n, *arg) for n, arg in zip(names, args) if n not in ones]
    signature = {n: type_ for n, type_, _ in args} | {n: "constexpr" for n in constants}
    attributes = {}
    for n, type_, form in args:
        number = type_ == "i32" and int(form.rsplit(":", 1)[1])
        if type_.startswith("*") or (number and number % 16 == 0):
            attributes[(kernel.arg_names.index(n),)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, {n: signature[n] for n in kernel.arg_names}, constants, attributes)
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps, "num_stages": stages})
    assert made.metadata.global_scratch_size == 0, name
    (HERE / "cubins").mkdir(exist_ok=True)
    (HERE / "cubins" / f"{name}.cubin").write_bytes(made.asm["cubin"])
    parameters = made.asm["ptx"].split(".entry")[1].split(")")[0].count(".param")
    metas = iter(made.metadata.tensordesc_meta or [])
    forms = []
    for _, type_, form in args:
        forms += map_forms(*form, next(metas)) if type_.startswith("tensordesc") else [form]
    forms += ["null"] * (parameters - len(forms))
    text = "".join(f'  "{form}",\n' for form in forms)
    checked = ", ".join(f"{buffer} = {{ relative = {relative}, absolute = {absolute} }}" for buffer, relative, absolute in checks)
    (HERE / f"{name}.toml").write_text(
        f'''source = "cubins/{name}.cubin"

[[launch]]
name = "{name}"
kernel = "{made.metadata.name}"
grid = {list(grid)}
block = [{32 * warps}]
shared = {made.metadata.shared}
args = [
{text}]
reference = "triton2_{reference}"
check = {{ {checked} }}
''')
    print(name, "grid", list(grid), "warps", warps, "shared", made.metadata.shared, "wgmma", made.asm["ptx"].count("wgmma.mma_async"),
          len(made.asm["cubin"]), "bytes", flush=True)


HALF = (0.002, 0.001)    # rounded to f16
BRAIN = (0.008, 0.001)   # rounded to bf16


def activations_and_norms():
    tokens, hq, hk, d = 2048, 32, 8, 128
    launch("rope_2048x32x8x128", kernels.rope_kernel, [tokens],
           [buf("f16", tokens * hq * d, "range=-2..2", "q"), buf("f16", tokens * hk * d, "range=-2..2", "k"),
            buf("f32", tokens * d // 2, "range=-1..1"), buf("f32", tokens * d // 2, "range=-1..1")],
           "rope", [("q", *HALF), ("k", *HALF)], {"HQ": hq, "HK": hk, "D": d})
    for rows, columns, warps in ((1024, 5632, 8), (64, 14336, 8)):
        n = rows * columns
        launch(f"swiglu_{rows}x{columns}", kernels.swiglu_forward_kernel, [rows],
               [buf("f16", n, "range=-3..3"), buf("f16", n, "range=-3..3"), buf("f16", n, name="out"), i32(columns)],
               "swiglu", [("out", 0.003, 0.001)], {"BLOCK": triton.next_power_of_2(columns)}, warps)
    n = 2048 * 2304
    launch(f"swiglu_backward_n{n}", kernels.swiglu_backward_kernel, [-(-n // 1024)],
           [*[buf("bf16", n, "range=-3..3")] * 3, buf("bf16", n, name="da"), buf("bf16", n, name="db"), i32(n)],
           "swiglu_backward", [("da", *BRAIN), ("db", *BRAIN)], {"BLOCK": 1024})
    rows, columns = 264, 32000
    launch(f"cross_entropy_{rows}x{columns}", kernels.cross_entropy_forward_kernel, [rows],
           [buf("bf16", rows * columns, "range=-8..8"), buf("i32", rows, f"range=0..{columns}"), buf("f32", rows, name="loss"),
            buf("f32", rows, name="lse"), i32(columns)],
           "cross_entropy", [("loss", 1e-4, 1e-4), ("lse", 1e-4, 0.0)], {"BLOCK": 4096}, 8)
    rows, columns = 48, 50257
    launch(f"cross_entropy_gradient_{rows}x{columns}", kernels.cross_entropy_gradient_kernel, [rows],
           [buf("bf16", rows * columns, "range=-8..8"), buf("i32", rows, f"range=0..{columns}"), buf("bf16", rows * columns, name="grad"),
            buf("f32", rows, name="loss"), i32(columns), f32(0.5)],
           "cross_entropy_gradient", [("grad", 0.008, 1e-6), ("loss", 1e-4, 1e-4)], {"BLOCK": 8192}, 8)
    rows, columns, programs = 3600, 1024, 132
    each = -(-rows // programs)
    n = rows * columns
    launch(f"layer_norm_backward_{rows}x{columns}", kernels.layer_norm_backward_kernel, [programs],
           [buf("f16", n, "range=-1..1"), buf("f16", n, "range=-2..2"), buf("f32", columns, "uniform"), buf("f32", rows, "range=-0.125..0.125"),
            buf("f32", rows, "range=0.5..1"), buf("f16", n, name="dx"), buf("f32", programs * columns, name="dw"),
            buf("f32", programs * columns, name="db"), i32(rows), i32(columns), i32(each)],
           "layer_norm_backward", [("dx", *HALF), ("dw", 1e-4, 1e-4), ("db", 1e-4, 1e-4)], {"BLOCK": columns}, 8)
    for rows, columns, bm, bn in ((132, 1024, 32, 32), (8192, 2048, 32, 128)):
        launch(f"column_mean_{rows}x{columns}", kernels.column_mean_kernel, [-(-columns // bn)],
               [buf("f32", rows * columns, "uniform"), buf("f32", columns, name="out"), i32(rows), i32(columns)],
               "column_mean", [("out", 1e-4, 0.0)], {"BM": bm, "BN": bn})
    images, groups, each, area = 4, 32, 10, 4096
    n = images * groups * each * area
    launch("group_norm_4x320x64x64", kernels.group_norm_kernel, [images, groups],
           [buf("f16", n, "range=-2..2"), buf("f32", groups * each, "uniform"), buf("f32", groups * each, "uniform"), buf("f16", n, name="out"),
            i32(each), i32(area), i32(groups), f32(1e-5)],
           "group_norm", [("out", *HALF)], {"BLOCK": 4096}, 8)
    images, channels, area = 32, 256, 784
    launch("batch_norm_stats_32x256x28x28", kernels.batch_norm_stats_kernel, [channels],
           [buf("f32", images * channels * area, "range=-1..3"), buf("f32", channels, name="mean"), buf("f32", channels, name="rstd"),
            i32(images), i32(channels), i32(area), f32(1e-5)],
           "batch_norm_stats", [("mean", 1e-4, 0.0), ("rstd", 1e-4, 0.0)], {"BLOCK": 1024})
    for rows, columns, warps in ((64, 4096, 8), (1024, 5120, 8)):
        n = rows * columns
        launch(f"add_rms_norm_{rows}x{columns}", kernels.add_rms_norm_kernel, [rows],
               [buf("bf16", n, "range=-2..2"), buf("bf16", n, "range=-2..2", "residual"), buf("bf16", columns, "uniform"), buf("bf16", n, name="out"),
                i32(columns), f32(1e-6)],
               "add_rms_norm", [("residual", *BRAIN), ("out", *BRAIN)], {"BLOCK": triton.next_power_of_2(columns)}, warps)
    rows, columns = 2048, 4096
    launch(f"quantise_rows_{rows}x{columns}", kernels.quantise_rows_kernel, [rows],
           [buf("bf16", rows * columns, "range=-6..6"), buf("e4m3", rows * columns, name="out"), buf("f32", rows, name="scales"), i32(columns)],
           "quantise_rows", [("out", 0.0, 1.0), ("scales", 1e-6, 0.0)], {"BLOCK": columns}, 8)


def sorts_scans_and_windows():
    rows = 4096
    launch(f"moe_topk_{rows}x64", kernels.moe_topk_kernel, [rows // 16],
           [buf("f32", rows * 64, "range=-4..4"), buf("f32", rows * 8, name="weights"), buf("i32", rows * 8, name="ids")],
           "moe_topk", [("weights", 1e-5, 0.0), ("ids", 0.0, 0.0)], {"E": 64, "K": 8, "BM": 16})
    launch("sort_rows_512x512", kernels.sort_rows_kernel, [512], [buf("f32", 512 * 512, "range=-1..1"), buf("f32", 512 * 512, name="out")],
           "sort_rows", [("out", 0.0, 0.0)], {"N": 512})
    n = 1 << 21
    launch(f"histogram_n{n}", kernels.histogram_kernel, [n // 16384],
           [buf("i32", n, "skew=0..256"), buf("i32", 256, name="out")],
           "histogram", [("out", 0.0, 0.0)], {"BINS": 256, "BLOCK": 2048, "EACH": 8})
    launch("recurrence_2048x1024", kernels.recurrence_kernel, [2048],
           [buf("f32", 2048 * 1024, "range=0.5..1"), buf("f32", 2048 * 1024, "range=-1..1"), buf("f32", 2048 * 1024, name="out")],
           "recurrence", [("out", 1e-4, 1e-5)], {"N": 1024})
    segments, step, width = 4096, 16, 128
    launch(f"segment_sum_{segments}x{width}", kernels.segment_sum_kernel, [segments],
           [buf("f32", (segments + 1) * step * width, "uniform"), buf("i32", segments + 1, f"jitter={step}"),
            buf("f32", segments * width, name="out")],
           "segment_sum", [("out", 1e-5, 0.0)], {"WIDTH": width, "BM": 8})
    launch("stencil_1536x1536", kernels.stencil_kernel, [1536 // 32, 1536 // 64],
           [buf("f32", 1536 * 1536, "uniform"), buf("f32", 9, "uniform"), buf("f32", 1536 * 1536, name="out"), i32(1536), i32(1536)],
           "stencil", [("out", 1e-5, 0.0)], {"BM": 32, "BN": 64})
    planes, h = 4 * 64, 112
    n = planes * h * h // 4
    launch("max_pool_4x64x112x112", kernels.max_pool_kernel, [-(-n // 1024)],
           [buf("f32", planes * h * h, "range=-1..1"), buf("f32", n, name="out"), i32(h), i32(h), i32(h // 2), i32(h // 2), i32(n)],
           "max_pool", [("out", 0.0, 0.0)], {"BLOCK": 1024})
    batch, length, d = 2, 1024, 2048
    launch(f"causal_conv_{batch}x{length}x{d}", kernels.causal_conv_kernel, [d // 128, length // 32, batch],
           [buf("bf16", batch * length * d, "range=-1..1"), buf("bf16", 4 * d, "range=-1..1"), buf("bf16", d, "range=-1..1"),
            buf("bf16", batch * length * d, name="out"), i32(length), i32(d)],
           "causal_conv", [("out", *BRAIN)], {"BL": 32, "BD": 128})
    batch, length, d = 4, 256, 512
    launch(f"selective_scan_{batch}x{length}x{d}", kernels.selective_scan_kernel, [d // 32, batch],
           [buf("f32", batch * length * d, "range=-1..1"), buf("f32", batch * length * d, "range=0.001..0.1"), buf("f32", d * 16, "range=-8..-1"),
            buf("f32", batch * length * 16, "range=-1..1"), buf("f32", batch * length * 16, "range=-1..1"), buf("f32", d, "uniform"),
            buf("f32", batch * length * d, name="out"), i32(length), i32(d)],
           "selective_scan", [("out", 1e-3, 1e-5)], {"N": 16, "BD": 32})
    batch, d = 48, 4096
    launch(f"state_update_{batch}x{d}", kernels.state_update_kernel, [d // 64, batch],
           [buf("f32", batch * d * 16, "range=-1..1", "state"), buf("bf16", batch * d, "range=-1..1"), buf("bf16", batch * d, "range=-4..1"),
            buf("f32", d, "range=-1..1"), buf("f32", d * 16, "range=-8..-1"), buf("bf16", batch * 16, "range=-1..1"),
            buf("bf16", batch * 16, "range=-1..1"), buf("f32", d, "uniform"), buf("bf16", batch * d, "range=-2..2"),
            buf("bf16", batch * d, name="out"), i32(d)],
           "state_update", [("state", 1e-4, 1e-5), ("out", *BRAIN)], {"N": 16, "BD": 64})


def optimisers_and_copies():
    n = 3000000
    launch(f"adamw_n{n}", kernels.adamw_kernel, [-(-n // 1024)],
           [buf("f32", n, "range=-1..1", "p"), buf("bf16", n, "range=-0.125..0.125"), buf("f32", n, "range=-0.0625..0.0625", "m"),
            buf("f32", n, "range=0..0.0078125", "v"), buf("bf16", n, name="half"), i32(n), f32(0.001), f32(0.9), f32(0.999), f32(1e-8), f32(0.01),
            f32(0.6), f32(0.01)],
           "adamw", [("p", 1e-4, 1e-6), ("m", 1e-4, 1e-6), ("v", 1e-4, 1e-6), ("half", 0.008, 1e-6)], {"BLOCK": 1024})
    tokens, columns = 4096, 1024
    launch(f"embedding_backward_{tokens}x{columns}", kernels.embedding_backward_kernel, [tokens, 2],
           [buf("bf16", tokens * columns, "range=-1..1"), buf("i32", tokens, "skew=0..16000"), buf("f32", 16000 * columns, name="table"),
            i32(columns)],
           "embedding_backward", [("table", 1e-4, 0.001)], {"BLOCK": 512})
    tokens, k, columns = 2048, 2, 4096
    launch(f"scatter_rows_{tokens}x{columns}", kernels.scatter_rows_kernel, [tokens],
           [buf("bf16", tokens * columns, "uniform"), buf("i32", tokens * k, "perm"), buf("bf16", tokens * k * columns, name="out"), i32(columns)],
           "scatter_rows", [("out", 0.0, 0.0)], {"K": k, "BLOCK": 1024})
    tokens, k, columns = 1536, 4, 2048
    launch(f"combine_rows_{tokens}x{columns}", kernels.combine_rows_kernel, [tokens, 2],
           [buf("bf16", tokens * k * columns, "range=-1..1"), buf("i32", tokens * k, "perm"), buf("f32", tokens * k, "uniform"),
            buf("bf16", tokens * columns, name="out"), i32(columns)],
           "combine_rows", [("out", *BRAIN)], {"K": k, "BLOCK": 1024})
    rows, columns = 512, 32000
    launch(f"argmax_rows_{rows}x{columns}", kernels.argmax_rows_kernel, [rows],
           [buf("f16", rows * columns, "range=-8..8"), buf("i32", rows, name="out"), i32(columns)],
           "argmax_rows", [("out", 0.0, 0.0)], {"BLOCK": 2048})
    n = 1 << 21
    launch(f"dropout_residual_n{n}", kernels.dropout_residual_kernel, [n // 2048],
           [buf("bf16", n, "range=-1..1"), buf("bf16", n, "range=-1..1"), buf("bf16", n, name="out"), i32(n), f32(0.1), i32(1234)],
           "dropout_residual", [("out", *BRAIN)], {"BLOCK": 512})


def matmuls():
    def tiles(bm, bn, bk, group=8):
        return {"BM": bm, "BN": bn, "BK": bk, "GROUP": group}

    m, n, k = 1024, 3072, 1024
    launch(f"gelu_linear_{m}x{n}x{k}", products.gelu_linear_kernel, [m // 128 * n // 256],
           [buf("f16", m * k, "range=-0.25..0.25"), buf("f16", k * n, "range=-0.25..0.25"), buf("f16", n, "range=-1..1"), buf("f16", m * n, name="c"),
            i32(m), i32(n), i32(k)],
           "gelu_linear", [("c", *HALF)], tiles(128, 256, 64), 8, 3)
    m, n, k = 1000, 768, 3072
    launch(f"gelu_linear_{m}x{n}x{k}", products.gelu_linear_kernel, [-(-m // 64) * (n // 128)],
           [buf("f16", m * k, "range=-0.25..0.25"), buf("f16", k * n, "range=-0.25..0.25"), buf("f16", n, "range=-1..1"), buf("f16", m * n, name="c"),
            i32(m), i32(n), i32(k)],
           "gelu_linear", [("c", *HALF)], tiles(64, 128, 32), 4, 4)
    m, n, k = 1024, 2048, 1024
    launch(f"matmul_nt_bf16_{m}x{n}x{k}", products.strided_matmul_kernel, [m // 128 * n // 128],
           [buf("bf16", m * k, "range=-1..1"), buf("bf16", n * k, "range=-1..1"), buf("bf16", m * n, name="c"),
            i32(m), i32(n), i32(k), i32(k), i32(1), i32(1), i32(k)],
           "matmul_nt", [("c", 0.008, 0.002)], tiles(128, 128, 64), 4, 3)
    m, n, k = 1024, 768, 4096
    launch(f"matmul_tn_f16_{m}x{n}x{k}", products.strided_matmul_kernel, [m // 128 * n // 64],
           [buf("f16", k * m, "range=-1..1"), buf("f16", k * n, "range=-1..1"), buf("f32", m * n, name="c"),
            i32(m), i32(n), i32(k), i32(1), i32(m), i32(n), i32(1)],
           "matmul_tn", [("c", 1e-4, 0.004)], tiles(128, 64, 64), 4, 4)
    batches, m, n, k = 48, 512, 512, 64
    launch(f"batched_matmul_{batches}x{m}x{n}x{k}", products.batched_matmul_kernel, [m // 128, n // 128, batches],
           [buf("f16", batches * m * k, "range=-1..1"), buf("f16", batches * n * k, "range=-1..1"), buf("f16", batches * m * n, name="c"),
            i32(m), i32(n), i32(k)],
           "batched_matmul", [("c", *HALF)], {"BM": 128, "BN": 128, "BK": 32}, 4, 2)
    m, n, k = 2048, 1792, 1024
    launch(f"persistent_matmul_{m}x{n}x{k}", products.persistent_matmul_kernel, [132],
           [buf("f16", m * k, "range=-1..1"), buf("f16", k * n, "range=-1..1"), buf("f16", m * n, name="c"), i32(m), i32(n), i32(k)],
           "matmul", [("c", 0.002, 0.002)], {"PROGRAMS": 132} | tiles(128, 128, 64), 8, 3)
    groups, step, n, k = 16, 96, 1024, 512
    rows = (groups + 1) * step
    launch(f"walking_groups_{groups}x{n}x{k}", products.walking_groups_kernel, [132],
           [buf("f16", rows * k, "range=-1..1"), buf("f16", groups * k * n, "range=-1..1"), buf("f16", rows * n, name="c"),
            buf("i32", groups + 1, f"jitter={step}"), i32(groups), i32(n), i32(k)],
           "walking_groups", [("c", 0.002, 0.002)], {"PROGRAMS": 132, "BM": 64, "BN": 128, "BK": 32}, 4, 4)
    m, n, k = 128, 4096, 2048
    launch(f"int8_linear_{m}x{n}x{k}", products.int8_linear_kernel, [m // 64, n // 64],
           [buf("f16", m * k, "range=-1..1"), buf("i8", k * n, "uniform"), buf("f32", n, "range=0.001..0.002"), buf("f16", m * n, name="out"),
            i32(m), i32(n), i32(k)],
           "int8_linear", [("out", 0.002, 0.004)], {"BM": 64, "BN": 64, "BK": 64}, 4, 3)
    for m, bm, bn in ((16, 16, 64), (64, 64, 64)):
        n, k, group = 4096, 2048, 128
        launch(f"int4_linear_{m}x{n}x{k}", products.int4_linear_kernel, [m // bm, n // bn],
               [buf("f16", m * k, "range=-1..1"), buf("i32", k // 8 * n, "uniform"), buf("f16", k // group * n, "range=0.01..0.02"),
                buf("f16", m * n, name="out"), i32(m), i32(n), i32(k)],
               "int4_linear", [("out", 0.002, 0.004)], {"GROUP": group, "BM": bm, "BN": bn, "BK": 64}, 4, 3)
    # Bytes below 0x78 are finite e4m3 numbers; all are positive. A step of 128 is summed with 13 bits, then in f32.
    m, n, k = 1024, 2048, 2048
    launch(f"fp8_blocks_{m}x{n}x{k}", products.fp8_blocks_kernel, [m // 128 * n // 128],
           [buf("e4m3", m * k, "range=0..64"), buf("e4m3", n * k, "range=0..64"), buf("f32", m * k // 128, "range=0.5..1"),
            buf("f32", n // 128 * k // 128, "range=0.5..1"), buf("bf16", m * n, name="c"), i32(m), i32(n), i32(k)],
           "fp8_blocks", [("c", 0.02, 0.0)], tiles(128, 128, 128), 8, 3)
    images, h, c, oc = 16, 28, 128, 128
    launch(f"conv2d_{images}x{h}x{h}x{c}", products.conv2d_kernel, [images * h * h // 128, 1],
           [buf("f16", images * h * h * c, "range=-1..1"), buf("f16", 9 * c * oc, "range=-0.25..0.25"), buf("f16", images * h * h * oc, name="out"),
            i32(h), i32(h)],
           "conv2d", [("out", *HALF)], {"C": c, "OC": oc, "BM": 128, "BN": 128, "BK": 64}, 8, 3)


def attentions():
    for kind, heads, share, n, d, warps in (("f16", 16, 4, 896, 128, 8), ("bf16", 32, 8, 512, 64, 4)):
        count = heads * n * d
        launch(f"attention_gqa_{kind}_h{heads}_n{n}_d{d}", products.attention_gqa_kernel, [n // 128, heads],
               [buf(kind, count, "range=-1..1"), buf(kind, count // share, "range=-1..1"), buf(kind, count // share, "range=-1..1"),
                buf(kind, count, name="out"), buf("f32", heads * n, name="lse"), f32(d ** -0.5), i32(n)],
               f"attention_gqa_{kind}", [("out", 0.01, 0.004), ("lse", 1e-4, 0.001)], {"SHARE": share, "D": d, "BM": 128, "BN": 64}, warps, 3)
    heads, n, d, window = 8, 2048, 64, 256
    count = heads * n * d
    launch(f"attention_window_h{heads}_n{n}_d{d}_w{window}", products.attention_window_kernel, [n // 64, heads],
           [*[buf("f16", count, "range=-1..1")] * 3, buf("f16", count, name="out"), f32(d ** -0.5), i32(n)],
           "attention_window", [("out", 0.01, 0.001)], {"WINDOW": window, "D": d, "BM": 64, "BN": 64}, 4, 3)
    heads, n, d = 8, 1024, 64
    count = heads * n * d
    launch(f"attention_backward_h{heads}_n{n}_d{d}", products.attention_backward_kernel, [n // 128, heads],
           [*[buf("f16", count, "range=-1..1")] * 4, buf("f16", count, name="dk"), buf("f16", count, name="dv"), buf("f32", heads * n, "range=8..10"),
            buf("f32", heads * n, "range=-0.25..0.25"), f32(d ** -0.5), i32(n)],
           "attention_backward", [("dk", 0.01, 0.002), ("dv", 0.01, 0.004)], {"D": d, "BM": 32, "BN": 128}, 4, 4)
    batch, heads, share, n, d, splits = 4, 8, 8, 2048, 128, 8
    lines = batch * heads * share
    launch(f"decode_b{batch}_h{heads}x{share}_n{n}_s{splits}", products.decode_kernel, [batch * heads, splits],
           [buf("f16", lines * d, "range=-1..1"), *[buf("f16", batch * n * heads * d, "range=-1..1")] * 2,
            buf("f32", lines * splits * d, name="parts"), buf("f32", lines * splits, name="lse"), f32(d ** -0.5), i32(n)],
           "decode", [("parts", 0.01, 0.001), ("lse", 1e-4, 0.001)],
           {"HEADS": heads, "SHARE": share, "D": d, "BM": 16, "BN": 64, "SPLITS": splits}, 4, 3)
    launch(f"decode_combine_{lines}x{splits}x{d}", products.decode_combine_kernel, [lines],
           [buf("f32", lines * splits * d, "range=-1..1"), buf("f32", lines * splits, "range=4..6"), buf("f16", lines * d, name="out")],
           "decode_combine", [("out", *HALF)], {"D": d, "SPLITS": splits})


def tensor_maps():
    m, n, k, bm, bn, bk = 2048, 1536, 1024, 128, 128, 64
    launch(f"tensor_map_matmul_{m}x{n}x{k}", products.tensor_map_matmul_kernel, [132],
           [buf("f16", m * k, "range=-1..1", "a"), buf("f16", n * k, "range=-1..1", "b"), buf("f16", m * n, name="c"), tensor_map("a", m, k, bm, bk),
            tensor_map("b", n, k, bn, bk), tensor_map("c", m, n, bm, bn), i32(m), i32(n), i32(k)],
           "tensor_map_matmul", [("c", 0.002, 0.002)], {"PROGRAMS": 132, "BM": bm, "BN": bn, "BK": bk, "GROUP": 8}, 8, 3)
    heads, n, d, bm, bn = 12, 1024, 64, 128, 64
    count = heads * n * d
    launch(f"tensor_map_attention_h{heads}_n{n}_d{d}", products.tensor_map_attention_kernel, [n // bm, heads],
           [*[buf("f16", count, "range=-1..1", name) for name in "qkv"], buf("f16", count, name="o"),
            *[tensor_map(name, heads * n, d, bn if name in "kv" else bm, d) for name in "qkvo"], f32(d ** -0.5), i32(n)],
           "tensor_map_attention", [("o", 0.01, 0.001)], {"D": d, "BM": bm, "BN": bn}, 4, 3)


activations_and_norms()
sorts_scans_and_windows()
optimisers_and_copies()
matmuls()
attentions()
tensor_maps()
for name in sys.argv[1:]:
    if name not in LAUNCHES:
        print(f"make.py: {name}: no such launch; expected some of {', '.join(LAUNCHES)}", file=sys.stderr)
        sys.exit(2)
for name in sys.argv[1:] or LAUNCHES:
    LAUNCHES[name](name)
