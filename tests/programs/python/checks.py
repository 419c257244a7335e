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


def finish():
    print("right" if not _WRONG else "WRONG: " + ", ".join(_WRONG))
    raise SystemExit(1 if _WRONG else 0)
