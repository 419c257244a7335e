"""Operators with PyTorch's own samples of their arguments (op_db), up to three each, float32, against the CPU: torch_samples.py [NAME ...]."""

import sys

import torch
from checks import close, finish

import foretrace_torch  # noqa: F401  the products that PyTorch gives to cuBLAS; before op_db, which locks cuDNN's switches
from torch.testing._internal.common_methods_invocations import op_db  # isort: skip

NAMES = """add addbmm addcdiv addmm addmv addr amin aminmax baddbmm block_diag bmm bucketize cdist ceil clamp cross cumulative_trapezoid diag_embed diagonal diff
digamma einsum erfinv expand fmin fmod gather geqrf heaviside index_copy index_reduce isclose kron lerp logaddexp logcumsumexp logit masked_scatter matmul
nanmedian nansum nn.functional.bilinear nn.functional.conv1d nn.functional.conv2d nn.functional.ctc_loss nn.functional.fold nn.functional.grid_sample
nn.functional.interpolate nn.functional.linear nn.functional.max_pool3d nn.functional.multi_head_attention_forward nn.functional.pdist nn.functional.prelu
nn.functional.scaled_dot_product_attention polygamma prod renorm scatter_reduce sort take_along_dim tensordot trapezoid unfold var_mean vdot""".split()


def moved(value):
    if torch.is_tensor(value):
        return value.detach().cuda()
    if isinstance(value, (list, tuple)):
        return type(value)(moved(x) for x in value)
    return {key: moved(x) for key, x in value.items()} if isinstance(value, dict) else value


def tensors(value):
    return [x for x in value if torch.is_tensor(x)] if isinstance(value, (list, tuple)) else [value]


torch.manual_seed(0)
names = sys.argv[1:] or NAMES
done = set()
for operator in op_db:
    if operator.name not in names or operator.name in done or torch.float32 not in operator.supported_dtypes("cpu"):
        continue
    done.add(operator.name)
    for number, sample in zip(range(3), operator.sample_inputs("cpu", torch.float32)):
        if sample.kwargs.get("dropout_p") or sample.kwargs.get("training"):
            continue  # dropout: other random numbers on a GPU
        want = operator.op(sample.input, *sample.args, **sample.kwargs)
        got = operator.op(moved(sample.input), *moved(sample.args), **moved(sample.kwargs))
        for a, b in zip(tensors(got), tensors(want)):
            if b.numel() and torch.isfinite(b).all():
                close(f"{operator.name} {number}", a, b, 1e-4)
print(f"{len(done)} operators")
finish()
