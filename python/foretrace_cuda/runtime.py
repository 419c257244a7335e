"""Functions of cuda.bindings.runtime that call Foretrace's libcudart.

Each is called and answers as cuda.bindings' does: a tuple of the error and the results, handles as its classes. SIGNATURES has the C parameters in
their order; those with a star are results.
"""

import ctypes
import functools
import importlib.util
import sys

SIGNATURES = {
    "cudaDeviceCanAccessPeer": "*int int int",
    "cudaDeviceDisablePeerAccess": "int",
    "cudaDeviceEnablePeerAccess": "int unsigned",
    "cudaDeviceGetAttribute": "*int enum int",
    "cudaDeviceGetLimit": "*size enum",
    "cudaDeviceGetStreamPriorityRange": "*int *int",
    "cudaDeviceReset": "",
    "cudaDeviceSetLimit": "enum size",
    "cudaDeviceSynchronize": "",
    "cudaDriverGetVersion": "*int",
    "cudaEventCreate": "*cudaEvent_t",
    "cudaEventCreateWithFlags": "*cudaEvent_t unsigned",
    "cudaEventDestroy": "pointer",
    "cudaEventElapsedTime": "*float pointer pointer",
    "cudaEventQuery": "pointer",
    "cudaEventRecord": "pointer pointer",
    "cudaEventRecordWithFlags": "pointer pointer unsigned",
    "cudaEventSynchronize": "pointer",
    "cudaFree": "pointer",
    "cudaFreeAsync": "pointer pointer",
    "cudaFreeHost": "pointer",
    "cudaGetDevice": "*int",
    "cudaGetDeviceCount": "*int",
    "cudaGetDeviceFlags": "*unsigned",
    "cudaGetLastError": "",
    "cudaGraphDestroy": "pointer",
    "cudaGraphExecDestroy": "pointer",
    "cudaGraphInstantiate": "*cudaGraphExec_t pointer size",
    "cudaGraphInstantiateWithFlags": "*cudaGraphExec_t pointer size",
    "cudaGraphLaunch": "pointer pointer",
    "cudaGraphUpload": "pointer pointer",
    "cudaHostAlloc": "*pointer size unsigned",
    "cudaHostGetDevicePointer": "*pointer pointer unsigned",
    "cudaHostRegister": "pointer size unsigned",
    "cudaHostUnregister": "pointer",
    "cudaKernelSetAttributeForDevice": "pointer enum int int",
    "cudaLibraryGetKernel": "*cudaKernel_t pointer text",
    "cudaLibraryGetKernelCount": "*unsigned pointer",
    "cudaLibraryUnload": "pointer",
    "cudaMalloc": "*pointer size",
    "cudaMallocAsync": "*pointer size pointer",
    "cudaMallocHost": "*pointer size",
    "cudaMallocManaged": "*pointer size unsigned",
    "cudaMallocPitch": "*pointer *size size size",
    "cudaMemGetInfo": "*size *size",
    "cudaMemcpy": "pointer pointer size enum",
    "cudaMemcpy2D": "pointer size pointer size size size enum",
    "cudaMemcpy2DAsync": "pointer size pointer size size size enum pointer",
    "cudaMemcpyAsync": "pointer pointer size enum pointer",
    "cudaMemcpyPeer": "pointer int pointer int size",
    "cudaMemcpyPeerAsync": "pointer int pointer int size pointer",
    "cudaMemset": "pointer int size",
    "cudaMemset2D": "pointer size int size size",
    "cudaMemset2DAsync": "pointer size int size size pointer",
    "cudaMemsetAsync": "pointer int size pointer",
    "cudaPeekAtLastError": "",
    "cudaProfilerStart": "",
    "cudaProfilerStop": "",
    "cudaRuntimeGetVersion": "*int",
    "cudaSetDevice": "int",
    "cudaSetDeviceFlags": "unsigned",
    "cudaStreamBeginCapture": "pointer enum",
    "cudaStreamCreate": "*cudaStream_t",
    "cudaStreamCreateWithFlags": "*cudaStream_t unsigned",
    "cudaStreamCreateWithPriority": "*cudaStream_t unsigned int",
    "cudaStreamDestroy": "pointer",
    "cudaStreamEndCapture": "pointer *cudaGraph_t",
    "cudaStreamGetFlags": "pointer *unsigned",
    "cudaStreamGetPriority": "pointer *int",
    "cudaStreamIsCapturing": "pointer *cudaStreamCaptureStatus",
    "cudaStreamQuery": "pointer",
    "cudaStreamSynchronize": "pointer",
    "cudaStreamWaitEvent": "pointer pointer unsigned",
}
KINDS = {"int": ctypes.c_int, "enum": ctypes.c_int, "unsigned": ctypes.c_uint, "size": ctypes.c_size_t,
         "pointer": ctypes.c_void_p, "text": ctypes.c_char_p, "float": ctypes.c_float}
# Trailing arguments that cuda.bindings lets a caller leave out.
DEFAULTS = {"cudaMallocManaged": (1,), "cudaStreamWaitEvent": (0,), "cudaGraphInstantiate": (0,)}


def library_path(name):
    """Where the dynamic linker finds this library, as libcudart.so.13; None where it finds none. Loads it."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return None
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if line.rstrip().endswith(f"/{name}"):
                return line.split(maxsplit=5)[5].rstrip()
    return None


def address(value):
    """Of a handle, a number, or what has the buffer protocol, as cuda.bindings takes them."""
    if value is None:
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        pass
    if isinstance(value, bytes):
        return ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p).value
    if hasattr(value, "ctypes"):  # numpy's arrays, those that cannot be written too
        return value.ctypes.data
    return ctypes.addressof(ctypes.c_char.from_buffer(value))


def wrapped(runtime, library, name, signature):
    """The Python function for a C function of libcudart."""
    function = getattr(library, name)
    function.restype = ctypes.c_int
    kinds = signature.split()
    wanted = sum(not kind.startswith("*") for kind in kinds)

    def call(*arguments):
        if len(arguments) < wanted:
            missing = wanted - len(arguments)
            arguments += DEFAULTS.get(name, ())[-missing:]
        if len(arguments) != wanted:
            raise TypeError(f"{name} takes {wanted} arguments, {len(arguments)} were given")
        given, passed, results = iter(arguments), [], []
        for kind in kinds:
            if kind.startswith("*"):
                made = KINDS.get(kind[1:], ctypes.c_int if kind.endswith("Status") else ctypes.c_void_p)()
                results.append((kind[1:], made))
                passed.append(ctypes.byref(made))
            elif kind == "pointer":
                passed.append(ctypes.c_void_p(address(next(given))))
            elif kind == "text":
                passed.append(ctypes.c_char_p(next(given)))
            else:
                passed.append(KINDS[kind](int(next(given))))
        error = runtime.cudaError_t(function(*passed))
        if error != runtime.cudaError_t.cudaSuccess:
            return (error, *(None for _ in results))
        # ctypes has None for a null pointer, cuda-bindings 0.
        values = [0 if made.value is None else made.value for _, made in results]
        return (error, *(value if kind in KINDS else getattr(runtime, kind)(value) for value, (kind, _) in zip(values, results)))

    call.__name__ = call.__qualname__ = name
    return call


def special(runtime, library):
    """Functions with lists or structures among their parameters."""
    error = runtime.cudaError_t

    def cudaGetDeviceProperties(device):
        properties = runtime.cudaDeviceProp()
        return error(library.cudaGetDeviceProperties(ctypes.c_void_p(properties.getPtr()), int(device))), properties

    def cudaDeviceGetPCIBusId(len, device):  # noqa: A002: cuda.bindings calls it so
        text = ctypes.create_string_buffer(int(len))
        return error(library.cudaDeviceGetPCIBusId(text, int(len), int(device))), text.raw

    def cudaGraphGetNodes(graph, numNodes=0):
        count = ctypes.c_size_t(int(numNodes))
        nodes = (ctypes.c_void_p * count.value)() if count.value else None
        failed = error(library.cudaGraphGetNodes(ctypes.c_void_p(address(graph)), nodes, ctypes.byref(count)))
        return failed, [runtime.cudaGraphNode_t(node or 0) for node in nodes or []], count.value

    def cudaLibraryLoadData(code, *options):
        """Options are those of the just-in-time compiler and of the library; Foretrace has no use for them."""
        handle = ctypes.c_void_p()
        failed = error(library.cudaLibraryLoadData(ctypes.byref(handle), ctypes.c_void_p(address(code)), None, None, 0, None, None, 0))
        return failed, runtime.cudaLibrary_t(handle.value or 0)

    return {each.__name__: each for each in (cudaGetDeviceProperties, cudaDeviceGetPCIBusId, cudaGraphGetNodes, cudaLibraryLoadData)}


def named(runtime, name, function):
    """A function of NVIDIA's runtime that has no place in libcudart here: says its name, once, where it fails. A run that is quiet says it too: the
    error that the caller sees, a symbol that was not found, names nothing."""
    told = []

    @functools.wraps(function)
    def call(*arguments, **words):
        answer = function(*arguments, **words)
        if isinstance(answer, tuple) and answer and answer[0] != runtime.cudaError_t.cudaSuccess and not told:
            told.append(name)
            print(f"foretrace_cuda: {name} of cuda.bindings.runtime is none of the functions that call Foretrace's libcudart, and failed", file=sys.stderr)
        return answer

    return call


def enable():
    """Gives cuda.bindings.runtime's functions to libcudart. Without cuda.bindings or libcudart nothing happens."""
    try:
        if importlib.util.find_spec("cuda.bindings") is None:
            return
    except ModuleNotFoundError:
        return
    import cuda.bindings
    import cuda.bindings.runtime as runtime

    major = cuda.bindings.__version__.split(".")[0]
    if library_path(f"libcudart.so.{major}") is None:
        return
    library = ctypes.CDLL(f"libcudart.so.{major}")
    functions = {name: wrapped(runtime, library, name, signature) for name, signature in SIGNATURES.items()}
    given = functions | special(runtime, library)
    others = [name for name, value in vars(runtime).items() if name.startswith("cuda") and callable(value) and not isinstance(value, type)]
    for name in set(others) - set(given):
        setattr(runtime, name, named(runtime, name, getattr(runtime, name)))
    for name, function in given.items():
        setattr(runtime, name, function)
