"""CuTe DSL's runtime library, linked against Foretrace's libcudart and libcuda.

The wheel brings libcute_dsl_runtime.so with NVIDIA's CUDA runtime inside, and the same functions as a static library without it, for programs that
are compiled ahead of time. CUTE_DSL_LIBS names the library that compiled code is bound to.
"""

import hashlib
import importlib.util
import os
import pathlib
import subprocess
import tempfile

NAME = "libcute_dsl_runtime.so"
STATIC = "libcuda_dialect_runtime_static.a"

# What code compiled for TVM's interface calls when a call of the runtime fails: it passes TVMFFIErrorSetRaisedFromCStrParts and the error.
RAISING = r"""
typedef void (*SetRaised)(const char* kind, const char** parts, int count);
extern const char* cudaGetErrorString(int);
void CuteDSLRT_TVMFFISetRaisedCudaError(SetRaised raise, int code) {
  const char* parts[] = {"CUDA error: ", cudaGetErrorString(code)};
  raise("RuntimeError", parts, 2);
}
void CuteDSLRT_TVMFFISetRaisedCudaLaunchError(SetRaised raise) {
  const char* parts[] = {"CUDA error: the launch is larger than the device allows"};
  raise("RuntimeError", parts, 1);
}
"""


def _wheel(major):
    """The static library of the wheel for this CUDA version, None where there is none. Wheels before 4.6 have one, for every version."""
    found = importlib.util.find_spec("nvidia_cutlass_dsl")
    for place in (found.submodule_search_locations or []) if found else []:
        for folder in (f"cu{major}/lib", "lib"):
            library = pathlib.Path(place) / folder / STATIC
            if library.is_file():
                return library
    return None


def _cache():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "foretrace" / "python"


def link(static, cudart, cuda):
    """The path of the linked library; made once for these libraries. Raises RuntimeError with the linker's message."""
    key = hashlib.sha256(static.read_bytes() + f"{cudart} {cuda}".encode() + RAISING.encode()).hexdigest()[:16]
    library = _cache() / f"{key}-{NAME}"
    if library.is_file():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        source, made = pathlib.Path(scratch) / "raising.c", pathlib.Path(scratch) / NAME
        source.write_text(RAISING)
        command = ["cc", "-shared", "-fPIC", "-O1", f"-Wl,-soname,{NAME}", str(source), "-Wl,--whole-archive", str(static),
                   "-Wl,--no-whole-archive", str(cudart), str(cuda), "-o", str(made)]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(f"foretrace_cuda: cannot link {static.name}: {ran.stderr.strip()}")
        os.replace(made, library)
    return library


def enable():
    """Sets CUTE_DSL_LIBS where CuTe DSL is installed and the program has not set it."""
    from foretrace_cuda import runtime

    if "CUTE_DSL_LIBS" in os.environ:
        return
    cuda = runtime.library_path("libcuda.so.1")
    for major in ("13", "12"):
        static, cudart = _wheel(major), runtime.library_path(f"libcudart.so.{major}")
        if static and cudart and cuda:
            os.environ["CUTE_DSL_LIBS"] = str(link(static, cudart, cuda))
            return
