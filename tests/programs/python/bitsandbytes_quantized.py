"""bitsandbytes: 4 and 8 bits by block, a product with 4-bit weights, Adam with states of 8 bits."""

import bitsandbytes as bnb
import bitsandbytes.functional as quantization
import torch
from checks import close, finish

import foretrace_torch  # noqa: F401  the products that PyTorch gives to cuBLAS

torch.manual_seed(0)
x = torch.randn(128, 256)
bits, state = quantization.quantize_4bit(x.cuda(), blocksize=64, quant_type="nf4")
back = quantization.dequantize_4bit(bits, state).cpu()
host_bits, host_state = quantization.quantize_4bit(x, blocksize=64, quant_type="nf4")
close("nf4, there and back", back, quantization.dequantize_4bit(host_bits, host_state), 1e-6)

row = torch.randn(1, 256).half()
weight, state = quantization.quantize_4bit(x.half().cuda(), blocksize=64, quant_type="nf4")
close("product of a row with nf4 weights", bnb.matmul_4bit(row.cuda(), weight.t(), quant_state=state),
      row.float() @ quantization.dequantize_4bit(weight, state).cpu().float().t(), 2e-3)

bits, state = quantization.quantize_blockwise(x.cuda(), blocksize=256)
scale = x.abs().amax(dim=1, keepdim=True)
code = state.code.cpu()
nearest = code[((x / scale)[..., None] - code).abs().argmin(-1)] * scale  # bitsandbytes' own for the CPU is off by one code where two are near
close("8 bits by block, there and back", quantization.dequantize_blockwise(bits, state), nearest, 1e-6)

start, gradients = torch.randn(64, 128), [torch.randn(64, 128) for _ in range(3)]
weights = [torch.nn.Parameter(start.cuda()), torch.nn.Parameter(start.clone())]
optimizers = [bnb.optim.Adam8bit([weights[0]], lr=1e-2, min_8bit_size=1), torch.optim.Adam([weights[1]], lr=1e-2)]
for gradient in gradients:
    for parameter, optimizer in zip(weights, optimizers):
        parameter.grad = gradient.to(parameter.device)
        optimizer.step()
close("three steps of Adam of 8 bits, from 32 bits", weights[0], weights[1], 1e-2)
finish()
