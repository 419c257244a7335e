"""Results against what is expected: the largest error of each, and an exit status that says whether all were right."""

import numpy

_WRONG = []


def array(values):
    """As numpy's doubles, from numpy or PyTorch."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().double().numpy()
    return numpy.asarray(values, dtype="float64")


def close(name, got, want, tolerance):
    """Whether `got` is within `tolerance` of `want`, as a part of the largest value of `want`; prints the largest error so."""
    got, want = array(got), array(want)
    if got.shape != want.shape:
        print(f"{name}: WRONG, shape {got.shape}; expected {want.shape}")
        _WRONG.append(name)
        return False
    most = float(numpy.abs(want).max()) or 1.0
    error = float(numpy.abs(got - want).max()) / most
    right = error <= tolerance  # false for NaN
    print(f"{name}: {'right' if right else 'WRONG'}, largest error {error:.1e} of the largest value", flush=True)
    if not right:
        _WRONG.append(name)
    return right


def attention(function):
    """Of FlashAttention's interface: bfloat16, heads of 64 and, with a causal mask, of 128, against PyTorch on the CPU."""
    import torch

    torch.manual_seed(0)
    for width, causal in ((64, False), (128, True)):
        q, k, v = (torch.randn(1, 256, 2, width).bfloat16() for _ in range(3))
        out = function(q.cuda(), k.cuda(), v.cuda(), causal=causal)
        want = torch.nn.functional.scaled_dot_product_attention(*(x.float().transpose(1, 2) for x in (q, k, v)), is_causal=causal)
        close(f"heads of {width}{', causal' if causal else ''}", out[0] if isinstance(out, tuple) else out, want.transpose(1, 2), 1e-2)


def finish():
    print("right" if not _WRONG else "WRONG: " + ", ".join(_WRONG))
    raise SystemExit(1 if _WRONG else 0)
