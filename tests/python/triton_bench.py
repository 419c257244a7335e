"""foretrace_triton with a Triton of our own: triton_bench.py REPOSITORY FOLDER. Its driver notes what it is asked for, in order."""

import pathlib
import shutil
import sys

REPOSITORY, FOLDER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

shutil.rmtree(FOLDER, ignore_errors=True)
(FOLDER / "triton").mkdir(parents=True)
(FOLDER / "triton" / "__init__.py").touch()
(FOLDER / "triton" / "testing.py").write_text("def do_bench():\n    assert False\n\n\ndo_bench_cudagraph = do_bench\n")
(FOLDER / "triton" / "runtime.py").write_text('''
NOTES = []


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        NOTES.append("event")

    def elapsed_time(self, end):
        assert NOTES[-1] == "synchronize"
        return 0.25


class Interface:
    Event = Event

    def synchronize(self):
        NOTES.append("synchronize")


class active:
    get_device_interface = Interface
    get_current_device = lambda: 0
    get_empty_cache_for_benchmark = lambda: "cache"
    clear_cache = lambda cache: NOTES.append(cache)


class driver:
    active = active
''')
sys.path[:0] = [str(FOLDER), str(REPOSITORY / "python")]
sys.modules["torch"] = None  # a Triton without PyTorch

import foretrace_triton  # noqa: E402, F401
from triton import runtime, testing  # noqa: E402


class Tensor:
    grad = 1


tensor = Tensor()
fn = lambda: runtime.NOTES.append("launch")  # noqa: E731
assert testing.do_bench(fn, 25, 100, grad_to_none=[tensor]) == 0.25
assert runtime.NOTES == ["launch", "cache", "event", "launch", "event", "synchronize"], runtime.NOTES
assert tensor.grad is None
assert testing.do_bench(fn, quantiles=(0.5, 0.2, 0.8)) == [0.25] * 3
assert testing.do_bench_cudagraph(fn, quantiles=[0.5]) == 0.25
assert testing.do_bench_cudagraph(fn, return_mode="all") == [0.25]
try:
    testing.do_bench(fn, return_mode="sum")
    assert False, "an unknown mode"
except ValueError as error:
    assert "expected min, max, mean, median or all" in str(error)
