"""cupy: an array, its sum."""

import cupy

print("right" if int(cupy.arange(10).sum()) == 45 else "WRONG")
