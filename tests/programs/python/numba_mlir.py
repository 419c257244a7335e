"""numba-cuda-mlir, Numba's CUDA target by MLIR: saxpy, a tiled product, a histogram by atomics, shuffles, functions of math, against numpy."""

import math

import numpy
from checks import close, finish
from numba_cuda_mlir import cuda
from numba_cuda_mlir.types import float32


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@cuda.jit
def product(a, b, c):
    left = cuda.shared.array((16, 16), float32)
    right = cuda.shared.array((16, 16), float32)
    row, column = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for part in range(a.shape[1] // 16):
        left[x, y] = a[row, y + part * 16]
        right[x, y] = b[x + part * 16, column]
        cuda.syncthreads()
        for k in range(16):
            total += left[x, k] * right[k, y]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def histogram(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i], 1)


@cuda.jit
def warp_sums(values, out):
    i = cuda.grid(1)
    total = values[i]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if cuda.laneid == 0:
        out[i // 32] = total


@cuda.jit
def functions(values, out):
    i = cuda.grid(1)
    if i < values.size:
        out[i] = math.sin(values[i]) * math.exp(values[i]) + math.log(values[i] + 1) + math.sqrt(values[i]) + math.erf(values[i])


numbers = numpy.random.default_rng(0)
x, y = (numbers.random(1000, dtype="float32") for _ in range(2))
out = cuda.device_array(1000, "float32")
saxpy[8, 128](2.0, cuda.to_device(x), cuda.to_device(y), out)
close("saxpy", out.copy_to_host(), 2 * x + y, 1e-6)
a, b = (numbers.random((64, 64), dtype="float32") for _ in range(2))
out = cuda.device_array((64, 64), "float32")
product[(4, 4), (16, 16)](cuda.to_device(a), cuda.to_device(b), out)
close("product", out.copy_to_host(), a @ b, 1e-5)
values = numbers.integers(0, 16, 5000, dtype="int32")
out = cuda.to_device(numpy.zeros(16, "int32"))
histogram[40, 128](cuda.to_device(values), out)
close("histogram", out.copy_to_host(), numpy.bincount(values, minlength=16), 0)
out = cuda.device_array(8, "float32")
warp_sums[2, 128](cuda.to_device(x[:256]), out)
close("warp_sums", out.copy_to_host(), x[:256].reshape(8, 32).sum(1), 1e-5)
out = cuda.device_array(1000, "float32")
functions[8, 128](cuda.to_device(x), out)
close("functions", out.copy_to_host(), numpy.sin(x) * numpy.exp(x) + numpy.log(x + 1) + numpy.sqrt(x) + numpy.vectorize(math.erf)(x), 1e-5)
finish()
