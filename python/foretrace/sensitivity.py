"""foretrace sensitivity TRACE|LAUNCHES.toml|KERNEL.cu --arch CHIP: how much each number of the chip moves a launch, and its error band.

Every chosen key is set to its lowest and its highest value alone, and the launch is simulated again. The values are the range that the
configuration states; where it states none, or one of less than a whole step, a share below and above. The band: the configuration's assumed
and fitted numbers move independently of each other, so the deviations add up as squares; the widest sums them up. docs/studies.md.
"""

import concurrent.futures
import contextlib
import dataclasses
import fnmatch
import hashlib
import json
import math
import os
import pathlib
import sqlite3
import sys
import tempfile

from foretrace import _chip_values, _command, _origin, _picture, _program, sweep

UNSURE = ("assumed", "fitted", "transferred")


@dataclasses.dataclass(frozen=True)
class Move:
    """A key with its two values, and the launch's cycles at each; `stated`: the range is the configuration's own."""

    key: str
    kind: str
    unit: str
    value: float
    low: float
    high: float
    stated: bool
    cycles_low: int
    cycles_high: int

    def swing(self) -> int:
        return abs(self.cycles_high - self.cycles_low)


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    trace: str
    arch: str
    cycles: int
    moves: list[Move]              #: the one that moves the launch most first
    refused: dict[str, str]        #: keys whose values the chip does not take, and why

    def band(self) -> tuple[float, float]:
        """Cycles between which the launch lies where the numbers of stated ranges are independent of each other."""
        return self._sum(lambda parts: math.sqrt(sum(part * part for part in parts)))

    def widest(self) -> tuple[float, float]:
        """The same where all of them are off at once, each in the worse direction."""
        return self._sum(sum)

    def _sum(self, together) -> tuple[float, float]:
        below, above = [], []
        for move in self.moves:
            if move.stated and move.kind in UNSURE:
                changes = [cycles - self.cycles for cycles in (move.cycles_low, move.cycles_high)]
                below.append(max(0, -min(changes)))
                above.append(max(0, max(changes)))
        return self.cycles - together(below), self.cycles + together(above)


def _ends(value: _chip_values.ChipValue, share: float):
    """(low, high, stated) of a number; None where there is nothing to move: a list, and of switches and bits a share means nothing."""
    number = value.number
    stated = value.low is not None and value.high is not None and value.low < value.high
    if stated and value.form != "real":
        stated = round(value.low) < round(value.high)  # else it lies within a whole step: as none
    if number is None or (value.form in ("switch", "mask") and not stated):
        return None
    low, high = (value.low, value.high) if stated else (number * (1 - share), number * (1 + share))
    if value.form != "real":
        low, high = (math.floor(low), math.ceil(high)) if not stated else (round(low), round(high))
    return (low, high, stated) if low < high else None


def chosen_keys(arch: str, patterns) -> dict[str, _chip_values.ChipValue]:
    """Keys of a chip by patterns ("l2.*"), by kind ("assumed"), or all. Throws StudyError where a pattern means none."""
    values, found = _chip_values.values(arch), {}
    values = {key: value for key, value in values.items() if not key.startswith("cuda.")}  # what programs are told: no cycle depends on it
    kinds = {value.kind for value in values.values()}
    for pattern in patterns:
        matching = {key: value for key, value in values.items()
                    if pattern == "all" or value.kind == pattern or fnmatch.fnmatchcase(key, pattern)}
        if not matching:
            raise sweep.StudyError(f"--keys {pattern}: no key of {arch}; expected keys, patterns such as 'l2.*', all, or a kind: "
                                   f"{', '.join(sorted(kinds))}")
        found.update(matching)
    return found


class _Kept:
    """Cycles by what was asked, in a database beside the trace: what was done when the process was killed is kept."""

    def __init__(self, database):
        try:
            if database:
                with _command.made(database) as new:
                    if new is not None:
                        self._open(new).close()
            self.connection = self._open(database or ":memory:")
        except sqlite3.Error as error:
            raise sweep.StudyError(_command.database_error(database, error, "a database of foretrace sensitivity")) from None

    @staticmethod
    def _open(database) -> sqlite3.Connection:
        connection = sqlite3.connect(database, check_same_thread=False)
        try:
            connection.execute("CREATE TABLE IF NOT EXISTS cycles (id TEXT PRIMARY KEY, asked TEXT NOT NULL, cycles INTEGER, refused TEXT)")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def get(self, identity: str):
        """None where it was not done; what was refused is asked again."""
        return self.connection.execute("SELECT cycles, refused FROM cycles WHERE id = ? AND refused IS NULL", (identity,)).fetchone()

    def put(self, identity: str, asked: str, cycles, refused) -> None:
        with self.connection:
            self.connection.execute("INSERT OR REPLACE INTO cycles VALUES (?,?,?,?)", (identity, asked, cycles, refused))


def measure(trace, arch: str, keys=("assumed", "fitted", "transferred"), share: float = 0.1, jobs: int | None = None, database=None,
            say=lambda text: None, name: str | None = None) -> Sensitivity:
    """Simulates the trace at both ends of every chosen key. `name`: what the result is called, where not the trace's path. `database` keeps what was done, so that a second call goes on."""
    asked = {}
    for key, value in chosen_keys(arch, keys).items():
        ends = _ends(value, share)
        if ends is not None:
            asked[key] = (value, ends)
    kept, about, chip = _Kept(database), _program.about(), _program.chip(arch)
    made = {"trace_sha256": hashlib.sha256(pathlib.Path(trace).read_bytes()).hexdigest(), "chip": chip["name"], "config_sha256": chip["sha256"],
            **{key: about[key] for key in ("version", "commit", "program_sha256")}}

    def cycles_of(changes: dict):
        text = json.dumps({**made, "changes": changes}, sort_keys=True)
        identity = hashlib.sha256(text.encode()).hexdigest()
        found = kept.get(identity)
        if found is None:
            try:
                found = (sweep._predict(pathlib.Path(trace), arch, changes).cycles, None)
            except _program.ForetraceError as error:
                found = (None, str(error))
        return identity, text, found

    plans = [(None, None)] + [(key, end) for key, (_, ends) in asked.items() for end in ends[:2]]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        futures = {pool.submit(cycles_of, {} if key is None else {key: end}): (key, end) for key, end in plans}
        for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
            identity, text, found = future.result()
            kept.put(identity, text, *found)
            results[futures[future]] = found
            say(f"{number} of {len(plans)}")
    base, refusal = results[None, None]
    if base is None:
        raise _program.ForetraceError(refusal)
    moves, refused = [], {}
    for key, (value, (low, high, stated)) in asked.items():
        at_low, at_high = results[key, low], results[key, high]
        if at_low[0] is None or at_high[0] is None:
            refused[key] = at_low[1] or at_high[1]
            continue
        moves.append(Move(key, value.kind, value.unit, value.number, low, high, stated, at_low[0], at_high[0]))
    moves.sort(key=lambda move: (-move.swing(), move.key))
    return Sensitivity(name or str(trace), arch, base, moves, refused)


def to_text(found: Sensitivity, rows: int = 20) -> str:
    lines = [f"{found.trace} on {found.arch}: {found.cycles:,} cycles",
             f"  {'key':34} {'kind':12} {'from':>12} {'to':>12} {'cycles at each':>25} {'moves':>8}"]
    for move in found.moves[:rows]:
        lines.append(f"  {move.key:34} {move.kind + ('' if move.stated else '*'):12} {move.low:12g} {move.high:12g} "
                     f"{move.cycles_low:12,} {move.cycles_high:12,} {100 * move.swing() / found.cycles:7.2f}%")
    if len(found.moves) > rows:
        lines.append(f"  {len(found.moves) - rows} keys more move it less")
    if any(not move.stated for move in found.moves[:rows]):
        lines.append("  *: the configuration states no range, or one of less than a whole step; a share below and above")
    (low, high), (least, most) = found.band(), found.widest()
    lines.append(f"  error band of the assumed, fitted and transferred numbers with ranges: {low:,.0f} to {high:,.0f} cycles "
                 f"({100 * (low / found.cycles - 1):+.1f}% to {100 * (high / found.cycles - 1):+.1f}%); all off at once: {least:,.0f} to {most:,.0f}")
    for key, why in found.refused.items():
        lines.append(f"  left out: {key}: {why}")
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def trace_of(file: str, arch: str, launch: str | None, options: list[str]):
    """(trace, name) of what was asked for: a trace as it is; of a launch file the launch (`launch`, where it has several), or a source or cubin with the
    words of `foretrace predict` that say the launch, recorded for as long as the context lasts."""
    path = pathlib.Path(file)
    if launch and path.suffix in (".cu", ".cubin"):
        raise sweep.StudyError(f"--launch {launch}: {file} is no launch file; expected LAUNCHES.toml")
    if path.suffix not in (".toml", ".cu", ".cubin"):
        if options or launch:
            raise sweep.StudyError(f"{(['--launch'] + options)[bool(options)]}: {file} is a trace, which is one launch; expected no words about a launch")
        yield path, file
        return
    with tempfile.TemporaryDirectory() as name:
        trace, asked, called = pathlib.Path(name) / "launch.trace", str(path), f"{file} {' '.join(options)}".strip()
        if path.suffix == ".toml":
            asked, called = _one_launch(path, launch, pathlib.Path(name))
        _program.run(["predict", asked, *options, "--arch", arch, "--accuracy", "exact", "--trace", str(trace)])
        yield trace, called


def _one_launch(path: pathlib.Path, launch: str | None, folder: pathlib.Path) -> tuple[str, str]:
    """(a launch file with this launch alone, what it is called)."""
    contents = _command.read_launches(path)
    launches = {str(each.get("name")): each for each in contents["launch"]}
    if launch is None and len(launches) == 1:
        launch = next(iter(launches))
    if launch not in launches:
        raise sweep.StudyError(f"{path}: {'several launches' if launch is None else f'no launch {launch}'}; expected --launch with one of "
                               f"{', '.join(list(launches)[:8])}{', ...' if len(launches) > 8 else ''}")
    if "after" in launches[launch]:
        raise sweep.StudyError(f"{path}: {launch} comes after another; expected a launch of its own")
    kernel = {"source": contents.get("source"), **{key: value for key, value in launches[launch].items() if key not in ("reference", "check", "dump")}}
    file = folder / "launch.toml"
    file.write_text(_origin.launch_of(kernel, path.parent, _origin.Files()).text)
    return str(file), f"{path} {launch}"


EXAMPLES = """examples:
  foretrace sensitivity sgemm.trace --arch h100 --html sgemm_sensitivity.html
  foretrace sensitivity launches.toml --launch sgemm_512 --arch h100 --keys 'l2.*,dram.*' --by 20
  foretrace sensitivity saxpy.cu --kernel saxpy --grid 64 --block 256 --arg buf:f32:16384 --arg buf:f32:16384 --arg val:f32:2 --arg val:i32:16384 --arch h100
"""
_OF_A_LAUNCH = {"kernel": "NAME", "define": "NAME[=VALUE]", "nvcc": "OPTIONS", "grid": "X[,Y[,Z]]", "block": "X[,Y[,Z]]", "cluster": "X[,Y[,Z]]",
                "shared": "BYTES", "arg": "ARGUMENT", "symbol": "NAME=BUFFER"}


def main(words=None) -> int:
    parser = _command.Parser("sensitivity", __doc__.split("\n")[0], EXAMPLES)
    parser.add_argument("launch", metavar="TRACE|LAUNCHES.toml|KERNEL.cu", help="what foretrace predict --trace wrote, a launch file, or a source or cubin")
    parser.add_argument("--arch", required=True, metavar="CHIP", help="by name or alias: h100 ('foretrace arch' lists them)")
    parser.add_argument("--launch", dest="name", metavar="NAME", help="of a launch file: which launch, where there are several")
    for option, value in _OF_A_LAUNCH.items():
        parser.add_argument(f"--{option}", action="append", metavar=value, help="of a source or cubin: as foretrace predict takes it")
    parser.add_argument("--keys", metavar="LIST", default=",".join(UNSURE), help="keys, patterns (l2.*), kinds, or all, with commas (default: %(default)s)")
    parser.add_argument("--by", type=_command.percentage, default=10, metavar="PERCENT",
                        help="below and above, where no range is stated, more than 0 and less than 100; switches (0 or 1) stay as they are (default: 10)")
    parser.add_argument("--rows", type=_command.positive, default=20, metavar="N", help="keys to list and draw (default: 20)")
    parser.add_argument("--html", metavar="FILE", help="write the tornado picture")
    parser.add_argument("--json", metavar="FILE", help="write all that was found")
    parser.add_argument("--database", metavar="FILE", help="keep what was done here: a second call goes on with it")
    parser.add_argument("--jobs", type=_command.positive, metavar="N", help="simulations at a time (default: one per processor)")
    chosen = parser.chosen(words)
    options = [word for option in _OF_A_LAUNCH for value in getattr(chosen, option) or [] for word in (f"--{option}", value)]
    try:
        _command.check_writable(chosen.html, chosen.json, read=chosen.launch)
        _program.refuse_device(chosen.launch)
        with trace_of(chosen.launch, chosen.arch, chosen.name, options) as (trace, name):
            found = measure(trace, chosen.arch, chosen.keys.split(","), chosen.by / 100, chosen.jobs, chosen.database, sweep.progress(), name)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        print(to_text(found, chosen.rows), end="")
        if chosen.html:
            _command.write(chosen.html, _picture.tornado(found, chosen.rows))
        if chosen.json:
            low, high = found.band()
            _command.write(chosen.json, json.dumps({"schema": 1, **dataclasses.asdict(found), "band_low": low, "band_high": high}, indent=1) + "\n")
    except (sweep.StudyError, _program.ForetraceError, OSError, sqlite3.Error) as error:
        print(f"foretrace: {_command.one_line(error)}", file=sys.stderr)
        return 2
    return 0
