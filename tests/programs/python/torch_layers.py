"""Layers whose training PyTorch gives to cuDNN, against the CPU's results and gradients: torch_layers.py [NAME ...]."""

import sys

import foretrace_torch  # noqa: F401  registers the operators
import torch
from torch import nn

LAYERS = {
    "batch_norm": (lambda: nn.BatchNorm2d(8), (4, 8, 6, 6)),
    "instance_norm": (lambda: nn.InstanceNorm2d(8, affine=True), (4, 8, 6, 6)),
    "conv3d": (lambda: nn.Conv3d(4, 6, 3, stride=2, padding=1, groups=2), (2, 4, 6, 7, 8)),
    "conv_transpose3d": (lambda: nn.ConvTranspose3d(4, 6, 3, stride=2, padding=1, output_padding=1), (2, 4, 3, 4, 5)),
    "lstm": (lambda: nn.LSTM(8, 16, num_layers=2, bidirectional=True), (6, 4, 8)),
    "gru": (lambda: nn.GRU(8, 16), (6, 4, 8)),
}


def largest_error(make, shape):
    ours = make().cuda()
    reference = make()
    reference.load_state_dict(ours.state_dict())
    there = torch.randn(shape).cuda().requires_grad_()
    here = there.detach().cpu().requires_grad_()
    pairs = []
    for layer, values in ((ours, there), (reference, here)):
        result = layer(values)
        result = result[0] if isinstance(result, tuple) else result
        result.square().sum().backward()
        pairs.append([result, values.grad, *(p.grad for p in layer.parameters())])
    return max(((a.cpu() - b).abs().max() / b.abs().max().clamp(min=1)).item() for a, b in zip(*pairs))


def main(names):
    torch.manual_seed(1)
    failed = 0
    for name in names or LAYERS:
        error = largest_error(*LAYERS[name])
        failed += not error < 1e-4
        print(f"{name} {'ok' if error < 1e-4 else 'WRONG'} {error:.1e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
