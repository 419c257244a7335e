"""foretrace.activate() in a process that then loads a library with kernels: activate.py FORETRACE REPOSITORY FOLDER. Needs nvcc."""

import json
import os
import pathlib
import re
import subprocess
import sys

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
sys.path.insert(0, str(REPOSITORY / "python"))
os.environ["FORETRACE"] = FORETRACE
SOURCE = """#include <cstdio>
__global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
extern "C" int twice_all(float* host, int n) {
  float* device = nullptr;
  if (cudaMalloc(&device, n * sizeof(float)) != cudaSuccess) return 1;
  cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);
  twice<<<(n + 255) / 256, 256>>>(device, n);
  cudaMemcpy(host, device, n * sizeof(float), cudaMemcpyDeviceToHost);
  return cudaFree(device) != cudaSuccess;
}
"""
PROGRAM = """
import ctypes, sys, time
import foretrace
session = foretrace.activate("h100", json="activated.json")
assert foretrace.activate("h100") is session
try:
    foretrace.activate("a100")
except foretrace.ForetraceError as error:
    assert "h100" in str(error), error
else:
    raise AssertionError("two chips")
library = ctypes.CDLL("./libtwice.so")
numbers = (ctypes.c_float * 1000)(*range(1000))
assert library.twice_all(numbers, 1000) == 0
assert list(numbers) == [2.0 * i for i in range(1000)]
for _ in range(100):
    try:
        results = session.results()
        break
    except foretrace.ForetraceError:
        time.sleep(0.1)
assert [p.kernel for p in results] == ["twice"] and results[0].arch == "h100-sxm" and results[0].cycles > 1000, results
"""


def gains(environment: dict) -> None:
    """What lifting each limit would bring, at the end of a program under `foretrace run`."""
    program = "import ctypes; numbers = (ctypes.c_float * 1000)(*range(1000)); exit(ctypes.CDLL('./libtwice.so').twice_all(numbers, 1000))"
    done = subprocess.run([FORETRACE, "run", "--arch", "h100", "--gains", "--quiet", "--json", "gains.json", "--html", "gains.html", "--", sys.executable, "-c", program],
                          cwd=FOLDER, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0 and "twice, launch 0" in done.stderr, (done.returncode, done.stderr)
    prediction = json.loads((FOLDER / "gains.json").read_text())["predictions"][0]
    assert len(prediction["gains"]) == 11 and all(gain["cycles"] <= 1.01 * prediction["gains_base"] for gain in prediction["gains"]), prediction["gains"]
    assert re.search(r"\. (Simulated again, it saves|No simulation without this limit) ", prediction["limiter"]["sentence"]), prediction["limiter"]
    assert '"gains_base"' in (FOLDER / "gains.html").read_text()


def operators(environment: dict) -> None:
    """foretrace_torch's names of operators, without PyTorch; where nobody asks, a function is itself."""
    program = f"""
import ctypes, importlib.util, sys
spec = importlib.util.spec_from_file_location("operators", {str(REPOSITORY / "python" / "foretrace_torch" / "operators.py")!r})
operators = importlib.util.module_from_spec(spec)
spec.loader.exec_module(operators)
assert operators.aten("addmm.out") == "aten::addmm" and operators.aten("mm") == "aten::mm"
numbers = (ctypes.c_float * 100)(*range(100))
twice = lambda fails=False: ctypes.CDLL("./libtwice.so").twice_all(numbers, 100) + (1 / 0 if fails else 0)
named = operators.named("aten::mm", "Triton's matmul, not cuBLAS's", twice)
if sys.argv[1] == "alone":
    assert named is twice
    sys.exit()
outer = operators.named("aten::convolution", "", lambda: named() + twice())
assert outer() == 0
try:
    named(True)
except ZeroDivisionError:
    pass
twice()
assert list(numbers) == [16.0 * i for i in range(100)]
"""
    subprocess.run([sys.executable, "-c", program, "alone"], cwd=FOLDER, check=True, env=environment, timeout=60)
    subprocess.run([FORETRACE, "run", "--arch", "h100", "--quiet", "--json", "operators.json", "--", sys.executable, "-c", program, "run"], cwd=FOLDER, check=True,
                   env=environment, timeout=300)
    rows = [(p.get("operator"), p.get("operator_note")) for p in json.loads((FOLDER / "operators.json").read_text())["predictions"]]
    mm = ("aten::mm", "Triton's matmul, not cuBLAS's")
    assert rows == [mm, ("aten::convolution", None), mm, (None, None)], rows


def operators_everywhere(environment: dict) -> None:
    """foretrace_torch's mode around all operators, in a stand-in of PyTorch's modes; where nobody asks, there is none."""
    package = REPOSITORY / "python" / "foretrace_torch"
    program = f"""
import ctypes, importlib.util, sys, types
class Mode:
    open = []
    def __enter__(self): Mode.open.append(self)
    def __exit__(self, *_): Mode.open.pop()
for name in ("torch", "torch.utils", "torch.utils._python_dispatch", "foretrace_torch"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["torch.utils._python_dispatch"].TorchDispatchMode = Mode
for name in ("operators", "everywhere"):
    spec = importlib.util.spec_from_file_location("foretrace_torch." + name, {str(package)!r} + "/" + name + ".py")
    module = importlib.util.module_from_spec(spec)
    setattr(sys.modules["foretrace_torch"], name, module)
    spec.loader.exec_module(module)
operators, everywhere = module.operators, module
numbers = (ctypes.c_float * 100)(*range(100))
class Overload:
    def __init__(self, name): self._schema = types.SimpleNamespace(name=name)
    def __call__(self, fails=False): return ctypes.CDLL("./libtwice.so").twice_all(numbers, 100) + (1 / 0 if fails else 0)
class HigherOrder(Overload):
    def __init__(self): pass
    def name(self): return "cond"
def dispatch(function, *arguments, **words):
    return Mode.open[-1].__torch_dispatch__(function, (), arguments, words) if Mode.open else function(*arguments, **words)
everywhere.enable()
everywhere.enable()
assert len(Mode.open) == (sys.argv[1] == "run"), Mode.open
if sys.argv[1] == "alone":
    sys.exit()
assert all(mode.supports_higher_order_operators and mode.ignore_compile_internals() for mode in Mode.open)
assert dispatch(Overload("aten::add")) == 0
try:
    dispatch(Overload("aten::mul"), fails=True)
except ZeroDivisionError:
    pass
dispatch(HigherOrder())
replaced = operators.named("aten::mm", "Triton's matmul, not cuBLAS's", Overload("aten::mm"))
replaced._schema = types.SimpleNamespace(name="aten::mm")
dispatch(replaced)
everywhere.disable()
assert not Mode.open
dispatch(Overload("aten::add"))
"""
    subprocess.run([sys.executable, "-c", program, "alone"], cwd=FOLDER, check=True, env=environment, timeout=60)
    subprocess.run([FORETRACE, "run", "--arch", "h100", "--quiet", "--json", "everywhere.json", "--", sys.executable, "-c", program, "run"], cwd=FOLDER, check=True,
                   env=environment, timeout=300)
    document = json.loads((FOLDER / "everywhere.json").read_text())
    rows = [(p.get("operator"), p.get("operator_note")) for p in document["predictions"]]
    mm = ("aten::mm", "Triton's matmul, not cuBLAS's")
    assert rows == [("aten::add", None), ("aten::mul", None), ("cond", None), mm, (None, None)], rows
    # Summed by operator; the one that foretrace_torch has is not counted within PyTorch's own of its name.
    sums = {row["name"]: (row["count"], row["kernels"]) for row in document["program"]["time_line"]["ranges"]}
    assert sums == {f"operator/{name}": (1, 1) for name in ("aten::add", "aten::mul", "cond", "aten::mm")}, sums


def another_library_in_its_place(nvcc: str, environment: dict) -> None:
    """As Kernel Tuner does it: a library is closed, and another one is loaded to where it stood."""
    (FOLDER / "thrice.cu").write_text(SOURCE.replace("*= 2", "*= 3"))
    subprocess.run([nvcc, "-arch=sm_90", "-cudart", "shared", "-shared", "-Xcompiler", "-fPIC", "-o", "libthrice.so", "thrice.cu"], cwd=FOLDER, check=True)
    program = """
import _ctypes, ctypes
for name, factor in (("twice", 2), ("thrice", 3), ("twice", 2)):
    library = ctypes.CDLL(f"./lib{name}.so")
    numbers = (ctypes.c_float * 100)(*range(100))
    assert library.twice_all(numbers, 100) == 0
    assert list(numbers) == [float(factor * i) for i in range(100)], (name, list(numbers)[:4])
    _ctypes.dlclose(library._handle)
"""
    subprocess.run([FORETRACE, "run", "--arch", "h100", "--quiet", "--", sys.executable, "-c", program], cwd=FOLDER, check=True, env=environment, timeout=300)


def main() -> None:
    sys.dont_write_bytecode = True
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    (FOLDER / "twice.cu").write_text(SOURCE)
    nvcc = subprocess.run(["bash", "-c", f"source {REPOSITORY}/scripts/common.sh; cuda_tool nvcc"], capture_output=True, text=True).stdout.strip()
    assert nvcc, "no nvcc; scripts/setup installs it"
    subprocess.run([nvcc, "-arch=sm_90", "-cudart", "shared", "-shared", "-Xcompiler", "-fPIC", "-o", "libtwice.so", "twice.cu"], cwd=FOLDER, check=True)
    environment = {**os.environ, "FORETRACE": FORETRACE, "PYTHONPATH": str(REPOSITORY / "python")}
    subprocess.run([sys.executable, "-B", "-c", PROGRAM], cwd=FOLDER, check=True, env=environment, timeout=300)
    subprocess.run(["c++", "-shared", "-fPIC", "-x", "c++", "/dev/null", "-o", "libcudart.so.12"], cwd=FOLDER, check=True)
    late = "import ctypes; ctypes.CDLL('./libcudart.so.12'); import foretrace; foretrace.activate('h100')"
    done = subprocess.run([sys.executable, "-B", "-c", late], cwd=FOLDER, capture_output=True, text=True, env=environment)
    assert "libcudart.so.12 is loaded already" in done.stderr, done.stderr
    document = "import foretrace; foretrace.activate('h100', functional=True, json='x.json')"
    done = subprocess.run([sys.executable, "-B", "-c", document], cwd=FOLDER, capture_output=True, text=True, env=environment)
    assert "json with functional=True: nothing is predicted" in done.stderr, done.stderr
    gains(environment)
    operators(environment)
    operators_everywhere(environment)
    another_library_in_its_place(nvcc, environment)
    print("activate: right")


if __name__ == "__main__":
    main()
