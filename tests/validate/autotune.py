"""What the tuning study makes of a prediction and a measurement: autotune.py. The numbers are worked out by hand."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
SPEC = importlib.util.spec_from_file_location("autotune_study", REPOSITORY / "validate" / "autotune" / "autotune.py")
study = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(study)


def document(kind, times, shape=(64, 32, 16), code="same", **more):
    """Configurations that differ in BLOCK_M alone, 16, 32 and so on."""
    rows = [{"BLOCK_M": 16 << i, "BLOCK_N": 64, "BLOCK_K": 32, "num_warps": 4, "num_stages": 3, "cubin_sha256": f"{code}{i}", "microseconds": time}
            for i, time in enumerate(times)]
    return {"schema": 1, "kind": kind, "shape": list(shape), "triton": "3", "configs": rows, **more}


class Table(unittest.TestCase):
    def test_ranks_share_their_mean_where_times_are_equal(self):
        self.assertEqual(study.ranks_of([3.0, 1.0, 2.0]), [3, 1, 2])
        self.assertEqual(study.ranks_of([5.0, 1.0, 5.0, 5.0]), [3, 1, 3, 3])

    def test_the_correlation_is_of_ranks_and_not_of_times(self):
        self.assertAlmostEqual(study.rank_correlation([1, 2, 3, 1000], [1, 4, 9, 10]), 1)
        self.assertAlmostEqual(study.rank_correlation([1, 2, 3], [3, 2, 1]), -1)
        # Ranks 1 2 3 4 and 2 1 4 3: 1 - 6 * 4 / (4 * 15).
        self.assertAlmostEqual(study.rank_correlation([1, 2, 3, 4], [20, 10, 40, 30]), 0.6)
        self.assertIsNone(study.rank_correlation([1, 1], [1, 2]))
        self.assertIsNone(study.rank_correlation([1], [1]))

    def test_errors_ranks_and_what_the_predicted_winner_costs(self):
        both = study.compare(document("predicted", [9.0, 11.0, 30.0, None]), document("measured", [12.0, 10.0, 20.0, 5.0]))
        self.assertEqual([row["config"] for row in both["rows"]], ["32x64x32 w4 s3", "16x64x32 w4 s3", "64x64x32 w4 s3"])
        for row, error in zip(both["rows"], (0.1, -0.25, 0.5)):
            self.assertAlmostEqual(row["error"], error)
        self.assertEqual([(row["predicted_rank"], row["measured_rank"]) for row in both["rows"]], [(2, 1), (1, 2), (3, 3)])
        self.assertAlmostEqual(both["loss"], 0.2)  # 12 instead of 10
        self.assertAlmostEqual(both["worst_choice"], 1.0)
        self.assertAlmostEqual(both["rank_correlation"], 0.5)  # 1 - 6 * 2 / (3 * 8)
        self.assertAlmostEqual(both["mean_error"], 0.85 / 3)
        self.assertAlmostEqual(both["median_error"], 0.25)
        self.assertAlmostEqual(both["worst_error"], 0.5)
        self.assertEqual((both["predicted_winner"], both["measured_winner"]), ("16x64x32 w4 s3", "32x64x32 w4 s3"))
        self.assertEqual(both["left_out"], ["128x64x32 w4 s3"])

    def test_the_right_choice_costs_nothing(self):
        self.assertEqual(study.compare(document("predicted", [1.0, 2.0]), document("measured", [3.0, 4.0]))["loss"], 0)

    def test_a_shape_is_compared_with_itself_alone(self):
        with self.assertRaisesRegex(study.Wrong, r"\[64, 32, 16\], measured for \[1, 1, 1\]"):
            study.compare(document("predicted", [1.0]), document("measured", [1.0], (1, 1, 1)))
        with self.assertRaisesRegex(study.Wrong, "no configuration"):
            study.compare(document("predicted", [None]), document("measured", [1.0]))


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as text:
            text.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def call(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = study.main(list(words))
        return code, out.getvalue(), err.getvalue()

    def test_the_table_and_its_sentences(self):
        predicted = self.file("p.json", document("predicted", [9.0, 11.0], arch="a-chip"))
        measured = self.file("m.json", document("measured", [12.0, 10.0], code="other", device="A GPU"))
        code, out, err = self.call("table", predicted, "--measured", measured)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("| 16x64x32 w4 s3 | 9.00 | 12.00 | -25.0% | 1 | 2 |\n", out)
        self.assertIn("a-chip and A GPU, 64x32x16: errors 17.5% mean, 17.5% median, 25.0% worst; rank correlation -1.00\n", out)
        self.assertIn("predicted winner 16x64x32 w4 s3, measured winner 32x64x32 w4 s3: it takes 20.0% longer", out)
        self.assertIn("other machine code on the two sides (Triton 3 and 3): 32x64x32 w4 s3, 16x64x32 w4 s3\n", out)

    def test_bad_input_is_one_line(self):
        good = self.file("p.json", document("predicted", [9.0], arch="a-chip"))
        for words, said in ((("table", good, "--measured", good), "it is predicted; expected a measured document"),
                            (("table", os.path.join(self.folder, "none"), "--measured", good), "No such file"),
                            (("table", self.file("text", "words"), "--measured", good), "no JSON"),
                            (("table", self.file("list", "[]"), "--measured", good), "expected a predicted document"),
                            (("predict", "--arch", "h100", "--shape", "64,64"), "--shape 64,64; expected M,N,K")):
            code, out, err = self.call(*words)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
            self.assertIn(said, err)

    def test_what_is_written_is_read_again_and_has_a_line_for_each_configuration(self):
        made = document("measured", [1.5, None])
        path = os.path.join(self.folder, "written.json")
        study.write(path, made)
        self.assertEqual(study.read(path, "measured"), made)
        with open(path, encoding="utf-8") as text:
            self.assertEqual(sum('"BLOCK_M"' in line for line in text), 2)


class Committed(unittest.TestCase):
    def test_each_prediction_names_its_winner_and_what_made_it(self):
        paths = sorted((REPOSITORY / "validate" / "autotune" / "predicted").glob("*.json"))
        self.assertGreaterEqual(len(paths), 3)
        for path in paths:
            with self.subTest(path.name):
                found = study.read(path, "predicted")
                self.assertEqual(found["winner"], study.winner_of(found["configs"]))
                self.assertTrue(path.stem.endswith("-" + "x".join(map(str, found["shape"]))))
                for key in ("arch", "foretrace", "commit", "triton"):
                    self.assertTrue(found[key])

    def test_the_page_shows_what_the_table_of_each_measurement_is(self):
        page = (REPOSITORY / "docs" / "studies" / "autotune.md").read_text(encoding="utf-8")
        paths = sorted((REPOSITORY / "validate" / "autotune" / "measured").glob("*.json"))
        self.assertGreaterEqual(len(paths), 2)
        for path in paths:
            with self.subTest(path.name):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    self.assertEqual(study.main(["table", str(path.parent.parent / "predicted" / path.name), "--measured", str(path)]), 0)
                self.assertIn(out.getvalue().strip(), page)


if __name__ == "__main__":
    unittest.main()
