"""cuda.core: a program compiled by NVRTC, launched on a stream of its own."""

import ctypes

import numpy
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = """extern "C" __global__ void saxpy(float a, const float* x, float* y, size_t n) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}"""

device = Device()
device.set_current()
stream = device.create_stream()
architecture = "".join(str(i) for i in device.compute_capability)
kernel = Program(CODE, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{architecture}")).compile("cubin").get_kernel("saxpy")
n = 1000
x, y = device.allocate(4 * n, stream=stream), device.allocate(4 * n, stream=stream)
hx, hy = numpy.arange(n, dtype=numpy.float32), numpy.ones(n, dtype=numpy.float32)
cuda = ctypes.CDLL("libcuda.so.1")
for there, host in ((x, hx), (y, hy)):
    assert cuda.cuMemcpyHtoD_v2(ctypes.c_uint64(int(there.handle)), host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(4 * n)) == 0
launch(stream, LaunchConfig(grid=8, block=128), kernel, numpy.float32(2), x, y, numpy.uint64(n))
stream.sync()
out = numpy.zeros(n, numpy.float32)
assert cuda.cuMemcpyDtoH_v2(out.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(int(y.handle)), ctypes.c_size_t(4 * n)) == 0
right = numpy.allclose(out, 2 * hx + 1)
print("cuda.core:", device.name, "right" if right else "WRONG")
raise SystemExit(0 if right else 1)
