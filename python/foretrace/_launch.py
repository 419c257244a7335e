"""Launches: arguments as launch-file forms (docs/launch_files.md), and the calls that predict them."""

import dataclasses
import json
import pathlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from foretrace import _program, _results

Extent = int | Sequence[int]
Changes = Mapping[str, object]
# Element types of buffers (the buffer protocol's letters) and of NumPy's scalars, as launch files name them.
_FORMATS = {"b": "i8", "B": "u8", "?": "u8", "h": "i16", "H": "u16", "i": "i32", "I": "u32", "l": "i64", "L": "u64", "q": "i64", "Q": "u64",
            "e": "f16", "f": "f32", "d": "f64"}
_SCALARS = {"bool": "u8", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64",
            "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64"}
# Groups of a chip's keys whose own name holds an underscore.
_LONG_GROUPS = ("register_file", "gpc_cache")


@dataclasses.dataclass(frozen=True)
class Chip:
    """A chip with some of its values changed: a what-if."""

    name: str
    changes: tuple[tuple[str, object], ...] = ()

    def with_(self, values: "Changes | None" = None, /, **named: object) -> "Chip":
        """chip("h100").with_(sm_count=144), or with_({"sm.count": 144}) for the keys as `foretrace arch NAME` lists them."""
        changes = dict(self.changes)
        changes.update(values or {})
        changes.update((_key(name), value) for name, value in named.items())
        return Chip(self.name, tuple(changes.items()))

    def options(self) -> list[str]:
        return ["--arch", self.name, *(word for key, value in self.changes for word in ("--set", f"{key}={value}"))]


Arch = str | Chip | Sequence[str | Chip]


def chip(name: str) -> Chip:
    """A chip by its name or alias. Throws ForetraceError where there is none of that name."""
    _program.run(["arch", name])
    return Chip(name)


def _key(name: str) -> str:
    for group in _LONG_GROUPS:
        if name.startswith(group + "_"):
            return group + "." + name[len(group) + 1:]
    group, separator, rest = name.partition("_")
    if not separator:
        raise ValueError(f"{name}: expected GROUP_KEY, for instance sm_count for sm.count")
    return group + "." + rest


def _chips(arch: Arch) -> list[Chip]:
    several = [arch] if isinstance(arch, (str, Chip)) else list(arch)
    if not several:
        raise ValueError("no chip given; expected arch= with one or more")
    return [each if isinstance(each, Chip) else Chip(each) for each in several]


def _extent(value: Extent, name: str) -> list[int]:
    extent = [int(each) for each in value] if isinstance(value, (tuple, list)) else [int(value)]  # type: ignore[arg-type]  # NumPy's too
    if not 1 <= len(extent) <= 3:
        raise ValueError(f"{name}: expected one to three numbers, found {len(extent)}")
    return extent


class _Arguments:
    """The arguments of a call: their forms, and the arrays that get what the kernel wrote."""

    def __init__(self, args: Iterable[object], folder: pathlib.Path):
        self.folder = folder
        self.forms: list[str] = []
        self.dumps: list[str] = []
        self.written: list[tuple[memoryview, pathlib.Path]] = []
        for position, argument in enumerate(args):
            self.forms.append(self._form(argument, position))

    def _form(self, argument: Any, position: int) -> str:
        if argument is None:
            return "null"
        if isinstance(argument, str):
            return argument
        kind = getattr(getattr(argument, "dtype", None), "name", None)
        if kind is not None and getattr(argument, "shape", None) == ():
            if kind not in _SCALARS:
                raise TypeError(f"argument {position}: no scalar of type {kind}; expected one of {', '.join(_SCALARS)}")
            return f"val:{_SCALARS[kind]}:{argument.item()!r}" if kind != "bool" else f"val:u8:{int(argument)}"
        if isinstance(argument, bool):
            return f"val:u8:{int(argument)}"
        if isinstance(argument, int):
            return f"val:{'i32' if -2**31 <= argument < 2**31 else 'i64'}:{argument}"
        if isinstance(argument, float):
            return f"val:f32:{argument!r}"
        return self._buffer(argument, position)

    def _buffer(self, argument: Any, position: int) -> str:
        try:
            view = memoryview(argument)
        except TypeError:
            raise TypeError(f"argument {position}: a {type(argument).__name__}; expected an array, a number, None, or a form of "
                            "docs/launch_files.md as text") from None
        letter = view.format.lstrip("@=<")
        if letter not in _FORMATS:
            raise TypeError(f"argument {position}: an array of elements {view.format!r}; expected numbers of 1 to 8 bytes")
        if not view.c_contiguous or view.nbytes == 0:
            raise ValueError(f"argument {position}: expected a contiguous array that is not empty")
        name = f"argument{position}"
        (self.folder / f"{name}.bin").write_bytes(view.tobytes())
        if not view.readonly:
            self.dumps.append(f"{name}={self.folder / name}.out")
            self.written.append((view, self.folder / f"{name}.out"))
        return f"buf:{_FORMATS[letter]}:{view.nbytes // view.itemsize}:file={name}.bin:name={name}"

    def write_back(self) -> None:
        for view, file in self.written:
            view.cast("B")[:] = file.read_bytes()


def _toml(values: Mapping[str, object]) -> str:
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items() if value not in (None, [], ""))


def _predict(words: Sequence[str], folder: pathlib.Path) -> _results.Results:
    document = folder / "result.json"
    _program.run([*words, "--json", str(document)])
    return _results.read(document)


def _joined(parts: Sequence[_results.Results]) -> _results.Results:
    first, *others = parts
    for other in others:
        first = first + other
    return first


def predict(source: _results.PathLike, kernel: str, *, grid: Extent, block: Extent, args: Iterable[object] = (), arch: Arch,
            shared: int = 0, cluster: Extent | None = None, defines: Sequence[str] = (), nvcc: str = "", symbols: Sequence[str] = (), clock: str | None = None,
            accuracy: str = "auto", gains: bool = False, trace: _results.PathLike | None = None) -> _results.Results:
    """Compiles a CUDA source (or takes a cubin), executes the kernel on the CPU and predicts it on each chip of `arch`.

    args, in the order of the parameters: arrays (NumPy's, or anything with the buffer protocol; those that can be written hold what the
    kernel left in them afterwards), NumPy scalars in their own type, Python's int (i32, or i64 where it does not fit), float (f32) and bool,
    None for a null pointer, or a form of docs/launch_files.md as text ("buf:f32:2^20:uniform").
    `trace` records the launch in this file (one chip). `gains` simulates again without each limit.
    """
    chips = _chips(arch)
    if trace is not None and len(chips) != 1:
        raise ValueError("trace=: expected one chip")
    common = ["--accuracy", accuracy, *(["--gains"] if gains else []), *(["--clock", clock] if clock else []),
              *(["--trace", str(trace)] if trace is not None else [])]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        arguments = _Arguments(args, folder)
        launch = {"name": kernel, "kernel": kernel, "define": list(defines), "nvcc": nvcc, "grid": _extent(grid, "grid"),
                  "block": _extent(block, "block"), "shared": shared, "cluster": None if cluster is None else _extent(cluster, "cluster"),
                  "symbols": list(symbols)}

        def file_of(stem: str, dumps: list[str]) -> pathlib.Path:
            file = folder / f"{stem}.toml"
            file.write_text(_toml({"source": str(pathlib.Path(source).resolve())}) + "\n[[launch]]\n" +
                            f"args = {json.dumps(arguments.forms, ensure_ascii=False)}\n" + _toml({**launch, "dump": dumps}))
            return file

        # The first chip's run leaves its results in the arrays; the others start from the same contents.
        parts = []
        for i, each in enumerate(chips):
            words = ["predict", str(file_of(f"launch{i}", arguments.dumps if i == 0 else [])), *each.options(), *common]
            parts.append(_predict(words, folder))
        results = _joined(parts)
        arguments.write_back()
    for prediction in results:
        prediction._entry["launch"] = prediction.launch = None
    return results


def simulate(trace: _results.PathLike, arch: Arch, *, set: Changes | None = None, clock: str | None = None, gains: bool = False) -> _results.Results:
    """Predicts from a recorded trace. set={"sm.count": [100, 132]} gives a prediction for each value."""
    changes = [word for key, value in (set or {}).items()
               for word in ("--set", f"{key}={','.join(map(str, value)) if isinstance(value, (list, tuple)) else value}")]
    common = [*changes, *(["--clock", clock] if clock else []), *(["--gains"] if gains else [])]
    with tempfile.TemporaryDirectory() as folder:
        return _joined([_predict(["simulate", str(trace), *each.options(), *common], pathlib.Path(folder)) for each in _chips(arch)])


@overload
def occupancy(arch: str | Chip, *, block: Extent, registers: int, shared: int = 0,  # type: ignore[overload-overlap]  # a str is a sequence, too
              barriers: int = 1) -> _results.Occupancy: ...


@overload
def occupancy(arch: Sequence[str | Chip], *, block: Extent, registers: int, shared: int = 0, barriers: int = 1) -> list[_results.Occupancy]: ...


def occupancy(arch: Arch, *, block: Extent, registers: int, shared: int = 0, barriers: int = 1) -> _results.Occupancy | list[_results.Occupancy]:
    """Blocks per SM and what limits them; a list where several chips are given."""
    found = []
    for each in _chips(arch):
        text = _program.run(["occupancy", *each.options(), "--block", ",".join(map(str, _extent(block, "block"))), "--registers", str(registers),
                             "--shared", str(shared), "--barriers", str(barriers), "--json", "-"])
        found.append(_results.Occupancy(**json.loads(text)["occupancy"][0]))
    return found[0] if isinstance(arch, (str, Chip)) else found
