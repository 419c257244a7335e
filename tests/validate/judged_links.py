"""What docs/collectives.md says of the judged collectives is what the judge finds in the committed files, and in what foretrace predicts today; the
link's numbers are what fit.py fits.

    judged_links.py REPOSITORY FORETRACE
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY, FORETRACE = Path(sys.argv[1]), sys.argv[2]
LINKS = REPOSITORY / "validate" / "links"


def judged(predicted, devices):
    """What the judge says of a prediction: figures by row, and protocols."""
    measured = LINKS / f"h200-sxm-x{devices}-judge.tsv"
    said = subprocess.run([sys.executable, "-B", LINKS / "judge.py", "compare", LINKS / predicted, measured,
                           "--choices", LINKS / f"h200-sxm-x{devices}-judge-choices.tsv"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {name.strip(): figures for name, *figures in
             re.findall(r"^(.+?) +\d+ sizes: mean ([\d.]+%), p90 ([\d.]+%), worst ([\d.]+%), (\d+) within 15%$", said, re.M)}
    return found, re.search(r"protocols: (\d+) of (\d+) as NCCL chose", said)


def today(page):
    """The table of the model as it is: mean and worst of each operation, on two and four devices, from 1 MiB and below."""
    cells = {}
    with tempfile.TemporaryDirectory() as folder:
        for devices in (2, 4):
            predicted = Path(folder) / f"{devices}.tsv"
            subprocess.run([sys.executable, "-B", LINKS / "judge.py", "predict", FORETRACE, predicted, "--devices", str(devices)], check=True)
            for name, (mean, _, worst, _) in judged(predicted, devices)[0].items():
                cells[devices, name.replace(" (fitted)", "")] = f"{mean}, {worst}"
    rows = {"allreduce": "all-reduce (fitted)", "allgather": "all-gather", "reducescatter": "reduce-scatter", "broadcast": "broadcast"}
    for name, row in rows.items():
        line = "| " + " | ".join([row] + [cells[devices, name + below] for devices in (2, 4) for below in ("", " below")]) + " |"
        if line not in page:
            sys.exit(f"docs/collectives.md: no line {line}")
    print(f"{len(rows)} rows of today's model")


def main():
    page = (REPOSITORY / "docs" / "collectives.md").read_text(encoding="utf-8").replace("*", "")
    three = {"allgather": "all-gather", "reducescatter": "reduce-scatter", "broadcast": "broadcast", "judged": "these three, 33 sizes",
             "judged below": "these three, 1 to 512 KiB, 30 sizes"}
    pages = (("h200-sxm-x2-predicted.tsv", 2, {**three, "allreduce (fitted)": "all-reduce again (fitted)"}),
             ("h100-sxm-x4-predicted.tsv", 4, {**three, "allreduce (fitted)": "all-reduce (of four: blind too)",
                                               "allreduce below (fitted)": "all-reduce, 1 to 512 KiB, 10 sizes"}))
    for predicted, devices, rows in pages:
        found, protocols = judged(predicted, devices)
        for name, row in rows.items():
            line = "| " + " | ".join([row, *found[name]]) + " |"
            if line not in page:
                sys.exit(f"docs/collectives.md: no line {line}")
        if protocols is None or f"at all {protocols[1]} sizes" not in page or protocols[1] != protocols[2]:
            sys.exit(f"docs/collectives.md: other protocols of {devices} devices than it says")
        print(f"{devices} devices: {len(rows)} rows and {protocols[1]} protocols as docs/collectives.md says")
    today(page)
    subprocess.run([sys.executable, "-B", LINKS / "fit.py", FORETRACE, "--check"], check=True)


if __name__ == "__main__":
    main()
