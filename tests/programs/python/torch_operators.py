"""PyTorch's operators on the GPU against the CPU: torch_operators.py [products] [NAME ...]. A line each, works or what was wrong.

`products`: those that PyTorch gives to cuBLAS and cuDNN, as foretrace_torch has them.
"""

import sys

import torch

nn = torch.nn.functional
torch.manual_seed(0)
CASES, PRODUCTS = [], []


def F(*shape):
    return torch.randn(*shape)


def P(*shape):
    return torch.rand(*shape) + 0.1


def I(end, *shape):
    return torch.randint(0, end, shape)


def case(name, function, *arguments):
    CASES.append((name, function, arguments))


def product(name, function, *arguments):
    PRODUCTS.append((name, function, arguments))


a, b = F(64, 96), F(64, 96)
for n in "add sub mul div maximum minimum atan2 hypot".split():
    case(n, getattr(torch, n), a, b)
case("pow", torch.pow, P(64, 96), b)
case("remainder", torch.remainder, a, P(64, 96))
case("fmod", torch.fmod, a, P(64, 96))
for n in "neg abs exp sin cos tan tanh sigmoid erf floor ceil round trunc sign relu atan sinh cosh expm1".split():
    case(n, getattr(torch, n), a)
for n in "log sqrt rsqrt reciprocal log1p log2 lgamma".split():
    case(n, getattr(torch, n), P(64, 96))
for n in "gelu silu elu leaky_relu softplus hardswish mish".split():
    case(n, getattr(nn, n), a)
for n in "eq ne lt le gt ge".split():
    case(n, getattr(torch, n), a.round(), b.round())
case("logical_and", torch.logical_and, a>0, b>0)
case("bitwise_xor", torch.bitwise_xor, I(100, 64), I(100, 64))
case("bitwise_left_shift", torch.bitwise_left_shift, I(100, 64), I(5, 64))
case("where", torch.where, a>0, a, b)
case("clamp", lambda x:x.clamp(-1, 1), a)
case("lerp", lambda x, y:torch.lerp(x, y, 0.3), a, b)
case("addcmul", torch.addcmul, a, b, b)
for n in "sum mean prod max min std var argmax argmin any all norm".split():
    case(n, getattr(torch, n), a if n not in("any", "all", "prod") else (a>0 if n!="prod" else P(8)))
case("sum_dim", lambda x:x.sum(0), a)
case("mean_dim", lambda x:x.mean(1), a)
case("max_dim", lambda x:x.max(1)[0], a)
case("amax", lambda x:x.amax(1), a)
case("logsumexp", lambda x:x.logsumexp(1), a)
case("count_nonzero", torch.count_nonzero, a.round())
case("cumsum", lambda x:x.cumsum(1), a)
case("cumprod", lambda x:x.cumprod(1), P(8, 16))
case("cummax", lambda x:x.cummax(1)[0], a)
case("softmax", lambda x:x.softmax(1), a)
case("log_softmax", lambda x:x.log_softmax(1), a)
case("layer_norm", lambda x:nn.layer_norm(x, (96, )), a)
case("group_norm", lambda x:nn.group_norm(x, 4), F(4, 8, 6, 6))
case("batch_norm", lambda x:nn.batch_norm(x, None, None, training=True), F(4, 8, 6, 6))
case("rms_norm", lambda x:nn.rms_norm(x, (96, )), a)
case("sort", lambda x:torch.sort(x, 1)[0], a)
case("sort_large", lambda x:torch.sort(x)[0], F(10000))
case("argsort", lambda x:x.argsort(), torch.randperm(500))
case("topk", lambda x:x.topk(5)[0], a)
case("kthvalue", lambda x:x.kthvalue(5)[0], a)
case("median", lambda x:x.median(1)[0], a)
case("unique", torch.unique, I(50, 1000))
case("searchsorted", torch.searchsorted, torch.arange(0, 100.), P(20)*50)
case("bincount", torch.bincount, I(20, 500))
case("histc", lambda x:torch.histc(x, 10, 0, 1), torch.rand(1000))
case("index_select", lambda x, i:x.index_select(0, i), a, I(64, 20))
case("gather", lambda x, i:x.gather(1, i), a, I(96, 64, 10))
case("scatter_add", lambda x, i, s:x.scatter_add(1, i, s), a, I(96, 64, 10), F(64, 10))
case("scatter", lambda x, i:x.scatter(1, i, 1.0), a, I(96, 64, 1))
case("index", lambda x, i:x[i], a, I(64, 30))
case("index_put", lambda x, i, v:x.index_put((i, ), v), a, torch.randperm(64)[:30], F(30, 96))
case("index_put_acc", lambda x, i, v:x.index_put((i, ), v, accumulate=True), a, I(64, 30), F(30, 96))
case("index_add", lambda x, i, v:x.index_add(0, i, v), a, I(64, 30), F(30, 96))
case("masked_fill", lambda x:x.masked_fill(x>0, 0), a)
case("masked_select", lambda x:x.masked_select(x>0), a)
case("nonzero", torch.nonzero, a.round())
case("take", torch.take, a, I(1000, 50))
case("cat", lambda x, y:torch.cat([x, y], 1), a, b)
case("stack", lambda x, y:torch.stack([x, y]), a, b)
case("transpose_copy", lambda x:x.t().contiguous(), a)
case("permute_copy", lambda x:x.permute(2, 0, 1).contiguous(), F(5, 6, 7))
case("flip", lambda x:x.flip(0), a)
case("roll", lambda x:x.roll(3, 1), a)
case("repeat", lambda x:x.repeat(2, 3), a)
case("tril", torch.tril, a)
case("triu", torch.triu, a)
case("pad", lambda x:nn.pad(x, (1, 2)), a)
case("to_half", lambda x:x.half(), a)
case("to_bf16", lambda x:x.bfloat16(), a)
case("to_int", lambda x:(x*10).int(), a)
case("embedding", nn.embedding, I(50, 20), F(50, 16))
case("one_hot", lambda i:nn.one_hot(i, 50), I(50, 20))
case("cross_entropy", nn.cross_entropy, F(32, 10), I(10, 32))
case("nll_loss", lambda x, i:nn.nll_loss(x.log_softmax(1), i), F(32, 10), I(10, 32))
case("mse_loss", nn.mse_loss, a, b)
case("l1_loss", nn.l1_loss, a, b)
case("bce_logits", nn.binary_cross_entropy_with_logits, a, torch.rand(64, 96))
case("smooth_l1", nn.smooth_l1_loss, a, b)
case("kl_div", lambda x, y:nn.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"), a, b)
case("max_pool2d", lambda x:nn.max_pool2d(x, 2), F(2, 3, 8, 8))
case("avg_pool2d", lambda x:nn.avg_pool2d(x, 2), F(2, 3, 8, 8))
case("adaptive_avg_pool2d", lambda x:nn.adaptive_avg_pool2d(x, 1), F(2, 3, 8, 8))
case("interpolate", lambda x:nn.interpolate(x, scale_factor=2, mode="bilinear"), F(2, 3, 8, 8))
case("interpolate_nearest", lambda x:nn.interpolate(x, scale_factor=2), F(2, 3, 8, 8))
case("unfold", lambda x:nn.unfold(x, 3), F(2, 3, 8, 8))
case("pixel_shuffle", lambda x:nn.pixel_shuffle(x, 2), F(2, 8, 4, 4))
case("grid_sample", lambda x, g:nn.grid_sample(x, g, align_corners=False), F(2, 3, 8, 8), torch.rand(2, 4, 4, 2)*2-1)
case("arange", lambda x:torch.arange(100, device=x.device), a)
case("linspace", lambda x:torch.linspace(0, 1, 50, device=x.device), a)
case("full", lambda x:torch.full((5, 5), 3., device=x.device), a)
case("eye", lambda x:torch.eye(7, device=x.device), a)
case("outer", torch.outer, F(20), F(30))
case("isnan", torch.isnan, a)
case("nan_to_num", torch.nan_to_num, a/0)
case("complex_mul", lambda x, y:torch.view_as_real(torch.complex(x, y)*torch.complex(y, x)), a, b)
case("dropout_p0", lambda x:nn.dropout(x, 0.0), a)
case("rand_range", lambda x:((torch.rand(1000, device=x.device)<1).all()), a)
case("randn_mean", lambda x:(torch.randn(4000, device=x.device).mean().abs()<0.1), a)
case("randperm_sum", lambda x:torch.randperm(1000, device=x.device).sum(), a)
case("bernoulli_sum", lambda x:(torch.bernoulli(torch.full((4000, ), .5, device=x.device)).mean()-.5).abs()<0.05, a)
case("multinomial", lambda x:torch.multinomial(torch.tensor([0., 1., 0.], device=x.device), 4, replacement=True), a)
case("half_add", lambda x, y:(x.half()+y.half()).float(), a, b)
case("bf16_mul", lambda x, y:(x.bfloat16()*y.bfloat16()).float(), a, b)
case("double_exp", lambda x:x.double().exp(), a)
case("int_div", lambda x, y:x//y, I(1000, 50), I(9, 50)+1)
case("backward", lambda x:torch.autograd.grad((x.requires_grad_().tanh()*x).sum(), x)[0], a.clone())
product("mm", torch.mm, F(64, 48), F(48, 80))
product("addmm", torch.addmm, F(80), F(64, 48), F(48, 80))
product("bmm", torch.bmm, F(4, 32, 48), F(4, 48, 24))
product("baddbmm", torch.baddbmm, F(4, 32, 24), F(4, 32, 48), F(4, 48, 24))
product("linear", nn.linear, F(3, 64, 48), F(80, 48), F(80))
product("sdpa", nn.scaled_dot_product_attention, F(2, 4, 64, 32), F(2, 4, 64, 32), F(2, 4, 64, 32))
product("sdpa_causal", lambda q, k, v:nn.scaled_dot_product_attention(q, k, v, is_causal=True), F(2, 4, 64, 32), F(2, 4, 64, 32), F(2, 4, 64, 32))
product("conv2d", lambda x, w, b:nn.conv2d(x, w, b, padding=1), F(2, 8, 12, 12), F(16, 8, 3, 3), F(16))
product("conv1d", lambda x, w:nn.conv1d(x, w, stride=2), F(2, 8, 32), F(16, 8, 3))
product("conv_transpose2d", lambda x, w:nn.conv_transpose2d(x, w, stride=2), F(2, 8, 6, 6), F(8, 4, 3, 3))
product("matvec", lambda x, v:x@v, F(64, 48), F(48))
product("dot", torch.dot, F(100), F(100))
product("einsum", lambda x, y:torch.einsum('bij,bjk->bik', x, y), F(4, 8, 16), F(4, 16, 8))
product("mm_half", lambda x, y:(x.half()@y.half()).float(), F(64, 64), F(64, 64))

C64 = torch.complex64
G = (F(20, 30).relu()).sub(0.8).relu()  # mostly zeros
S = F(6, 6)
S = S@S.t()+6*torch.eye(6)
product("mm_double", torch.mm, F(40, 30).double(), F(30, 50).double())
product("mm_complex", torch.mm, torch.randn(40, 30, dtype=C64), torch.randn(30, 50, dtype=C64))
product("mm_adjoint", lambda x, y:x.conj().t()@y, torch.randn(30, 40, dtype=C64), torch.randn(30, 50, dtype=C64))
product("addmm_complex", torch.addmm, torch.randn(50, dtype=C64), torch.randn(40, 30, dtype=C64), torch.randn(30, 50, dtype=C64))
product("vdot_complex", torch.vdot, torch.randn(30, dtype=C64), torch.randn(30, dtype=C64))
product("addmv_", lambda x, y, v:x.clone().addmv_(y, v, beta=0.5, alpha=2), F(64), F(64, 48), F(48))
product("int_mm", torch._int_mm, I(255, 32, 64).sub(128).to(torch.int8), I(255, 64, 32).sub(128).to(torch.int8))
for n, left, right_scale in (("one", (), ()), ("rows", (32, 1), (1, 48))):
    product(f"scaled_mm_{n}_half", lambda x, y, s, t:torch._scaled_mm(x.to(torch.float8_e4m3fn), y.to(torch.float8_e4m3fn).t(), s, t,
                                                                     out_dtype=torch.bfloat16).float(), F(32, 64), F(48, 64), P(left), P(right_scale))
product("conv3d", lambda x, w, b:nn.conv3d(x, w, b, stride=2, padding=1), F(2, 4, 6, 7, 8), F(6, 4, 3, 3, 3), F(6))
product("conv3d_groups", lambda x, w:nn.conv3d(x, w, padding=1, groups=2, dilation=2), F(2, 4, 6, 7, 8), F(6, 2, 3, 3, 3))
product("conv_transpose3d", lambda x, w:nn.conv_transpose3d(x, w, stride=2, padding=1, output_padding=1), F(2, 4, 3, 4, 5), F(4, 6, 3, 3, 3))
product("csr_mv", lambda m, v:m.to_sparse_csr()@v, G, F(30))
product("csr_mm", lambda m, v:m.to_sparse_csr()@v, G, F(30, 8))
product("coo_mm", lambda m, v:torch.sparse.mm(m.to_sparse(), v), G, F(30, 8))
product("sparse_squared", lambda m:torch.sparse.mm(m.to_sparse(), m.t().to_sparse()).to_dense(), G)
product("sampled_addmm", lambda m, x, y:torch.sparse.sampled_addmm(m.to_sparse_csr(), x, y).to_dense(), G, F(20, 8), F(8, 30))
for n in "inv det cholesky eigvalsh svdvals pinv".split():
    product(n, getattr(torch.linalg, n), S)
product("solve", torch.linalg.solve, S, F(6, 2))
product("qr", lambda x:torch.linalg.qr(x)[1].abs(), F(6, 4))
product("lstsq", lambda x, y:torch.linalg.lstsq(x, y)[0], F(8, 3), F(8, 2))
product("solve_triangular", lambda x, y:torch.linalg.solve_triangular(x.triu(), y, upper=True), S, F(6, 2))
product("cholesky_out", lambda x:torch.linalg.cholesky(x, out=torch.empty(0, device=x.device)), S)
product("fft", lambda x:torch.view_as_real(torch.fft.fft(x)), F(3, 16))
product("irfft", lambda x:torch.fft.irfft(torch.fft.rfft(x)*2), F(3, 16))
product("stft", lambda x:torch.stft(x, 16, window=torch.hann_window(16, device=x.device), return_complex=True).abs(), F(2, 64))


def tolerance(name, cases):
    if "half" in name or "bf16" in name:
        return 2e-2
    return 1e-4 if cases is CASES else 3e-3  # products sum in another order


def right(name, function, arguments, allowed):
    want = function(*arguments)
    got = function(*[x.cuda() if torch.is_tensor(x) else x for x in arguments]).cpu()
    wide = torch.complex128 if want.is_complex() else torch.float64
    return (want.shape == got.shape and want.dtype == got.dtype and
            torch.allclose(want.to(wide), got.to(wide), rtol=allowed, atol=allowed, equal_nan=True))


def main(words):
    cases = CASES
    if words[:1] == ["products"]:
        import foretrace_torch  # noqa: F401
        cases, words = PRODUCTS, words[1:]
    failed = 0
    for name, function, arguments in cases:
        if words and name not in words:
            continue
        try:
            said = "works" if right(name, function, arguments, tolerance(name, cases)) else "WRONG"
        except (RuntimeError, NotImplementedError) as error:
            said = str(error).split("\n")[0][:200]
        failed += said != "works"
        print(name, said, flush=True)
    print(f"{len(cases)} operators, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
