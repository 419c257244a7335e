"""Studies of the Python package on recorded traces: studies.py FORETRACE REPOSITORY FOLDER.

A study that is killed twice has the result of one that was not, and so have its merged shards; what sensitivity and optimise say is held
against simulations of their own.
"""

import csv
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
os.environ["FORETRACE"] = FORETRACE
os.environ["PYTHONPATH"] = str(REPOSITORY / "python")
sys.path.insert(0, str(REPOSITORY / "python"))
for folder in (REPOSITORY / ".venv/lib").glob(f"python3.{sys.version_info.minor}/site-packages"):  # pyarrow, of scripts/setup
    os.environ["PYTHONPATH"] += f":{folder}"
    sys.path.append(str(folder))
sys.dont_write_bytecode = True

import foretrace  # noqa: E402
from foretrace import _sweep_picture, calibration, optimise, sensitivity, sweep  # noqa: E402

STUDY = """arch = ["h100"]
trace = ["sgemm.trace", "transpose.trace"]
[set]
"sm.count" = [64, 100, 132]
"l2.latency" = [100, 150]
"""


def command(*words) -> list[str]:
    return [sys.executable, "-B", "-m", "foretrace", *map(str, words)]


def run(*words) -> str:
    done = subprocess.run(command(*words), capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"foretrace {' '.join(map(str, words))}: {done.returncode}: {done.stderr}")
    return done.stdout


def refused(*words) -> str:
    done = subprocess.run(command(*words), capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, (done.returncode, done.stdout, done.stderr)
    return done.stderr


def study(name: str, text: str) -> pathlib.Path:
    file = FOLDER / name
    file.write_text(text)
    return file


class Sweep(unittest.TestCase):
    def test_a_study_that_is_killed_twice_has_the_result_of_one_that_was_not(self):
        file = study("killed.toml", STUDY.replace("[64, 100, 132]", "[64, 72, 80, 88, 100, 132]").replace("[100, 150]", "[50, 100, 150, 200]"))
        done = subprocess.run([sys.executable, "-B", REPOSITORY / "docs/studies/killed_twice.py", file, "--jobs", "1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("48 points computed again, 0 of them differ", done.stdout)
        self.assertEqual(len((FOLDER / "killed.csv").read_text().splitlines()), 49)
        self.assertEqual(done.stdout.count("killed at"), 2)
        # A study that has begun is not begun again: it would not be killed where it says.
        again = subprocess.run([sys.executable, "-B", REPOSITORY / "docs/studies/killed_twice.py", file], capture_output=True, text=True)
        self.assertEqual(again.returncode, 1)
        self.assertIn("was started before", again.stderr)

    def test_a_full_disk_is_told_by_the_files_name(self):
        file = study("full.toml", STUDY)
        for option in ("--csv", "--html"):
            self.assertEqual(refused("sweep", file, option, "/dev/full"), "foretrace: /dev/full: No space left on device\n")

    def test_a_full_disk_leaves_no_new_database(self):
        folder = FOLDER / "small"
        folder.mkdir()
        text = STUDY.replace('"sgemm.trace", "transpose.trace"', '"../sgemm.trace"')
        for words in (["sweep", study("small/full.toml", text)], ["sensitivity", FOLDER / "transpose.trace", "--arch", "h100", "--database", folder / "full.sqlite"]):
            done = subprocess.run(command(*words), capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, r"\Aforetrace: [^\n]*small/full\.sqlite: (disk I/O error|database or disk is full)\n\Z")
            self.assertEqual([file.name for file in folder.iterdir()], ["full.toml"])
        run("sweep", folder / "full.toml")

    def test_an_interrupted_study_says_so_and_goes_on_later(self):
        file = study("interrupted.toml", STUDY.replace("[64, 100, 132]", "[64, 72, 80, 88, 100, 132]"))
        process = subprocess.Popen(command("sweep", file, "--jobs", "1", "--csv", FOLDER / "interrupted.csv"), stderr=subprocess.PIPE, text=True, start_new_session=True)
        while not (FOLDER / "interrupted.sqlite").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate()
        self.assertEqual((process.returncode, said), (130, "foretrace: interrupted\n"))
        self.assertFalse((FOLDER / "interrupted.csv").exists())
        run("sweep", file)

    def test_an_empty_word_is_refused(self):
        for words in (["sweep", study("empty.toml", STUDY), "--csv", ""], ["sensitivity", FOLDER / "transpose.trace", "--arch", "h100", "--database", ""], ["optimise", ""]):
            self.assertIn("foretrace: an empty word is given; expected a value; ", refused(*words))

    def test_a_device_is_not_read(self):
        told = "foretrace: /dev/zero: is a device; expected a file\n"
        self.assertEqual(refused("sweep", "/dev/zero"), told)
        self.assertEqual(refused("sensitivity", "/dev/zero", "--arch", "h100"), told)
        self.assertEqual(refused("sweep", study("device.toml", STUDY.replace("sgemm.trace", "/dev/zero"))), told)
        self.assertEqual(refused("baseline", "check", study("device_bench.toml", 'arch = ["h100"]\nbaseline = "/dev/zero"\n[[program]]\ncommand = ["true"]\n')), told)
        with self.assertRaisesRegex(foretrace.ForetraceError, "/dev/zero: is a device"):
            foretrace.read("/dev/zero")

    def test_a_link_in_the_place_of_a_result_stays(self):
        link, target = FOLDER / "latest.csv", FOLDER / "monday.csv"
        link.unlink(missing_ok=True)
        link.symlink_to(target.name)
        file = study("linked.toml", STUDY)
        for _ in range(2):  # without the file that it leads to, and with it
            run("sweep", file, "--csv", link)
            self.assertTrue(link.is_symlink())
            self.assertEqual(len(target.read_text().splitlines()), 13)
        circle = FOLDER / "circle.csv"
        circle.unlink(missing_ok=True)
        circle.symlink_to(circle.name)
        self.assertIn("circle.csv: Too many levels of symbolic links\n", refused("sweep", file, "--csv", circle))

    def test_merged_shards_are_the_study(self):
        run("sweep", study("one.toml", STUDY), "--csv", FOLDER / "one.csv")
        parts = study("parts.toml", STUDY)
        for shard in (1, 2):
            run("sweep", parts, "--shard", f"{shard}/3")
        self.assertIn("3of3", refused("sweep", parts, "--merge", 3))
        self.assertIn("--jobs with --merge: nothing is predicted", refused("sweep", parts, "--merge", 3, "--jobs", 1))
        run("sweep", parts, "--shard", "3/3")
        run("sweep", parts, "--merge", 3, "--csv", FOLDER / "parts.csv")
        self.assertEqual((FOLDER / "one.csv").read_bytes(), (FOLDER / "parts.csv").read_bytes())

    def test_a_page_has_a_chart_for_all_that_changes(self):
        file, page = study("page.toml", STUDY.replace('["h100"]', '["h100", "h200"]')), FOLDER / "page.html"
        run("sweep", file, "--html", page, "--csv", FOLDER / "page.csv")
        text = page.read_text()
        self.assertIn("24 of 24 points", text)
        self.assertEqual(re.findall(r"<h3>(.*?)</h3>", text), ["sm.count", "l2.latency", "arch"])
        self.assertEqual(text.count("<circle"), 2 * (3 + 2 + 2))  # a mark for each value of each trace
        self.assertIn("Geometric mean over 4 combinations of l2.latency, arch.", text)
        with open(FOLDER / "page.csv") as rows:
            cycles = [int(row["cycles"]) for row in csv.DictReader(rows) if row["work"] == "sgemm.trace" and row["sm.count"] == "64"]
        self.assertEqual(len(cycles), 4)
        self.assertIn(f"sm.count = 64: {math.prod(cycles) ** 0.25:,.0f} cycles", text)
        self.assertIn("--merge 2 --html", refused("sweep", file, "--shard", "1/2", "--html", page))
        self.assertIn("nowhere", refused("sweep", file, "--html", FOLDER / "nowhere/page.html"))

    def test_a_line_is_made_of_whole_combinations(self):
        point = lambda kernel, cycles, **at: _sweep_picture.Point(kernel, kernel, {"arch": "x", **at}, cycles, cycles * 2.0, "dram")
        points = [point("k", 100, tile=8, n=1), point("k", 400, tile=8, n=2), point("k", 50, tile=16, n=1), point("k", 50, tile=16, n=2),
                  point("k", 7, tile=8, n=3)]  # n = 3 was done for one tile alone
        line, = _sweep_picture.lines_over("tile", points)
        self.assertEqual([(value, round(cycles, 6)) for value, cycles in line.points], [(8, 200), (16, 50)])
        self.assertEqual(line.others, 2)
        self.assertEqual(_sweep_picture.lines_over("arch", points), [])  # one value: nothing to draw
        best, = _sweep_picture.best_points({"arch": ["x"]}, points)
        self.assertEqual((best[2].at["n"], best[3]), (3, 400 / 7))
        both = points + [point("l", 10, tile=8, n=2), point("l", 90, tile=16, n=2)]
        self.assertEqual(_sweep_picture.best_of_all({"arch": ["x"]}, ["tile"], both), [("x", {"tile": 8}, _sweep_picture.mean([14, 20]))])

    def test_defines_and_shapes_are_what_changes_of_a_kernel(self):
        kernel = '[[kernel]]\nsource = "k.cu"\nkernel = "k"\nshape = [{ grid = [8] }, { grid = [4], %s }]\ndefines = { TILE = [8, 16] }\n'
        study("k.cu", "")
        found = sweep.Study(study("defines.toml", 'arch = ["h100"]\n' + kernel % "block = [64]"))
        done = [(name, "h100", {}, 1000 + i, 500.0 + i, "dram", "0.2") for i, (name, _) in enumerate(found.works)]
        text = _sweep_picture.page(found, done)
        self.assertEqual(re.findall(r"<h3>(.*?)</h3>", text), ["TILE", "shape"])
        self.assertEqual(len(_sweep_picture.best_points({"arch": ["h100"]}, _sweep_picture.points_of(found, done))), 1)
        # Shapes with arguments of their own are problems of their own: the smaller is no better.
        sized = sweep.Study(study("sized.toml", 'arch = ["h100"]\n' + kernel % 'args = ["val:i32:1"]'))
        problems = [problem for _, problem, *_ in _sweep_picture.best_points({"arch": ["h100"]}, _sweep_picture.points_of(sized, done))]
        self.assertEqual(problems, ["k 8", "k 4"])
        self.assertIn("3 of 4 points", _sweep_picture.page(found, done[:3]))
        with self.assertRaisesRegex(sweep.StudyError, "no point"):
            sweep.write_html(found, FOLDER / "none.html")

    def test_the_study_of_two_thousand_points_has_as_many(self):
        folder = FOLDER / "two_thousand"
        subprocess.run([sys.executable, "-B", REPOSITORY / "docs/studies/two_thousand.py", folder], check=True, capture_output=True)
        points = list(sweep.Study(folder / "study.toml").points())
        self.assertEqual(len({identity for identity, *_ in points}), 2000)
        self.assertEqual(len({name for _, name, *_ in points}), 20)
        self.assertEqual(len({name for _, name, *_ in points[::20]}), 20)  # shard 1/20: some of each

    def test_parquet_says_what_csv_says(self):
        try:
            import pyarrow.parquet
        except ImportError:
            self.assertNotEqual(os.environ.get("FORETRACE_REQUIRE_ALL"), "1", "no pyarrow: scripts/setup installs it")
            self.skipTest("no pyarrow")
        file = study("table.toml", STUDY)
        run("sweep", file, "--csv", FOLDER / "table.csv", "--parquet", FOLDER / "table.parquet")
        table = pyarrow.parquet.read_table(FOLDER / "table.parquet").to_pydict()
        with open(FOLDER / "table.csv") as rows:
            for i, row in enumerate(csv.DictReader(rows)):
                self.assertEqual(float(row["cycles"]), table["cycles"][i])
                self.assertEqual(row["work"], table["work"][i])


class Sensitivity(unittest.TestCase):
    def test_each_end_is_a_simulation_of_its_own(self):
        trace = FOLDER / "transpose.trace"
        found = sensitivity.measure(trace, "h100", ["l2.latency", "dram.*", "barrier.membar_gpu"], 0.2)
        by_key = {move.key: move for move in found.moves}
        move = by_key["l2.latency"]
        again = foretrace.simulate(trace, "h100", set={"l2.latency": [move.low, move.high]})
        self.assertEqual([p.cycles for p in again], [move.cycles_low, move.cycles_high])
        self.assertGreater(move.cycles_high, move.cycles_low)
        self.assertEqual(by_key["barrier.membar_gpu"].swing(), 0)  # the kernel has no fence
        self.assertEqual([m.swing() for m in found.moves], sorted((m.swing() for m in found.moves), reverse=True))

    def test_a_share_moves_quantities_alone_and_whole_ones_by_whole_steps(self):
        def ends(form, number, low=None, high=None, share=0.1):
            return sensitivity._ends(foretrace._chip_values.ChipValue("a.b", str(number), (number,), "1", form, "fitted", low, high, ""), share)
        self.assertEqual(ends("integer", 25), (22, 28, False))
        self.assertEqual(ends("real", 1, share=0.25), (0.75, 1.25, False))
        self.assertEqual(ends("real", 1, 0.9, 1.05), (0.9, 1.05, True))
        self.assertEqual(ends("integer", 1, 1, 8), (1, 8, True))
        self.assertEqual(ends("integer", 1, 0.9, 1.05), (0, 2, False))
        self.assertIsNone(ends("switch", 1))
        self.assertEqual(ends("switch", 0, 0, 1), (0, 1, True))  # the configuration says that it is not known
        self.assertIsNone(ends("mask", 640))
        values = foretrace._chip_values.values("h100")
        self.assertEqual({key: values[key].form for key in ("launch.by_gpc", "l2.together_bits", "l2.atomic_wide_interval", "l2.latency", "l1.carveouts")},
                         {"launch.by_gpc": "switch", "l2.together_bits": "mask", "l2.atomic_wide_interval": "real", "l2.latency": "integer", "l1.carveouts": "list"})

    def test_every_key_with_a_range_is_moved_or_named_here(self):
        unmoved = set()
        for file in (REPOSITORY / "configs").glob("*.toml"):
            for key, value in foretrace._chip_values.values(file.stem).items():
                if value.low is not None and not key.startswith("cuda.") and sensitivity._ends(value, 0.1) is None:
                    unmoved.add(key)
        self.assertEqual(unmoved, {"cluster.groups"})  # a list, whose range is that of each of its numbers

    def test_what_is_no_share_or_number_is_refused(self):
        words = ["sensitivity", FOLDER / "transpose.trace", "--arch", "h100"]
        for share in ("-5", "0", "100", "nan", "much"):
            self.assertEqual(refused(*words, f"--by={share}"),
                             f"foretrace: argument --by: {share}: expected a percentage above 0 and below 100; 'foretrace sensitivity --help' says what is expected\n")
        for option in ("--rows", "--jobs"):
            for number in ("0", "-1", "1.5", "all"):
                self.assertIn(f"argument {option}: {number}: expected a whole number of at least 1;", refused(*words, f"{option}={number}"))
        for command, option in (("sweep", "--jobs"), ("sweep", "--merge"), ("optimise", "--jobs")):
            self.assertIn(f"argument {option}: 0: expected", refused(command, FOLDER / "none.toml", f"{option}=0"))

    def test_the_band_is_made_of_stated_ranges(self):
        move = lambda kind, stated, low, high: sensitivity.Move("a.b", kind, "cycle", 2, 1, 3, stated, low, high)
        found = sensitivity.Sensitivity("x", "y", 1000, [move("assumed", True, 970, 1040), move("fitted", True, 1030, 960), move("measured", True, 1, 9999),
                                                         move("assumed", False, 1, 9999)], {})
        self.assertEqual(found.band(), (950, 1050))
        self.assertEqual(found.widest(), (930, 1070))

    def test_a_name_of_what_is_no_launch_file_is_refused(self):
        self.assertIn("--launch x: saxpy.cu is no launch file; expected", refused("sensitivity", "saxpy.cu", "--launch", "x", "--arch", "h100"))

    def test_pictures_and_a_database_that_goes_on(self):
        words = ["sensitivity", FOLDER / "transpose.trace", "--arch", "h100", "--keys", "l2.latency,launch.start", "--database", FOLDER / "kept.sqlite"]
        first = run(*words, "--html", FOLDER / "tornado.html", "--json", FOLDER / "tornado.json")
        begin = time.monotonic()
        self.assertEqual(run(*words), first)
        self.assertIn("l2.latency", (FOLDER / "tornado.html").read_text())
        self.assertIn("<svg", (FOLDER / "tornado.html").read_text())
        self.assertIn("l3.latency", refused("sensitivity", FOLDER / "transpose.trace", "--arch", "h100", "--keys", "l3.latency"))


class Optimise(unittest.TestCase):
    DESIGN = """arch = ["h100"]
trace = ["transpose.trace"]
cost = "sm.count + 100 / l2.latency"
[set]
"sm.count" = [32, 64, 96, 132]
"l2.latency" = [50, 100, 150]
"""

    def test_neighbours_are_a_step_up_or_down_of_one_value(self):
        design = optimise.Design(study("design.toml", self.DESIGN))
        self.assertEqual(list(design.neighbours((32, 100))), [(64, 100), (32, 50), (32, 150)])
        self.assertEqual(list(design.neighbours((64, 150))), [(32, 150), (96, 150), (64, 100)])
        self.assertEqual(list(design.neighbours((132, 50))), [(96, 50), (132, 100)])

    def test_nothing_beats_the_front(self):
        found, best, today = optimise.search(optimise.Design(study("design.toml", self.DESIGN)))
        self.assertEqual(len(found), 12)
        self.assertEqual(today[:2], (132 + 100 / foretrace._chip_values.values("h100")["l2.latency"].number, 1.0))
        for point in best:
            self.assertFalse(any(other[0] <= point[0] and other[1] < point[1] for other in found))
        self.assertEqual(best[0][0], min(p[0] for p in found))
        self.assertEqual(best[-1][1], min(p[1] for p in found))

    def test_a_budget_is_kept_and_a_picture_drawn(self):
        run("optimise", study("budget.toml", "budget = 7\n" + self.DESIGN), "--html", FOLDER / "front.html", "--csv", FOLDER / "front.csv")
        self.assertLessEqual(len((FOLDER / "front.csv").read_text().splitlines()), 8)
        self.assertIn("<svg", (FOLDER / "front.html").read_text())

    def test_formulas(self):
        self.assertEqual(optimise.Formula("2 * sm.count ** 2 - max(a.b, 3) / -2")({"sm.count": 4, "a.b": 1}), 33.5)
        for wrong in ("__import__('os')", "sm.count.x.y", "sm.count if 1 else 2", "1 +"):
            with self.assertRaises(sweep.StudyError):
                optimise.Formula(wrong)({"sm.count": 4})


class Calibrate(unittest.TestCase):
    def test_the_page_shows_every_number_that_was_calibrated(self):
        answers = REPOSITORY / "validate/measurements/h200-sxm-microbenchmarks.json"
        made = FOLDER / "made.toml"
        run("calibrate", answers, "--base", "h100-sxm", "--output", made)
        page = calibration.page(made, "h100-sxm", answers)
        for key in ("dram.latency", "launch.start", "lsu.width_latency"):
            self.assertIn(f"<td>{key}</td>", page)

    def test_without_a_gpu_it_says_so(self):
        if shutil.which("nvidia-smi"):
            self.skipTest("there is a GPU")
        self.assertRegex(refused("calibrate", "--base", "h100", "--output", FOLDER / "none.toml"), "nvcc|nvidia-smi")
        self.assertIn("h101", refused("calibrate", "--base", "h101", "--output", FOLDER / "none.toml"))


class Typed(unittest.TestCase):
    def test_properties_are_the_metrics_in_their_types(self):
        result = foretrace.simulate(REPOSITORY / "tests/data/sgemm_tiled_sm_90.trace", "h100")[0]
        self.assertEqual((result.cycles, result.registers, result.dram_bytes_read, result.dram_bytes_written, result.warp_instructions),
                         tuple(result[name] for name in ("gpc__cycles_elapsed.max", "launch__registers_per_thread", "dram__bytes_read.sum", "dram__bytes_write.sum",
                                                         "smsp__inst_executed.sum")))
        self.assertTrue(all(type(number) is int for number in (result.cycles, result.registers, result.dram_bytes_read)))
        self.assertAlmostEqual(result.duration, result["gpu__time_duration.sum"] * 1e-9)
        self.assertEqual((result.theoretical_occupancy, result.l2_hit_rate), (result["sm__maximum_warps_per_active_cycle_pct"], result["lts__t_sector_hit_rate.pct"]))
        self.assertGreater(result.memory_throughput, 0)
        self.assertGreater(result.compute_throughput, result.dram_throughput)
        result.metrics["gpc__cycles_elapsed.max"] = None
        with self.assertRaisesRegex(ValueError, "gpc__cycles_elapsed.max is n/a"):
            result.cycles


class Activate(unittest.TestCase):
    def test_too_late_is_a_clear_error(self):
        folder = FOLDER / "late"
        folder.mkdir(exist_ok=True)
        (folder / "triton.py").write_text("")
        done = subprocess.run([sys.executable, "-B", "-c", "import triton, foretrace; foretrace.activate('h100')"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": f"{folder}:{REPOSITORY / 'python'}"})
        self.assertIn("triton is imported already", done.stderr)


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name, file in (("sgemm", "sgemm_tiled_sm_90"), ("transpose", "transpose_tile_32_sm_90")):
        shutil.copy(REPOSITORY / f"tests/data/{file}.trace", FOLDER / f"{name}.trace")
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
