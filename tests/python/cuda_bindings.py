"""foretrace_cuda without cuda-bindings or CuTe DSL from PyPI: cuda_bindings.py FORETRACE REPOSITORY FOLDER.

Packages of the same names are made up in FOLDER: their functions fail as those with NVIDIA's runtime inside do, and a static library asks libcudart for
the device. A program under `foretrace run -- python -m foretrace_cuda` then has to find Foretrace's functions in their places.
"""

import os
import pathlib
import shutil
import subprocess
import sys

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])

BINDINGS = '''
import enum


class cudaError_t(enum.IntEnum):
    cudaSuccess = 0
    cudaErrorInvalidValue = 1
    cudaErrorInvalidDevice = 101
    cudaErrorSymbolNotFound = 500


class Handle:
    def __init__(self, value=0):
        self.value = value

    def __int__(self):
        return self.value


cudaStream_t = cudaEvent_t = cudaGraph_t = cudaGraphExec_t = cudaGraphNode_t = cudaLibrary_t = cudaKernel_t = Handle
cudaStreamCaptureStatus = int


def cudaGetDeviceCount():
    return cudaError_t.cudaErrorSymbolNotFound, None


def cudaNobodyKnows():
    return (cudaError_t.cudaErrorSymbolNotFound,)


def cudaGetErrorName(error):
    return cudaError_t.cudaSuccess, error.name.encode()
'''

PROGRAM = '''
import ctypes
import os
import sys

import cuda.bindings.runtime as runtime

SUCCESS = runtime.cudaError_t.cudaSuccess


def ask(name, *arguments):
    error, *results = getattr(runtime, name)(*arguments)
    assert error == SUCCESS, (name, error)
    return results[0] if len(results) == 1 else tuple(results)


assert sys.argv[1:] == ["word"], sys.argv
assert ask("cudaGetDeviceCount") == 1
assert ask("cudaDeviceGetAttribute", 75, 0) == 9, "compute capability"
assert len(ask("cudaDeviceGetPCIBusId", 32, 0).split(bytes(1))[0].split(b":")) == 3  # Kernel Tuner asks for it
free, total = ask("cudaMemGetInfo")
assert 0 < free <= total

given, got = bytes(range(256)), bytearray(256)
place = ask("cudaMalloc", 256)
ask("cudaMemcpy", place, given, 256, 1)
stream = ask("cudaStreamCreate")
ask("cudaMemsetAsync", place + 16, 7, 16, stream)
ask("cudaMemcpyAsync", got, place, 256, 2, stream)
ask("cudaStreamSynchronize", stream)
assert bytes(got) == given[:16] + bytes([7] * 16) + given[32:]

first, second = ask("cudaEventCreate"), ask("cudaEventCreateWithFlags", 0)
ask("cudaEventRecord", first, stream)
ask("cudaEventRecord", second, stream)
ask("cudaEventSynchronize", second)
assert ask("cudaEventElapsedTime", first, second) >= 0
ask("cudaStreamWaitEvent", stream, first)  # the flags may be left out

ask("cudaStreamBeginCapture", stream, 1)
ask("cudaMemsetAsync", place, 9, 256, stream)
graph = ask("cudaStreamEndCapture", stream)
nodes, count = ask("cudaGraphGetNodes", graph)
assert (nodes, count) == ([], 1)
nodes, count = ask("cudaGraphGetNodes", graph, count)
assert len(nodes) == count == 1 and int(nodes[0]) != 0
ask("cudaGraphLaunch", ask("cudaGraphInstantiate", graph, 0), stream)
ask("cudaDeviceSynchronize")
ask("cudaMemcpy", got, place, 256, 2)
assert bytes(got) == bytes([9] * 256)
ask("cudaMemset", place, 8, 256)
flagged = ask("cudaGraphInstantiateWithFlags", graph, 0)
ask("cudaGraphUpload", flagged, stream)
ask("cudaGraphLaunch", flagged, stream)
ask("cudaDeviceSynchronize")
ask("cudaMemcpy", got, place, 256, 2)
assert bytes(got) == bytes([9] * 256)
ask("cudaFree", place)
rows, pitch = ask("cudaMallocPitch", 24, 4)
assert pitch >= 24
ask("cudaMemset2D", rows, pitch, 5, 24, 4)
ask("cudaMemcpy2D", rows + pitch, pitch, given, 24, 24, 2, 1)
second_copy = ask("cudaMalloc", 256)
ask("cudaMemcpyPeer", second_copy, 0, rows + pitch, 0, 24)
ask("cudaMemcpyPeerAsync", second_copy + 24, 0, rows, 0, 24, stream)
ask("cudaStreamSynchronize", stream)
ask("cudaMemcpy", got, second_copy, 48, 2)
assert bytes(got[:48]) == given[:24] + bytes([5] * 24)
mapped = ask("cudaHostAlloc", 64, 2)
ctypes.memset(mapped, 3, 64)
ask("cudaMemcpy", second_copy, ask("cudaHostGetDevicePointer", mapped, 0), 64, 3)
ask("cudaMemcpy", got, second_copy, 64, 2)
assert bytes(got[:64]) == bytes([3] * 64)
least, greatest = ask("cudaDeviceGetStreamPriorityRange")
assert greatest < least == ask("cudaStreamGetPriority", stream) == ask("cudaStreamGetFlags", stream) == 0
ask("cudaDeviceSetLimit", 2, 1 << 24)
assert ask("cudaDeviceGetLimit", 2) == 1 << 24
assert ask("cudaMalloc", 0) == ask("cudaMallocHost", 0) == 0  # no memory is address 0, not None

assert runtime.cudaSetDevice(5) == (runtime.cudaError_t.cudaErrorInvalidDevice,)
assert ask("cudaGetDevice") == 0
for _ in range(2):
    assert runtime.cudaNobodyKnows() == (runtime.cudaError_t.cudaErrorSymbolNotFound,)
assert ask("cudaGetErrorName", runtime.cudaError_t.cudaErrorInvalidValue) == b"cudaErrorInvalidValue"
try:
    runtime.cudaMalloc()
    assert False, "cudaMalloc without a size"
except TypeError as error:
    assert str(error) == "cudaMalloc takes 1 arguments, 0 were given", error

library = ctypes.CDLL(os.environ["CUTE_DSL_LIBS"])
assert library._cudaGetDeviceCount() == 1
told = []
raising = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int)(
    lambda kind, parts, count: told.append((kind, *parts[:count])))
library.CuteDSLRT_TVMFFISetRaisedCudaError(raising, 1)
assert told == [(b"RuntimeError", b"CUDA error: ", b"invalid argument")], told
print("as expected")
'''

STATIC = """extern int cudaGetDeviceCount(int*), cuInit(unsigned);
int _cudaGetDeviceCount(void) { int n = -1; return cudaGetDeviceCount(&n) || cuInit(0) ? -1 : n; }"""


def make():
    shutil.rmtree(FOLDER, ignore_errors=True)
    bindings, dsl = FOLDER / "cuda" / "bindings", FOLDER / "nvidia_cutlass_dsl" / "cu13" / "lib"
    bindings.mkdir(parents=True)
    dsl.mkdir(parents=True)
    (bindings.parent / "__init__.py").touch()
    (bindings / "__init__.py").write_text('__version__ = "13.0.0"\n')
    (bindings / "runtime.py").write_text(BINDINGS)
    (FOLDER / "program.py").write_text(PROGRAM)
    (FOLDER / "static.c").write_text(STATIC)
    subprocess.run(["cc", "-c", "-fPIC", "static.c", "-o", "static.o"], cwd=FOLDER, check=True)
    subprocess.run(["ar", "rcs", dsl / "libcuda_dialect_runtime_static.a", "static.o"], cwd=FOLDER, check=True)


def run(*words):
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY / 'python'}:{FOLDER}", "XDG_CACHE_HOME": str(FOLDER / "cache"),
                   "FORETRACE_CONFIGS": str(REPOSITORY / "configs"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("CUTE_DSL_LIBS", None)
    return subprocess.run([FORETRACE, "run", "--arch", "h100", "--functional", "--quiet", "--", sys.executable, *words], env=environment,
                          capture_output=True, text=True)


def main():
    make()
    for attempt in ("links", "finds what was linked"):
        ran = run("-m", "foretrace_cuda", str(FOLDER / "program.py"), "word")
        assert ran.returncode == 0 and "as expected" in ran.stdout, (attempt, ran.stdout, ran.stderr)
        lines = [line for line in ran.stderr.splitlines() if "of cuda.bindings.runtime" in line]
        assert len(lines) == 1 and lines[0].startswith("foretrace_cuda: cudaNobodyKnows of "), ran.stderr
    assert len(list((FOLDER / "cache/foretrace/python").iterdir())) == 1
    place = FOLDER / "nvidia_cutlass_dsl"
    (place / "cu13/lib").rename(place / "lib")
    shutil.rmtree(FOLDER / "cache")
    ran = run("-m", "foretrace_cuda", str(FOLDER / "program.py"), "word")
    assert ran.returncode == 0 and "as expected" in ran.stdout, ("a wheel of one CUDA version", ran.stdout, ran.stderr)
    ran = run("-m", "foretrace_cuda")
    assert ran.returncode == 2 and ran.stderr.startswith("expected: python -m foretrace_cuda"), ran.stderr
    (place / "lib/libcuda_dialect_runtime_static.a").write_text("no library")
    ran = run("-m", "foretrace_cuda", str(FOLDER / "program.py"), "word")
    assert ran.returncode != 0 and "foretrace_cuda: cannot link libcuda_dialect_runtime_static.a" in ran.stderr, ran.stderr


main()
