"""Models of PyTorch under `foretrace run`, compiled by Inductor or eager, against the CPU: torch_models.py mlp|transformer|conv|train."""

import copy
import sys

import torch
from torch import nn

import foretrace_torch  # noqa: F401  the products and convolutions that PyTorch gives to cuBLAS and cuDNN

torch.manual_seed(0)


class Block(nn.Module):
    """A transformer's: causal attention and an MLP, each behind a layer norm."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.first(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.second(x))


def close(name, got, want, tolerance):
    error = ((got.cpu().double() - want.double()).abs().max() / want.double().abs().max()).item()
    print(f"{name}: largest error {error:.1e} of the largest value")
    return error < tolerance


def compiled(model, x):
    want = model(x)
    got = torch.compile(model.cuda())(x.cuda())
    return close("output", got.detach(), want.detach(), 1e-4)


def train():
    """One step of AdamW: 2 layers, width 256, 4 heads, sequences of 128, batch 8."""
    width, words = 256, 512
    model = nn.Sequential(nn.Embedding(words, width), Block(width, 4), Block(width, 4), nn.LayerNorm(width), nn.Linear(width, words))
    text, target = torch.randint(0, words, (8, 128)), torch.randint(0, words, (8, 128))

    def step(model, text, target):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        loss = nn.functional.cross_entropy(model(text).view(-1, words), target.view(-1))
        loss.backward()
        gradients = [p.grad.clone() for p in model.parameters()]
        optimizer.step()
        return loss.detach(), gradients, [p.detach().clone() for p in model.parameters()]

    first, other = copy.deepcopy(model), copy.deepcopy(model).cuda()
    want = step(model, text, target)
    got = step(other, text.cuda(), target.cuda())
    fine = close("loss", got[0], want[0], 1e-5)
    for number, (a, b) in enumerate(zip(got[1], want[1])):
        fine = close(f"gradient {number}", a, b, 1e-3) and fine
    before = [p.detach() for p in first.parameters()]
    for number, (a, b, old, gradient) in enumerate(zip(got[2], want[2], before, want[1])):
        # AdamW's first step is lr g / (|g| + eps): where |g| is of the size of its rounding, the step's size says nothing of the step.
        told = gradient.abs() > 1e-4 * gradient.abs().max()
        fine = close(f"step of weight {number}", (a.cpu() - old)[told], (b - old)[told], 1e-3) and fine
        fine = bool((a.cpu() != old)[told].all()) and fine
    return fine


def main(which):
    if which == "mlp":
        return compiled(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10)), torch.randn(32, 64))
    if which == "transformer":
        return compiled(Block(128, 4), torch.randn(2, 64, 128))
    if which == "conv":
        return compiled(nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(),
                                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).eval(), torch.randn(4, 3, 16, 16))
    return train()


if __name__ == "__main__":
    ok = main(sys.argv[1])
    print("right" if ok else "WRONG")
    sys.exit(0 if ok else 1)
