"""sageattention: attention whose first product is of bytes, against PyTorch on the CPU."""

import torch
from checks import close, finish
from sageattention import sageattn

torch.manual_seed(0)
for length, width, causal in ((256, 64, False), (256, 128, True)):
    q, k, v = (torch.randn(1, 2, length, width).half() for _ in range(3))
    want = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal)
    close(f"heads of {width}{', causal' if causal else ''}", sageattn(q.cuda(), k.cuda(), v.cuda(), is_causal=causal), want, 3e-2)
finish()
