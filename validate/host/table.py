"""The table of points that configs/hosts was not fitted to: predicted before it is measured, and measured.

    table.py predict FORETRACE OUT.tsv [--nvcc NVCC] [--arch h100-sxm] [--host xeon-h100]   table.cu under foretrace run: of its time line what the
                                                                       program would measure
    table.py measure OUT.tsv [--nvcc NVCC] [--without-cupti]           on a machine with the GPU: calls, events and the kernels' own stamps in a
                                                                       program without CUPTI, its timestamps in another

`judge.py table PREDICTED.tsv MEASURED.tsv` holds them against each other.
"""

import argparse
import datetime
import glob
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(FOLDER, "../../scripts"))
import usable  # noqa: E402

BLOCKER = "block"  # the kernel that work waits behind
STREAMS = 0        # their process in the trace; engines are another
HEADER = "# kind\tpoint\tmethod\tunit\tvalue"


def build(nvcc, program, machine, extra=()):
    subprocess.run([nvcc, "-std=c++20", "-O3", f"-arch={machine}", "-o", program, os.path.join(FOLDER, "table.cu"), *extra], check=True)


class TimeLine:
    """What --perfetto wrote: per range of the program its host time, and the work on the GPU that began in it."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        slices = [e for e in (document["traceEvents"] if isinstance(document, dict) else document) if e.get("ph") == "X"]
        self.ranges = {e["name"]: (e["ts"], e["ts"] + e["dur"]) for e in slices if e.get("cat") == "range"}
        # A copy is shown twice, in its stream and on its engine.
        self.work = sorted((e for e in slices if e.get("cat") in ("kernel", "work") and e["pid"] == STREAMS), key=lambda e: e["ts"])

    def host(self, point):
        begin, end = self.ranges["c " + point]
        return end - begin

    def on_gpu(self, point):
        begin, end = self.ranges["p " + point]
        return [e for e in self.work if begin <= e["ts"] < end and e["name"] != BLOCKER]

    def short(self, name):
        """A kernel that does nothing between its stamps: what it takes before and after them."""
        return self.on_gpu("short kernel/" + name)[-1]["dur"]


def gaps(work):
    between = [after["ts"] - before["ts"] - before["dur"] for before, after in zip(work, work[1:])]
    return sum(between) / len(between)


def value_of(line, point, method, said, per, alone):
    """What the program would have measured, in us."""
    if method == "events":
        return said
    if method == "call":
        return line.host(point) / per
    work = line.on_gpu(point)
    if not work:
        sys.exit(f"table.py: no work on the GPU in {point}")
    if method == "stamps":
        kernels = [e for e in work if e["cat"] == "kernel"]
        return gaps(kernels) + line.short(alone)
    if method == "cupti gap":
        return gaps(work)
    if method == "cupti time":
        return sum(e["dur"] for e in work) / per
    return (max(e["ts"] + e["dur"] for e in work) - work[0]["ts"]) / per


def write(path, rows, header):
    text = "\n".join([header, *("\t".join(row) for row in rows)]) + "\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{path}: {len(rows)} rows")


def predict(options):
    with tempfile.TemporaryDirectory() as folder:
        program, trace = os.path.join(folder, "table"), os.path.join(folder, "trace.json")
        build(options.nvcc, program, options.machine, ["-cudart", "shared"])
        done = subprocess.run([options.foretrace, "run", "--arch", options.arch, "--host", options.host, "--quiet", "--perfetto", trace, "--", program, "predict"],
                              stdout=subprocess.PIPE, text=True, check=True)
        line = TimeLine(trace)
    rows = []
    for kind, point, method, unit, said, per, alone in (row.split("\t") for row in done.stdout.splitlines()):
        value = value_of(line, f"{kind}/{point}", method, float(said), float(per), alone)
        rows.append((kind, point, method, unit, f"{value:.4f}"))
    version = subprocess.run([options.foretrace, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")[0]
    write(options.out, rows, f"# {version}, run --arch {options.arch} --host {options.host}\n{HEADER}")


def cupti_flags():
    """Where CUPTI is: the toolkit's own place, its extras, or the package that PyTorch comes with."""
    roots = ["/usr/local/cuda/extras/CUPTI", "/usr/local/cuda", os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "cu13"),
             os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "cuda_cupti")]
    for root in roots:
        header = os.path.join(root, "include", "cupti.h")
        for library in sorted(glob.glob(os.path.join(root, "lib*", "libcupti.so*"))):
            if os.path.exists(header):
                place = os.path.dirname(library)
                return ["-DCUPTI", "-I", os.path.dirname(header), "-Xlinker", library, "-Xlinker", f"-rpath={place}"]
    return None


def measure(options):
    device = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,pcie.link.gen.current,pcie.link.width.current", "--format=csv,noheader"],
                            stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    flags = None if options.without_cupti else cupti_flags()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for extra in [[]] if flags is None else [[], flags]:
            program = os.path.join(folder, f"table{len(extra)}")
            build(options.nvcc, program, options.machine, extra)
            began = time.monotonic()
            done = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False)
            rows += [row.split("\t") for row in done.stdout.splitlines()]
            write(options.out, rows, f"# {device}, {datetime.date.today()}\n{HEADER}\tp10\tp90\trepeats")
            print(f"{'with' if extra else 'without'} CUPTI: {time.monotonic() - began:.1f} s", flush=True)
            if done.returncode != 0:
                sys.exit(f"table.py: the program {'with' if extra else 'without'} CUPTI ended with status {done.returncode}; {options.out} has the rows up to there")
    if flags is None and not options.without_cupti:
        sys.exit("table.py: CUPTI is not here (cupti.h and libcupti.so in /usr/local/cuda, its extras/CUPTI or site-packages/nvidia): its rows are missing")


def main():
    parser = usable.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("predict")
    make.add_argument("foretrace")
    make.add_argument("out")
    make.add_argument("--arch", default="h100-sxm")
    make.add_argument("--host", default="xeon-h100")
    make.set_defaults(run=predict)
    ask = commands.add_parser("measure")
    ask.add_argument("out")
    ask.add_argument("--without-cupti", action="store_true")
    ask.set_defaults(run=measure)
    for command in (make, ask):
        command.add_argument("--nvcc", default="nvcc")
        command.add_argument("--machine", default="sm_90")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    with usable.told():
        main()
