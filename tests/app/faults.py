"""A fault ends the program with one line and exit code 2, on any number of host threads: the same line.

    faults.py FORETRACE REPOSITORY DOCUMENTS Offline|WithCompiler [unittest's arguments]

Offline needs no CUDA compiler. What `foretrace run` makes of a fault: tests/runtime.
"""

import ctypes
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program import FORETRACE, Case, main, trace  # noqa: E402

# One block of 60,000, far into a launch that is long enough to be sampled: its blocks are executed by the threads that simulate SMs.
LATE = """
__global__ void late(float* x, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) % n;
  float s = x[i];
  for (int j = 0; j < 16; j++) s = s * 1.1f + x[(i + j * 32) % n];
  x[i] = s;
  if (blockIdx.x >= FIRST) x[1 << 28] = s;
}
"""


class Faults(Case):
    def the_same_line(self, *words):
        """What a run says that ends with exit code 2, with 1, 2 and all threads."""
        said = set()
        for threads in ("1", "2", "0"):
            done = subprocess.run([FORETRACE, *words, "--threads", threads], capture_output=True, text=True, check=False, timeout=300)
            self.assertEqual(done.returncode, 2, f"{threads} threads: {done.stdout}{done.stderr}")
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Aforetrace: [^\n]+\n\Z")
            said.add(done.stderr)
        self.assertEqual(len(said), 1, said)
        return said.pop()


class Offline(Faults):
    def test_a_record_that_is_no_record(self):
        """A trace whose chunks are whole, but one late warp's record is not: seen by the thread that replays it."""
        try:
            zstd = ctypes.CDLL("libzstd.so.1")
        except OSError:
            if os.environ.get("FORETRACE_REQUIRE_ALL") == "1":
                raise
            self.skipTest("no libzstd.so.1")
        for function in ("ZSTD_compress", "ZSTD_decompress"):
            getattr(zstd, function).restype = ctypes.c_size_t
        with open(trace("vector_add", 90), "rb") as file:
            whole = file.read()
        at, out = 12, whole[:12]
        while at < len(whole):
            kind, stored, raw = struct.unpack_from("<BII", whole, at)
            chunk = whole[at + 9:at + 9 + stored]
            if kind == ord("B"):
                plain = ctypes.create_string_buffer(raw)
                self.assertEqual(zstd.ZSTD_decompress(plain, ctypes.c_size_t(raw), chunk, ctypes.c_size_t(stored)), raw)
                bent = plain.raw[:-1] + b"\xff"
                room = ctypes.create_string_buffer(raw + 1024)
                stored = zstd.ZSTD_compress(room, ctypes.c_size_t(raw + 1024), bent, ctypes.c_size_t(raw), ctypes.c_int(3))
                chunk = room.raw[:stored]
            out += struct.pack("<BII", kind, stored, raw) + chunk
            at += 9 + struct.unpack_from("<I", whole, at + 1)[0]
        bent = self.path("bent.trace")
        with open(bent, "wb") as file:
            file.write(out)
        line = self.the_same_line("simulate", bent, "--arch", "h100")
        self.assertIn(f"trace {bent}: warp record: ", line)
        self.assertIn("expected a complete record", line)


class WithCompiler(Faults):
    def late(self, first):
        file = self.write("late.cu", LATE.replace("FIRST", str(first)))
        return ["predict", file, "--kernel", "late", "--grid", "60000", "--block", "256", "--arg", "buf:f32:1048576:uniform",
                "--arg", "val:i32:1048576", "--arch", "h100"]

    def test_in_a_sampled_launch(self):
        self.assertIn("kernel late, block (5003,0,0), thread (0,0,0)", self.the_same_line(*self.late(5003)))

    def test_in_a_launch_that_is_simulated_exactly(self):
        self.assertIn("kernel late, block (5003,0,0), thread (0,0,0)",
                      self.the_same_line(*self.late(5003), "--accuracy", "exact"))


if __name__ == "__main__":
    main()
