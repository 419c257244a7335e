"""FlashAttention 4 (CuTe DSL), forward, against PyTorch on the CPU."""

import torch
from checks import close, finish
from flash_attn.cute import flash_attn_func

torch.manual_seed(0)
for width, causal in ((64, False), (128, True)):
    q, k, v = (torch.randn(1, 256, 2, width).bfloat16() for _ in range(3))
    out = flash_attn_func(q.cuda(), k.cuda(), v.cuda(), causal=causal)
    want = torch.nn.functional.scaled_dot_product_attention(*(x.float().transpose(1, 2) for x in (q, k, v)), is_causal=causal)
    close(f"heads of {width}{', causal' if causal else ''}", out[0] if isinstance(out, tuple) else out, want.transpose(1, 2), 1e-2)
finish()
