"""Predictions of the tensor programs' launches, and how far they are off what a device answered.

    python3 validate/tensor/judge.py predict LAUNCHES.txt OUT.tsv --foretrace build/bin/foretrace [--measured MEASURED.tsv] [--only 1,5-9]
    python3 validate/tensor/judge.py collect LAUNCHES.txt FOLDER MEASURED.tsv --title "NVIDIA H100 80GB HBM3, driver ..."
    python3 validate/tensor/judge.py compare PREDICTED.tsv MEASURED.tsv [--judged 26-40]

`predict` builds the programs that the list names (nvcc, sm_90a) and predicts each launch with cold caches: at the chip's boost clock, or,
with --measured, at the SM and L2 clocks that ncu gave for it. `collect` makes a table of what `ncu --csv --page raw --print-units base
--clock-control none --cache-control all` printed for each (FOLDER/NUMBER.csv), of the launch with most tensor work. `compare` prints elapsed cycles, active cycles and the tensor pipe's share of
either, and their errors over the launches in --judged and over the others.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "scripts"))
import usable  # noqa: E402
ELAPSED, ACTIVE = "gpc__cycles_elapsed.max", "sm__cycles_active.avg"
TENSOR = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
SM_CLOCK, L2_CLOCK = "gpc__cycles_elapsed.avg.per_second", "lts__cycles_elapsed.avg.per_second"
TENSOR_SUM, SUB_CORES = "sm__pipe_tensor_cycles_active.sum", 4    # of an SM
WRITTEN = [ELAPSED, ACTIVE, "gpu__time_duration.sum", TENSOR, "smsp__inst_executed.sum", "lts__t_sectors_srcunit_tex_op_read.sum",
           "dram__bytes_read.sum"]


def numbers(text):
    """'1,5-9' -> {1, 5, 6, 7, 8, 9}."""
    chosen = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        chosen.update(range(int(first), int(last or first) + 1))
    return chosen


def listed(path):
    """The launches of a list: (number, program, words)."""
    rows = [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [(int(row[0]), row[1], row[2:]) for row in rows]


def table(path):
    """A table of validate/tensor by launch number: a dictionary of its columns each."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    head = lines[0].split("\t")
    return {int(row[0]): dict(zip(head, row)) for row in (line.split("\t") for line in lines[1:])}


def metric(prediction, name):
    """A metric of a result document's prediction; ncu's name of the tensor pipe's share is not one of the document's."""
    metrics = prediction["metrics"]
    if name == TENSOR:
        return 100 * metrics[TENSOR_SUM] / (SUB_CORES * metrics["launch__sm_count"] * metrics[ELAPSED])
    return metrics[name]


def predict(options):
    measured = table(options.measured) if options.measured else {}
    chosen = numbers(options.only) if options.only else None
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number, program, words in listed(options.launches):
            if chosen is not None and number not in chosen:
                continue
            binary = pathlib.Path(folder) / program
            if not binary.exists():
                subprocess.run([options.nvcc, "-std=c++17", "-cudart", "shared", "-gencode", "arch=compute_90a,code=sm_90a", "-o", binary,
                                HERE / f"{program}.cu"], check=True)
            clock = []
            if number in measured:
                sm, l2 = (float(measured[number][name]) / 1e6 for name in (SM_CLOCK, L2_CLOCK))
                clock = ["--clock", f"sm={sm:.0f},l2={l2:.0f}"]
            result = pathlib.Path(folder) / "result.json"
            subprocess.run([options.foretrace, "run", "--arch", options.arch, "--cold", "--simulate", "all", "--accuracy", options.accuracy,
                            "--quiet", "--json", result, *clock, *options.options, "--", binary, *words], check=True,
                           stdout=subprocess.DEVNULL)
            prediction = max(json.loads(result.read_text())["predictions"], key=lambda p: metric(p, TENSOR))
            rows.append([str(number), " ".join([program, *words]), *(f"{metric(prediction, name):.10g}" for name in WRITTEN)])
            print("\t".join(rows[-1]), file=sys.stderr, flush=True)
    head = [f"# {options.arch}, cold caches, " + ("at the SM and L2 clocks that ncu gave for each launch" if measured else "boost clock")
            + f"; {options.launches.name}", "\t".join(["number", "launch", *WRITTEN])]
    options.out.write_text("\n".join(head + ["\t".join(row) for row in rows]) + "\n")


def ncu_rows(path):
    """The launches of ncu's raw page: dictionaries by column."""
    lines = [line for line in path.read_text().splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    return [row for row in rows if row["ID"]]    # the first has the units alone


def collect(options):
    rows, names = [], None
    for number, program, words in listed(options.launches):
        path = options.folder / f"{number}.csv"
        if not path.exists():
            print(f"{path}: missing, launch {number} is left out", file=sys.stderr)
            continue
        row = max(ncu_rows(path), key=lambda r: float(r[TENSOR].replace(",", "")))
        names = names or [ELAPSED, ACTIVE, SM_CLOCK, L2_CLOCK, TENSOR] + [
            name for name in row if name.endswith(".sum") and name.split("__")[0] in ("gpu", "lts", "sm", "smsp", "l1tex", "dram")]
        rows.append([str(number), " ".join([program, *words]), *(row[name].replace(",", "") for name in names)])
    head = [f"# {options.launches.name} under ncu --clock-control none --cache-control all. {options.title}",
            "\t".join(["number", "launch", *names])]
    options.out.write_text("\n".join(head + ["\t".join(row) for row in rows]) + "\n")


def summary(name, errors):
    errors = sorted(abs(error) for error in errors)
    if errors:
        at = lambda share: errors[max(0, -int(-share * len(errors) // 1) - 1)]
        print(f"{name}: {len(errors)} launches, mean {sum(errors) / len(errors):.1f}%, median {at(0.5):.1f}%, p90 {at(0.9):.1f}%,"
              f" worst {errors[-1]:.1f}%")


def tensor_share(row, measured):
    """The tensor pipe's share in a table's row. The first table of predictions has cycles alone: they are of as many SMs as the device had,
    which its own cycles and share tell."""
    if TENSOR in row:
        return float(row[TENSOR])
    sub_cores = 100 * float(measured[TENSOR_SUM]) / (float(measured[TENSOR]) * float(measured[ELAPSED]))
    return 100 * float(row[TENSOR_SUM]) / (SUB_CORES * round(sub_cores / SUB_CORES) * float(row[ELAPSED]))


def compare(options):
    ours, theirs = table(options.predicted), table(options.measured)
    judged = numbers(options.judged) if options.judged else set()
    errors, near = {True: [], False: []}, {True: [], False: []}
    print("| | launch | predicted | measured | elapsed | active | tensor pipe, % | |")
    print("|---|---|---|---|---|---|---|---|")
    for number in sorted(ours.keys() & theirs.keys()):
        p, m = ours[number], theirs[number]
        off, active = (100 * (float(p[name]) / float(m[name]) - 1) for name in (ELAPSED, ACTIVE))
        errors[number in judged].append(off)
        share = tensor_share(p, m)
        near[number in judged].append(abs(share - float(m[TENSOR])) <= 3)
        print(f"| {number} | {m['launch']} | {float(p[ELAPSED]):,.0f} | {float(m[ELAPSED]):,.0f} | {off:+.1f}% | {active:+.1f}% |"
              f" {share:.1f} | {float(m[TENSOR]):.1f} |")
    for which, name in ((True, "judged"), (False, "others")):
        summary(name, errors[which])
        if near[which]:
            print(f"{name}: tensor pipe within 3 points on {sum(near[which])} of {len(near[which])}")


def main():
    parser = usable.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("predict")
    command.add_argument("launches", type=pathlib.Path)
    command.add_argument("out", type=pathlib.Path)
    command.add_argument("--foretrace", default="build/bin/foretrace")
    command.add_argument("--arch", default="h100-sxm")
    command.add_argument("--accuracy", default="auto", choices=("auto", "exact", "sampled"))
    command.add_argument("--nvcc", default="nvcc")
    command.add_argument("--measured", type=pathlib.Path, help="predict at the clocks of this table")
    command.add_argument("--only", help="numbers of launches: 1,5-9")
    command.add_argument("--options", nargs="*", default=[], help="more options of foretrace run")
    command.set_defaults(call=predict)
    command = commands.add_parser("collect")
    command.add_argument("launches", type=pathlib.Path)
    command.add_argument("folder", type=pathlib.Path)
    command.add_argument("out", type=pathlib.Path)
    command.add_argument("--title", default="", help="device, driver, date")
    command.set_defaults(call=collect)
    command = commands.add_parser("compare")
    command.add_argument("predicted", type=pathlib.Path)
    command.add_argument("measured", type=pathlib.Path)
    command.add_argument("--judged", help="numbers of the launches that are judged: 26-40")
    command.set_defaults(call=compare)
    options = parser.parse_args()
    options.call(options)


if __name__ == "__main__":
    main()
