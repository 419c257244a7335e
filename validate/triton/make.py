"""Compiles the kernels for sm_90 by Triton and writes their cubins and launch file: make.py (Triton 3.9, no GPU, no PyTorch)."""

import os
import pathlib
import sys

if sys.argv[1:]:
    print(f"make.py: {sys.argv[1]}: expected no words", file=sys.stderr)
    sys.exit(2)
os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # it would hold this folder's path

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

import kernels  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
launches = []


def buf(kind, count, content="zero", name=None):
    return f"buf:{kind}:{count}:{content}" + (f":name={name}" if name else "")


def kept(name, cubin):
    """The name of the file in cubins that holds this machine code: one that does already, or `name`'s, new."""
    folder = HERE / "cubins"
    folder.mkdir(exist_ok=True)
    same = [file.name for file in sorted(folder.glob("*.cubin")) if file.read_bytes() == cubin]
    if not same:
        (folder / f"{name}.cubin").write_bytes(cubin)
    return same[0] if same else f"{name}.cubin"


def launch(name, kernel, types, grid, args, reference, check, constants, warps=4, stages=3):
    """types: Triton's types of the parameters that are no constants; pointers and numbers that 16 divides are told apart as its launcher does."""
    names = [n for n in kernel.arg_names if n not in constants]
    signature = dict(zip(names, types)) | {n: "constexpr" for n in constants}
    attributes = {}
    for n, type_, arg in zip(names, types, args):
        number = arg.startswith("val:i32:") and int(arg.rsplit(":", 1)[1])
        if type_.startswith("*") or (number and number % 16 == 0):
            attributes[(kernel.arg_names.index(n),)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, {n: signature[n] for n in kernel.arg_names}, constants, attributes)
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps, "num_stages": stages})
    file = kept(name, made.asm["cubin"])
    shared = made.metadata.shared
    parameters = made.asm["ptx"].split(".entry")[1].split(")")[0].count(".param")
    forms = [*args, *["null"] * (parameters - len(args))]
    text = "".join(f'  "{form}",\n' for form in forms)
    (HERE / f"{name}.toml").write_text(
        f'''source = "cubins/{file}"

[[launch]]
name = "{name}"
kernel = "{made.metadata.name}"
grid = {list(grid)}
block = [{32 * warps}]
shared = {shared}
args = [
{text}]
reference = "{reference}"
check = {{ {check[0]} = {{ relative = {check[1]}, absolute = {check[2]} }} }}
''')
    print(name, made.metadata.name, "shared", shared, "parameters", parameters, len(made.asm["cubin"]), "bytes", flush=True)


def add(n, block, warps):
    launch(f"triton_add_n{n}", kernels.add_kernel, ["*fp32"] * 3 + ["i32"], [-(-n // block)],
           [buf("f32", n, "uniform"), buf("f32", n, "uniform"), buf("f32", n, name="out"), f"val:i32:{n}"],
           "triton_add", ("out", 0.0, 0.0), {"BLOCK": block}, warps)


def gelu(rows, columns, block):
    n = rows * columns
    launch(f"triton_gelu_{rows}x{columns}", kernels.gelu_bias_kernel, ["*fp16"] * 3 + ["i32"] * 2, [-(-n // block)],
           [buf("f16", n, "range=-3..3"), buf("f16", columns, "range=-1..1"), buf("f16", n, name="out"), f"val:i32:{columns}", f"val:i32:{n}"],
           "triton_gelu", ("out", 0.002, 1e-4), {"BLOCK": block})


def rows_of(name, kernel, kinds, reference, rows, columns, warps, check, further=(), loop=None):
    block = loop or triton.next_power_of_2(columns)
    types = {"f32": "*fp32", "f16": "*fp16", "i32": "*i32"}
    inputs = [buf(kinds[0], rows * columns, "range=-2..2"), *further]
    further_types = [types[f.split(":")[1]] for f in further]
    launch(f"triton_{name}_{rows}x{columns}", kernel, [types[kinds[0]], *further_types, types[kinds[1]], "i32"], [rows],
           [*inputs, buf(kinds[1], rows if name == "row_sum" else rows * columns, name="out"), f"val:i32:{columns}"],
           reference, ("out", *check), {"BLOCK": block}, warps)


def matmul(kind, m, n, k, bm, bn, bk, warps, stages, group=8):
    types = {"f16": "*fp16", "bf16": "*bf16", "f32": "*fp32", "i8": "*i8"}
    integer = kind == "i8"
    content = "uniform" if integer else "range=-1..1"
    launch(f"triton_matmul_{kind}_{m}x{n}x{k}_t{bm}x{bn}x{bk}", kernels.matmul_kernel, [types[kind]] * 2 + ["*i32" if integer else "*fp32"] + ["i32"] * 3,
           [-(-m // bm) * -(-n // bn)],
           [buf(kind, m * k, content), buf(kind, k * n, content), buf("i32" if integer else "f32", m * n, name="c"),
            f"val:i32:{m}", f"val:i32:{n}", f"val:i32:{k}"],
           f"triton_matmul_{kind}", ("c", 0.0, 0.0 if integer else 0.001),
           {"BM": bm, "BN": bn, "BK": bk, "GROUP": group, "ACC": tl.int32 if integer else tl.float32}, warps, stages)


def matmul_fp8(m, n, k, bm, bn, bk, warps, stages):
    # Bytes below 0x78 are finite e4m3 numbers. Products and sum of each step of 32 are cut to 13 bits, toward zero: all are positive, so that a
    # result lacks at most 2^-13 of itself for each.
    launch(f"triton_matmul_fp8_{m}x{n}x{k}", kernels.matmul_fp8_kernel, ["*u8"] * 2 + ["*fp32"] + ["i32"] * 3, [m // bm, n // bn],
           [buf("u8", m * k, "range=0..64"), buf("u8", n * k, "range=0..64"), buf("f32", m * n, name="c"), f"val:i32:{m}", f"val:i32:{n}", f"val:i32:{k}"],
           "triton_matmul_fp8", ("c", (k + k // 32 * 2) / 2**13, 0.0), {"BM": bm, "BN": bn, "BK": bk}, warps, stages)


def split_k(m, n, k, bm, bn, bk, split):
    launch(f"triton_split_k_{m}x{n}x{k}_s{split}", kernels.split_k_kernel, ["*fp16"] * 2 + ["*fp32"] + ["i32"] * 3, [m // bm, n // bn, split],
           [buf("f16", m * k, "range=-1..1"), buf("f16", k * n, "range=-1..1"), buf("f32", m * n, name="c"), f"val:i32:{m}", f"val:i32:{n}", f"val:i32:{k}"],
           "triton_matmul_f16", ("c", 0.0, 0.002), {"BM": bm, "BN": bn, "BK": bk, "SPLIT": split}, 4, 3)


def grouped(experts, step, n, k):
    rows = experts * step
    launch(f"triton_grouped_e{experts}_{step}x{n}x{k}", kernels.grouped_kernel, ["*fp16"] * 2 + ["*fp32", "*i32"] + ["i32"] * 2, [2, n // 128, experts],
           [buf("f16", rows * k, "range=-1..1"), buf("f16", experts * k * n, "range=-1..1"), buf("f32", rows * n, name="c"),
            buf("i32", experts + 1, f"ramp={step}"), f"val:i32:{n}", f"val:i32:{k}"],
           "triton_grouped", ("c", 0.0, 0.001), {"BM": 64, "BN": 128, "BK": 32}, 4, 3)


def attention(heads, n, d, bm, bn, causal, warps):
    count = heads * n * d
    launch(f"triton_attention_{'causal_' if causal else ''}h{heads}_n{n}_d{d}", kernels.attention_kernel, ["*fp16"] * 3 + ["*fp32", "fp32", "i32"], [n // bm, heads],
           [*[buf("f16", count, "range=-1..1")] * 3, buf("f32", count, name="out"), "val:f32:0.125", f"val:i32:{n}"],
           "triton_attention_causal" if causal else "triton_attention", ("out", 0.01, 0.001),
           {"D": d, "BM": bm, "BN": bn, "CAUSAL": causal}, warps, 3)


add(98432, 1024, 4)
add(4194304, 1024, 4)
gelu(2048, 4096, 2048)
launch("triton_dropout_n2097152", kernels.dropout_kernel, ["*fp32"] * 2 + ["i32", "fp32", "i32"], [2048],
       [buf("f32", 2097152, "uniform"), buf("f32", 2097152, name="out"), "val:i32:2097152", "val:f32:0.25", "val:i32:123"],
       "triton_dropout", ("out", 1e-6, 0.0), {"BLOCK": 1024})
rows_of("softmax", kernels.softmax_kernel, ("f32", "f32"), "triton_softmax", 1823, 781, 4, (1e-5, 0.0))
rows_of("softmax", kernels.softmax_kernel, ("f32", "f32"), "triton_softmax", 4096, 2048, 8, (1e-5, 0.0))
for rows, columns, warps in ((4096, 1024, 4), (1151, 8192, 8)):
    rows_of("layer_norm", kernels.layer_norm_kernel, ("f16", "f16"), "triton_layer_norm", rows, columns, warps, (0.002, 0.001),
            (buf("f32", columns, "uniform"), buf("f32", columns, "uniform")))
rows_of("rms_norm", kernels.rms_norm_loop_kernel, ("f32", "f32"), "triton_rms_norm", 2048, 4096, 4, (1e-5, 0.0), (buf("f32", 4096, "uniform"),), loop=1024)
rows_of("row_sum", kernels.row_sum_kernel, ("f32", "f32"), "triton_row_sum", 1056, 8192, 4, (1e-4, 0.001), loop=1024)
rows_of("cumsum", kernels.cumsum_kernel, ("f32", "f32"), "triton_cumsum", 4096, 1024, 4, (1e-4, 0.001))
launch("triton_atomic_sum_n4194304", kernels.atomic_sum_kernel, ["*i32", "*i32", "i32"], [2048],
       [buf("i32", 4194304, "range=0..100"), buf("i32", 4, name="out"), "val:i32:4194304"],
       "triton_atomic_sum", ("out", 0.0, 0.0), {"BLOCK": 2048})
launch("triton_transpose_2048x2048", kernels.transpose_kernel, ["*fp32"] * 2 + ["i32"] * 2, [32, 32],
       [buf("f32", 2048 * 2048, "uniform"), buf("f32", 2048 * 2048, name="out"), "val:i32:2048", "val:i32:2048"],
       "triton_transpose", ("out", 0.0, 0.0), {"BM": 64, "BN": 64})
launch("triton_embedding_8192x512", kernels.embedding_kernel, ["*fp16", "*i32", "*fp16", "i32"], [8192],
       [buf("f16", 32000 * 512, "uniform"), buf("i32", 8192, "range=0..32000"), buf("f16", 8192 * 512, name="out"), "val:i32:512"],
       "triton_embedding", ("out", 0.0, 0.0), {"BLOCK": 512})
matmul("f16", 512, 512, 512, 64, 64, 32, 4, 3)
matmul("f16", 1024, 1024, 1024, 128, 128, 64, 8, 3)
matmul("f16", 2048, 2048, 1024, 128, 256, 64, 8, 3)
matmul("f16", 1024, 1024, 2048, 64, 128, 64, 4, 4)
matmul("bf16", 1024, 1024, 1024, 128, 128, 32, 4, 4)
matmul("f32", 512, 512, 512, 64, 64, 32, 4, 3)
matmul("i8", 1024, 1024, 1024, 128, 128, 64, 8, 3)
matmul_fp8(1024, 1024, 1024, 128, 128, 64, 8, 3)
split_k(256, 256, 4096, 64, 64, 64, 8)
grouped(8, 200, 512, 512)
attention(16, 1024, 64, 64, 64, False, 4)
attention(16, 1024, 64, 128, 64, True, 4)
attention(8, 1024, 128, 128, 64, False, 8)
