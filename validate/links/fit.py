"""Fits configs/links/nvlink4.toml's [ring], [tree] and simple.landing to the all-reduces of two and four H200 that were forced to a protocol.

    fit.py FORETRACE [--check]      key, value, range, and what the file has; --check: exit 1 where the file has another value

Least are the squares of relative errors. What channels and link take by themselves is asked of `foretrace collective`; times go with 1 / rate. A range
is where the root mean square rises by a tenth at most. No other operation is fitted: all-gathers, reduce-scatters and broadcasts judge.
"""

import argparse
import collections
import itertools
import json
import math
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

LINKS = Path(__file__).resolve().parent
sys.path.append(str(LINKS.parents[1] / "scripts"))
import usable  # noqa: E402

CONFIG = LINKS.parents[1] / "configs" / "links" / "nvlink4.toml"
MEASURED = (("h200-sxm-x2-allreduce.tsv", 2), ("h200-sxm-x4-forced.tsv", 4))
FROM = {("ring", "simple"): 16384}  # bytes; NCCL takes fewer threads for less
LANDINGS = [index / 20 for index in range(21)]
RATES = [index / 4 for index in range(8, 240)]

Row = collections.namedtuple("Row", "time hops working sending landed rate")  # working and landed: at this rate
Fit = collections.namedtuple("Fit", "rms base hop rate landing ranges")


def configured():
    """The link's file as text, and its tables: [protocol] ll.landing is ["protocol"]["ll"]["landing"]."""
    text = CONFIG.read_text(encoding="utf-8")
    return text, tomllib.loads(text)


def forced(algorithm, protocol):
    """Measured all-reduces by devices and channels (None: as many as there are): {bytes: us}."""
    found = collections.defaultdict(dict)
    for name, devices in MEASURED:
        with open(LINKS / name, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
        for label, how, operation, size, time, *_ in rows:
            words = label.lower().split("-")
            if words[:2] == [algorithm, protocol] and how == "stream" and operation == "allreduce" and int(size) >= FROM.get((algorithm, protocol), 0):
                found[devices, int(words[2]) if words[2:] else None][int(size)] = float(time)
    return found


def asked(foretrace, text, devices, algorithm, protocol, sizes):
    """What foretrace says of all-reduces over the link that the text describes."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        words = ["--op", "allreduce", "--bytes", ",".join(map(str, sizes)), "--devices", str(devices), "--link", file.name]
        done = subprocess.run([foretrace, "collective", *words, "--algorithm", algorithm, "--protocol", protocol, "--json", "-"],
                              stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)["collective"]["sizes"]


def time_of(row, base, hop, rate, landing):
    scale = row.rate / rate
    return base + hop * row.hops + ((scale * row.working) ** 3 + row.sending ** 3) ** (1 / 3) + scale * landing * row.landed


def rows_of(foretrace, algorithm, protocol):
    text, values = configured()
    base, hop, rate = (values[algorithm][protocol][name]["value"] for name in ("base", "hop", "rate"))
    # The last part as much work as any other: what foretrace says of it is what a landing is a share of.
    text = re.sub(rf"(?m)^({protocol}\.landing *= \{{) .*$", r'\1 value = 1, unit = "ratio", kind = "assumed", range = [0, 1], source = "fit.py" }', text)
    rows = []
    for (devices, channels), times in forced(algorithm, protocol).items():
        link = text if channels is None else re.sub(r"(?m)^(count = \{ value = )\d+", rf"\g<1>{channels}", text)
        for row, time in zip(asked(foretrace, link, devices, algorithm, protocol, times), times.values()):
            rows.append(Row(time, 2 * (devices - 1), row["channels_us"], row["link_us"], row["last_part_us"], rate))
            if not math.isclose(time_of(rows[-1], base, hop, rate, 1), row["time_us"], rel_tol=1e-9):
                sys.exit(f"fit.py: {algorithm} {protocol}: other parts than foretrace adds up")
    return rows


def latencies(rows, rate, landing):
    """The best base and hop, their ranges, and the mean square of the relative errors."""
    weights = [1 / row.time for row in rows]
    left = [(row.time - time_of(row, 0, 0, rate, landing)) * weight for row, weight in zip(rows, weights)]
    steps = [row.hops * weight for row, weight in zip(rows, weights)]
    ones, cross, twos = (sum(map(math.prod, zip(*pair))) for pair in ((weights, weights), (weights, steps), (steps, steps)))
    first, second = (sum(map(math.prod, zip(side, left))) for side in (weights, steps))
    determinant = ones * twos - cross * cross
    base, hop = (first * twos - second * cross) / determinant, (ones * second - cross * first) / determinant
    square = sum((base * weight + hop * step - rest) ** 2 for weight, step, rest in zip(weights, steps, left)) / len(rows)
    wider = 0.21 * square * len(rows)  # 1.1 squared, less 1
    return base, hop, math.sqrt(wider * twos / determinant), math.sqrt(wider * ones / determinant), square


def fit(rows, landings):
    tried = {(rate, landing): latencies(rows, rate, landing) for rate, landing in itertools.product(RATES, landings)}
    (rate, landing), (base, hop, wide_base, wide_hop, square) = min(tried.items(), key=lambda one: one[1][-1])
    near = [key for key, found in tried.items() if found[-1] <= 1.21 * square]
    ranges = {"base": (base - wide_base, base + wide_base), "hop": (hop - wide_hop, hop + wide_hop)}
    for index, name in enumerate(("rate", "landing")):
        ranges[name] = (min(key[index] for key in near), max(key[index] for key in near))
    return Fit(math.sqrt(square), base, hop, rate, landing, ranges)


def main():
    parser = usable.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("foretrace")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    values, others = configured()[1], 0
    for algorithm, protocol in itertools.product(("ring", "tree"), ("ll", "ll128", "simple")):
        rows = rows_of(options.foretrace, algorithm, protocol)
        free = (algorithm, protocol) == ("ring", "simple")
        found = fit(rows, LANDINGS if free else [values["protocol"][protocol]["landing"]["value"]])
        print(f"{algorithm}.{protocol}: {len(rows)} all-reduces, rms {100 * found.rms:.1f}%")
        for name in ("base", "hop", "rate") + (("landing",) if free else ()):
            table = "protocol" if name == "landing" else algorithm
            there, value, other = values[table][protocol][name]["value"], round(getattr(found, name), 2), ""
            if value != there:
                others, other = others + 1, f", the file has {there:g}"
            low, high = found.ranges[name]
            print(f"  {f'{table}.{protocol}.{name}':<24} {value:<6g} {low:.2f} to {high:.2f}{other}")
    if options.check and others:
        sys.exit(f"fit.py: {others} values in {CONFIG.name} are not what is fitted")


if __name__ == "__main__":
    with usable.told():
        main()
