"""Programs that judge a time line: predicted times beside measured ones.

    judge.py predict FORETRACE OUT.tsv [--source judge2.cu] [--nvcc NVCC] [--arch h100] [--host xeon-h100]   builds the programs and runs them
                                                                                        under foretrace run
    judge.py compare PREDICTED.tsv MEASURED.tsv                                          a row per program: both times and the error
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))


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
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    return {row[0]: float(row[1]) for row in rows}


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
        sys.exit("judge.py: no program is in both files")
    print(f"{len(errors)} programs: mean error {100 * statistics.mean(errors):.1f}%, worst {100 * max(errors):.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
