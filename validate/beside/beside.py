"""Kernels side by side: predicted times of the pairs of beside.cu, and these beside measured ones.

    beside.py predict FORETRACE OUT.jsonl [--second] [--nvcc NVCC] [--arch h100] [--later US] [--keep FOLDER]
        builds the program, traces each pair's kernels under `foretrace run` and simulates each pair with `foretrace beside`
    beside.py compare PREDICTED.jsonl MEASURED.jsonl
        a row per kernel: its time alone and beside the other, predicted and measured, and by how much it is slowed
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(FOLDER, "../../scripts"))
import usable  # noqa: E402

KERNELS = "^(compute|stream|level2|local|mixed|chase)$"


def times(foretrace, arch, a, b, later):
    done = subprocess.run([foretrace, "beside", a, b, "--arch", arch, "--begin", f"0,{later}", "--same-memory", "--json", "-"],
                          stdout=subprocess.PIPE, text=True, check=True)
    result = json.loads(done.stdout)["beside"]
    first, second = result["launches"]
    # As the program's clocks do: from the first block's begin on.
    way = first["first_block_us"] - first["begin_us"]
    row = {name: launch["alone_us"] - way for name, launch in (("alone_a", first), ("alone_b", second))}
    row.update({name: launch["end_us"] - launch["first_block_us"] for name, launch in (("beside_a", first), ("beside_b", second))})
    row["b_later"] = second["first_block_us"] - first["first_block_us"]
    row["together"] = max(first["end_us"], second["end_us"]) - first["first_block_us"]
    return {name: round(value, 3) for name, value in row.items()}


def predict(options):
    with tempfile.TemporaryDirectory() as folder, open(options.out, "w", encoding="utf-8") as out:
        program, traces = os.path.join(folder, "beside"), options.keep or folder
        os.makedirs(traces, exist_ok=True)
        subprocess.run([options.nvcc, f"-arch={options.machine}", "-O3", "-std=c++17", "-cudart", "shared", "-o", program,
                        os.path.join(FOLDER, "beside.cu")], check=True)
        subprocess.run([options.foretrace, "run", "--arch", options.arch, "--host", "none", "--simulate", "all", "--quiet", "--kernel", KERNELS, "--trace",
                        traces, "--", program, "trace", "second" if options.second else "first"], check=True)
        files = sorted(glob.glob(os.path.join(traces, "*.trace")))
        for number in range(len(files) // 2):
            row = {"pair": number, **times(options.foretrace, options.arch, files[2 * number], files[2 * number + 1], options.later)}
            out.write(json.dumps(row) + "\n")
            out.flush()


def read(path, *more):
    return {row["pair"]: row for row in usable.json_lines(path, *more, "pair", "alone_a", "alone_b", "beside_a", "beside_b", "together")}


def title(kernel):
    shared = f", {kernel['shared'] >> 10} KiB" if kernel["shared"] else ""
    return f"{kernel['kernel']} {kernel['percent']}% ({kernel['block']}{shared})"


def compare(options):
    predicted, measured = read(options.predicted), read(options.measured, "a", "b")
    both = [number for number in measured if number in predicted]
    if not both:
        raise usable.Unusable(f"{options.predicted} and {options.measured}: no pair is in both")
    errors = {"alone": [], "beside": [], "slowed": [], "together": []}
    print("| pair | kernel | alone, us: predicted | measured | error | beside, us: predicted | measured | error | slowed: predicted | measured | error |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for number in both:
        p, m = predicted[number], measured[number]
        for side in "ab":
            cells = []
            values = {"alone": (p["alone_" + side], m["alone_" + side]), "beside": (p["beside_" + side], m["beside_" + side])}
            values["slowed"] = tuple(values["beside"][i] / values["alone"][i] for i in (0, 1))
            for name, (ours, truth) in values.items():
                error = ours / truth - 1
                errors[name].append(abs(error))
                form = ".2f" if name == "slowed" else ".1f"
                cells += [format(ours, form), format(truth, form), f"{100 * error:+.1f}%"]
            print(f"| {number if side == 'a' else ''} | {title(m[side])} | " + " | ".join(cells) + " |")
        errors["together"].append(abs(p["together"] / m["together"] - 1))
    for name, all_of in errors.items():
        print(f"{name}: mean error {100 * statistics.mean(all_of):.1f}%, median {100 * statistics.median(all_of):.1f}%, worst {100 * max(all_of):.1f}%, "
              f"within 12%: {sum(error <= 0.12 for error in all_of)} of {len(all_of)}")


def main():
    parser = usable.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("predict")
    make.add_argument("foretrace")
    make.add_argument("out")
    make.add_argument("--second", action="store_true", help="the second set of pairs")
    make.add_argument("--nvcc", default="nvcc")
    make.add_argument("--machine", default="sm_90")
    make.add_argument("--arch", default="h100")
    make.add_argument("--later", type=float, default=3.1, help="us by which the second kernel of a pair is launched later")
    make.add_argument("--keep", help="folder for the traces")
    make.set_defaults(run=predict)
    both = commands.add_parser("compare")
    both.add_argument("predicted")
    both.add_argument("measured")
    both.set_defaults(run=compare)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    with usable.told():
        main()
