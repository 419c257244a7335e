"""AOTInductor's products and convolutions: its compiled code calls PyTorch's functions for cuBLAS and cuDNN by themselves, past the operators that
are registered here, so it takes Inductor's own templates of Triton for them. Where none fits, Inductor says so when it compiles."""

import functools
import importlib.util
import sys

_NAME = "torch._inductor"
_OPTIONS = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON", "max_autotune_conv_backends": "TRITON"}


def _patch(inductor):
    compiled = inductor.aot_compile

    @functools.wraps(compiled)
    def aot_compile(*arguments, options=None, **words):
        return compiled(*arguments, options={**(options or {}), **_OPTIONS}, **words)

    inductor.aot_compile = aot_compile


class _Finder:
    """Patches Inductor when the program imports it, which takes seconds."""

    def find_spec(self, name, path=None, target=None):
        if name != _NAME:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            _patch(module)

        spec.loader.exec_module = exec_module
        return spec


def enable():
    if _NAME in sys.modules:
        _patch(sys.modules[_NAME])
    else:
        sys.meta_path.insert(0, _Finder())
