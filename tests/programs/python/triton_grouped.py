"""A grouped product of Triton's tutorial's kind: one launch for products of different sizes, whose operands it finds by a table of addresses."""

import numpy
import triton
import triton.language as tl
from checks import close, finish
from device_array import Array, start

SIZES = [(256, 128, 64), (128, 128, 128), (100, 200, 96), (64, 32, 256)]  # rows, columns, depth
PROGRAMS = 5  # fewer than tiles: each takes several, of more than one product


@triton.jit
def grouped_kernel(addresses, sizes, products, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    tile = tl.program_id(0)
    first = 0
    for product in range(products):
        rows, columns, depth = tl.load(sizes + 3 * product), tl.load(sizes + 3 * product + 1), tl.load(sizes + 3 * product + 2)
        across = tl.cdiv(columns, BN)
        last = first + tl.cdiv(rows, BM) * across
        a = tl.load(addresses + 3 * product).to(tl.pointer_type(tl.float16))
        b = tl.load(addresses + 3 * product + 1).to(tl.pointer_type(tl.float16))
        c = tl.load(addresses + 3 * product + 2).to(tl.pointer_type(tl.float16))
        while tile >= first and tile < last:
            r = (tile - first) // across * BM + tl.arange(0, BM)
            n = (tile - first) % across * BN + tl.arange(0, BN)
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for step in range(0, depth, BK):
                k = step + tl.arange(0, BK)
                left = tl.load(a + r[:, None] * depth + k[None, :], mask=(r[:, None] < rows) & (k[None, :] < depth), other=0.0)
                right = tl.load(b + k[:, None] * columns + n[None, :], mask=(k[:, None] < depth) & (n[None, :] < columns), other=0.0)
                total = tl.dot(left, right, total)
            tl.store(c + r[:, None] * columns + n[None, :], total.to(tl.float16), mask=(r[:, None] < rows) & (n[None, :] < columns))
            tile += PROGRAMS
        first = last


start()
random = numpy.random.default_rng(0)
operands = [[random.standard_normal(shape).astype("float16") for shape in ((m, k), (k, n))] for m, n, k in SIZES]
arrays = [[Array(a), Array(b), Array(numpy.zeros((m, n), "float16"))] for (a, b), (m, n, k) in zip(operands, SIZES)]
addresses = Array(numpy.array([[array.pointer for array in row] for row in arrays], "int64"))
grouped_kernel[(PROGRAMS,)](addresses, Array(numpy.array(SIZES, "int32")), len(SIZES), BM=64, BN=64, BK=32, PROGRAMS=PROGRAMS)
for (a, b), (_, _, c) in zip(operands, arrays):
    close(f"product of {a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]}", c.numpy(), a.astype("float32") @ b.astype("float32"), 1e-3)
finish()
