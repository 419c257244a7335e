"""What tests of `foretrace run` share: programs built once into a folder, for three architectures in one file. Its words are those of the tests."""

import os
import subprocess
import sys
import tempfile
import unittest

FORETRACE, REPOSITORY, FOLDER = sys.argv[1:4]
CHIPS = {"a100": 80, "h100": 90, "gb203": 120}
SOURCES = os.path.join(REPOSITORY, "tests", "runtime", "programs")
GENCODE = [word for sm in (80, 90, 120) for word in ("-gencode", f"arch=compute_{sm},code=sm_{sm}")]


def nvcc():
    script = 'source "$0/scripts/common.sh"; cuda_tool nvcc'
    return subprocess.run(["bash", "-c", script, REPOSITORY], capture_output=True, text=True, check=True).stdout.strip()


def build(name, *options, source=None, gencode=GENCODE, runtime="shared"):
    """The path of a program; built when its source is newer."""
    source = source or os.path.join(SOURCES, name.split(".")[0] + ".cu")
    program = os.path.join(FOLDER, name)
    os.makedirs(FOLDER, exist_ok=True)
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        compiler = nvcc()
        include = os.path.join(os.path.dirname(os.path.dirname(compiler)), "include")
        libraries = [f"-L{folder}" for folder in (os.path.join(os.path.dirname(os.path.dirname(compiler)), part)
                                                   for part in ("lib64", "lib")) if os.path.isdir(folder)]
        linked = []
        if runtime == "shared":
            # The runtime's wheel has no libcudart.so without a version, which the linker would look for: ours stands in for it.
            ours = os.path.join(os.path.dirname(os.path.dirname(FORETRACE)), "lib", "foretrace")
            libraries = [f"-L{ours}"]
            linked = ["-cudadevrt", "none"]
        done = subprocess.run([compiler, "-std=c++17", "-cudart", runtime, "-lineinfo", f"-I{include}", *gencode, *options, *libraries,
                               *linked, "-o", program, source], capture_output=True, text=True, check=False)
        if "cannot find -lcudart_static" in done.stderr:
            raise unittest.SkipTest("no static runtime to link with")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
    return program


def run(*words, **variables):
    return subprocess.run([FORETRACE, "run", *words], capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, **variables})


class Case(unittest.TestCase):
    def path(self, name):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return os.path.join(folder.name, name)

    def stopped(self, done, *parts):
        """Foretrace stopped by itself and said why in one line."""
        self.assertEqual(done.returncode, 125, done.stdout + done.stderr)
        lines = [line for line in done.stderr.split("\n") if line.startswith("foretrace: ")]
        for part in parts:
            self.assertIn(part, lines[0])
