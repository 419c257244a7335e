"""Time and peak memory of whole predictions: whole_program.py FORETRACE REPOSITORY

The command of the README on three chips (the target is 20 s on two cores), and each example at the largest size up to 1024, or 2^24
elements, on one chip (the target is 2 GiB). Prints a line each; status 1 where a target is missed.
"""

import os
import subprocess
import sys
import time

FORETRACE, REPOSITORY = sys.argv[1:3]
GIB = 1 << 30


def measure(name, words, seconds=None):
    """Runs it; whether it met its targets."""
    start = time.monotonic()
    with subprocess.Popen([FORETRACE, "predict", *words], stdout=subprocess.DEVNULL) as program:
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    peak = usage.ru_maxrss * 1024
    good = program.returncode == 0 and peak < 2 * GIB and (seconds is None or wall < seconds)
    print(f"{name:<34} {wall:8.1f} s wall {usage.ru_utime + usage.ru_stime:8.1f} s CPU {peak / GIB:7.3f} GiB"
          f"{'' if good else '   MISSED'}", flush=True)
    return good


def kernel(name, file, grid, block, *arguments, options=()):
    words = [os.path.join(REPOSITORY, "validate", "kernels", file), "--kernel", name, "--grid", grid, "--block", block, *options]
    for argument in arguments:
        words += ["--arg", argument]
    return words


def sgemm(name, file, size, grid, block, *options):
    matrix = f"buf:f32:{size * size}"
    return kernel(name, file, grid, block, matrix + ":uniform", matrix + ":uniform", matrix, f"val:i32:{size}", options=options)


def main():
    many, square = "buf:f32:2^24", "buf:f32:1024*1024"
    jobs = {
        "vector_add 2^24": kernel("vector_add", "vector_add.cu", "65536", "256", many, many, many, "val:i32:16777216"),
        "copy_float4 2^24": kernel("copy_float4", "copy.cu", "16384", "256", many, many, "val:i32:4194304"),
        "transpose_naive 1024": kernel("transpose_naive", "transpose.cu", "32,32", "32,8", square, square, "val:i32:1024", "val:i32:1024"),
        "sgemm_tiled16 1024": sgemm("sgemm_tiled", "sgemm_tiled.cu", 1024, "64,64", "16,16", "--define", "TILE=16"),
        "sgemm_register 1024": sgemm("sgemm_register", "sgemm_register.cu", 1024, "16,16", "16,16"),
        "sgemm_naive_columns 1024": sgemm("sgemm_naive_columns", "sgemm_naive.cu", 1024, "64,64", "16,16"),
    }
    readme = sgemm("sgemm_tiled", "sgemm_tiled.cu", 512, "32,32", "16,16", "--define", "TILE=16")
    results = [measure("the README's command, three chips", [*readme, "--arch", "a100,h100,gb203"], seconds=20)]
    results += [measure(name, [*words, "--arch", "h100"]) for name, words in jobs.items()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
