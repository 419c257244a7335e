"""A study through Slurm: slurm.py FORETRACE REPOSITORY FOLDER [STUDY.toml].

Starts Debian's slurmctld and slurmd on this machine, in a folder of their own, submits the job array of docs/studies.md, merges the shards,
and holds the CSV against that of the study in one process. Where scripts/setup noted that there is no Slurm to be had: skipped (77).
With STUDY.toml it is that study, in its own folder, of one part per processor; STUDY.csv is the result of one process, made before:
`foretrace sweep STUDY.toml --csv STUDY.csv`, the database then out of the way (docs/studies.md).
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

FORETRACE, REPOSITORY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "sinfo", "squeue")
CONFIGURATION = """ClusterName=foretrace
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=30
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
STUDY = """arch = ["h100", "a100-sxm-80gb"]
trace = ["sgemm.trace", "transpose.trace"]
[set]
"sm.count" = [64, 108]
"l2.latency" = [100, 150]
"""
BATCH = """#!/bin/bash
#SBATCH --array=1-{parts}
#SBATCH --ntasks=1
#SBATCH --output={folder}/%A_%a.out
export FORETRACE={foretrace} PYTHONPATH={repository}/python
{python} -B -m foretrace sweep {study} --jobs 1 --shard $SLURM_ARRAY_TASK_ID/{parts}
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Cluster:
    """slurmctld and slurmd of one node, this machine."""

    def __init__(self, folder: pathlib.Path):
        self.folder, self.processes = folder, []
        host = socket.gethostname().split(".")[0]
        for part in ("state", "spool"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(host=host, controller=free_port(), daemon=free_port(), user=user, folder=folder,
                                                           processors=os.cpu_count()))
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}

    def __enter__(self):
        for words in (["slurmctld", "-D", "-c", "-f", self.configuration], ["slurmd", "-D", "-c", "-f", self.configuration]):
            log = open(self.folder / f"{words[0]}.out", "w")
            self.processes.append(subprocess.Popen(list(map(str, words)), stdout=log, stderr=log, env=self.environment, start_new_session=True))
        self.wait_for(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T", check=False), "the node to be idle")
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()

    def run(self, *words, check=True) -> str:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=self.environment)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def wait_for(self, reached, what: str, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while not reached():
            if time.monotonic() > end:
                logs = "".join(f"\n== {log.name}\n{log.read_text()[-2000:]}" for log in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")))
                raise AssertionError(f"waited {seconds:.0f} s for {what}{logs}")
            time.sleep(0.3)


def sweep(study: pathlib.Path, *words) -> None:
    environment = {**os.environ, "FORETRACE": FORETRACE, "PYTHONPATH": str(REPOSITORY / "python")}
    subprocess.run([sys.executable, "-B", "-m", "foretrace", "sweep", str(study), *map(str, words)], check=True, env=environment)


def made_up() -> tuple[pathlib.Path, pathlib.Path]:
    """A small study and its result in one process."""
    for name, file in (("sgemm", "sgemm_tiled_sm_90"), ("transpose", "transpose_tile_32_sm_90")):
        shutil.copy(REPOSITORY / f"tests/data/{file}.trace", FOLDER / f"{name}.trace")
    study, whole = FOLDER / "study.toml", FOLDER / "whole.toml"
    for file in (study, whole):
        file.write_text(STUDY.replace(', "a100-sxm-80gb"', ', "h200"'))
    sweep(whole, "--csv", whole.with_suffix(".csv"))
    return study, whole.with_suffix(".csv")


def main(words: list[str]) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    given = pathlib.Path(words[0]).resolve() if words else None
    study, whole = (given, given.with_suffix(".csv")) if given else made_up()
    if not whole.is_file() or study.with_suffix(".sqlite").exists():
        sys.exit(f"{whole} is what the study is held against, and {study.with_suffix('.sqlite')} what it must not be taken from: see docs/studies.md")
    parts, begin = os.cpu_count() if given else 3, time.monotonic()
    batch = FOLDER / "study.sh"
    batch.write_text(BATCH.format(folder=FOLDER.resolve(), foretrace=pathlib.Path(FORETRACE).resolve(), repository=REPOSITORY.resolve(), python=sys.executable, study=study, parts=parts))
    with Cluster(FOLDER.resolve() / "slurm") as cluster:
        job = cluster.run("sbatch", "--parsable", batch).strip()
        cluster.wait_for(lambda: cluster.run("squeue", "-h", "-j", job, check=False).strip() == "", "the job array to end", 7200 if given else 120)
    merged = FOLDER / "merged.csv"
    sweep(study, "--merge", parts, "--csv", merged)
    if whole.read_bytes() != merged.read_bytes():
        raise AssertionError("the study through Slurm has another result than in one process")
    print(f"{len(merged.read_text().splitlines()) - 1} points through Slurm in {time.monotonic() - begin:.0f} s, {parts} parts: the same as in one process")


if __name__ == "__main__":
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    without = REPOSITORY / "build/setup.without"
    if missing and os.environ.get("FORETRACE_REQUIRE_ALL") != "1" and without.exists() and "slurm" in without.read_text():
        print(f"no {missing[0]} to be had here: skipped")
        sys.exit(77)
    if missing:
        sys.exit(f"no {missing[0]} here; scripts/setup installs it")
    main(sys.argv[4:])
