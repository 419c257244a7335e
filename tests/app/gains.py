"""What `--gains` promises beside what a change of the source brings: gains.py FORETRACE REPOSITORY FOLDER [update].

Pairs of kernels (gain_pairs.cu) on the model of an H100: the cycles that ideal.NAME says NAME_before would save, against those that
NAME_after saves. docs/json.md shows them; `update`, which scripts/update_gains asks for, writes them there. Needs the CUDA compiler.
"""

import json
import pathlib
import re
import subprocess
import sys
import unittest

FORETRACE, REPOSITORY = sys.argv[1], pathlib.Path(sys.argv[2])
PAIRS = {
    "bank_conflicts": "a transpose through a tile of 32 x 32 words, then of 32 x 33",
    "coalescing": "an array of structures of eight numbers, then a structure of arrays",
    "residency": "48 KB of shared memory a block, then 12 KB: 16 blocks fit instead of 4",
    "shared_memory": "48 KB of shared memory a block, then 1 KB: L1 is larger as well",
    "atomics": "every lane adds to one word, then to its own of 128 copies' words",
}
WITHIN = 0.10  # of the cycles that the changed source saves
DOCUMENT = REPOSITORY / "docs/json.md"
TABLE = re.compile(r"(<!-- gains -->\n).*?(<!-- end of gains -->)", re.S)


def predicted(kernel: str, *words: str) -> dict:
    command = [FORETRACE, "predict", str(REPOSITORY / "tests/app/gain_pairs.toml"), "--kernel", kernel, "--arch", "h100-sxm", "--json", "-", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["predictions"][0]


def cycles(prediction: dict) -> float:
    return prediction["metrics"]["gpc__cycles_elapsed.max"]


class Pair:
    def __init__(self, name: str):
        self.prediction = predicted(name + "_before", "--gains")
        self.without = {gain["key"]: gain["cycles"] for gain in self.prediction["gains"]}
        self.before, self.after = cycles(self.prediction), cycles(predicted(name + "_after"))
        self.promised, self.saved = self.before - self.without["ideal." + name], self.before - self.after

    def off(self) -> float:
        """By how much of what is saved the promise is too large."""
        return self.promised / self.saved - 1


def table(pairs: dict[str, Pair]) -> str:
    rows = ["| key | the source before, and after | cycles before | after | saved by the change | by the key | off |", "|---|---|---|---|---|---|---|"]
    rows += [f"| `ideal.{name}` | {PAIRS[name]} | {p.before:,.0f} | {p.after:,.0f} | {p.saved:,.0f} | {p.promised:,.0f} | {100 * p.off():+.1f}% |" for name, p in pairs.items()]
    return "\n".join(rows) + "\n"


class Gains(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pairs = {name: Pair(name) for name in PAIRS}

    def test_a_gain_is_what_changing_the_source_brings(self):
        for name, pair in self.pairs.items():
            with self.subTest(name):
                self.assertGreater(pair.saved, 0.05 * pair.before)
                self.assertLessEqual(abs(pair.off()), WITHIN)

    def test_the_pair_with_less_shared_memory_gains_more_than_resident_blocks(self):
        # 48 KB -> 1 KB lets more blocks in and leaves L1 more room. The first alone is what ideal.residency is.
        pair = self.pairs["shared_memory"]
        residency = pair.before - pair.without["ideal.residency"]
        self.assertTrue(0.3 * pair.saved < residency < (1 - WITHIN) * pair.saved)

    def test_latency_alone_is_less_than_latency_and_traffic(self):
        # Each warp of this pair waits for one load after the other: latency is what it waits for.
        pair = self.pairs["residency"]
        self.assertLess(pair.without["ideal.memory_latency"], 0.7 * pair.before)
        self.assertLess(pair.without["ideal.l2"], pair.without["ideal.memory_latency"])

    def test_the_verdict_names_the_gain_of_what_it_advises(self):
        for name in ("bank_conflicts", "coalescing", "residency", "atomics"):
            with self.subTest(name):
                pair, sentence = self.pairs[name], self.pairs[name].prediction["limiter"]["sentence"]
                words = next(gain["words"] for gain in pair.prediction["gains"] if gain["key"] == "ideal." + name)
                share = 100 * pair.promised / pair.before
                self.assertIn(f"{pair.promised:,.0f} of {pair.before:,.0f} cycles, {share:.{0 if share >= 9.95 else 1}f}%, {words}", sentence)

    def test_the_document_shows_these_numbers(self):
        shown = TABLE.search(DOCUMENT.read_text())
        self.assertEqual(shown.group(0), f"{shown.group(1)}\n{table(self.pairs)}\n{shown.group(2)}", "run scripts/update_gains")


if __name__ == "__main__":
    if sys.argv[4:] == ["update"]:
        text = table({name: Pair(name) for name in PAIRS})
        shown, times = TABLE.subn(lambda m: f"{m[1]}\n{text}\n{m[2]}", DOCUMENT.read_text())
        assert times == 1, "docs/json.md has the two markers once"
        DOCUMENT.write_text(shown)
        print(text, end="")
    else:
        unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
