"""Programs that judge a time line: predicted times beside measured ones.

    judge.py predict FORETRACE OUT.tsv [--source judge2.cu] [--nvcc NVCC] [--arch h100] [--host xeon-h100]   builds the programs and runs them
                                                                                        under foretrace run
    judge.py compare PREDICTED.tsv MEASURED.tsv                                          a row per program: both times and the error
    judge.py table PREDICTED.tsv MEASURED.tsv [--rows] [--into docs/time_line.md]        of table.py's points: errors by kind, and how many are
                                                                                        within the aim; a point that one of both lacks is an error
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(FOLDER, "../../scripts"))
import usable  # noqa: E402



def predict(options):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "judge")
        subprocess.run([options.nvcc, f"-arch={options.machine}", "-cudart", "shared", "-o", program, os.path.join(FOLDER, options.source)], check=True)
        done = subprocess.run([options.foretrace, "run", "--arch", options.arch, "--host", options.host, "--quiet", "--", program],
                              stdout=subprocess.PIPE, text=True, check=True)
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(done.stdout)
    sys.stdout.write(done.stdout)


def read(path):
    return dict(usable.table(path, program=str, microseconds=float))


def compare(options):
    predicted, measured = read(options.predicted), read(options.measured)
    errors = []
    print(f"{'program':<32} {'predicted us':>14} {'measured us':>14} {'error':>8}")
    for name, truth in measured.items():
        if name not in predicted:
            print(f"{name:<32} {'-':>14} {truth:>14.2f}")
            continue
        error = predicted[name] / truth - 1
        errors.append(abs(error))
        print(f"{name:<32} {predicted[name]:>14.2f} {truth:>14.2f} {100 * error:>+7.1f}%")
    if not errors:
        raise usable.Unusable(f"{options.predicted} and {options.measured}: no program is in both")
    print(f"{len(errors)} programs: mean error {100 * statistics.mean(errors):.1f}%, worst {100 * max(errors):.1f}%")


# What counts as near enough: a share of the measured time, or so many us; None: no aim.
GAPS = (0.15, 0.2)
AIMS = {"gap": GAPS, "idle start": GAPS, "dependent": GAPS, "graph": GAPS, "call": GAPS, "short kernel": GAPS, "small copy": None, "copy": (0.10, 0.0),
        "overlap": (0.08, 0.0), "side by side": (0.12, 0.0)}
BEGIN, END = "<!-- judge.py table -->", "<!-- end of judge.py table -->"


def points(path):
    rows = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = line.rstrip("\n").split("\t")
            if len(cells) < 5 or cells[3] != "us" or cells[0] not in AIMS:
                sys.exit(f"judge.py: {path}:{number}: expected a kind ({', '.join(AIMS)}), a point, a method, us and a time")
            if tuple(cells[:3]) in rows:
                sys.exit(f"judge.py: {path}:{number}: {cells[0]}, {cells[1]}, {cells[2]} is there twice")
            try:
                rows[tuple(cells[:3])] = float(cells[4])
            except ValueError:
                sys.exit(f"judge.py: {path}:{number}: the time is {cells[4]!r}, expected a number of us")
    return rows


def within(kind, predicted, measured):
    share, us = AIMS[kind]
    return abs(predicted - measured) <= max(share * abs(measured), us)


def errors_of(rows, kind, method):
    """Of a kind's points as one method measured them: the line of the table."""
    differences = sorted(abs(p - m) if method == "cupti gap" else 100 * abs(p / m - 1) for p, m in rows)
    unit, digits = (" us", 2) if method == "cupti gap" else ("%", 1)
    said = [statistics.mean(differences), differences[min(len(differences) - 1, int(0.9 * len(differences)))], differences[-1]]
    near = "-" if AIMS[kind] is None else f"{sum(within(kind, p, m) for p, m in rows)} of {len(rows)}"
    return [kind, method, str(len(rows)), *(f"{x:.{digits}f}{unit}" for x in said), near]


def table(options):
    predicted, measured = points(options.predicted), points(options.measured)
    lacking = [f"{path} lacks {', '.join(key)}" for path, these, those in ((options.measured, predicted, measured), (options.predicted, measured, predicted))
               for key in these if key not in those]
    if lacking:
        sys.exit("judge.py: " + "\njudge.py: ".join(lacking))
    groups = {}
    for key, value in predicted.items():
        if measured[key] == 0 and key[2] != "cupti gap":
            sys.exit(f"judge.py: {options.measured}: {', '.join(key)} took no time")
        groups.setdefault((key[0], key[2]), []).append((value, measured[key]))
        if options.rows:
            print(f"{key[0]:<13} {key[2]:<11} {value:>12.3f} {measured[key]:>12.3f} {'' if AIMS[key[0]] is None or within(key[0], value, measured[key]) else 'off':<4} {key[1]}")
    lines = ["| kind | method | points | mean error | p90 | worst | within the aim |", "|---|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(errors_of(groups[kind, method], kind, method)) + " |"
              for kind, method in sorted(groups, key=lambda group: (list(AIMS).index(group[0]), group[1]))]
    aimed = [within(kind, *pair) for (kind, _), pairs in groups.items() if AIMS[kind] is not None for pair in pairs]
    if not aimed:
        sys.exit("judge.py: no point with an aim is in both files")
    lines.append(f"\n{len(predicted)} points; within the aim {sum(aimed)} of the {len(aimed)} that have one ({100 * sum(aimed) / len(aimed):.0f}%).")
    text = "\n".join(lines)
    print(text)
    if options.into:
        with open(options.into, encoding="utf-8") as file:
            page = file.read()
        if page.count(BEGIN) != 1 or page.count(END) != 1:
            sys.exit(f"judge.py: {options.into}: expected the lines {BEGIN} and {END}, between which the table goes")
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        with open(options.into, "w", encoding="utf-8") as file:
            file.write(f"{head}{BEGIN}\n{text}\n{END}{tail}")


def main():
    parser = usable.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("predict")
    make.add_argument("foretrace")
    make.add_argument("out")
    make.add_argument("--source", default="judge.cu")
    make.add_argument("--nvcc", default="nvcc")
    make.add_argument("--machine", default="sm_90")
    make.add_argument("--arch", default="h100")
    make.add_argument("--host", default="xeon-h100")
    make.set_defaults(run=predict)
    both = commands.add_parser("compare")
    both.add_argument("predicted")
    both.add_argument("measured")
    both.set_defaults(run=compare)
    frozen = commands.add_parser("table")
    frozen.add_argument("predicted")
    frozen.add_argument("measured")
    frozen.add_argument("--rows", action="store_true")
    frozen.add_argument("--into")
    frozen.set_defaults(run=table)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    with usable.told():
        main()
