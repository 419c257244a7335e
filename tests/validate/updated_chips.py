"""What scripts/update_chips writes of the results of `foretrace validate`, and that docs/accuracy_chips.md has a place and a row for every document."""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.append(str(ROOT / "scripts"))
loader = importlib.machinery.SourceFileLoader("update_chips", str(ROOT / "scripts/update_chips"))
chips = importlib.util.module_from_spec(importlib.util.spec_from_loader("update_chips", loader))
loader.exec_module(chips)


def document(**errors):
    launches = [{"name": name, "metrics": {"gpu__time_duration.sum": {"predicted": 100 + error, "measured": 100}}} for name, error in errors.items()]
    return {"commit": "c0ffee", "launches": launches}


class Chips(unittest.TestCase):
    def test_one_error_has_its_sign(self):
        self.assertEqual(chips.row("chip", document(fluid=-5), "judges"), "| `chip` | judges | 1 | - | -5.0% (`fluid`) | - | c0ffee |")

    def test_several_have_mean_and_worst(self):
        self.assertEqual(chips.row("chip", document(a=5, b=-20, c=9), "judges"), "| `chip` | judges | 3 | 11.3% | -20.0% (`b`) | 2 of 3 | c0ffee |")

    def test_the_page_is_written_between_its_markers(self):
        page = chips.marked_text.put(chips.PAGE.read_text(), "published", chips.table(["| of a test |"]), chips.PAGE)
        self.assertIn("\n| of a test |\n<!-- end of published -->", page)
        with self.assertRaisesRegex(SystemExit, "page: expected the markers of 'published' once, found them 0 times"):
            chips.marked_text.put("no markers", "published", "", "page")

    def test_the_page_has_every_document(self):
        page = chips.PAGE.read_text()
        for file in (ROOT / "validate/published").glob("*.json"):
            rows = len(json.loads(file.read_text())["launches"])
            self.assertRegex(page, rf"\| `{file.stem}` \| \w+ \| {rows} \|")


unittest.main()
