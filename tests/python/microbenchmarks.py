#!/usr/bin/env python3
"""What validate/microbenchmarks/compare_answers makes of answers and predictions, and what it says of names and files that are wrong.

    microbenchmarks.py FORETRACE REPOSITORY FOLDER
"""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import unittest

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
COMPARE = REPOSITORY / "validate/microbenchmarks/compare_answers"


def module():
    loader = importlib.machinery.SourceFileLoader("compare_answers", str(COMPARE))
    result = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare_answers", loader))
    loader.exec_module(result)
    return result


class Compare(unittest.TestCase):
    def test_errors_are_parts_of_what_was_measured_but_of_small_counts(self):
        answers = [{"benchmark": "profiled_x", "launch": 0, "a__b.sum": 1000.0, "c__d.sum": 10.0, "value": 3},
                   {"benchmark": "profiled_x", "launch": 1, "a__b.sum": 200.0, "c__d.sum": None},
                   {"benchmark": "profiled_x", "launch": 7, "a__b.sum": 1.0}]
        found = module().errors(answers, {0: {"a__b.sum": 1100, "c__d.sum": 20}, 1: {"a__b.sum": 180, "c__d.sum": 5}})
        self.assertEqual(found, {"a__b.sum": [0.1, -0.1], "c__d.sum": [0.1]})
        printed = list(module().lines("x", found))
        self.assertEqual([line.split() for line in printed], [["x", "a__b.sum", "2", "10.0%", "+0.0%"], ["x", "c__d.sum", "1", "10.0%", "+10.0%"]])

    def said(self, *words):
        done = subprocess.run([sys.executable, "-B", str(COMPARE), "--foretrace", FORETRACE, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        return done.stderr.strip().splitlines()[-1]

    def test_wrong_names_and_files_are_named(self):
        self.assertIn("nothing: expected a profiled benchmark that h100-sxm-microbenchmarks.json has answers of", self.said("--arch", "h100-sxm", "nothing"))
        FOLDER.mkdir(parents=True, exist_ok=True)
        wrong = FOLDER / "wrong.json"
        wrong.write_text("{}")
        self.assertIn(f"{wrong}: 'answers'; expected the answers of `run`", self.said("--arch", "h100-sxm", "--measurements", str(wrong), "local_words"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
