"""Products of sparse and dense matrices by PyTorch's own kernels: rows are gathered, scaled and added where they belong.

In the place of cuSPARSE's. Products of two sparse matrices are computed by the CPU.
"""

import torch

from foretrace_torch import host


def note(name):
    """What is to be known about an operator's launches."""
    return "computed by the CPU, not by cuSPARSE" if name == "_sparse_sparse_matmul" else "PyTorch's own kernels, not cuSPARSE's"


def _elements(matrix):
    """Rows, columns and values; one each."""
    matrix = matrix.to_sparse(sparse_dim=2) if matrix.layout != torch.sparse_coo else matrix
    matrix = matrix.coalesce()
    return (*matrix.indices(), matrix.values())


def _gathered(matrix, dense):
    rows, columns, values = _elements(matrix)
    out = torch.zeros((matrix.shape[0], *dense.shape[1:]), dtype=dense.dtype, device=dense.device)
    return out.index_add_(0, rows, dense[columns] * (values if dense.dim() == 1 else values.unsqueeze(1)))


def _both_sparse(a, b):
    host.say_once("mm of two sparse matrices", "cuSPARSE")
    return torch.mm(a.cpu(), b.cpu()).to(a.device)


def _multiply(a, b):
    if b.layout == torch.strided:
        return _gathered(a, b)
    return _both_sparse(a, b) if a.layout != torch.strided else _gathered(b.t(), a.t()).t()


def mm(a, b, *, out=None):
    result = _multiply(a, b)
    return result if out is None else out.resize_(result.shape).copy_(result)


def addmm(addend, a, b, *, beta=1, alpha=1, out=None):
    result = alpha * _multiply(a, b)
    result = result if beta == 0 else result + beta * addend
    return result if out is None else out.resize_(result.shape).copy_(result)


def addmv(addend, a, vector, *, beta=1, alpha=1, out=None):
    return addmm(addend, a, vector, beta=beta, alpha=alpha, out=out)


def sampled_addmm(matrix, a, b, *, beta=1, alpha=1, out=None):
    """alpha * (a @ b) where `matrix` has elements, and beta * these."""
    rows, columns, values = _elements(matrix)
    each = alpha * (a[rows] * b.t()[columns]).sum(1) + beta * values
    result = torch.sparse_coo_tensor(torch.stack([rows, columns]), each, matrix.shape, is_coalesced=True).to_sparse_csr()
    if out is None:
        return result
    out.values().copy_(result.values())
    return out


_COMMON = {"mm": mm, "addmm": addmm, "addmm.out": addmm}
OPERATORS = {
    "SparseCUDA": {**_COMMON, "_sparse_sparse_matmul": _both_sparse},
    "SparseCsrCUDA": {**_COMMON, "addmv.out": addmv, "sparse_sampled_addmm": sampled_addmm, "sparse_sampled_addmm.out": sampled_addmm},
}
