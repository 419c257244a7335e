"""quack-kernels (CuTe DSL): quack_kernels.py layers | product, against PyTorch on the CPU."""

import sys

import torch
from checks import close, finish

nn = torch.nn.functional


def layers():
    from quack.cross_entropy import cross_entropy
    from quack.rmsnorm import rmsnorm
    from quack.softmax import softmax
    from quack.topk import topk

    x, w = torch.randn(64, 512).bfloat16(), torch.rand(512) + 0.5
    close("rmsnorm", rmsnorm(x.cuda(), w.cuda(), eps=1e-6), nn.rms_norm(x.float(), (512,), w, 1e-6), 5e-3)
    close("softmax", softmax(x.float().cuda()), torch.softmax(x.float(), -1), 1e-5)
    target = torch.randint(0, 512, (64,))
    close("cross entropy", cross_entropy(x.float().cuda(), target.cuda(), reduction="none"), nn.cross_entropy(x.float(), target, reduction="none"), 1e-5)
    values = topk(x.float().cuda(), 8)
    close("top-k", values[0], x.float().topk(8)[0], 1e-6)


def product():
    from quack.gemm_interface import gemm

    a, b = torch.randn(512, 256).bfloat16(), torch.randn(256, 512).bfloat16()
    close("product", gemm(a.cuda(), b.cuda(), tuned=False), a.float() @ b.float(), 5e-3)


torch.manual_seed(0)
{"layers": layers, "product": product}[sys.argv[1]]()
finish()
