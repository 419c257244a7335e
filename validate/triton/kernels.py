"""Triton kernels of the kinds that its tutorials and model code have."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def gelu_bias_kernel(x, bias, out, columns, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32) + tl.load(bias + i % columns, mask=i < n).to(tl.float32)
    tl.store(out + i, (0.5 * v * (1 + tl.erf(v * 0.7071067811865476))).to(tl.float16), mask=i < n)


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
    values = tl.load(x + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(i < columns, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + 1e-5)
    y = centred * scale * tl.load(weight + i, mask=i < columns) + tl.load(bias + i, mask=i < columns)
    tl.store(out + row * columns + i, y.to(tl.float16), mask=i < columns)


@triton.jit
def rms_norm_loop_kernel(x, weight, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        v = tl.load(x + row * columns + first + tl.arange(0, BLOCK))
        total += v * v
    scale = tl.rsqrt(tl.sum(total, axis=0) / columns + 1e-6)
    for first in range(0, columns, BLOCK):
        i = first + tl.arange(0, BLOCK)
        tl.store(out + row * columns + i, tl.load(x + row * columns + i) * scale * tl.load(weight + i))


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


@triton.jit
def transpose_kernel(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(out + n[:, None] * rows + m[None, :], tl.trans(tl.load(x + m[:, None] * columns + n[None, :])))


@triton.jit
def row_sum_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, columns, BLOCK):
        total += tl.load(x + row * columns + first + tl.arange(0, BLOCK))
    tl.store(out + row, tl.sum(total, axis=0))


@triton.jit
def atomic_sum_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0))


@triton.jit
def cumsum_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row * columns + i, tl.cumsum(tl.load(x + row * columns + i), axis=0))


@triton.jit
def embedding_kernel(table, index, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    at = tl.load(index + row)
    tl.store(out + row * columns + i, tl.load(table + at * columns + i))


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
                  ACC: tl.constexpr):
    """Tiles in groups of rows, as the tutorial has them; b is K x N."""
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    number = tl.program_id(0)
    width = GROUP * tiles_n
    first = number // width * GROUP
    high = tl.minimum(tiles_m - first, GROUP)
    rows = (first + number % width % high) * BM + tl.arange(0, BM)
    columns = number % width // high * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=ACC)
    left, right = a + rows[:, None] * K + k[None, :], b + k[:, None] * N + columns[None, :]
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(left), tl.load(right), total, out_dtype=ACC)
        left += BK
        right += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def matmul_fp8_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """b is N x K: eight-bit operands of a warpgroup's product lie along K."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + (first + k)[None, :]).to(tl.float8e4nv, bitcast=True)
        right = tl.load(b + columns[None, :] * K + (first + k)[:, None]).to(tl.float8e4nv, bitcast=True)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def split_k_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.program_id(2) * BK + tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK * SPLIT):
        left = tl.load(a + rows[:, None] * K + (first + k)[None, :])
        right = tl.load(b + (first + k)[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total)
    tl.atomic_add(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def grouped_kernel(a, b, c, begins, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Experts' products: rows begins[e] .. begins[e + 1] of a with the e-th matrix of b."""
    expert = tl.program_id(2)
    begin, end = tl.load(begins + expert), tl.load(begins + expert + 1)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    for tile in range(tl.program_id(0), tl.cdiv(end - begin, BM), tl.num_programs(0)):
        rows = begin + tile * BM + tl.arange(0, BM)
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for first in range(0, K, BK):
            left = tl.load(a + rows[:, None] * K + (first + k)[None, :], mask=rows[:, None] < end, other=0.0)
            right = tl.load(b + expert * K * N + (first + k)[:, None] * N + columns[None, :])
            total = tl.dot(left, right, total)
        tl.store(c + rows[:, None] * N + columns[None, :], total, mask=rows[:, None] < end)


@triton.jit
def attention_kernel(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    base = tl.program_id(1) * N * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    queries = tl.load(q + base + rows[:, None] * D + d[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else N
    for first in range(0, end, BN):
        n = first + tl.arange(0, BN)
        scores = tl.dot(queries, tl.trans(tl.load(k + base + n[:, None] * D + d[None, :]))) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= n[None, :], scores, -float("inf"))
        now = tl.maximum(most, tl.max(scores, axis=1))
        weights = tl.exp(scores - now[:, None])
        old = tl.exp(most - now)
        total = total * old + tl.sum(weights, axis=1)
        result = tl.dot(weights.to(tl.float16), tl.load(v + base + n[:, None] * D + d[None, :]), result * old[:, None])
        most = now
    tl.store(out + base + rows[:, None] * D + d[None, :], result / total[:, None])
