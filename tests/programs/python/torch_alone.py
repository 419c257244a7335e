"""What ends without foretrace_torch, by PyTorch's own error: torch_alone.py matmul | conv2d | attention | fft | inv; attention_float works."""

import sys

import torch
from checks import close, finish
from torch.nn import functional

torch.manual_seed(0)
x = torch.randn(1, 2, 64, 64)
CASES = {"matmul": lambda x: x @ x, "conv2d": lambda x: functional.conv2d(x, x[:, :, :3, :3]), "fft": lambda x: torch.fft.rfft(x).abs(),
         "inv": torch.linalg.inv, "attention": lambda x: functional.scaled_dot_product_attention(*(x.half(),) * 3).float(),
         "attention_float": lambda x: functional.scaled_dot_product_attention(x, x, x)}
case = CASES[sys.argv[1]]
close(sys.argv[1], case(x.cuda()), case(x.float()), 1e-4)
finish()
