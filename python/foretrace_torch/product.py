"""Matrix products as one Triton kernel: a batch of strided matrices, with alpha, beta and an addend.

Types: float32 (exact float32 products, as PyTorch's default), float16, bfloat16 and floats of eight bits (float32 sums), float64, int8 (int32
sums), complex numbers as four real products.
"""

import sys

import torch
import triton
import triton.language as tl

KEY = "CUDA"
_SUMS = {torch.float32: tl.float32, torch.float16: tl.float32, torch.bfloat16: tl.float32, torch.float8_e4m3fn: tl.float32,
         torch.float8_e5m2: tl.float32, torch.float64: tl.float64, torch.int8: tl.int32}
_said = []


def say_once():
    """Whose times these are."""
    if not _said:
        _said.append(True)
        print("foretrace_torch: matrix products and convolutions are Triton's, not cuBLAS's or cuDNN's", file=sys.stderr)


@triton.jit
def foretrace_matmul(a, b, addend, out, m, n, k, a_batch, a_row, a_column, b_batch, b_row, b_column, add_batch, add_row, add_column,
                     out_batch, out_row, out_column, alpha, beta, SUM: tl.constexpr, HAS_ADDEND: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                     BLOCK_K: tl.constexpr):
    """out[i] = alpha * a[i] @ b[i] + beta * addend[i]; a block per tile, row of tiles first."""
    batch = tl.program_id(1).to(tl.int64)
    tiles = tl.cdiv(n, BLOCK_N)
    rows = (tl.program_id(0) // tiles * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    columns = (tl.program_id(0) % tiles * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    inner = tl.arange(0, BLOCK_K).to(tl.int64)
    from_a = a + batch * a_batch + rows[:, None] * a_row + inner[None, :] * a_column
    from_b = b + batch * b_batch + inner[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=SUM)
    for step in range(0, k, BLOCK_K):
        left = tl.load(from_a, mask=(rows[:, None] < m) & (inner[None, :] < k - step), other=0.0)
        right = tl.load(from_b, mask=(inner[:, None] < k - step) & (columns[None, :] < n), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee", out_dtype=SUM)
        from_a += BLOCK_K * a_column
        from_b += BLOCK_K * b_row
    if SUM != tl.int32:
        total = total * alpha.to(SUM)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    if HAS_ADDEND:
        place = addend + batch * add_batch + rows[:, None] * add_row + columns[None, :] * add_column
        total += beta.to(SUM) * tl.load(place, mask=inside, other=0.0).to(SUM)
    place = out + batch * out_batch + rows[:, None] * out_row + columns[None, :] * out_column
    tl.store(place, total.to(out.dtype.element_ty), mask=inside)


def note(name):
    """What is to be known about an operator's launches."""
    return "PyTorch's own kernels, not cuBLAS's" if name in ("dot", "vdot") else "Triton's matmul, not cuBLAS's"


def _block(size):
    return 16 if size <= 16 else 32 if size <= 32 else 64


def _complex_product(a, b, out, addend, alpha, beta):
    """Of real and imaginary parts."""
    (ar, ai), (br, bi) = (torch.view_as_real(x.resolve_conj()).unbind(-1) for x in (a, b))
    real, imaginary = (torch.empty(out.shape, dtype=ar.dtype, device=out.device) for _ in "ri")
    _product(ai, bi, real)
    _product(ar, br, real, real, 1.0, -1.0)
    _product(ar, bi, imaginary)
    _product(ai, br, imaginary, imaginary, 1.0, 1.0)
    total = torch.complex(real, imaginary)
    total = total if alpha == 1 else total * alpha
    return out.copy_(total if addend is None or beta == 0 else total + beta * addend)


def _product(a, b, out, addend=None, alpha=1.0, beta=0.0):
    """Of (batch, m, k) and (batch, k, n) into `out`; `addend` is expanded to its shape."""
    batch, m, k = a.shape
    n = b.shape[2]
    if out.numel() == 0:
        return out
    if a.dtype in (torch.complex64, torch.complex128):
        return _complex_product(a, b, out, addend, alpha, beta)
    if a.dtype not in _SUMS:
        raise NotImplementedError(f"foretrace_torch: a product of {a.dtype} matrices is not provided; cuBLAS's is out of reach here")
    say_once()
    use = addend is not None and beta != 0
    add = addend.expand(batch, m, n) if use else out
    wide = a.dtype == torch.float64
    block_m, block_n = (min(_block(size), 32 if wide else 64) for size in (m, n))
    grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n), batch)
    foretrace_matmul[grid](a, b, add, out, m, n, k, *a.stride(), *b.stride(), *add.stride(), *out.stride(), float(alpha), float(beta),
                           SUM=_SUMS[a.dtype], HAS_ADDEND=use, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=16 if wide else 32, num_warps=4)
    return out


def _check(a, b, dimensions, name):
    if a.dim() != dimensions or b.dim() != dimensions or a.shape[-1] != b.shape[-2] or (dimensions == 3 and a.shape[0] != b.shape[0]):
        raise RuntimeError(f"{name}: shapes {tuple(a.shape)} and {tuple(b.shape)} cannot be multiplied")
    if name != "_int_mm" and not (a.is_floating_point() or a.is_complex()):
        raise RuntimeError(f"{name}: PyTorch has no product of {a.dtype} matrices on a GPU")
    if a.dtype != b.dtype:
        raise RuntimeError(f"{name}: expected both matrices of one type, got {a.dtype} and {b.dtype}")


def _into(out, shape, like):
    if out is None:
        return torch.empty(shape, dtype=like.dtype, device=like.device)
    if tuple(out.shape) != tuple(shape):
        out.resize_(shape)
    return out


def mm(a, b, *, out=None):
    _check(a, b, 2, "mm")
    out = _into(out, (a.shape[0], b.shape[1]), a)
    _product(a.unsqueeze(0), b.unsqueeze(0), out.unsqueeze(0))
    return out


def addmm(addend, a, b, *, beta=1, alpha=1, out=None):
    _check(a, b, 2, "addmm")
    shape = (a.shape[0], b.shape[1])
    out = _into(out, shape, a)
    _product(a.unsqueeze(0), b.unsqueeze(0), out.unsqueeze(0), addend.expand(shape).unsqueeze(0), alpha, beta)
    return out


def bmm(a, b, *, out=None):
    _check(a, b, 3, "bmm")
    return _product(a, b, _into(out, (a.shape[0], a.shape[1], b.shape[2]), a))


def baddbmm(addend, a, b, *, beta=1, alpha=1, out=None):
    _check(a, b, 3, "baddbmm")
    return _product(a, b, _into(out, (a.shape[0], a.shape[1], b.shape[2]), a), addend, alpha, beta)


def addmv(addend, matrix, vector, *, beta=1, alpha=1, out=None):
    shape = (matrix.shape[0],)
    out = _into(out, shape, matrix)
    _product(matrix.unsqueeze(0), vector.view(1, -1, 1), out.view(1, -1, 1), addend.expand(shape).view(1, -1, 1) if beta != 0 else None, alpha, beta)
    return out


def mv(matrix, vector):
    return addmv(vector.new_zeros(()), matrix, vector, beta=0)


def dot(a, b):
    return (a * b).sum()


def vdot(a, b):
    return (a.conj_physical() * b).sum()  # a conjugate that is a view alone is not seen below the key that resolves it


def addmm_activation(addend, a, b, *, beta=1, alpha=1, use_gelu=False):
    out = addmm(addend, a, b, beta=beta, alpha=alpha)
    return torch.nn.functional.gelu(out, approximate="tanh") if use_gelu else torch.relu(out)


def _typed(a, b, out_dtype, addend=None, alpha=1, beta=0):
    """A product whose result has another type."""
    flat = a.dim() == 2
    out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=out_dtype, device=a.device)
    lift = (lambda x: x.unsqueeze(0)) if flat else (lambda x: x)
    _product(lift(a), lift(b), lift(out), None if addend is None else lift(addend.expand(out.shape)), alpha, beta)
    return out


def int_mm(a, b, *, out=None):
    _check(a, b, 2, "_int_mm")
    if a.dtype != torch.int8:
        raise RuntimeError(f"_int_mm: expected int8 matrices, got {a.dtype}")
    result = _typed(a, b, torch.int32)
    return result if out is None else out.resize_(result.shape).copy_(result)


def scaled_mm(a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False, *, out=None):
    """Matrices of eight-bit floats, with one scale each or one a row of `a` and a column of `b`."""
    for scale, shape in ((scale_a, (a.shape[0], 1)), (scale_b, (1, b.shape[1]))):
        if scale.dtype != torch.float32 or (scale.numel() != 1 and tuple(scale.shape) != shape):
            raise NotImplementedError(f"foretrace_torch: _scaled_mm with scales of {scale.dtype} and shape {tuple(scale.shape)} is not provided; "
                                      "cuBLAS's is out of reach here")
    result = _typed(a, b, torch.float32) * scale_a * scale_b
    result = result if bias is None else result + bias
    result = result.to(out_dtype or (out.dtype if out is not None else a.dtype))
    return result if out is None else out.resize_(result.shape).copy_(result)


OPERATORS = {
    "mm": mm, "mm.out": mm, "addmm": addmm, "addmm.out": addmm, "bmm": bmm, "bmm.out": bmm, "baddbmm": baddbmm,
    "baddbmm.out": baddbmm, "addmv": addmv, "addmv.out": addmv, "mv": mv, "dot": dot, "vdot": vdot,
    "_addmm_activation": addmm_activation, "_int_mm": int_mm, "_int_mm.out": int_mm, "_scaled_mm": scaled_mm, "_scaled_mm.out": scaled_mm,
    "mm.dtype": _typed, "bmm.dtype": _typed,
    "addmm.dtype": lambda x, a, b, out_dtype, *, beta=1, alpha=1: _typed(a, b, out_dtype, x, alpha, beta),
    "baddbmm.dtype": lambda x, a, b, out_dtype, *, beta=1, alpha=1: _typed(a, b, out_dtype, x, alpha, beta),
    "addmm_": lambda x, a, b, *, beta=1, alpha=1: x.copy_(addmm(x, a, b, beta=beta, alpha=alpha)),
    "addmv_": lambda x, a, b, *, beta=1, alpha=1: x.copy_(addmv(x, a, b, beta=beta, alpha=alpha)),
    "baddbmm_": lambda x, a, b, *, beta=1, alpha=1: x.copy_(baddbmm(x, a, b, beta=beta, alpha=alpha)),
}
