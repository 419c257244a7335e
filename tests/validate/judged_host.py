"""What docs/time_line.md says of the judged programs is what the judge finds in the committed files."""

import re
import subprocess
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

REPOSITORY = Path(sys.argv[1])
HOST = REPOSITORY / "validate" / "host"


def compare(predicted, measured):
    said = subprocess.run([sys.executable, "-B", HOST / "judge.py", "compare", HOST / predicted, HOST / measured], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    rows = re.findall(r"^(\w+) +([\d.]+) +([\d.]+) +([+-][\d.]+%)$", said, re.M)
    last = re.search(r"(\d+) programs: mean error ([\d.]+%), worst ([\d.]+%)", said)
    if last is None or int(last[1]) != len(rows):
        sys.exit(f"judge.py compare {predicted} {measured}: no result")
    return rows, last[2], last[3]


def rounded(number, digits):
    return Decimal(number).quantize(Decimal(10) ** -digits, ROUND_HALF_UP)


def main():
    page = (REPOSITORY / "docs" / "time_line.md").read_text(encoding="utf-8")
    for predicted, measured, digits in (("h100-sxm-judge-predicted.tsv", "h100-sxm-judge.tsv", 1), ("h100-sxm-judge2-predicted.tsv", "h100-sxm-judge2.tsv", 2)):
        rows, mean, worst = compare(predicted, measured)
        for name, one, other, error in rows:
            line = f"| {name} | {rounded(one, digits)} | {rounded(other, digits)} | {error} |"
            if line not in page:
                sys.exit(f"docs/time_line.md: no line {line}")
        if not re.search(rf"Mean {mean}[^\n]* worst {worst}", page):
            sys.exit(f"docs/time_line.md: {measured}: mean {mean}, worst {worst} are not there")
        print(f"{measured}: {len(rows)} rows, mean {mean}, worst {worst} as docs/time_line.md says")


if __name__ == "__main__":
    main()
