#!/usr/bin/env python3
"""Which configuration would Triton's autotuner take on a chip that is not there, and what does taking it cost on the chip that is?

    autotune.py predict --arch CHIP [--shape M,N,K] [--output FILE]   # needs foretrace, torch and triton, no GPU
    autotune.py measure OUT.json [--shape M,N,K] [--rounds N]         # on a GPU; needs torch and triton alone
    autotune.py table PREDICTED.json --measured MEASURED.json         # needs neither

`predict` runs Triton's own autotuner under `foretrace run` (foretrace_triton: one launch behind a fill of twice L2 in the place of
do_bench's hundreds), `measure` runs the same one on the device, with triton.testing.do_bench as it is. docs/studies/autotune.md has the results.
"""

import argparse
import datetime
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.append(str(REPOSITORY / "scripts"))
import usable  # noqa: E402
SCHEMA = 1
os.environ.setdefault("TRITON_DISABLE_LINE_INFO", "1")  # lines hold this folder's path; the machine code of two machines is to be compared
os.environ["TRITON_CACHE_AUTOTUNING"] = "0"  # each run measures
TILE = ("BLOCK_M", "BLOCK_N", "BLOCK_K")


class Wrong(Exception):
    """Bad input: one line, exit code 2."""


# What is tuned, on whatever answers as the GPU


def name_of(config):
    """128x256x64 w8 s3: the tile, warps, stages."""
    return "x".join(str(config[key]) for key in TILE) + f" w{config['num_warps']} s{config['num_stages']}"


def tune(shape, rounds):
    """A document with what Triton's autotuner measured of each configuration: `rounds` lists of [median, 20%, 80%] microseconds, or an error."""
    import matmul
    import torch
    import triton

    if not torch.cuda.is_available():
        raise Wrong("torch finds no GPU; expected one (measure), or foretrace run (predict)")
    m, n, k = shape
    torch.manual_seed(0)
    a, b = (torch.randn(size, dtype=torch.float32).to(torch.float16).cuda() for size in ((m, k), (k, n)))
    c = torch.empty((m, n), dtype=torch.float16, device="cuda")
    arguments = (a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0))
    kernel = matmul.autotuned_matmul
    configs = []
    for config in matmul.CONFIGS:
        row = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
        try:
            made = kernel.fn.warmup(*arguments, grid=(1,), **row)
            row["shared"] = made.metadata.shared
            row["cubin_sha256"] = hashlib.sha256(made.asm["cubin"]).hexdigest()
        except triton.runtime.errors.OutOfResources as error:  # the launcher says so, or the compiler
            row["error"] = str(error).partition("\n")[0]
        configs.append({**row, "rounds": []})
    winners = []
    for _ in range(rounds):
        kernel.cache.clear()
        kernel[matmul.grid](*arguments)
        for config, row in zip(matmul.CONFIGS, configs):
            times = [round(time * 1000, 3) for time in kernel.configs_timings[config]]  # from milliseconds
            if math.isfinite(times[0]):
                row["rounds"].append(times)
            else:
                row.setdefault("error", f"does not run: {row.get('shared')} bytes of shared memory")
        winners.append(name_of(configs[matmul.CONFIGS.index(kernel.best_config)]))
    torch.cuda.synchronize()
    expected = a.cpu().float() @ b.cpu().float()
    error = float((c.cpu().float() - expected).norm() / expected.norm())
    if not error < 1e-3:  # fp16's rounding of the result is 2e-4
        raise Wrong(f"the product is wrong: relative error {error:.2g}; expected less than 1e-3")
    return {"schema": SCHEMA, "shape": list(shape), "dtype": "float16", "sums": "float32", "triton": triton.__version__,
            "torch": torch.__version__, "configs": configs, "autotuner": winners}


def winner_of(configs):
    times = [row for row in configs if row["microseconds"] is not None]
    if not times:
        raise Wrong("no configuration runs")
    return name_of(min(times, key=lambda row: row["microseconds"]))


def write(path, document):
    """A line for each configuration, so that a change can be read."""
    rows = ",\n".join("    " + json.dumps(row) for row in document["configs"])
    text = json.dumps({**document, "configs": ["HERE"]}, indent=2).replace('[\n    "HERE"\n  ]', f"[\n{rows}\n  ]")
    pathlib.Path(path).write_text(text + "\n", encoding="utf-8")


# predict


def foretrace_program():
    named = os.environ.get("FORETRACE")
    for path in filter(None, [named, REPOSITORY / "build/bin/foretrace", REPOSITORY / "build/dev/bin/foretrace", shutil.which("foretrace")]):
        if os.access(path, os.X_OK):
            return str(path)
        if path == named:
            break
    raise Wrong("no foretrace; build it, or name it in FORETRACE")


def kernel_times(document, configs):
    """Microseconds of the kernel alone, for the launch of each configuration that was timed: the autotuner launches each twice, the first
    time to compile it, and the best one a last time."""
    times = [p["metrics"]["gpu__time_duration.sum"] / 1000 for p in document["predictions"] if p["kernel"] == "autotuned_matmul"]
    ran = [row for row in configs if row["rounds"]]
    if len(times) != 2 * len(ran) + 1:
        raise Wrong(f"foretrace predicted {len(times)} launches of the product; expected {2 * len(ran) + 1}")
    return {name_of(row): times[2 * i + 1] for i, row in enumerate(ran)}


def predict(options):
    shape = shape_of(options.shape)
    with tempfile.TemporaryDirectory() as folder:
        timed, result = os.path.join(folder, "timed.json"), os.path.join(folder, "run.json")
        words = [foretrace_program(), "run", "--arch", options.arch, "--simulate", "all", "--quiet", "--json", result, "--",
                 sys.executable, str(HERE / "autotune.py"), "tune", timed, "--shape", options.shape]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY / "python"), os.environ.get("PYTHONPATH")]))}
        if (code := subprocess.run(words, env=environment, check=False).returncode) != 0:
            raise Wrong(f"foretrace run --arch {options.arch} ended with {code}")
        with open(timed, encoding="utf-8") as text:
            document = json.load(text)
        with open(result, encoding="utf-8") as text:
            run = json.load(text)
    alone = kernel_times(run, document["configs"])
    for row in document["configs"]:
        rounds = row.pop("rounds")
        row["microseconds"] = rounds[0][0] if rounds else None
        row["kernel_microseconds"] = round(alone[name_of(row)], 3) if rounds else None
    chip = run["predictions"][0]
    document.pop("autotuner")
    document = {"schema": document.pop("schema"), "kind": "predicted", "arch": chip["arch"], "clock_hz": chip["clock_hz"],
                "foretrace": run["foretrace"], "commit": run["commit"], "winner": winner_of(document["configs"]), **document}
    output = options.output or HERE / "predicted" / f"{options.arch}-{'x'.join(map(str, shape))}.json"
    pathlib.Path(output).parent.mkdir(parents=True, exist_ok=True)
    write(output, document)
    print_ranked(document)
    print(f"written: {output}")


def print_ranked(document):
    for row in sorted(document["configs"], key=lambda row: (row["microseconds"] is None, row["microseconds"])):
        said = f"{row['microseconds']:9.2f} us" if row["microseconds"] is not None else row["error"]
        print(f"{name_of(row):20} {said}")


# measure


def ask_nvidia_smi(fields):
    """What the first GPU says; nothing where there is no nvidia-smi."""
    try:
        said = subprocess.run(["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader", "--id=0"], capture_output=True, text=True,
                              check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    values = said.strip().split(", ")
    return dict(zip(fields, values)) if len(values) == len(fields) else {}


def measure(options):
    import torch

    shape = shape_of(options.shape)
    if options.rounds < 1:
        raise Wrong(f"--rounds {options.rounds}; expected 1 or more")
    clocks = ["clocks.sm", "clocks.mem", "clocks.max.sm", "clocks.max.mem", "power.limit", "temperature.gpu"]
    before = ask_nvidia_smi(clocks)
    document = tune(shape, options.rounds)
    after = ask_nvidia_smi(clocks)
    for row in document["configs"]:
        medians = [times[0] for times in row["rounds"]]
        row["microseconds"] = statistics.median(medians) if medians else None
    properties = torch.cuda.get_device_properties(0)
    document = {"schema": document.pop("schema"), "kind": "measured", "device": properties.name, "sms": properties.multi_processor_count,
                "capability": f"{properties.major}.{properties.minor}", **ask_nvidia_smi(["driver_version", "vbios_version"]),
                "clocks_before": before, "clocks_after": after,
                "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "winner": winner_of(document["configs"]),
                **document}
    write(options.output, document)
    print_ranked(document)


# table


def read(path, kind):
    try:
        with open(path, encoding="utf-8") as text:
            document = json.load(text)
    except OSError as error:
        raise Wrong(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise Wrong(f"{path}: no JSON: {error}") from None
    found = document.get("kind") if isinstance(document, dict) else None
    if found != kind or document.get("schema") != SCHEMA:
        raise Wrong(f"{path}: it is {found or 'something else'}; expected a {kind} document of schema {SCHEMA}")
    return document


def ranks_of(values):
    """From 1, the least first; equal ones share the mean of their ranks."""
    return [sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values]


def rank_correlation(a, b):
    """Spearman's: Pearson's of the ranks; none where one side has a single rank."""
    if len(a) < 2:
        return None
    first, second = ranks_of(a), ranks_of(b)
    if len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return statistics.correlation(first, second)


def compare(predicted, measured):
    """Rows of what ran on both sides, by measured time, and what they say together."""
    if predicted["shape"] != measured["shape"]:
        raise Wrong(f"predicted for the shape {predicted['shape']}, measured for {measured['shape']}")
    there = {name_of(row): row for row in measured["configs"]}
    pairs, left_out = [], []
    for row in predicted["configs"]:
        other = there.get(name_of(row))
        if other is None or row["microseconds"] is None or other["microseconds"] is None:
            left_out.append(name_of(row))
        else:
            pairs.append((row, other))
    if not pairs:
        raise Wrong("no configuration has a time on both sides")
    times = [row["microseconds"] for row, _ in pairs], [other["microseconds"] for _, other in pairs]
    rows = [{"config": name_of(row), "predicted": mine, "measured": theirs, "error": mine / theirs - 1, "predicted_rank": rank,
             "measured_rank": other_rank, "same_code": row.get("cubin_sha256") == other.get("cubin_sha256")}
            for (row, other), mine, theirs, rank, other_rank in zip(pairs, *times, *map(ranks_of, times))]
    rows.sort(key=lambda row: row["measured"])
    chosen = min(rows, key=lambda row: row["predicted"])
    errors = [abs(row["error"]) for row in rows]
    return {"rows": rows, "left_out": left_out, "rank_correlation": rank_correlation(*times), "predicted_winner": chosen["config"],
            "measured_winner": rows[0]["config"], "loss": chosen["measured"] / rows[0]["measured"] - 1,
            "worst_choice": rows[-1]["measured"] / rows[0]["measured"] - 1, "mean_error": statistics.mean(errors),
            "median_error": statistics.median(errors), "worst_error": max(errors)}


def table(options):
    predicted, measured = read(options.predicted, "predicted"), read(options.measured, "measured")
    both = compare(predicted, measured)
    print("| configuration | predicted us | measured us | error | predicted rank | measured rank |\n|---|---|---|---|---|---|")
    for row in both["rows"]:
        print(f"| {row['config']} | {row['predicted']:.2f} | {row['measured']:.2f} | {row['error']:+.1%} | {row['predicted_rank']:g} | "
              f"{row['measured_rank']:g} |")
    correlation = both["rank_correlation"]
    print(f"\n{predicted['arch']} and {measured['device']}, {'x'.join(map(str, predicted['shape']))}: errors {both['mean_error']:.1%} mean, "
          f"{both['median_error']:.1%} median, {both['worst_error']:.1%} worst; rank correlation "
          f"{'n/a' if correlation is None else format(correlation, '.2f')}")
    print(f"predicted winner {both['predicted_winner']}, measured winner {both['measured_winner']}: it takes {both['loss']:.1%} longer "
          f"(the slowest {both['worst_choice']:.0%})")
    if both["left_out"]:
        print("without a time on both sides: " + ", ".join(both["left_out"]))
    other_code = [row["config"] for row in both["rows"] if not row["same_code"]]
    if other_code:
        print(f"other machine code on the two sides (Triton {predicted['triton']} and {measured['triton']}): " + ", ".join(other_code))


def shape_of(text):
    if not re.fullmatch(r"[1-9]\d{0,5},[1-9]\d{0,5},[1-9]\d{0,5}", text):
        raise Wrong(f"--shape {text}; expected M,N,K as three whole numbers from 1")
    return tuple(map(int, text.split(",")))


def tune_under_foretrace(options):
    """What `predict` starts under foretrace run."""
    import foretrace_triton  # noqa: F401

    document = tune(shape_of(options.shape), 1)
    pathlib.Path(options.output).write_text(json.dumps(document), encoding="utf-8")


def main(words):
    parser = usable.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    with_shape = usable.Parser(add_help=False)
    with_shape.add_argument("--shape", default="1024,1024,1024", metavar="M,N,K")
    command = commands.add_parser("predict", parents=[with_shape], help="on no GPU, by foretrace run")
    command.add_argument("--arch", required=True, metavar="CHIP")
    command.add_argument("--output", metavar="FILE", help="predicted/CHIP-SHAPE.json without it")
    command.set_defaults(run=predict)
    command = commands.add_parser("measure", parents=[with_shape], help="on the GPU that is there")
    command.add_argument("output", metavar="OUT.json")
    command.add_argument("--rounds", type=int, default=5, help="how often the autotuner measures them all (default: 5)")
    command.set_defaults(run=measure)
    command = commands.add_parser("table", help="a prediction beside a measurement")
    command.add_argument("predicted", metavar="PREDICTED.json")
    command.add_argument("--measured", required=True, metavar="MEASURED.json")
    command.set_defaults(run=table)
    command = commands.add_parser("tune", parents=[with_shape])
    command.add_argument("output")
    command.set_defaults(run=tune_under_foretrace)
    options = parser.parse_args(words)
    try:
        options.run(options)
    except Wrong as error:
        print(f"autotune.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
