"""The library within the interpreter: native.py FORETRACE REPOSITORY FOLDER [Offline|WithCompiler].

What the program says of the same trace, launch, block or chip; results in the caller's arrays; faults and Ctrl-C as exceptions; the lock released.
"""

import array
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import unittest

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
os.environ["FORETRACE"] = FORETRACE
sys.path.insert(0, str(REPOSITORY / "python"))
import foretrace  # noqa: E402

TRACE = REPOSITORY / "tests/data/sgemm_tiled_sm_90.trace"
KERNELS = """
__global__ void saxpy(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void beyond(float* y, int n) { y[n + threadIdx.x] = 1; }
__global__ void forever(volatile int* flag) {
  while (*flag == 0) flag[1] = flag[1] + 1;
}
"""


def told(*words) -> dict:
    """What the program writes as JSON."""
    file = FOLDER / "told.json"
    subprocess.run([FORETRACE, *map(str, words), "--json", str(file)], check=True, stdout=subprocess.DEVNULL)
    return json.loads(file.read_text())


def counting(call):
    """What the call gives, and how often another thread counted meanwhile."""
    counted, done = 0, threading.Event()

    def count():
        nonlocal counted
        while not done.wait(0.001):
            counted += 1
    thread = threading.Thread(target=count)
    thread.start()
    try:
        return call(), counted
    finally:
        done.set()
        thread.join()


def interrupt(call) -> None:
    """Ctrl-C while the call is under way, which must not end by itself."""
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return
    finally:
        timer.cancel()
    raise AssertionError("it ended by itself")


class Offline(unittest.TestCase):
    def test_a_trace_gives_what_the_program_says(self):
        for words, options in (([], {}), (["--gains"], {"gains": True}), (["--clock", "base"], {"clock": "base"})):
            found = foretrace.simulate(TRACE, ["h100", "h200"], **options)
            expected = told("simulate", TRACE, "--arch", "h100,h200", *words)["predictions"]
            self.assertEqual(found.document["predictions"], expected)

    def test_values_are_combined_as_set_does(self):
        found = foretrace.simulate(TRACE, "h100", set={"sm.count": [66, 132], "l2.latency": [100, 200]})
        expected = told("simulate", TRACE, "--arch", "h100", "--set", "sm.count=66,132", "--set", "l2.latency=100,200")["predictions"]
        self.assertEqual(found.document["predictions"], expected)
        self.assertEqual(foretrace.simulate(TRACE, foretrace.chip("h100").with_(sm_count=66))[0].cycles,
                         foretrace.simulate(TRACE, "h100", set={"sm.count": 66})[0].cycles)

    def test_occupancy_is_the_programs(self):
        found = foretrace.occupancy(["h100", "a100"], block=(16, 20), registers=70, shared=20000)
        expected = told("occupancy", "--arch", "h100,a100", "--block", "16,20", "--registers", 70, "--shared", 20000)["occupancy"]
        self.assertEqual([vars(each) for each in found], expected)

    def test_refusals_are_the_programs_words(self):
        for call, words in ((lambda: foretrace.chip("h101"), ["arch", "h101"]),
                            (lambda: foretrace.simulate("no.trace", "h100"), ["simulate", "no.trace", "--arch", "h100"]),
                            (lambda: foretrace.simulate(TRACE, "a100"), ["simulate", str(TRACE), "--arch", "a100"]),
                            (lambda: foretrace.simulate(TRACE, "h100", set={"sm.count": 0}), ["simulate", str(TRACE), "--arch", "h100", "--set", "sm.count=0"]),
                            (lambda: foretrace.occupancy("h100", block=4096, registers=32),
                             ["occupancy", "--arch", "h100", "--block", "4096", "--registers", "32"])):
            with self.assertRaises(foretrace.ForetraceError) as raised:
                call()
            said = subprocess.run([FORETRACE, *words], capture_output=True, text=True)
            self.assertEqual(said.returncode, 2)
            self.assertEqual("foretrace: " + str(raised.exception), said.stderr.strip())

    def test_what_is_no_number_or_no_result_is_named(self):
        def launch(**changed):
            return foretrace.predict("none.cu", "k", **{"grid": 1, "block": 32, "arch": "h100", **changed})
        for call, said in ((lambda: launch(grid=-1), "grid: -1; expected a whole number from 0 to 2^32 - 1"), (lambda: launch(block=(32, 1.5)), "block: 1.5; expected a whole number"),
                           (lambda: launch(grid="4"), "grid: '4'; expected a whole number"), (lambda: launch(shared=-1), "shared: -1; expected a whole number from"),
                           (lambda: foretrace.occupancy("h100", block=128, registers=-1), "registers: -1; expected"),
                           (lambda: foretrace.occupancy("h100", block=128, registers=32, barriers="x"), "barriers: 'x'; expected"),
                           (lambda: foretrace.simulate(TRACE, "h100", set={"sm.count": []}), "set: no value for sm.count; expected one or more")):
            with self.assertRaises((TypeError, ValueError)) as raised:
                call()
            self.assertTrue(str(raised.exception).startswith(said), raised.exception)
        wrong = FOLDER / "wrong.json"
        for contents in (b"", b"[1]", b"{}", b'{"predictions": 5}', b'{"predictions": [{}]}', b"\xff\xfe\x00"):
            wrong.write_bytes(contents)
            with self.assertRaises(foretrace.ForetraceError) as raised:
                foretrace.read(wrong)
            self.assertEqual(str(raised.exception), f"{wrong}: no result document; expected one that --json wrote")

    def test_no_module_for_this_python_is_said(self):
        folder = FOLDER / "bare/bin"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(FORETRACE, folder / "foretrace")
        code = "import foretrace\ntry: foretrace.chip('h100')\nexcept foretrace.ForetraceError as error: print(error)"
        said = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=True,
                              env={**os.environ, "FORETRACE": str(folder / "foretrace"), "PYTHONPATH": str(REPOSITORY / "python")})
        self.assertIn("expected the module for Python", said.stdout)


class WithCompiler(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.source = FOLDER / "kernels.cu"
        cls.source.write_text(KERNELS)

    def saxpy(self, x, y, **options):
        return foretrace.predict(self.source, "saxpy", grid=16, block=256, args=[x, y, 2.0, 4096], **{"arch": ["h100", "a100"], **options})

    def test_a_launch_gives_what_the_program_says(self):
        x, y = array.array("f", range(4096)), array.array("f", [1.0] * 4096)
        (FOLDER / "x.bin").write_bytes(x.tobytes())
        (FOLDER / "y.bin").write_bytes(y.tobytes())
        found = self.saxpy(x, y, gains=True)
        self.assertEqual([y[i] for i in (0, 3, 4095)], [1.0, 7.0, 2 * 4095 + 1])
        expected = told("predict", self.source, "--kernel", "saxpy", "--grid", 16, "--block", 256, "--arch", "h100,a100", "--gains",
                        "--arg", f"buf:f32:4096:file={FOLDER}/x.bin", "--arg", f"buf:f32:4096:file={FOLDER}/y.bin", "--arg", "val:f32:2.0", "--arg", "val:i32:4096")
        self.assertEqual([{**each, "launch": None} for each in found.document["predictions"]], [{**each, "launch": None} for each in expected["predictions"]])

    def test_memory_that_cannot_be_written_stays_as_it_is(self):
        x, y = array.array("f", range(4096)), array.array("f", [1.0] * 4096)
        self.saxpy(x, memoryview(y).toreadonly())
        self.assertEqual(set(y), {1.0})

    def test_a_recorded_launch_is_simulated_to_the_same(self):
        x, y = array.array("f", range(4096)), array.array("f", [1.0] * 4096)
        file = FOLDER / "saxpy.trace"
        found = self.saxpy(x, y, arch="h100", trace=file)
        self.assertEqual(foretrace.simulate(file, "h100")[0].metrics, found[0].metrics)

    def test_faults_and_refused_sources_are_exceptions_that_leave_arrays_alone(self):
        y = array.array("f", [3.0] * 64)
        with self.assertRaisesRegex(foretrace.ForetraceError, "beyond.*kernels.cu:6"):
            foretrace.predict(self.source, "beyond", grid=1, block=32, args=[y, 64], arch="h100")
        broken = FOLDER / "broken.cu"
        broken.write_text("__global__ void broken() { nonsense; }")
        with self.assertRaisesRegex(foretrace.ForetraceError, "nonsense"):
            foretrace.predict(broken, "broken", grid=1, block=32, arch="h100")
        self.assertEqual(set(y), {3.0})
        self.assertGreater(foretrace.predict(self.source, "beyond", grid=1, block=32, args=[y, 0], arch="h100")[0].cycles, 0)
        self.assertEqual(set(y[:32]), {1.0})

    def test_an_interrupt_ends_a_kernel_that_does_not(self):
        flag = array.array("i", [1, 0])

        def forever():
            foretrace.predict(self.source, "forever", grid=1, block=32, args=[flag], arch="h100")

        forever()  # it is compiled, and ends
        flag[0] = 0
        interrupt(forever)
        self.assertEqual(list(flag), [0, 0])

    def test_an_interrupt_ends_a_simulation(self):
        file = FOLDER / "large.trace"
        foretrace.predict(self.source, "saxpy", grid=16384, block=256, args=["buf:f32:4194304:uniform", "buf:f32:4194304", 2.0, 1 << 22], arch="h100", trace=file)
        interrupt(lambda: foretrace.simulate(file, "h100", gains=True))

    def test_other_threads_run_meanwhile(self):
        words = {"grid": 4096, "block": 256, "args": ["buf:f32:1048576:uniform", "buf:f32:1048576", 2.0, 1 << 20], "arch": "h100"}
        _, counted = counting(lambda: foretrace.predict(self.source, "saxpy", accuracy="exact", **words))
        self.assertGreater(counted, 10)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    chosen = globals()[sys.argv[4]]
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(chosen)).wasSuccessful())
