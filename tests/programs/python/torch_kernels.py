"""Kernels that PyTorch brings itself (FlashAttention 2, CUTLASS's), alone, without foretrace_torch, against the CPU.

    torch_kernels.py attention|products|sparse
"""

import sys

import torch
from checks import close, finish
from torch.nn.attention import SDPBackend, sdpa_kernel


def attention():
    forms = [("FLASH_ATTENTION", torch.float16, 64, 200, True), ("FLASH_ATTENTION", torch.bfloat16, 128, 256, False),
             ("FLASH_ATTENTION", torch.float16, 256, 130, True), ("EFFICIENT_ATTENTION", torch.float16, 64, 200, True),
             ("EFFICIENT_ATTENTION", torch.float32, 64, 100, False), ("EFFICIENT_ATTENTION", torch.bfloat16, 128, 200, True)]
    for backend, kind, width, length, causal in forms:
        inputs = [torch.randn(1, 2, length, width).to(kind) for _ in range(3)]
        on_device = [x.cuda().requires_grad_() for x in inputs]
        on_host = [x.double().requires_grad_() for x in inputs]
        with sdpa_kernel(getattr(SDPBackend, backend)):
            out = torch.nn.functional.scaled_dot_product_attention(*on_device, is_causal=causal)
        want = torch.nn.functional.scaled_dot_product_attention(*on_host, is_causal=causal)
        back = torch.randn_like(want).to(kind)
        out.backward(back.cuda())
        want.backward(back.double())
        tolerance = 1e-5 if kind == torch.float32 else 1e-2
        name = f"{backend.lower()}, {str(kind)[6:]}, heads of {width}{', causal' if causal else ''}"
        close(name, out, want, tolerance)
        for letter, device, host in zip("qkv", on_device, on_host):
            close(f"{name}, gradient of {letter}", device.grad, host.grad, tolerance)


def of_groups(left, right, ends):
    begins = [0, *ends[:-1]]
    return torch.cat([left[a:b].double() @ right[i].double() for i, (a, b) in enumerate(zip(begins, ends))])


def products():
    ends = [32, 96, 160, 256]
    offsets = torch.tensor(ends, dtype=torch.int32, device="cuda")
    if torch.cuda.get_device_capability() >= (9, 0):  # cuBLAS's before
        a, b = torch.randn(256, 128).bfloat16(), torch.randn(4, 128, 256).bfloat16()
        close("_grouped_mm", torch._grouped_mm(a.cuda(), b.cuda(), offs=offsets), of_groups(a, b, ends), 1e-2)
        a, b = torch.randn(256, 128).to(torch.float8_e4m3fn), torch.randn(4, 256, 128).to(torch.float8_e4m3fn)
        a_scale, b_scale = torch.rand(256) + 0.5, torch.rand(4, 256) + 0.5
        got = torch._scaled_grouped_mm(a.cuda(), b.cuda().transpose(-2, -1), a_scale.cuda(), b_scale.cuda(), offs=offsets,
                                       out_dtype=torch.bfloat16, use_fast_accum=True)
        want = of_groups(a.double() * a_scale[:, None], b.double().transpose(1, 2) * b_scale[:, None], ends)
        close("_scaled_grouped_mm, e4m3", got, want, 1e-2)
    weights = torch.randint(0, 16, (64, 256), dtype=torch.int32)
    packed = torch._convert_weight_to_int4pack((weights[:, ::2] << 4 | weights[:, 1::2]).to(torch.uint8).cuda(), 8)
    scales, x = torch.rand(4, 64, 2).bfloat16(), torch.randn(17, 256).bfloat16()
    scale, zero = (scales[..., i].double().repeat_interleave(64, 0) for i in range(2))
    close("_weight_int4pack_mm", torch._weight_int4pack_mm(x.cuda(), packed, 64, scales.cuda()), x.double() @ ((weights.double().t() - 8) * scale + zero), 1e-2)
    x, weights, scales = torch.randn(32, 128).bfloat16(), torch.randint(-127, 127, (64, 128), dtype=torch.int8), torch.rand(64).bfloat16()
    got = torch._weight_int8pack_mm(x.cuda(), weights.cuda(), scales.cuda())
    close("_weight_int8pack_mm", got, x.double() @ (weights.double() * scales.double()[:, None]).t(), 1e-2)


def sparse():
    """Two of four numbers, CUTLASS's products."""
    from torch.sparse import SparseSemiStructuredTensor, to_sparse_semi_structured

    SparseSemiStructuredTensor._FORCE_CUTLASS = True
    mask = torch.tensor([0, 0, 1, 1]).tile(128, 32)
    for kind in (torch.float16, torch.bfloat16):
        weights, x = torch.randn(128, 128).to(kind) * mask.to(kind), torch.randn(64, 128).to(kind)
        packed = to_sparse_semi_structured(weights.cuda())
        close(f"{str(kind)[6:]}, to_dense", packed.to_dense(), weights, 0)
        close(f"{str(kind)[6:]}, linear", torch.nn.functional.linear(x.cuda(), packed), x.double() @ weights.double().t(), 1e-2)
    weights, x = torch.randint(-4, 5, (128, 128)).mul(mask).to(torch.int8), torch.randint(-4, 5, (64, 128), dtype=torch.int8)
    got = torch.mm(to_sparse_semi_structured(weights.cuda()), x.cuda().t())  # saturates
    close("int8", got, (weights.int() @ x.int().t()).clamp(-128, 127), 0)


torch.manual_seed(0)
{"attention": attention, "products": products, "sparse": sparse}[sys.argv[1]]()
finish()
