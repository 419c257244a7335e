"""Programs of a bench file: each is built, run under `foretrace run`, and its time held against the baseline's, as a whole and by kernel.

A program's own work between its calls takes no time here (`foretrace run` without --host-time), so that its time line, too, is the same in every
run. Programs run one after the other, in the bench file's folder: they may write files.
"""

import collections
import dataclasses
import json
import pathlib
import subprocess
import tempfile

from foretrace import _program

_KEYS = {"name", "command", "arch", "build", "bound"}
_NAMED = 3  # kernels that a line about a slower program names


class BenchError(Exception):
    """What is wrong with a bench file or its baseline."""


@dataclasses.dataclass(frozen=True)
class BenchProgram:
    name: str
    command: list[str]
    arch: list[str]
    build: list[str] | None
    bound: float


def is_bound(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 10


def are_words(value) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) and "\0" not in each for each in value)


def read(tables, path: pathlib.Path, arch: list[str] | None, bound: float) -> list[BenchProgram]:
    """The programs of a bench file; `arch` and `bound`: what those take that say none."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BenchError(f"{path}: program: expected tables, [[program]]")
    programs = []
    for table in tables:
        if not are_words(table.get("command")):
            raise BenchError(f'{path}: program: expected command, a list of words: ["./app", "1024"]')
        name = table.get("name", " ".join(table["command"]))
        unknown = sorted(set(table) - _KEYS)
        if unknown:
            raise BenchError(f"{path}: program {name}: unknown key {unknown[0]}; expected {', '.join(sorted(_KEYS))}")
        program = BenchProgram(name, table["command"], table.get("arch", arch), table.get("build"), table.get("bound", bound))
        if not isinstance(name, str) or not name:
            raise BenchError(f"{path}: program: name: expected text")
        if not are_words(program.arch):
            raise BenchError(f"{path}: program {name}: arch: expected a list of chips")
        if program.build is not None and not are_words(program.build):
            raise BenchError(f'{path}: program {name}: build: expected a list of words: ["make", "app"]')
        if not is_bound(program.bound):
            raise BenchError(f"{path}: program {name}: bound: expected a share, 0.01 for 1%")
        if any(other.name == name for other in programs):
            raise BenchError(f"{path}: two programs {name}; expected a name of its own for each")
        programs.append(program)
    return programs


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip().removeprefix("foretrace: ") if lines else "it said nothing"


def _start(words: list[str], folder: pathlib.Path, what: str) -> None:
    """Runs it to its end. Throws BenchError with its last line where it fails."""
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, env=_program.environment())
    except OSError as error:
        raise BenchError(f"{what}: {error}") from None
    if done.returncode != 0:
        raise BenchError(f"{what} ended with code {done.returncode}: {_last_line(done.stderr or done.stdout)}")


def _entry(program: BenchProgram, arch: str, documents: list[dict]) -> dict:
    """A program's processes as one: their kernels by name, and the sums of their times."""
    kernels = collections.defaultdict(lambda: {"launches": 0, "duration_ns": 0.0})
    parts = [document["program"] for document in documents if "program" in document]
    for document in documents:
        times = [(row["kernel"], row["metrics"].get("gpu__time_duration.sum")) for row in document["predictions"]]
        for kernel, time in times + [(row["kernel"], row["duration_ns"]) for row in document.get("represented", [])]:
            kernels[kernel]["launches"] += 1
            kernels[kernel]["duration_ns"] += time or 0.0
    if not kernels:
        raise BenchError(f"program {program.name} on {arch}: it launched no kernel")
    if any(part["faults"] for part in parts):
        raise BenchError(f"program {program.name} on {arch}: {sum(part['faults'] for part in parts)} launches ended by faults")
    lines = [part["time_line"]["duration_ns"] for part in parts if "time_line" in part]
    return {"program": program.name, "arch": arch, "duration_ns": sum(kernel["duration_ns"] for kernel in kernels.values()),
            "time_line_ns": sum(lines) if lines else None, "config_sha256": next(row["config_sha256"] for each in documents for row in each["predictions"]),
            "kernels": dict(sorted(kernels.items(), key=lambda item: (-item[1]["duration_ns"], item[0])))}


def measure(programs: list[BenchProgram], folder: pathlib.Path) -> list[dict]:
    """An entry for every program on each of its chips. What they print is passed over."""
    built = []
    for program in programs:
        if program.build is not None and program.build not in built:
            _start(program.build, folder, f"program {program.name}: build")
            built.append(program.build)
    entries = []
    for program in programs:
        for arch in program.arch:
            with tempfile.TemporaryDirectory() as results:
                _start([_program.program(), "run", "--arch", arch, "--quiet", "--json", f"{results}/run.json", "--", *program.command], folder,
                       f"program {program.name} on {arch}")
                # Each process that the program starts writes one of its own.
                documents = [json.loads(file.read_text()) for file in sorted(pathlib.Path(results).iterdir())]
            entries.append(_entry(program, arch, documents))
    return entries


def _rose(before: float, now: float) -> str:
    return f"{before / 1000:,.2f} -> {now / 1000:,.2f} us ({now / before - 1:+.2%})" if before > 0 else f"{now / 1000:,.2f} us"


def compare(program: BenchProgram, before: dict, now: dict) -> tuple[bool, str]:
    """Whether the program, and each of its kernels, is within the bound, and a line that says so."""
    beyond = lambda old, new: new > old * (1 + program.bound)
    text = f"{now['program']} on {now['arch']}: kernels {_rose(before['duration_ns'], now['duration_ns'])}"
    slower = [(name, before["kernels"][name], kernel) for name, kernel in now["kernels"].items()
              if name in before["kernels"] and beyond(before["kernels"][name]["duration_ns"], kernel["duration_ns"])]
    slower.sort(key=lambda each: each[1]["duration_ns"] - each[2]["duration_ns"])
    kernels_slower = beyond(before["duration_ns"], now["duration_ns"])
    both_lines = before["time_line_ns"] is not None and now["time_line_ns"] is not None
    line_slower = both_lines and beyond(before["time_line_ns"], now["time_line_ns"])
    if not (slower or kernels_slower or line_slower):
        faster = now["duration_ns"] < before["duration_ns"] * (1 - program.bound)
        return True, text + ("; faster: renew the baseline to keep it so" if faster else "")
    text += f", beyond the bound of {program.bound:.1%}: "
    said = []
    for name, old, new in slower[:_NAMED]:
        launches = f", launches {old['launches']} -> {new['launches']}" if old["launches"] != new["launches"] else ""
        said.append(f"{name} {_rose(old['duration_ns'], new['duration_ns'])}{launches}")
    if len(slower) > _NAMED:
        said.append(f"{len(slower) - _NAMED} kernels more")
    if kernels_slower:
        said += [f"{name} is new, {_rose(0, kernel['duration_ns'])}" for name, kernel in now["kernels"].items() if name not in before["kernels"]]
    if line_slower:
        said.append(f"its time line {_rose(before['time_line_ns'], now['time_line_ns'])}")
    if before["config_sha256"] != now["config_sha256"]:
        said.append("the chip's configuration changed too")
    return False, text + "; ".join(said)
