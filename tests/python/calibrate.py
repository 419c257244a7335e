"""foretrace calibrate in one command, on a machine that has no GPU: calibrate.py FORETRACE REPOSITORY FOLDER.

The real harness and package, in a copy; an nvcc that makes programs which say what an H100 answered, and an nvidia-smi. A calibration that is killed
goes on where it was, with the same result; answers that were damaged, or are another device's, are refused by name.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
# Benchmark: the names under which it answers.
ASKED = {"pipes": ["pipe_latency", "pipe_issue_interval"], "shared_memory": ["shared_latency"], "barriers": ["barrier"], "global_latency": ["global_latency"],
         "bandwidth": ["load_bandwidth"], "mbarriers": ["mbarrier_latency", "mbarrier_wake"]}
MEASUREMENTS = REPOSITORY / "validate/measurements"
NVCC = """#!/bin/sh
# nvcc ... -o TARGET SOURCE ...
[ "$1" = --version ] && { echo "Cuda compilation tools"; exit; }
while [ "$1" != -o ]; do shift; done
name=$(basename "$3" .cu)
printf '#!/bin/sh\\necho %s >>%s/asked\\n[ %s = barriers ] && [ -e %s/hold ] && sleep 60\\ncat %s/answers/%s\\n' $name "$HERE" $name "$HERE" "$HERE" $name >"$2"
chmod +x "$2"
"""
SMI = """#!/bin/sh
case "$*" in *compute_cap*) echo "$CAPABILITY" ;; *name,driver*) echo "$DEVICE, 580, 345 MHz, 2619 MHz, 1980 MHz, 2619 MHz" ;; *) echo "$DEVICE" ;; esac
"""


class Calibrate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        benchmarks = FOLDER / "validate/microbenchmarks"
        for each in (benchmarks, FOLDER / "bin", FOLDER / "answers"):
            each.mkdir(parents=True)
        shutil.copytree(REPOSITORY / "python/foretrace", FOLDER / "python/foretrace", ignore=shutil.ignore_patterns("__pycache__", "installed"))
        shutil.copy(REPOSITORY / "validate/microbenchmarks/run", benchmarks / "run")
        known = [answer for kind in ("microbenchmarks", "tensor-microbenchmarks")
                 for answer in json.loads((MEASUREMENTS / f"h100-sxm-{kind}.json").read_text())["answers"]]
        for name, answers in ASKED.items():
            (benchmarks / f"{name}.cu").write_text("")
            said = [answer for answer in known if answer["benchmark"] in answers]
            assert said, name
            (FOLDER / "answers" / name).write_text("".join(json.dumps(answer) + "\n" for answer in said))
        for name, text in (("nvcc", NVCC), ("nvidia-smi", SMI)):
            (FOLDER / "bin" / name).write_text(text)
            (FOLDER / "bin" / name).chmod(0o755)

    def command(self, name: str) -> list[str]:
        return [sys.executable, "-B", "-m", "foretrace", "calibrate", "--base", "h100-sxm", "--output", str(FOLDER / f"{name}.toml")]

    def environment(self, device: str = "NVIDIA H100 80GB HBM3", capability: str = "9.0") -> dict[str, str]:
        return {**os.environ, "PATH": f"{FOLDER / 'bin'}:/usr/bin:/bin", "PYTHONPATH": str(FOLDER / "python"), "FORETRACE": FORETRACE, "HERE": str(FOLDER), "DEVICE": device,
                "CAPABILITY": capability}

    def calibrate(self, name: str, **changes) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(name), capture_output=True, text=True, env=self.environment(**changes))

    def asked(self) -> list[str]:
        file = FOLDER / "asked"
        names = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return names

    def document(self, name: str) -> pathlib.Path:
        return FOLDER / f"{name}.calibration/microbenchmarks.json"

    def test_one_that_is_killed_goes_on_with_the_same_result(self):
        self.asked()
        whole = self.calibrate("whole")
        self.assertEqual(whole.returncode, 0, whole.stderr)
        order = self.asked()
        self.assertEqual(sorted(order), sorted(ASKED))
        before = order[:order.index("barriers")]
        self.assertGreater(len(before), 1)
        (FOLDER / "hold").touch()
        process = subprocess.Popen(self.command("killed"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment(), start_new_session=True)
        end = time.monotonic() + 60
        while not (FOLDER / "asked").exists() or "barriers" not in (FOLDER / "asked").read_text():
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end, "it never came to the benchmark that waits")
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        (FOLDER / "hold").unlink()
        self.assertEqual(self.asked(), [*before, "barriers"])
        self.assertEqual(list(json.loads(self.document("killed").read_text())["seconds"]), before)
        self.assertFalse((FOLDER / "killed.toml").exists())
        again = self.calibrate("killed")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.asked(), order[len(before):])  # what had answered is not asked again
        told, killed = (json.loads(self.document(name).read_text()) for name in ("whole", "killed"))
        self.assertEqual(killed["answers"], told["answers"])
        self.assertEqual((FOLDER / "killed.toml").read_text(), (FOLDER / "whole.toml").read_text())
        self.assertIn("barrier.latency", (FOLDER / "killed.html").read_text())
        self.assertRegex(again.stderr, r"\[#+\.*\] \d+ of \d+, about \d+ s left")

    def test_what_is_wrong_is_refused_before_anything_is_measured(self):
        self.asked()
        for words, said in ((["--output", str(FOLDER / "none" / "x.toml")], f"{FOLDER / 'none' / 'x.toml'}: No such file or directory"), (["--html", str(FOLDER)], f"{FOLDER}: Is a directory"),
                            (["--set", "l2.slices"], "--set l2.slices: expected KEY=VALUE"), (["--base", "h101"], 'unknown arch "h101"')):
            done = subprocess.run([*self.command("refused"), *words], capture_output=True, text=True, env=self.environment())
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(f"foretrace: {said}", done.stderr)
        self.assertEqual(self.asked(), [])

    def test_damaged_answers_are_refused_by_name(self):
        self.assertEqual(self.calibrate("damaged").returncode, 0)
        file = self.document("damaged")
        text = file.read_text()
        document = json.loads(text)
        number = next(i for i, answer in enumerate(document["answers"]) if answer["benchmark"] == "barrier")
        for value in ("fast", None, True):
            document["answers"][number]["value"] = value
            file.write_text(json.dumps(document))
            said = self.calibrate("damaged")
            self.assertEqual(said.returncode, 2)
            self.assertIn(f"{file}: answer {number} (barrier): value {json.dumps(value)}", said.stderr)
        for broken in (text[:len(text) // 2], "[]", "{}", json.dumps({**document, "seconds": 3})):
            file.write_text(broken)
            said = self.calibrate("damaged")
            self.assertEqual(said.returncode, 2)
            self.assertIn(f"{file}: no answers of this program", said.stderr)
            self.assertNotIn("Traceback", said.stderr)
            self.assertEqual(file.read_text(), broken)  # it is left as it was found

    def test_every_rule_finds_its_benchmark_among_those_that_run(self):
        read = set()
        for chip in ("h100-sxm", "h200-sxm"):
            answers = [str(MEASUREMENTS / f"{chip}-{kind}.json") for kind in ("microbenchmarks", "tensor-microbenchmarks")]
            words = ["calibrate", *answers, "--base", "h100-sxm", "--output", str(FOLDER / "ruled.toml")]
            table = subprocess.run([FORETRACE, *words], check=True, capture_output=True, text=True).stdout
            read |= set(re.findall(r"[+-][\d.]+% +(\w+)$", table, re.M)) - {"nvidia_smi_after"}
        self.assertGreater(len(read), 25)
        self.assertIn("tensor_copy_rate", read)
        benchmarks = REPOSITORY / "validate/microbenchmarks"
        run = subprocess.run([sys.executable, "-B", str(benchmarks / "run"), "--calibration", "--list"], capture_output=True, text=True, check=True).stdout.split()
        said = "".join((benchmarks / f"{name}.cu").read_text() for name in run if not name.startswith("profiled_"))
        self.assertEqual({name for name in read if name not in run and f'{name}"' not in said.replace("\\", "")}, set())

    def test_what_is_for_sm_90a_alone_is_left_out_elsewhere(self):
        self.assertEqual(self.calibrate("elsewhere", capability="8.0").returncode, 0)
        document = json.loads(self.document("elsewhere").read_text())
        self.assertEqual(document["left_out"], ["mbarriers.cu: compute capability 8.0; expected 9.0"])
        self.assertIn("barrier", {answer["benchmark"] for answer in document["answers"]})
        self.assertNotIn("mbarrier_latency", {answer["benchmark"] for answer in document["answers"]})

    def test_another_devices_answers_are_refused(self):
        self.assertEqual(self.calibrate("other").returncode, 0)
        said = self.calibrate("other", device="NVIDIA A100-SXM4-40GB")
        self.assertEqual(said.returncode, 2)
        self.assertIn("answers of NVIDIA H100 80GB HBM3, this is NVIDIA A100-SXM4-40GB", said.stderr)


if __name__ == "__main__":
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(Calibrate)).wasSuccessful())
