"""Points of a study are known by what they were made of: study_contents.py FORETRACE REPOSITORY FOLDER Offline|HandOver|WithCompiler.

A study that is run again computes what was made of something else in the meantime, an earlier foretrace's database is refused, and a point that foretrace refuses
is recorded as failed while the others go on. WithCompiler alone needs a compiler.
"""

import contextlib
import csv
import hashlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest
from unittest import mock

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
os.environ["FORETRACE"] = FORETRACE
os.environ["PYTHONPATH"] = str(REPOSITORY / "python")
sys.path.insert(0, str(REPOSITORY / "python"))
sys.dont_write_bytecode = True

from foretrace import _command, sweep  # noqa: E402

SGEMM, TRANSPOSE = (REPOSITORY / f"tests/data/{name}_sm_90.trace" for name in ("sgemm_tiled", "transpose_tile_32"))
STUDY = """arch = ["h100"]
trace = ["launch.trace"]
[set]
"l2.latency" = [100, 150]
"""
KERNEL = """#include "factor.h"
__global__ void twice(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < FACTOR; ++j) sum += in[(i + j * STEP) % n];
  if (i < n) out[i] = sum;
}
"""
KERNEL_STUDY = """arch = ["h100"]
[[kernel]]
source = "twice.cu"
kernel = "twice"
define = ["STEP=32"]
grid = [4]
block = [64]
args = ["buf:f32:256:file=in.bin", "buf:f32:256", "val:i32:256"]
"""


def run(*words, code: int = 0, **variables) -> subprocess.CompletedProcess:
    done = subprocess.run([sys.executable, "-B", "-m", "foretrace", *map(str, words)], capture_output=True, text=True, env={**os.environ, **variables})
    if done.returncode != code:
        raise AssertionError(f"foretrace {' '.join(map(str, words))}: {done.returncode}: {done.stdout}{done.stderr}")
    return done


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = FOLDER / self._testMethodName
        self.folder.mkdir()
        self.study = self.folder / "study.toml"
        self.study.write_text(STUDY)
        shutil.copy(TRANSPOSE, self.folder / "launch.trace")

    def sweep(self, *words, **options) -> tuple[list[dict], int]:
        """The rows of the study's CSV, and how many points were computed now."""
        table = self.folder / "study.csv"
        done = run("sweep", self.study, "--csv", table, *words, **options)
        with open(table, newline="") as rows:
            return list(csv.DictReader(rows)), int(done.stdout.split(" computed now")[0].split()[-1])

    def query(self, text: str) -> list[tuple]:
        with contextlib.closing(sqlite3.connect(self.folder / "study.sqlite")) as connection:
            return connection.execute(text).fetchall()


class Offline(Case):
    def test_a_trace_of_the_same_name_with_other_contents_is_another_point(self):
        before, computed = self.sweep()
        self.assertEqual(computed, 2)
        self.assertEqual(self.sweep(), (before, 0))
        shutil.copy(SGEMM, self.folder / "launch.trace")
        after, computed = self.sweep()
        self.assertEqual(computed, 2)
        alone = self.folder / "alone.toml"
        alone.write_text(STUDY)
        run("sweep", alone, "--csv", self.folder / "alone.csv")
        with open(self.folder / "alone.csv", newline="") as rows:
            self.assertEqual(after, list(csv.DictReader(rows)))
        self.assertNotEqual([row["cycles"] for row in before], [row["cycles"] for row in after])
        shutil.copy(TRANSPOSE, self.folder / "launch.trace")  # as it was: its points are still there
        self.assertEqual(self.sweep(), (before, 0))

    def test_another_configuration_of_the_chip_is_another_point(self):
        configs = self.folder / "configs"
        shutil.copytree(REPOSITORY / "configs", configs)
        variables = {"FORETRACE_CONFIGS": str(configs)}
        before, _ = self.sweep(**variables)
        self.assertEqual(self.sweep(**variables), (before, 0))
        file = configs / "h100-sxm.toml"
        text = file.read_text()
        changed = re.sub(r"(?m)^(latency += \{ value = )202(, .*range = \[)180, 220\]", r"\g<1>900\g<2>800, 1000]", text)
        self.assertNotEqual(changed, text)
        file.write_text(changed)
        after, computed = self.sweep(**variables)
        self.assertEqual(computed, 2)
        self.assertNotEqual([row["cycles"] for row in before], [row["cycles"] for row in after])
        # The table of machine code is a part of it.
        table = configs / "isa/sm_90.toml"
        text = table.read_text()
        changed = text.replace('[opcodes.integer_multiply]\npipes = ["fmaheavy"]', '[opcodes.integer_multiply]\npipes = ["fmalite"]')
        self.assertNotEqual(text, changed)
        table.write_text(changed)
        self.assertEqual(self.sweep(**variables)[1], 2)

    def test_another_foretrace_computes_its_own_points(self):
        self.sweep()
        other = self.folder / "foretrace"
        shutil.copy(FORETRACE, other)
        with open(other, "ab") as program:  # the same one to the processor, another to whoever compares
            program.write(b"another build")
        variables = {"FORETRACE": str(other), "FORETRACE_CONFIGS": str(REPOSITORY / "configs")}
        self.assertEqual(self.sweep(**variables)[1], 2)
        self.assertEqual(self.sweep(**variables)[1], 0)
        self.assertEqual(len({json.loads(origin)["foretrace"]["program_sha256"] for origin, in self.query("SELECT origin FROM origins")}), 2)

    def test_the_database_says_what_its_points_were_made_of(self):
        self.sweep()
        values = dict(self.query("SELECT key, value FROM study"))
        self.assertEqual(values["text"], STUDY)
        self.assertEqual(values["foretrace"], run("--version").stdout.strip())
        self.assertEqual(values["program_sha256"], json.loads(run("--version", "--json").stdout)["program_sha256"])
        (origin,), = self.query("SELECT DISTINCT origins.origin FROM points JOIN origins ON origins.id = points.origin")
        made = json.loads(origin)
        self.assertEqual(made["trace"]["sha256"], hashlib.sha256(TRANSPOSE.read_bytes()).hexdigest())
        self.assertEqual(made["chip"]["name"], "h100-sxm")

    def test_an_earlier_schema_is_refused_by_name(self):
        database = self.folder / "study.sqlite"
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            connection.execute("CREATE TABLE points (id TEXT PRIMARY KEY, work TEXT NOT NULL, arch TEXT NOT NULL, changes TEXT NOT NULL, cycles INTEGER NOT NULL, "
                               "duration_ns REAL NOT NULL, limiter TEXT NOT NULL, config_sha256 TEXT NOT NULL, code_sha256 TEXT NOT NULL, foretrace TEXT NOT NULL, "
                               "metrics TEXT NOT NULL)")
            connection.commit()
        before = database.read_bytes()
        for words in (["sweep", self.study], ["sweep", self.study, "--merge", 1]):
            done = run(*words, code=2)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertRegex(done.stderr, r"study\.sqlite: schema 1.*expected schema 2")
        self.assertEqual(database.read_bytes(), before)
        database.write_text("no database, but a text that is long enough to be read as one " * 20)
        self.assertIn("study.sqlite: file is not a database", run("sweep", self.study, code=2).stderr)

    def test_a_merge_says_what_a_shard_was_made_of(self):
        run("sweep", self.study, "--shard", "1/2")
        shutil.copy(SGEMM, self.folder / "launch.trace")
        run("sweep", self.study, "--shard", "2/2")
        done = run("sweep", self.study, "--merge", 2, code=2)
        self.assertRegex(done.stderr, r"1 points are missing, the first launch\.trace on h100; they were made of something else: trace\.sha256 was")

    def test_a_point_that_fails_does_not_end_the_study(self):
        self.study.write_text(STUDY + '"sm.count" = [0, 64, 132]\n')
        page = self.folder / "study.html"
        rows, computed = self.sweep("--html", page, "--jobs", "1", code=1)
        self.assertEqual((len(rows), computed), (6, 4))
        self.assertEqual([row["sm.count"] for row in rows if row["failed"]], ["0", "0"])
        self.assertTrue(all("sm.count" in row["failed"] and not row["cycles"] for row in rows if row["failed"]))
        self.assertTrue(all(int(row["cycles"]) > 0 for row in rows if not row["failed"]))
        self.assertIn("Points that failed", page.read_text())
        self.assertIn("4 of 6 points, <b>2 failed</b>", page.read_text())
        # Again: what failed is tried again, and named in one line.
        done = run("sweep", self.study, code=1)
        self.assertRegex(done.stderr, r"\Aforetrace: .*study\.toml: 2 of 6 points failed, the first launch\.trace on h100 l2\.latency=100 sm\.count=0: .*sm\.count.*\n\Z")
        self.assertIn("6 points, 0 computed now, 4 there before, 2 failed", done.stdout)

    def test_a_damaged_trace_fails_its_own_points_only(self):
        self.study.write_text(STUDY.replace('["launch.trace"]', '["launch.trace", "damaged.trace"]'))
        (self.folder / "damaged.trace").write_bytes(TRANSPOSE.read_bytes()[:400])
        rows, computed = self.sweep(code=1)
        self.assertEqual([bool(row["failed"]) for row in rows], [False, False, True, True])
        self.study.write_text(STUDY.replace('["launch.trace"]', '["launch.trace", "none.trace"]'))
        self.assertIn("none.trace: No such file", run("sweep", self.study, code=2).stderr)

    def test_what_is_wrong_is_said_in_one_line(self):
        (self.folder / "bytes.toml").write_bytes(b"\xff\xfe\x00")
        (self.folder / "broken.toml").write_text("arch = [")
        for words, said in ((["sweep"], r"foretrace: the following arguments are required: STUDY.toml; .*"),
                            (["sweep", "none.toml"], r"foretrace: none\.toml: No such file or directory"),
                            (["sweep", self.folder], rf"foretrace: {self.folder}: Is a directory"),
                            (["sweep", self.folder / "bytes.toml"], r"foretrace: .*bytes\.toml: no text; expected a TOML file"),
                            (["optimise", self.folder / "broken.toml"], r"foretrace: .*broken\.toml: .*"),
                            (["baseline", "check", "none.toml"], r"foretrace: none\.toml: No such file or directory"),
                            (["baseline", "foo", "x"], r"foretrace: argument action: invalid choice: 'foo' .*"),
                            (["sensitivity", "none.toml", "--arch", "h100"], r"foretrace: none\.toml: No such file or directory")):
            with self.subTest(words):
                self.assertRegex(run(*words, code=2).stderr, rf"\A{said}\n\Z")

    def test_keys_of_another_form_are_named(self):
        study, trace = self.folder / "wrong.toml", 'arch = ["h100"]\ntrace = ["a.trace"]\n'
        kernel = 'arch = ["h100"]\n[[kernel]]\nsource = "a.cu"\nkernel = "a"\ngrid = [1]\nblock = [32]\nargs = []\n'
        for text, said in (('arch = "h100"\ntrace = ["a.trace"]\n', "arch: expected a list of chips"), ('arch = [5]\ntrace = ["a.trace"]\n', "arch: expected a list of chips"),
                           ('arch = ["h100"]\ntrace = "a.trace"\n', "trace: expected a list of files"), ('arch = ["h100"]\nkernel = 3\n', r"kernel: expected \[\[kernel\]\]"),
                           (trace + "set = 3\n", r"set: expected \[set\], with a list of values for each key"), (trace + "database = 5\n", "database: expected a file's name"),
                           (kernel + "shape = 3\n", "kernel: shape: expected a list of tables of grid, block and args"),
                           (kernel + "name = 3\n", "kernel: name: expected a text"),
                           (trace + "[set]\nx = [{}]\n", "set: expected a list of numbers or texts for each key"),
                           (kernel + "shared = [1979-05-27]\n", "shared: expected a number or a text, not a date or time"),
                           (kernel + "defines = 3\n", "kernel: defines: expected a table with a list of values for each name")):
            with self.subTest(text):
                study.write_text(text)
                self.assertRegex(run("sweep", study, code=2).stderr, rf"\Aforetrace: \S*wrong\.toml: {said}\n\Z")
        for text, said in (('launch = 3\n', r"launch: expected \[\[launch\]\]"), ('source = "a.cu"\n', "expected launch, as a launch file has it"),
                           ('source = "a.cu"\nlaunch = [1]\n', r"launch: expected \[\[launch\]\]")):
            study.write_text(text)
            self.assertRegex(run("sensitivity", study, "--arch", "h100", code=2).stderr, rf"\Aforetrace: \S*wrong\.toml: {said}\n\Z")
        study.write_text('source = "a.cu"\n[[launch]]\nname = "a"\nargs = 3\n')
        self.assertIn("kernel a: expected nvcc as one text, args and symbols as lists of texts", run("sensitivity", study, "--arch", "h100", code=2).stderr)
        self.assertIn(f"{study}: file is not a database; expected a database of foretrace sensitivity, or none",
                      run("sensitivity", REPOSITORY / "tests/data/vector_add_sm_90.trace", "--arch", "h100", "--keys", "l2.latency", "--database", study, code=2).stderr)
        study.write_text('cost = 3\n' + trace + '[set]\n"sm.count" = [100]\n')
        self.assertRegex(run("optimise", study, code=2).stderr, r"\Aforetrace: \S*wrong\.toml: cost: expected a formula of the chip's keys, .*\n\Z")

    def test_a_file_that_cannot_be_written_is_refused_before_anything_is_computed(self):
        for words in (["sweep", self.study, "--csv"], ["sweep", self.study, "--html"], ["optimise", self.study, "--html"], ["sensitivity", "none.trace", "--arch", "h100", "--json"]):
            for path, why in ((self.folder / "none" / "x", "No such file or directory"), (self.folder, "Is a directory")):
                self.assertEqual(run(*words, path, code=2).stderr, f"foretrace: {path}: {why}\n")
        for words, name in ((["sweep", self.study, "--csv"], self.study), (["sweep", self.study, "--html", "x", "--csv"], "x"), (["sensitivity", self.study, "--arch", "h100", "--json"], self.study)):
            self.assertEqual(run(*words, name, code=2).stderr, f"foretrace: {name}: expected a file of its own for each result\n")
        self.assertEqual(run("sweep", self.study, "--csv", "-", code=2).stderr, "foretrace: -: expected a file's name, not standard output\n")
        self.assertFalse((self.folder / "study.sqlite").exists())
        self.assertEqual(run("sweep", self.study, "--merge", "2", "--shard", "1/2", code=2).stderr, "foretrace: --merge with --shard: expected one of the two\n")

    def test_a_result_that_cannot_be_written_whole_leaves_the_one_before(self):
        kept = self.folder / "kept"
        _command.write(kept, "before")
        with self.assertRaises(UnicodeEncodeError):
            _command.write(kept, "after" * 10000 + "\ud800")
        self.assertEqual((kept.read_text(), [file.name for file in self.folder.glob("kept*")]), ("before", ["kept"]))
        with self.assertRaises(KeyboardInterrupt), _command.whole(kept) as file:
            file.write_text("half")
            raise KeyboardInterrupt
        self.assertEqual((kept.read_text(), [file.name for file in self.folder.glob("kept*")]), ("before", ["kept"]))
        with self.assertRaisesRegex(FileNotFoundError, r": '/nonexistent/kept'$"):
            _command.write("/nonexistent/kept", "")
        _command.write("/dev/null", "not replaced")
        self.assertFalse(pathlib.Path("/dev/null").is_file())

    def test_a_design_leaves_out_what_fails(self):
        self.study.write_text('cost = "sm.count"\n' + STUDY + '"sm.count" = [0, 64]\n')
        done = run("optimise", self.study, code=1)
        self.assertIn("2 of 4 combinations simulated", done.stdout)
        self.assertIn("2 of 4 points failed", done.stderr)

    def test_in_a_pipe_there_is_one_last_line_and_no_progress(self):
        done = run("sweep", self.study)
        self.assertRegex(done.stdout, r"\A\S*study\.toml: 2 points, 2 computed now, 0 there before, 0 failed; \S*study\.sqlite\n\Z")
        self.assertEqual(done.stderr, "")

    def test_time_left_is_that_of_points_alone(self):
        now, said = [0.0], []

        def after(seconds, value):
            def call(*_):
                now[0] += seconds
                return value
            return call

        prediction = sweep._predict(TRANSPOSE, "h100", {})
        study = sweep.Study(self.study)
        with mock.patch.object(sweep, "_record", after(1000, TRANSPOSE)), mock.patch.object(sweep, "_predict", after(3, prediction)), \
             mock.patch.object(sweep.time, "monotonic", lambda: now[0]), mock.patch.object(sweep.concurrent.futures, "ThreadPoolExecutor", AtOnce):
            sweep.run(study, jobs=1, say=said.append)
        self.assertEqual(said, ["2 points, 0 of them done", "trace 1 of 1", "1 of 2, 6 s left", "2 of 2, 0 s left"])

    def test_a_file_that_changes_while_the_study_runs_ends_it(self):
        study = sweep.Study(self.study)
        self.assertEqual(len(list(study.points())), 2)
        shutil.copy(SGEMM, self.folder / "launch.trace")
        with self.assertRaisesRegex(sweep.StudyError, "launch.trace: changed while the study ran"):
            sweep.run(study)


class HandOver(Case):
    """The program itself knows the package's commands."""

    def program(self, *words, code: int = 0, **variables) -> subprocess.CompletedProcess:
        done = subprocess.run([FORETRACE, *map(str, words)], capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_the_program_hands_them_to_python(self):
        done = self.program("sweep", self.study, "--csv", self.folder / "study.csv")
        self.assertIn("2 points, 2 computed now", done.stdout)
        self.assertEqual(self.sweep()[1], 0)
        self.assertIn("unrecognized arguments: --no-such", self.program("optimise", "x", "--no-such", code=2).stderr)
        # Found beside the configurations where nothing else has it.
        self.assertIn("--arch", self.program("sensitivity", "--help", PYTHONPATH="").stdout)

    def test_both_helps_list_them(self):
        texts = [self.program("--help").stdout, run("--help").stdout]
        for command in ("sweep", "sensitivity", "optimise", "baseline"):
            for text in texts:
                self.assertRegex(text, rf"(?m)^  {command} ")
            self.assertIn(f"\nexamples:\n  foretrace {command} ", self.program(command, "--help").stdout)

    def test_without_the_package_one_line_says_how_to_install_it(self):
        configs = self.folder / "share/configs"
        configs.parent.mkdir()
        configs.symlink_to(REPOSITORY / "configs")
        elsewhere = {"PYTHONPATH": "", "FORETRACE_CONFIGS": str(configs), "PYTHONNOUSERSITE": "1"}
        older = self.folder / "foretrace"
        older.mkdir()
        (older / "__init__.py").write_text("")
        (older / "__main__.py").write_text("OWN = {}\n")
        for variables in (elsewhere, {**elsewhere, "PYTHONPATH": str(self.folder)}, {**elsewhere, "PATH": str(self.folder)}):
            done = self.program("sweep", self.study, code=2, **variables)
            self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))
            self.assertRegex(done.stderr, r"^foretrace: sweep: a command of the Python package foretrace.* expected .*python3? .*3\.11|^foretrace: sweep: .*Python 3\.11 .*pip install")


class AtOnce:
    """An executor that has done what it is given."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, call, *arguments):
        future = sweep.concurrent.futures.Future()
        future.set_result(call(*arguments))
        return future

    def shutdown(self, **_):
        pass


class WithCompiler(Case):
    def setUp(self):
        super().setUp()
        self.study.write_text(KERNEL_STUDY)
        self.write("twice.cu", KERNEL)
        self.write("factor.h", "#define FACTOR 2\n")
        (self.folder / "in.bin").write_bytes(bytes(1024))

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def test_whatever_a_kernel_is_recorded_from_makes_another_point(self):
        changes = {
            "source": lambda: self.write("twice.cu", KERNEL.replace("sum += ", "sum += 1 / ")),
            "header": lambda: self.write("factor.h", "#define FACTOR 8\n"),
            "input": lambda: (self.folder / "in.bin").write_bytes(bytes(range(256)) * 4),
            "define": lambda: self.study.write_text(self.study.read_text().replace("STEP=32", "STEP=1")),
            "argument": lambda: self.study.write_text(self.study.read_text().replace("val:i32:256", "val:i32:128")),
            "options": lambda: self.study.write_text(self.study.read_text() + 'nvcc = "-use_fast_math"\n'),
            "launch": lambda: self.study.write_text(self.study.read_text().replace("grid = [4]", "grid = [2]")),
        }
        before, _ = self.sweep()
        self.assertEqual(self.sweep(), (before, 0))
        for number, (what, change) in enumerate(changes.items(), 2):
            with self.subTest(what):
                change()
                rows, computed = self.sweep()
                self.assertEqual(computed, 1)
                self.assertEqual(len(list((self.folder / "study.traces").iterdir())), number)
                if what not in ("input", "launch"):  # zeros or not, few blocks or many: as fast
                    self.assertNotEqual(rows[0]["cycles"], before[0]["cycles"])
                before = rows
        self.assertEqual({text for text, in self.query("SELECT text FROM sources")} & {KERNEL, "#define FACTOR 8\n"}, {KERNEL, "#define FACTOR 8\n"})

    def test_another_compiler_records_again(self):
        self.sweep()
        compiler = json.loads(run("--version", "--json").stdout)["nvcc"]
        self.write("nvcc", f'#!/bin/sh\nif [ "$1" = --version ]; then echo "release 13.0, V13.0.999"; else exec {compiler["path"]} "$@"; fi\n')
        os.chmod(self.folder / "nvcc", 0o755)
        self.assertEqual(self.sweep(FORETRACE_NVCC=str(self.folder / "nvcc"))[1], 1)
        tools = [json.loads(origin)["kernel"]["tools"]["nvcc"] for origin, in self.query("SELECT origin FROM origins")]
        self.assertEqual(sorted(tools), sorted([compiler["version"], "13.0.999"]))

    def test_a_kernel_that_does_not_compile_fails_its_own_points_only(self):
        self.write("broken.cu", "__global__ void broken() { nonsense; }\n")
        self.study.write_text(KERNEL_STUDY + '[[kernel]]\nsource = "broken.cu"\nkernel = "broken"\ngrid = [1]\nblock = [32]\nargs = []\n')
        rows, computed = self.sweep(code=1)
        self.assertEqual((computed, [bool(row["failed"]) for row in rows]), (1, [False, True]))
        self.assertIn("nonsense", rows[1]["failed"])

    def test_sensitivity_of_a_launch_file_and_of_a_kernel(self):
        launch = KERNEL_STUDY.replace('arch = ["h100"]\n[[kernel]]\nsource = "twice.cu"', 'source = "twice.cu"\n[[launch]]\nname = "first"')
        self.write("launches.toml", launch)
        words = ["--arch", "h100", "--keys", "l2.latency"]
        of_file = run("sensitivity", self.folder / "launches.toml", *words).stdout
        of_source = run("sensitivity", self.folder / "twice.cu", "--kernel", "twice", "--define", "STEP=32", "--grid", "4", "--block", "64", "--arg",
                        f"buf:f32:256:file={self.folder / 'in.bin'}", "--arg", "buf:f32:256", "--arg", "val:i32:256", *words).stdout
        run("predict", self.folder / "launches.toml", "--arch", "h100", "--trace", self.folder / "kept.trace", "--accuracy", "exact")
        of_trace = run("sensitivity", self.folder / "kept.trace", *words).stdout
        self.assertIn("l2.latency", of_trace)
        self.assertEqual(of_file.split("\n")[1:], of_trace.split("\n")[1:])
        self.assertEqual(of_source.split("\n")[1:], of_trace.split("\n")[1:])
        self.assertIn("launches.toml first on h100", of_file.split("\n")[0])
        self.write("launches.toml", launch + launch[launch.index("[[launch]]"):].replace('"first"', '"second"'))
        self.assertIn("several launches; expected --launch with one of first, second", run("sensitivity", self.folder / "launches.toml", *words, code=2).stderr)
        self.assertIn("second on h100", run("sensitivity", self.folder / "launches.toml", "--launch", "second", *words).stdout)
        self.assertIn("is a trace", run("sensitivity", self.folder / "kept.trace", "--grid", "4", *words, code=2).stderr)


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
