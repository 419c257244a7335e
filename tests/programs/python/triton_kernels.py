"""Kernels of the kinds of Triton's tutorials, by Triton's own launcher: triton_kernels.py NAME."""

import sys

import numpy
import triton
import triton.language as tl
from device_array import Array, report, start


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def layer_norm_kernel(x, weight, bias, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(i < columns, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + 1e-5)
    y = centred * scale * tl.load(weight + i, mask=i < columns) + tl.load(bias + i, mask=i < columns)
    tl.store(out + row * columns + i, y, mask=i < columns)


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start_k in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + (start_k + k)[None, :])
        right = tl.load(b + (start_k + k)[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def matmul_persistent_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tiles_n, PROGRAMS):
        row, column = tile // tiles_n * BM, tile % tiles_n * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
        c.store([row, column], total.to(tl.float16))


@triton.jit
def matmul_fp8_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start_k in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + (start_k + k)[None, :]).to(tl.float8e4nv, bitcast=True)
        right = tl.load(b + columns[None, :] * K + (start_k + k)[:, None]).to(tl.float8e4nv, bitcast=True)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def attention_kernel(q, k, v, out, scale, N: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + d[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for first in range(0, N, BN):
        n = first + tl.arange(0, BN)
        scores = tl.dot(queries, tl.trans(tl.load(k + n[:, None] * D + d[None, :]))) * scale
        now = tl.maximum(most, tl.max(scores, axis=1))
        weights = tl.exp(scores - now[:, None])
        old = tl.exp(most - now)
        total = total * old + tl.sum(weights, axis=1)
        result = tl.dot(weights.to(tl.float16), tl.load(v + n[:, None] * D + d[None, :]), result * old[:, None])
        most = now
    tl.store(out + rows[:, None] * D + d[None, :], result / total[:, None])


def add(random):
    x, y = (random.standard_normal(10_000).astype("float32") for _ in range(2))
    out = Array(numpy.zeros_like(x))
    add_kernel[(triton.cdiv(x.size, 1024),)](Array(x), Array(y), out, x.size, BLOCK=1024)
    report("add", out.numpy(), x + y)


def softmax(random):
    x = random.standard_normal((64, 781)).astype("float32")
    out = Array(numpy.zeros_like(x))
    softmax_kernel[(64,)](Array(x), out, 781, BLOCK=1024)
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    report("softmax", out.numpy(), e / e.sum(axis=1, keepdims=True))


def layer_norm(random):
    x = random.standard_normal((64, 500)).astype("float32")
    w, b = (random.standard_normal(500).astype("float32") for _ in range(2))
    out = Array(numpy.zeros_like(x))
    layer_norm_kernel[(64,)](Array(x), Array(w), Array(b), out, 500, BLOCK=512)
    mean, var = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    report("layer_norm", out.numpy(), (x - mean) / numpy.sqrt(var + 1e-5) * w + b, 1e-4)


def dropout(random):
    x = numpy.ones(100_000, "float32")
    out = Array(numpy.zeros_like(x))
    dropout_kernel[(triton.cdiv(x.size, 1024),)](Array(x), out, x.size, 0.25, 123, BLOCK=1024)
    got = out.numpy()
    values = sorted(set(got.tolist()))
    share = numpy.array([numpy.mean(got == 0.0)])
    assert len(values) == 2 and abs(values[1] - 1 / 0.75) < 1e-5, values
    report("dropout", share, numpy.array([0.25]), 0.01)


def matmul(random):
    a, b = (random.standard_normal((256, 256)).astype("float16") for _ in range(2))
    c = Array(numpy.zeros((256, 256), "float32"))
    matmul_kernel[(4, 4)](Array(a), Array(b), c, 256, 256, 256, BM=64, BN=64, BK=32)
    report("matmul", c.numpy(), a.astype("float32") @ b.astype("float32"), 1e-2)


def matmul_persistent(random):
    """Two operands and the result by tensor descriptors; 6 programs for 16 tiles."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    def described(array, block):
        return TensorDescriptor(array, list(array.shape), [array.shape[1], 1], block)

    a, b = (random.standard_normal((512, 256)).astype("float16") for _ in range(2))
    c = Array(numpy.zeros((512, 512), "float16"))
    matmul_persistent_kernel[(6,)](described(Array(a), [128, 64]), described(Array(b), [128, 64]), described(c, [128, 128]), 512, 512, 256,
                                   BM=128, BN=128, BK=64, PROGRAMS=6, num_warps=8, num_stages=3)
    report("matmul_persistent", c.numpy(), a.astype("float32") @ b.astype("float32").T, 5e-2)


def matmul_fp8(random):
    """e4m3 with sums that keep 13 bits, as the tensor cores of an H100 do."""
    bits = [random.integers(0x20, 0x40, (256, 256), dtype="uint8") | random.integers(0, 2, (256, 256), dtype="uint8") << 7 for _ in range(2)]
    x, y = ((1 - 2.0 * (b >> 7)) * (1 + (b & 7) / 8) * 2.0 ** ((b >> 3 & 15).astype("float64") - 7) for b in bits)
    c = Array(numpy.zeros((256, 256), "float32"))
    matmul_fp8_kernel[(2, 2)](Array(bits[0]), Array(bits[1]), c, 256, 256, 256, BM=128, BN=128, BK=64)
    report("matmul_fp8", c.numpy(), x @ y.T, 0.1)


def attention(random):
    q, k, v = (random.standard_normal((256, 64)).astype("float16") for _ in range(3))
    out = Array(numpy.zeros((256, 64), "float32"))
    attention_kernel[(4,)](Array(q), Array(k), Array(v), out, 0.125, N=256, D=64, BM=64, BN=64)
    s = q.astype("float32") @ k.astype("float32").T * 0.125
    e = numpy.exp(s - s.max(axis=1, keepdims=True))
    report("attention", out.numpy(), e / e.sum(axis=1, keepdims=True) @ v.astype("float32"), 1e-2)


if __name__ == "__main__":
    start()
    globals()[sys.argv[1]](numpy.random.default_rng(0))
