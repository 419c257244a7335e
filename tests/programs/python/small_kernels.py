"""Small libraries of Triton kernels, by name, against PyTorch on the CPU: gemlite, conch, stk, optimi, lightning_attn."""

import sys

import foretrace_torch  # noqa: F401
import torch
from checks import close, finish


def gemlite():
    from gemlite.core import DType, GemLiteLinear

    rows, width, group = 128, 256, 64
    weights = torch.randint(0, 16, (rows, width), dtype=torch.uint8)
    scales = torch.rand(rows, width // group).half() * 0.01
    layer = GemLiteLinear(W_nbits=4, group_size=group, in_features=width, out_features=rows, input_dtype=DType.FP16, output_dtype=DType.FP16)
    layer.pack(weights.cuda(), scales.cuda(), torch.full_like(scales, 8).cuda(), None)
    plain = ((weights.float().view(rows, -1, group) - 8) * scales.float().view(rows, -1, 1)).view(rows, width)
    for batch in (1, 4, 32):  # a product of a vector, and two of matrices: kernels of their own
        x = torch.randn(batch, width).half() * 0.1
        close(f"4 bits, {batch} rows", layer(x.cuda()), x.float() @ plain.t(), 3e-3)


def conch():
    from conch.ops.activation.gelu_tanh_and_mul import gelu_tanh_and_mul
    from conch.ops.activation.silu_and_mul import silu_and_mul
    from conch.ops.normalization.rms_norm import rms_norm

    x, weight, y = torch.randn(64, 512).half(), torch.randn(512).half(), torch.randn(32, 256)
    norm = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6) * weight.float()
    close("rms_norm", rms_norm(x.cuda(), weight.cuda(), 1e-6), norm, 1e-3)
    close("silu_and_mul", silu_and_mul(y.cuda()), torch.nn.functional.silu(y[:, :128]) * y[:, 128:], 1e-6)
    close("gelu_tanh_and_mul", gelu_tanh_and_mul(y.cuda()), torch.nn.functional.gelu(y[:, :128], approximate="tanh") * y[:, 128:], 1e-6)


def stk():
    import stk.matrix
    import stk.ops

    a, b = torch.randn(256, 128).half(), torch.randn(128, 256).half()
    mask = torch.kron(torch.eye(2), torch.ones(128, 128))
    sparse = stk.ops.sdd(a.cuda(), b.cuda(), stk.ops.to_sparse(mask.half().cuda(), 128))
    want = (a.float() @ b.float()) * mask
    close("dense times dense, where blocks are", stk.ops.to_dense(sparse), want, 1e-3)
    close("sparse times dense", stk.ops.dsd(sparse, b.t().contiguous().cuda()), want.half().float() @ b.t().float(), 1e-3)


def optimi():
    import optimi

    for name, options in (("Adam", {}), ("AdamW", {}), ("Lion", {}), ("RAdam", {}), ("StableAdamW", {}), ("SGD", {"momentum": 0.9}), ("Adan", {})):
        start, gradients = torch.randn(300), torch.randn(3, 300)
        after = []
        for device in ("cpu", "cuda"):
            weight = torch.nn.Parameter(start.clone().to(device))
            optimizer = getattr(optimi, name)([weight], lr=1e-2, triton=device == "cuda", **options)
            for gradient in gradients:
                weight.grad = gradient.to(device)
                optimizer.step()
            after.append(weight)
        close(name, after[1], after[0].detach(), 1e-6)


def lightning():
    from lightning_attn.ops import lightning_attn_func

    q, k, v = (0.3 * torch.randn(1, 2, 128, 64).bfloat16() for _ in range(3))
    slopes, steps = torch.tensor([0.1, 0.3]), torch.arange(128)
    decay = torch.exp(-slopes[:, None, None] * (steps[:, None] - steps).clamp(min=0)) * (steps[:, None] >= steps)
    want = ((q.float() @ k.float().transpose(-1, -2)) * decay) @ v.float()
    close("linear attention", lightning_attn_func(q.cuda(), k.cuda(), v.cuda(), slopes.cuda()), want, 1e-2)


torch.manual_seed(0)
{"gemlite": gemlite, "conch": conch, "stk": stk, "optimi": optimi, "lightning": lightning}[sys.argv[1]]()
finish()
