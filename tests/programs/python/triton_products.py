"""Products of Triton in other types and forms: triton_products.py int8|bf16|tf32|tf32x3|ieee|half_sums|e5m2|split_k|descriptors|scaled."""

import sys

import numpy
import triton
import triton.language as tl
from checks import close, finish
from device_array import Array, start

M, N, K = 128, 128, 256
RANDOM = numpy.random.default_rng(0)


@triton.jit
def product_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr, SUMS: tl.constexpr,
                   PARTS: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=SUMS)
    for step in range(tl.program_id(2) * BK, K, BK * PARTS):
        k = step + tl.arange(0, BK)
        left, right = tl.load(a + rows[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total, input_precision=PRECISION, out_dtype=SUMS)
    if PARTS == 1:
        tl.store(c + rows[:, None] * N + columns[None, :], total)
    else:
        tl.atomic_add(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def descriptor_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIAL: tl.constexpr):
    """Descriptors made in the kernel, edges outside the matrices; one program for all tiles."""
    from_a = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    from_b = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    to_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), warp_specialize=SPECIAL):
        row, column = tile // across * BM, tile % across * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(from_a.load([row, k]), from_b.load([column, k]).T, total)
        to_c.store([row, column], total.to(tl.float16))


@triton.jit
def scaled_kernel(a, a_scale, b, b_scale, c, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FORMAT: tl.constexpr, PACK: tl.constexpr):
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    k, groups = tl.arange(0, BK // PACK), tl.arange(0, BK // 32)
    left = tl.load(a + rows[:, None] * (BK // PACK) + k[None, :])
    right = tl.load(b + columns[None, :] * (BK // PACK) + k[:, None])
    scale_a = tl.load(a_scale + rows[:, None] * (BK // 32) + groups[None, :])
    scale_b = tl.load(b_scale + columns[:, None] * (BK // 32) + groups[None, :])
    total = tl.dot_scaled(left, scale_a, FORMAT, right, scale_b, FORMAT)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


def bf16(values):
    """Numbers that bfloat16 has, and their upper halves."""
    bits = values.astype("float32").view("uint32") & 0xffff0000
    return bits.view("float32"), (bits >> 16).astype("uint16").view("float16")


def simple(a, b, tolerance, precision=None, sums=tl.float32, parts=1, dtype=None, values=None):
    kind = {tl.float32: "float32", tl.float16: "float16", tl.int32: "int32"}[sums]
    c = Array(numpy.zeros((M, N), kind))
    product_kernel[(M // 64, N // 64, parts)](Array(a, dtype), Array(b, dtype), c, M, N, K, BM=64, BN=64, BK=32, PRECISION=precision, SUMS=sums,
                                              PARTS=parts)
    x, y = values or (a, b)
    close(sys.argv[1], c.numpy(), x.astype("float64") @ y.astype("float64"), tolerance)


def normal(kind):
    return RANDOM.standard_normal((M, K)).astype(kind), RANDOM.standard_normal((K, N)).astype(kind)


def e5m2():
    """A GPU sums eight-bit floats with 13 bits."""
    bits = [RANDOM.integers(0x2c, 0x44, shape, dtype="uint8") | RANDOM.integers(0, 2, shape, dtype="uint8") << 7 for shape in ((M, K), (K, N))]
    values = [(b.astype("uint16") << 8).view("float16").astype("float64") for b in bits]
    simple(*bits, 5e-3, dtype="fp8e5", values=values)


def descriptors():
    m, n, k = 200, 168, 120
    a, b = RANDOM.standard_normal((m, k)).astype("float16"), RANDOM.standard_normal((n, k)).astype("float16")

    def allocate(size, align, stream):
        return Array(numpy.zeros(size, "uint8"))

    triton.set_allocator(allocate)
    for special in (False, True):
        c = Array(numpy.zeros((m, n), "float16"))
        descriptor_kernel[(3,)](Array(a), Array(b), c, m, n, k, BM=64, BN=64, BK=32, SPECIAL=special)
        close("descriptors" + (", warp_specialize" if special else ""), c.numpy(), a.astype("float32") @ b.astype("float32").T, 1e-3)


def scaled():
    """mxfp8 (e5m2) and mxfp4 with a power of two for each 32 values."""
    fp4 = numpy.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6])
    for name, pack in (("e5m2", 1), ("e2m1", 2)):
        sides = []
        for rows in (M, N):
            scale = RANDOM.integers(125, 130, (rows, K // 32), dtype="uint8")
            if pack == 1:
                bits = RANDOM.integers(0x2c, 0x44, (rows, K), dtype="uint8")
                values = (bits.astype("uint16") << 8).view("float16").astype("float64")
            else:
                bits = RANDOM.integers(0, 256, (rows, K // 2), dtype="uint8")
                values = numpy.stack([fp4[bits & 15], fp4[bits >> 4]], axis=2).reshape(rows, K)
            sides.append((bits, scale, values * numpy.repeat(2.0 ** (scale.astype("float64") - 127), 32, axis=1)))
        (a, a_scale, x), (b, b_scale, y) = sides
        c = Array(numpy.zeros((M, N), "float32"))
        dtype = "fp8e5" if pack == 1 else None
        scaled_kernel[(1,)](Array(a, dtype), Array(a_scale), Array(b, dtype), Array(b_scale), c, N, BM=M, BN=N, BK=K, FORMAT=name, PACK=pack,
                            num_warps=8, num_stages=1)
        close(f"mx {name}", c.numpy(), x @ y.T, 5e-3)


def main(which):
    start()
    if which == "int8":
        simple(RANDOM.integers(-128, 128, (M, K), dtype="int8"), RANDOM.integers(-128, 128, (K, N), dtype="int8"), 0, sums=tl.int32)
    elif which == "bf16":
        (x, a), (y, b) = bf16(RANDOM.standard_normal((M, K))), bf16(RANDOM.standard_normal((K, N)))
        simple(a, b, 1e-5, dtype="bf16", values=(x, y))
    elif which in ("tf32", "tf32x3", "ieee"):
        simple(*normal("float32"), {"tf32": 2e-3, "tf32x3": 1e-5, "ieee": 1e-6}[which], precision=which)
    elif which == "half_sums":
        simple(*normal("float16"), 1e-2, sums=tl.float16)
    elif which == "split_k":
        simple(*normal("float16"), 1e-5, parts=4)
    else:
        {"e5m2": e5m2, "descriptors": descriptors, "scaled": scaled}[which]()
    finish()


if __name__ == "__main__":
    main(sys.argv[1])
