"""Models and kernels of PyTorch by torch.compile against eager PyTorch on the CPU: torch_compiled.py NAME."""

import sys

import torch
from checks import close, finish
from torch import nn
from torch.nn import functional

import foretrace_torch  # noqa: F401  the products and convolutions that PyTorch gives to cuBLAS and cuDNN


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first, self.second = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, x):
        return functional.relu(x + self.norms[1](self.second(functional.relu(self.norms[0](self.first(x))))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.deep, self.up = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.last = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        top = functional.silu(self.down(x))
        return self.last(torch.cat([top, self.up(functional.silu(self.deep(top)))], 1))


class Recurrence(nn.Module):
    """Mamba's: a state whose decay depends on the input, step by step."""

    def __init__(self, width, states):
        super().__init__()
        self.a, self.dt = nn.Parameter(torch.randn(width, states)), nn.Linear(width, width)
        self.b, self.c = nn.Linear(width, states), nn.Linear(width, states)

    def forward(self, x):
        dt, b, c = functional.softplus(self.dt(x)), self.b(x), self.c(x)
        state, results = x.new_zeros(x.shape[0], *self.a.shape), []
        for t in range(x.shape[1]):
            state = torch.exp(-dt[:, t, :, None] * self.a.exp()) * state + dt[:, t, :, None] * b[:, t, None] * x[:, t, :, None]
            results.append((state * c[:, t, None]).sum(-1))
        return torch.stack(results, 1)


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 64, 4, stride=4)
        self.block = nn.TransformerEncoderLayer(64, 4, 128, dropout=0, batch_first=True, norm_first=True)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.block(self.patches(x).flatten(2).transpose(1, 2)).mean(1))


def forward(model, x, tolerance=1e-4, **options):
    model = model.eval()
    want = model(x)
    want = want[0] if isinstance(want, tuple) else want
    got = torch.compile(model.cuda(), **options)(x.cuda())
    close(sys.argv[1], got[0] if isinstance(got, tuple) else got, want, tolerance)


def residual():
    forward(Residual(16), torch.randn(2, 16, 16, 16))


def unet():
    forward(UNet(), torch.randn(2, 3, 16, 16))


def lstm():
    forward(nn.LSTM(32, 48, batch_first=True), torch.randn(4, 12, 32))


def recurrence():
    forward(Recurrence(32, 8), torch.randn(2, 16, 32))


def vit():
    forward(ViT(), torch.randn(2, 3, 32, 32))


def reduce_overhead():
    model, x = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64)), torch.randn(32, 64)
    want, graphed = model(x), torch.compile(model.cuda(), mode="reduce-overhead")
    for step in range(4):  # warm-up, record, replays
        close(f"call {step}", graphed(x.cuda()), want, 1e-4)


def training():
    """Three steps of SGD with a compiled model."""
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 10))
    x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))
    losses, weights = [], []
    start = [p.detach().clone() for p in model.parameters()]
    for device in ("cpu", "cuda"):
        with torch.no_grad():
            for p, old in zip(model.parameters(), start):
                p.copy_(old)
        model.to(device)
        run = torch.compile(model) if device == "cuda" else model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = functional.cross_entropy(run(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
        losses.append(loss.detach().cpu())
        weights.append([p.detach().cpu().clone() for p in model.parameters()])
    close("loss of the third step", losses[1], losses[0], 1e-4)
    for number, (got, want) in enumerate(zip(weights[1], weights[0])):
        close(f"weight {number}", got, want, 1e-4)


def dynamic():
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    inputs = [torch.randn(rows, 32) for rows in (5, 17, 64)]
    wants = [model(x) for x in inputs]
    run = torch.compile(model.cuda(), dynamic=True)
    for x, want in zip(inputs, wants):
        close(f"{x.shape[0]} rows", run(x.cuda()), want, 1e-4)


def flex_attention():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention as flex

    q, k, v = (torch.randn(1, 2, 256, 64) for _ in range(3))
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 256, 256, device="cuda")
    got = torch.compile(flex)(q.cuda(), k.cuda(), v.cuda(), block_mask=mask)
    close("flex_attention", got, functional.scaled_dot_product_attention(q, k, v, is_causal=True), 2e-3)


def triton_op():
    import triton
    import triton.language as tl

    global tl_scaled

    @triton.jit
    def tl_scaled(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)

    @torch.library.triton_op("foretrace_programs::doubled", mutates_args={})
    def doubled(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        torch.library.wrap_triton(tl_scaled)[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y

    x = torch.randn(1000)
    close("triton_op", torch.compile(lambda x: doubled(x.sin()) + 1)(x.cuda()), 2 * x.sin() + 1, 1e-5)


def int8_weights():
    weight = torch.randint(-127, 128, (64, 128), dtype=torch.int8)
    scale, x = torch.rand(64) / 100, torch.randn(16, 128)

    def product(x, weight, scale):
        return functional.linear(x, weight.to(x.dtype)) * scale

    close("int8 weights", torch.compile(product)(x.cuda(), weight.cuda(), scale.cuda()), product(x, weight, scale), 1e-4)


def ahead():
    """AOTInductor's package, compiled and loaded."""
    import os
    import tempfile

    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 8))
    x = torch.randn(16, 32)
    want = model(x).detach()
    with tempfile.TemporaryDirectory() as folder:
        exported = torch.export.export(model.cuda(), (x.cuda(),))
        package = torch._inductor.aoti_compile_and_package(exported, package_path=os.path.join(folder, "model.pt2"))
        close("compiled ahead of time", torch._inductor.aoti_load_package(package)(x.cuda()), want, 1e-5)


if __name__ == "__main__":
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
    finish()
