"""`foretrace run` as a user meets it: programs built with nvcc -cudart shared, on three chips.

    run_programs.py FORETRACE REPOSITORY FOLDER PART

Programs are built once into FOLDER, for three architectures in one file.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

FORETRACE, REPOSITORY, FOLDER = sys.argv[1:4]
CHIPS = {"a100": 80, "h100": 90, "gb203": 120}
SOURCES = os.path.join(REPOSITORY, "tests", "runtime", "programs")
GENCODE = [word for sm in (80, 90, 120) for word in ("-gencode", f"arch=compute_{sm},code=sm_{sm}")]


def nvcc():
    script = 'source "$0/scripts/common.sh"; cuda_tool nvcc'
    return subprocess.run(["bash", "-c", script, REPOSITORY], capture_output=True, text=True, check=True).stdout.strip()


def build(name, *options, source=None, gencode=GENCODE, runtime="shared"):
    """The path of a program; built when its source is newer."""
    source = source or os.path.join(SOURCES, name.split(".")[0] + ".cu")
    program = os.path.join(FOLDER, name)
    os.makedirs(FOLDER, exist_ok=True)
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        compiler = nvcc()
        include = os.path.join(os.path.dirname(os.path.dirname(compiler)), "include")
        libraries = [f"-L{folder}" for folder in (os.path.join(os.path.dirname(os.path.dirname(compiler)), part)
                                                   for part in ("lib64", "lib")) if os.path.isdir(folder)]
        linked = []
        if runtime == "shared":
            # The runtime's wheel has no libcudart.so without a version, which the linker would look for: ours stands in for it.
            ours = os.path.join(os.path.dirname(os.path.dirname(FORETRACE)), "lib", "foretrace")
            libraries = [f"-L{ours}"]
            linked = ["-cudadevrt", "none"]
        done = subprocess.run([compiler, "-std=c++17", "-cudart", runtime, "-lineinfo", f"-I{include}", *gencode, *options, *libraries,
                               *linked, "-o", program, source], capture_output=True, text=True, check=False)
        if "cannot find -lcudart_static" in done.stderr:
            raise unittest.SkipTest("no static runtime to link with")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
    return program


def run(*words, **variables):
    return subprocess.run([FORETRACE, "run", *words], capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, **variables})


class Case(unittest.TestCase):
    def path(self, name):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return os.path.join(folder.name, name)

    def stopped(self, done, *parts):
        """Foretrace stopped by itself and said why in one line."""
        self.assertEqual(done.returncode, 125, done.stdout + done.stderr)
        lines = [line for line in done.stderr.split("\n") if line.startswith("foretrace: ")]
        for part in parts:
            self.assertIn(part, lines[0])


class Core(Case):
    def test_a_destructor_of_the_program_may_still_call(self):
        done = run("--arch", "h100", "--", build("after_main"))
        self.assertEqual((done.returncode, done.stdout), (0, "freed after main: 0, 0, device 0\n"), done.stderr)

    def test_memory_in_every_form(self):
        program = build("memory")
        for chip in CHIPS:
            with self.subTest(chip):
                done = run("--arch", chip, "--functional", "--", program)
                self.assertEqual((done.returncode, done.stdout), (0, "memory: all right\n"), done.stderr)
                self.assertIn("9 launches", done.stderr)

    def test_two_processes_share_memory(self):
        for words in ([], ["--functional"]):
            done = run("--arch", "h100", *words, "--", build("sharing"))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout.splitlines(), [
                "child: opened twice the same, closed again cudaErrorInvalidValue", "child ended with 0", "values: right",
                "own: cudaErrorDeviceUninitialized", "host memory: cudaErrorInvalidValue", "plain event: cudaErrorInvalidResourceHandle",
                "timed event: cudaErrorInvalidValue"])

    def test_three_devices_of_one_chip(self):
        program = build("devices")
        done = run("--devices", "h100,h100,h100", "--", program)
        self.assertEqual((done.returncode, done.stdout), (0, "devices: all right\n"), done.stderr)
        for wrong, option in (("h100,a100", ()), ("h100,h100", ("--arch", "h100"))):
            done = run("--devices", wrong, *option, "--", program)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn("--devices " + wrong, done.stderr)

    def test_a_program_of_cuda_12(self):
        """Its names and structures, on libcudart.so.12; the headers of CUDA 12 need not be there."""
        libraries = os.path.join(os.path.dirname(os.path.dirname(FORETRACE)), "lib", "foretrace")
        if not os.path.exists(os.path.join(libraries, "libcudart.so.12")):
            self.assertNotEqual(os.environ.get("FORETRACE_REQUIRE_ALL"), "1", "libcudart.so.12 is not built")
            self.skipTest("libcudart.so.12 is not built (no objcopy)")
        os.makedirs(FOLDER, exist_ok=True)
        program, code = os.path.join(FOLDER, "cuda_12"), os.path.join(FOLDER, "cuda_12.fatbin")
        subprocess.run(["c++", "-std=c++17", os.path.join(SOURCES, "cuda_12.cpp"), "-o", program, f"-L{libraries}", "-l:libcudart.so.12",
                        f"-Wl,-rpath-link,{libraries}"], check=True)
        compiler = nvcc()
        subprocess.run([compiler, "-fatbin", *GENCODE, f"-I{os.path.join(os.path.dirname(os.path.dirname(compiler)), 'include')}", "-o", code,
                        os.path.join(REPOSITORY, "tests", "programs", "builds", "saxpy.cu")], check=True)
        for chip in CHIPS:
            with self.subTest(chip):
                done = run("--arch", chip, "--", program, code)
                self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
                self.assertIn("2 launches, 2 predicted", done.stderr)

    def test_conditional_nodes_of_graphs(self):
        program = build("conditional")
        for chip in CHIPS:
            with self.subTest(chip):
                done = run("--arch", chip, "--functional", "--", program)
                self.assertEqual((done.returncode, done.stdout), (0, "conditional: all right\n"), done.stderr)

    def test_faults_have_the_codes_of_cuda_and_say_where(self):
        program = build("faults")
        said = {"out_of_bounds": ["cudaErrorIllegalAddress", "out_of_bounds", "thread (40,0,0)", "after the end of buffer device memory", "faults.cu:"],
                "use_after_free": ["cudaErrorIllegalAddress", "freed"],
                "misaligned": ["cudaErrorMisalignedAddress", "misaligned global access of 4 bytes"],
                "trap": ["cudaErrorLaunchFailure"],
                "assert": ["cudaErrorAssert", "failing"],
                "endless": ["cudaErrorLaunchTimeout", "endless"]}
        for fault, parts in said.items():
            with self.subTest(fault):
                words = ["--max-instructions", "100000"] if fault == "endless" else ["--check", "bounds"]
                done = run("--arch", "h100", "--functional", *words, "--", program, fault)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                for part in parts:
                    self.assertIn(part, done.stderr)

    def test_an_access_beyond_an_allocation_on_its_page_is_reported_once_and_goes_on(self):
        for words in ([], ["--functional"]):
            done = run("--arch", "h100", *words, "--", build("faults"), "beyond")
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            warnings = [line for line in done.stderr.splitlines() if "warning: " in line]
            self.assertEqual(len(warnings), 1, done.stderr)
            for part in ("kernel out_of_bounds", "thread (40,0,0)", "faults.cu:", "144 bytes after the end of buffer device memory", "--check bounds"):
                self.assertIn(part, warnings[0])

    def test_bounds_are_checked_and_predicted_at_once(self):
        done = run("--arch", "h100", "--check", "bounds", "--", build("barriers"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("predicted for h100-sxm", done.stderr)

    def test_ptx_alone_runs_on_every_chip(self):
        program = build("faults.ptx", source=os.path.join(SOURCES, "faults.cu"), gencode=["-gencode", "arch=compute_75,code=compute_75"])
        for chip in CHIPS:
            with self.subTest(chip):
                done = run("--arch", chip, "--functional", "--", program, "configurations")
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_a_build_in_the_environment_links_the_shared_runtime(self):
        program = self.path("program")
        script = f'eval "$({FORETRACE} env)"; exec "{nvcc()}" -arch=sm_90 -o "$0" "$1"'
        done = subprocess.run(["bash", "-c", script, program, os.path.join(SOURCES, "faults.cu")], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run("--arch", "h100", "--functional", "--", program, "trap")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_refused_launches(self):
        for chip in CHIPS:
            with self.subTest(chip):
                done = run("--arch", chip, "--functional", "--", build("faults"), "configurations")
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_barriers_that_a_gpu_forgives(self):
        for chip in CHIPS:
            for words in ([], ["--functional"]):
                with self.subTest(chip, words=words):
                    done = run("--arch", chip, *words, "--", build("barriers"))
                    self.assertEqual((done.returncode, done.stdout), (0, "0 wrong, cudaSuccess\n"), done.stderr)
                    self.assertIn("warning: divergent barrier", done.stderr)

    def test_checks_on_request(self):
        program = build("checks")
        for which in ("fine", "partly", "race"):
            self.assertEqual(run("--arch", "h100", "--functional", "--", program, which).returncode, 0)
        self.assertEqual(run("--arch", "h100", "--check", "uninitialized,races", "--", program, "fine").returncode, 0)
        for which, check, said in (("partly", "uninitialized", "124 bytes into buffer device memory 1"), ("race", "races", "race on shared byte")):
            done = run("--arch", "h100", "--check", check, "--", program, which)
            self.assertEqual((done.returncode, done.stdout), (1, "cudaErrorLaunchFailure\n"), done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn("checks.cu:", done.stderr)

    def test_launches_that_do_what_has_been_done_are_not_executed_again(self):
        # Of four launches behind each change the first two are executed, the second of which shows that memory stays as it is.
        for words, again in ((["--functional"], 14), (["--functional", "--check", "bounds"], 0)):
            done = run("--arch", "h100", *words, "--", build("again"))
            self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
            self.assertEqual(re.findall(r"(\d+) of them not executed again", done.stderr), [str(again)] if again else [])
        done = run("--arch", "h100", "--budget", "200000", "--", build("again"))
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
        self.assertIn("of them not executed again", done.stderr)

    def test_a_fault_in_a_predicted_launch(self):
        done = run("--arch", "h100", "--check", "bounds", "--", build("faults"), "out_of_bounds")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("cudaErrorIllegalAddress", done.stderr)
        self.assertIn("1 launch, 1 ended by a fault", done.stderr)

    def test_a_late_fault_is_the_same_on_any_number_of_threads(self):
        for words in ([], ["--functional"]):
            said = {}
            for threads in ("1", "2", "0"):
                done = run("--arch", "h100", *words, "--threads", threads, "--", build("faults"), "late")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("cudaErrorIllegalAddress", done.stderr)
                said[threads] = [line for line in done.stderr.splitlines() if "kernel late, block (" in line]
            with self.subTest(words=words):
                self.assertEqual(len(said["1"]), 1)
                self.assertIn("block (5003,0,0), thread (0,0,0)", said["1"][0])
                self.assertEqual(said["2"], said["1"])
                self.assertEqual(said["0"], said["1"])

    def test_wild_pointers_reach_nothing_of_the_host(self):
        for chip in CHIPS:
            for words in ([], ["--functional"]):
                with self.subTest(chip, words=words):
                    done = run("--arch", chip, *words, "--", build("wild"))
                    self.assertEqual((done.returncode, done.stdout), (0, "wild: all refused\n"), done.stderr[-2000:])


class Reports(Case):
    def test_a_line_a_launch_and_a_document(self):
        file = self.path("result.json")
        done = run("--arch", "h100", "--json", file, "--", build("memory"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("foretrace: #0 add <<<8, 128>>> ", done.stderr)
        self.assertIn("9 launches, 9 predicted for h100-sxm", done.stderr)
        self.assertIn("3 of them had arguments in pinned host memory: ", done.stderr)
        self.assertIn("2 of them had arguments in managed memory: ", done.stderr)
        with open(file, encoding="utf-8") as text:
            document = json.load(text)
        self.assertEqual([p["kernel"] for p in document["predictions"]], ["add"] + ["variables"] * 3 + ["add"] * 4 + ["structure"])
        self.assertTrue(all(p["arch"] == "h100-sxm" and p["warm"] for p in document["predictions"]))
        self.assertEqual([document["program"][key] for key in ("pinned_memory", "managed_memory")], [3, 2])
        again = self.path("again.json")
        done = run("--arch", "h100", "--quiet", "--threads", "1", "--json", again, "--", build("memory"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(again, encoding="utf-8") as text:
            repeated = json.load(text)
        # From launch 7 on, which uses registered memory, caches see addresses of the host's heap.
        self.assertEqual(document["predictions"][:7], repeated["predictions"][:7])

    def test_the_table_is_as_wide_as_its_names(self):
        done = run("--arch", "h100", "--", build("memory"))
        at = done.stderr.split("\n")
        head = next(line for line in at if line.endswith("  kernel"))
        rows = [line for line in at if "%" in line[:24]]
        self.assertEqual({line[len(head) - len("kernel"):].split("<")[0] for line in rows}, {"add", "variables", "structure"}, done.stderr)

    def test_a_program_without_launches_has_a_time_line(self):
        done = run("--arch", "h100", "--", build("after_main"))
        self.assertIn("foretrace: 0 launches\nforetrace: time line with host ", done.stderr)
        done = run("--arch", "h100", "--functional", "--", build("after_main"))
        self.assertEqual(done.stderr, "foretrace: 0 launches\n")

    def test_caches_that_are_cold_for_each_launch(self):
        read = {}
        for word in ([], ["--cold"]):
            file = self.path("result.json")
            done = run("--arch", "h100", "--quiet", *word, "--json", file, "--", build("memory"))
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(file, encoding="utf-8") as text:
                predictions = json.load(text)["predictions"]
            self.assertEqual({p["warm"] for p in predictions}, {not word})
            read[len(word)] = [p["metrics"]["dram__bytes_read.sum"] for p in predictions]
        self.assertEqual(read[0][0], read[1][0])  # the first launch finds nothing either way
        # Registered host memory lies where each process's heap has it, on a sector's border or not: an access of 64 bytes more or less.
        self.assertTrue(all(cold + 64 >= warm for warm, cold in zip(read[0], read[1])), read)
        self.assertGreater(sum(read[1]), sum(read[0]))

    def test_some_launches_only(self):
        done = run("--arch", "h100", "--launches", "1-2,4", "--kernel", "variables", "--", build("memory"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("9 launches, 2 predicted", done.stderr)
        self.assertIn("#0 add <<<8, 128>>> not predicted", done.stderr)

    def test_launches_stand_for_others_beyond_the_budget(self):
        documents = []
        for words in (["--simulate", "all"], ["--budget", "30000"], ["--budget", "30000", "--threads", "1"], []):
            file = self.path("result.json")
            done = run("--arch", "h100", *words, "--json", file, "--", build("repeated"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("400 launches, 400 predicted for h100-sxm", done.stderr)
            with open(file, encoding="utf-8") as text:
                documents.append(json.load(text))
            if "30000" in words:
                self.assertRegex(done.stderr, r"#399 half <<<8, 128>>> [0-9.]+ us, as #[0-9]+|#399 half <<<32, 128>>> [0-9.]+ us, as #[0-9]+")
                self.assertIn("represented by these; nine times in ten", done.stderr)
        every, some, again, default = documents
        for document in (every, default):  # the default budget is not used up
            self.assertEqual((document["represented"], document["program"]["simulated"]), ([], 400))
        for document in (some, again):
            document.pop("command")
        self.assertEqual(some, again)
        total = some["program"]
        self.assertLess(total["simulated"], 80)
        self.assertEqual(total["simulated"] + total["represented"], 400)
        numbers = [p["number"] for p in some["predictions"]]
        self.assertEqual(sorted(numbers + [row["number"] for row in some["represented"]]), list(range(400)))
        self.assertTrue(all(row["by"] in numbers for row in some["represented"]))
        self.assertAlmostEqual(total["duration_ns"] / every["program"]["duration_ns"], 1, delta=0.02)
        self.assertLess(total["duration_low_ns"], total["duration_ns"])
        self.assertEqual(total["warp_instructions"], every["program"]["warp_instructions"])
        self.assertLess(total["simulated_warp_instructions"], total["warp_instructions"] / 5)
        self.stopped(run("--arch", "h100", "--simulate", "some", "--", "true"), "--simulate some: expected representative or all")

    def test_host_and_device_on_one_time_line(self):
        lines, texts = {}, []
        for host in ("xeon-h100", "none", "xeon-h100"):
            file, trace = self.path("result.json"), self.path("trace.json")
            done = run("--arch", "h100", "--host", host, "--launches", "0-3", "--json", file, "--perfetto", trace, "--", build("repeated"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"time line with host {host}", done.stderr)
            with open(file, encoding="utf-8") as text:
                document = json.load(text)
            lines[host] = document["program"]["time_line"]
            places = [(p["start_ns"], p["end_ns"]) for p in document["predictions"]]
            self.assertEqual(len(places), 4)
            self.assertTrue(all(begin < end for begin, end in places))
            with open(trace, encoding="utf-8") as text:
                texts.append(text.read())
            events = json.loads(texts[-1])["traceEvents"]
            self.assertEqual(sum(e["ph"] == "s" for e in events), sum(e["ph"] == "f" for e in events))
            self.assertEqual(sum(e["ph"] == "X" and e["cat"] == "call" and e["name"] == "launch" for e in events), 400)
        self.assertEqual(texts[0], texts[2])
        self.assertGreater(lines["xeon-h100"]["duration_ns"], 400 * 4000)  # launches keep the host
        self.assertGreater(lines["xeon-h100"]["time"]["calls_ns"], 0.9 * lines["xeon-h100"]["duration_ns"])
        self.assertAlmostEqual(lines["none"]["duration_ns"], lines["none"]["time"]["kernels_ns"], delta=1)
        self.stopped(run("--arch", "h100", "--host", "nowhere", "--", "true"), "--host nowhere: no such host")
        self.stopped(run("--arch", "h100", "--host-time", "some", "--", "true"), "--host-time some: expected none, measured or scale=X")

    def test_events_without_predictions_have_the_time_that_emulation_took(self):
        program = build("streams")
        for form in ((), ("graph",)):
            begin = time.monotonic()
            done = run("--arch", "h100", "--functional", "--", program, "100", *form)
            self.assertEqual(done.returncode, 0, done.stderr)
            measured = float(re.fullmatch(r"([0-9.]+) us\n", done.stdout)[1])
            self.assertGreater(measured, 1, "nothing was executed between the events")
            self.assertLess(measured, (time.monotonic() - begin) * 1e6)

    def test_kernels_of_two_streams_share_the_chip(self):
        program = build("streams")
        for chip in CHIPS:
            for form in ((), ("graph",)):
                with self.subTest(chip=chip, form=form):
                    found = {percent: self.two_kernels(chip, program, str(percent), *form) for percent in (50, 100)}
                    # Each on SMs of its own: as if alone.
                    for row in found[50]:
                        self.assertAlmostEqual(row["beside"]["slowed"], 1, delta=0.03)
                        self.assertLess(row["start_ns"], found[50][0]["start_ns"] + 6000)
                    # The second gets the SMs that the first leaves.
                    first, second = found[100]
                    self.assertAlmostEqual(first["beside"]["slowed"], 1, delta=0.01)
                    self.assertGreater(second["beside"]["slowed"], 1.6)
                    self.assertAlmostEqual(second["start_ns"], first["end_ns"], delta=3000)

    def two_kernels(self, chip, program, *words):
        file = self.path("result.json")
        done = run("--arch", chip, "--json", file, "--", program, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("side by side: 2 kernels simulated together; 1 group, ", done.stderr)
        with open(file, encoding="utf-8") as text:
            document = json.load(text)
        rows = document["predictions"]
        self.assertEqual([row["beside"]["with"] for row in rows], [[1], [0]])
        beside = document["program"]["time_line"]["beside"]
        self.assertEqual((beside["simulated"], beside["groups"], beside["by_rates"], beside["by_shares"]), (2, 1, 0, 0))
        self.assertAlmostEqual(beside["slowed_most"], max(row["beside"]["slowed"] for row in rows))
        return rows

    def test_kernels_that_are_not_simulated_together_say_so(self):
        file = self.path("result.json")
        done = run("--arch", "h100", "--budget", "1000", "--json", file, "--", build("streams"), "50")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("side by side: 2 by what each asks of the chip (--budget); 1 group, ", done.stderr)
        with open(file, encoding="utf-8") as text:
            document = json.load(text)
        for row in document["predictions"]:
            self.assertEqual(row["beside"]["by"], "rates")
            self.assertAlmostEqual(row["beside"]["slowed"], 1, delta=0.01)

    def test_what_copies_and_fills_leave_in_l2(self):
        for chip in CHIPS:
            with self.subTest(chip):
                file = self.path(chip)
                done = run("--arch", chip, "--quiet", "--json", file, "--", build("passage"))
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                with open(file, encoding="utf-8") as text:
                    read = [p["metrics"]["dram__bytes_read.sum"] / 2**20 for p in json.load(text)["predictions"]]
                found = ["all" if megabytes < 0.1 else "nothing" if megabytes >= 1 else str(megabytes) for megabytes in read]
                self.assertEqual(found, done.stdout.split())
        done = run("--arch", "h100", "--cold", "--quiet", "--json", file, "--", build("passage"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(file, encoding="utf-8") as text:
            self.assertTrue(all(p["metrics"]["dram__bytes_read.sum"] >= 2**20 for p in json.load(text)["predictions"]))

    def test_a_represented_launch_that_writes_all_of_l2_leaves_nothing_else_there(self):
        file = self.path("result.json")
        done = run("--arch", "h100", "--budget", "1000", "--quiet", "--json", file, "--", build("passage"), "kernels")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(file, encoding="utf-8") as text:
            document = json.load(text)
        self.assertEqual([row["number"] for row in document["represented"]], [2, 4])
        read = {p["number"]: p["metrics"]["dram__bytes_read.sum"] >= 2**20 for p in document["predictions"]}
        self.assertEqual(read, {0: False, 1: True, 3: True, 5: True, 6: False})

    def test_launches_belong_to_the_innermost_operator(self):
        file = self.path("result.json")
        done = run("--arch", "h100", "--json", file, "--", build("operators"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(file, encoding="utf-8") as text:
            rows = [(p.get("operator"), p.get("operator_note")) for p in json.load(text)["predictions"]]
        none, outer = (None, None), ("outer", None)
        self.assertEqual(rows, [none, outer, ("aten::mm", "Triton's"), none, outer, none, ("captured", None), none])
        self.assertIn("foretrace: #0 add <<<1, 128>>> ", done.stderr)
        self.assertIn("foretrace: #2 add [aten::mm] <<<1, 128>>> ", done.stderr)
        table = [line.split()[2:4] + line.split()[-2:] for line in done.stderr.splitlines() if line.endswith(("]", " add"))]
        self.assertEqual([[*row[:2], row[3]] for row in table if row[3] != "add"],
                         [[n, n, f"[{name}]"] for n, name in (("2", "outer"), ("1", "aten::mm"), ("1", "captured"))], table)
        self.assertIn("foretrace: [aten::mm]: Triton's\n", done.stderr)

    def test_represented_launches_have_their_operators(self):
        file = self.path("result.json")
        done = run("--arch", "h100", "--budget", "1000", "--json", file, "--", build("operators"), "300")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(file, encoding="utf-8") as text:
            document = json.load(text)
        rows = [row for row in document["represented"] if row["number"] >= 8]
        self.assertGreater(len(rows), 200)
        self.assertEqual({(row["operator"], row["operator_note"]) for row in rows}, {("aten::add_", "Triton's")})
        self.assertIn("foretrace: [aten::add_, aten::mm]: Triton's\n", done.stderr)

    def test_ranges_of_nvtx(self):
        trace = self.path("trace.json")
        result = self.path("result.json")
        done = run("--arch", "h100", "--perfetto", trace, "--json", result, "--", build("ranges"))
        if done.returncode == 77:
            self.skipTest("no NVTX header")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = done.stderr.partition("NVTX range\n")[2]
        ranges = {row[5]: row[1:5] for row in map(str.split, table.splitlines())}
        self.assertEqual({name: row[:2] for name, row in ranges.items()},
                         {"step": ["1", "3"], "in\u00e4n": ["1", "1"], "library/sum": ["1", "1"], "process": ["1", "1"]})
        on_gpu, on_host = ({name: float(row[column]) for name, row in ranges.items()} for column in (2, 3))
        self.assertGreater(on_gpu["step"], 2 * on_gpu["process"])
        self.assertGreater(on_host["step"], on_host["library/sum"])
        with open(result, encoding="utf-8") as text:
            rows = json.load(text)["program"]["time_line"]["ranges"]
        self.assertEqual({row["name"]: [str(row["count"]), str(row["kernels"])] for row in rows}, {name: row[:2] for name, row in ranges.items()})
        self.assertEqual([row["kernels_ns"] for row in rows], sorted((row["kernels_ns"] for row in rows), reverse=True))
        for row in rows:
            self.assertAlmostEqual(row["kernels_ns"] / 1000, on_gpu[row["name"]], delta=0.006)
            self.assertAlmostEqual(row["host_ns"] / 1000, on_host[row["name"]], delta=0.006)
        with open(trace, encoding="utf-8") as text:
            events = [e for e in json.load(text)["traceEvents"] if e.get("cat") == "range"]
        self.assertEqual(sorted(e["ph"] for e in events), ["X", "X", "X", "b", "e"])

    def test_traces(self):
        folder = self.path("traces")
        os.mkdir(folder)
        done = run("--arch", "h100", "--launches", "0", "--trace", folder, "--", build("memory"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(folder), ["00000_add.h100-sxm.trace"])
        again = subprocess.run([FORETRACE, "simulate", os.path.join(folder, "00000_add.h100-sxm.trace"), "--arch", "h200"],
                               capture_output=True, text=True, check=False)
        self.assertEqual(again.returncode, 0, again.stderr)


class Stops(Case):
    def test_a_call_that_is_not_provided(self):
        self.stopped(run("--arch", "h100", "--", build("faults"), "external"), "cudaImportExternalMemory is not provided")

    def test_a_runtime_that_is_linked_statically(self):
        source = os.path.join(SOURCES, "faults.cu")
        program = build("faults.static", source=source, gencode=["-arch=sm_90"], runtime="static")
        self.stopped(run("--arch", "h100", "--", program, "trap"), "nvcc -cudart shared", "eval $(foretrace env)")

    def test_code_for_another_architecture(self):
        source = os.path.join(SOURCES, "faults.cu")
        program = build("faults.sm_80", source=source, gencode=["-gencode", "arch=compute_80,code=sm_80"])
        self.stopped(run("--arch", "h100", "--", program, "trap"), "sm_80", "sm_90")

    def test_what_is_no_program_and_no_chip(self):
        self.stopped(run("--arch", "h100", "--", "./not_there"), "./not_there: no such program")
        self.stopped(run("--arch", "h999", "--", "true"), "h999")
        self.stopped(run("--arch", "h100", "--launches", "3-1", "--", "true"), "--launches 3-1")
        self.stopped(run("--arch", "h100"), "no program given")

    def test_a_program_without_kernels_is_itself(self):
        done = run("--arch", "h100", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "out\n", "err\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
