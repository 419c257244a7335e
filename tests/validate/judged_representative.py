"""What validate/representative/judge.py makes of two runs' documents, and that docs/representative.md has its markers and a row for each program."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "validate/representative"))
import judge  # noqa: E402

EVERY = {"duration_ns": 1000.0, "warp_instructions": 6_000_000}
SOME = {"launches": 20, "simulated": 3, "duration_ns": 1100.0, "duration_low_ns": 1045.0, "duration_high_ns": 1155.0, "simulated_warp_instructions": 200_000}


class Judge(unittest.TestCase):
    def test_a_row(self):
        self.assertEqual(judge.row("jacobi", EVERY, SOME, (3, 2, 1)),
                         "| jacobi | 20 | 3 | 6.00 M | 30 | 1.0 | 1.1 | +10.00% | 5.0% | no | 3.0 | 2.0 | 1.0 |")

    def test_an_interval_that_holds(self):
        self.assertTrue(judge.judged(EVERY, SOME | {"duration_low_ns": 1000.0})["held"])

    def test_the_sum_of_two(self):
        near = SOME | {"duration_ns": 1010.0, "duration_low_ns": 990.0, "simulated_warp_instructions": 100_000}
        self.assertEqual(judge.summary([judge.judged(EVERY, SOME), judge.judged(EVERY, near)]),
                         "2 programs: the worst error is 10.00%, 1 are within 2%, the interval held 1 times, at least 30 times fewer were simulated.")

    def test_the_page(self):
        page = judge.PAGE.read_text()
        self.assertIn("<!-- judge.py -->\nof a test\n<!-- end of judge.py -->", judge.marked_text.put(page, "judge.py", "of a test\n", judge.PAGE))
        programs = list((ROOT / "validate/representative").glob("*.cu"))
        self.assertEqual(len(programs), len(re.findall(r"(?m)^\| [a-z_]+ \| \d+ \|", page)))
        for program in programs:
            self.assertIn(f"\n| {program.stem} | ", page)


unittest.main()
