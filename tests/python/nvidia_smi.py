"""The nvidia-smi that programs under `foretrace run` find: nvidia_smi.py FORETRACE REPOSITORY."""

import os
import pathlib
import re
import subprocess
import sys

FORETRACE, REPOSITORY = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*words, chips="h100,h100"):
    environment = {**os.environ, "FORETRACE_CONFIGS": str(REPOSITORY / "configs")}
    return subprocess.run([FORETRACE, "run", "--devices", chips, "--quiet", "--", *words], env=environment, capture_output=True, text=True)


def answer(*words, **options):
    ran = run("nvidia-smi", *words, **options)
    assert (ran.returncode, ran.stderr) == (0, ""), (words, ran)
    return ran.stdout.splitlines()


def refusal(*words):
    ran = run("nvidia-smi", *words)
    assert ran.returncode == 2 and ran.stdout == "" and len(ran.stderr.splitlines()) == 1, (words, ran)
    return ran.stderr


def main():
    listed = answer("-L")
    assert len(listed) == 2 and listed[1].startswith("GPU 1: NVIDIA H100 SXM5 80 GB (UUID: GPU-") and listed[0] != listed[1], listed
    # A program that runs it finds ours, whatever stands in PATH.
    ran = run("sh", "-c", "PATH=$PATH:/nowhere; nvidia-smi --list-gpus")
    assert ran.stdout.splitlines() == listed, ran

    query = "--query-gpu=index, memory.total,compute_cap,power.draw,memory.used,clocks.sm"
    assert answer(query, "--format=csv") == [
        "index, memory.total [MiB], compute_cap, power.draw [W], memory.used [MiB], clocks.sm [MHz]",
        "0, 81920 MiB, 9.0, [N/A], 0 MiB, 1980 MHz",
        "1, 81920 MiB, 9.0, [N/A], 0 MiB, 1980 MHz"]
    assert answer(query, "--format", "csv,noheader,nounits", "-i", "1") == ["1, 81920, 9.0, [N/A], 0, 1980"]
    assert answer("--query-gpu=compute_cap", "--format=csv,noheader", chips="a100") == ["8.0"]
    uuid = listed[1].split("UUID: ")[1].rstrip(")")
    assert answer("--query-gpu=gpu_uuid,pci.bus_id", "--format=csv,noheader", f"--id={uuid}") == [f"{uuid}, 00000000:01:00.0"]
    assert answer("--query-compute-apps=pid,used_memory", "--format=csv,noheader") == []
    assert re.fullmatch(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}", answer("--query-gpu=timestamp", "--format=csv,noheader", chips="a100")[0])
    table = answer()
    assert "CUDA Version: 13.0" in table[0] and len(table) == 3 and table[2].endswith("0MiB / 81920MiB"), table

    assert 'Field "speed" is not a valid field to query.' in refusal("--query-gpu=name,speed", "--format=csv")
    assert "a query takes --format=csv" in refusal("--query-gpu=name")
    assert "a query takes --format=csv" in refusal("--query-gpu=name", "--format=xml")
    assert "-i 7: no such GPU" in refusal("-L", "-i", "7")
    assert "too many positional options" in refusal("dmon")
    assert answer("--help")[0] == "nvidia-smi of Foretrace:"
    assert "--query-gp" in refusal("--query-gp=name")


main()
