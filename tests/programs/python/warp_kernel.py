"""warp-lang: a kernel on an array."""

import numpy
import warp

warp.init()


@warp.kernel
def doubled(x: warp.array(dtype=float)):
    i = warp.tid()
    x[i] = 2.0 * x[i]


array = warp.array(numpy.arange(10, dtype="float32"), device="cuda:0")
warp.launch(doubled, dim=10, inputs=[array])
right = (array.numpy() == 2 * numpy.arange(10)).all()
print("right" if right else "WRONG")
raise SystemExit(0 if right else 1)
