"""Programs in the style of the public collections, each of which checks its own results, through `foretrace run` on three chips.

    check.py FORETRACE REPOSITORY FOLDER [NAME ...]

Every program (tests/programs/NAME.cu) is built once into FOLDER, for three architectures in one file, and has to end with exit
code 0 on each chip. Without names: all but those that take minutes of compiling (SLOW). Prints one line per program and chip.
"""

import os
import subprocess
import sys
import time

CHIPS = ("a100", "h100", "gb203")
SLOW = ("thrust_algorithms",)
GENCODE = [word for sm in (80, 90, 120) for word in ("-gencode", f"arch=compute_{sm},code=sm_{sm}")]
# Programs that are built a second time in another way: name of the variant, options of nvcc.
VARIANTS = {"runtime_calls": {"per_thread": ["--default-stream", "per-thread"], "linked": ["-rdc=true"]},
            "device_features": {"linked": ["-rdc=true"]}}


def nvcc(repository):
    script = 'source "$0/scripts/common.sh"; cuda_tool nvcc'
    return subprocess.run(["bash", "-c", script, repository], capture_output=True, text=True, check=True).stdout.strip()


def build(compiler, foretrace, source, program, options):
    """Built when the source is newer. Linked with Foretrace's library: a machine without a toolkit has no other."""
    if os.path.exists(program) and os.path.getmtime(program) >= os.path.getmtime(source):
        return ""
    ours = os.path.join(os.path.dirname(os.path.dirname(foretrace)), "lib", "foretrace")
    include = os.path.join(os.path.dirname(os.path.dirname(compiler)), "include")
    devrt = [] if "-rdc=true" in options else ["-cudadevrt", "none"]
    # The wheel has its libraries in lib, where its nvcc does not look.
    beside = [f"-L{f}" for f in [os.path.join(os.path.dirname(os.path.dirname(compiler)), "lib")] if os.path.isdir(f)]
    done = subprocess.run([compiler, "-std=c++17", "--extended-lambda", "-cudart", "shared", "-lineinfo", f"-I{include}", *GENCODE, *options,
                           f"-L{ours}", *beside, *devrt, "-o", program, source], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main(foretrace, repository, folder, names):
    sources = os.path.join(repository, "tests", "programs")
    known = sorted(f[:-3] for f in os.listdir(sources) if f.endswith(".cu"))
    wanted = names or [name for name in known if name not in SLOW]
    os.makedirs(folder, exist_ok=True)
    compiler = nvcc(repository)
    failed = 0
    for name in wanted:
        for variant, options in {"": [], **VARIANTS.get(name, {})}.items():
            program = os.path.join(folder, name + ("." + variant if variant else ""))
            refused = build(compiler, foretrace, os.path.join(sources, name + ".cu"), program, options)
            if "cannot find -lcudadevrt" in refused:
                print(f"{os.path.basename(program):32} not built: no libcudadevrt to link relocatable device code with")
                continue
            if refused:
                print(f"{os.path.basename(program)}: not built\n{refused}")
                failed += 1
                continue
            for chip in CHIPS:
                begin = time.time()
                try:
                    done = subprocess.run([foretrace, "run", "--arch", chip, "--functional", "--", program], capture_output=True, text=True,
                                          check=False, timeout=600)
                    code, said = done.returncode, done.stdout + done.stderr
                except subprocess.TimeoutExpired as error:
                    code, said = "no end within 600 s", str(error.stdout) + str(error.stderr)
                print(f"{os.path.basename(program):32} {chip:6} {'ok' if code == 0 else f'FAILED ({code})'}  {time.time() - begin:.1f} s", flush=True)
                if code != 0:
                    print(said)
                    failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
