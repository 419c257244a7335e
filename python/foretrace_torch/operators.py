"""Says to Foretrace which operator of PyTorch a launch belongs to: foretrace_operator_begin and _end (docs/run.md), by ctypes.

On a GPU the driver has no such functions, and nothing is said.
"""

import ctypes
import functools


def functions():
    """Both functions of the driver's library; None where it is not Foretrace's, or there is none."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
        begin, end = library.foretrace_operator_begin, library.foretrace_operator_end
    except (OSError, AttributeError):
        return None
    begin.argtypes, begin.restype = [ctypes.c_char_p, ctypes.c_char_p], None
    end.argtypes, end.restype = [], None
    return begin, end


def aten(overload):
    """addmm.out: aten::addmm."""
    return "aten::" + overload.partition(".")[0]


def of_overload(function):
    """aten.add.Tensor: aten::add; of what is no overload (a higher-order operator) its own name."""
    schema = getattr(function, "_schema", None)
    name = getattr(function, "name", None)
    return schema.name if schema is not None else str(name() if callable(name) else function)


def named(name, note, function):
    """The function, whose launches belong to the operator `name`; itself where nobody asks."""
    both = functions()
    if both is None:
        return function
    begin, end = both
    name, note = name.encode(), note.encode()

    @functools.wraps(function)
    def run(*arguments, **words):
        begin(name, note)
        try:
            return function(*arguments, **words)
        finally:
            end()

    return run
