"""Foretrace from Python: how a CUDA kernel will run on a GPU that you do not have.

    import foretrace
    results = foretrace.predict("saxpy.cu", kernel="saxpy", grid=(256,), block=(256,),
                                args=[x, y, 2.0, len(x)], arch=["a100", "h100"])
    results[0].cycles, results[0].limiter, results[0]["dram__bytes_read.sum"]

Everything is done by the program `foretrace`, which the package carries; docs/python.md describes the functions.
"""

from foretrace._activate import Session, activate
from foretrace._launch import Chip, chip, occupancy, predict, simulate
from foretrace._program import ForetraceError, program, version
from foretrace._results import Gain, Instruction, Occupancy, Prediction, Results, read
from foretrace._source import Program, Trace

__all__ = ["Chip", "ForetraceError", "Gain", "Instruction", "Occupancy", "Prediction", "Program", "Results", "Session", "Trace", "activate",
           "chip", "occupancy", "predict", "program", "read", "simulate", "version"]
