"""flash-linear-attention, by chunks against the recurrence that they stand for, on the CPU in double: fla_recurrences.py NAME."""

import sys

import torch
from checks import close, finish

import foretrace_torch  # noqa: F401  the products that PyTorch gives to cuBLAS
from fla.ops.gated_delta_rule import chunk_gated_delta_rule
from fla.ops.gla import chunk_gla
from fla.ops.hgrn import chunk_hgrn
from fla.ops.linear_attn import chunk_linear_attn
from fla.ops.retention import chunk_retention
from fla.ops.rwkv7 import chunk_rwkv7

BATCH, LENGTH, HEADS, WIDTH = 1, 96, 2, 32
torch.manual_seed(0)
nn = torch.nn.functional


def made(*shape):
    return torch.randn(BATCH, LENGTH, HEADS, *(shape or (WIDTH,)))


def recurrence(q, k, v, decay, change=None, scale=WIDTH ** -0.5):
    """state = decay * state + k change(v); the result is q times the state."""
    state = torch.zeros(BATCH, HEADS, WIDTH, WIDTH, dtype=torch.float64)
    results = []
    for t in range(LENGTH):
        state = decay(t)[..., None].double() * state
        written = v[:, t].double()
        if change is not None:
            written = change(t, state, written)
        state = state + k[:, t].double()[..., None] * written[..., None, :]
        results.append(torch.einsum("bhk,bhkv->bhv", q[:, t].double() * scale, state))
    return torch.stack(results, 1)


def cuda(*tensors):
    return [tensor.cuda() for tensor in tensors]


def first(result):
    return result[0] if isinstance(result, tuple) else result


q, k, v = made() * 0.5, made() * 0.5, made()
keys = nn.normalize(k, dim=-1)


def linear_attention():
    decay = torch.ones(BATCH, HEADS, 1)
    close("linear attention", first(chunk_linear_attn(*cuda(q, k, v), normalize=False)), recurrence(q, k, v, lambda t: decay), 1e-2)


def retention():
    decay = (1 - 2.0 ** (-5 - torch.arange(HEADS)))[None, :, None]
    close("retention", first(chunk_retention(*cuda(q, k, v))), recurrence(q, k, v, lambda t: decay), 1e-2)


def gated_linear_attention():
    gate = nn.logsigmoid(made())
    close("gated linear attention", first(chunk_gla(*cuda(q, k, v, gate))), recurrence(q, k, v, lambda t: gate[:, t].exp()), 1e-2)


def gated_delta_rule():
    beta, forget = torch.rand(BATCH, LENGTH, HEADS), nn.logsigmoid(made(1)[..., 0])

    def corrected(t, state, written):
        there = torch.einsum("bhk,bhkv->bhv", keys[:, t].double(), state)
        return beta[:, t].double()[..., None] * (written - there)

    close("gated delta rule", first(chunk_gated_delta_rule(*cuda(q, keys, v, forget, beta))),
          recurrence(q, keys, v, lambda t: forget[:, t].exp()[..., None], corrected), 1e-2)


def rwkv7():
    """state = state diag(exp(w)) + (state a) b + v k, by rows of values."""
    r, w, a, b = made() * 0.5, -0.6 * torch.sigmoid(made()), -keys, keys * torch.sigmoid(made())
    state, results = torch.zeros(BATCH, HEADS, WIDTH, WIDTH, dtype=torch.float64), []
    for t in range(LENGTH):
        now = [x[:, t].double() for x in (r, w, k, v, a, b)]
        taken = torch.einsum("bhvk,bhk->bhv", state, now[4])
        state = state * now[1].exp()[:, :, None] + taken[..., None] * now[5][:, :, None] + now[3][..., None] * now[2][:, :, None]
        results.append(torch.einsum("bhk,bhvk->bhv", now[0], state))
    close("RWKV 7", first(chunk_rwkv7(*cuda(r, w, k, v, a, b), scale=1.0)), torch.stack(results, 1), 1e-2)


def hgrn():
    x, g = torch.randn(BATCH, LENGTH, 64), nn.logsigmoid(torch.randn(BATCH, LENGTH, 64))
    state, wanted = torch.zeros(BATCH, 64, dtype=torch.float64), []
    for t in range(LENGTH):
        state = g[:, t].exp().double() * state + x[:, t].double()
        wanted.append(state)
    close("HGRN", first(chunk_hgrn(*cuda(x, g))), torch.stack(wanted, 1), 1e-4)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    finish()
