"""What `foretrace run` reports of programs built with nvcc -cudart shared.

    run_reports.py FORETRACE REPOSITORY FOLDER PART
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

from program_case import CHIPS, FORETRACE, Case, build, run


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

    def test_a_carve_out_of_a_launch_is_that_of_its_kernel(self):
        file = self.path("result.json")
        done = run("--arch", "h100", "--cold", "--simulate", "all", "--json", file, "--", build("carveout"))
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
        with open(file, encoding="utf-8") as text:
            times = [prediction["metrics"]["gpu__time_duration.sum"] for prediction in json.load(text)["predictions"]]
        self.assertEqual(len(times), 6)
        self.assertEqual((len(set(times[:3])), len(set(times[3:]))), (1, 1), times)
        self.assertGreater(times[0], 1.2 * times[3], "64 KiB fit in L1 only where shared memory leaves room")

    def test_the_table_is_as_wide_as_its_names(self):
        done = run("--arch", "h100", "--", build("memory"))
        at = done.stderr.split("\n")
        head = next(line for line in at if line.endswith("  kernel"))
        rows = [line for line in at if "%" in line[:24]]
        self.assertEqual({line[len(head) - len("kernel"):].split("<")[0] for line in rows}, {"add", "variables", "structure"}, done.stderr)

    def test_a_kernel_is_limited_by_what_limits_most_of_its_time(self):
        file = self.path("result.json")
        done = run("--arch", "h100", "--cold", "--simulate", "all", "--json", file, "--", build("limits"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(file, encoding="utf-8") as text:
            launches = json.load(text)["predictions"]
        *small, large = [launch["limiter"]["name"] for launch in launches]
        self.assertEqual((len(small), len(set(small))), (3, 1))
        self.assertNotEqual(small[0], large)
        row = next(line for line in done.stderr.split("\n") if "100.0%" in line and line.endswith("  add"))
        self.assertIn(f" {large} ", row, done.stderr)
        self.assertNotIn(f" {small[0]} ", row)

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
        if done.returncode == 77 and os.environ.get("FORETRACE_REQUIRE_ALL") != "1":
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

    def test_a_program_that_is_killed_leaves_a_whole_document(self):
        # How many launches it makes before it only sits there, and after how many it is killed at the earliest.
        for launches, killed, options, words in ((60, 60, (), ()), (60, 60, (), ("waits",)), (60, 60, ("--budget", "1"), ()), (1000000, 200, (), ())):
            with self.subTest(launches=launches, options=options, words=words):
                file = self.path("result.json")
                with self.on_and_on(file, launches, options, words) as process:
                    self.printed(process, range(killed))
                    drain = threading.Thread(target=process.stdout.read)
                    drain.start()
                    self.wait_for(process, file, killed)
                    process.kill()
                    drain.join()
                self.assertEqual(process.returncode, -signal.SIGKILL)
                self.assertGreaterEqual(len(self.numbers(file)), killed)

    def test_a_document_that_grows_is_not_written_anew(self):
        file = self.path("result.json")
        launches = 1500
        with self.on_and_on(file, launches, ("--simulate", "all"), ("waits",)) as process:
            self.printed(process, range(launches))
            self.wait_for(process, file, launches)
            written = []
            for more in range(launches, launches + 4):
                begin = self.bytes_written(process)
                process.stdin.write("\n")
                process.stdin.flush()
                self.printed(process, [more])
                self.wait_for(process, file, more + 1)
                written.append(self.bytes_written(process) - begin)
            size = os.path.getsize(file)
            process.kill()
        self.assertEqual(self.numbers(file), list(range(launches + 4)))
        self.assertGreater(size, 32 << 20, "smaller ones are written as a whole")
        # The reader of this test may have the file open when it would be written: it then gets a new one. Not four times.
        self.assertLess(min(written), size / 20, (written, size))
        self.assertTrue(os.path.exists(f"{file}.partial-{process.pid}"), "the one that is written in turns with it")
        done = run("--arch", "h100", "--quiet", "--json", file, "--", build("memory"))
        self.assertEqual((done.returncode, done.stderr, os.listdir(os.path.dirname(file))), (0, "", ["result.json"]))

    def test_each_process_has_its_document(self):
        program = build("children")
        for name in ("result.json", "%p", "%p.of.%p%p.json"):
            with self.subTest(name):
                file = self.path(name)
                done = run("--arch", "h100", "--quiet", "--json", file, "--", program, "6")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                made = [line.split() for line in done.stdout.splitlines()]  # the first process is the last to say so
                expected = {name.replace("%p", process) if "%p" in name else f"{name}.{process}": int(launches) for process, launches in made}
                if "%p" not in name:
                    expected[name] = expected.pop(f"{name}.{made[-1][0]}")
                folder, found = os.path.dirname(file), {}
                for place in os.listdir(folder):
                    with open(os.path.join(folder, place), encoding="utf-8") as text:
                        document = json.load(text)
                    self.assertEqual(document["program"]["launches"], len(document["predictions"]))
                    first = 6 if len(document["predictions"]) == 7 else 0  # who was forked goes on counting
                    self.assertEqual([p["number"] for p in document["predictions"]], [first + i for i in range(len(document["predictions"]))])
                    found[place] = len(document["predictions"])
                self.assertEqual(found, expected)
                self.assertEqual(sorted(expected.values()), [3, 6, 7])

    def on_and_on(self, file, launches, options, words):
        process = subprocess.Popen([FORETRACE, "run", "--arch", "h100", "--quiet", *options, "--json", file, "--", build("on_and_on"), str(launches),
                                    *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        return process

    def printed(self, process, numbers):
        for number in numbers:
            self.assertEqual(process.stdout.readline(), f"{number}\n")

    def wait_for(self, process, file, launches):
        """Until the document has so many; how long is for the machine to say."""
        while len(self.numbers(file)) < launches:
            self.assertIsNone(process.poll())
            time.sleep(0.2)

    def bytes_written(self, process):
        with open(f"/proc/{process.pid}/io", encoding="ascii") as text:
            return int(re.search(r"wchar: (\d+)", text.read())[1])

    def numbers(self, file):
        """Of the launches in the document, which has to be whole; none: it is not there yet."""
        if not os.path.exists(file):
            return []
        with open(file, encoding="utf-8") as text:
            document = json.load(text)
        found = sorted(launch["number"] for part in ("predictions", "represented") for launch in document[part])
        self.assertEqual(found, list(range(len(found))))
        self.assertEqual(document["program"]["launches"], len(found))
        return found

    def test_traces(self):
        folder = self.path("traces")
        os.mkdir(folder)
        done = run("--arch", "h100", "--launches", "0", "--trace", folder, "--", build("memory"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(folder), ["00000_add.h100-sxm.trace"])
        again = subprocess.run([FORETRACE, "simulate", os.path.join(folder, "00000_add.h100-sxm.trace"), "--arch", "h200"],
                               capture_output=True, text=True, check=False)
        self.assertEqual(again.returncode, 0, again.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
