"""Optimizers, mixed precision and gradients of PyTorch against the CPU: torch_training.py optimizers | autocast | linalg."""

import sys

import torch
from checks import close, finish
from torch import nn
from torch.nn import functional

import foretrace_torch  # noqa: F401  the products that PyTorch gives to cuBLAS

OPTIMIZERS = {
    "SGD, momentum": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}), "SGD, fused": (torch.optim.SGD, {"lr": 0.1, "fused": True}),
    "Adam, foreach": (torch.optim.Adam, {"foreach": True}), "Adam, fused": (torch.optim.Adam, {"fused": True}),
    "Adam, capturable": (torch.optim.Adam, {"capturable": True}), "AdamW, fused": (torch.optim.AdamW, {"fused": True}),
    "RMSprop": (torch.optim.RMSprop, {}), "Adagrad": (torch.optim.Adagrad, {}), "RAdam": (torch.optim.RAdam, {}),
    "Adafactor": (torch.optim.Adafactor, {}), "LBFGS": (torch.optim.LBFGS, {"lr": 0.5, "max_iter": 3}), "Muon": (torch.optim.Muon, {})}


def steps(kind, words, device, start, inputs):
    weights = [nn.Parameter(w.clone().to(device)) for w in start]
    optimizer = kind(weights, **{key: value for key, value in words.items() if device == "cuda" or key not in ("fused", "capturable", "foreach")})
    x, y = (t.to(device) for t in inputs)

    def loss():
        optimizer.zero_grad()
        value = functional.mse_loss(torch.tanh(x @ weights[0]) @ weights[1], y)
        value.backward()
        return value

    for _ in range(3):
        optimizer.step(loss)
    return weights


def optimizers():
    start, inputs = (torch.randn(32, 64) / 6, torch.randn(64, 16) / 8), (torch.randn(48, 32), torch.randn(48, 16))
    for name, (kind, words) in OPTIMIZERS.items():
        want, got = (steps(kind, words, device, start, inputs) for device in ("cpu", "cuda"))
        for number in range(2):
            # Muon's matrices are bfloat16
            close(f"{name}, weight {number}", got[number], want[number], 2e-2 if name == "Muon" else 5e-4)


def autocast():
    x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))
    for dtype in (torch.bfloat16, torch.float16):
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 10))
        want = functional.cross_entropy(model(x), y)
        want.backward()
        gradients = [p.grad.clone() for p in model.parameters()]
        model.zero_grad()
        model.cuda()
        scaler = torch.amp.GradScaler("cuda", enabled=dtype == torch.float16)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        with torch.autocast("cuda", dtype=dtype):
            loss = functional.cross_entropy(model(x.cuda()), y.cuda())
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        close(f"{dtype}, loss", loss, want, 1e-2)
        for number, (p, g) in enumerate(zip(model.parameters(), gradients)):
            close(f"{dtype}, gradient {number}", p.grad, g, 3e-2)
        scaler.step(optimizer)
        scaler.update()


def linalg():
    matrix = torch.randn(8, 8)
    matrix = matrix @ matrix.t() + 8 * torch.eye(8)
    for name in ("inv", "det", "cholesky", "eigvalsh", "slogdet"):
        sides = []
        for device in ("cpu", "cuda"):
            x = matrix.detach().to(device).requires_grad_()
            value = getattr(torch.linalg, name)(x)
            (value[1] if isinstance(value, tuple) else value).sum().backward()
            sides.append(x.grad)
        close(f"gradient of {name}", sides[1], sides[0], 1e-3)


if __name__ == "__main__":
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
    finish()
