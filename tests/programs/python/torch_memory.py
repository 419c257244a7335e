"""PyTorch's allocator: memory that is freed, given back and grown again; with expandable segments it maps it."""

import sys

import torch

parts = [torch.full((1 << 20,), float(i), device="cuda") for i in range(8)]
del parts[2:5]
torch.cuda.empty_cache()
more = torch.ones(5 << 20, device="cuda")
fine = more.sum().item() == 5 << 20 and all(part[-1].item() == i for part, i in zip(parts, (0, 1, 5, 6, 7)))
print("right" if fine else "WRONG")
sys.exit(0 if fine else 1)
