"""The operators that PyTorch gives to cuBLAS and cuDNN, as Triton kernels, for programs under `foretrace run`.

    import foretrace_torch          # before the model runs

cuBLAS and cuDNN bring a CUDA runtime of their own that runs on NVIDIA's driver alone. This package registers Triton kernels for mm,
addmm, bmm, baddbmm, addmv, mv, dot, vdot, _int_mm, _scaled_mm and convolution (forward, backward and transposed, as im2col and a product) under
PyTorch's CUDA key; linear, matmul and einsum are made of these. Products of sparse matrices are made of PyTorch's own kernels; what cuSOLVER and
cuFFT do is computed by the CPU (host.py), and said. scaled_dot_product_attention takes PyTorch's own kernels, which run as they
are, or products and a softmax; cuDNN's is switched off. Results are right; the predicted times are
those of Triton's kernels, not of NVIDIA's libraries (AOTInductor's: ahead.py): the first use says so on standard error, and each launch's row of the report names the
operator that it belongs to, with that note. Launches of all other operators are named, too (everywhere.py; FORETRACE_TORCH_NAMES=0: not). foretrace_triton
is imported, and Inductor's max-autotune measures by it (TORCHINDUCTOR_USE_EXPERIMENTAL_BENCHMARKER=1: by its own benchmark, a hundred launches each).
"""

import os

from foretrace_torch import ahead, convolution, everywhere, host, operators, product, sparse

_LIBRARY = []


def enable():
    """Registers the operators; once. Importing the package does it."""
    if _LIBRARY:
        return
    import warnings

    import foretrace_triton  # noqa: F401  the autotuner's benchmarks
    import torch

    # Inductor compares candidates by triton.testing then, one launch each, and not by a benchmark of its own that launches each a hundred times.
    os.environ.setdefault("TORCHINDUCTOR_USE_EXPERIMENTAL_BENCHMARKER", "0")
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that kernels of PyTorch's own are replaced is what is wanted
        for part in (product, convolution, host):
            for name, function in part.OPERATORS.items():
                library.impl(name, operators.named(operators.aten(name), part.note(name), function), part.KEY)
        for key, functions in sparse.OPERATORS.items():
            for name, function in functions.items():
                library.impl(name, operators.named(operators.aten(name), sparse.note(name), function), key)
    _LIBRARY.append(library)
    ahead.enable()
    torch.backends.cudnn.enabled = False  # batch norm: PyTorch's own kernels
    torch.backends.cuda.enable_cudnn_sdp(False)
    if os.environ.get("FORETRACE_TORCH_NAMES", "1") != "0":
        everywhere.enable()


enable()
