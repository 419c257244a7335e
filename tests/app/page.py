"""The page that --html writes: page.py FORETRACE REPOSITORY FOLDER Text|Browser.

Text: what the file holds, read without a browser. Browser: Debian's Chromium, headless, draws it; every section appears and nothing is
said on the console. Where scripts/setup noted that no browser is to be had, Browser is skipped (77); elsewhere a missing one is a failure.
"""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
SECTIONS = ["verdict", "memory", "roofline", "occupancy", "source", "states", "pipelines", "over-time", "distribution", "assumed", "metrics"]
VALIDATION_SECTIONS = ["summary", "scatter", "launches", "classes", "metrics", "criteria", "states"]
MEASUREMENT, FROZEN = REPOSITORY / "validate/measurements/h100-sxm.json", REPOSITORY / "validate/frozen/h100-sxm-2026-11-21.json"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
BEFORE_DATA = 400_000  # bytes of a page without its data


def trace(kernel: str) -> str:
    return str(REPOSITORY / f"tests/data/{kernel}_sm_90.trace")


def run(*words) -> str:
    done = subprocess.run([FORETRACE, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"foretrace {' '.join(map(str, words))}: {done.returncode}: {done.stderr}")
    return done.stdout


def refused(*words) -> str:
    done = subprocess.run([FORETRACE, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 2, done
    return done.stderr


def data_of(page: pathlib.Path) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S).group(1))


def dom(page: pathlib.Path, *options: str) -> str:
    """The page as Chromium has drawn it, without a word on the console."""
    words = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000",
             "--window-size=1280,2000", *options, "--dump-dom", page.resolve().as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=180)
    said = [line for line in done.stderr.split("\n") if "CONSOLE" in line]
    assert said == [], said
    assert done.returncode == 0, done.stderr
    return done.stdout


def drawn(page: pathlib.Path, act: str = "", *options: str) -> str:
    """What the page shows, without its scripts and data, after the JavaScript of `act`."""
    if act:
        acted = FOLDER / "acted.html"
        acted.write_text(page.read_text().replace("</body>", f"<script>{{ {act} }}</script></body>"))
        page = acted
    return re.sub(r'<script type="application/json".*?</script>|<script>.*?</script>', "", dom(page, *options), flags=re.S)


def needs_browser():
    """Ends a test that has none: skipped where scripts/setup noted that none is to be had, else as a failure."""
    without = REPOSITORY / "build/setup.without"
    if BROWSER is None and os.environ.get("FORETRACE_REQUIRE_ALL") != "1" and without.exists() and "chromium" in without.read_text():
        print("no browser to be had here: skipped")
        sys.exit(77)
    if BROWSER is None:
        sys.exit("no chromium here; scripts/setup installs it")


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        FOLDER.mkdir(parents=True, exist_ok=True)
        cls.transpose, cls.both = FOLDER / "transpose.html", FOLDER / "both.html"
        cls.result, cls.other = FOLDER / "page_transpose.json", FOLDER / "page_sgemm.json"
        cls.timeline = FOLDER / "page_timeline.txt"  # its own schema: not for the test of documents
        run("simulate", trace("transpose_tile_32"), "--arch", "h100", "--gains", "--html", cls.transpose, "--json", cls.result)
        run("simulate", trace("sgemm_tiled"), "--arch", "h100", "--json", cls.other)
        run("timeline", trace("transpose_tile_32"), "--arch", "h100", "--warps", "0-1", "--json", cls.timeline)
        run("report", cls.result, cls.other, "--html", cls.both, "--timeline", cls.timeline)
        cls.validation, cls.validated = FOLDER / "validation.html", FOLDER / "page_validation.json"
        run("validate", "--measurements", MEASUREMENT, "--frozen", FROZEN, "--html", cls.validation, "--json", cls.validated)
        cls.study = FOLDER / "study.html"
        (FOLDER / "study.toml").write_text(f'arch = ["h100"]\ntrace = ["{trace("transpose_tile_32")}", "{trace("vector_add")}"]\n'
                                           '[set]\n"l2.latency" = [50, 100, 200]\n"sm.count" = [8, 132]\n')
        (FOLDER / "study.sqlite").unlink(missing_ok=True)  # an earlier run's, maybe of an earlier schema
        subprocess.run([sys.executable, "-B", "-m", "foretrace", "sweep", FOLDER / "study.toml", "--html", cls.study], check=True,
                       env={**os.environ, "FORETRACE": FORETRACE, "PYTHONPATH": str(REPOSITORY / "python")})


class Text(Pages):
    def test_pages_are_small_before_their_data_and_ask_nothing_of_a_network(self):
        for page in (self.transpose, self.validation):
            text = page.read_text()
            data = re.search(r'id="data">(.*?)</script>', text, re.S).group(1)
            self.assertLess(len(text) - len(data), BEFORE_DATA)
            for address in re.findall(r"https?://[^\"' )]*", text.replace(data, "")):
                self.assertEqual(address, "http://www.w3.org/2000/svg")
            self.assertNotRegex(text.replace(data, ""), r"<(script|link|img)[^>]*\ssrc=")
        self.assertNotRegex(self.study.read_text(), r"https?:|\ssrc=|url\(")

    def test_page_has_a_place_for_every_section(self):
        text = self.transpose.read_text()
        for section in SECTIONS + ["timeline"]:
            self.assertIn(f'section("{section}"', text)

    def test_page_holds_the_document_as_json_writes_it(self):
        self.assertEqual(data_of(self.transpose)["documents"][0]["predictions"], json.loads(self.result.read_text())["predictions"])

    def test_a_validations_page_holds_its_document_and_no_held_out_launch(self):
        validation = data_of(self.validation)["validation"]
        self.assertEqual(validation, json.loads(self.validated.read_text()))
        self.assertEqual([launch["name"] for launch in validation["launches"] if launch["held_out"]], [])
        self.assertLess(len(validation["launches"]), validation["compared"])
        shown = FOLDER / "shown.html"
        run("validate", "--measurements", MEASUREMENT, "--frozen", FROZEN, "--show-held-out", "--html", shown)
        launches = data_of(shown)["validation"]["launches"]
        self.assertEqual(len(launches), validation["compared"])
        self.assertFalse(any(f'"{launch["name"]}"' in self.validation.read_text() for launch in launches if launch["held_out"]))
        self.assertEqual(refused("validate", "--freeze", FOLDER / "no.json", "--arch", "h100", "--html", FOLDER / "no.html").count("\n"), 1)

    def test_two_documents_and_a_timeline_stand_in_one_page(self):
        data = data_of(self.both)
        self.assertEqual([d["predictions"][0]["kernel"] for d in data["documents"]], ["transpose_tile<32>", "sgemm_tiled"])
        self.assertEqual(len(data["facts"]), 2)
        self.assertGreater(len(data["timeline"]["timeline"]), 10)
        compared = FOLDER / "compared.html"
        run("compare", self.result, self.other, "--html", compared, "--timeline", self.timeline)
        self.assertEqual(data_of(compared)["timeline"], data["timeline"])
        self.assertIn("--timeline", refused("compare", self.result, self.other, "--timeline", self.timeline))
        self.assertIn("no timeline", refused("compare", self.result, self.other, "--html", FOLDER / "no.html", "--timeline", self.result))

    def test_what_is_recorded_has_the_timeline_of_two_warps(self):
        rows = data_of(self.transpose)["timeline"]["timeline"]
        self.assertEqual({(row["block"], row["warp"]) for row in rows}, {(0, 0), (0, 1)})
        self.assertLessEqual(len(rows), 400)
        alone = json.loads(self.timeline.read_text())["timeline"]  # what foretrace timeline says of the same warps, the first 60 instructions
        self.assertEqual([row for row in rows if row["warp"] == 0][:20], [row for row in alone if row["warp"] == 0][:20])

    def test_ceilings_and_occupancy_are_those_of_the_chip(self):
        facts = data_of(self.transpose)["facts"][0][0]
        roofs = {each["name"]: each["per_second"] for each in facts["roofs"]["operations"]}
        # 132 SMs x 128 FMA units x 2 at 1.98 GHz; half of them FP64; 4096 operations per SM and cycle of the tensor cores.
        self.assertAlmostEqual(roofs["FP32"], 132 * 128 * 2 * 1.98e9, delta=1)
        self.assertAlmostEqual(roofs["FP64"], 132 * 64 * 2 * 1.98e9, delta=1)
        self.assertAlmostEqual(roofs["FP16"], 132 * 256 * 2 * 1.98e9, delta=1)  # HFMA2 on both halves of the FMA pipe
        self.assertAlmostEqual(roofs["Tensor FP16"], 132 * 4096 * 1.8e9, delta=1)  # the clock of products
        curve = dict(facts["occupancy"]["registers"])
        self.assertEqual(curve[32], 64)
        self.assertLess(curve[255], 16)
        self.assertEqual(len(facts["assumed"]), json.loads(self.result.read_text())["predictions"][0]["assumed_values"] +
                         json.loads(self.result.read_text())["predictions"][0]["transferred_values"])

    def test_gains_name_the_bank_conflicts(self):
        prediction = json.loads(self.result.read_text())["predictions"][0]
        cycles = {gain["key"]: gain["cycles"] for gain in prediction["gains"]}
        self.assertEqual(len(cycles), 11)
        self.assertLess(cycles["ideal.bank_conflicts"], prediction["metrics"]["gpc__cycles_elapsed.max"])

    def test_the_raw_page_reads_back_as_what_it_was_made_of(self):
        table = FOLDER / "raw.csv"
        table.write_text(run("report", self.result, "--page", "raw", "--csv"))
        comparison = json.loads(run("compare", self.result, "--ncu", table, "--json", "-"))
        metrics = comparison["launches"][0]["metrics"]
        self.assertGreater(len(metrics), 100)
        self.assertEqual([name for name, m in metrics.items() if m["measured"] != m["predicted"]], [])

    def test_details_and_source_are_tables(self):
        rows = list(csv.DictReader(run("report", self.result, "--csv").splitlines()))
        cycles = next(row for row in rows if row["Metric Name"] == "Elapsed Cycles")
        prediction = json.loads(self.result.read_text())["predictions"][0]
        self.assertEqual(float(cycles["Metric Value"]), prediction["metrics"]["gpc__cycles_elapsed.max"])
        self.assertEqual(rows[-1]["Rule Description"], prediction["limiter"]["sentence"])
        source = run("report", self.result, "--page", "source", "--csv").splitlines()
        self.assertEqual(source[0], '"Kernel Name","transpose_tile<32>"')
        rows = list(csv.DictReader(source[1:]))
        self.assertEqual([row["Source"] for row in rows], [row["sass"] for row in prediction["instructions"]])
        self.assertEqual([int(row["stall_long_scoreboard"]) for row in rows], [row["stalled"]["long_scoreboard"] for row in prediction["instructions"]])
        self.assertIn("Section: GPU Speed Of Light Throughput", run("report", self.result, "--page", "details"))

    def test_speedscope_weighs_every_stall(self):
        file = FOLDER / "stalls.txt"  # its own format: not for the test of documents
        run("report", self.result, "--speedscope", file)
        told = json.loads(file.read_text())
        profile, prediction = told["profiles"][0], json.loads(self.result.read_text())["predictions"][0]
        self.assertEqual(sum(profile["weights"]), sum(sum(row["stalled"].values()) for row in prediction["instructions"]))
        self.assertEqual(profile["endValue"], sum(profile["weights"]))
        names = [frame["name"] for frame in told["shared"]["frames"]]
        self.assertTrue(all(names[stack[0]] == "transpose_tile<32>" and names[stack[-1]] in prediction["instructions"][0]["stalled"] for stack in profile["samples"]))

    def test_the_launch_over_its_time_adds_up_to_its_metrics(self):
        prediction = json.loads(self.result.read_text())["predictions"][0]
        rows, metrics = prediction["over_time"], prediction["metrics"]
        self.assertEqual(rows["end"][-1], metrics["gpc__cycles_elapsed.max"])
        self.assertEqual(sum(rows["instructions"]), metrics["smsp__inst_executed.sum"])
        self.assertEqual(sum(rows["dram_bytes"]), metrics["dram__bytes_read.sum"] + metrics["dram__bytes_write.sum"])
        self.assertEqual(sum(prediction["sms"]["blocks"]), metrics["launch__grid_size"])
        self.assertEqual(max(prediction["sms"]["active"]), metrics["sm__cycles_active.max"])

    def test_ideal_keys_are_no_keys_of_a_chip(self):
        self.assertIn("ideal.dram", refused("simulate", trace("sgemm_tiled"), "--arch", "h100", "--set", "ideal.dram=1"))

    def test_gains_are_not_of_samples(self):
        for words in (["predict", "none.cu"], ["run"]):
            words += ["--arch", "h100", "--gains", "--accuracy", "sampled", *(["--", "true"] if words == ["run"] else [])]
            done = subprocess.run([FORETRACE, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 125 if "run" in words else 2)  # what run's program returns is its own
            self.assertIn("--gains with --accuracy sampled", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_bad_input_is_one_line(self):
        for words in ([self.result], ["--html", FOLDER / "no.html"], [self.result, "--html", FOLDER / "no.html", "--timeline", self.result],
                      [self.result, "--html", FOLDER / "no.html", "--perfetto", self.result], [self.result, "--csv", "--perfetto", self.result],
                      [self.timeline, "--html", FOLDER / "no.html"], [self.result, "--page", "none"], [self.result, self.other, "--csv"]):
            self.assertEqual(refused("report", *words).count("\n"), 1)
        self.assertFalse((FOLDER / "no.html").exists())


class Browser(Pages):
    def dom(self, page: pathlib.Path) -> str:
        return dom(page)

    def drawn(self, page: pathlib.Path, act: str = "") -> str:
        return drawn(page, act)

    def test_every_section_is_drawn(self):
        dom = self.dom(self.transpose)
        for section in SECTIONS:
            self.assertIn(f'<section id="{section}"', dom)
        self.assertGreaterEqual(dom.count("<svg"), 4)  # memory chart and three of occupancy
        self.assertIn("without bank conflicts", dom)
        self.assertNotIn("NaN", self.drawn(self.transpose))

    def test_a_validation_is_drawn_and_its_tables_sort(self):
        drawn = self.drawn(self.validation)
        for section in VALIDATION_SECTIONS:
            self.assertIn(f'<section id="{section}"', drawn)
        self.assertNotIn("NaN", drawn)
        launches = json.loads(self.validated.read_text())["launches"]
        self.assertEqual(drawn.count('class="mark"'), len(launches))
        names = [launch["name"] for launch in launches]

        def order(text: str) -> list[str]:
            return re.findall(r'<tr id="launch-([^"]*)"', text)

        self.assertEqual(order(drawn), names)
        errors = {launch["name"]: abs(sides["predicted"] / sides["measured"] - 1) for launch in launches for sides in [launch["metrics"]["gpc__cycles_elapsed.max"]]}
        column = 'const column = document.querySelectorAll("#launches th button")[4];'
        falling = order(self.drawn(self.validation, column + "column.click();"))
        self.assertEqual([errors[name] for name in falling], sorted(errors.values(), reverse=True))
        self.assertEqual(order(self.drawn(self.validation, column + "column.click(); column.click();"))[0], min(errors, key=errors.get))
        # With the focus on the picture a key goes to another launch; a class's name leaves its launches.
        least = min(launches, key=lambda launch: launch["metrics"]["gpc__cycles_elapsed.max"]["measured"])["name"]
        acted = self.drawn(self.validation, 'document.querySelector("#scatter svg").dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));'
                           '[...document.querySelectorAll("#classes .pick")].find(each => each.textContent === "sort").click();')
        self.assertIn(f"<strong>{least}</strong>", acted)
        self.assertEqual(order(acted), [launch["name"] for launch in launches if "sort" in launch["name"] + " " + launch["class"]])

    def test_published_numbers_are_drawn(self):
        measurement, page = json.loads(MEASUREMENT.read_text()), FOLDER / "published.html"
        measurement["source"] = "nobody"
        file = FOLDER / "published.txt"
        for launch in measurement["launches"]:
            launch["metrics"] = {name: values for name, values in launch["metrics"].items() if name == "sm__cycles_active.avg"}
        file.write_text(json.dumps(measurement))
        run("validate", "--measurements", file, "--arch", "h100", "--frozen", FROZEN, "--html", page)
        drawn = self.drawn(page)
        self.assertIn('<section id="published"', drawn)
        self.assertIn("within 10% (aim: 8 in 10)", drawn)
        self.assertNotIn("NaN", drawn)

    def test_a_study_is_drawn_and_its_points_sort(self):
        drawn = self.drawn(self.study)
        self.assertEqual(re.findall(r"<h2>(.*?)</h2>", drawn), ["What each changes", "Best point of each chip", "All points"])
        self.assertEqual(drawn.count("<svg"), 2)
        self.assertNotRegex(drawn, r"\bnan\b|NaN")

        def cycles(text: str) -> list[int]:
            return [int(row.split("</td>")[4].split(">")[-1].replace(",", "")) for row in text.split('class="rows"')[1].split("<tr>")[2:]]

        column = 'const column = document.querySelectorAll(".rows th button")[4];'
        self.assertEqual(len(cycles(drawn)), 12)
        rising = cycles(self.drawn(self.study, column + "column.click();"))
        self.assertEqual(rising, sorted(cycles(drawn)))
        self.assertEqual(cycles(self.drawn(self.study, column + "column.click(); column.click();")), rising[::-1])

    def test_two_documents_stand_side_by_side_with_the_timeline(self):
        dom = self.dom(self.both)
        self.assertIn("times as fast as", dom)
        self.assertIn('<section id="timeline"', dom)
        self.assertIn("SASS of B", dom)
        self.assertIn('<section id="changes"', dom)
        self.assertRegex(dom, r"instructions are equal but for registers, [1-9]")

    def test_a_program_has_its_kernels_and_time_line_before_its_launches(self):
        document = json.loads(self.other.read_text())
        time = document["predictions"][0]["metrics"]["gpu__time_duration.sum"]
        parts = {"kernels_ns": 2 * time, "copies_ns": 1000, "calls_ns": 500, "host_ns": 0, "gaps_ns": 0}
        document["predictions"][0].update(number=0, stream=2, start_ns=1000, end_ns=1000 + time)
        document["represented"] = [{"number": 1, "by": 0, "kernel": "sgemm_tiled", "grid": [4, 4, 1], "block": [16, 16, 1], "dynamic_shared": 0, "duration_ns": time,
                                    "duration_low_ns": time, "duration_high_ns": time, "stream": 2, "start_ns": 2000 + time, "end_ns": 2000 + 2 * time,
                                    "operator": "aten::mm", "operator_note": "not cuBLAS's"}]
        document["program"] = {"launches": 2, "simulated": 1, "represented": 1, "faults": 0, "duration_ns": 2 * time, "duration_low_ns": time, "duration_high_ns": 3 * time,
                               "budget": 1, "warp_instructions": 2, "simulated_warp_instructions": 1,
                               "time_line": {"host": "made", "host_title": "A made-up host", "host_time": 0, "duration_ns": 1500 + 2 * time, "time": parts,
                                             "critical_path": parts, "overlap_won_ns": 0, "overlap_lost_ns": 0}}
        result, page = FOLDER / "program.txt", FOLDER / "program.html"
        result.write_text(json.dumps(document))
        run("report", result, "--html", page)
        drawn = self.drawn(page)
        self.assertLess(drawn.index('<section id="program"'), drawn.index('<section id="verdict"'))
        program = drawn[drawn.index('<section id="program"'):drawn.index('<section id="verdict"')]
        for text in ("A made-up host", "copies and fills", "as launch #0", "stream 2", "#1 sgemm_tiled [aten::mm]", "in nine cases of ten"):
            self.assertIn(text, program)
        self.assertEqual(program.count("<rect"), 2)
        self.assertNotIn("NaN", drawn)
        self.assertNotIn('<section id="program"', self.dom(self.transpose))
        # With what run --perfetto wrote: calls and outermost ranges of threads, the stream's copies beside its launches, engines.
        named = [(0, 2, "stream 2"), (1, 0, "to the device"), (1, 1, "to the host"), (2, 0, "thread 0")]
        spans = [(2, 0, "call", "launch", 0, 1, None), (2, 0, "range", "operator/aten::mm", 0, 2, None), (2, 0, "range", "operator/aten::inner", 0.5, 1, None),
                 (0, 2, "kernel", "sgemm_tiled", 1, time / 1e3, 0), (0, 2, "kernel", "sgemm_tiled", 2 + time / 1e3, time / 1e3, 1), (0, 2, "work", "copy to the device", 0, 0.5, None),
                 (1, 0, "work", "copy to the device", 0, 0.5, None)]
        events = [{"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}} for pid, tid, name in named]
        events += [{"ph": "X", "pid": pid, "tid": tid, "cat": kind, "name": name, "ts": ts, "dur": dur, "args": {} if launch is None else {"launch": launch}}
                   for pid, tid, kind, name, ts, dur, launch in spans]
        events.append({"ph": "C", "name": "room taken", "pid": 0, "ts": 1, "args": {"percent": 5}})
        trace_file = FOLDER / "program_trace.txt"
        trace_file.write_text(json.dumps({"traceEvents": events}))
        run("report", result, "--perfetto", trace_file, "--html", page)
        self.assertEqual([(row["group"], row["name"], len(row["spans"])) for row in data_of(page)["traces"][0]["rows"]],
                         [("calls", "thread 0", 1), ("ranges", "thread 0", 1), ("gpu", "stream 2", 3), ("engine", "to the device", 1)])
        drawn = self.drawn(page)
        program = drawn[drawn.index('<section id="program"'):drawn.index('<section id="verdict"')]
        for text in ("thread 0, calls", "thread 0, ranges", "engine to the device", "aten::mm", "as launch #0", "the host's calls"):
            self.assertIn(text, program)
        self.assertNotIn("aten::inner", program)
        self.assertEqual(program.count("<rect"), 6)
        self.assertEqual(program.count('class="launch"'), 2)

    def test_counters_stand_beside_nsight_computes(self):
        table, page = FOLDER / "ncu.csv", FOLDER / "measured.html"
        table.write_text(run("report", self.result, "--page", "raw", "--csv"))
        run("compare", self.result, "--ncu", table, "--html", page)
        dom = self.dom(page)
        self.assertIn('<section id="measured"', dom)
        self.assertIn("within 1%", dom)


if __name__ == "__main__":
    part = sys.argv[4]
    if part == "Browser":
        needs_browser()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase({"Text": Text, "Browser": Browser}[part])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
