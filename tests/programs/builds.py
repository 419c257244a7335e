"""Programs built as a stranger builds them, in the environment of `foretrace env`, and run with predictions: builds.py FORETRACE
REPOSITORY FOLDER [--all] [CHIP ...].

Each is compiled by the commands below in FOLDER, nothing about Foretrace in them, and has to print `ok` on each chip, or to stop with
the sentence that is expected. Without --all: those that compile in seconds. scripts/programs runs them too (table.py), for docs/programs.md.
"""

import os
import re
import shutil
import subprocess
import sys

# name, commands ($S: the folder with the sources), the program, what it prints or how it stops, slow
DEFAULT = "nvcc $S/{0}.cu -o {0}"
CUTLASS = ("nvcc -std=c++17 --expt-relaxed-constexpr -arch={} -DPRODUCT_{} -I$CUTLASS/include -I$CUTLASS/tools/util/include $S/cutlass.cu"
           " -o cutlass_{}")
CUTLASS_WHEEL = "nvidia-cutlass==4.2.0.0"    # whose headers $CUTLASS is
BUILDS = [
    ("relocatable", ["nvcc -rdc=true $S/relocatable/a.cu $S/relocatable/b.cu -o relocatable"], "./relocatable", "ok", False),
    ("relocatable, CMake, CUDA::cudart_static", ["cmake -S $S/relocatable -B cmake", "cmake --build cmake"], "cmake/app", "ok", False),
    ("native: architecture of the GPU that is there, CMake and nvcc under foretrace run",
     ["$FORETRACE run --arch h100 --functional --quiet -- cmake -S $S/native -B cmake", "cmake --build cmake",
      "$FORETRACE run --arch h100 --functional --quiet -- nvcc -Werror all-warnings -arch=native $S/threads.cu -o native_threads"], "cmake/app", "ok", False),
    ("threads", [DEFAULT.format("threads")], "./threads", "ok", False),
    ("threads, linked by g++ with CUDA's folder", ["nvcc -c $S/threads.cu", "g++ threads.o -o linked -L$CUDA/lib64 -lcudart_static -ldl -lrt -lpthread"],
     "./linked", "ok", False),
    ("threads, AddressSanitizer", ["nvcc -Xcompiler -fsanitize=address $S/threads.cu -o threads_checked"], "./threads_checked", "ok", True),
    ("managed", [DEFAULT.format("managed")], "./managed", "ok", True),
    ("streams", [DEFAULT.format("streams")], "./streams", "ok", True),
    ("graphs", [DEFAULT.format("graphs")], "./graphs", "ok", True),
    ("graphs, -G -g", ["nvcc -G -g $S/graphs.cu -o graphs_debug"], "./graphs_debug", "ok", True),
    ("assertion", [DEFAULT.format("assertion")], "./assertion", "cudaErrorAssert", True),
    ("cooperative_groups", ["nvcc -std=c++17 $S/cooperative_groups.cu -o cooperative_groups"], "./cooperative_groups", "ok", True),
    ("thrust_cub", ["nvcc -std=c++17 $S/thrust_cub.cu -o thrust_cub"], "./thrust_cub", "ok", True),
    ("curand_device", [DEFAULT.format("curand_device")], "./curand_device", "ok", True),
    ("features", ["nvcc -std=c++17 --extended-lambda $S/features.cu -o features"], "./features", "ok", True),
    ("clusters", ["nvcc -arch=sm_90 $S/clusters.cu -o clusters"], "./clusters", "ok", True),
    ("driver, a cubin", ["gcc $S/driver.c -I$CUDA/include -L$OURS -lcuda -o driver", "nvcc -fatbin $S/saxpy.cu -o saxpy.fatbin"], "./driver saxpy.fatbin", "ok",
     True),
    ("driver, PTX", ["gcc $S/driver.c -I$CUDA/include -L$OURS -lcuda -o driver", "nvcc -ptx $S/saxpy.cu -o saxpy.ptx"], "./driver saxpy.ptx", "ok", True),
    ("nvrtc", ["nvcc $S/nvrtc.cpp -o nvrtc -lnvrtc -lcuda"], "./nvrtc", "ok", True),
    ("many_launches", [DEFAULT.format("many_launches")], "./many_launches 10000", "done", True),
    ("textures", [DEFAULT.format("textures")], "./textures", "5.000000", True),
    ("concurrent_kernels", [DEFAULT.format("concurrent_kernels")], "./concurrent_kernels", "ok", True),
    ("zero_copy", [DEFAULT.format("zero_copy")], "./zero_copy", "ok", True),
    ("stream_ordered", [DEFAULT.format("stream_ordered")], "./stream_ordered", "ok", False),
    ("graph_update", ["nvcc -arch=sm_90 $S/graph_update.cu -o graph_update"], "./graph_update", "ok", True),
    ("textures_more", [DEFAULT.format("textures_more")], "./textures_more", "ok", True),
    ("math_functions", ["nvcc -std=c++17 $S/math_functions.cu -o math_functions"], "./math_functions", "ok", True),
    ("tensor_cores", ["nvcc -std=c++17 -arch=sm_80 $S/tensor_cores.cu -o tensor_cores"], "./tensor_cores", "ok", True),
    ("libcudacxx", ["nvcc -std=c++17 -arch=sm_80 $S/libcudacxx.cu -o libcudacxx"], "./libcudacxx", "ok", True),
    ("libcudacxx -G", ["nvcc -G -std=c++17 -arch=sm_80 $S/libcudacxx.cu -o libcudacxx_debug"], "./libcudacxx_debug", "ok", True),
    ("cdp_sort", ["nvcc -rdc=true $S/cdp_sort.cu -o cdp_sort -lcudadevrt"], "./cdp_sort", "ok", True),
    ("driver_more", ["nvcc -std=c++17 $S/driver_more.cu -o driver_more -lcuda"], "./driver_more", "ok", True),
    ("vector_add_mmap", ["nvcc $S/vector_add_mmap.cu -o vector_add_mmap -lcuda"], "./vector_add_mmap", "ok", True),
    ("nvjitlink", ["nvcc $S/nvjitlink.cpp -o nvjitlink -lnvJitLink -lnvrtc -lcuda"], "./nvjitlink", "ok", True),
    ("plugin: a library with kernels, opened and closed", ["nvcc -Xcompiler -fPIC -shared $S/plugin.cu -o libplugin.so", "nvcc $S/plugin_host.cu -o plugin_host"],
     "./plugin_host", "ok", True),
    ("processes: fork, a child that is killed", [DEFAULT.format("processes")], "./processes", "ok", True),
    ("openmp", ["nvcc -Xcompiler -fopenmp $S/openmp.cu -o openmp"], "./openmp", "ok", True),
    ("graph_memory", ["nvcc $S/../../runtime/programs/graph_memory.cu -o graph_memory"], "./graph_memory", "ok", True),
    ("shared_mapping: memory of cuMemCreate in two processes", ["nvcc $S/../../runtime/programs/shared_mapping.cu -o shared_mapping -lcuda"],
     "./shared_mapping", "ok", True),
    *((f"cutlass_{name.lower()}", [CUTLASS.format(arch, name, name.lower())], f"./cutlass_{name.lower()}", "ok", True)
      for arch, name in (("sm_90a", "F16"), ("sm_90a", "TF32"), ("sm_90a", "FP8"), ("sm_90a", "SPARSE"), ("sm_120a", "NVFP4"))),
    ("dynamic_parallelism", ["nvcc -rdc=true $S/dynamic_parallelism.cu -o dynamic_parallelism -lcudadevrt"], "./dynamic_parallelism", "ok", False),
    ("node_updates", ["nvcc -rdc=true $S/node_updates.cu -o node_updates -lcudadevrt"], "./node_updates", "ok", False),
    ("device_calls", ["nvcc -rdc=true $S/device_calls.cu -o device_calls -lcudadevrt"], "./device_calls", "ok",
     False),
]
# Code for sm_90; sm_120 has it as PTX where that is in the program.
NEEDS = {"native: architecture of the GPU that is there, CMake and nvcc under foretrace run": ("h100",), "clusters": ("h100", "rtx5070ti"), "graph_update": ("h100", "rtx5070ti"), "cutlass_nvfp4": ("rtx5070ti",),
         **{f"cutlass_{name}": ("h100",) for name in ("f16", "tf32", "fp8", "sparse")}}


def nvcc(repository):
    script = 'source "$0/scripts/common.sh"; cuda_tool nvcc'
    return subprocess.run(["bash", "-c", script, repository], capture_output=True, text=True, check=True).stdout.strip()


def environment(foretrace, repository, compiler):
    text = subprocess.run([foretrace, "env"], capture_output=True, text=True, check=True).stdout
    added = dict(re.findall(r"export (\w+)='(.*)'", text))
    root = os.path.dirname(os.path.dirname(compiler))
    return {**os.environ, **added, "PATH": os.path.dirname(compiler) + ":" + os.environ["PATH"], "CUDA": root, "FORETRACE": foretrace,
            "S": os.path.join(repository, "tests", "programs", "builds"),
            "OURS": os.path.join(os.path.dirname(os.path.dirname(foretrace)), "lib", "foretrace")}


def cutlass_headers(folder):
    """The folder of CUTLASS's sources out of its wheel, which pip brings the first time."""
    target = os.path.join(folder, "cutlass_wheel")
    source = os.path.join(target, "cutlass_library", "source")
    if not os.path.isdir(source):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, CUTLASS_WHEEL], check=True)
    return source


def build(commands, folder, variables):
    """What the compiler said when it failed."""
    if any("$CUTLASS/" in command for command in commands):
        variables = {**variables, "CUTLASS": cutlass_headers(folder)}
    shutil.rmtree(os.path.join(folder, "cmake"), ignore_errors=True)
    for command in commands:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=variables, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stdout + done.stderr
    return ""


def run(foretrace, chip, program, folder, words):
    done = subprocess.run([foretrace, "run", "--arch", chip, *words, "--", *program.split()], cwd=folder, capture_output=True, text=True,
                          check=False, timeout=600)
    return done.stdout + done.stderr


def command_text(commands):
    """The commands of a build as the table shows them."""
    return "; ".join(commands).replace("$S/", "").replace("$", "")


def as_expected(expected, said):
    if expected in ("ok", "done"):
        return expected in said.splitlines() and "fails here" not in said
    return expected in said


def missing(said):
    """What a machine without a whole toolkit lacks."""
    return next((what for what in ("cannot find -lcudadevrt", "CMAKE_CUDA_COMPILER", "cmake: command not found", "cannot find -lnvrtc",
                                   "libcudadevrt.a") if what in said), None)


def main(foretrace, repository, folder, words):
    everything = "--all" in words
    chips = [word for word in words if not word.startswith("--")] or ["a100", "h100", "rtx5070ti"]
    os.makedirs(folder, exist_ok=True)
    compiler = nvcc(repository)
    variables = environment(foretrace, repository, compiler)
    failed = 0
    for name, commands, program, expected, slow in BUILDS:
        if slow and not everything:
            continue
        refused = build(commands, folder, variables)
        cells = []
        for chip in chips:
            if refused:
                absent = missing(refused)
                cells.append(f"not built: {absent}" if absent else "NOT BUILT")
                failed += absent is None
                if absent is None:
                    print(refused)
                continue
            if chip not in NEEDS.get(name, chips):
                cells.append("-")
                continue
            said = run(foretrace, chip, program, folder, [] if everything else ["--functional"])
            fine = as_expected(expected, said)
            failed += not fine
            cells.append("works" if fine else "WRONG")
            if not fine:
                print(said)
        print(f"{name:44} {' '.join(cells)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
