"""liger-kernel: layers and losses with their gradients against PyTorch on the CPU."""

import torch
from checks import close, finish

import foretrace_torch  # noqa: F401  the products that PyTorch gives to cuBLAS
from liger_kernel.ops import cross_entropy, fused_linear_cross_entropy, geglu, group_norm, kl_div, layer_norm, rms_norm, rope, softmax, swiglu

nn = torch.nn.functional
torch.manual_seed(0)


def both(name, theirs, ours, *inputs, tolerance=1e-4):
    """The result and the gradients of each input that has one."""
    there = [x.cuda().requires_grad_(x.is_floating_point()) for x in inputs]
    here = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    got, want = theirs(*there), ours(*here)
    close(name, got, want, tolerance)
    weight = torch.randn(want.shape)
    (got * weight.cuda()).sum().backward()
    (want * weight).sum().backward()
    for number, (a, b) in enumerate(zip(there, here)):
        if b.grad is not None:
            close(f"{name}, gradient {number}", a.grad, b.grad, tolerance)


def group(x, w, b):
    return group_norm.LigerGroupNormFunction.apply(x, w, b, 8, 2, 1e-5)


def rotated(q, k):
    """RoPE as Llama has it: halves, angles by position."""
    return torch.cat([part * COS[None, None] + torch.cat([-part[..., 16:], part[..., :16]], -1) * SIN[None, None] for part in (q, k)], 1)


x, rows = torch.randn(16, 96), torch.randint(0, 96, (16,))
w, b = torch.rand(96) + 0.5, torch.randn(96)
both("rms norm", lambda x, w: rms_norm.LigerRMSNormFunction.apply(x, w, 1e-5, 0.0, "llama", False), lambda x, w: nn.rms_norm(x, (96,), w, 1e-5), x, w)
both("layer norm", lambda *a: layer_norm.LigerLayerNormFunction.apply(*a, 1e-5), lambda x, w, b: nn.layer_norm(x, (96,), w, b, 1e-5), x, w, b)
both("SwiGLU", swiglu.LigerSiLUMulFunction.apply, lambda a, b: nn.silu(a) * b, torch.randn(16, 96), torch.randn(16, 96))
both("GeGLU", geglu.LigerGELUMulFunction.apply, lambda a, b: nn.gelu(a, approximate="tanh") * b, torch.randn(16, 96), torch.randn(16, 96))
both("softmax", softmax.LigerSoftmaxFunction.apply, lambda x: nn.softmax(x, -1), x)
both("group norm", group, lambda x, w, b: nn.group_norm(x, 2, w, b, 1e-5), torch.randn(4, 8, 32), torch.rand(8) + 0.5, torch.randn(8))
target = torch.softmax(torch.randn(16, 96), -1)
both("KL divergence", lambda x: kl_div.LigerKLDivLossFunction.apply(x, target.cuda(), "batchmean", False, 1e-10),
     lambda x: nn.kl_div(x, target, reduction="batchmean"), torch.log_softmax(torch.randn(16, 96), -1))
both("cross entropy", lambda x: cross_entropy.LigerCrossEntropyFunction.apply(x, rows.cuda(), None)[0], lambda x: nn.cross_entropy(x, rows), x)
both("fused linear cross entropy", lambda x, v: fused_linear_cross_entropy.LigerFusedLinearCrossEntropyFunction.apply(x, v, rows.cuda())[0],
     lambda x, v: nn.cross_entropy(x @ v.t(), rows), torch.randn(16, 64), torch.randn(96, 64))
angles = torch.arange(24)[:, None] / 10 ** (torch.arange(16) / 4)
COS, SIN = (torch.cat([f(angles)] * 2, 1) for f in (torch.cos, torch.sin))
both("RoPE", lambda q, k: torch.cat(rope.LigerRopeFunction.apply(q, k, COS[None].cuda(), SIN[None].cuda()), 1), rotated, torch.randn(2, 4, 24, 32),
     torch.randn(2, 2, 24, 32))
finish()
