"""A CUDA source with its options, and the traces of its launches."""

import pathlib
from collections.abc import Sequence
from typing import Any

from foretrace import _launch, _program, _results


class Trace:
    """A recorded launch. It can be simulated on every chip of its machine code, as often as wanted."""

    def __init__(self, path: _results.PathLike, recorded: _results.Prediction | None = None):
        self.path = pathlib.Path(path)
        self.recorded = recorded  #: the prediction of the chip that it was recorded for; None: opened from a file
        if not self.path.is_file():
            raise _program.ForetraceError(f"{self.path}: no such trace")

    def simulate(self, arch: _launch.Arch, *, set: _launch.Changes | None = None, clock: str | None = None, gains: bool = False) -> _results.Results:
        """As foretrace.simulate."""
        return _launch.simulate(self.path, arch, set=set, clock=clock, gains=gains)

    def __repr__(self) -> str:
        return f"<trace {self.path}>"


class Program:
    """A CUDA source (or a cubin) with the options of its compilation: Program("k.cu", defines=["TILE=16"])."""

    def __init__(self, source: _results.PathLike, *, defines: Sequence[str] = (), nvcc: str = ""):
        self.source, self.defines, self.nvcc = pathlib.Path(source), list(defines), nvcc
        if not self.source.is_file():
            raise _program.ForetraceError(f"{self.source}: no such source")

    def predict(self, kernel: str, **options: Any) -> _results.Results:
        """As foretrace.predict: grid=, block=, args=, arch= and the others."""
        return _launch.predict(self.source, kernel, defines=self.defines, nvcc=self.nvcc, **options)

    def trace(self, kernel: str, path: _results.PathLike, **options: Any) -> Trace:
        """Executes the launch and records it in a file; one chip in arch=, whose machine code the trace then holds."""
        return Trace(path, self.predict(kernel, trace=path, accuracy="exact", **options)[0])

    def disassemble(self, kernel: str, arch: str) -> str:
        """The kernel's machine code with control bits and pipes, as `foretrace disassemble` prints it."""
        words = ["disassemble", str(self.source), "--kernel", kernel, "--arch", arch]
        words += [word for define in self.defines for word in ("--define", define)]
        return _program.run(words + (["--nvcc", self.nvcc] if self.nvcc else []))

    def __repr__(self) -> str:
        return f"<program {' '.join([str(self.source), *self.defines])}>"
