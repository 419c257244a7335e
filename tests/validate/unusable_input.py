"""What the scripts of validate/ and scripts/ say of input that they cannot use: one line that names it, and exit code 2.

    unusable_input.py REPOSITORY FOLDER
"""

import pathlib
import subprocess
import sys
import unittest

REPOSITORY, FOLDER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


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

    def test_options(self):
        self.assertIn("--only x: no such program in", self.said("validate/representative/judge.py", "/nowhere", "--only", "x"))
        self.assertIn("--sm 77: the vectors are not of that machine code", self.said("validate/vectors/forms", "--sm", "77"))
        before = (REPOSITORY / "docs/performance.md").read_bytes()
        done = subprocess.run([sys.executable, "-B", "scripts/measure_launches", "--launches", "0"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--launches: 0: expected a whole number of at least 1", done.stderr)
        self.assertEqual((REPOSITORY / "docs/performance.md").read_bytes(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
