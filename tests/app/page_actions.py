"""What a reader does on the page that --html writes: page_actions.py FORETRACE REPOSITORY FOLDER.

Headless Chromium does it and says what is then shown. As page.py's part Browser it is skipped (77) where no browser is to be had.
"""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from page import FOLDER, drawn, needs_browser, run, trace  # noqa: E402

CYCLES, TIME = "gpc__cycles_elapsed.max", "gpu__time_duration.sum"
KEY = 'const press = (on, key) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));'
PANES = 'const [left, right] = document.querySelectorAll("#source .pane"), row = (pane, key) => pane.querySelector(`tr[data-key="${key}"]`);'


def panes(shown: str) -> list[list[tuple[int, bool]]]:
    """Of either side of the source its rows, line or offset, and whether each is chosen."""
    source = shown[shown.index('<section id="source"'):shown.index('<section id="states"')]
    return [[(int(re.search(r'data-key="(\d+)"', each).group(1)), 'class="chosen"' in each) for each in re.findall(r"<tr [^>]*data-key[^>]*>", pane)]
            for pane in source.split('class="pane"')[1:]]


def stalled(row: dict) -> int:
    return sum(cycles for state, cycles in row["stalled"].items() if state != "selected")


class Actions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        result, cls.page, timeline = FOLDER / "acted_on.txt", FOLDER / "acted_on.html", FOLDER / "acted_timeline.txt"
        run("simulate", trace("transpose_tile_32"), "--arch", "h100", "--json", result)
        run("timeline", trace("transpose_tile_32"), "--arch", "h100", "--warps", "0", "--json", timeline)
        run("report", result, "--html", cls.page, "--timeline", timeline)
        cls.document = json.loads(result.read_text())
        cls.rows = cls.document["predictions"][0]["instructions"]

    def page_of(self, name: str, document: dict) -> pathlib.Path:
        result, page = FOLDER / f"{name}.txt", FOLDER / f"{name}.html"
        result.write_text(json.dumps(document))
        run("report", result, "--html", page)
        return page

    def test_a_source_line_shows_its_instructions_and_an_instruction_its_line(self):
        lines = sorted({row["line"] for row in self.rows if row["line"]})
        line, other = lines[0], lines[-1]
        own = {row["offset"] for row in self.rows if row["line"] == line}
        for act in (f"row(left, {line}).click();", f'press(row(left, {line}), "Enter");'):
            source, sass = panes(drawn(self.page, KEY + PANES + act))
            self.assertEqual([key for key, chosen in source if chosen], [line])
            self.assertEqual({key for key, chosen in sass if chosen}, own)
        offset = next(row["offset"] for row in self.rows if row["line"] == other)
        for act in (f"row(right, {offset}).click();", f'press(row(right, {offset}), "Enter");'):
            source, sass = panes(drawn(self.page, KEY + PANES + act))
            self.assertEqual([key for key, chosen in source if chosen], [other])
            self.assertEqual([key for key, chosen in sass if chosen], [offset])

    def test_rows_sort_by_heat_and_back(self):
        button = 'const sort = [...document.querySelectorAll("#source button")].find(each => each.textContent === "Sort by heat"); sort.click();'
        shown = drawn(self.page, button)
        self.assertIn('aria-pressed="true">Sorted by heat', shown)
        source, sass = panes(shown)
        by_offset = {row["offset"]: stalled(row) for row in self.rows}
        heat = [by_offset[key] for key, _ in sass]
        self.assertEqual(heat, sorted(by_offset.values(), reverse=True))
        by_line = [sum(stalled(row) for row in self.rows if row["line"] == key) for key, _ in source]
        self.assertEqual(by_line, sorted(by_line, reverse=True))
        self.assertGreater(len(by_line), 2)
        _, sass = panes(drawn(self.page, button + "sort.click();"))
        self.assertEqual([key for key, _ in sass], sorted(by_offset))

    def ticks(self, act: str) -> list[int]:
        """The cycles at the timeline's axis."""
        shown = drawn(self.page, KEY + 'const lanes = document.querySelector("#timeline svg");' + act)
        lanes = shown[shown.index('<section id="timeline"'):shown.index('<section id="distribution"')]
        return [int(text.replace(",", "")) for text in re.findall(r'<text x="[^"]*" y="12"[^>]*>([\d,]+)</text>', lanes)]

    def test_wheel_and_keys_zoom_and_move_the_timeline(self):
        def wheel(more: str) -> str:
            return ('const box = lanes.getBoundingClientRect(); for (let i = 0; i < 6; ++i) lanes.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, cancelable: true, '
                    f'clientX: box.left + box.width * 0.6, clientY: box.top + 20{more} }}));')

        whole = self.ticks("")
        span = whole[-1] - whole[0]
        self.assertGreater(len(whole), 2)
        self.assertEqual(self.ticks(wheel("")), whole, "the wheel alone scrolls the page")
        zoomed = self.ticks(wheel(", ctrlKey: true"))
        self.assertLess(zoomed[-1] - zoomed[0], span / 2)
        self.assertTrue(whole[0] < zoomed[0] and zoomed[-1] < whole[-1])
        keys = 'for (let i = 0; i < 5; ++i) press(lanes, "+");'
        near = self.ticks(keys)
        self.assertLess(near[-1] - near[0], span / 2)
        self.assertGreater(self.ticks(keys + 'press(lanes, "ArrowRight");')[0], near[0])
        self.assertLess(self.ticks(keys + 'press(lanes, "ArrowLeft");')[-1], near[-1])
        self.assertGreater(self.ticks(keys + 'press(lanes, "-");')[-1], near[-1])
        self.assertEqual(self.ticks(keys + 'press(lanes, "0");'), whole)

    def test_dark_is_asked_for_by_the_browser_or_the_button(self):
        say = 'document.body.dataset.ground = getComputedStyle(document.body).backgroundColor;'
        button = '[...document.querySelectorAll("button")].find(each => each.textContent === "Light or dark").click();'

        def theme(act: str, *options: str) -> tuple[str, int]:
            shown = drawn(self.page, act + say, *options)
            ground = re.search(r'data-ground="rgb\((\d+), ', shown).group(1)
            return re.search(r'<html[^>]*data-theme="(\w+)"', shown).group(1), int(ground)

        light, dark = theme("", "--blink-settings=preferredColorScheme=1"), theme("", "--blink-settings=preferredColorScheme=0")
        self.assertEqual((light[0], dark[0]), ("light", "dark"))
        self.assertGreater(light[1], 200)
        self.assertLess(dark[1], 60)
        self.assertEqual(theme(button, "--blink-settings=preferredColorScheme=1"), dark)
        self.assertEqual(theme(button + button, "--blink-settings=preferredColorScheme=1"), light)

    def test_keys_choose_a_launch_on_the_programs_time_line(self):
        one = self.document["predictions"][0]
        time = one["metrics"][TIME]
        launches = [dict(one, number=i, stream=i % 2, start_ns=1000 + i * time, end_ns=1000 + (i + 1) * time, kernel=f"kernel_{i}") for i in range(4)]
        document = dict(self.document, predictions=launches,
                        program={"launches": 4, "simulated": 4, "represented": 0, "faults": 0, "duration_ns": 4 * time, "duration_low_ns": 4 * time,
                                 "duration_high_ns": 4 * time, "budget": 1, "warp_instructions": 1, "simulated_warp_instructions": 1})
        page = self.page_of("keys", document)
        start = KEY + 'const at = () => document.activeElement, lanes = document.querySelector("#program svg"); lanes.querySelector("rect[tabindex=\'0\']").focus();'

        def verdict(*keys: str) -> str:
            shown = drawn(page, start + "".join(f'press(at(), "{key}");' for key in keys))
            self.assertEqual(len(re.findall(r'<rect [^>]*class="launch"[^>]*tabindex="0"', shown)), 1)
            return re.search(r'<h2 id="verdict-title">Verdict on #\d+ (\S+)', shown).group(1)

        self.assertEqual(verdict(), "kernel_0")
        self.assertEqual(verdict("ArrowRight"), "kernel_0", "an arrow alone chooses nothing")
        self.assertEqual(verdict("ArrowRight", "Enter"), "kernel_2", "the next of its lane")
        self.assertEqual(verdict("ArrowRight", "ArrowRight", "Enter"), "kernel_2", "the lane has no more")
        self.assertEqual(verdict("ArrowDown", " "), "kernel_1", "the nearest of the next lane")
        self.assertEqual(verdict("ArrowDown", "ArrowRight", "ArrowUp", "Enter"), "kernel_2")
        self.assertEqual(verdict("ArrowRight", "+", "Enter"), "kernel_2", "who has the focus keeps it when the line is drawn anew")

    def test_a_kernel_is_limited_by_what_limits_most_of_its_time(self):
        """As the summary of run says; not by what limits most launches, nor the longest."""
        one = self.document["predictions"][0]
        titles = {"launch": "The launch itself", "tail": "The last wave", "issue": "Issue slots"}

        def limit(*launches: tuple[str, int]) -> str:
            predictions = [dict(one, number=i, kernel="one_kernel", limiter={"name": name, "sentence": titles[name]}, metrics=dict(one["metrics"], **{TIME: time}))
                           for i, (name, time) in enumerate(launches)]
            whole = sum(time for _, time in launches)
            program = {"launches": len(launches), "simulated": len(launches), "represented": 0, "faults": 0, "duration_ns": whole, "duration_low_ns": whole,
                       "duration_high_ns": whole, "budget": 1, "warp_instructions": 1, "simulated_warp_instructions": 1}
            shown = drawn(self.page_of("limits", dict(self.document, predictions=predictions, program=program)), "")
            return re.search(r'<table class="kernels">.*?</table>', shown, re.S).group(0).split("<td>")[-1].split("<")[0]

        self.assertEqual(limit(("launch", 100), ("launch", 100), ("launch", 100), ("tail", 1000)), titles["tail"])
        self.assertEqual(limit(("launch", 100), ("tail", 300), ("issue", 400), ("tail", 200)), titles["tail"])
        # Times are rounded once: 1.7754 is not 1.775 and then 1.77.
        limit(("launch", 1775400))
        self.assertIn("<b>1.78 ms</b>", drawn(FOLDER / "limits.html", ""))

    def test_a_launch_on_two_chips_opens_with_the_second_beside_the_first(self):
        page = FOLDER / "chips.html"
        run("simulate", trace("transpose_tile_32"), "--arch", "h100,h200", "--html", page)
        shown = drawn(page)
        self.assertRegex(shown, r'<option value="1" selected="">[^<]*h200')
        self.assertRegex(shown, r"[AB] is [\d.]+ times as fast as|take the same time")
        self.assertNotIn('class="sides two"', drawn(self.page))
        # Two launches of one chip are no variants of each other.
        self.assertNotIn('class="sides two"', drawn(self.page_of("two", dict(self.document, predictions=[
            self.document["predictions"][0], dict(self.document["predictions"][0], grid=[1, 1, 1])]))))

    def test_a_page_without_gains_says_how_to_get_them(self):
        self.assertRegex(drawn(self.page), r"To have it: <code>\S*foretrace\S* simulate --gains \S*transpose_tile_32_sm_90.trace --arch h100 ")

    def test_each_type_of_product_has_its_own_ceiling(self):
        chip = 132 * 1.8e9  # the clock of products
        peaks = {"QGMMA.64x64x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24": ("Tensor FP8", 8192 * chip, "FLOP/s", 2 * 64 * 64 * 32 / 4),
                 "HGMMA.64x64x8.F32.TF32 R24, gdesc[UR4], R24": ("Tensor TF32", 2048 * chip, "FLOP/s", 2 * 64 * 64 * 8 / 4),
                 "HMMA.16816.F32.BF16 R4, R8, R12, R4": ("Tensor FP16", 4096 * chip, "FLOP/s", 2 * 16 * 8 * 16),
                 "IMMA.16832.S8.S8 R4, R8, R12, R4": ("Tensor INT8", 8192 * chip, "OP/s", 2 * 16 * 8 * 32),
                 "DMMA.16x8x8 R4, R8, R12, R4": ("Tensor FP64", 256 * 132 * 1.98e9, "FLOP/s", 2 * 16 * 8 * 8)}
        for sass, (kind, peak, unit, operations) in peaks.items():
            with self.subTest(sass):
                rows = [dict(self.rows[0], sass=sass, executed=1000)] + [row for row in self.rows[1:] if not re.search(r"\b[FDH](FMA|ADD|MUL)", row["sass"])]
                document = dict(self.document, predictions=[dict(self.document["predictions"][0], instructions=rows)])
                shown = drawn(self.page_of("products", document))
                roof = shown[shown.index('<section id="roofline"'):shown.index('<section id="occupancy"')]
                prefix, scale = ("P", 1e15) if peak >= 1e15 else ("T", 1e12)
                self.assertIn(f"{kind} {float(f'{peak / scale:.3g}'):g} {prefix}{unit}", roof)
                self.assertIn(f"{1000 * operations / 1e6:.3g}M {kind} operations", roof)
                others = {kind for kind, *_ in peaks.values()} - {kind, "Tensor FP16"}
                self.assertFalse([each for each in others if each in roof])


if __name__ == "__main__":
    needs_browser()
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
