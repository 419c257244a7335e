"""Taichi: fields, reductions, atomics, a stencil, sparse rows of an external array, random numbers, a struct and matrices."""
import numpy as np
import taichi as ti

ti.init(arch=ti.cuda, log_level=ti.ERROR, random_seed=7)
assert ti.lang.impl.current_cfg().arch == ti.cuda
N = 128
grid = ti.field(ti.f32, (N, N))
other = ti.field(ti.f32, (N, N))
total = ti.field(ti.f64, ())
points = ti.Vector.field(3, ti.f32, 256)


@ti.kernel
def fill():
    for i, j in grid:
        grid[i, j] = ti.sin(i * 0.1) * ti.cos(j * 0.2)


@ti.kernel
def blur():
    for i, j in grid:
        s = 0.0
        for a, b in ti.static(ti.ndrange((-1, 2), (-1, 2))):
            s += grid[(i + a) % N, (j + b) % N]
        other[i, j] = s / 9


@ti.kernel
def add_up() -> ti.f32:
    s = 0.0
    for i, j in other:
        s += other[i, j]
        total[None] += ti.cast(grid[i, j], ti.f64) ** 2
    return s


@ti.kernel
def scale(a: ti.types.ndarray(dtype=ti.i32, ndim=1), f: ti.i32):
    for i in a:
        a[i] = a[i] * f


@ti.kernel
def spin():
    for i in points:
        m = ti.Matrix([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        points[i] = m @ ti.Vector([ti.cast(i, ti.f32), 1.0, ti.random()])


fill()
blur()
s = add_up()
i, j = np.mgrid[0:N, 0:N].astype(np.float32)
expected = np.sin(i * np.float32(0.1)) * np.cos(j * np.float32(0.2))
assert np.abs(grid.to_numpy() - expected).max() < 1e-5
mean = sum(np.roll(expected, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) / 9
assert np.abs(other.to_numpy() - mean).max() < 1e-5
assert abs(total[None] - (expected.astype(np.float64) ** 2).sum()) < 1e-2
assert abs(s - mean.sum()) < 1e-2
numbers = np.arange(1000, dtype=np.int32)
scale(numbers, 3)
assert (numbers == 3 * np.arange(1000)).all()
spin()
p = points.to_numpy()
assert (p[:, 0] == 1).all() and (p[:, 1] == -np.arange(256)).all() and 0.3 < p[:, 2].mean() < 0.7
print("ok")
