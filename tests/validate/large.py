#!/usr/bin/env python3
"""Large launches, sampled as a user would get them, beside the cycles that they had: a change that moves one by more than 2% fails.

    tests/validate/large.py FORETRACE [--update REASON]

tests/validate/large/golden.json holds a row per launch. Where a change moves cycles for a good reason, --update writes the rows that moved
anew, with the reason in each (scripts/update_errors --large REASON does the same).
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts"))
import usable  # noqa: E402
GOLDEN = ROOT / "tests" / "validate" / "large" / "golden.json"
FILES = ["tests/validate/large/sgemm_naive.toml", "validate/large/sgemm_naive.toml", "validate/large/sgemm_tiled.toml"]
ARCH = "h100-sxm"
CYCLES = "gpc__cycles_elapsed.max"
MOST = 0.02  # a launch may move by


def predictions(binary):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for file in FILES:
            out = pathlib.Path(folder) / "result.json"
            subprocess.run([binary, "predict", ROOT / file, "--arch", ARCH, "--json", out], check=True, stdout=subprocess.DEVNULL)
            for row in json.loads(out.read_text())["predictions"]:
                found[row["launch"]] = {"cycles": row["metrics"][CYCLES], "sampled": row["accuracy"]["sampled"]}
    return found


def main():
    parser = usable.Parser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("binary")
    parser.add_argument("--update", metavar="REASON", default="")
    chosen = parser.parse_args()
    now = predictions(chosen.binary)
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {"arch": ARCH, "launches": {}}
    rows, wrong = golden["launches"], []
    for name, row in now.items():
        old = rows.get(name)
        if old is None:
            wrong.append(f"{name}: {row['cycles']:,.0f} cycles; the table has no row for it")
        elif abs(row["cycles"] / old["cycles"] - 1) > MOST:
            wrong.append(f"{name}: {row['cycles']:,.0f} cycles; expected {old['cycles']:,.0f} within {100 * MOST:.0f}% ({old['reason']})")
        elif row["sampled"] != old["sampled"]:
            wrong.append(f"{name}: {'sampled' if row['sampled'] else 'exact'}; expected it {'sampled' if old['sampled'] else 'exact'}")
        else:
            continue
        if chosen.update:
            rows[name] = row | {"reason": chosen.update}
    wrong += [f"{name}: not predicted any more" for name in rows if name not in now]
    if chosen.update:
        golden["launches"] = {name: rows[name] for name in sorted(rows) if name in now}
        GOLDEN.write_text(json.dumps(golden, indent=1) + "\n")
        print("\n".join(wrong) or "nothing moved")
        return
    if wrong:
        sys.exit("\n".join(wrong) + "\nIf this is meant: scripts/update_errors --large 'the reason'")


if __name__ == "__main__":
    main()
