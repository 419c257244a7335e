"""Collective operations on linked GPUs: predicted times beside measured ones.

    judge.py predict FORETRACE OUT.tsv [--devices 2] [--link nvlink4]   operations of 1 KiB to 1 GiB as NCCL chooses
    judge.py compare PREDICTED.tsv MEASURED.tsv [--choices FILE] [--from BYTES] [--rows]
                                                                        mean, 90th percentile and worst error by operation; --rows: each time too
"""

import argparse
import json
import math
import subprocess
import sys

OPERATIONS = ("allreduce", "allgather", "reducescatter", "broadcast")
FITTED = ("allreduce",)  # configs/links/nvlink4.toml rests on these


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]


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
    predicted = {(row[0], int(row[1])): (float(row[2]), row[3]) for row in rows_of(options.predicted)}
    measured = {(row[2], int(row[3])): float(row[4]) for row in rows_of(options.measured) if row[0] == "auto" and row[1] == "stream"}
    both = [key for key in predicted if key in measured]
    if not both:
        sys.exit("judge.py: no operation of a size is in both files")
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
        chosen = {(row[0], int(row[1])): row[2] for row in rows_of(options.choices)}
        known = [key for key in both if key in chosen]
        other = [key for key in known if chosen[key] != predicted[key][1]]
        print(f"protocols: {len(known) - len(other)} of {len(known)} as NCCL chose" + "".join(f"; {key[0]} {key[1]}: {chosen[key]}" for key in other))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    main()
