"""What validate/tensor/README.md says of the launches is what the judge finds in the committed tables; shares of chips of any size."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(sys.argv[1])
TENSOR = REPOSITORY / "validate" / "tensor"
FIRST, SECOND = TENSOR / "h100-sxm-2026-11-23.tsv", TENSOR / "h100-sxm-2026-11-27.tsv"


def compared(predicted, measured, judged):
    """(mean, median, p90, worst, near, of) of the judged launches and of the others."""
    said = subprocess.run([sys.executable, "-B", TENSOR / "judge.py", "compare", TENSOR / predicted, measured, "--judged", judged],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for name, *figures in re.findall(r"^(\w+): \d+ launches, mean ([\d.]+)%, median ([\d.]+)%, p90 ([\d.]+)%, worst ([\d.]+)%$", said, re.M):
        near, of = re.search(rf"^{name}: tensor pipe within 3 points on (\d+) of (\d+)$", said, re.M).groups()
        found[name] = (*figures, near, of)
    return found


def row(launches, figures, near):
    """A row of the page, which rounds the worst and may say which launch it was."""
    mean, median, p90, worst, found, of = figures
    worst = rf"(?:{re.escape(worst)}|{round(float(worst))})"
    cells = [rf"\| {launches}", re.escape(f"{mean}%"), re.escape(f"{median}%"), re.escape(f"{p90}%"), rf"{worst}%[^|]*?"]
    return r" \| ".join(cells + ([f"{found} of {of}"] if near else [])) + r" \|$"


def main():
    page = (TENSOR / "README.md").read_text(encoding="utf-8")
    first = compared("predicted-2026-11-23.tsv", FIRST, "26-40")
    again = compared("repredicted-2026-11-27.tsv", FIRST, "26-40")
    rows = [row("1 to 25", first["others"], True), row("26 to 40", first["judged"], True),
            row("41 to 58, blind", compared("predicted-2026-11-27.tsv", SECOND, "41-58")["judged"], True),
            row("1 to 25", again["others"], False), row("26 to 40", again["judged"], False),
            row("41 to 58", compared("repredicted-2026-11-27.tsv", SECOND, "41-58")["judged"], False)]
    for wanted in rows:
        if not re.search(wanted, page, re.M):
            sys.exit(f"validate/tensor/README.md: no row {wanted}")

    # A pipe that is busy half of the time on all sub-cores of a chip of ten SMs.
    judge = runpy.run_path(str(TENSOR / "judge.py"))
    metrics = {judge["TENSOR_SUM"]: 0.5 * 4 * 10 * 1000, judge["ELAPSED"]: 1000, "launch__sm_count": 10}
    if judge["metric"]({"metrics": metrics}, judge["TENSOR"]) != 50:
        sys.exit("judge.py: the tensor pipe's share is not that of the chip's SMs")
    print(f"{len(rows)} rows as validate/tensor/README.md says")


if __name__ == "__main__":
    main()
