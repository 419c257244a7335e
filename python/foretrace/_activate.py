"""foretrace.activate("h100"): every launch of this process is predicted, as under `foretrace run`."""

import ctypes
import json
import os
import pathlib
import sys
from collections.abc import Mapping

from foretrace import _program, _results

_VARIABLE = "FORETRACE_RUN"  # what `foretrace run` hands to its runtime library
_LIBRARIES = ("libcudart.so.13", "libcudart.so.12", "libcuda.so.1", "libnvidia-ml.so.1", "libcupti.so.13", "libcupti.so.12")
_TOO_LATE = ("torch", "triton", "cupy", "pycuda", "numba.cuda", "cuda.bindings", "jax")


class Session:
    """What activate() started. results() is what was predicted so far, as the runtime library last wrote it (about once per second)."""

    def __init__(self, arch: str, document: pathlib.Path, libraries: list[ctypes.CDLL]):
        self.arch, self.document, self._libraries = arch, document, libraries

    def results(self) -> _results.Results:
        if not self.document.is_file():
            raise _program.ForetraceError(f"{self.document}: nothing was predicted yet")
        return _results.read(self.document)


_session: Session | None = None


def _mapped() -> list[str]:
    """Files of CUDA that the process has loaded already."""
    names = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    return sorted(name for name in names if os.path.basename(name).startswith(("libcudart.so", "libcuda.so")))


def activate(arch: str, *, json: _results.PathLike | None = None, budget: int | None = None, accuracy: str = "auto", cold: bool = False, functional: bool = False,
             quiet: bool = True, set: Mapping[str, object] | None = None) -> Session:
    """Predicts every launch of this process from now on, on a chip that need not be there. To be called before torch, Triton or anything else of
    CUDA is imported; throws ForetraceError where that is too late. The options are those of `foretrace run` (docs/run.md); `json` is the result
    document (default: foretrace.json in the working directory)."""
    global _session
    if _session is not None:
        if _session.arch == arch:
            return _session
        raise _program.ForetraceError(f"activate({arch!r}): {_session.arch} is active already; a process has one chip")
    if os.environ.get(_VARIABLE):
        raise _program.ForetraceError("activate: the process runs under `foretrace run` already")
    late = [name for name in _TOO_LATE if name in sys.modules]
    if late:
        raise _program.ForetraceError(f"activate: {late[0]} is imported already and has its CUDA; expected foretrace.activate() before `import {late[0]}`")
    if _mapped():
        raise _program.ForetraceError(f"activate: {_mapped()[0]} is loaded already; expected foretrace.activate() before anything of CUDA")
    if functional and json:
        raise _program.ForetraceError("activate: json with functional=True: nothing is predicted; expected one of the two")
    document = pathlib.Path(json or "foretrace.json").absolute()
    _take_environment(arch, document, budget, accuracy, cold, functional, quiet, set or {})
    first = pathlib.Path(next(part for part in os.environ["LD_PRELOAD"].split() if part.endswith("libcudart.so.13")))
    files = [path for path in map(first.with_name, _LIBRARIES) if path.exists()]
    libraries = [ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL) for path in files]
    del os.environ["LD_PRELOAD"]  # this process has them; a child that is to be predicted is started by `foretrace run`
    _session = Session(arch, document, libraries)
    return _session


def _take_environment(arch: str, document: pathlib.Path, budget: int | None, accuracy: str, cold: bool, functional: bool, quiet: bool,
                      changes: Mapping[str, object]) -> None:
    """The environment that `foretrace run` gives a program: it is asked for by running one that prints its own."""
    words = ["run", "--arch", arch, *(["--accuracy", accuracy] if accuracy != "auto" else []), *(["--json", str(document)] if not functional else []), *(["--quiet"] if quiet else []),
             *(["--cold"] if cold else []), *(["--functional"] if functional else []), *(["--budget", str(budget)] if budget is not None else []),
             *(word for key, value in changes.items() for word in ("--set", f"{key}={value}"))]
    said = _program.run([*words, "--", sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"])
    environment = json.loads(said.strip().splitlines()[-1])
    settings = json.loads(environment[_VARIABLE])
    settings["process"] = os.getpid()
    settings["command"] = ["foretrace.activate", arch, *sys.argv]
    environment[_VARIABLE] = json.dumps(settings)
    for name in (_VARIABLE, "FORETRACE_CONFIGS", "LD_PRELOAD", "LD_LIBRARY_PATH", "TRITON_LIBCUDA_PATH"):
        if name in environment:
            os.environ[name] = environment[name]
