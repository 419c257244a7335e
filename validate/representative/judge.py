"""Representative launches against all: ten programs of at least 1,000 launches, totals and cost.

    python3 validate/representative/judge.py FORETRACE [--nvcc NVCC] [--arch h100] [--share 50] [--only NAME] [--functional]

Each program is built and run with --simulate all, then with --simulate representative and a budget of 1/SHARE of the warp instructions
that it executes. Prints a row of docs/representative.md per program: launches, simulated, instructions (how many times fewer were
simulated), totals, error, whether the interval held all's total, and times.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent


def run(foretrace, arch, program, options):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        begin = time.monotonic()
        subprocess.run([foretrace, "run", "--arch", arch, "--quiet", "--json", out.name, *options, "--", program], check=True)
        taken = time.monotonic() - begin
        return json.load(open(out.name)).get("program"), taken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("foretrace")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="h100")
    parser.add_argument("--share", type=int, default=60)
    parser.add_argument("--only")
    parser.add_argument("--functional", action="store_true", help="time --functional as well")
    options = parser.parse_args()
    print("| program | launches | simulated | warp instructions | times fewer | all, us | representative, us | error | interval | held |"
          " seconds, all | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    worst, held, fewest, count = 0.0, 0, float("inf"), 0
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(HERE.glob("*.cu")):
            if options.only and options.only != source.stem:
                continue
            program = f"{folder}/{source.stem}"
            subprocess.run([options.nvcc, "-arch=sm_90", "-cudart", "shared", "-o", program, str(source)], check=True)
            every, slow = run(options.foretrace, options.arch, program, ["--simulate", "all"])
            budget = every["warp_instructions"] // options.share
            some, fast = run(options.foretrace, options.arch, program, ["--simulate", "representative", "--budget", str(budget)])
            if options.functional:
                _, emulated = run(options.foretrace, options.arch, program, ["--functional"])
                print(f"{source.stem}: functional {emulated:.1f} s", file=sys.stderr)
            error = some["duration_ns"] / every["duration_ns"] - 1
            holds = some["duration_low_ns"] <= every["duration_ns"] <= some["duration_high_ns"]
            fewer = every["warp_instructions"] / some["simulated_warp_instructions"]
            half = (some["duration_high_ns"] - some["duration_low_ns"]) / 2 / some["duration_ns"]
            worst, held, fewest, count = max(worst, abs(error)), held + holds, min(fewest, fewer), count + 1
            print(f"| {source.stem} | {some['launches']} | {some['simulated']} | {every['warp_instructions'] / 1e6:.2f} M | {fewer:.0f} |"
                  f" {every['duration_ns'] / 1e3:.1f} | {some['duration_ns'] / 1e3:.1f} | {100 * error:+.2f}% | {100 * half:.1f}% |"
                  f" {'yes' if holds else 'no'} | {slow:.1f} | {fast:.1f} |", flush=True)
    print(f"\n{count} programs: worst error {100 * worst:.2f}%, the interval held {held} times, at least {fewest:.0f} times fewer")


if __name__ == "__main__":
    main()
