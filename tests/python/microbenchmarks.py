#!/usr/bin/env python3
"""What validate/microbenchmarks/compare_answers makes of answers and predictions, and what it says of names and files that are wrong.

    microbenchmarks.py FORETRACE REPOSITORY FOLDER
"""
import importlib.machinery
import importlib.util
import pathlib
import re
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

    def test_launches_by_their_settings_and_what_a_round_costs(self):
        answers = [{"benchmark": "profiled_x", "question": "?", "launch": launch, "groups": groups, "value": rounds, "unit": "rounds", "spread": 0, "a__b.max": cycles}
                   for launch, (groups, rounds, cycles) in enumerate([(1, 32, 1000.0), (1, 64, 1640.0), (2, 32, 2000.0), (2, 96, 9000.0)])]
        predictions = {0: {"a__b.max": 900}, 1: {"a__b.max": 1380}, 2: {"a__b.max": 2000}}
        rows = list(module().launches(answers, predictions, "a__b.max"))
        self.assertEqual(rows, [({"rounds": 32, "groups": 1}, 1000, 900), ({"rounds": 64, "groups": 1}, 1640, 1380), ({"rounds": 32, "groups": 2}, 2000, 2000)])
        self.assertEqual(list(module().launches(answers, predictions, "c__d.sum")), [])
        steps = list(module().steps(rows, "rounds", "rounds"))
        self.assertEqual(steps, [({"groups": 1}, 20, 15)])  # of two groups no launch has twice the rounds of another
        self.assertEqual([line.split() for line in module().launch_lines("x", rows[:1] + steps)],
                         [["x", "rounds=32", "groups=1", "1,000.0", "900.0", "-10.0%"], ["x", "groups=1", "20.0", "15.0", "-25.0%"]])

    def said(self, *words):
        done = subprocess.run([sys.executable, "-B", str(COMPARE), "--foretrace", FORETRACE, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        return done.stderr.strip().splitlines()[-1]

    def test_wrong_names_and_files_are_named(self):
        self.assertIn("nothing: expected a profiled benchmark that h100-sxm-microbenchmarks.json has answers of", self.said("--arch", "h100-sxm", "nothing"))
        FOLDER.mkdir(parents=True, exist_ok=True)
        wrong = FOLDER / "wrong.json"
        for text, what in (("{}", "no key 'answers'"), ("[]", "no key 'answers'"), ('{"answers": [1]}', "answers[0]: no benchmark"), ("{,", "Expecting"),
                           ('{"answers": [{"benchmark": "profiled_local_words", "value": 1}]}', "answers[0]: no launch")):
            wrong.write_text(text)
            self.assertRegex(self.said("--arch", "h100-sxm", "--measurements", str(wrong), "local_words"), f"{wrong}: {re.escape(what)}.*; expected the answers of `run`")
        self.assertIn("none.json: No such file or directory; expected", self.said("--arch", "h100-sxm", "--measurements", "none.json", "local_words"))

    def test_counters_and_settings_are_those_of_the_answers(self):
        words = ("--arch", "h200-sxm", "chained_products")
        self.assertIn("--per: expected --each COUNTER as well", self.said(*words, "--per", "rounds"))
        self.assertIn("--each nothing: expected a counter of chained_products: gpc__cycles_elapsed.max, sm__", self.said(*words, "--each", "nothing"))
        self.assertIn("--per turns: expected a setting of chained_products: rounds, groups, functions",
                      self.said(*words, "--each", "sm__cycles_active.max", "--per", "turns"))
        self.assertIn("--foretrace nowhere: expected the program", self.said(*words, "--foretrace", "nowhere"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
