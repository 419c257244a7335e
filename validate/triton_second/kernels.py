"""Kernels of rows and elements: norms, losses, optimisers, scans, sorts, sums and copies as training and serving code has them."""

import triton
import triton.language as tl


@triton.jit
def rope_kernel(q, k, cos, sin, HQ: tl.constexpr, HK: tl.constexpr, D: tl.constexpr):
    """Rotates all heads of one token's queries and keys, in place."""
    token = tl.program_id(0)
    half = tl.arange(0, D // 2)
    c = tl.load(cos + token * (D // 2) + half)[None, :]
    s = tl.load(sin + token * (D // 2) + half)[None, :]
    at_q = q + token * HQ * D + tl.arange(0, HQ)[:, None] * D + half[None, :]
    at_k = k + token * HK * D + tl.arange(0, HK)[:, None] * D + half[None, :]
    left, right = tl.load(at_q).to(tl.float32), tl.load(at_q + D // 2).to(tl.float32)
    tl.store(at_q, left * c - right * s)
    tl.store(at_q + D // 2, right * c + left * s)
    left, right = tl.load(at_k).to(tl.float32), tl.load(at_k + D // 2).to(tl.float32)
    tl.store(at_k, left * c - right * s)
    tl.store(at_k + D // 2, right * c + left * s)


@triton.jit
def swiglu_forward_kernel(a, b, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    gate = tl.load(a + row * columns + i, mask=mask, other=0).to(tl.float32)
    up = tl.load(b + row * columns + i, mask=mask, other=0)
    tl.store(out + row * columns + i, (gate * tl.sigmoid(gate)).cast(up.dtype) * up, mask=mask)


@triton.jit
def swiglu_backward_kernel(grad, a, b, da, db, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    g = tl.load(grad + i, mask=mask).to(tl.float32)
    gate = tl.load(a + i, mask=mask).to(tl.float32)
    up = tl.load(b + i, mask=mask).to(tl.float32)
    s = tl.sigmoid(gate)
    silu = gate * s
    tl.store(db + i, g * silu, mask=mask)
    tl.store(da + i, g * up * (silu * (1 - s) + s), mask=mask)


@triton.jit
def cross_entropy_forward_kernel(logits, target, loss, lse, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    logits += row.to(tl.int64) * columns
    most = float("-inf")
    total = 0.0
    for first in range(0, columns, BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(logits + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        now = tl.maximum(most, tl.max(x))
        total = total * tl.exp(most - now) + tl.sum(tl.exp(x - now))
        most = now
    result = most + tl.log(total)
    picked = tl.load(logits + tl.load(target + row)).to(tl.float32)
    tl.store(lse + row, result)
    tl.store(loss + row, result - picked)


@triton.jit
def cross_entropy_gradient_kernel(logits, target, grad, loss, columns, scale, BLOCK: tl.constexpr):
    """Loss and gradient of one row: a pass for the sum, a pass that writes."""
    row = tl.program_id(0)
    logits += row.to(tl.int64) * columns
    grad += row.to(tl.int64) * columns
    label = tl.load(target + row)
    picked = tl.load(logits + label).to(tl.float32)
    most = float("-inf")
    total = 0.0
    for first in range(0, columns, BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(logits + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        now = tl.maximum(most, tl.max(x))
        total = total * tl.exp(most - now) + tl.sum(tl.exp(x - now))
        most = now
    for first in range(0, columns, BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(logits + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        p = tl.exp(x - most) / total
        tl.store(grad + i, tl.where(i == label, p - 1, p) * scale, mask=i < columns)
    tl.store(loss + row, (most + tl.log(total) - picked) * scale)


@triton.jit
def layer_norm_backward_kernel(dy, x, weight, mean, rstd, dx, dw, db, rows, columns, each, BLOCK: tl.constexpr):
    """Each program takes `each` rows and keeps its part of the weights' gradients in registers."""
    program = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    w = tl.load(weight + i, mask=mask, other=0).to(tl.float32)
    dw_sum = tl.zeros((BLOCK,), tl.float32)
    db_sum = tl.zeros((BLOCK,), tl.float32)
    for row in range(program * each, tl.minimum((program + 1) * each, rows)):
        g = tl.load(dy + row * columns + i, mask=mask, other=0).to(tl.float32)
        v = tl.load(x + row * columns + i, mask=mask, other=0).to(tl.float32)
        r = tl.load(rstd + row)
        hat = tl.where(mask, (v - tl.load(mean + row)) * r, 0.0)
        wg = w * g
        c1 = tl.sum(hat * wg, axis=0) / columns
        c2 = tl.sum(wg, axis=0) / columns
        tl.store(dx + row * columns + i, (wg - (hat * c1 + c2)) * r, mask=mask)
        dw_sum += g * hat
        db_sum += g
    tl.store(dw + program * columns + i, dw_sum, mask=mask)
    tl.store(db + program * columns + i, db_sum, mask=mask)


@triton.jit
def column_mean_kernel(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, rows, BM):
        m = first + tl.arange(0, BM)
        total += tl.load(x + m[:, None] * columns + n[None, :], mask=(m[:, None] < rows) & (n[None, :] < columns), other=0.0)
    tl.store(out + n, tl.sum(total, axis=0) / rows, mask=n < columns)


@triton.jit
def group_norm_kernel(x, weight, bias, out, each, area, groups, eps, BLOCK: tl.constexpr):
    """NCHW; a program has one group of `each` channels of one image."""
    group = tl.program_id(1)
    size = each * area
    base = (tl.program_id(0) * groups + group).to(tl.int64) * size
    total = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, size, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + base + i, mask=i < size, other=0.0).to(tl.float32)
        total += v
        squares += v * v
    mean = tl.sum(total) / size
    scale = tl.rsqrt(tl.sum(squares) / size - mean * mean + eps)
    for first in range(0, size, BLOCK):
        i = first + tl.arange(0, BLOCK)
        channel = group * each + i // area
        v = tl.load(x + base + i, mask=i < size, other=0.0).to(tl.float32)
        y = (v - mean) * scale * tl.load(weight + channel, mask=i < size) + tl.load(bias + channel, mask=i < size)
        tl.store(out + base + i, y, mask=i < size)


@triton.jit
def batch_norm_stats_kernel(x, mean, rstd, images, channels, area, eps, BLOCK: tl.constexpr):
    """NCHW; a program has one channel of all images."""
    channel = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for image in range(images):
        i = tl.arange(0, BLOCK)
        v = tl.load(x + (image * channels + channel) * area + i, mask=i < area, other=0.0)
        total += v
        squares += v * v
    count = images * area
    average = tl.sum(total) / count
    tl.store(mean + channel, average)
    tl.store(rstd + channel, tl.rsqrt(tl.sum(squares) / count - average * average + eps))


@triton.jit
def add_rms_norm_kernel(x, residual, weight, out, columns, eps, BLOCK: tl.constexpr):
    """The sum stays in `residual`."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    at = row * columns + i
    v = tl.load(x + at, mask=mask, other=0.0).to(tl.float32) + tl.load(residual + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(residual + at, v, mask=mask)
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / columns + eps)
    tl.store(out + at, v * scale * tl.load(weight + i, mask=mask, other=0.0).to(tl.float32), mask=mask)


@triton.jit
def quantise_rows_kernel(x, out, scales, columns, BLOCK: tl.constexpr):
    """A row of activations as e4m3 with one scale."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    v = tl.load(x + row * columns + i, mask=mask, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v)), 1e-10) / 448.0
    q = tl.clamp(v / scale, -448.0, 448.0)
    tl.store(out + row * columns + i, q.to(out.dtype.element_ty), mask=mask)
    tl.store(scales + row, scale)


@triton.jit
def moe_topk_kernel(logits, weights, ids, E: tl.constexpr, K: tl.constexpr, BM: tl.constexpr):
    """The K best experts of each token, and softmax over them; value and expert are sorted as one number."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    e = tl.arange(0, E)
    bits = tl.load(logits + rows[:, None] * E + e[None, :]).to(tl.int32, bitcast=True)
    key = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    best = tl.topk((key.to(tl.int64) << 32) | (E - 1 - e).to(tl.int64)[None, :], K)
    key = (best >> 32).to(tl.int32)
    value = tl.where(key < 0, key ^ 0x7FFFFFFF, key).to(tl.float32, bitcast=True)
    p = tl.exp(value - tl.max(value, axis=1)[:, None])
    at = rows[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(weights + at, p / tl.sum(p, axis=1)[:, None])
    tl.store(ids + at, E - 1 - (best & 0xFFFFFFFF).to(tl.int32))


@triton.jit
def sort_rows_kernel(x, out, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + at, tl.sort(tl.load(x + at), descending=True))


@triton.jit
def histogram_kernel(x, out, BINS: tl.constexpr, BLOCK: tl.constexpr, EACH: tl.constexpr):
    counts = tl.zeros((BINS,), tl.int32)
    for step in range(EACH):
        i = (tl.program_id(0) * EACH + step) * BLOCK + tl.arange(0, BLOCK)
        counts += tl.histogram(tl.load(x + i), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), counts, sem="relaxed")


@triton.jit
def follow(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def recurrence_kernel(a, b, out, N: tl.constexpr):
    """h[t] = a[t] h[t - 1] + b[t] along each row."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 0, follow)
    tl.store(out + at, h)


@triton.jit
def segment_sum_kernel(x, begins, out, WIDTH: tl.constexpr, BM: tl.constexpr):
    """Rows begins[s] .. begins[s + 1] are one segment."""
    segment = tl.program_id(0)
    begin, end = tl.load(begins + segment), tl.load(begins + segment + 1)
    i = tl.arange(0, WIDTH)
    total = tl.zeros((BM, WIDTH), tl.float32)
    for first in range(begin, end, BM):
        m = first + tl.arange(0, BM)
        total += tl.load(x + m[:, None] * WIDTH + i[None, :], mask=m[:, None] < end, other=0.0)
    tl.store(out + segment * WIDTH + i, tl.sum(total, axis=0))


@triton.jit
def stencil_kernel(x, weight, out, H, W, BM: tl.constexpr, BN: tl.constexpr):
    """3 x 3, zero outside."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            row, column = (r + i - 1)[:, None], (c + j - 1)[None, :]
            inside = (row >= 0) & (row < H) & (column >= 0) & (column < W)
            total += tl.load(weight + i * 3 + j) * tl.load(x + row * W + column, mask=inside, other=0.0)
    tl.store(out + r[:, None] * W + c[None, :], total, mask=(r[:, None] < H) & (c[None, :] < W))


@triton.jit
def max_pool_kernel(x, out, H, W, P, Q, n, BLOCK: tl.constexpr):
    """3 x 3, stride 2, one row and column of padding; planes of H x W to planes of P x Q."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q, p, plane = i % Q, i // Q % P, i // Q // P
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    for r in tl.static_range(3):
        for s in tl.static_range(3):
            h, w = 2 * p + r - 1, 2 * q + s - 1
            inside = (i < n) & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            most = tl.maximum(most, tl.load(x + (plane * H + h) * W + w, mask=inside, other=-float("inf")))
    tl.store(out + i, most, mask=i < n)


@triton.jit
def causal_conv_kernel(x, weight, bias, out, L, D, BL: tl.constexpr, BD: tl.constexpr):
    """Four taps a channel, then silu; x is batch x L x D, weight 4 x D."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    t = tl.program_id(1) * BL + tl.arange(0, BL)
    base = tl.program_id(2) * L * D
    total = tl.zeros((BL, BD), tl.float32) + tl.load(bias + d)[None, :].to(tl.float32)
    for k in tl.static_range(4):
        at = (t + k - 3)[:, None]
        v = tl.load(x + base + at * D + d[None, :], mask=at >= 0, other=0.0).to(tl.float32)
        total += v * tl.load(weight + k * D + d)[None, :].to(tl.float32)
    tl.store(out + base + t[:, None] * D + d[None, :], total * tl.sigmoid(total))


@triton.jit
def selective_scan_kernel(x, dt, a, b, c, skip, out, L, D, N: tl.constexpr, BD: tl.constexpr):
    """Mamba's recurrence, one step after another; x, dt are batch x L x D, b, c batch x L x N, a is D x N."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    n = tl.arange(0, N)
    decay = tl.load(a + d[:, None] * N + n[None, :])
    through = tl.load(skip + d)
    h = tl.zeros((BD, N), tl.float32)
    line = tl.program_id(1) * L
    for t in range(L):
        step = tl.load(dt + (line + t) * D + d)
        v = tl.load(x + (line + t) * D + d)
        h = h * tl.exp(step[:, None] * decay) + (step * v)[:, None] * tl.load(b + (line + t) * N + n)[None, :]
        y = tl.sum(h * tl.load(c + (line + t) * N + n)[None, :], axis=1) + through * v
        tl.store(out + (line + t) * D + d, y)


@triton.jit
def state_update_kernel(state, x, dt, bias, a, b, c, skip, z, out, D, N: tl.constexpr, BD: tl.constexpr):
    """One step of decoding: softplus of dt, the state in place, and the gate z."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    batch = tl.program_id(1)
    n = tl.arange(0, N)
    step = tl.load(dt + batch * D + d).to(tl.float32) + tl.load(bias + d)
    step = tl.where(step <= 20.0, tl.log(1.0 + tl.exp(step)), step)
    v = tl.load(x + batch * D + d).to(tl.float32)
    at = state + batch * D * N + d[:, None] * N + n[None, :]
    decay = tl.exp(tl.load(a + d[:, None] * N + n[None, :]) * step[:, None])
    h = tl.load(at) * decay + (tl.load(b + batch * N + n).to(tl.float32)[None, :] * step[:, None]) * v[:, None]
    tl.store(at, h)
    y = tl.sum(h * tl.load(c + batch * N + n).to(tl.float32)[None, :], axis=1) + v * tl.load(skip + d)
    gate = tl.load(z + batch * D + d).to(tl.float32)
    tl.store(out + batch * D + d, y * gate * tl.sigmoid(gate))


@triton.jit
def adamw_kernel(p, g, m, v, half, n, lr, beta1, beta2, eps, decay, correct1, correct2, BLOCK: tl.constexpr):
    """Weights and moments in place, and a copy of the weights in bf16."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    grad = tl.load(g + i, mask=mask).to(tl.float32)
    first = beta1 * tl.load(m + i, mask=mask) + (1 - beta1) * grad
    second = beta2 * tl.load(v + i, mask=mask) + (1 - beta2) * grad * grad
    weight = tl.load(p + i, mask=mask) * (1 - lr * decay)
    weight -= lr * (first / correct1) / (tl.sqrt(second / correct2) + eps)
    tl.store(m + i, first, mask=mask)
    tl.store(v + i, second, mask=mask)
    tl.store(p + i, weight, mask=mask)
    tl.store(half + i, weight, mask=mask)


@triton.jit
def embedding_backward_kernel(grad, index, table, columns, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + token)
    g = tl.load(grad + token * columns + i, mask=i < columns, other=0.0).to(tl.float32)
    tl.atomic_add(table + at * columns + i, g, mask=i < columns, sem="relaxed")


@triton.jit
def scatter_rows_kernel(x, index, out, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    """MoE's permutation: row t of x goes to the K rows that index names for it."""
    token = tl.program_id(0)
    for first in range(0, columns, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + token * columns + i, mask=i < columns)
        for k in tl.static_range(K):
            tl.store(out + tl.load(index + token * K + k) * columns + i, v, mask=i < columns)


@triton.jit
def combine_rows_kernel(x, index, weights, out, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    """The way back: a weighted sum of the K rows of each token."""
    token = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(K):
        row = tl.load(index + token * K + k)
        total += tl.load(weights + token * K + k) * tl.load(x + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
    tl.store(out + token * columns + i, total, mask=i < columns)


@triton.jit
def argmax_rows_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row.to(tl.int64) * columns
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    where = tl.zeros((BLOCK,), tl.int32)
    for first in range(0, columns, BLOCK):
        i = first + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        where = tl.where(v > best, i, where)
        best = tl.maximum(best, v)
    most = tl.max(best, axis=0)
    tl.store(out + row, tl.min(tl.where(best == most, where, columns), axis=0))


@triton.jit
def dropout_residual_kernel(x, residual, out, n, p, seed, BLOCK: tl.constexpr):
    """Four vectors of numbers from each call of Philox."""
    i = tl.program_id(0) * BLOCK * 4 + tl.arange(0, BLOCK)
    r0, r1, r2, r3 = tl.rand4x(seed, tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    scale = 1 / (1 - p)
    for k in tl.static_range(4):
        r = r0 if k == 0 else (r1 if k == 1 else (r2 if k == 2 else r3))
        at = i + k * BLOCK
        v = tl.load(x + at, mask=at < n).to(tl.float32)
        y = tl.where(r > p, v * scale, 0.0) + tl.load(residual + at, mask=at < n).to(tl.float32)
        tl.store(out + at, y, mask=at < n)
