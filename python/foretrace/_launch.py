"""Launches: arguments as launch-file forms (docs/launch_files.md), and the calls that predict them."""

import dataclasses
import itertools
import json
import math
import operator
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from foretrace import _native, _results

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

    def settings(self) -> list[str]:
        """Its changes as the library takes them."""
        return [f"{key}={value}" for key, value in self.changes]


Arch = str | Chip | Sequence[str | Chip]


def chip(name: str) -> Chip:
    """A chip by its name or alias. Throws ForetraceError where there is none of that name."""
    native = _native.module()
    native.describe(name, native.Options())
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


def _whole(value: object, name: str) -> int:
    """A number of Python's or NumPy's that the library can take."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name}: {value!r}; expected a whole number") from None
    if not 0 <= number < 2**32:
        raise ValueError(f"{name}: {number}; expected a whole number from 0 to 2^32 - 1")
    return number


def _extent(value: Extent, name: str) -> list[int]:
    extent = [_whole(each, name) for each in (value if isinstance(value, (tuple, list)) else [value])]
    if not 1 <= len(extent) <= 3:
        raise ValueError(f"{name}: expected one to three numbers, found {len(extent)}")
    return extent + [1] * (3 - len(extent))


class _Arguments:
    """The arguments of a call: their forms, and the arrays whose memory some of them are."""

    def __init__(self, args: Iterable[object]):
        self.forms: list[str] = []
        self.arrays: list[tuple[str, Any]] = []
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
        self.arrays.append((name, view))
        return f"buf:{_FORMATS[letter]}:{view.nbytes // view.itemsize}:name={name}"

    def memory(self, written: bool) -> list[tuple[str, Any, bool]]:
        """As the library takes them. `written`: those that can be get what the kernel left in them."""
        return [(name, view, written and not view.readonly) for name, view in self.arrays]


def _toml(values: Mapping[str, object]) -> str:
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items() if value not in (None, [], ""))


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
    arguments, native = _Arguments(args), _native.module()
    launch = native.Launch()
    launch.name = launch.kernel = kernel
    launch.file = str(pathlib.Path(source).resolve())
    launch.defines, launch.compiler_options, launch.symbols = list(defines), nvcc, list(symbols)
    launch.grid, launch.block = _extent(grid, "grid"), _extent(block, "block")
    launch.cluster = _extent(1 if cluster is None else cluster, "cluster")
    launch.dynamic_shared, launch.arguments = _whole(shared, "shared"), arguments.forms

    def on(each: Chip, first: bool) -> _results.Results:
        options = native.Options(accuracy=accuracy, clock=clock or "boost", set=each.settings(), gains=gains,
                                 trace="" if trace is None else str(trace))
        return _results.Results(json.loads(native.predict(launch, arguments.memory(first), each.name, options)))

    # All start from the same contents: the first chip's run, which leaves its results in the arrays, is the last one.
    others = [on(each, False) for each in chips[1:]]
    results = _joined([on(chips[0], True), *others])
    for prediction in results:
        prediction._entry["launch"] = prediction.launch = None
    return results


def simulate(trace: _results.PathLike, arch: Arch, *, set: Changes | None = None, clock: str | None = None, gains: bool = False) -> _results.Results:
    """Predicts from a recorded trace. set={"sm.count": [100, 132]} gives a prediction for each value."""
    native = _native.module()
    if empty := [key for key, value in (set or {}).items() if isinstance(value, (list, tuple)) and not value]:
        raise ValueError(f"set: no value for {empty[0]}; expected one or more")
    values = [[f"{key}={each}" for each in (value if isinstance(value, (list, tuple)) else [value])] for key, value in (set or {}).items()]
    return _joined([_results.Results(json.loads(native.simulate(str(trace), each.name, native.Options(set=[*each.settings(), *combination],
                                                                                                      clock=clock or "boost", gains=gains))))
                    for each in _chips(arch) for combination in itertools.product(*values)])


@overload
def occupancy(arch: str | Chip, *, block: Extent, registers: int, shared: int = 0,  # type: ignore[overload-overlap]  # a str is a sequence, too
              barriers: int = 1) -> _results.Occupancy: ...


@overload
def occupancy(arch: Sequence[str | Chip], *, block: Extent, registers: int, shared: int = 0, barriers: int = 1) -> list[_results.Occupancy]: ...


def occupancy(arch: Arch, *, block: Extent, registers: int, shared: int = 0, barriers: int = 1) -> _results.Occupancy | list[_results.Occupancy]:
    """Blocks per SM and what limits them; a list where several chips are given."""
    native, threads = _native.module(), math.prod(_extent(block, "block"))
    numbers = [_whole(value, name) for name, value in (("registers", registers), ("shared", shared), ("barriers", barriers))]
    found = [_results.Occupancy(**json.loads(native.occupancy(threads, *numbers, each.name, native.Options(set=each.settings())))
                                ["occupancy"][0]) for each in _chips(arch)]
    return found[0] if isinstance(arch, (str, Chip)) else found
