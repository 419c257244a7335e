"""Operators that PyTorch gives to cuSOLVER and cuFFT, and triangular systems, computed by PyTorch on the CPU and copied back.

Results are right; there is no kernel, so nothing of them is predicted but the copies. The first use of each says so.
"""

import functools
import sys

import torch
from torch.utils import _pytree as pytree

KEY = "CUDA"
_SOLVER = [
    "linalg_cholesky_ex", "linalg_cholesky_ex.L", "_cholesky_solve_helper", "cholesky_inverse", "cholesky_inverse.out", "linalg_lu_factor_ex",
    "linalg_lu_factor_ex.out", "linalg_lu", "linalg_lu.out", "linalg_lu_solve", "linalg_lu_solve.out", "linalg_inv_ex", "linalg_inv_ex.inverse",
    "_linalg_solve_ex", "_linalg_solve_ex.result", "_linalg_det", "_linalg_det.result", "_linalg_slogdet", "_linalg_slogdet.sign", "linalg_qr",
    "linalg_qr.out", "geqrf", "geqrf.a", "ormqr", "ormqr.out", "linalg_householder_product", "linalg_householder_product.out", "_linalg_svd",
    "_linalg_svd.U", "_linalg_eigh", "_linalg_eigh.eigenvalues", "linalg_eig", "linalg_eig.out", "_linalg_eigvals", "linalg_eigvals.out",
    "linalg_lstsq.out", "linalg_ldl_factor_ex", "linalg_ldl_factor_ex.out", "linalg_ldl_solve", "linalg_ldl_solve.out",
    "linalg_solve_triangular", "linalg_solve_triangular.out", "triangular_solve.X",
]
_FOURIER = ["_fft_r2c", "_fft_r2c.out", "_fft_c2c", "_fft_c2c.out", "_fft_c2r", "_fft_c2r.out"]
_said = set()


def say_once(name, library):
    """That the operator is no kernel here."""
    packet = name.partition(".")[0]
    if packet not in _said:
        _said.add(packet)
        print(f"foretrace_torch: {packet} is computed by the CPU, {library}'s is out of reach here: results are right, its time is not predicted",
              file=sys.stderr)


def note(name):
    """What is to be known about an operator's launches."""
    return f"computed by the CPU, not by {'cuFFT' if name in _FOURIER else 'cuSOLVER'}"


def _here(value):
    return value.cpu() if isinstance(value, torch.Tensor) else value


def _driver(name, words):
    """The CPU's drivers have other names."""
    if "driver" in words:
        words["driver"] = "gels" if name.startswith("linalg_lstsq") else None
    return words


def _on_host(name, library):
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
    written = [a.name for a in operator._schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    has_driver = any(a.name == "driver" for a in operator._schema.arguments)

    @functools.wraps(operator)
    def run(*arguments, **words):
        say_once(name, library)
        outs = [words.pop(key) for key in written]
        device = next(x for x in pytree.tree_leaves((arguments, words)) if isinstance(x, torch.Tensor)).device
        if has_driver:
            words["driver"] = None
        arguments, words = pytree.tree_map(_here, (arguments, _driver(name, words)))
        words.update({key: torch.empty(0, dtype=out.dtype) for key, out in zip(written, outs)})
        results = operator(*arguments, **words)
        if not outs:
            return pytree.tree_map(lambda x: x.to(device), results)
        single = isinstance(results, torch.Tensor)
        for out, result in zip(outs, [results] if single else results):
            if out.shape != result.shape:
                out.resize_(result.shape)
            out.copy_(result)
        return outs[0] if single else tuple(outs)

    return run


OPERATORS = {**{name: _on_host(name, "cuSOLVER") for name in _SOLVER}, **{name: _on_host(name, "cuFFT") for name in _FOURIER}}
