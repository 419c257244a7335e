"""AOTInductor's products and convolutions: its compiled code calls PyTorch's functions for cuBLAS and cuDNN by themselves, past the operators that
are registered here, so it takes Inductor's own templates of Triton for them. Where none fits, Inductor says so when it compiles."""

import functools

_OPTIONS = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON", "max_autotune_conv_backends": "TRITON"}


def enable():
    import torch._inductor as inductor

    compiled = inductor.aot_compile

    @functools.wraps(compiled)
    def aot_compile(*arguments, options=None, **words):
        return compiled(*arguments, options={**(options or {}), **_OPTIONS}, **words)

    inductor.aot_compile = aot_compile
