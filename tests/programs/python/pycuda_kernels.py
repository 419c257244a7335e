"""PyCUDA: kernels from source, launches of both forms, arrays, element-wise, reduction and scan kernels, random numbers."""

import numpy
import pycuda.autoinit  # noqa: F401  makes the context
import pycuda.cumath
import pycuda.curandom
import pycuda.driver
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

SOURCE = """
__global__ void saxpy(float *y, const float *x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""


def launches():
    saxpy = SourceModule(SOURCE).get_function("saxpy")
    x, y = numpy.random.rand(1000).astype(numpy.float32), numpy.ones(1000, numpy.float32)
    out = y.copy()
    saxpy(pycuda.driver.InOut(out), pycuda.driver.In(x), numpy.float32(2), numpy.int32(1000), block=(128, 1, 1), grid=(8, 1))
    assert numpy.allclose(out, 1 + 2 * x)
    on_x, on_y = pycuda.driver.to_device(x), pycuda.driver.to_device(y)
    saxpy.prepare("PPfi")
    saxpy.prepared_call((8, 1), (128, 1, 1), on_y, on_x, 2.0, 1000)
    # The old form: what is set stays with the function.
    saxpy._set_block_shape(128, 1, 1)
    saxpy._set_shared_size(0)
    saxpy._param_setv(0, numpy.array([int(on_y), int(on_x)], numpy.uint64))
    saxpy._param_setf(16, 3.0)
    saxpy._param_seti(20, 1000)
    saxpy._param_set_size(24)
    saxpy._launch_grid(8, 1)
    stream = pycuda.driver.Stream()
    saxpy._launch_grid_async(8, 1, stream)
    stream.synchronize()
    assert numpy.allclose(pycuda.driver.from_device(on_y, (1000,), numpy.float32), 1 + 8 * x, atol=1e-5)


def arrays():
    host = numpy.random.rand(5000).astype(numpy.float32)
    x = gpuarray.to_gpu(host)
    assert numpy.allclose((2 * x + 1).get(), 2 * host + 1)
    assert numpy.allclose(pycuda.cumath.sin(x).get(), numpy.sin(host), atol=1e-6)
    assert numpy.allclose(gpuarray.sum(x).get(), host.sum(), rtol=1e-5)
    assert gpuarray.max(x).get() == host.max()
    assert numpy.array_equal(x.reverse().get(), host[::-1])
    assert numpy.array_equal(gpuarray.if_positive(x > 0.5, x, gpuarray.zeros_like(x)).get(), numpy.where(host > 0.5, host, 0))
    z = gpuarray.empty_like(x)
    ElementwiseKernel("float a, float *x, float *z", "z[i] = a * x[i] + i", "ramp")(5, x, z)
    assert numpy.allclose(z.get(), 5 * host + numpy.arange(5000))
    squares = ReductionKernel(numpy.float32, neutral="0", reduce_expr="a + b", map_expr="x[i] * x[i]", arguments="const float *x")
    assert numpy.allclose(squares(x).get(), host @ host, rtol=1e-5)


def scans():
    host = numpy.random.randint(0, 100, 100000).astype(numpy.int32)
    sums = numpy.cumsum(host)
    assert numpy.array_equal(InclusiveScanKernel(numpy.int32, "a + b")(gpuarray.to_gpu(host)).get(), sums)
    assert numpy.array_equal(ExclusiveScanKernel(numpy.int32, "a + b", neutral="0")(gpuarray.to_gpu(host)).get(), sums - host)


def random_numbers():
    assert abs(pycuda.curandom.rand((10000,)).get().mean() - 0.5) < 0.02
    normal = pycuda.curandom.XORWOWRandomNumberGenerator().gen_normal(20000, numpy.float32).get()
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05


numpy.random.seed(1)
launches()
arrays()
scans()
random_numbers()
print("right")
