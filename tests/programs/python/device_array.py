"""Device arrays for Triton without PyTorch: the driver's functions by ctypes, numpy on the host."""

import ctypes

import numpy

CUDA = ctypes.CDLL("libcuda.so.1")
NAMES = {"float32": "fp32", "float16": "fp16", "float64": "fp64", "int8": "i8", "int32": "i32", "int64": "i64", "uint8": "u8"}


class Name(str):
    """A type as Triton names it; tensor descriptors ask for its size."""

    itemsize = 0


def check(code):
    if code != 0:
        text = ctypes.c_char_p()
        CUDA.cuGetErrorName(code, ctypes.byref(text))
        raise RuntimeError((text.value or b"?").decode())


class Array:
    """Memory on the device; `data_ptr` and `dtype` are what Triton's launcher asks for."""

    def __init__(self, host, dtype=None):
        """`dtype`: Triton's name where numpy has no such type, such as bf16 or fp8e5."""
        host = numpy.ascontiguousarray(host)
        self.shape, self.kind, self.bytes = host.shape, host.dtype, host.nbytes
        self.dtype = Name(dtype or NAMES[str(host.dtype)])
        self.dtype.itemsize = host.itemsize
        pointer = ctypes.c_uint64()
        check(CUDA.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(self.bytes)))
        self.pointer = pointer.value
        check(CUDA.cuMemcpyHtoD_v2(ctypes.c_uint64(self.pointer), host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.bytes)))

    def data_ptr(self):
        return self.pointer

    def numpy(self):
        host = numpy.empty(self.shape, self.kind)
        check(CUDA.cuCtxSynchronize())
        check(CUDA.cuMemcpyDtoH_v2(host.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(self.pointer), ctypes.c_size_t(self.bytes)))
        return host


def start():
    """The primary context, current in this thread."""
    context = ctypes.c_void_p()
    check(CUDA.cuInit(0))
    check(CUDA.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(CUDA.cuCtxSetCurrent(context))


def report(name, got, expected, tolerance=1e-5):
    worst = float(numpy.max(numpy.abs(got.astype("float64") - expected.astype("float64"))))
    print(f"{name}: {'right' if worst <= tolerance else 'WRONG'}, largest difference {worst:.3g}")
    raise SystemExit(0 if worst <= tolerance else 1)
