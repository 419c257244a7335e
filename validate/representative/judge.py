"""Representative launches against all: ten programs of at least 1,000 launches, totals and cost.

    python3 validate/representative/judge.py FORETRACE [--nvcc NVCC] [--arch h100] [--share 60] [--only NAME] [--write]

Each program is built and run with --simulate all, then with --simulate representative and a budget of 1/SHARE of the warp instructions
that it executes, then with --functional. Prints a row of docs/representative.md per program: launches, simulated, instructions (how many times
fewer were simulated), totals, error, whether the interval held all's total, and times. --write puts them into that page.
"""
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs/representative.md"
HEAD = """| program | launches | simulated | warp instructions | times fewer | all, us | representative, us | error | interval | held | seconds, all | seconds | --functional |
|---|---|---|---|---|---|---|---|---|---|---|---|---|"""
sys.path.append(str(ROOT / "scripts"))
import marked_text  # noqa: E402
import usable  # noqa: E402


def run(foretrace, arch, program, options):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        begin = time.monotonic()
        subprocess.run([foretrace, "run", "--arch", arch, "--quiet", "--json", out.name, *options, "--", program], check=True)
        taken = time.monotonic() - begin
        return json.load(open(out.name)), taken


def judged(every, some):
    """Of the two documents' `program`: error, half the interval (shares of all's and of the estimate), whether it held, how many times fewer."""
    return {"error": some["duration_ns"] / every["duration_ns"] - 1,
            "half": (some["duration_high_ns"] - some["duration_low_ns"]) / 2 / some["duration_ns"],
            "held": some["duration_low_ns"] <= every["duration_ns"] <= some["duration_high_ns"],
            "fewer": every["warp_instructions"] / some["simulated_warp_instructions"]}


def row(name, every, some, seconds):
    found = judged(every, some)
    return (f"| {name} | {some['launches']} | {some['simulated']} | {every['warp_instructions'] / 1e6:.2f} M | {found['fewer']:.0f} |"
            f" {every['duration_ns'] / 1e3:.1f} | {some['duration_ns'] / 1e3:.1f} | {100 * found['error']:+.2f}% | {100 * found['half']:.1f}% |"
            f" {'yes' if found['held'] else 'no'} | " + " | ".join(f"{each:.1f}" for each in seconds) + " |")


def summary(found):
    """One sentence of what judged() found of each program."""
    errors = [abs(each["error"]) for each in found]
    return (f"{len(found)} programs: the worst error is {100 * max(errors):.2f}%, {sum(each <= 0.02 for each in errors)} are within 2%, the interval held "
            f"{sum(each['held'] for each in found)} times, at least {min(each['fewer'] for each in found):.0f} times fewer were simulated.")


def main():
    parser = usable.Parser()
    parser.add_argument("foretrace")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="h100")
    parser.add_argument("--share", type=usable.positive, default=60)
    parser.add_argument("--only")
    parser.add_argument("--write", action="store_true", help="write docs/representative.md")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write writes the rows of all programs: leave out --only")
    print(HEAD)
    lines, found = [HEAD], []
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(HERE.glob("*.cu")):
            if options.only and options.only != source.stem:
                continue
            program = f"{folder}/{source.stem}"
            subprocess.run([options.nvcc, "-arch=sm_90", "-cudart", "shared", "-o", program, str(source)], check=True)
            document, slow = run(options.foretrace, options.arch, program, ["--simulate", "all"])
            every = document["program"]
            budget = every["warp_instructions"] // options.share
            some, fast = run(options.foretrace, options.arch, program, ["--simulate", "representative", "--budget", str(budget)])
            _, emulated = run(options.foretrace, options.arch, program, ["--functional"])
            lines.append(row(source.stem, every, some["program"], (slow, fast, emulated)))
            found.append(judged(every, some["program"]))
            print(lines[-1], flush=True)
    if not found:
        raise usable.Unusable(f"--only {options.only}: no such program in {HERE}")
    print("\n" + summary(found))
    if options.write:
        command = (f"`python3 validate/representative/judge.py build/bin/foretrace --write`, {options.arch}, {datetime.date.today().isoformat()}, {document['commit']}; "
                   "seconds on cores of which other work may have had its part.")
        marked_text.write(PAGE, "judge.py", "\n".join([*lines, "", summary(found), command]) + "\n")


if __name__ == "__main__":
    with usable.told():
        main()
