"""The program as a user meets it: exit codes, messages of one line, and results that do not depend on how they were made.

    command_line.py FORETRACE REPOSITORY DOCUMENTS Offline|WithCompiler [unittest's arguments]

Offline needs no CUDA compiler.
"""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program import ARCHS, FORETRACE, REPOSITORY, SGEMM, VECTOR_ADD, Case, kernel_file, main, run, trace  # noqa: E402


class Offline(Case):
    def test_a_trace_predicts_on_every_chip_of_its_machine_code(self):
        for sm, arch in ARCHS.items():
            for kernel in ("sgemm_tiled", "transpose_tile_32", "vector_add"):
                result = self.document("simulate", trace(kernel, sm), "--arch", arch)
                (prediction,) = result["predictions"]
                self.assertEqual(prediction["arch"], arch)
                self.assertGreater(prediction["metrics"]["gpc__cycles_elapsed.max"], 0)

    def test_help_names_the_values_and_shows_examples(self):
        commands = re.findall(r"^  ([a-z]+) ", self.answer("--help"), re.M)
        self.assertGreater(len(commands), 12)
        for command in commands:
            with self.subTest(command):
                text = self.answer(command, "--help")
                self.assertNotRegex(text, r"--[a-z-]+ arg\b")
                examples = text.split("\nexamples:\n")[1]
                self.assertRegex(examples, rf"(?m)^  .*foretrace {command}\b")

    def test_a_wrong_option_is_answered_in_one_line(self):
        for command in ("timeline", "beside", "validate", "predict"):
            done = run(command, "--no-such-option")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)

    def test_the_same_run_gives_the_same_bytes(self):
        words = ["simulate", trace("sgemm_tiled", 90), "--arch", "h100,h200", "--json", "-"]
        self.assertEqual(self.answer(*words), self.answer(*words))
        self.assertEqual(self.answer(*words[:-2]), self.answer(*words[:-2]))

    def test_the_number_of_host_threads_does_not_matter(self):
        for sm, arch in ARCHS.items():
            words = ["simulate", trace("sgemm_tiled", sm), "--arch", arch]
            one = self.document(*words, "--threads", "1")["predictions"]
            self.assertEqual(self.document(*words, "--threads", "2")["predictions"], one)
            self.assertEqual(self.document(*words, "--threads", "3")["predictions"], one)

    def test_a_cubin_with_its_disassembly_beside_it_needs_no_compiler(self):
        if os.path.exists("/usr/local/cuda/bin/nvdisasm"):
            self.skipTest("the toolkit's own place cannot be hidden")
        # A copy: foretrace looks for a virtual environment above itself.
        alone = shutil.copy(FORETRACE, self.path("foretrace"))
        nothing = {"PATH": "", "VIRTUAL_ENV": "", "FORETRACE_NVCC": "", "FORETRACE_NVDISASM": "",
                   "FORETRACE_CONFIGS": os.path.join(REPOSITORY, "configs")}
        for sm, arch in ARCHS.items():
            file = os.path.join(REPOSITORY, "tests", "emulate", "data", f"sgemm_tiled.sm_{sm}.cubin")
            words = ["predict", file, *SGEMM[:2], *SGEMM[4:], "--arch", arch, "--json", "-"]
            done = subprocess.run([alone, *words], capture_output=True, text=True, check=False, env=nothing)
            self.assertEqual(done.returncode, 0, done.stderr)
            metrics = json.loads(done.stdout)["predictions"][0]["metrics"]
            # 16 blocks of 8 warps, each with 4 steps of 2 loads.
            self.assertEqual(metrics["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 16 * 8 * 4 * 2)

    def test_launches_are_found_below_a_folder_and_each_name_once(self):
        everything = self.answer("launches").splitlines()
        names = [line.split()[0] for line in everything]
        self.assertIn("vector_add_n1000", names)
        self.assertIn("spmv_csr_scalar_3000x8_random", names)
        self.assertEqual(len(set(names)), len(names))
        suite = os.path.join(REPOSITORY, "validate", "suite")
        below = self.answer("launches", suite).splitlines()
        self.assertLess(set(below), set(everything), "the examples are not in it")
        self.assertNotIn("vector_add_n1000", [line.split()[0] for line in below])
        table = self.answer("launches", os.path.join(suite, "sort"), "--emit", "-")
        self.assertIn("\nlaunch radix_scan_n20k\n", table)
        self.assertIn("\nafter radix_count_n20k\n", table)
        twice = os.path.join(suite, "sort")
        self.refused(["bitonic_global_n2_15_stride1024", "expected a name of its own"], "launches", twice, twice)
        self.refused(["nowhere", "expected launch files"], "launches", self.path("nowhere"))
        self.refused([f"{suite}: no launch of a kernel 'nope'"], "launches", suite, "--kernel", "nope")
        for words in (["--cubins", self.path("cubins")], ["--sm", "80"]):
            self.refused([f"{words[0]} with no --emit: cubins belong to its table; expected both"], "launches", suite, *words)

    def test_arithmetic_is_exact(self):
        for sm, arch in ARCHS.items():
            metrics = self.document("simulate", trace("vector_add", sm), "--arch", arch)["predictions"][0]["metrics"]
            # 31 full warps take 4 sectors per load, the last has 8 lanes inside the vector: 1 sector. Two loads, one store.
            self.assertEqual(metrics["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 2 * 32)
            self.assertEqual(metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 2 * (31 * 4 + 1))
            self.assertEqual(metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], 31 * 4 + 1)

    def test_a_what_if_changes_what_it_should(self):
        words = ["simulate", trace("sgemm_tiled", 90), "--arch", "h100"]
        plain = self.document(*words)["predictions"][0]
        slow = self.document(*words, "--clock", "sm=990")["predictions"][0]
        self.assertEqual(slow["clock_hz"]["sm"], 990_000_000)
        self.assertEqual(slow["clock_hz"]["dram"], plain["clock_hz"]["dram"])
        self.assertGreater(slow["metrics"]["gpu__time_duration.sum"], plain["metrics"]["gpu__time_duration.sum"])
        both = self.document(*words, "--set", "sm.count=8,132")["predictions"]
        self.assertEqual(len(both), 2)
        few, same = (p["metrics"]["gpc__cycles_elapsed.max"] for p in both)
        self.assertGreater(few, same)
        self.assertEqual(same, plain["metrics"]["gpc__cycles_elapsed.max"])

    def test_a_json_file_is_what_standard_output_gets(self):
        file = self.path("r.json")
        words = ["simulate", trace("vector_add", 90), "--arch", "h100"]
        self.answer(*words, "--json", file)
        with open(file, encoding="utf-8") as written:
            self.assertEqual(json.load(written)["predictions"], self.document(*words)["predictions"])

    def test_two_results_are_compared_launch_by_launch(self):
        before, after = self.path("before.json"), self.path("after.json")
        self.answer("simulate", trace("sgemm_tiled", 90), "--arch", "h100", "--json", before)
        self.answer("simulate", trace("sgemm_tiled", 90), "--arch", "h100", "--set", "sm.count=8", "--json", after)
        compared = json.loads(self.answer("compare", before, after, "--json", "-"))
        self.assertEqual(compared["compared"], 1)
        self.assertIn("gpu__time_duration.sum", compared["metrics"])
        text = self.answer("compare", before, after)
        self.assertIn("sgemm_tiled", text)
        self.assertTrue(text.endswith("\n1 launch compared, 0 left out\n"), text[-80:])
        self.refused(["README.md"], "compare", before, os.path.join(REPOSITORY, "README.md"))
        self.refused(["1 result document given"], "compare", before)

    def test_json_that_is_none_lacks_a_key_or_has_another_type_is_refused_by_place(self):
        result = self.path("result.json")
        self.answer("simulate", trace("vector_add", 90), "--arch", "h100", "--json", result)
        frozen = os.path.join(REPOSITORY, "validate", "measurements", "h100-sxm.json")
        for words, key, of in ((["calibrate", "--base", "h100"], "answers", "validate/microbenchmarks/run"), (["validate", "--measurements"], "launches", "validate/harness/measure"),
                               (["validate", "--measurements", frozen, "--frozen"], "launches", "docs/frozen_schema.json"),
                               (["report", result, "--html", self.path("page.html"), "--perfetto"], "traceEvents", "foretrace run --perfetto"),
                               (["compare", result], "predictions", "docs/json_schema.json")):
            known = {"schema": 1, "device": "d", "date": "2026", "driver": "1", "foretrace": "1", "commit": None, "arch": "h100-sxm", "config_sha256": "0", "toolkit": "13",
                     "clock_hz": {"sm": 1, "l2": 1, "dram": 1}, "failed": [], "frozen_metrics": [], "command": []}
            self.refused(["wrong.json: line 2, column 1: this is not JSON; expected a"], *words, self.write("wrong.json", "{\n!"))
            self.refused([f"wrong.json: {key}: expected an array, as {of}"], *words, self.write("wrong.json", json.dumps({**known, key: 7})))
            if words[0] != "compare":  # which says that it is no result document
                self.refused([f"wrong.json: {key}: expected this key, as {of}"], *words, self.write("wrong.json", json.dumps(known)))

    def test_a_report_of_ncu_that_is_not_is_refused_in_one_line(self):
        result, report = self.path("result.json"), self.path("report.csv")
        self.answer("simulate", trace("vector_add", 90), "--arch", "h100", "--json", result)
        names = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
        row = ["0", "17", "app", "127.0.0.1", "k", "1", "7", "(256, 1, 1)", "4 blocks", "0", "9.0"]
        with open(report, "w", encoding="utf-8") as csv:
            for line in (names, [""] * len(names), row):
                csv.write(",".join(f'"{cell}"' for cell in line) + "\n")
        self.refused(["report.csv", "line 3", "Grid Size", "expected (x, y, z)"], "compare", result, "--ncu", report)

    def test_options_that_would_say_nothing_are_refused(self):
        launches, chip, one = kernel_file("vector_add.toml"), ["--arch", "h100"], trace("vector_add", 90)
        for command in ("predict", "timeline"):
            for option, value in (("--grid", "7"), ("--arg", "val:i32:1"), ("--define", "N=2")):
                self.refused([f"{option} with a launch file: it says its launches itself; expected"], command, launches, *chip, option, value)
        for option, value in (("--grid", "7"), ("--kernel", "x")):
            self.refused([f"{option} with a trace, which is one launch; expected no words about"], "timeline", one, *chip, option, value)
        self.refused(["--kernel-regex with one launch alone; expected --kernel NAME"], "timeline", kernel_file("vector_add.cu"), *chip, "--kernel-regex", "x")
        self.refused(["--launch with what is no launch file; expected"], "timeline", one, *chip, "--launch", "x")
        for words, option in ((["timeline", one], "--instructions"), (["predict", launches], "--max-instructions"), (["validate"], "--largest"),
                              (["occupancy", "--block=32"], "--registers")):
            self.refused([f"{option} 0: expected a number of at least 1"], *words, *chip, option, "0")
        for option in ("--kernel", "--clock", "--arch"):
            self.refused([f"{option}: an empty word is given; expected a value"], "predict", launches, *chip, option, "")
        self.refused(["--define '1=2' is no define, expected NAME or NAME=VALUE"], "disassemble", kernel_file("vector_add.cu"), *chip, "--define", "1=2")
        for typed, said in (("pedict", "; the nearest is predict; 'foretrace --help' lists"), ("sensitivty", "; the nearest is sensitivity; "), ("study", "; 'foretrace --help'")):
            self.refused([f"unknown command {typed}{said}"], typed)
        self.refused(["x: expected --version or --version --json"], "--version", "--json", "x")
        self.refused(["run: expected nothing after help; "], "help", "run")
        for words, option in ((["timeline", one], "--dump"), (["disassemble", one], "--clock"), (["disassemble", one], "--set"),
                              (["occupancy", "--block=32", "--registers=32"], "--clock")):
            self.refused([f"unrecognised option '{option}'"], *words, *chip, option, "a=b")
        result, answers = self.path("one.json"), self.path("none.json")
        self.answer("simulate", one, *chip, "--json", result)
        self.refused(["--arch with no --ncu: it says whose predictions"], "compare", result, result, *chip)
        self.refused(["--perfetto ", ": the result is no program's; expected"], "report", result, "--html", self.path("x.html"),
                     "--perfetto", self.write("x.trace", '{"traceEvents": []}'))
        self.refused(["--title with no --output: it stands in the configuration"], "calibrate", answers, "--base", "h100", "--title", "x")
        self.refused(["--sm with no --cubins: it is their machine code"], "launches", launches, "--emit", "-", "--sm", "80")
        for words in (["--sources"], ["--json", "-"], ["--set", "sm.count=2"], ["--clock", "base"]):
            self.refused([f"{words[0]} with no chip: they are listed alone; expected"], "arch", *words)
        self.refused(["--sources with --json -: it has all of them"], "arch", "h100", "--sources", "--json", "-")
        measured = ["--measurements", os.path.join(REPOSITORY, "validate", "measurements", "h100-sxm-sixth.json")]
        frozen = ["--frozen", os.path.join(REPOSITORY, "validate", "frozen", "h100-sxm-2026-11-25-sixth.json")]
        for words in (["--set", "l2.latency=200"], ["--clock", "base"], ["--launches", self.path(".")], ["--threads", "1"]):
            self.refused([f"{words[0]} with --frozen: nothing is predicted anew"], "validate", *measured, *frozen, *words)
        self.refused(["--show-held-out with --split development: none is compared"], "validate", *measured, *frozen, "--split", "development", "--show-held-out")
        self.refused(["--leave-out none: no such launch in "], "validate", "--freeze", self.path("x.json"), *chip, "--leave-out", "none")
        for words in (["--picture", self.path("x.svg")], ["--errors", "none.json"], ["--max-mean", "5"], ["--json", "-"]):
            self.refused([f"{words[0]} with --freeze: nothing is compared"], "validate", "--freeze", self.path("x.json"), *chip, *words)
        self.refused(["--max-mean -0.5: expected a percentage above 0"], "validate", *measured, *frozen, "--max-mean", "-0.5")
        self.refused(["none.json: cannot be read"], "validate", *measured, "--errors", "none.json")  # before minutes of predictions

    def test_a_word_in_the_place_of_a_number_is_named(self):
        for option, word in (("--threads", "x"), ("--threads", "1.5"), ("--threads", "99999999999")):
            self.refused([f"the argument ('{word}') for option '{option}' is invalid; expected a number"], "simulate", trace("vector_add", 90), "--arch", "h100", option, word)

    def test_a_result_has_a_file_of_its_own(self):
        words, twice = ["simulate", trace("vector_add", 90), "--arch", "h100"], self.path("twice")
        self.refused([f"--json {twice}: --html writes it; expected a file of its own"], *words, "--json", twice, "--html", twice)
        self.refused(["--json: no name is given; expected a file's"], *words, "--json", "")
        self.refused(["--html -: expected a file's name, not standard output"], *words, "--html", "-")
        self.refused(["--emit: no name is given; expected a file's"], "launches", kernel_file("vector_add.toml"), "--emit", "")
        result = self.path("result.json")
        self.answer(*words, "--json", result)
        page = os.path.join(os.path.dirname(result), ".", "result.json")
        self.refused([f"--html {page}: it is read as well; expected a file of its own"], "report", result, "--html", page)

    def test_what_stops_run_before_its_program_has_its_exit_code(self):
        folder = self.path("folder.toml")
        os.mkdir(folder)
        for words, said in ((["--host", folder], f"{folder}: is a directory; expected a file"),
                            (["--check", "races", "--html", self.path("x")], "--html with --check races: nothing is predicted; expected one of the two"),
                            (["--budget", "0"], "--budget 0: expected a number of at least 1"),
                            (["--simulate", "all", "--budget", "7"], "--budget with --simulate all, which has no bound; expected one of the two"),
                            *((["--functional", *words], f"{words[0]} with --functional: nothing is predicted; expected one of the two")
                              for words in (["--trace", folder], ["--accuracy", "exact"], ["--cold"], ["--simulate", "all"], ["--budget", "7"], ["--launches", "1"],
                                            ["--kernel", "x"], ["--host", "none"], ["--host-time", "none"]))):
            self.assertEqual(run("run", "--arch", "h100", *words, "--", "true").stderr, f"foretrace: {said}\n")
        for words in (["--nope"], ["--json", self.path("none/x")], ["--json", "-"], ["--budget", "x"]):
            done = run("run", "--arch", "h100", *words, "--", "true")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (125, 1), done.stderr)

    def test_launches_and_kernels_that_there_are_not_are_answered_with_those_that_there_are(self):
        several = ["timeline", kernel_file("vector_add.toml"), "--arch", "h100"]
        self.refused(["no launch 'nope'; it has vector_add_n1000, "], *several, "--launch", "nope")
        self.refused(["several launches; expected --launch with one of vector_add_n1000, "], *several)
        for command in ("timeline", "predict"):
            self.refused(["no launch of a kernel 'nope'; it has launches of vector_add"], command, *several[1:], "--kernel", "nope")
        self.refused(["no kernel matches 'nope'; it has vector_add"], "predict", kernel_file("vector_add.cu"), "--kernel-regex", "nope", "--arch", "h100")
        self.refused(["--kernel-regex (: ", "; expected a regular expression\n"], "launches", kernel_file("vector_add.toml"), "--kernel-regex", "(")
        self.refused(["; it has ", ", ...\n"], "timeline", kernel_file("transpose.toml"), "--arch", "h100", "--launch", "x")

    def test_a_timeline_shows_the_chosen_warps(self):
        words = ["timeline", trace("vector_add", 90), "--arch", "h100"]
        text = self.answer(*words, "--blocks", "1", "--warps", "0,2-3")
        self.assertLessEqual(max(len(line) for line in text.split("\n")), 120)
        shown = {line.split()[0] for line in text.split("\n") if line.startswith("1.")}
        self.assertEqual(shown, {"1.0", "1.2", "1.3"})
        for word in ("LDG.E", "long_scoreboard", "issue", "DRAM", "branch_resolving"):
            self.assertIn(word, text)
        rows = json.loads(self.answer(*words, "--json", "-"))["timeline"]
        self.assertEqual([row["number"] for row in rows], list(range(len(rows))))
        self.assertEqual({(row["block"], row["warp"]) for row in rows}, {(0, 0)})
        for row in rows:  # each cycle between two issues is in one state
            self.assertEqual(sum(state["to"] - state["from"] for state in row["states"] if state["to"] <= row["issued"]),
                             row["issued"] - min([state["from"] for state in row["states"]] + [row["issued"]]))
        middle = rows[len(rows) // 2]["issued"]
        some = json.loads(self.answer(*words, "--cycles", f"{middle}..{middle + 1}", "--json", "-"))["timeline"]
        self.assertIn(middle, [row["issued"] for row in some])
        self.assertLess(len(some), len(rows))
        few = self.answer(*words, "--instructions", "3")
        self.assertEqual(len([line for line in few.split("\n") if line.startswith("0.0")]), 3)
        self.assertIn(f"{len(rows) - 3} more instructions", few)
        self.refused(["--blocks 8: the grid has 8 blocks"], *words, "--blocks", "8")
        self.refused(["--warps 4: a block has 4 warps"], *words, "--warps", "4")
        self.refused(["--warps 2-1: expected numbers and ranges"], *words, "--warps", "2-1")
        self.refused(["--cycles 7: expected A..B"], *words, "--cycles", "7")
        self.refused(["--cycles 9..8: the range is empty"], *words, "--cycles", "9..8")

    def test_disassembly_shows_control_bits_and_pipes(self):
        text = self.answer("disassemble", os.path.join(REPOSITORY, "tests", "emulate", "data", "sgemm_tiled.sm_90.cubin"), "--arch", "h100")
        self.assertRegex(text, r"FFMA [^\n]*")
        self.assertIn("lsu", text)

    def test_kernels_side_by_side(self):
        file = trace("sgemm_tiled", 90)
        result = json.loads(self.answer("beside", file, file, "--arch", "h100", "--begin", "0,0.1", "--json", "-"))["beside"]
        first, second = result["launches"]
        self.assertEqual(first["warp_instructions"], second["warp_instructions"])
        self.assertAlmostEqual(second["begin_us"], 0.1, delta=0.001)
        self.assertAlmostEqual(result["together_us"], max(first["end_us"], second["end_us"]))
        self.assertLess(result["together_us"], result["one_by_one_us"])
        self.refused(["two traces"], "beside", file, "--arch", "h100")
        self.refused(["--begin 1,2", "first 0"], "beside", file, file, "--arch", "h100", "--begin", "1,2")
        self.refused(["one chip"], "beside", file, file, "--arch", "h100,h200")

    def test_collective_answers_by_size(self):
        words = ["collective", "--op", "allreduce", "--bytes", "512K,1M..4M", "--devices", "8", "--link", "nvlink4"]
        result = json.loads(self.answer(*words, "--json", "-"))["collective"]
        self.assertEqual([row["bytes"] for row in result["sizes"]], [1 << 19, 1 << 20, 1 << 21, 1 << 22])
        self.assertEqual(result["devices"], 8)
        for row in result["sizes"]:
            parts = row["latency_us"] + (row["channels_us"] ** 3 + row["link_us"] ** 3) ** (1 / 3) + row["last_part_us"]
            self.assertAlmostEqual(row["time_us"], parts, places=6)
        self.assertIn("4 MiB", self.answer(*words))
        self.refused(["--op", "allreduce"], "collective", "--op", "sum", "--bytes", "1M")
        self.refused(["--bytes", "1X"], "collective", "--op", "allreduce", "--bytes", "1X")
        self.refused(["--bytes", "rises"], "collective", "--op", "allreduce", "--bytes", "2M..1M")
        self.refused(["--devices", "2 to 8"], "collective", "--op", "allreduce", "--bytes", "1M", "--devices", "9")
        self.refused(["--link", "nvlink4"], "collective", "--op", "allreduce", "--bytes", "1M", "--link", "nvlink9")
        self.refused(["tree", "broadcast"], "collective", "--op", "broadcast", "--bytes", "1M", "--algorithm", "tree")

    def test_occupancy_knows_the_allocation_unit(self):
        text = self.answer("occupancy", "--arch", "h100", "--block", "256", "--registers", "33", "--shared", "0")
        self.assertIn("6 blocks", text)
        self.assertIn("75%", text)
        self.assertIn("registers", text)

    def test_arch_lists_the_chips(self):
        text = self.answer("arch")
        for name in ("a100-sxm-40gb", "a100-sxm-80gb", "h100-sxm", "h200-sxm", "rtx5070ti", "rtx5080"):
            self.assertRegex(text, rf"(?m)^{name}\b")
        self.assertIn("documented", self.answer("arch", "h100", "--sources"))

    def test_a_damaged_trace_is_named_with_the_offset(self):
        with open(trace("sgemm_tiled", 90), "rb") as file:
            whole = file.read()
        for name, data in (("cut", whole[:len(whole) // 2]), ("bent", whole[:-40] + b"\x55" + whole[-39:]), ("empty", b"")):
            with open(self.path(name), "wb") as file:
                file.write(data)
            self.refused([name, "at byte"], "simulate", self.path(name), "--arch", "h100")

    def test_a_trace_of_another_machine_code_is_refused(self):
        self.refused(["sm_90", "sm_80"], "simulate", trace("vector_add", 90), "--arch", "a100")

    def test_what_is_not_known_is_refused_by_name(self):
        good = ["simulate", trace("vector_add", 90)]
        self.refused(["frobnicate"], "frobnicate")
        self.refused(["nope"], *good, "--arch", "nope")
        self.refused(["--arch"], *good)
        self.refused(["--frobnicate"], *good, "--arch", "h100", "--frobnicate")
        self.refused(["sm.cuont", "sm.count"], *good, "--arch", "h100", "--set", "sm.cuont=4")
        self.refused(["sm.count"], *good, "--arch", "h100", "--set", "sm.count=many")
        self.refused(["sm.count"], *good, "--arch", "h100", "--set", "sm.count=0")
        self.refused(["no_such.trace"], "simulate", self.path("no_such.trace"), "--arch", "h100")
        self.refused(["no trace"], "simulate", os.path.join(REPOSITORY, "README.md"), "--arch", "h100")

    def test_a_number_below_zero_is_no_count(self):
        good = ["simulate", trace("vector_add", 90), "--arch", "h100"]
        self.refused(["--threads -1", "at least 0"], *good, "--threads", "-1")
        self.refused(["--threads -1", "at least 0"], *good, "--threads=-1")

    def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(self):
        damaged = ["simulate", self.path("no_such.trace"), "--arch", "h100"]  # would be refused for itself, later
        for option in ("--json", "--html"):
            self.refused([self.path("none/x"), "cannot be written: No such file or directory"], *damaged, option, self.path("none/x"))
            self.refused([self.path("."), "cannot be written: Is a directory"], *damaged, option, self.path("."))

    def test_a_folder_is_no_file(self):
        self.refused([self.path("."), "cannot be read: Is a directory"], "disassemble", self.path("."), "--arch", "h100")

    def test_configurations_that_are_not_there_are_named(self):
        done = run("arch", FORETRACE_CONFIGS=self.path("none"))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\Aforetrace: .*none: .*FORETRACE_CONFIGS.*\n\Z")

    def test_argument_forms_are_refused_before_anything_runs(self):
        for form in ("buf:f32", "buf:f32:0", "buf:f32:x", "buf:f32:8:fibonacci", "val:i32", "val:i32:1.5", "val:u8:256", "nonsense",
                     "bytes:123", "bytes:xy"):
            self.refused([form], "predict", kernel_file("vector_add.cu"), *VECTOR_ADD, "--arg", form, "--arch", "h100")

    def test_what_a_user_typed_stays_in_one_line(self):
        self.refused(['unknown arch "h1 00"'], "occupancy", "--arch", "h1\n00", "--block", "32", "--registers", "32")

    def test_clocks_and_occupancy_refuse_what_cannot_be(self):
        self.refused(["turbo", "boost"], "simulate", trace("vector_add", 90), "--arch", "h100", "--clock", "turbo")
        self.refused(["1024"], "occupancy", "--arch", "h100", "--block", "1025", "--registers", "32")
        self.refused(["1000000 bytes of shared memory per block (0 static, 1000000 dynamic); h100-sxm has at most 232448\n"], "occupancy", "--arch", "h100", "--block", "32", "--registers", "32", "--shared", "1000000")
        self.refused(["--block"], "occupancy", "--arch", "h100", "--registers", "32")

    def test_help_is_an_answer(self):
        for words in (["--help"], ["predict", "--help"], ["simulate", "--help"], ["arch", "--help"]):
            self.assertIn("usage: foretrace", self.answer(*words))
        self.assertEqual(run().returncode, 2)


class WithCompiler(Case):
    def test_a_replayed_trace_gives_what_predict_gave(self):
        for arch in ARCHS.values():
            file = self.path(arch + ".trace")
            predicted = self.document("predict", kernel_file("sgemm_tiled.cu"), *SGEMM, "--arch", arch, "--trace", file)
            replayed = self.document("simulate", file, "--arch", arch)
            self.assertEqual(replayed["predictions"], predicted["predictions"])

    def test_predict_does_not_depend_on_the_number_of_host_threads(self):
        # Enough blocks that the SMs compete for L2 and DRAM.
        words = ["predict", kernel_file("copy.cu"), "--kernel", "copy_float", "--grid", "2048", "--block", "256",
                 "--arg", "buf:f32:524288:uniform", "--arg", "buf:f32:524288", "--arg", "val:i32:524288", "--arch", "h100"]
        one = self.predictions(*words, "--threads", "1")
        self.assertEqual(self.predictions(*words, "--threads", "2"), one)

    def test_several_chips_at_once_give_what_each_gives_alone(self):
        os.mkdir(self.path("traces"))
        words = ["predict", kernel_file("sgemm_tiled.cu"), *SGEMM, "--arch"]
        together = self.document(*words, "a100,h100,gb203", "--trace", self.path("traces"))["predictions"]
        self.assertEqual([p["arch"] for p in together], list(ARCHS.values()))
        self.assertEqual(len(os.listdir(self.path("traces"))), 3)
        for prediction in together:
            self.assertEqual(self.document(*words, prediction["arch"])["predictions"], [prediction])

    def test_chips_of_one_machine_code_share_an_execution(self):
        # What the kernel prints says how often it is executed; the second launch reads what the first one wrote.
        self.write("tell.cu", "#include <cstdio>\n"
                   "__global__ void add(int* x) { if (threadIdx.x == 0 && blockIdx.x == 0) printf(\"has %d\\n\", *x += 20); }\n")
        file = self.write("tell.toml", 'source = "tell.cu"\n' + "".join(
            f'[[launch]]\nname = "{name}"\nkernel = "add"\ngrid = [4]\nblock = [64]\nargs = ["{argument}"]\n{after}'
            for name, argument, after in (("one", "buf:i32:1:value=1:name=x", ""), ("two", "ref:x", 'after = "one"\n'))))
        chips = {"h100": [], "h200": [], "a100": []}
        for chip, alone in chips.items():
            done = run("predict", file, "--arch", chip, "--json", self.path("alone.json"))
            self.assertEqual(re.findall("has [0-9]+", done.stderr), ["has 21", "has 41"], done.stderr)
            with open(self.path("alone.json"), encoding="utf-8") as document:
                alone += json.load(document)["predictions"]
        for threads in ("1", "2", "3"):
            done = run("predict", file, "--arch", ",".join(chips), "--threads", threads, "--json", self.path("all.json"))
            self.assertEqual(sorted(re.findall("has [0-9]+", done.stderr)), ["has 21"] * 2 + ["has 41"] * 2, done.stderr)
            with open(self.path("all.json"), encoding="utf-8") as document:
                self.assertEqual(json.load(document)["predictions"],
                                 [alone[launch] for launch in (0, 1) for alone in chips.values()])

    def test_predict_places_a_cluster_in_one_gpc(self):
        # 128 blocks that fill an SM each: one wave of 132 SMs, two of 7 clusters of 16 blocks.
        with open(self.path("spin.cu"), "w") as source:
            source.write("__global__ void spin(float* out) { float x = threadIdx.x;\n"
                         "  for (int i = 0; i < 2000; ++i) x = x * 0.5f + 1.0f;\n"
                         "  out[blockIdx.x * blockDim.x + threadIdx.x] = x; }\n")
        words = ["predict", self.path("spin.cu"), "--kernel", "spin", "--grid", "128", "--block", "256", "--shared", "200000",
                 "--arg", "buf:f32:32768", "--arch", "h100"]
        cycles = [self.predictions(*words, "--cluster", blocks)[0]["metrics"]["gpc__cycles_elapsed.max"] for blocks in ("1", "16")]
        self.assertGreater(cycles[1], 1.4 * cycles[0])

    def test_a_result_can_be_taken_out(self):
        self.answer("predict", kernel_file("sgemm_tiled.cu"), *SGEMM, "--arch", "h100", "--dump", "C=" + self.path("c.bin"))
        self.assertEqual(os.path.getsize(self.path("c.bin")), 4 * 64 * 64)

    def test_the_classic_mistake_is_a_fault(self):
        for arch in ARCHS.values():
            self.refused(["divergent barrier", "barrier_divergent.cu:"], "predict", kernel_file("barrier_divergent.toml"), "--arch", arch)

    def test_bad_input_is_refused_in_one_line(self):
        file = kernel_file("vector_add.cu")
        one = self.write("one.cu", "__global__ void k(int* p) { p[threadIdx.x] = 1; }\n")
        run_one = ["predict", one, "--kernel", "k", "--arch", "h100"]
        self.refused(["nope", "vector_add"], "predict", file, "--kernel", "nope", "--grid", "1", "--block", "32", "--arch", "h100")
        self.refused(["expected 4"], "predict", file, *VECTOR_ADD[:-2], "--arch", "h100")
        self.refused(["expected 4"], "predict", file, *VECTOR_ADD, "--arg", "val:i32:1", "--arch", "h100")
        self.refused(["val:f64:1000", "expected"], "predict", file, *VECTOR_ADD[:-1], "val:f64:1000", "--arch", "h100")
        self.refused(["buf:f33"], "predict", file, *VECTOR_ADD, "--arg", "buf:f33:1", "--arch", "h100")
        self.refused(["1025", "1024"], *run_one, "--grid", "1", "--block", "1025", "--arg", "buf:i32:2048")
        self.refused(["shared", "h100-sxm"], "predict", file, *VECTOR_ADD, "--shared", "1000000", "--arch", "h100")
        self.refused(["17179869188", "17179869184", "rtx5070ti"], "predict", one, "--kernel", "k", "--block", "32",
                     "--arg", f"buf:i32:{2**32 + 1}", "--arch", "gb203")
        self.refused(["no cubin"], "predict", os.path.join(REPOSITORY, "README.md"), *VECTOR_ADD, "--arch", "h100")
        self.refused(["corpus.sm_80.cubin", "sm_80", "sm_90"], "predict",
                     os.path.join(REPOSITORY, "tests", "frontend", "data", "corpus.sm_80.cubin"), *VECTOR_ADD, "--arch", "h100")

    def test_faults_name_kernel_block_thread_offset_and_line(self):
        place = [" k", "block", "thread", "0x", "one.cu:1"]
        one = self.write("one.cu", "__global__ void k(int* p) { p[threadIdx.x] = 1; }\n")
        self.refused(["out-of-bounds", *place], "predict", one, "--kernel", "k", "--grid", "1", "--block", "64",
                     "--arg", "buf:i32:63", "--arch", "h100")
        wide = self.write("wide.cu", "__global__ void k(float* p) { *(float4*)(p + 1) = float4{}; }\n")
        self.refused(["misaligned", " k", "block", "thread", "0x", "wide.cu:1"], "predict", wide, "--kernel", "k", "--grid", "1",
                     "--block", "1", "--arg", "buf:f32:8", "--arch", "h100")
        self.answer("predict", one, "--kernel", "k", "--grid", "1", "--block", "64", "--arg", "buf:i32:64", "--arch", "h100")
        spin = self.write("spin.cu", "__global__ void k(volatile int* p) { while (*p == 0) {} }\n")
        self.refused([" k", "spin.cu:1", "10000"], "predict", spin, "--kernel", "k", "--grid", "1", "--block", "32",
                     "--arg", "buf:i32:1", "--max-instructions", "10000", "--arch", "h100")

    def test_an_unsupported_instruction_is_named_with_its_place(self):
        file = self.write("texture.cu", "__global__ void k(float* p, cudaTextureObject_t t) {\n"
                                        "  float a, b, c, d; asm(\"tex.2d.v4.f32.f32 {%0,%1,%2,%3},[%4,{%5,%5}],{1,2};\"\n"
                                        "    : \"=f\"(a), \"=f\"(b), \"=f\"(c), \"=f\"(d) : \"l\"(t), \"f\"(p[0])); p[threadIdx.x] = a;\n}\n")
        for arch in ARCHS.values():
            self.refused(["texture.cu", "kernel k", "offset 0x", "TEX"], "predict", file, "--kernel", "k",
                         "--grid", "1", "--block", "32", "--arg", "buf:f32:32", "--arg", "val:u64:0", "--arch", arch)

    def test_lanes_by_avx2_and_by_avx512_give_the_same_bytes(self):
        with open("/proc/cpuinfo", encoding="utf-8") as cpu:
            flags = cpu.read().split()
            if not {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(flags):
                self.skipTest("this processor has no AVX-512")
        results = []
        for simd in ("avx2", "avx512"):
            file = self.path(simd)
            words = ["predict", kernel_file("sgemm_tiled.cu"), *SGEMM, "--arch", "h100", "--dump", "C=" + file]
            predictions = self.predictions(*words, FORETRACE_SIMD=simd)
            with open(file, "rb") as dumped:
                results.append((predictions, dumped.read()))
        self.assertEqual(results[0], results[1])

    def test_what_the_compiler_said_stands_below_our_line(self):
        with open(self.path("broken.cu"), "w", encoding="utf-8") as source:
            source.write("__global__ void k() { undeclared = 1; }\n")
        done = run("predict", self.path("broken.cu"), "--kernel", "k", "--grid", "1", "--block", "32", "--arch", "h100")
        self.assertEqual(done.returncode, 2)
        first, _, rest = done.stderr.partition("\n")
        self.assertRegex(first, r"\Aforetrace: .*broken\.cu")
        self.assertRegex(rest, re.escape("undeclared"))


if __name__ == "__main__":
    main()
