"""Kernels around tl.dot: linear layers with quantised weights and epilogues, products in several orders, convolution and attention."""

import triton
import triton.language as tl


@triton.jit
def tile_of(number, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """Row and column of a tile: GROUP rows of tiles at a time."""
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    width = GROUP * tiles_n
    first = number // width * GROUP
    high = tl.minimum(tiles_m - first, GROUP)
    return first + number % width % high, number % width // high


@triton.jit
def gelu_linear_kernel(a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """gelu(a b + bias), gelu by tanh; rows beyond M wrap around, as the tutorial has it."""
    row, column = tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
    rows = (row * BM + tl.arange(0, BM)) % M
    columns = (column * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    left, right = a + rows[:, None] * K + k[None, :], b + k[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        x = tl.load(left, mask=k[None, :] < K - step * BK, other=0.0)
        w = tl.load(right, mask=k[:, None] < K - step * BK, other=0.0)
        total = tl.dot(x, w, total)
        left += BK
        right += BK * N
    total += tl.load(bias + columns)[None, :].to(tl.float32)
    inner = 0.7978845608 * (total + 0.044715 * total * total * total)
    total = total * tl.sigmoid(2 * inner)
    m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def strided_matmul_kernel(a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """Operands in any order of their dimensions, by strides."""
    row, column = tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    left, right = a + rows[:, None] * am + k[None, :] * ak, b + k[:, None] * bk + columns[None, :] * bn
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += BK * ak
        right += BK * bk
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def batched_matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """b is N x K in each batch: scores of queries and keys."""
    batch = tl.program_id(2)
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    left = a + batch * M * K + rows[:, None] * K + k[None, :]
    right = b + batch * N * K + columns[None, :] * K + k[:, None]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += BK
        right += BK
    tl.store(c + batch * M * N + rows[:, None] * N + columns[None, :], total.to(tl.float16))


@triton.jit
def persistent_matmul_kernel(a, b, c, M, N, K, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """One program an SM walks over the tiles; both loops are one."""
    k = tl.arange(0, BK)
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for number in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=True):
        row, column = tile_of(number, M, N, BM, BN, GROUP)
        rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(K, BK)):
            x = tl.load(a + rows[:, None] * K + (step * BK + k)[None, :])
            w = tl.load(b + (step * BK + k)[:, None] * N + columns[None, :])
            total = tl.dot(x, w, total)
        tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))


@triton.jit
def walking_groups_kernel(a, b, c, begins, groups, N, K, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Products of groups of rows begins[g] .. begins[g + 1] with a matrix each; a fixed number of programs walks over the tiles of all."""
    number = tl.program_id(0)
    last = 0
    k = tl.arange(0, BK)
    for group in range(groups):
        begin, end = tl.load(begins + group), tl.load(begins + group + 1)
        tiles_n = tl.cdiv(N, BN)
        tiles = tl.cdiv(end - begin, BM) * tiles_n
        while number >= last and number < last + tiles:
            rows = begin + (number - last) // tiles_n * BM + tl.arange(0, BM)
            columns = (number - last) % tiles_n * BN + tl.arange(0, BN)
            left = a + rows[:, None] * K + k[None, :]
            right = b + group * K * N + k[:, None] * N + columns[None, :]
            total = tl.zeros((BM, BN), tl.float32)
            for _ in range(0, K, BK):
                x = tl.load(left, mask=rows[:, None] < end, other=0.0)
                total = tl.dot(x, tl.load(right), total)
                left += BK
                right += BK * N
            tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=rows[:, None] < end)
            number += PROGRAMS
        last += tiles


@triton.jit
def int8_linear_kernel(x, weight, scales, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """weight is K x N in 8 bits with a scale a column."""
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        left = tl.load(x + rows[:, None] * K + (first + k)[None, :], mask=rows[:, None] < M, other=0.0)
        right = tl.load(weight + (first + k)[:, None] * N + columns[None, :])
        total = tl.dot(left, right.to(tl.float16), total)
    total *= tl.load(scales + columns)[None, :]
    tl.store(out + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=rows[:, None] < M)


@triton.jit
def int4_linear_kernel(x, packed, scales, out, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Eight weights along K in a word, zero at 8, a scale for each GROUP of K and column."""
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    shift = (k % 8 * 4)[:, None]
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        left = tl.load(x + rows[:, None] * K + (first + k)[None, :], mask=rows[:, None] < M, other=0.0)
        words = tl.load(packed + ((first + k) // 8)[:, None] * N + columns[None, :])
        scale = tl.load(scales + first // GROUP * N + columns)[None, :]
        right = (((words >> shift) & 15) - 8).to(tl.float16) * scale
        total = tl.dot(left, right, total)
    tl.store(out + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=rows[:, None] < M)


@triton.jit
def fp8_blocks_kernel(a, b, a_scales, b_scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """e4m3 with a scale for each 128 of a's row and each 128 x 128 of b, which is N x K; BK is 128."""
    row, column = tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    left, right = a + rows[:, None] * K + k[None, :], b + columns[None, :] * K + k[:, None]
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, K // BK):
        x = tl.load(left)
        w = tl.load(right)
        x_scale = tl.load(a_scales + rows * (K // BK) + step)
        w_scale = tl.load(b_scales + columns // 128 * (K // BK) + step)
        total += tl.dot(x, w) * x_scale[:, None] * w_scale[None, :]
        left += BK
        right += BK
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16))


@triton.jit
def conv2d_kernel(x, weight, out, H, W, C: tl.constexpr, OC: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """3 x 3, stride 1, padded; NHWC, weight 3 x 3 x C x OC: a product whose left rows are found by arithmetic."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    image, p, q = m // (H * W), m // W % H, m % W
    c = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, 9 * C // BK):
        tap, first = step // (C // BK), step % (C // BK) * BK
        h, w = p + tap // 3 - 1, q + tap % 3 - 1
        inside = (h >= 0) & (h < H) & (w >= 0) & (w < W)
        left = tl.load(x + ((image * H + h) * W + w)[:, None] * C + (first + c)[None, :], mask=inside[:, None], other=0.0)
        right = tl.load(weight + (tap * C + first + c)[:, None] * OC + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(out + m[:, None] * OC + columns[None, :], total.to(tl.float16))


@triton.jit
def attend(total, most, result, queries, keys, values, scale, rows, d, begin, end, D: tl.constexpr, BN: tl.constexpr, WINDOW: tl.constexpr,
           MASK: tl.constexpr):
    """The inner loop over keys [begin, end); MASK: only up to the row itself, and no more than WINDOW of them if it is not 0."""
    for first in range(begin, end, BN):
        n = first + tl.arange(0, BN)
        scores = tl.dot(queries, tl.load(keys + n[None, :] * D + d[:, None])) * scale
        if MASK:
            seen = rows[:, None] >= n[None, :]
            if WINDOW > 0:
                seen = seen & (rows[:, None] - n[None, :] < WINDOW)
            scores = tl.where(seen, scores, -1.0e6)
        now = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - now[:, None])
        old = tl.exp2(most - now)
        total = total * old + tl.sum(p, 1)
        v = tl.load(values + n[:, None] * D + d[None, :])
        result = tl.dot(p.to(v.dtype), v, result * old[:, None])
        most = now
    return total, most, result


@triton.jit
def attention_gqa_kernel(q, k, v, out, lse, scale, N, SHARE: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal; SHARE heads of queries share one of keys; whole blocks of keys first, then those at the diagonal."""
    block, head = tl.program_id(0), tl.program_id(1)
    rows = block * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    at = head * N * D + rows[:, None] * D + d[None, :]
    keys, values = k + head // SHARE * N * D, v + head // SHARE * N * D
    queries = tl.load(q + at)
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    scale *= 1.44269504
    total, most, result = attend(total, most, result, queries, keys, values, scale, rows, d, 0, block * BM, D, BN, 0, False)
    total, most, result = attend(total, most, result, queries, keys, values, scale, rows, d, block * BM, (block + 1) * BM, D, BN, 0, True)
    tl.store(out + at, (result / total[:, None]).to(out.dtype.element_ty))
    tl.store(lse + head * N + rows, most + tl.log2(total))


@triton.jit
def attention_window_kernel(q, k, v, out, scale, N, WINDOW: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Each row sees itself and the WINDOW - 1 rows before it."""
    block, head = tl.program_id(0), tl.program_id(1)
    rows = block * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    at = head * N * D + rows[:, None] * D + d[None, :]
    queries = tl.load(q + at)
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    begin = tl.maximum(block * BM - WINDOW + 1, 0) // BN * BN
    total, most, result = attend(total, most, result, queries, k + head * N * D, v + head * N * D, scale * 1.44269504, rows, d, begin,
                                 (block + 1) * BM, D, BN, WINDOW, True)
    tl.store(out + at, (result / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def decode_kernel(q, k, v, parts, lse, scale, N, HEADS: tl.constexpr, SHARE: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                  SPLITS: tl.constexpr):
    """One query a head: a program has the SHARE heads of one head of keys and one of SPLITS parts of them; keys are batch x N x HEADS x D."""
    batch, head, split = tl.program_id(0) // HEADS, tl.program_id(0) % HEADS, tl.program_id(1)
    g, d = tl.arange(0, BM), tl.arange(0, D)
    queries = tl.load(q + (tl.program_id(0) * SHARE + g)[:, None] * D + d[None, :], mask=g[:, None] < SHARE, other=0.0)
    base = (batch * N * HEADS + head) * D
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    length = tl.cdiv(N, SPLITS)
    for first in range(split * length, tl.minimum((split + 1) * length, N), BN):
        n = first + tl.arange(0, BN)
        keys = tl.load(k + base + n[None, :] * (HEADS * D) + d[:, None], mask=n[None, :] < N, other=0.0)
        scores = tl.dot(queries, keys) * scale
        scores = tl.where(n[None, :] < N, scores, -float("inf"))
        now = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp(scores - now[:, None])
        old = tl.exp(most - now)
        values = tl.load(v + base + n[:, None] * (HEADS * D) + d[None, :], mask=n[:, None] < N, other=0.0)
        result = tl.dot(p.to(tl.float16), values, result * old[:, None])
        total = total * old + tl.sum(p, 1)
        most = now
    at = (tl.program_id(0) * SHARE + g) * SPLITS + split
    tl.store(parts + at[:, None] * D + d[None, :], result / total[:, None], mask=g[:, None] < SHARE)
    tl.store(lse + at, most + tl.log(total), mask=g < SHARE)


@triton.jit
def decode_combine_kernel(parts, lse, out, D: tl.constexpr, SPLITS: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    most = -float("inf")
    total = 0.0
    result = tl.zeros((D,), tl.float32)
    for split in range(SPLITS):
        part = tl.load(lse + head * SPLITS + split)
        now = tl.maximum(most, part)
        old, weight = tl.exp(most - now), tl.exp(part - now)
        result = result * old + weight * tl.load(parts + (head * SPLITS + split) * D + d)
        total = total * old + weight
        most = now
    tl.store(out + head * D + d, (result / total).to(tl.float16))


@triton.jit
def attention_backward_kernel(q, k, v, do, dk, dv, lse, delta, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Gradients of BN keys and values, causal: over the queries from the diagonal on; lse is in powers of 2."""
    base, line = tl.program_id(1) * N * D, tl.program_id(1) * N
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    at = base + n[:, None] * D + d[None, :]
    keys, values = tl.load(k + at), tl.load(v + at)
    key_sum = tl.zeros((BN, D), tl.float32)
    value_sum = tl.zeros((BN, D), tl.float32)
    for first in range(tl.program_id(0) * BN, N, BM):
        m = first + tl.arange(0, BM)
        queries = tl.load(q + base + m[None, :] * D + d[:, None])
        p = tl.exp2(tl.dot(keys, queries) * (scale * 1.44269504) - tl.load(lse + line + m)[None, :])
        p = tl.where(m[None, :] >= n[:, None], p, 0.0)
        grads = tl.load(do + base + m[:, None] * D + d[None, :])
        value_sum = tl.dot(p.to(tl.float16), grads, value_sum)
        ds = p * (tl.dot(values, tl.trans(grads)) - tl.load(delta + line + m)[None, :])
        key_sum = tl.dot(ds.to(tl.float16), tl.trans(queries), key_sum)
    tl.store(dk + at, (key_sum * scale).to(tl.float16))
    tl.store(dv + at, value_sum.to(tl.float16))


@triton.jit
def tensor_map_matmul_kernel(a, b, c, left, right, result, M, N, K, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                             GROUP: tl.constexpr):
    """Persistent, through tensor maps over a, b (N x K) and c; the pointers are there for the launch file alone."""
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for number in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=True):
        row, column = tile_of(number, M, N, BM, BN, GROUP)
        total = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(K, BK)):
            x = left.load([row * BM, step * BK])
            w = right.load([column * BN, step * BK])
            total = tl.dot(x, w.T, total)
        result.store([row * BM, column * BN], total.to(tl.float16))


@triton.jit
def tensor_map_attention_kernel(q, k, v, o, q_map, k_map, v_map, o_map, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Each head's rows follow those of the head before, in one tensor of D columns."""
    line = tl.program_id(1) * N
    row = line + tl.program_id(0) * BM
    queries = q_map.load([row, 0])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32) + 1.0
    result = tl.zeros((BM, D), tl.float32)
    scale *= 1.44269504
    for first in tl.range(0, N, BN):
        scores = tl.dot(queries, k_map.load([line + first, 0]).T)
        now = tl.maximum(most, tl.max(scores, 1) * scale)
        p = tl.exp2(scores * scale - now[:, None])
        old = tl.exp2(most - now)
        result = result * old[:, None]
        result = tl.dot(p.to(tl.float16), v_map.load([line + first, 0]), result)
        total = total * old + tl.sum(p, 1)
        most = now
    o_map.store([row, 0], (result / total[:, None]).to(tl.float16))
