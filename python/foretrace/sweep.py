"""foretrace sweep STUDY.toml: kernels or traces, on chips, with values of keys changed. Resumable, in shards, into SQLite and CSV.

A point is one prediction: a trace, a chip and one combination of --set values. Traces are made once, before the points that need them. Each
point is one transaction: what was done when the process was killed is kept, and the next start goes on with what is missing. docs/python.md.
"""

import argparse
import concurrent.futures
import csv
import hashlib
import itertools
import json
import os
import pathlib
import sqlite3
import sys
import tempfile
import time
import tomllib

from foretrace import _launch, _program, _sweep_picture

SCHEMA = """
CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS points (
  id TEXT PRIMARY KEY, work TEXT NOT NULL, arch TEXT NOT NULL, changes TEXT NOT NULL, cycles INTEGER NOT NULL, duration_ns REAL NOT NULL,
  limiter TEXT NOT NULL, config_sha256 TEXT NOT NULL, code_sha256 TEXT NOT NULL, foretrace TEXT NOT NULL, metrics TEXT NOT NULL);
"""
_KEYS = {"arch", "set", "trace", "kernel", "database", "traces"}
_KERNEL_KEYS = {"name", "source", "kernel", "define", "grid", "block", "args", "shared", "nvcc", "cluster"}


class StudyError(Exception):
    """What is wrong with a study."""


def _lists(values: dict, where: str) -> dict[str, list]:
    if not all(isinstance(each, list) and each for each in values.values()):
        raise StudyError(f"{where}: expected a list of values for each key")
    return values


class Study:
    def __init__(self, path, further=frozenset()):
        """`further`: keys beside a study's own, which `extra` then holds."""
        self.path = pathlib.Path(path)
        try:
            text = self.path.read_text()
            values = tomllib.loads(text)
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise StudyError(f"{path}: {error}") from None
        unknown = sorted(set(values) - _KEYS - further)
        if unknown:
            raise StudyError(f"{path}: unknown key {unknown[0]}; expected {', '.join(sorted(_KEYS | further))}")
        self.extra = {key: values[key] for key in further if key in values}
        if not values.get("arch") or not (values.get("trace") or values.get("kernel")):
            raise StudyError(f"{path}: expected arch, and trace or [[kernel]]")
        folder = self.path.parent
        self.arch = values["arch"]
        self.sets = _lists(values.get("set", {}), f"{path}: set")
        self.database = folder / values.get("database", self.path.stem + ".sqlite")
        self.traces = folder / values.get("traces", self.path.stem + ".traces")
        self.works = [(str(trace), None) for trace in values.get("trace", [])]
        self.parts = {name: (name, {}) for name, _ in self.works}  # of a work: its kernel's name, and the alternatives that it is made of
        self.sized = set()  # kernels whose shapes have arguments of their own: each is another problem
        for kernel in values.get("kernel", []):
            self.works += self._variants(kernel)
        self.folder = folder
        names = [name for name, _ in self.works]
        if len(set(names)) != len(names):
            raise StudyError(f"{path}: two kernels or traces of one name")

    def _variants(self, kernel: dict) -> list[tuple[str, dict]]:
        """Every combination of a kernel's defines and shapes; `shape` lists tables of grid, block and args that go together."""
        unknown = sorted(set(kernel) - _KERNEL_KEYS - {"defines", "shape"})
        if unknown:
            raise StudyError(f"{self.path}: kernel: unknown key {unknown[0]}")
        defines = _lists(kernel.get("defines", {}), f"{self.path}: defines")
        shapes = kernel.get("shape", [{}])
        found = []
        if any("args" in shape for shape in shapes):
            self.sized.add(kernel.get("name", kernel.get("kernel", "kernel")))
        for shape in shapes:
            for values in itertools.product(*defines.values()):
                chosen = [f"{name}={value}" for name, value in zip(defines, values)]
                one = {key: value for key, value in kernel.items() if key not in ("defines", "shape")} | shape
                one["define"] = [*kernel.get("define", []), *chosen]
                base = kernel.get("name", kernel.get("kernel", "kernel"))
                size = "x".join(map(str, one.get("grid", []))) if len(shapes) > 1 else ""
                name = " ".join(filter(None, [base, *chosen, size]))
                self.parts[name] = (base, {**dict(zip(defines, values)), **({"shape": size or "none"} if len(shapes) > 1 else {})})
                found.append((name, one))
        return found

    def points(self):
        """(id, name of the work, chip, changes) in a fixed order."""
        for name, _ in self.works:
            for arch in self.arch:
                for values in itertools.product(*self.sets.values()):
                    changes = dict(zip(self.sets, values))
                    text = json.dumps([name, arch, changes], sort_keys=True)
                    yield hashlib.sha256(text.encode()).hexdigest()[:24], name, arch, changes


def _machine_code(arch: str) -> str:
    """Number of the machine code that a chip runs, of `foretrace arch`'s list."""
    for line in _program.run(["arch"]).split("\n"):
        words = line.split()
        if words and (words[0] == arch or arch in words):
            return next((word for word in words if word.startswith("sm_")), words[0])
    raise StudyError(f"no chip {arch}")


def _trace_of(study: Study, name: str, kernel: dict | None, arch: str, code: str) -> pathlib.Path:
    """The trace of a work for a machine code; made where it is not there, whole or not at all."""
    if kernel is None:
        return study.folder / name
    file = study.traces / f"{hashlib.sha256(json.dumps([kernel, code], sort_keys=True).encode()).hexdigest()[:24]}.trace"
    if file.is_file():
        return file
    study.traces.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".partial-{os.getpid()}")
    with tempfile.TemporaryDirectory() as folder:
        launch = pathlib.Path(folder) / "launch.toml"
        launch.write_text(_launch._toml({"source": str((study.folder / kernel["source"]).resolve())}) + "\n[[launch]]\n" +
                          _launch._toml({"name": "point", **{key: value for key, value in kernel.items() if key not in ("source", "name")}}))
        _program.run(["predict", str(launch), "--arch", arch, "--trace", str(partial), "--accuracy", "exact"])
    partial.rename(file)
    return file


def _predict(trace: pathlib.Path, arch: str, changes: dict):
    with tempfile.TemporaryDirectory() as folder:
        words = ["simulate", str(trace), "--arch", arch, "--threads", "1", *(w for key, value in changes.items() for w in ("--set", f"{key}={value}"))]
        return _launch._predict(words, pathlib.Path(folder))[0]


def _open(database: pathlib.Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database)
    connection.executescript(SCHEMA)
    return connection


def run(study: Study, shard: tuple[int, int] = (0, 1), jobs: int | None = None, say=lambda text: None, only=lambda changes: True) -> pathlib.Path:
    """Computes what is missing, of the points whose changes `only` wants. A shard of several writes a database of its own, which merge() brings
    together."""
    index, count = shard
    database = study.database if count == 1 else study.database.with_suffix(f".{index + 1}of{count}.sqlite")
    connection = _open(database)
    done = {row[0] for row in connection.execute("SELECT id FROM points")}
    mine = [point for i, point in enumerate(study.points()) if i % count == index and only(point[3])]
    missing = [point for point in mine if point[0] not in done]
    version = _program.run(["--version"]).strip()
    works, begin = dict(study.works), time.monotonic()
    codes = {arch: _machine_code(arch) for arch in study.arch}
    say(f"{len(mine)} points, {len(mine) - len(missing)} of them done")
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        wanted = {}
        for _, name, arch, _ in missing:
            wanted.setdefault((name, codes[arch]), arch)
        traces = {key: pool.submit(_trace_of, study, key[0], works[key[0]], arch, key[1]) for key, arch in wanted.items()}
        files = {key: future.result() for key, future in traces.items()}
        futures = {pool.submit(_predict, files[name, codes[arch]], arch, changes): (identity, name, arch, changes)
                   for identity, name, arch, changes in missing}
        try:
            for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
                identity, name, arch, changes = futures[future]
                p = future.result()
                with connection:
                    connection.execute("INSERT OR REPLACE INTO points VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                                       (identity, name, p.arch, json.dumps(changes), p.cycles, p["gpu__time_duration.sum"], p.limiter,
                                        p._entry["config_sha256"], p._entry["code_sha256"], version, json.dumps(p.metrics)))
                left = (time.monotonic() - begin) / number * (len(missing) - number)
                say(f"{number} of {len(missing)}, {left:.0f} s left")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    connection.close()
    return database


def merge(study: Study, count: int) -> None:
    """Brings the databases of all shards together. Throws StudyError where one lacks a point."""
    target = _open(study.database)
    for index in range(count):
        part = study.database.with_suffix(f".{index + 1}of{count}.sqlite")
        if not part.is_file():
            raise StudyError(f"{part}: this shard's database is not there")
        rows = sqlite3.connect(part).execute("SELECT * FROM points").fetchall()
        with target:
            target.executemany("INSERT OR REPLACE INTO points VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)
    have = {row[0] for row in target.execute("SELECT id FROM points")}
    lacking = [point for point in study.points() if point[0] not in have]
    if lacking:
        raise StudyError(f"{study.database}: {len(lacking)} points are missing, the first {lacking[0][1]} on {lacking[0][2]}")


def durations(study: Study):
    """(work, changes, nanoseconds) of every point that was done."""
    for work, changes, nanoseconds in _open(study.database).execute("SELECT work, changes, duration_ns FROM points"):
        yield work, json.loads(changes), nanoseconds


def results(study: Study) -> list[tuple]:
    """(work, chip as the study names it, changes, cycles, nanoseconds, limiter, version) of every point that was done, in the study's order."""
    rows = {row[0]: row[1:] for row in _open(study.database).execute("SELECT id, cycles, duration_ns, limiter, foretrace FROM points")}
    return [(work, arch, changes, *rows[identity]) for identity, work, arch, changes in study.points() if identity in rows]


def write_html(study: Study, path) -> None:
    """The study as one page. Throws StudyError where no point of it is done."""
    done = results(study)
    if not done:
        raise StudyError(f"{study.database}: no point of {study.path} is done; there is nothing to draw")
    pathlib.Path(path).write_text(_sweep_picture.page(study, done))


def table(study: Study) -> tuple[list[str], list[list]]:
    """Titles, and a row per point in the study's order: what was asked, cycles, and every metric."""
    connection = _open(study.database)
    rows = {row[0]: row for row in connection.execute("SELECT id, work, arch, changes, cycles, duration_ns, limiter, metrics FROM points")}
    ordered = [rows[point[0]] for point in study.points() if point[0] in rows]
    metrics = list(dict.fromkeys(name for row in ordered for name in json.loads(row[7])))
    found = []
    for _, work, arch, changes, cycles, duration, limiter, values in ordered:
        changed, values = json.loads(changes), json.loads(values)
        found.append([work, arch, *(changed[key] for key in study.sets), cycles, duration, limiter, *(values.get(name) for name in metrics)])
    return ["work", "arch", *study.sets, "cycles", "duration_ns", "limiter", *metrics], found


def write_csv(study: Study, path) -> None:
    titles, rows = table(study)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(titles)
        writer.writerows(rows)


def write_parquet(study: Study, path) -> None:
    """The same as Parquet, with types. Needs pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise StudyError("--parquet: needs pyarrow: pip install pyarrow") from None
    titles, rows = table(study)
    columns = {}
    for i, title in enumerate(titles):
        column = [row[i] for row in rows]
        numbers = title not in ("work", "arch", "limiter") and all(value is None or isinstance(value, (int, float)) for value in column)
        whole = numbers and all(isinstance(value, int) for value in column)
        columns[title] = pyarrow.array([value if value is None or whole or not numbers else float(value) for value in column] if numbers else
                                       [None if value is None else str(value) for value in column])
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def _shard(text: str) -> tuple[int, int]:
    try:
        index, count = map(int, text.split("/"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: expected I/N, 1/8 for the first of eight") from None
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError(f"{text}: expected I/N with I from 1 to N")
    return index - 1, count


def main(words=None) -> int:
    parser = argparse.ArgumentParser(prog="foretrace sweep", description=__doc__.split("\n")[0])
    parser.add_argument("study")
    parser.add_argument("--shard", type=_shard, default=(0, 1), metavar="I/N", help="only every Nth point, into a database of its own")
    parser.add_argument("--merge", type=int, metavar="N", help="bring the databases of N shards together")
    parser.add_argument("--csv", metavar="FILE", help="write the points as CSV")
    parser.add_argument("--parquet", metavar="FILE", help="write the points as Parquet (needs pyarrow)")
    parser.add_argument("--html", metavar="FILE", help="write the page of the study: charts over each key, the best points, all points")
    parser.add_argument("--jobs", type=int, help="predictions at a time (default: one per processor)")
    chosen = parser.parse_args(words)
    terminal = sys.stderr.isatty()
    try:
        study = Study(chosen.study)
        if chosen.html and chosen.shard[1] > 1:
            raise StudyError(f"--html with --shard: a shard has a part of the points; expected --merge {chosen.shard[1]} --html once all are done")
        if chosen.merge:
            merge(study, chosen.merge)
        else:
            run(study, chosen.shard, chosen.jobs, (lambda text: print(f"\r{text}\033[K", end="", file=sys.stderr)) if terminal else lambda text: None)
            if terminal:
                print(file=sys.stderr)
        if chosen.csv:
            write_csv(study, chosen.csv)
        if chosen.parquet:
            write_parquet(study, chosen.parquet)
        if chosen.html:
            write_html(study, chosen.html)
    except (StudyError, _program.ForetraceError, OSError) as error:
        print(f"foretrace: {error}", file=sys.stderr)
        return 2
    return 0
