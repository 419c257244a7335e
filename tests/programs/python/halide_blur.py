"""Halide: a blur of two stages, scheduled for a GPU by gpu_tile, against numpy."""

import halide as hl
import numpy
from checks import close, finish

image = numpy.random.default_rng(0).random((130, 258)).astype("float32")
source = hl.Buffer(image)
x, y, xi, yi = hl.Var("x"), hl.Var("y"), hl.Var("xi"), hl.Var("yi")
across, blur = hl.Func("across"), hl.Func("blur")
across[x, y] = (source[x, y] + source[x + 1, y] + source[x + 2, y]) / 3.0
blur[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) / 3.0
blur.gpu_tile(x, y, xi, yi, 32, 8)
across.compute_at(blur, x).gpu_threads(x, y)

target = hl.Target("host-cuda-cuda_capability_61")
out = blur.realize([256, 128], target)
out.copy_to_host()
rows = image[:, :-2] + image[:, 1:-1] + image[:, 2:]
close("blur", numpy.array(out), (rows[:-2] + rows[1:-1] + rows[2:]) / 9, 1e-6)
finish()
