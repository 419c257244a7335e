"""Runs a study that is killed twice, and holds what came of it against points that were computed without.

    python3 docs/studies/killed_twice.py STUDY.toml [--check I/N] [--jobs N]

Starts `foretrace sweep`, kills it and all that it started with SIGKILL when a third and when two thirds of the points are done, lets it finish,
and computes the points of shard I/N (default 1/1: all) anew in a study of their own, CHECK-STUDY.toml beside it. Prints the points, how long each
part took and whether the two agree in every metric; exit code 1 where they do not. The study must not have been started before.
"""

import contextlib
import csv
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import sys
import time
import tomllib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import usable  # noqa: E402


def points(database: pathlib.Path, mode: str = "ro") -> int:
    """How many are done; 0 also where the study is writing just now. What a killed writer left half done is undone in mode rw alone."""
    try:
        connection = sqlite3.connect(f"file:{database}?mode={mode}", uri=True, timeout=0)
        with contextlib.closing(connection):
            return connection.execute("SELECT COUNT(*) FROM points").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def sweep(*words) -> list[str]:
    return [sys.executable, "-B", "-m", "foretrace", "sweep", *map(str, words)]


def kill_at(enough: int, database: pathlib.Path, words: list[str]) -> None:
    process = subprocess.Popen(words, start_new_session=True)
    while points(database) < enough and process.poll() is None:
        time.sleep(0.002)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    if process.wait() != -signal.SIGKILL:
        sys.exit(f"the study ended with {process.returncode} before it could be killed at {enough} points")


def rows(file: pathlib.Path) -> list[dict]:
    with open(file, newline="") as table:
        return list(csv.DictReader(table))


def main() -> int:
    parser = usable.Parser(description=__doc__.split("\n")[0])
    parser.add_argument("study", type=pathlib.Path)
    parser.add_argument("--check", default="1/1", metavar="I/N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    chosen = parser.parse_args()
    text = chosen.study.read_text()
    database = chosen.study.parent / tomllib.loads(text).get("database", chosen.study.with_suffix(".sqlite").name)
    if database.exists():
        sys.exit(f"{database} is there: the study was started before")
    import foretrace.sweep  # the package, which PYTHONPATH or pip brings
    every = len(list(foretrace.sweep.Study(chosen.study).points()))

    begin = time.monotonic()
    command = sweep(chosen.study, "--jobs", chosen.jobs)
    for third in (1, 2):
        kill_at(every * third // 3, database, command)
        print(f"killed at {points(database, 'rw')} of {every} points, {time.monotonic() - begin:.0f} s", flush=True)
    left = every - points(database, "rw")
    if left == 0:
        sys.exit("the study was done before it could be killed")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    killed = chosen.study.with_suffix(".csv")
    subprocess.run([*command, "--csv", killed], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{every} points in {time.monotonic() - begin:.0f} s; the last {left} took {cpu:.0f} s of CPU time, {cpu / left:.2f} a point", flush=True)

    check = chosen.study.with_name("check-" + chosen.study.name)
    check.write_text("\n".join(line for line in text.split("\n") if not line.startswith("database")))
    shard = int(chosen.check.split("/")[0]) - 1, int(chosen.check.split("/")[1])
    study = foretrace.sweep.Study(check)
    study.database = foretrace.sweep.run(study, shard, chosen.jobs)
    foretrace.sweep.write_csv(study, check.with_suffix(".csv"))
    again, whole = rows(check.with_suffix(".csv")), rows(killed)
    differ = [row for i, row in enumerate(whole) if i % shard[1] == shard[0] and row != again[i // shard[1]]]
    print(f"{len(again)} points computed again, {len(differ)} of them differ", flush=True)
    return 0 if len(whole) == every and not differ else 1


if __name__ == "__main__":
    sys.exit(main())
