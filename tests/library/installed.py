"""Installs a build, builds docs/library_example against the installation alone, and runs it: installed.py CMAKE BUILD REPOSITORY [unittest's arguments]"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD, REPOSITORY = sys.argv[1:4]
CUBIN = os.path.join(REPOSITORY, "tests", "frontend", "data", "corpus.sm_90.cubin")
ARGUMENTS = ["buf:i32:1", "buf:i32:128:iota"]
# Neither this repository's configurations nor its tools.
SURROUNDINGS = {key: value for key, value in os.environ.items() if not key.startswith("FORETRACE_")}


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, env=SURROUNDINGS, **more)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = pathlib.Path(cls.folder.name)
        cls.prefix = root / "prefix"
        cls.require(run(CMAKE, "--install", BUILD, "--prefix", str(cls.prefix)))
        shutil.copytree(os.path.join(REPOSITORY, "docs", "library_example"), root / "example")
        cls.require(run(CMAKE, "-S", str(root / "example"), "-B", str(root / "build"), f"-DCMAKE_PREFIX_PATH={cls.prefix}",
                        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror"))
        cls.require(run(CMAKE, "--build", str(root / "build")))
        cls.example = str(root / "build" / "compare_chips")
        # A chip that stands in the installation alone.
        chips = cls.prefix / "share" / "foretrace" / "configs"
        shutil.copy(chips / "h100-sxm.toml", chips / "made-up.toml")

    @staticmethod
    def require(done):
        if done.returncode != 0:
            raise AssertionError(f"{done.args}\n{done.stdout}\n{done.stderr}")

    def test_predicts_what_the_program_predicts(self):
        done = run(self.example, CUBIN, "scan::totals", "2", "128", "made-up,h100", *ARGUMENTS)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["made-up", "h100-sxm"])
        document = os.path.join(self.folder.name, "result.json")
        words = [word for argument in ARGUMENTS for word in ("--arg", argument)]
        self.require(run(str(self.prefix / "bin" / "foretrace"), "predict", CUBIN, "--kernel", "scan::totals", "--grid", "2", "--block",
                         "128", "--arch", "h100", "--json", document, *words))
        metrics = json.loads(pathlib.Path(document).read_text())["predictions"][0]["metrics"]
        for line in lines:
            self.assertEqual(float(line.split()[1]), metrics["gpc__cycles_elapsed.max"])

    def test_errors_are_one_line(self):
        for words, expected in (((CUBIN, "no_such_kernel", "1", "32", "h100"), "no_such_kernel"),
                                ((CUBIN, "scan::totals", "1", "32", "h101", *ARGUMENTS), "h101"),
                                ((CUBIN, "scan::totals", "1", "4096", "h100", *ARGUMENTS), "block")):
            done = run(self.example, *words)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(expected, done.stderr)

    def test_another_minor_version_is_not_accepted(self):
        root = pathlib.Path(self.folder.name)
        other = root / "other"
        shutil.copytree(root / "example", other)
        text = (other / "CMakeLists.txt").read_text()
        (other / "CMakeLists.txt").write_text(text.replace("find_package(foretrace 0.2 ", "find_package(foretrace 0.3 "))
        done = run(CMAKE, "-S", str(other), "-B", str(root / "other_build"), f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("0.3", done.stderr)

    def test_nothing_but_the_interface_is_exported(self):
        library = self.prefix / "lib" / "libforetrace.so"
        names = run("nm", "-DC", "--defined-only", str(library)).stdout.splitlines()
        own = [name for name in names if "foretrace::" in name]
        self.assertTrue(any("foretrace::predict(" in name for name in own))
        for name in names:
            self.assertRegex(name, r"foretrace::(Error|Interrupted|Result::metric|predict|simulate|occupancy|describe|chips|version)\b")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
