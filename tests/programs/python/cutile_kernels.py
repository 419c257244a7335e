"""cuTile (cuda.tile): products of seven types, attention, reductions and scans, gathers, scatters and atomics, against PyTorch on the CPU.

Without TMA (allow_tma=False): tensor maps of tile kernels are made by NVIDIA's driver (docs/driver_calls.md).

    cutile_kernels.py products|attention|operations|scaled
"""

import math
import sys

import cuda.tile as ct
import torch
from checks import close, finish

LOG2E = 1 / math.log(2)
Int = ct.Constant[int]
Flag = ct.Constant[bool]


@ct.kernel
def product(a, b, c, rows: Int, columns: Int, depth: Int):
    row, column = ct.bid(0), ct.bid(1)
    total = ct.full((rows, columns), 0, dtype=ct.int32 if c.dtype == ct.int32 else ct.float64 if c.dtype == ct.float64 else ct.float32)
    kind = ct.tfloat32 if a.dtype == ct.float32 else a.dtype
    for k in range(ct.num_tiles(a, axis=1, shape=(rows, depth))):
        left = ct.load(a, index=(row, k), shape=(rows, depth), padding_mode=ct.PaddingMode.ZERO, allow_tma=False).astype(kind)
        right = ct.load(b, index=(k, column), shape=(depth, columns), padding_mode=ct.PaddingMode.ZERO, allow_tma=False).astype(kind)
        total = ct.mma(left, right, total)
    ct.store(c, index=(row, column), tile=total.astype(c.dtype), allow_tma=False)


@ct.kernel(occupancy=2)
def attention(q, k, v, out, scale: float, width: Int, heads: Int, rows: Int, columns: Int, causal: Flag):
    block, batch, head = ct.bid(0), ct.bid(1) // heads, ct.bid(1) % heads
    query = ct.load(q, index=(batch, head, block, 0), shape=(1, 1, rows, width), allow_tma=False).reshape((rows, width))
    place = (block * rows + ct.arange(rows, dtype=ct.int32))[:, None]
    most = ct.full((rows, 1), -math.inf, dtype=ct.float32)
    weight = ct.zeros((rows, 1), ct.float32)
    total = ct.zeros((rows, width), ct.float32)
    length = k.shape[2]
    for j in range(ct.cdiv(min((block + 1) * rows, length) if causal else length, columns)):
        key = ct.load(k, index=(batch, head, 0, j), shape=(1, 1, width, columns), order=(0, 1, 3, 2), latency=2, allow_tma=False).reshape((width, columns))
        score = ct.mma(query, key, ct.zeros((rows, columns), ct.float32)) * (scale * LOG2E)
        other = j * columns + ct.arange(columns, dtype=ct.int32)[None, :]
        mask = other < length
        if causal:
            mask = mask & (place >= other)
        score = ct.where(mask, score, -math.inf)
        now = max(most, ct.max(score, axis=-1, keepdims=True))
        part = ct.exp2(score - now, flush_to_zero=True)
        before = ct.exp2(most - now, flush_to_zero=True)
        weight = weight * before + ct.sum(part, axis=-1, keepdims=True)
        value = ct.load(v, index=(batch, head, j, 0), shape=(1, 1, columns, width), padding_mode=ct.PaddingMode.ZERO, latency=4, allow_tma=False)
        total = ct.mma(part.astype(q.dtype), value.reshape((columns, width)), total * before)
        most = now
    total = ct.truediv(total, weight, flush_to_zero=True, rounding_mode=ct.RoundingMode.APPROX)
    ct.store(out, index=(batch, head, block, 0), tile=total.reshape((1, 1, rows, width)).astype(out.dtype), allow_tma=False)


@ct.kernel
def rows_of(x, softmax, sums, places, sorted_sums, width: Int):
    row = ct.bid(0)
    tile = ct.load(x, index=(row, 0), shape=(1, width), padding_mode=ct.PaddingMode.NEG_INF, allow_tma=False)
    inside = ct.arange(width, dtype=ct.int32)[None, :] < x.shape[1]
    part = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
    ct.store(softmax, index=(row, 0), tile=part / ct.sum(part, axis=1, keepdims=True), allow_tma=False)
    finite = ct.where(inside, tile, 0.0)
    ct.store(sums, index=(row, 0), tile=ct.cumsum(finite, axis=1), allow_tma=False)
    ct.store(places, index=(row,), tile=ct.argmax(tile, axis=1), allow_tma=False)
    ct.store(sorted_sums, index=(row, 0), tile=ct.scan(finite, 1, lambda a, b: ct.maximum(a, b), -math.inf), allow_tma=False)


@ct.kernel
def places_of(x, index, taken, put, counts, width: Int, bins: Int):
    block = ct.bid(0)
    at = ct.load(index, index=(block,), shape=(width,), padding_mode=ct.PaddingMode.ZERO, allow_tma=False)
    here = block * width + ct.arange(width, dtype=ct.int32)
    inside = here < index.shape[0]
    value = ct.gather(x, at, mask=inside)
    ct.scatter(taken, here, value)
    ct.scatter(put, here, ct.sin(value) * ct.sqrt(ct.abs(value)) + ct.tanh(value), mask=value > 0)
    ct.atomic_add(counts, ct.where(inside, at % bins, -1), 1)


@ct.kernel
def scaled(a, a_scale, b, b_scale, c, rows: Int, columns: Int, depth: Int, block: Int):
    row, column = ct.bid(0), ct.bid(1)
    total = ct.zeros((rows, columns), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(rows, depth))):
        left = ct.load(a, index=(row, k), shape=(rows, depth), allow_tma=False)
        right = ct.load(b, index=(column, k), shape=(columns, depth), allow_tma=False).transpose()
        left_scale = ct.load(a_scale, index=(row, k), shape=(rows, depth // block), allow_tma=False)
        right_scale = ct.load(b_scale, index=(column, k), shape=(columns, depth // block), allow_tma=False).transpose()
        total = ct.mma_scaled(left, left_scale, right, right_scale, total)
    ct.store(c, index=(row, column), tile=total, allow_tma=False)


def launch(grid, kernel, *arguments):
    ct.launch(torch.cuda.current_stream(), grid, kernel, arguments)
    torch.cuda.synchronize()


def products():
    kinds = [("float16", 1e-3), ("bfloat16", 8e-3), ("float32", 2e-3), ("float64", 1e-12), ("int8", 0)]
    if torch.cuda.get_device_capability() >= (8, 9):
        kinds += [("float8_e4m3fn", 1e-3), ("float8_e5m2", 1e-3)]
    for name, tolerance in kinds:
        kind = getattr(torch, name)
        m, n, k = (200, 120, 264) if name != "int8" else (128, 256, 128)
        tile = (128, 128, 64) if kind.itemsize <= 2 else (32, 32, 32)
        if name == "int8":
            a, b = (torch.randint(-100, 100, s).to(kind) for s in ((m, k), (k, n)))
        else:
            a, b = (torch.randn(s).to(kind) for s in ((m, k), (k, n)))
        out = {"int8": torch.int32, "float8_e4m3fn": torch.float32, "float8_e5m2": torch.float32}.get(name, kind)
        c = torch.empty(m, n, dtype=out, device="cuda")
        if kind.itemsize == 1 and name != "int8":
            a, b = (torch.randn(s).to(kind) for s in ((256, 128), (128, 256)))
            c = torch.empty(256, 256, dtype=out, device="cuda")
        launch((ct.cdiv(c.shape[0], tile[0]), ct.cdiv(c.shape[1], tile[1])), product, a.cuda(), b.cuda(), c, *tile)
        close(name, c, a.double() @ b.double(), tolerance)


def attentions():
    for name, length, width, causal in (("float16", 256, 64, False), ("bfloat16", 256, 128, True), ("float16", 200, 64, True)):
        q, k, v = (torch.randn(2, 2, length, width).to(getattr(torch, name)) for _ in range(3))
        out = torch.empty_like(q, device="cuda")
        launch((ct.cdiv(length, 64), 4), attention, q.cuda(), k.cuda(), v.cuda(), out, 1 / math.sqrt(width), width, 2, 64, 64, causal)
        want = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal)
        close(f"{name}, {length} of {width}{', causal' if causal else ''}", out, want, 1e-2)


def operations():
    x = torch.randn(37, 1000)
    softmax, sums, most = (torch.zeros(37, 1000, device="cuda") for _ in range(3))
    places = torch.zeros(37, dtype=torch.int32, device="cuda")
    launch((37,), rows_of, x.cuda(), softmax, sums, places, most, 1024)
    close("softmax", softmax, torch.softmax(x, 1), 1e-6)
    close("cumsum", sums, x.double().cumsum(1), 1e-6)
    close("argmax", places, x.argmax(1), 0)
    close("scan", most, x.clamp(min=-1e30).cummax(1).values, 0)
    values, index = torch.randn(777), torch.randint(0, 777, (900,), dtype=torch.int32)
    taken, put = torch.zeros(900, device="cuda"), torch.zeros(900, device="cuda")
    counts = torch.zeros(16, dtype=torch.int32, device="cuda")
    launch((ct.cdiv(900, 256),), places_of, values.cuda(), index.cuda(), taken, put, counts, 256, 16)
    want = values[index.long()]
    close("gather", taken, want, 0)
    close("scatter", put, torch.where(want > 0, want.sin() * want.abs().sqrt() + want.tanh(), 0.0), 1e-6)
    close("atomic_add", counts, torch.bincount(index.long() % 16, minlength=16), 0)


def scaled_products():
    a, b = (torch.randn(128, 256).to(torch.float8_e4m3fn) for _ in range(2))
    a_scale, b_scale = (torch.randint(124, 131, (128, 8), dtype=torch.uint8) for _ in range(2))
    c = torch.empty(128, 128, device="cuda")
    device = [t.view(torch.float8_e8m0fnu).cuda() for t in (a_scale, b_scale)]
    launch((2, 2), scaled, a.cuda(), device[0], b.cuda(), device[1], c, 64, 64, 128, 32)
    left, right = (x.double() * torch.exp2(s.double() - 127).repeat_interleave(32, 1) for x, s in ((a, a_scale), (b, b_scale)))
    close("mxfp8", c, left @ right.T, 1e-5)


torch.manual_seed(0)
{"products": products, "attention": attentions, "operations": operations, "scaled": scaled_products}[sys.argv[1]]()
finish()
