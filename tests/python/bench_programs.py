"""Programs in a bench file: bench_programs.py FORETRACE REPOSITORY FOLDER Offline|WithCompiler.

Offline: what is read, compared and refused, with documents made by hand. WithCompiler: a program that is built, run and made slower.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
os.environ["FORETRACE"] = FORETRACE
os.environ["PYTHONPATH"] = str(REPOSITORY / "python")
sys.path.insert(0, str(REPOSITORY / "python"))
sys.dont_write_bytecode = True

from foretrace import _bench_programs, baseline  # noqa: E402

SOURCE = """#include <cstdlib>
__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) for (int r = 0; r < ROUNDS; ++r) x[i] = sqrtf(x[i]) + 1.0f;
}
__global__ void add(float* x, const float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += y[i];
}
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 0;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  for (int i = 0; i < 3; ++i) scale<<<(n + 255) / 256, 256>>>(x, n);
  add<<<(n + 255) / 256, 256>>>(x, y, n);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}
"""


def bench(name: str, text: str) -> pathlib.Path:
    file = FOLDER / name
    file.write_text(text)
    return file


def foretrace(*words) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-B", "-m", "foretrace", "baseline", *map(str, words)], capture_output=True, text=True)


def refused(*words) -> str:
    done = foretrace(*words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, (done.returncode, done.stdout, done.stderr)
    return done.stderr


def entry(kernels: dict, line: float | None = None, config: str = "c") -> dict:
    """What an entry holds: kernels as {name: (launches, ns)}."""
    return {"program": "app", "arch": "h100", "duration_ns": sum(ns for _, ns in kernels.values()), "time_line_ns": line, "config_sha256": config,
            "kernels": {name: {"launches": launches, "duration_ns": ns} for name, (launches, ns) in kernels.items()}}


class Offline(unittest.TestCase):
    PROGRAM = _bench_programs.BenchProgram("app", ["./app"], ["h100"], None, 0.01)

    def compare(self, before: dict, now: dict) -> tuple[bool, str]:
        return _bench_programs.compare(self.PROGRAM, before, now)

    def test_a_kernel_that_rose_is_named_also_where_the_sum_did_not(self):
        before = entry({"big": (1, 100_000), "small": (2, 1000)})
        good, text = self.compare(before, entry({"big": (1, 100_000), "small": (2, 1011)}))
        self.assertFalse(good)
        self.assertIn("kernels 101.00 -> 101.01 us (+0.01%), beyond the bound of 1.0%: small 1.00 -> 1.01 us (+1.10%)", text)
        self.assertNotIn("big", text)
        self.assertEqual(self.compare(before, entry({"big": (1, 100_900), "small": (2, 1009)})),
                         (True, "app on h100: kernels 101.00 -> 101.91 us (+0.90%)"))

    def test_the_kernel_that_cost_most_comes_first_with_its_launches(self):
        before = entry({"a": (1, 1000), "b": (1, 5000)})
        good, text = self.compare(before, entry({"a": (1, 2000), "b": (2, 10_000)}, config="d"))
        self.assertFalse(good)
        self.assertTrue(text.endswith("b 5.00 -> 10.00 us (+100.00%), launches 1 -> 2; a 1.00 -> 2.00 us (+100.00%); the chip's configuration changed too"), text)

    def test_a_new_kernel_counts_in_the_sum(self):
        before = entry({"old": (1, 1000)})
        self.assertTrue(self.compare(before, entry({"renamed": (1, 1000)}))[0])
        good, text = self.compare(before, entry({"old": (1, 1000), "more": (1, 500)}))
        self.assertFalse(good)
        self.assertIn("more is new, 0.50 us", text)

    def test_the_time_line_counts_where_both_have_one(self):
        before, slower = entry({"k": (1, 1000)}, 5000), entry({"k": (1, 1000)}, 6000)
        good, text = self.compare(before, slower)
        self.assertFalse(good)
        self.assertIn("its time line 5.00 -> 6.00 us (+20.00%)", text)
        self.assertTrue(self.compare(entry({"k": (1, 1000)}), slower)[0])

    def test_faster_is_good_and_said(self):
        good, text = self.compare(entry({"k": (1, 1000)}), entry({"k": (1, 900)}))
        self.assertTrue(good)
        self.assertIn("renew the baseline", text)

    def test_processes_are_summed_with_what_was_represented(self):
        row = lambda kernel, ns: {"kernel": kernel, "metrics": {"gpu__time_duration.sum": ns}, "config_sha256": "c"}
        program = {"faults": 0, "time_line": {"duration_ns": 9.0}}
        documents = [{"predictions": [row("a", 1.0), row("b", 2.0)], "represented": [{"kernel": "a", "duration_ns": 1.5}], "program": program},
                     {"predictions": [row("a", 4.0)], "program": program}]
        found = _bench_programs._entry(self.PROGRAM, "h100", documents)
        self.assertEqual(found["kernels"], {"a": {"launches": 3, "duration_ns": 6.5}, "b": {"launches": 1, "duration_ns": 2.0}})
        self.assertEqual((found["duration_ns"], found["time_line_ns"]), (8.5, 18.0))
        for wrong in ([{"predictions": []}], [{**documents[0], "program": {"faults": 1}}]):
            with self.assertRaises(baseline.BenchError):
                _bench_programs._entry(self.PROGRAM, "h100", wrong)

    def test_bad_files_are_one_line(self):
        for text, said in (('[[program]]\ncommand = ["./app"]', "arch"), ('arch = ["h100"]\n[[program]]\ncommand = "./app"', "list of words"),
                           ('arch = ["h100"]\n[[program]]\ncommand = ["a"]\ncomand = 1', "comand"), ('arch = ["h100"]\nprogram = 3', "[[program]]"),
                           ('arch = ["h100"]\n[[program]]\ncommand = ["a"]\nbuild = "make"', "build"), ('arch = ["h100"]\n[[program]]\ncommand = ["a"]\nbound = true', "bound"),
                           ('arch = ["h100"]\n[[program]]\ncommand = ["a"]\n[[program]]\ncommand = ["a"]', "two programs a"), ('arch = ["h100"]', "[[program]]"),
                           ('arch = ["h100"]\n[[program]]\ncommand = ["./missing"]', "missing: no such program"), ('arch = ["h100"]\n[[program]]\ncommand = ["./a\\u0000b"]', "list of words"),
                           ('arch = ["h100"]\n[[program]]\ncommand = ["a"]\nbuild = ["a\\u0000"]', "build"), ('arch = ["h100\\u0000"]\n[[program]]\ncommand = ["a"]', "arch"),
                           ('baseline = "a\\u0000"\narch = ["h100"]\n[[program]]\ncommand = ["a"]', "baseline"),
                           ('arch = ["h101"]\n[[program]]\ncommand = ["true"]', "h101"), ('arch = ["h100"]\n[[program]]\ncommand = ["true"]', "launched no kernel"),
                           ('arch = ["h100"]\n[[program]]\ncommand = ["bash", "-c", "echo why >&2; exit 7"]', "ended with code 7: why"),
                           ('arch = ["h100"]\n[[program]]\ncommand = ["true"]\nbuild = ["bash", "-c", "echo not so; exit 2"]', "build ended with code 2: not so"),
                           ('arch = ["h100"]\n[[program]]\ncommand = ["true"]\nbuild = ["./no_make"]', "no_make")):
            self.assertIn(said, refused("update", bench("bad.toml", text)))
        for text, said in (('launch = 3\nsource = "x"', "launch: expected [[launch]]"), ('source = 3\n[[launch]]', "source: expected the file"), ('from = 3', "from: expected [[from]]"),
                           ('[[from]]\nfile = 3', "from: file: expected a launch file"), ('[[from]]\nfile = "bad.toml"', "bad.toml: expected source, as a launch file has it"),
                           ('[[from]]\nfile = "x.toml"\nlaunches = 3', "from: launches: expected a list of its launches' names"), ('baseline = 3', "baseline: expected a file's name")):
            self.assertIn(said, refused("update", bench("bad.toml", 'arch = ["h100"]\n' + text)))

    def test_a_baseline_that_is_none_is_one_line(self):
        file = bench("bad.toml", 'arch = ["h100"]\n[[program]]\ncommand = ["true"]')
        for text, said in (("", "no JSON; expected what `foretrace baseline update` wrote"), ("[1]", "schema None; expected 1"), ('{"schema": 2}', "schema 2; expected 1"),
                           ('{"schema": 1}', "launches: expected a list of objects"), ('{"schema": 1, "launches": [{}]}', "launches[0].launch: expected what"),
                           ('{"schema": 1, "launches": [], "programs": [{"program": "a", "arch": "h100-sxm", "duration_ns": "5"}]}', "programs[0].duration_ns: expected what")):
            file.with_name("bad.baseline.json").write_text(text)
            self.assertIn(f"bad.baseline.json: {said}", refused("check", file))


class WithCompiler(unittest.TestCase):
    TEXT = """[[program]]
name = "app"
command = ["./app", "4096"]
arch = ["h100"]
build = [NVCC, "-arch=sm_90", "-cudart", "shared", "-DROUNDS=4", "-o", "app", "app.cu"]
"""

    def test_a_program_that_was_made_slower_fails_by_its_kernel(self):
        script = 'source "$0/scripts/common.sh"; cuda_tool nvcc'
        nvcc = subprocess.run(["bash", "-c", script, REPOSITORY], capture_output=True, text=True, check=True).stdout.strip()
        (FOLDER / "app.cu").write_text(SOURCE)
        text = self.TEXT.replace("NVCC", json.dumps(nvcc))
        file = bench("bench.toml", text)
        self.assertIn("no baseline", refused("check", file))
        done = foretrace("update", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = json.loads((FOLDER / "bench.baseline.json").read_text())
        self.assertEqual({name: kernel["launches"] for name, kernel in kept["programs"][0]["kernels"].items()}, {"scale": 3, "add": 1})
        self.assertGreater(kept["programs"][0]["time_line_ns"], kept["programs"][0]["duration_ns"])
        done = foretrace("check", file)
        self.assertEqual((done.returncode, done.stdout.count("(+0.00%)")), (0, 1), done.stdout + done.stderr)
        bench("bench.toml", text.replace("ROUNDS=4", "ROUNDS=40"))
        done = foretrace("check", file)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"SLOW  app on h100: kernels .*beyond the bound of 1.0%: scale ")
        self.assertNotIn("add", done.stdout)
        bench("bench.toml", text.replace("ROUNDS=4", "ROUNDS=40") + "bound = 9\n")
        self.assertEqual(foretrace("check", file).returncode, 0)
        bench("bench.toml", text.replace('name = "app"', 'name = "other"'))
        done = foretrace("check", file)
        self.assertEqual(done.returncode, 1)
        self.assertIn("app on h100: in the baseline, but no longer in", done.stdout)
        self.assertIn("other on h100: not in the baseline", done.stdout)


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase({"Offline": Offline, "WithCompiler": WithCompiler}[sys.argv[4]])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
