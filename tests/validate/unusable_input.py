"""What scripts say of words and files that they cannot use: one line that names it, and exit code 2.

    unusable_input.py REPOSITORY FOLDER
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

REPOSITORY, FOLDER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.append(str(REPOSITORY / "tests/project"))
from tree import Tree  # noqa: E402

# What looks at the words of a script before anything else does.
LOOKS = re.compile(r"^take |^\[\[ .* \|\| refuse |\brefuse \"|\bParser\(|^exec python3 -B .* \"\$@\"$", re.M)
OTHER_PARSERS = {
    "python/foretrace/_command.py",     # the package's
    "scripts/usable.py",
    "validate/microbenchmarks/run",     # is installed without scripts/
}


class UnusableInput(unittest.TestCase):
    def said(self, *words):
        done = subprocess.run([sys.executable, "-B", *words], cwd=REPOSITORY, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        return done.stderr.rstrip("\n")

    def write(self, name, contents):
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_bytes(contents)
        return str(FOLDER / name)

    def test_tables(self):
        wrong, odd, empty, none = self.write("wrong", b"# a table\n\nallreduce\tmany\t1\n"), self.write("odd", b"\xff\xfe\x00"), self.write("empty", b""), str(FOLDER / "none")
        for script, command, columns in (("links/judge.py", "compare", "operation, bytes, microseconds, protocol"), ("host/judge.py", "compare", "program, microseconds")):
            words = (f"validate/{script}", command)
            self.assertEqual(self.said(*words, none, none), f"judge.py: {none}: No such file or directory")
            self.assertEqual(self.said(*words, wrong, wrong), f"judge.py: {wrong}:3: expected columns with tabs: {columns}")
            self.assertEqual(self.said(*words, odd, wrong), f"judge.py: {odd}: no text; expected a table")
            self.assertRegex(self.said(*words, empty, empty), f"^judge.py: {empty} and {empty}: no (operation of a size|program) is in both$")

    def test_lines_of_json(self):
        lacks, good = self.write("lacks", b'{"pair": 1}\n'), "validate/beside/h100-sxm-second-predicted.jsonl"
        self.assertEqual(self.said("validate/beside/beside.py", "compare", lacks, lacks),
                         f"beside.py: {lacks}:1: expected a JSON object with pair, alone_a, alone_b, beside_a, beside_b, together")
        self.assertEqual(self.said("validate/beside/beside.py", "compare", good, "README.md"),
                         "beside.py: README.md:3: expected a JSON object with a, b, pair, alone_a, alone_b, beside_a, beside_b, together")

    def test_programs(self):
        for words in (["validate/links/judge.py", "predict", "/nowhere", str(FOLDER / "out")], ["validate/links/fit.py", "/nowhere"],
                      ["validate/host/table.py", "predict", "/nowhere", str(FOLDER / "out"), "--nvcc", "/nowhere"],
                      ["validate/representative/judge.py", "/nowhere", "--nvcc", "/nowhere"], ["scripts/training_step", "/nowhere", "/nowhere", "."]):
            self.assertEqual(self.said(*words), f"{words[0].split('/')[-1]}: /nowhere: No such file or directory")
        self.assertEqual(self.said("validate/links/judge.py", "predict", "/bin/false", str(FOLDER / "out")), "judge.py: /bin/false ended with exit code 1")

    def test_every_script_refuses_an_unknown_option(self):
        tree = Tree(REPOSITORY)
        scripts = [f for f in tree.files if f.startswith("scripts/") and tree.text(f).startswith("#!")]
        for script in scripts:  # one that does not look at its words would do its work here
            self.assertRegex(tree.text(script), LOOKS, script)
        parsing = [f for f in tree.files if f.startswith(("docs/", "tests/", "validate/")) and f not in OTHER_PARSERS
                   and re.search(r"\b(usable|run)\.Parser\(", tree.text(f)) and f != "tests/validate/unusable_input.py"]
        self.assertGreater(len(scripts), 25)
        self.assertGreater(len(parsing), 12)
        programs = [f for f in tree.files if f.startswith(("scripts/", "validate/")) and os.access(REPOSITORY / f, os.X_OK) and tree.text(f).startswith("#!")]
        self.assertGreater(len(programs), len(scripts) + 8)
        for script in [*programs, *sorted({*parsing} - {*programs})]:
            with self.subTest(script):
                words = [REPOSITORY / script] if script in programs else [sys.executable, "-B", script]
                done = subprocess.run([*words, "--no-such-option"], cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL)
                self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), done.stderr)
                self.assertRegex(done.stderr, r"^[\w./]+: .*(expected|required)")

    def test_options_are_parsed_in_one_way(self):
        tree = Tree(REPOSITORY)
        self.assertEqual({f for f in tree.files if "argparse.ArgumentParser" in tree.text(f) and f != "tests/validate/unusable_input.py"}, OTHER_PARSERS)

    def test_words_of_scripts(self):
        for words, says in ((["fuzz", "0"], "fuzz: 0: expected seconds"), (["fuzz", "1", "nothing"], "fuzz: nothing: expected config "),
                            (["screenshots", "nothing"], "screenshots: nothing: expected time_line_training "), (["tidy", "nothing"], "tidy: nothing: no commit"),
                            (["test", "trace"], "test: trace: expected --deep, --clang or options of ctest"), (["setup", ""], "setup: : expected no words"),
                            (["update_errors", "--large"], "update_errors: --large: expected a reason"), (["format", "none.cpp"], "format: none.cpp: no such file")):
            done = subprocess.run([REPOSITORY / "scripts" / words[0], *words[1:]], cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertTrue(done.stderr.startswith(says), done.stderr)

    def test_words_of_those_that_compile_by_triton(self):
        # Triton is not needed to say so.
        without = "import runpy, sys, unittest.mock; sys.modules |= {n: unittest.mock.MagicMock() for n in sys.argv[2].split()}; " \
                  "sys.argv = [sys.argv[1], *sys.argv[3:]]; runpy.run_path(sys.argv[0])"
        modules = "triton triton.language triton.backends.compiler triton.compiler kernels products"
        for script, says in (("triton", "make.py: no_such: expected no words"), ("triton_second", "make.py: no_such: no such launch; expected some of triton2_rope_2048x32x8x128, ")):
            done = subprocess.run([sys.executable, "-B", "-c", without, f"validate/{script}/make.py", modules, "no_such"], cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stderr.count("\n"), done.stdout), (2, 1, ""), done.stderr)
            self.assertTrue(done.stderr.startswith(says), done.stderr)

    def test_options(self):
        self.assertIn("--only x: no such program in", self.said("validate/representative/judge.py", "/nowhere", "--only", "x"))
        self.assertEqual(self.said("validate/microbenchmarks/sass_histogram", "--help"), "sass_histogram: --help: expected MINIMUM, a whole number")
        self.assertIn("--sm 77: the vectors are not of that machine code", self.said("validate/vectors/forms", "--sm", "77"))
        before = (REPOSITORY / "docs/performance.md").read_bytes()
        self.assertIn("--launches: 0: expected a whole number of at least 1", self.said("scripts/measure_launches", "--launches", "0"))
        self.assertEqual((REPOSITORY / "docs/performance.md").read_bytes(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
