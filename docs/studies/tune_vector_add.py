"""Kernel Tuner, unmodified, by its usual back end for CUDA, on a GPU that is not there:

    pip install kernel_tuner cuda-python nvidia-cuda-nvrtc
    foretrace run --arch h100 --quiet --cold -- python -m foretrace_cuda tune_vector_add.py CACHE.json
    python tune_vector_add.py CACHE.json --simulate

lang="CUDA" takes cuda-python where it is installed; foretrace_cuda gives cuda.bindings.runtime to Foretrace's libcudart. The second line needs no
foretrace: Kernel Tuner's simulation mode reads the times from the cache file that the first has written.
"""

import sys

import numpy
from kernel_tuner import tune_kernel

SOURCE = """
extern "C" __global__ void vector_add(float* c, const float* a, const float* b, int n) {
  for (int j = 0; j < ELEMENTS; ++j) {
    const int i = (blockIdx.x * ELEMENTS + j) * block_size_x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
  }
}
"""


def main(cache: str, lang: str, simulate: bool) -> None:
    n = numpy.int32(1 << 16)
    a, b = (numpy.random.default_rng(seed).random(n, dtype=numpy.float32) for seed in (1, 2))
    results, environment = tune_kernel(
        "vector_add", SOURCE, int(n), [numpy.zeros_like(a), a, b, n], {"block_size_x": [64, 128, 256], "ELEMENTS": [1, 2, 8]},
        grid_div_x=["block_size_x", "ELEMENTS"], answer=[a + b, None, None, None], lang=lang, iterations=2, cache=cache, simulation_mode=simulate, quiet=True)
    best = min(results, key=lambda row: row["time"])
    print(f"{len(results)} variants, best: block_size_x={best['block_size_x']} ELEMENTS={best['ELEMENTS']} {1000 * best['time']:.3f} us on {environment['device_name']}")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--simulate"]
    if not 1 <= len(words) <= 2:
        print(f"tune_vector_add.py: {' '.join(words)}: expected CACHE.json [LANG] [--simulate]", file=sys.stderr)
        sys.exit(2)
    main(words[0], words[1] if len(words) > 1 else "CUDA", "--simulate" in sys.argv)
