"""tinygrad: elementwise work, a reduction, a product of matrices and a step of training on its CUDA device."""

import numpy
from tinygrad import Tensor

random = numpy.random.default_rng(0)
x = random.standard_normal((32, 64)).astype("float32")
w = random.standard_normal((64, 16)).astype("float32")
tx, tw = Tensor(x), Tensor(w)
hidden = (tx @ tw).relu()
loss = (hidden * hidden).mean()
(slope,) = loss.gradient(tw)
expected = numpy.maximum(x @ w, 0)
gradient = x.T @ (2 * expected / expected.size)
right = numpy.allclose(hidden.numpy(), expected, atol=1e-3) and numpy.allclose(slope.numpy(), gradient, atol=1e-4)
print("tinygrad:", tx.device, "right" if right else "WRONG")
raise SystemExit(0 if right else 1)
