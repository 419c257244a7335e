"""foretrace calibrate --base CHIP --output FILE.toml: on a machine with a GPU, from its microbenchmarks to a configuration of it.

Builds and runs the microbenchmarks that the configuration is made of, one after the other; what has answered is kept in a folder beside the output, so that a second call goes on
where the first one stopped. Then `foretrace calibrate` makes the configuration, and a page shows each number with its range. With a document of
answers as its argument the program does the last step alone. docs/calibration.md.
"""

import html
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import tomllib

from foretrace import _chip_values, _command, _picture, _program


def is_asked(words) -> bool:
    """Whether the words mean the whole of it: no document of answers among them."""
    answers = [word for i, word in enumerate(words) if word.endswith((".json", ".json.gz")) and (i == 0 or words[i - 1] != "--base-answers")]
    return bool(words) and not answers


def _benchmarks() -> pathlib.Path:
    here = pathlib.Path(__file__).resolve().parent
    for candidate in (here / "installed/share/foretrace/validate/microbenchmarks", here.parents[1] / "validate/microbenchmarks",
                      here.parents[2] / "validate/microbenchmarks"):
        if (candidate / "run").is_file():
            return candidate
    raise _program.ForetraceError("calibrate: the microbenchmarks are not beside this package; expected an installation from its wheel, or a checkout")


def _seconds_known(folder: pathlib.Path) -> dict[str, float]:
    """Seconds that each benchmark took on an H100, for the time that is left."""
    file = folder.parent / "measurements/h100-sxm-microbenchmarks.json"
    return json.loads(file.read_text())["seconds"] if file.is_file() else {}


def _progress(done: int, names: list[str], known: dict[str, float], name: str) -> None:
    left = sum(known.get(each, 3) for each in names[done:])
    filled = round(30 * done / max(1, len(names)))
    bar = "#" * filled + "." * (30 - filled)
    text = f"[{bar}] {done} of {len(names)}, about {left:.0f} s left  {name}"
    print(f"\r{text}\033[K" if sys.stderr.isatty() else text, end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)


def ask(work: pathlib.Path, say=_progress) -> pathlib.Path:
    """Runs every benchmark of a calibration that has not answered; returns the document of all answers. Throws ForetraceError where nothing can run."""
    folder = _benchmarks()
    for tool in ("nvcc", "nvidia-smi"):
        if shutil.which(tool) is None:
            raise _program.ForetraceError(f"calibrate: no {tool} in PATH; expected a machine with an NVIDIA GPU, its driver and the CUDA Toolkit")
    work.mkdir(parents=True, exist_ok=True)
    document, known = work / "microbenchmarks.json", _seconds_known(folder)
    run = [sys.executable, str(folder / "run"), "--calibration"]
    listed = subprocess.run([*run, "--list"], capture_output=True, text=True, check=True).stdout.split()
    command = [*run, "--binaries", str(work / "binaries"), "--out", str(document), "--resume"]
    say(0, listed, known, "building")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            done = len(json.loads(document.read_text())["seconds"]) if document.is_file() else 0
            say(done, listed, known, line.strip())
    if process.returncode != 0 or not document.is_file():
        raise _program.ForetraceError(f"calibrate: the microbenchmarks ended with code {process.returncode}; what they answered is kept in {work}")
    return document


def page(configuration: pathlib.Path, base: str, answers: pathlib.Path) -> str:
    """The calibrated numbers beside the base's: each with its range, and what did not answer."""
    made, before = _flat(tomllib.loads(configuration.read_text())), _chip_values.values(base)
    mark = f"validate/measurements/{answers.name}:"
    rows, kept = [], 0
    for key, entry in made.items():
        if not str(entry.get("source", "")).startswith(mark) or not isinstance(entry.get("value"), (int, float)):
            kept += 1
            continue
        rows.append((key, entry, before[key].number if key in before else None))
    told = json.loads(answers.read_text())
    text = (f"<p>{html.escape(str(told.get('device')))}, {html.escape(str(told.get('date')))}: {len(rows)} numbers from {len(told['answers']):,} answers; "
            f"{kept} stay {html.escape(base)}'s.</p>")
    body = "".join(_row(*row) for row in sorted(rows, key=lambda row: -_width(row[1])))
    left_out = "".join(f"<li>{html.escape(line)}</li>" for line in told["left_out"])
    return _picture._page(f"{configuration.name}: how well its microbenchmarks explain it", text +
                          "<p class=\"faint\">The bar is the range that the answers leave, as a share of the number; the mark is the base's number. The widest first.</p>"
                          "<table><thead><tr><th>Key</th><th>Number</th><th>Range</th><th>Base</th><th></th><th style=\"text-align:left\">From</th></tr></thead><tbody>" +
                          body + "</tbody></table>" + (f"<h1>Did not answer</h1><ul>{left_out}</ul>" if left_out else ""))


def _flat(table: dict, before: str = "") -> dict[str, dict]:
    found = {}
    for key, value in table.items():
        if isinstance(value, dict) and ("value" in value or "formula" in value):
            found[before + key] = value
        elif isinstance(value, dict):
            found.update(_flat(value, before + key + "."))
    return found


def _width(entry: dict) -> float:
    low, high = entry.get("range", (entry["value"], entry["value"]))
    return (high - low) / abs(entry["value"]) if entry["value"] else 0


def _row(key: str, entry: dict, base: float | None) -> str:
    value = entry["value"]
    low, high = entry.get("range", (value, value))

    def x(number) -> float:  # the number in the middle, half and one and a half of it at the ends
        return max(2, min(158, 80 + 160 * (number / value - 1))) if value else 80

    mark = f'<rect x="{x(base) - 1:.1f}" y="1" width="2" height="14" fill="var(--b)"/>' if base is not None else ""
    picture = (f'<svg viewBox="0 0 160 16" style="width:160px;height:16px" aria-hidden="true"><line x1="80" x2="80" y1="0" y2="16"/>'
               f'<rect x="{x(low):.1f}" y="4" width="{max(2, x(high) - x(low)):.1f}" height="8" fill="var(--a)" rx="2"/>{mark}</svg>')
    source = str(entry["source"]).split(":", 1)[1]
    cells = [html.escape(key), f"{value:g} {html.escape(str(entry.get('unit', '')))}", "measured" if low == high else f"{low:g} to {high:g}",
             "" if base is None else f"{base:g}", picture, f'<span class="faint">{html.escape(source)}</span>']
    last = cells.pop()
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + f'<td style="text-align:left">{last}</td></tr>'


def main(words=None) -> int:
    parser = _command.Parser("calibrate", __doc__.split("\n")[0])
    parser.add_argument("--base", required=True, metavar="CHIP", help="the known chip whose numbers stay where there is no answer")
    parser.add_argument("--output", required=True, metavar="FILE.toml", help="the configuration to write")
    parser.add_argument("--work", metavar="FOLDER", help="where answers are kept (default: beside the output)")
    parser.add_argument("--html", metavar="FILE", help="the page (default: the output's name with .html)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a number that the vendor documents")
    parser.add_argument("--title", help="the new chip's title (default: the device's name)")
    chosen = parser.chosen(words)
    output = pathlib.Path(chosen.output)
    work = pathlib.Path(chosen.work) if chosen.work else output.with_suffix(".calibration")
    begin = time.monotonic()
    try:
        # What is wrong is refused before minutes of measuring.
        _chip_values.values(chosen.base)
        _command.check_writable(chosen.output, chosen.html)
        for change in chosen.set:
            if "" in change.partition("="):
                raise _program.ForetraceError(f"--set {change}: expected KEY=VALUE")
        document = ask(work)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        print(_program.run(["calibrate", str(document), "--base", chosen.base, "--output", str(output), *(["--title", chosen.title] if chosen.title else []),
                            *(word for change in chosen.set for word in ("--set", change))]), end="")
        shown = pathlib.Path(chosen.html) if chosen.html else output.with_suffix(".html")
        _command.write(shown, page(output, chosen.base, document))
        print(f"  {output} and {shown}, in {time.monotonic() - begin:.0f} s. To use it: --arch {os.path.join('.', output)}")
    except (_program.ForetraceError, OSError, subprocess.SubprocessError) as error:
        print(f"foretrace: {_command.one_line(error)}", file=sys.stderr)
        return 2
    return 0
