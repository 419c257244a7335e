"""`foretrace run` as a user meets it: programs built with nvcc -cudart shared, on three chips.

    run_programs.py FORETRACE REPOSITORY FOLDER PART
"""

import os
import re
import subprocess
import sys
import unittest

from program_case import CHIPS, FOLDER, FORETRACE, GENCODE, REPOSITORY, SOURCES, Case, build, nvcc, run


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

    def test_maps_of_one_row_of_each_image(self):
        program = build("wide_maps", "-lcuda", gencode=["-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_120a,code=sm_120a"])
        for chip, end in (("h100", "made 1\n"), ("gb203", "made 0\n0 wrong, no error\n")):
            with self.subTest(chip):
                done = run("--arch", chip, "--", program)
                self.assertEqual((done.returncode, done.stdout), (0, "none 1, empty 1\n" + end), done.stderr)

    def test_two_processes_share_memory(self):
        for words in ([], ["--functional"]):
            done = run("--arch", "h100", *words, "--", build("sharing"))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout.splitlines(), [
                "child: opened twice the same, closed again cudaErrorInvalidValue", "child ended with 0", "values: right",
                "own: cudaErrorDeviceUninitialized", "host memory: cudaErrorInvalidValue", "plain event: cudaErrorInvalidResourceHandle",
                "timed event: cudaErrorInvalidValue"])

    def test_two_processes_map_the_same_memory(self):
        program = build("shared_mapping", "-lcuda")
        for chip in CHIPS:
            for words in ([], ["--functional"]):
                with self.subTest(chip, words=words):
                    done = run("--arch", chip, *words, "--", program)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertEqual(done.stdout.splitlines(), ["child: 0 wrong", "parent: 0 wrong", "child: 0 wrong at the end", "ok"])

    def test_programs_whose_own_memory_lies_where_the_devices_would(self):
        taken = ("-include", os.path.join(SOURCES, "taken.h"))
        for name, last, options in (("memory", "memory: all right", ()), ("sharing", "timed event: cudaErrorInvalidValue", ()),
                                    ("shared_mapping", "ok", ("-lcuda",))):
            with self.subTest(name):
                done = run("--arch", "h100", "--functional", "--", build(name + ".taken", *taken, *options))
                self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, [last]), done.stdout + done.stderr)

    def test_graphs_that_allocate(self):
        program = build("graph_memory")
        for chip in CHIPS:
            for words in ([], ["--functional"]):
                with self.subTest(chip, words=words):
                    done = run("--arch", chip, *words, "--", program)
                    self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
        done = run("--arch", "h100", "--functional", "--check", "bounds,uninitialized", "--", program)
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)

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

    def test_pools_of_the_device_the_host_and_managed_memory(self):
        done = run("--arch", "h100", "--", build("pools"))
        self.assertEqual((done.returncode, done.stdout), (0, "pools: all right\n"), done.stderr)
        self.assertIn("4 launches", done.stderr)

    def test_linked_objects_may_have_functions_of_one_name(self):
        source = os.path.join(SOURCES, "twins.cu")
        second = build("twins.o", "-rdc=true", "-dc", "-G", "-DSECOND", source=source)
        program = build("twins", "-rdc=true", second)
        for chip in CHIPS:
            with self.subTest(chip):
                done = run("--arch", chip, "--functional", "--", program)
                self.assertEqual((done.returncode, done.stdout), (0, "0 wrong, no error\n"), done.stderr)

    def test_conditional_nodes_of_graphs(self):
        program = build("conditional")
        for chip in CHIPS:
            with self.subTest(chip):
                done = run("--arch", chip, "--functional", "--", program)
                self.assertEqual((done.returncode, done.stdout), (0, "conditional: all right\n"), done.stderr)

    def test_kernels_that_wait_for_what_the_program_does_later(self):
        program = build("waiting")
        for chip in CHIPS:
            for words in ([], ["--functional"]):
                with self.subTest(chip, words=words):
                    done = run("--arch", chip, *words, "--", program)
                    self.assertEqual((done.returncode, done.stdout), (0, "waiting: all right\n"), done.stderr)
        self.assertIn("4 launches", done.stderr)
        done = run("--arch", "h100", "--", program, "for_ever")
        self.assertEqual((done.returncode, done.stdout), (0, "cudaErrorLaunchTimeout\n"), done.stderr)
        self.assertIn("never ends", done.stderr)

    def test_kernels_of_a_green_context_have_a_part_of_the_sms(self):
        program = build("parts", "-lcuda")
        for chip in CHIPS:
            with self.subTest(chip):
                done = run("--arch", chip, "--cold", "--", program)
                self.assertEqual((done.returncode, done.stdout), (0, "parts: all right\n"), done.stderr)
                times = re.findall(r"work <<<64, 1024>>>( on 16 SMs)? ([\d.]+) us", done.stderr)
                self.assertEqual([part != "" for part, _ in times], [False, True, True])
                whole, part, current = (float(time) for _, time in times)
                self.assertGreater(part, 1.5 * whole)
                self.assertAlmostEqual(part, current, delta=0.02 * part)

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
            for part in ("kernel out_of_bounds", "thread (40,0,0)", "faults.cu:", "64 bytes after the end of buffer device memory", "--check bounds"):
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

    def test_a_buffer_of_parameters_that_ends_within_the_last_one(self):
        done = run("--arch", "h100", "--", build("packed"))
        self.assertEqual((done.returncode, done.stdout), (0, "packed: all right\n"), done.stderr)

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


class Stops(Case):
    def test_a_call_that_is_not_provided(self):
        self.stopped(run("--arch", "h100", "--", build("faults"), "external"), "cudaImportExternalMemory is not provided")

    def test_a_filter_that_nobody_has_measured(self):
        self.stopped(run("--arch", "h100", "--", build("faults"), "filtered_integers"), "linear filter of integers that are read as integers")

    def test_a_runtime_that_is_linked_statically(self):
        source = os.path.join(SOURCES, "faults.cu")
        program = build("faults.static", source=source, gencode=["-arch=sm_90"], runtime="static")
        self.stopped(run("--arch", "h100", "--", program, "trap"), "nvcc -cudart shared", "eval $(foretrace env)")

    def test_code_for_another_architecture(self):
        source = os.path.join(SOURCES, "faults.cu")
        program = build("faults.sm_80", source=source, gencode=["-gencode", "arch=compute_80,code=sm_80"])
        self.stopped(run("--arch", "h100", "--", program, "trap"), "sm_80", "sm_90")
        asked = run("--arch", "h100", "--", program, "asked")
        self.assertEqual((asked.returncode, asked.stdout), (0, ""), asked.stderr)

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
