"""sglang-kernel's library of compiled kernels: layers, products by CUTLASS, GGUF's weights, FlashAttention 3 with pages and splits, FlashMLA, against PyTorch
on the CPU.

    sglang_kernels.py layers|products|attention|latent
"""

import math
import sys

import sgl_kernel
import torch
from checks import close, finish

E4M3 = torch.float8_e4m3fn


def layers():
    x, weight = torch.randn(9, 1024).half(), torch.rand(1024).half()
    wide = x.double()
    close("rmsnorm", sgl_kernel.rmsnorm(x.cuda(), weight.cuda()), wide / (wide.square().mean(-1, keepdim=True) + 1e-6).sqrt() * weight.double(), 2e-3)
    x = torch.randn(9, 2048).half()
    close("silu_and_mul", sgl_kernel.silu_and_mul(x.cuda()), torch.nn.functional.silu(x[:, :1024].double()) * x[:, 1024:].double(), 2e-3)
    x, weight, bias = torch.randn(2, 64, 50).half(), torch.randn(64, 4).half(), torch.randn(64).half()
    got = x.cuda()
    sgl_kernel.causal_conv1d_fwd(got, weight.cuda(), bias.cuda(), None, None, None, None, True, -1)
    want = torch.nn.functional.conv1d(x.double(), weight.double()[:, None], bias.double(), padding=3, groups=64)[..., :50]
    close("causal_conv1d_fwd", got, torch.nn.functional.silu(want), 2e-3)
    x = torch.randn(33, 64)
    weights, places = torch.empty(33, 4, device="cuda"), torch.empty(33, 4, dtype=torch.int32, device="cuda")
    sgl_kernel.topk_softmax(weights, places, x.cuda())
    want = torch.softmax(x, -1).topk(4)
    close("topk_softmax", weights, want.values, 1e-6)
    close("topk_softmax, places", places, want.indices, 0)
    x = torch.randn(2, 5000)
    got = sgl_kernel.fast_topk_v2(x.cuda(), torch.tensor([5000, 5000], dtype=torch.int32, device="cuda"), 2048)
    close("fast_topk_v2", got.cpu().sort().values, x.topk(2048).indices.sort().values, 0)


def products():
    for rows, columns, depth in ((100, 256, 256), (300, 512, 512)):
        a_scale, b_scale = torch.rand(rows, 1), torch.rand(columns, 1)
        a, b = torch.randn(rows, depth).to(E4M3), torch.randn(columns, depth).to(E4M3)
        got = sgl_kernel.fp8_scaled_mm(a.cuda(), b.cuda().t(), a_scale.cuda(), b_scale.cuda(), torch.bfloat16)
        close(f"fp8_scaled_mm, {rows} rows", got, a.double() @ b.double().t() * a_scale * b_scale.t(), 1e-2)
        a, b = (torch.randint(-100, 100, shape, dtype=torch.int8) for shape in ((rows, depth), (columns, depth)))
        got = sgl_kernel.int8_scaled_mm(a.cuda(), b.cuda().t(), a_scale.cuda(), b_scale.cuda(), torch.bfloat16)
        close(f"int8_scaled_mm, {rows} rows", got, a.double() @ b.double().t() * a_scale * b_scale.t(), 1e-2)
    from sgl_kernel.quantization.gguf import ggml_dequantize, ggml_mul_mat_a8, ggml_mul_mat_vec_a8

    q8_0 = 8  # blocks of 32: a scale in half, 32 bytes
    scales, bytes_ = (torch.rand(64, 8) * 0.1).half(), torch.randint(-127, 127, (64, 8, 32), dtype=torch.int8)
    packed = torch.cat([scales.view(torch.uint8).reshape(64, 8, 2), bytes_.view(torch.uint8)], -1).reshape(64, -1).contiguous().cuda()
    weights, x = (scales.double()[..., None] * bytes_.double()).reshape(64, 256), torch.randn(5, 256).half()
    close("ggml_dequantize", ggml_dequantize(packed, q8_0, 64, 256, torch.float16), weights, 1e-3)
    close("ggml_mul_mat_a8", ggml_mul_mat_a8(packed, x.cuda(), q8_0, 64), x.double() @ weights.t(), 2e-2)
    close("ggml_mul_mat_vec_a8", ggml_mul_mat_vec_a8(packed, x[:1].cuda(), q8_0, 64), x[:1].double() @ weights.t(), 2e-2)


def attended(q, k, v, causal=False):
    """[length, heads, width], in doubles; fewer heads of keys."""
    q, k, v = (x.double().transpose(0, 1) for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[0] // x.shape[0], 0) for x in (k, v))
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[1:]).triu(1).bool(), -math.inf)
    return (torch.softmax(scores, -1) @ v).transpose(0, 1)


def attention():
    from sgl_kernel.flash_attn import flash_attn_varlen_func, flash_attn_with_kvcache

    for width in (128, 192):
        q, k, v = (torch.randn(177, heads, width).bfloat16() for heads in (4, 2, 2))
        ends = torch.tensor([0, 100, 177], dtype=torch.int32, device="cuda")
        got = flash_attn_varlen_func(q.cuda(), k.cuda(), v.cuda(), ends, ends, 100, 100, causal=True)
        close(f"two sequences, heads of {width}", got, torch.cat([attended(q[s], k[s], v[s], True) for s in (slice(100), slice(100, 177))]), 1e-2)
    q, k, v = (torch.randn(128, 2, 128).to(E4M3) for _ in range(3))
    ends, one = torch.tensor([0, 128], dtype=torch.int32, device="cuda"), torch.ones(1, 2, device="cuda")
    got = flash_attn_varlen_func(q.cuda(), k.cuda(), v.cuda(), ends, ends, 128, 128, q_descale=one, k_descale=one, v_descale=one)
    close("e4m3", got, attended(q, k, v), 5e-2)
    for page, splits, width in ((16, 0, 64), (64, 3, 128)):
        keys, values = (torch.randn(51, page, 2, width).bfloat16() for _ in range(2))
        pages, lengths, q = torch.randperm(51)[:48].reshape(3, 16).int(), [50, 200, 129], torch.randn(3, 1, 4, width).bfloat16()
        got = flash_attn_with_kvcache(q.cuda(), keys.cuda(), values.cuda(), cache_seqlens=torch.tensor(lengths, dtype=torch.int32, device="cuda"),
                                      page_table=pages.cuda(), causal=True, num_splits=splits)
        of = [[x[pages[i].long()].reshape(-1, 2, width)[:n] for x in (keys, values)] for i, n in enumerate(lengths)]
        close(f"pages of {page}, {splits} splits", got, torch.stack([attended(q[i], *of[i]) for i in range(3)]), 1e-2)


def latent():
    from sgl_kernel.flash_mla import flash_mla_sparse_fwd, flash_mla_with_kvcache, get_mla_metadata

    lengths, table = torch.tensor([130, 300], dtype=torch.int32), torch.arange(16, dtype=torch.int32).reshape(2, 8)
    q, cache = torch.randn(2, 1, 64, 576).bfloat16(), torch.randn(16, 64, 1, 576).bfloat16()
    plan, splits = get_mla_metadata(lengths.cuda(), 64, 1)
    got, _ = flash_mla_with_kvcache(q.cuda(), cache.cuda(), table.cuda(), lengths.cuda(), 512, plan, splits, causal=True)
    keys = [cache[table[i].long()].reshape(-1, 1, 576)[:n] for i, n in enumerate(lengths)]
    close("decoding", got, torch.stack([attended(q[i], keys[i], keys[i][..., :512]) for i in range(2)]), 1e-2)
    q, keys = torch.randn(4, 64, 576).bfloat16(), torch.randn(256, 1, 576).bfloat16()
    chosen = torch.stack([torch.randperm(256)[:128] for _ in range(4)]).int()
    got, _, _ = flash_mla_sparse_fwd(q.cuda(), keys.cuda(), chosen[:, None].cuda(), 1 / math.sqrt(576))
    want = [attended(q[i:i + 1], keys[chosen[i].long()], keys[chosen[i].long()][..., :512]) for i in range(4)]
    close("chosen keys", got, torch.cat(want), 1e-2)


torch.manual_seed(0)
{"layers": layers, "products": products, "attention": attention, "latent": latent}[sys.argv[1]]()
finish()
