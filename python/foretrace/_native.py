"""The module of libforetrace: it lies beside the program, in ../lib/foretrace, for the Python that it was built with."""

import functools
import importlib.util
import os
import pathlib
import sys
import sysconfig
from typing import Any

from foretrace import _program


@functools.cache
def module() -> Any:
    """Throws ForetraceError where there is none for this Python."""
    program = pathlib.Path(_program.program()).resolve()
    file = program.parent.parent / "lib/foretrace" / f"foretrace_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not file.is_file():
        raise _program.ForetraceError(f"no {file}: expected the module for Python {sys.version_info.major}.{sys.version_info.minor} beside {program} "
                                      "(pip install, or the build's target foretrace_package)")
    for name, path in _program.tools().items():
        os.environ.setdefault(name, path)
    spec = importlib.util.spec_from_file_location("foretrace_native", file)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
