"""foretrace baseline check|update BENCH.toml: performance tests with no GPU.

A bench file names chips, a bound, launches and programs; the committed baseline beside it holds what they took. `check` predicts them again and
fails where one takes longer than the bound allows, naming the source line, or a program's kernel, whose cost rose most. Predictions are deterministic: the same code and
configuration give the same cycles, so that a bound of 1% means something. docs/python.md describes the file.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile

from foretrace import _bench_programs, _command, _launch, _program, _results
from foretrace._bench_programs import BenchError

SCHEMA = 1
# What a baseline says of each launch and program, as far as check() reads it.
_ENTRIES = {"launches": {"launch": str, "arch": str, "cycles": int, "lines": dict, "limiter": str, "config_sha256": str},
            "programs": {"program": str, "arch": str, "duration_ns": (int, float), "kernels": dict, "config_sha256": str}}
_FORMS = {"source": (_command.is_text, "the file that the launches are in"), "launch": (_command.is_tables, "[[launch]]"), "from": (_command.is_tables, "[[from]]"),
          "baseline": (_command.is_text, "a file's name")}
_FROM_FORMS = {"file": (_command.is_text, "a launch file"), "launches": (_command.is_texts, "a list of its launches' names")}
_BENCH_KEYS = {"arch", "bound", "baseline", "source", "launch", "from", "program"}


class Bench:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        _, values = _command.read_toml(self.path)
        unknown = sorted(set(values) - _BENCH_KEYS)
        if unknown:
            raise BenchError(f"{path}: unknown key {unknown[0]}; expected {', '.join(sorted(_BENCH_KEYS))}")
        _command.check_forms(str(path), values, _FORMS)
        self.arch = values.get("arch")
        if not _bench_programs.are_words(self.arch) and ("arch" in values or "launch" in values or "from" in values):
            raise BenchError(f"{path}: arch: expected a list of chips")
        self.bound = values.get("bound", 0.01)
        if not _bench_programs.is_bound(self.bound):
            raise BenchError(f"{path}: bound: expected a share, 0.01 for 1%")
        self.programs = _bench_programs.read(values.get("program", []), self.path, self.arch, self.bound)
        self.baseline = self.path.parent / values.get("baseline", self.path.stem + ".baseline.json")
        self.files = self._files(values)

    def _files(self, values) -> list[tuple[pathlib.Path, dict]]:
        """Launch files as (folder that their paths are relative to, contents)."""
        files = []
        folder = self.path.parent.resolve()
        if "launch" in values:
            if "source" not in values:
                raise BenchError(f"{self.path}: launches need source, the file that they are in")
            files.append((folder, {"source": values["source"], "launch": values["launch"]}))
        for each in values.get("from", []):
            if set(each) - {"file", "launches"} or "file" not in each:
                raise BenchError(f"{self.path}: from: expected file, and launches to choose some")
            _command.check_forms(f"{self.path}: from", each, _FROM_FORMS)
            file = folder / each["file"]
            contents = _command.read_launches(file)
            wanted = each.get("launches")
            if wanted is not None:
                missing = sorted(set(wanted) - {launch.get("name") for launch in contents["launch"]})
                if missing:
                    raise BenchError(f"{file}: no launch {missing[0]}")
                contents["launch"] = [launch for launch in contents["launch"] if launch.get("name") in wanted]
            files.append((file.parent, contents))
        if not files and not self.programs:
            raise BenchError(f"{self.path}: no launch; expected [[launch]], [[from]] or [[program]]")
        return files


def _measure_file(folder: pathlib.Path, contents: dict, arch: str) -> list[dict]:
    with tempfile.TemporaryDirectory() as name:
        text = _launch._toml({"source": str((folder / contents["source"]).resolve())})
        for launch in contents["launch"]:
            if "after" in launch:
                raise BenchError(f"launch {launch['name']}: comes after another; expected launches of their own")
            kept = {key: value for key, value in launch.items() if key not in ("reference", "check", "dump")}
            text += "\n[[launch]]\n" + _launch._toml(kept)
        file = pathlib.Path(name) / "launches.toml"
        file.write_text(text)
        results = _results.of_process(["predict", str(file), "--arch", arch, "--threads", "1"])
    return [_entry(prediction) for prediction in results]


def _entry(prediction: _results.Prediction) -> dict:
    return {"launch": prediction.launch or prediction.kernel, "arch": prediction.arch, "cycles": prediction.cycles,
            "limiter": prediction.limiter, "config_sha256": prediction._entry["config_sha256"],
            "code_sha256": prediction._entry["code_sha256"], "lines": _costs(prediction)}


def _costs(prediction: _results.Prediction) -> dict[str, int]:
    """Warp-cycles by line. A line is known by its file's name and its text: edits above it move its number, not its cost."""
    texts, costs = {}, collections.Counter()
    for (file, line), cycles in prediction.lines().items():
        if file not in texts:
            try:
                texts[file] = pathlib.Path(file).read_text(errors="replace").split("\n")
            except OSError:
                texts[file] = []
        text = texts[file][line - 1].strip() if line <= len(texts[file]) else f"line {line}"
        costs[f"{pathlib.Path(file).name}: {text}"] += cycles
    return dict(costs.most_common())


def measure(bench: Bench, jobs: int | None = None) -> list[dict]:
    """An entry for every launch on every chip, in the order of the file."""
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        parts = [pool.submit(_measure_file, folder, contents, arch) for folder, contents in bench.files for arch in bench.arch]
        return [entry for part in parts for entry in part.result()]


def measure_programs(bench: Bench) -> list[dict]:
    """An entry for every program on each of its chips, in the order of the file."""
    return _bench_programs.measure(bench.programs, bench.path.parent.resolve())


def _read_baseline(bench: Bench) -> dict:
    _program.refuse_device(bench.baseline)
    try:
        document = json.loads(bench.baseline.read_text())
    except OSError:
        raise BenchError(f"{bench.baseline}: no baseline; `foretrace baseline update {bench.path}` makes it") from None
    except ValueError:
        raise BenchError(f"{bench.baseline}: no JSON; expected what `foretrace baseline update` wrote") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise BenchError(f"{bench.baseline}: schema {document.get('schema') if isinstance(document, dict) else None}; expected {SCHEMA}")
    for name, members in _ENTRIES.items():
        entries = document.get(name, [] if name == "programs" else None)
        if not _command.is_tables(entries):
            raise BenchError(f"{bench.baseline}: {name}: expected a list of objects, as `foretrace baseline update` writes it")
        for number, entry in enumerate(entries):
            for key, kind in members.items():
                if not isinstance(entry.get(key), kind):
                    raise BenchError(f"{bench.baseline}: {name}[{number}].{key}: expected what `foretrace baseline update` writes there")
    return document


def load(bench: Bench) -> dict[tuple[str, str], dict]:
    """The baseline's launches by name and chip."""
    return {(entry["launch"], entry["arch"]): entry for entry in _read_baseline(bench)["launches"]}


def load_programs(bench: Bench) -> dict[tuple[str, str], dict]:
    """The baseline's programs by name and chip."""
    return {(entry["program"], entry["arch"]): entry for entry in _read_baseline(bench).get("programs", [])}


def line_that_rose(before: dict, now: dict) -> tuple[str, int] | None:
    """The line whose warp-cycles rose most, and by how many."""
    rises = {line: cycles - before["lines"].get(line, 0) for line, cycles in now["lines"].items()}
    line = max(rises, key=rises.get, default=None)
    return (line, rises[line]) if line is not None and rises[line] > 0 else None


def compare(bench: Bench, before: dict | None, now: dict) -> tuple[bool, str]:
    """Whether the launch is within the bound, and a line that says so."""
    name = f"{now['launch']} on {now['arch']}"
    if before is None:
        return False, f"{name}: not in the baseline; `foretrace baseline update {bench.path}` adds it"
    change = now["cycles"] / before["cycles"] - 1
    text = f"{name}: {before['cycles']:,} -> {now['cycles']:,} cycles ({change:+.2%})"
    if change > bench.bound:
        rose = line_that_rose(before, now)
        text += f", beyond the bound of {bench.bound:.1%}"
        if rose:
            text += f"; most at {rose[0]} (+{rose[1]:,} warp-cycles)"
        if before["config_sha256"] != now["config_sha256"]:
            text += "; the chip's configuration changed too"
        if before["limiter"] != now["limiter"]:
            text += f"; its limiter was {before['limiter']} and is {now['limiter']}"
        return False, text
    if change < -bench.bound:
        text += "; faster: renew the baseline to keep it so"
    return True, text


def compare_program(bench: Bench, before: dict | None, now: dict) -> tuple[bool, str]:
    """The same of a program."""
    if before is None:
        return False, f"{now['program']} on {now['arch']}: not in the baseline; `foretrace baseline update {bench.path}` adds it"
    return _bench_programs.compare(next(program for program in bench.programs if program.name == now["program"]), before, now)


def update(bench: Bench, jobs: int | None = None) -> None:
    document = {"schema": SCHEMA, "foretrace": _program.version(), "launches": measure(bench, jobs)}
    if bench.programs:
        document["programs"] = measure_programs(bench)
    _command.write(bench.baseline, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def check(bench: Bench, jobs: int | None = None) -> list[tuple[bool, str]]:
    verdicts = []
    for kind, before, now, judge in (("launch", load(bench), measure(bench, jobs), compare), ("program", load_programs(bench), measure_programs(bench), compare_program)):
        verdicts += [judge(bench, before.get((entry[kind], entry["arch"])), entry) for entry in now]
        for name, arch in before.keys() - {(entry[kind], entry["arch"]) for entry in now}:
            verdicts.append((False, f"{name} on {arch}: in the baseline, but no longer in {bench.path}"))
    return verdicts


EXAMPLES = """examples:
  foretrace baseline update bench.toml
  foretrace baseline check bench.toml
"""


def main(words=None) -> int:
    parser = _command.Parser("baseline", __doc__.split("\n")[0], EXAMPLES)
    parser.add_argument("action", choices=["check", "update"], help="against the baseline, exit code 1 where something is slower; or write the baseline anew")
    parser.add_argument("bench", metavar="BENCH.toml", help="chips, launches and programs (docs/python.md)")
    parser.add_argument("--jobs", type=_command.positive, metavar="N", help="launches at a time (default: one per processor)")
    chosen = parser.chosen(words)
    try:
        bench = Bench(chosen.bench)
        if chosen.action == "update":
            update(bench, chosen.jobs)
            print(f"{bench.baseline} written")
            return 0
        verdicts = check(bench, chosen.jobs)
    except (BenchError, _program.ForetraceError) as error:
        print(f"foretrace: {_command.one_line(error)}", file=sys.stderr)
        return 2
    for good, text in verdicts:
        print(("  ok    " if good else "  SLOW  ") + text)
    slow = sum(not good for good, _ in verdicts)
    what, bound = ("launches and programs", "their bounds") if bench.programs else ("launches", f"the bound of {bench.bound:.1%}")
    print(f"{len(verdicts)} {what}, {slow} beyond {bound}")
    return 1 if slow else 0
