"""`foretrace run` with several GPUs and the link between them.

    run_links.py FORETRACE REPOSITORY FOLDER PART
"""

import json
import os
import re
import subprocess
import sys
import unittest

from program_case import FOLDER, FORETRACE, REPOSITORY, Case, build, run

H100 = ["-gencode", "arch=compute_90,code=sm_90"]
MIB = 1 << 20
DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(FOLDER)), "documents", "run_links.json")  # test json_schema holds it against docs/


def copy_ns(link, size):
    """What `foretrace collective --op copy` says."""
    words = ["collective", "--op", "copy", "--bytes", str(size), "--link", link, "--json", "-"]
    done = subprocess.run([FORETRACE, *words], capture_output=True, text=True, check=True)
    return 1e3 * json.loads(done.stdout)["collective"]["sizes"][0]["time_us"]


class Links(Case):
    def answer(self, *words, file=None):
        file = file or self.path("result.json")
        given = words[-1] if isinstance(words[-1], list) else [words[-1]]
        done = run(*words[:-2], "--json", file, "--", words[-2], *given)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(file, encoding="utf-8") as text:
            return done, json.load(text)["program"]

    def test_every_copy_between_devices_takes_the_links_time(self):
        program = build("peers", gencode=H100)
        kernels = {}
        os.makedirs(os.path.dirname(DOCUMENT), exist_ok=True)
        # Links sleep before the first copy, but for PCI Express.
        for link, wake, words, said in (("nvlink4", 122e3, (), "over nvlink4 (taken for want of --link, "), ("pcie5", 0, ("--link", "pcie5"), "over pcie5: "),
                                        ("nvlink5", 122e3, ("--link", os.path.join(REPOSITORY, "configs/links/nvlink5.toml")), "over nvlink5: ")):
            with self.subTest(link):
                done, answer = self.answer("--devices", "h100,h100", *words, program, "no word of its", file=DOCUMENT)
                self.assertEqual(done.stdout, "12 copies\n")
                peers = answer["time_line"]["peer_copies"]
                self.assertAlmostEqual(peers.pop("duration_ns"), 12 * copy_ns(link, MIB) + wake, delta=1e-3)
                self.assertEqual(peers, {"link": link, "asked": bool(words), "copies": 12, "bytes": 12 * MIB})
                self.assertIn("12 copies between GPUs, 12.00 MiB, " + said, done.stderr)
                self.assertEqual(answer["peer_memory"], 2)
                self.assertIn("2 of them had arguments in another GPU's memory: their times leave out what that GPU does meanwhile", done.stderr)
                kernels[link] = answer["duration_ns"]
        # Two launches load and store there, one after the other: each waits for the way there and back.
        self.assertGreater(kernels["pcie5"] - kernels["nvlink4"], 2 * 0.9 * (1200 - 735))
        self.assertAlmostEqual(kernels["nvlink5"], kernels["nvlink4"], delta=40)

    def test_a_link_that_cannot_be_is_refused(self):
        program = build("peers", gencode=H100)
        for words, said in ((("--arch", "h100", "--link", "nvlink4"), "--link nvlink4: joins several GPUs; expected --devices CHIP,CHIP,..."),
                            (("--devices", "h100", "--link", "nvlink4"), "--link nvlink4: joins several GPUs"),
                            (("--devices", "h100,h100", "--link", "nvlink99"), "--link nvlink99: no such link; expected one of nvlink4, nvlink5, pcie5"),
                            (("--devices", ",".join(9 * ["h100"]), "--link", "pcie5"), "--link pcie5: joins 8 GPUs at most")):
            with self.subTest(said):
                self.stopped(run(*words, "--", program), said)

    def test_a_launch_at_a_peer_is_no_example_of_one_at_home(self):
        program = build("peer", source=os.path.join(REPOSITORY, "validate/links/peer.cu"), gencode=H100)
        tables = []
        for words in (("--simulate", "all"), ("--budget", "100000")):
            tables.append(self.path("fixed.tsv"))
            done = run("--devices", "h100,h100", *words, "--", program, tables[-1], "fixed", "1")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("represented", done.stderr)
        rows = []
        for table in tables:
            with open(table, encoding="utf-8") as text:
                rows.append({tuple(line.split("\t")[1:3]): float(line.split("\t")[3]) for line in text})
        # How much longer ten launches take that read at the peer than ten that read at home: one, where the one stands for the other.
        exact, represented = (row["peer to peer, words 32, launches", "10"] / row["own to peer, words 32, launches", "10"] for row in rows)
        self.assertGreater(exact, 1.2)
        self.assertAlmostEqual(represented, exact, delta=0.05)

    def test_events_take_longer_on_linked_gpus(self):
        program = build("peer", source=os.path.join(REPOSITORY, "validate/links/peer.cu"), gencode=H100)
        found = {}
        for words in (("--arch", "h100"), ("--devices", "h100,h100"), ("--devices", "h100,h100", "--link", "pcie5")):
            table = self.path("events.tsv")
            done = run(*words, "--", program, table, "events", "1")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(table, encoding="utf-8") as text:
                rows = [line.split("\t") for line in text]
            found[words] = {(row[1].split(": ")[1], row[2]): float(row[3]) for row in rows if row[1].startswith("one device")}
        alone, linked, pcie = found.values()
        self.assertEqual(alone, pcie)
        for what, us in alone.items():
            self.assertAlmostEqual(linked[what] - us, 1.64, delta=2e-4, msg=what)

    def ring(self, devices, size, *words, rounds=2):
        """us between the events of its last round (links are awake in the second), and the program's part of the document."""
        program = build("ring_allreduce", source=os.path.join(REPOSITORY, "validate/links/ring_allreduce.cu"), gencode=H100)
        done, answer = self.answer("--devices", ",".join(devices * ["h100"]), *words, program, [str(size), str(rounds)])
        number, of, us, how = done.stdout.split()
        self.assertEqual((int(number), int(of), how), (devices, size, "right"))
        self.assertEqual(answer["time_line"]["peer_copies"]["copies"], rounds * 2 * (devices - 1) * devices)
        return float(us), answer

    def test_a_ring_of_copies_moves_with_the_link(self):
        size = 8 * MIB
        for devices in (2, 4):
            times = {}
            for link, bandwidth in (("nvlink4", 396.8), ("pcie5", 53.3)):
                with self.subTest(f"{devices} over {link}"):
                    part, steps = size / devices, 2 * (devices - 1)
                    least = 1e-3 * steps * part / bandwidth
                    times[link], _ = self.ring(devices, size, "--link", link)
                    alone, answer = self.ring(devices, size, "--link", link, "--host", "none", rounds=1)
                    # Without a host the steps are all: each copy, and between two of the first half one sum.
                    sums = 1e-3 * answer["duration_ns"] / devices
                    self.assertGreater(sums, 1)
                    self.assertAlmostEqual(alone, 1e-3 * steps * copy_ns(link, part) + sums, delta=0.1 * sums)
                    self.assertGreater(alone, least + sums / 2)
                    self.assertGreater(times[link], alone)
                    # The host's calls and the gaps: not more than 25 us for each step and each device.
                    self.assertLess(times[link], alone + 25 * steps * devices)
            self.assertGreater(times["pcie5"] - times["nvlink4"], 0.8 * 2 * (devices - 1) * 1e-3 * (copy_ns("pcie5", part) - copy_ns("nvlink4", part)))

    def test_waits_for_another_gpus_events_take_the_links_time(self):
        with open(os.path.join(REPOSITORY, "configs/links/nvlink4.toml"), encoding="utf-8") as file:
            text, changed = re.subn(r"(?m)^wait = .*$", 'wait = { value = 0, unit = "us", kind = "assumed", range = [0, 1], source = "test" }', file.read())
        self.assertEqual(changed, 1)
        at_once = self.path("at_once.toml")
        with open(at_once, "w", encoding="utf-8") as file:
            file.write(text)
        size = 64 << 10
        times = {link: self.ring(2, size, "--link", link)[0] for link in ("nvlink4", at_once)}
        # Four waits follow each other, each 3.1 us at least: for `ready`, twice for what the other device has sent, and for the other's end.
        self.assertGreater(times["nvlink4"], times[at_once] + 3 * 3.1)
        alone = {link: self.ring(2, size, "--link", link, "--host", "none", rounds=1)[0] for link in times}
        self.assertEqual(alone["nvlink4"], alone[at_once])

    def test_the_trace_has_a_row_for_each_side_of_a_link(self):
        trace = self.path("trace.json")
        self.ring(2, 64 << 10, "--perfetto", trace, rounds=1)
        with open(trace, encoding="utf-8") as text:
            events = json.load(text)["traceEvents"]
        rows = {event["args"]["name"]: (event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
        spans = {name: sorted((event["ts"], event["dur"]) for event in events if event["ph"] == "X" and (event["pid"], event["tid"]) == rows[name])
                 for name in ("to other devices", "from other devices", "to other devices, device 1", "from other devices, device 1")}
        for name, found in spans.items():
            self.assertEqual(len(found), 2, name)
        self.assertEqual(spans["to other devices"], spans["from other devices, device 1"])
        self.assertEqual(spans["to other devices, device 1"], spans["from other devices"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
