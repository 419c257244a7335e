"""A disk that is full, a cache that cannot be written, a process that is killed: a clear error, and nothing half-written.

    disk.py FORETRACE REPOSITORY DOCUMENTS Offline|WithCompiler [unittest's arguments]

Offline needs no CUDA compiler.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program import FORETRACE, SGEMM, VECTOR_ADD, Case, kernel_file, main, run, trace  # noqa: E402

SMALL = 2000  # bytes that a file may have


def with_small_files():
    """As a disk that is full: a file takes so many bytes and no more."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))


def limited(*words):
    return subprocess.run([FORETRACE, *words], capture_output=True, text=True, check=False, preexec_fn=with_small_files)


class Offline(Case):
    def test_a_result_that_does_not_fit_leaves_the_old_one(self):
        result = self.write("result.json", "before")
        done = limited("simulate", trace("vector_add", 90), "--arch", "h100", "--json", result)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Aforetrace: [^\n]*result\.json: cannot be written: File too large\n\Z")
        with open(result, encoding="utf-8") as text:
            self.assertEqual(text.read(), "before")
        self.assertEqual(os.listdir(self.folder.name), ["result.json"])

    def test_a_place_that_is_not_there(self):
        done = run("simulate", trace("vector_add", 90), "--arch", "h100", "--json", self.path("no/result.json"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("result.json: cannot be written: No such file or directory\n", done.stderr)

    def test_an_option_is_no_name_of_a_file(self):
        done = subprocess.run([FORETRACE, "simulate", trace("vector_add", 90), "--arch", "h100", "--json", "--html"], cwd=self.folder.name,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "foretrace: --json --html: expected a file's name, not an option\n"))
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_full_standard_output_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([FORETRACE, "arch"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Aforetrace: standard output: cannot be written")


class WithCompiler(Case):
    def test_a_trace_that_does_not_fit_is_not_there(self):
        file = self.path("sgemm.trace")
        # The compiler's own files must fit: what it makes comes from the cache.
        words = ["predict", kernel_file("sgemm_tiled.cu"), *SGEMM, "--arch", "h100", "--trace", file]
        self.answer(*words[:-2])
        done = limited(*words)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stderr, r"\Aforetrace: trace [^\n]*sgemm\.trace: cannot write at byte \d+: File too large\n\Z")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_dump_that_does_not_fit_is_not_there(self):
        file = self.path("c.bin")
        words = ["predict", kernel_file("sgemm_tiled.cu"), *SGEMM, "--arch", "h100", "--dump", f"C={file}"]
        self.answer(*words[:-2])
        done = limited(*words)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("c.bin: cannot be written: File too large\n", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_cache_that_cannot_be_written_is_done_without(self):
        words = ["predict", kernel_file("vector_add.cu"), *VECTOR_ADD, "--arch", "h100", "--json", "-"]
        expected = json.loads(self.answer(*words))["predictions"]
        no_folder = self.write("file", "")  # nothing can be made below a file
        self.assertEqual(json.loads(self.answer(*words, XDG_CACHE_HOME=no_folder))["predictions"], expected)
        full = self.path("full")
        os.makedirs(full)
        os.symlink("/dev/full", os.path.join(full, "foretrace"))
        self.assertEqual(json.loads(self.answer(*words, XDG_CACHE_HOME=full))["predictions"], expected)

    def test_a_killed_process_leaves_nothing_under_its_files_names(self):
        traced, result = self.path("long.trace"), self.write("result.json", "before")
        words = ["predict", kernel_file("sgemm_tiled.cu"), *SGEMM[:4], "--grid", "128,128", *SGEMM[6:8], "--arg", "buf:f32:2^22:uniform",
                 "--arg", "buf:f32:2^22:uniform", "--arg", "buf:f32:2^22", "--arg", "val:i32:2048", "--arch", "h100"]
        with subprocess.Popen([FORETRACE, *words, "--trace", traced, "--json", result], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and not [f for f in os.listdir(self.folder.name) if f.startswith("long.trace.partial")]:
                time.sleep(0.01)
            self.assertIsNone(process.poll(), "it ended before it began to write")
            process.send_signal(signal.SIGKILL)
        self.assertFalse(os.path.exists(traced))
        with open(result, encoding="utf-8") as text:
            self.assertEqual(text.read(), "before")


if __name__ == "__main__":
    main()
