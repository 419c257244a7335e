"""The first warps' timeline stands in every page of a launch that was simulated: page_warps.py FORETRACE REPOSITORY FOLDER. Needs nvcc."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
SOURCE = """
#include <cuda_runtime.h>
__global__ void scale(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
__global__ void turn(float* x) {
  __shared__ float tile[256];
  for (int i = 0; i < 8; ++i) {
    tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
    __syncthreads();
  }
}
#ifdef PROGRAM
int main() {
  float* x;
  cudaMalloc(&x, 4 << 20);
  cudaMemset(x, 0, 4 << 20);
  scale<<<1, 256>>>(x);
  for (int i = 0; i < 3; ++i) turn<<<512, 256>>>(x);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
#endif
"""


def run(*words, **options) -> str:
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True, **options).stdout


def warps_of(page: pathlib.Path) -> dict:
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S).group(1)
    return json.loads(data)["timeline"]


class Warps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        cls.source = FOLDER / "kernels.cu"
        cls.source.write_text(SOURCE)

    def predict(self, *words) -> dict:
        result = FOLDER / "result.json"
        run(FORETRACE, "predict", self.source, "--kernel", "turn", "--arch", "h100", "--block", 256, "--arg", "buf:f32:2^24", "--json", result, *words)
        return json.loads(result.read_text())["predictions"][0]

    def test_predict_shows_them_and_predicts_the_same(self):
        page = FOLDER / "page.html"
        for words in (["--grid", 512], ["--grid", 65536, "--accuracy", "sampled"]):
            prediction = self.predict("--html", page, *words)
            self.assertEqual({(row["block"], row["warp"]) for row in warps_of(page)["timeline"]}, {(0, 0), (0, 1)})
            self.assertEqual(self.predict(*words), prediction)
            self.assertEqual(prediction["accuracy"]["sampled"], "sampled" in words)

    def test_run_shows_the_hottest_kernels(self):
        program, page, result = FOLDER / "program", FOLDER / "run.html", FOLDER / "run.json"
        nvcc = run("bash", "-c", f"source {REPOSITORY}/scripts/common.sh; cuda_tool nvcc").strip()
        run(nvcc, "-arch=sm_90", "-lineinfo", "-cudart", "shared", "-DPROGRAM", "-o", program, self.source)
        run(FORETRACE, "run", "--arch", "h100", "--quiet", "--html", page, "--json", result, "--", program)
        self.assertEqual(warps_of(page)["kernel"], "turn")
        plain = FOLDER / "plain.json"
        run(FORETRACE, "run", "--arch", "h100", "--quiet", "--json", plain, "--", program)
        cycles = [[each["metrics"]["gpc__cycles_elapsed.max"] for each in json.loads(file.read_text())["predictions"]] for file in (result, plain)]
        self.assertEqual(cycles[0], cycles[1])


if __name__ == "__main__":
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(Warps)).wasSuccessful())
