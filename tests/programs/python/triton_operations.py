"""Operations of Triton beside products: triton_operations.py reductions | scans | sorting | atomics | mixed | locks."""

import sys

import numpy
import triton
import triton.language as tl
from checks import close, finish
from device_array import Array, start

RANDOM = numpy.random.default_rng(0)
BLOCK = 256


@triton.jit
def larger(a, i, b, j):
    take = a >= b
    return tl.where(take, a, b), tl.where(take, i, j)


@triton.jit
def decayed(a, x, b, y):
    return a * b, x * b + y


@triton.jit
def reductions_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    most, where = tl.reduce((v, i), 0, larger)
    tl.store(out, tl.sum(v))
    tl.store(out + 1, tl.max(v))
    tl.store(out + 2, tl.min(v))
    tl.store(out + 3, tl.argmax(v, 0).to(tl.float32))
    tl.store(out + 4, most)
    tl.store(out + 5, where.to(tl.float32))
    tl.store(out + 6, tl.xor_sum((v * 1000).to(tl.int32)).to(tl.float32))


@triton.jit
def scans_kernel(x, decay, sums, products, states, backwards, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v, a = tl.load(x + i), tl.load(decay + i)
    tl.store(sums + i, tl.cumsum(v, 0))
    tl.store(products + i, tl.cumprod(a, 0))
    tl.store(states + i, tl.associative_scan((a, v), 0, decayed)[1])
    tl.store(backwards + i, tl.cumsum(v, 0, reverse=True))


@triton.jit
def sorting_kernel(x, ordered, most, counts, picked, index, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(ordered + i, tl.sort(v))
    tl.store(most + tl.arange(0, 8), tl.topk(v, 8))
    tl.store(counts + tl.arange(0, 16), tl.histogram((v * 16).to(tl.int32), 16))
    tl.store(picked + i, tl.gather(v, tl.load(index + i), 0))


@triton.jit
def atomics_kernel(numbers, floats, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(numbers + i * 0, 1)
    tl.atomic_max(numbers + 1 + i * 0, i)
    tl.atomic_min(numbers + 2 + i * 0, i)
    tl.atomic_or(numbers + 3 + i * 0, i)
    tl.atomic_xor(numbers + 4 + i * 0, i)
    tl.atomic_and(numbers + 5 + i * 0, ~i)
    tl.atomic_cas(numbers + 6, 0, 7)
    tl.atomic_xchg(numbers + 7, 9)
    tl.atomic_add(floats + i * 0, 0.5)


@triton.jit
def mixed_kernel(x, doubles, bits, steps, BLOCK: tl.constexpr):
    """Doubles, inline assembly, a loop that ends by its data, a print."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(doubles + i, tl.sqrt(v.to(tl.float64)) / 3)
    tl.store(bits + i, tl.inline_asm_elementwise("brev.b32 $0, $1;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1))
    count = 0
    value = tl.load(x)
    while value < 100:
        value = value * 1.5 + 0.25
        count += 1
    tl.store(steps, count)
    tl.device_print("steps", count)


@triton.jit
def locks_kernel(x, total, lock, count, BLOCK: tl.constexpr):
    """Partial sums behind a lock, the first without what was there: as in the gradients of Triton's layer norm."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        v += tl.load(total + i)
    tl.store(total + i, v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def zeros(size, kind="float32"):
    return Array(numpy.zeros(size, kind))


def reductions():
    x, out = RANDOM.standard_normal(BLOCK).astype("float32"), zeros(7)
    reductions_kernel[(1,)](Array(x), out, BLOCK=BLOCK)
    want = [x.sum(), x.max(), x.min(), x.argmax(), x.max(), x.argmax(), numpy.bitwise_xor.reduce((x * numpy.float32(1000)).astype("int32"))]
    for name, got, value in zip(("sum", "max", "min", "argmax", "pairs, value", "pairs, index", "xor"), out.numpy(), want):
        close(name, got, value, 1e-5)


def scans():
    x, decay, out = RANDOM.standard_normal(BLOCK).astype("float32"), RANDOM.uniform(0.9, 1.1, BLOCK).astype("float32"), [zeros(BLOCK) for _ in range(4)]
    scans_kernel[(1,)](Array(x), Array(decay), *out, BLOCK=BLOCK)
    state, states = 0.0, []
    for a, v in zip(decay.astype("float64"), x):
        state = a * state + v
        states.append(state)
    for name, got, want in zip(("cumsum", "cumprod", "associative_scan", "reverse"), out,
                               (x.cumsum(), decay.cumprod(), states, x[::-1].cumsum()[::-1])):
        close(name, got.numpy(), want, 1e-5)


def sorting():
    x, index = RANDOM.random(BLOCK).astype("float32"), RANDOM.integers(0, BLOCK, BLOCK).astype("int32")
    out = [zeros(BLOCK), zeros(8), zeros(16, "int32"), zeros(BLOCK)]
    sorting_kernel[(1,)](Array(x), *out, Array(index), BLOCK=BLOCK)
    counts = numpy.bincount((x * 16).astype("int32"), minlength=16)
    for name, got, want in zip(("sort", "topk", "histogram", "gather"), out, (numpy.sort(x), numpy.sort(x)[:-9:-1], counts, x[index])):
        close(name, got.numpy(), want, 0)


def atomics():
    numbers, floats = Array(numpy.array([0, 0, 1 << 20, 0, 0, -1, 0, 0], "int32")), zeros(1)
    atomics_kernel[(4,)](numbers, floats, BLOCK=BLOCK)
    i = numpy.arange(4 * BLOCK)
    want = [4 * BLOCK, i.max(), 0, numpy.bitwise_or.reduce(i), numpy.bitwise_xor.reduce(i), numpy.bitwise_and.reduce(~i), 7, 9]
    close("integers", numbers.numpy(), want, 0)
    close("floats", floats.numpy(), [2.0 * BLOCK], 0)


def mixed():
    x = RANDOM.random(BLOCK).astype("float32")
    doubles, bits, steps = zeros(BLOCK, "float64"), zeros(BLOCK, "int32"), zeros(1, "int32")
    mixed_kernel[(1,)](Array(x), doubles, bits, steps, BLOCK=BLOCK)
    close("double", doubles.numpy(), numpy.sqrt(x.astype("float64")) / 3, 1e-15)
    close("inline assembly", bits.numpy().view("uint32"), [int(f"{i:032b}"[::-1], 2) for i in range(BLOCK)], 0)
    value, count = float(x[0]), 0
    while value < 100:
        value, count = value * 1.5 + 0.25, count + 1
    close("loop", steps.numpy(), [count], 0)


def locks():
    x, total = RANDOM.integers(-9, 9, (6, BLOCK)).astype("float32"), zeros(BLOCK)
    locks_kernel[(6,)](Array(x), total, zeros(1, "int32"), zeros(1, "int32"), BLOCK=BLOCK)
    close("locks", total.numpy(), x.sum(0), 0)


if __name__ == "__main__":
    start()
    globals()[sys.argv[1]]()
    finish()
