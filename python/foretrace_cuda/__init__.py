"""CUDA's runtime for Python's packages that bring NVIDIA's, for programs under `foretrace run`.

    import foretrace_cuda                            # before cuda.bindings or cutlass, or, with the program unchanged,
    foretrace run --arch h100 -- python -m foretrace_cuda program.py args

cuda.bindings.runtime has a CUDA runtime inside that runs on NVIDIA's driver alone, and so has the library that CuTe DSL's code
(nvidia-cutlass-dsl, and what is built on it: quack, flash-attn-4) calls on the host. This package gives the functions of
cuda.bindings.runtime that such programs call to Foretrace's libcudart, and links CuTe DSL's runtime anew, from the static library that its
wheel brings for programs of one's own, against that libcudart. Other functions of cuda.bindings.runtime stay as they are and fail there;
standard error names each that did, once, in a quiet run too.
"""

from foretrace_cuda import dsl, runtime


def enable():
    """Takes the functions' places; once. Importing the package does it. Does nothing for what is not installed."""
    runtime.enable()
    dsl.enable()


enable()
