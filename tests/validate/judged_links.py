"""What docs/collectives.md says of the judged collectives is what the judge finds in the committed files."""

import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(sys.argv[1])
LINKS = REPOSITORY / "validate" / "links"


def main():
    said = subprocess.run([sys.executable, "-B", LINKS / "judge.py", "compare", LINKS / "h200-sxm-x2-predicted.tsv", LINKS / "h200-sxm-x2-judge.tsv",
                           "--choices", LINKS / "h200-sxm-x2-judge-choices.tsv"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {name.strip(): figures for name, *figures in
             re.findall(r"^(.+?) +\d+ sizes: mean ([\d.]+%), p90 ([\d.]+%), worst ([\d.]+%), (\d+) within 15%$", said, re.M)}
    page = (REPOSITORY / "docs" / "collectives.md").read_text(encoding="utf-8").replace("*", "")
    rows = {"allgather": "all-gather", "reducescatter": "reduce-scatter", "broadcast": "broadcast", "judged": "these three, 33 sizes",
            "judged below": "these three, 1 to 512 KiB, 30 sizes", "allreduce (fitted)": "all-reduce again (fitted)"}
    for name, row in rows.items():
        line = "| " + " | ".join([row, *found[name]]) + " |"
        if line not in page:
            sys.exit(f"docs/collectives.md: no line {line}")
    protocols = re.search(r"protocols: (\d+) of (\d+) as NCCL chose", said)
    if protocols is None or f"at all {protocols[1]} sizes" not in page or protocols[1] != protocols[2]:
        sys.exit("docs/collectives.md: other protocols than it says")
    print(f"{len(rows)} rows and {protocols[1]} protocols as docs/collectives.md says")


if __name__ == "__main__":
    main()
