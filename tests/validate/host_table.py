"""The frozen table of points: what is read of a time line, how the judge counts, and that docs/time_line.md shows what it finds in the committed files."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(sys.argv[1])
HOST = REPOSITORY / "validate" / "host"
sys.path.insert(0, str(HOST))
sys.dont_write_bytecode = True
import judge  # noqa: E402
import table  # noqa: E402


def judged(*arguments):
    return subprocess.run([sys.executable, "-B", HOST / "judge.py", "table", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def expect(what, said, wanted):
    if said != wanted:
        sys.exit(f"{what}: {said!r}, expected {wanted!r}")


def slices(name, category, ts, dur, **arguments):
    return {"ph": "X", "name": name, "cat": category, "ts": ts, "dur": dur, "pid": 0, "tid": 0, "args": arguments}


def of_a_time_line(folder):
    """Two kernels of 3 us with 0.5 us between, behind the blocker, asked for within 8 us; the kernel alone takes 2 us with nothing to do."""
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": [
        slices("p short kernel/work", "range", 0, 10), slices("work", "kernel", 1, 4), slices("work", "kernel", 6, 2),
        slices("p gap/two", "range", 20, 30), slices("c gap/two", "range", 21, 8),
        slices("block", "kernel", 22, 10), slices("work", "kernel", 32, 3), slices("work", "kernel", 35.5, 3),
        slices("p copy/one", "range", 60, 20), slices("copy to the device", "work", 61, 5), {**slices("copy to the device", "work", 61, 5), "pid": 1}]}), encoding="utf-8")
    line = table.TimeLine(path)
    for method, wanted in (("events", 7.0), ("call", 4.0), ("stamps", 2.5), ("cupti gap", 0.5), ("cupti time", 3.0), ("cupti span", 3.25)):
        expect(method, table.value_of(line, "gap/two", method, 7.0, 2.0, "work"), wanted)
    expect("a copy, which its engine shows too", table.value_of(line, "copy/one", "cupti time", 0.0, 1.0, ""), 5)


def of_the_judge(folder):
    predicted, measured = folder / "predicted.tsv", folder / "measured.tsv"
    rows = ["gap\ta\tstamps\tus\t1.15", "gap\tb\tstamps\tus\t13", "copy\tc\tcall\tus\t109", "copy\td\tcall\tus\t89", "small copy\te\tcall\tus\t50"]
    truth = ["gap\ta\tstamps\tus\t1.0\t1\t1\t200", "gap\tb\tstamps\tus\t10\t9\t11\t200", "copy\tc\tcall\tus\t100\t99\t101\t200",
             "copy\td\tcall\tus\t100\t99\t101\t200", "small copy\te\tcall\tus\t100\t99\t101\t200"]
    predicted.write_text("# made\n" + "\n".join(rows) + "\n", encoding="utf-8")
    measured.write_text("\n".join(truth) + "\n", encoding="utf-8")
    said = judged(predicted, measured)
    expect("status", said.returncode, 0)
    for line in ("| gap | stamps | 2 | 22.5% | 30.0% | 30.0% | 1 of 2 |", "| copy | call | 2 | 10.0% | 11.0% | 11.0% | 1 of 2 |",
                 "| small copy | call | 1 | 50.0% | 50.0% | 50.0% | - |", "5 points; within the aim 2 of the 4 that have one (50%)."):
        if line not in said.stdout.splitlines():
            sys.exit(f"judge.py table: no line {line} in\n{said.stdout}")
    page = folder / "page.md"
    page.write_text(f"before\n{judge.BEGIN}\nold\n{judge.END}\nafter\n", encoding="utf-8")
    judged(predicted, measured, "--into", page)
    expect("the page", page.read_text(encoding="utf-8"), f"before\n{judge.BEGIN}\n{said.stdout}{judge.END}\nafter\n")
    for lacking, others in ((measured, truth), (predicted, rows)):
        whole = lacking.read_text(encoding="utf-8")
        lacking.write_text("\n".join(others[:-1]) + "\n", encoding="utf-8")
        said = judged(predicted, measured)
        if said.returncode == 0 or f"{lacking} lacks small copy, e, call" not in said.stderr:
            sys.exit(f"judge.py table without a row of {lacking}: status {said.returncode}, {said.stderr}")
        lacking.write_text(whole, encoding="utf-8")


def of_the_page():
    frozen = judge.points(HOST / "h100-sxm-table-predicted-2026-11-28.tsv")
    predicted, measured = HOST / "h100-sxm-table-predicted-copies-once.tsv", HOST / "h100-sxm-table.tsv"
    for key, value in judge.points(predicted).items():
        if value != frozen[key] and not (key[2].startswith("cupti") and ("KiB" in key[1] or "MiB" in key[1])):
            sys.exit(f"{predicted}: {', '.join(key)} is not what was committed before measuring")
    page = (REPOSITORY / "docs" / "time_line.md").read_text(encoding="utf-8")
    shown = page.split(judge.BEGIN + "\n")[1].split(judge.END)[0]
    said = judged(predicted, measured)
    if said.returncode != 0:
        sys.exit(said.stderr)
    expect("docs/time_line.md", shown, said.stdout)
    before = judged(HOST / "h100-sxm-table-predicted-2026-11-28.tsv", measured).stdout
    if "As committed, 120 points of 296 are within the aim" not in page or "within the aim 120 of the 296" not in before:
        sys.exit(f"docs/time_line.md: as committed: {before.splitlines()[-1]}")
    return said.stdout.splitlines()[-1]


def main():
    with tempfile.TemporaryDirectory() as folder:
        of_a_time_line(Path(folder))
        of_the_judge(Path(folder))
    print(of_the_page())


if __name__ == "__main__":
    main()
