"""Collective operations on linked GPUs: predicted times beside measured ones.

    judge.py predict FORETRACE OUT.tsv [--devices 2] [--link nvlink4]   operations of 1 KiB to 1 GiB as NCCL chooses
    judge.py compare PREDICTED.tsv MEASURED.tsv [--choices FILE] [--from BYTES] [--rows]
                                                                        mean, 90th percentile and worst error by operation; --rows: each time too
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import usable  # noqa: E402

OPERATIONS = ("allreduce", "allgather", "reducescatter", "broadcast")
FITTED = ("allreduce",)  # configs/links/nvlink4.toml rests on these


def predict(options):
    lines = []
    for operation in OPERATIONS:
        done = subprocess.run([options.foretrace, "collective", "--op", operation, "--bytes", "1K..1G", "--devices", str(options.devices),
                               "--link", options.link, "--json", "-"], stdout=subprocess.PIPE, text=True, check=True)
        for row in json.loads(done.stdout)["collective"]["sizes"]:
            lines.append(f"{operation}\t{row['bytes']}\t{row['time_us']:.4f}\t{row['protocol']}\n")
    with open(options.out, "w", encoding="utf-8") as file:
        file.writelines(lines)


def percentile(values, share):
    """Nearest rank."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def say(name, errors):
    sizes = [abs(error) for error in errors]
    within = sum(size <= 0.15 for size in sizes)
    print(f"{name:<24} {len(sizes):>3} sizes: mean {100 * sum(sizes) / len(sizes):.1f}%, p90 {100 * percentile(sizes, 0.9):.1f}%, "
          f"worst {100 * max(sizes):.1f}%, {within} within 15%")


def compare(options):
    predicted = {(operation, size): (time, protocol)
                 for operation, size, time, protocol in usable.table(options.predicted, operation=str, bytes=int, microseconds=float, protocol=str)}
    measured = {(operation, size): time for choice, way, operation, size, time
                in usable.table(options.measured, choice=str, way=str, operation=str, bytes=int, microseconds=float) if (choice, way) == ("auto", "stream")}
    both = [key for key in predicted if key in measured]
    if not both:
        raise usable.Unusable(f"{options.predicted} and {options.measured}: no operation of a size is in both")
    error = {key: predicted[key][0] / measured[key] - 1 for key in both}
    if options.rows:
        for operation, size in both:
            print(f"{operation:<14} {size:>11} {predicted[operation, size][0]:>10.1f} {measured[operation, size]:>10.1f} {100 * error[operation, size]:>+6.1f}%")
    for operation in OPERATIONS:
        for name, low, high in ((operation, options.split, None), (operation + " below", 0, options.split)):
            chosen = [error[key] for key in both if key[0] == operation and key[1] >= low and (high is None or key[1] < high)]
            if chosen:
                say(name + (" (fitted)" if operation in FITTED else ""), chosen)
    say("judged", [error[key] for key in both if key[0] not in FITTED and key[1] >= options.split])
    say("judged below", [error[key] for key in both if key[0] not in FITTED and key[1] < options.split])
    if options.choices:
        chosen = {(operation, size): protocol for operation, size, protocol in usable.table(options.choices, operation=str, bytes=int, protocol=str)}
        known = [key for key in both if key in chosen]
        other = [key for key in known if chosen[key] != predicted[key][1]]
        print(f"protocols: {len(known) - len(other)} of {len(known)} as NCCL chose" + "".join(f"; {key[0]} {key[1]}: {chosen[key]}" for key in other))


def main():
    parser = usable.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("predict")
    make.add_argument("foretrace")
    make.add_argument("out")
    make.add_argument("--devices", type=int, default=2)
    make.add_argument("--link", default="nvlink4")
    make.set_defaults(run=predict)
    both = commands.add_parser("compare")
    both.add_argument("predicted")
    both.add_argument("measured")
    both.add_argument("--choices")
    both.add_argument("--from", dest="split", type=int, default=1 << 20)
    both.add_argument("--rows", action="store_true")
    both.set_defaults(run=compare)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    with usable.told():
        main()
