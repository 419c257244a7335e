"""What the tests of the whole program share: running it, and reading what it answers.

A test script that imports this is called as

    SCRIPT FORETRACE REPOSITORY DOCUMENTS [unittest's arguments]

and ends with main(). Result documents that are kept go to DOCUMENTS, where another test holds them against their schema.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

FORETRACE, REPOSITORY, DOCUMENTS = sys.argv[1:4]
ARCHS = {80: "a100-sxm-40gb", 90: "h100-sxm", 120: "rtx5070ti"}
VECTOR_ADD = ["--kernel", "vector_add", "--grid", "8", "--block", "128", "--arg", "buf:f32:1000:uniform",
              "--arg", "buf:f32:1000:uniform", "--arg", "buf:f32:1000", "--arg", "val:i32:1000"]
SGEMM = ["--kernel", "sgemm_tiled", "--define", "TILE=16", "--grid", "4,4", "--block", "16,16", "--arg", "buf:f32:4096:uniform",
         "--arg", "buf:f32:4096:uniform", "--arg", "buf:f32:4096:name=C", "--arg", "val:i32:64"]


def trace(kernel, sm):
    return os.path.join(REPOSITORY, "tests", "data", f"{kernel}_sm_{sm}.trace")


def kernel_file(name):
    return os.path.join(REPOSITORY, "validate", "kernels", name)


def run(*words, **variables):
    return subprocess.run([FORETRACE, *words], capture_output=True, text=True, check=False, env={**os.environ, **variables})


def configured(arch, key):
    """A chip's number, as `foretrace arch` prints it."""
    return float(re.search(rf"(?m)^\s*{re.escape(key)}\s+([0-9.]+)\s", run("arch", arch).stdout).group(1))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        """A file of this test; its path."""
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def answer(self, *words, **variables):
        """The text of a run that succeeds."""
        done = run(*words, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def document(self, *words, **variables):
        """The result document of a run that succeeds, parsed; kept under the name of the test."""
        text = self.answer(*words, "--json", "-", **variables)
        with open(os.path.join(DOCUMENTS, self.id().removeprefix("__main__.") + ".json"), "w", encoding="utf-8") as file:
            file.write(text)
        return json.loads(text)

    def predictions(self, *words, **variables):
        return self.document(*words, **variables)["predictions"]

    def refused(self, expected, *words):
        """A run that is refused in one line of ours that holds all of `expected`."""
        done = run(*words)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Aforetrace: [^\n]+\n\Z")
        for part in expected:
            self.assertIn(part, done.stderr)


def main():
    os.makedirs(DOCUMENTS, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
