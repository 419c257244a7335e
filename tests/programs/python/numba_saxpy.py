"""numba-cuda: a kernel with arrays, a reduction in shared memory, an atomic."""

import numpy
from numba import cuda, float32


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def total(x, out):
    room = cuda.shared.array(128, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    room[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            room[t] += room[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, room[0])


x = numpy.arange(1000, dtype=numpy.float32)
y = numpy.ones(1000, dtype=numpy.float32)
device_y = cuda.to_device(y)
saxpy[8, 128](numpy.float32(2), x, device_y)
out = cuda.to_device(numpy.zeros(1, numpy.float32))
total[8, 128](x, out)
right = numpy.allclose(device_y.copy_to_host(), 2 * x + 1) and out.copy_to_host()[0] == x.sum()
print("numba-cuda:", "right" if right else "WRONG")
raise SystemExit(0 if right else 1)
