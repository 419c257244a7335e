"""CuTe DSL: an addition by cute.kernel, its tensors PyTorch's by DLPack."""

import cutlass.cute as cute
import torch
from checks import close, finish
from cutlass.cute.runtime import from_dlpack


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    threads, _, _ = cute.arch.block_dim()
    i = block * threads + thread
    if i < cute.size(a):
        c[i] = a[i] + b[i]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    add_kernel(a, b, c).launch(grid=[cute.ceil_div(cute.size(a), 128), 1, 1], block=[128, 1, 1])


torch.manual_seed(0)
a, b = torch.randn(1000), torch.randn(1000)
c = torch.zeros(1000, device="cuda")
add(*(from_dlpack(tensor) for tensor in (a.cuda(), b.cuda(), c)))
torch.cuda.synchronize()
close("sum", c, a + b, 0)
finish()
