"""foretrace sweep STUDY.toml: kernels or traces, on chips, with values of keys changed. Resumable, in shards, into SQLite and CSV.

A point is one prediction: a trace, a chip and one combination of --set values. Traces are made once, before the points that need them. Each
point is one transaction under an identity of all that it is made of (_origin.py): what was done when the process was killed is kept, and the next start goes
on with what is missing or was made of something else. docs/studies.md.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import sqlite3
import sys
import tempfile
import time

from foretrace import _command, _program, _results, _sweep_picture
from foretrace._origin import StudyError
from foretrace._points import Points
from foretrace._study import Study


def _record(study: Study, work: str, arch: str) -> pathlib.Path:
    """The trace of a work for a chip's machine code; made where it is not there, whole or not at all."""
    if dict(study.works)[work] is None:
        return study.origins.trace(work)
    file = study.traces / f"{study.origins.recipe(work, arch)[:24]}.trace"
    if file.is_file():
        return file
    study.traces.mkdir(parents=True, exist_ok=True)
    with _command.whole(file) as trace:
        with tempfile.TemporaryDirectory() as folder:
            launch = pathlib.Path(folder) / "launch.toml"
            launch.write_text(study.origins.launch(work).text)
            _program.run(["predict", str(launch), "--arch", arch, "--trace", str(trace), "--accuracy", "exact"])
        study.origins.check_unchanged(work)
    return file


def _predict(trace: pathlib.Path, arch: str, changes: dict):
    words = ["simulate", str(trace), "--arch", arch, "--threads", "1", *(w for key, value in changes.items() for w in ("--set", f"{key}={value}"))]
    return _results.of_process(words)[0]


def _traces(study: Study, missing, pool, say) -> dict:
    """By (work, machine code) the trace that the points need, or the error that there is none for."""
    wanted, found = {}, {}
    for _, work, arch, _ in missing:
        wanted.setdefault((work, study.origins.machine_code(arch)), arch)
    futures = {pool.submit(_record, study, key[0], arch): key for key, arch in wanted.items()}
    for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
        try:
            found[futures[future]] = future.result()
        except _program.ForetraceError as error:
            found[futures[future]] = error
        say(f"trace {number} of {len(wanted)}")
    return found


def run(study: Study, shard: tuple[int, int] = (0, 1), jobs: int | None = None, say=lambda text: None, only=lambda changes: True) -> pathlib.Path:
    """Computes what is missing, of the points whose changes `only` wants; a point that foretrace refuses is recorded as failed, and tried again at the next
    call. A shard of several writes a database of its own, which merge() brings together."""
    index, count = shard
    database = study.database if count == 1 else study.database.with_suffix(f".{index + 1}of{count}.sqlite")
    mine = [point for i, point in enumerate(study.points()) if i % count == index and only(point[3])]
    points = Points(database)
    points.begin(study)
    done = points.done()
    missing = [point for point in mine if point[0] not in done]
    say(f"{len(mine)} points, {len(mine) - len(missing)} of them done")
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        try:
            files, ready = _traces(study, missing, pool, say), []
            for identity, *point in missing:
                trace = files[point[0], study.origins.machine_code(point[1])]
                if isinstance(trace, Exception):
                    points.put(identity, study, point, failed=_command.one_line(trace))
                else:
                    ready.append((identity, point, trace))
            _compute(study, points, ready, pool, say)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    points.close()
    return database


def _compute(study: Study, points: Points, ready, pool, say) -> None:
    begin = time.monotonic()  # what the recording took says nothing of the points
    futures = {pool.submit(_predict, trace, arch, changes): (identity, (work, arch, changes)) for identity, (work, arch, changes), trace in ready}
    for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
        identity, point = futures[future]
        try:
            prediction, failed = future.result(), None
        except _program.ForetraceError as error:
            prediction, failed = None, _command.one_line(error)
        study.origins.check_unchanged(point[0])
        points.put(identity, study, point, prediction, failed)
        left = (time.monotonic() - begin) / number * (len(ready) - number)
        say(f"{number} of {len(ready)}, {left:.0f} s left")


def merge(study: Study, count: int) -> None:
    """Brings the databases of all shards together. Throws StudyError where one lacks a point."""
    target = Points(study.database)
    for index in range(count):
        part = study.database.with_suffix(f".{index + 1}of{count}.sqlite")
        if not part.is_file():
            raise StudyError(f"{part}: this shard's database is not there")
        target.take(Points(part))
    target.begin(study)
    have = target.rows()
    lacking = [point for point in study.points() if point[0] not in have]
    if lacking:
        _, work, arch, changes = lacking[0]
        others = [row["origin"] for row in have.values() if (row["work"], json.loads(row["changes"])) == (work, changes)]
        why = f"; they were made of something else: {_difference(target.origins()[others[-1]], study.origins.of(work, arch))}" if others else ""
        raise StudyError(f"{study.database}: {len(lacking)} points are missing, the first {work} on {arch}{why}")


def _difference(before: dict, now: dict, where: str = "") -> str:
    """What of two origins is not the same, the first of it."""
    for key in now:
        if before.get(key) != now[key]:
            if isinstance(before.get(key), dict) and isinstance(now[key], dict):
                return _difference(before[key], now[key], f"{where}{key}.")
            return f"{where}{key} was {json.dumps(before.get(key))} and is {json.dumps(now[key])}"
    return "another chip"


def _rows(study: Study):
    """(work, chip as the study names it, changes, row) of every point that was tried, in the study's order."""
    points = Points(study.database)
    rows = points.rows()
    points.close()
    return [(work, arch, changes, rows[identity]) for identity, work, arch, changes in study.points() if identity in rows]


def durations(study: Study):
    """(work, changes, nanoseconds) of every point that was done."""
    return [(work, changes, row["duration_ns"]) for work, _, changes, row in _rows(study) if row["failed"] is None]


def results(study: Study) -> list[tuple]:
    """(work, chip as the study names it, changes, cycles, nanoseconds, limiter, version) of every point that was done, in the study's order."""
    return [(work, arch, changes, row["cycles"], row["duration_ns"], row["limiter"], row["foretrace"]) for work, arch, changes, row in _rows(study)
            if row["failed"] is None]


def failures(study: Study) -> list[tuple]:
    """(work, chip as the study names it, changes, message) of every point that failed, in the study's order."""
    return [(work, arch, changes, row["failed"]) for work, arch, changes, row in _rows(study) if row["failed"] is not None]


def write_html(study: Study, path) -> None:
    """The study as one page. Throws StudyError where no point of it is done."""
    done = results(study)
    if not done:
        raise StudyError(f"{study.database}: no point of {study.path} is done; there is nothing to draw")
    _command.write(path, _sweep_picture.page(study, done, failures(study)))


def table(study: Study) -> tuple[list[str], list[list]]:
    """Titles, and a row per point in the study's order: what was asked, cycles, why it failed (nothing where it did not), and every metric."""
    rows = [(work, changes, row, json.loads(row["metrics"] or "{}")) for work, _, changes, row in _rows(study)]
    metrics = list(dict.fromkeys(name for *_, values in rows for name in values))
    found = [[work, row["arch"], *changes.values(), row["cycles"], row["duration_ns"], row["limiter"], row["failed"], *(values.get(name) for name in metrics)]
             for work, changes, row, values in rows]
    return ["work", "arch", *study.sets, "cycles", "duration_ns", "limiter", "failed", *metrics], found


def write_csv(study: Study, path) -> None:
    titles, rows = table(study)
    with _command.whole(path) as whole, open(whole, "w", encoding="utf-8", newline="") as file:
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
        numbers = title not in ("work", "arch", "limiter", "failed") and all(value is None or isinstance(value, (int, float)) for value in column)
        whole = numbers and all(isinstance(value, int) for value in column)
        columns[title] = pyarrow.array([value if value is None or whole or not numbers else float(value) for value in column] if numbers else
                                       [None if value is None else str(value) for value in column])
    with _command.whole(path) as whole:
        pyarrow.parquet.write_table(pyarrow.table(columns), whole)


def _shard(text: str) -> tuple[int, int]:
    try:
        index, count = map(int, text.split("/"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: expected I/N, 1/8 for the first of eight") from None
    if not 1 <= index <= count:
        raise argparse.ArgumentTypeError(f"{text}: expected I/N with I from 1 to N")
    return index - 1, count


EXAMPLES = """examples:
  foretrace sweep study.toml --csv study.csv --html study.html
  foretrace sweep study.toml --shard 1/8
  foretrace sweep study.toml --merge 8 --csv study.csv
"""
CODES = "Exit codes: 0 every point is done, 1 some points failed (they are named), 2 the study cannot be run."


def progress():
    """What shows how far it is: on a terminal alone, in one line that is written over."""
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r{text}\033[K", end="", file=sys.stderr)


def say_failures(path, failed: list[tuple], count: int) -> int:
    """A line for the points that failed; the exit code."""
    if failed:
        work, arch, changes, message = failed[0]
        where = " ".join([f"{work} on {arch}", *(f"{key}={value}" for key, value in changes.items())])
        print(f"foretrace: {path}: {len(failed)} of {count} points failed, the first {where}: {message}", file=sys.stderr)
    return 1 if failed else 0


def _summary(study: Study, database: pathlib.Path, mine: list[tuple], before: set[str]) -> tuple[str, list[tuple]]:
    """The last line, and the points of this call that failed."""
    points = Points(database)
    rows = points.rows()
    points.close()
    failed = [(work, arch, changes, rows[identity]["failed"]) for identity, work, arch, changes in mine if identity in rows and rows[identity]["failed"] is not None]
    there = sum(identity in before for identity, *_ in mine)
    return (f"{study.path}: {len(mine)} points, {len(mine) - there - len(failed)} computed now, {there} there before, {len(failed)} failed; {database}"), failed


def _run(study: Study, chosen) -> tuple[str, list[tuple], int]:
    index, count = chosen.shard
    database = study.database if count == 1 or chosen.merge else study.database.with_suffix(f".{index + 1}of{count}.sqlite")
    mine = [point for i, point in enumerate(study.points()) if chosen.merge or i % count == index]
    if chosen.merge:
        merge(study, chosen.merge)
        before = {identity for identity, *_ in mine}
    else:
        points = Points(database)
        before = points.done()
        points.close()
        run(study, chosen.shard, chosen.jobs, progress())
        if sys.stderr.isatty():
            print(file=sys.stderr)
    return *_summary(study, database, mine, before), len(mine)


def main(words=None) -> int:
    parser = _command.Parser("sweep", f"{__doc__.split(chr(10))[0]} {CODES}", EXAMPLES)
    parser.add_argument("study", metavar="STUDY.toml", help="what is predicted (docs/studies.md)")
    parser.add_argument("--shard", type=_shard, default=(0, 1), metavar="I/N", help="only every Nth point, into a database of its own")
    parser.add_argument("--merge", type=_command.positive, metavar="N", help="bring the databases of N shards together")
    parser.add_argument("--csv", metavar="FILE", help="write the points as CSV")
    parser.add_argument("--parquet", metavar="FILE", help="write the points as Parquet (needs pyarrow)")
    parser.add_argument("--html", metavar="FILE", help="write the page of the study: charts over each key, the best points, all points")
    parser.add_argument("--jobs", type=_command.positive, metavar="N", help="predictions at a time (default: one per processor)")
    chosen = parser.chosen(words)
    try:
        _command.check_writable(chosen.csv, chosen.parquet, chosen.html, read=chosen.study)
        study = Study(chosen.study)
        if chosen.merge and chosen.shard[1] > 1:
            raise StudyError("--merge with --shard: expected one of the two")
        if chosen.merge and chosen.jobs:
            raise StudyError("--jobs with --merge: nothing is predicted; expected one of the two")
        if chosen.html and chosen.shard[1] > 1:
            raise StudyError(f"--html with --shard: a shard has a part of the points; expected --merge {chosen.shard[1]} --html once all are done")
        summary, failed, count = _run(study, chosen)
        for write, path in ((write_csv, chosen.csv), (write_parquet, chosen.parquet), (write_html, chosen.html)):
            if path:
                write(study, path)
    except (StudyError, _program.ForetraceError, OSError, sqlite3.Error) as error:
        print(f"foretrace: {_command.one_line(error)}", file=sys.stderr)
        return 2
    print(summary)
    return say_failures(study.path, failed, count)
