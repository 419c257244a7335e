"""What a result document holds, as objects."""

import collections
import contextlib
import dataclasses
import html
import json
import pathlib
import os
import tempfile
from collections.abc import Sequence
from typing import Any

from foretrace import _command, _program


PathLike = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One static instruction with its counters over the launch; docs/json.md says what each is."""

    offset: int
    sass: str
    file: str | None
    line: int | None
    executed: int
    thread_executed: int
    pred_on: int
    requests: int
    sectors: int
    ideal_sectors: int
    l1_hit_sectors: int
    wavefronts: int
    ideal_wavefronts: int
    stalled: dict[str, int]
    call_chain: int | None = None  #: of inlined code: its number in the document's call_chains

    @property
    def warp_cycles(self) -> int:
        """Warp-cycles spent with this instruction next, the issue included."""
        return sum(self.stalled.values())


@dataclasses.dataclass(frozen=True)
class Gain:
    """What lifting one limit would bring: the launch simulated again without it."""

    key: str
    words: str
    cycles: float
    speedup: float


class Prediction:
    """One launch on one chip. prediction["dram__bytes_read.sum"] is a metric under Nsight Compute's name; None is n/a. Those that are asked
    for most are properties with a type (docs/python.md has the list)."""

    def __init__(self, entry: dict[str, Any]):
        self._entry = entry
        self.arch: str = entry["arch"]
        self.kernel: str = entry["kernel"]
        self.launch: str | None = entry["launch"]
        self.set: list[str] = entry["set"]
        self.grid, self.block, self.cluster = (tuple(entry[key]) for key in ("grid", "block", "cluster"))
        self.metrics: dict[str, float | None] = entry["metrics"]
        self.limiter: str = entry["limiter"]["name"]
        self.sentence: str = entry["limiter"]["sentence"]
        self.assumed_values: int = entry["assumed_values"]
        self.sampled: bool = entry["accuracy"]["sampled"]

    def __getitem__(self, metric: str) -> float | None:
        return self.metrics[metric]

    def _number(self, metric: str) -> float:
        """Of a metric that every prediction has."""
        value = self.metrics[metric]
        if value is None:
            raise ValueError(f"{self.kernel} on {self.arch}: {metric} is n/a")
        return value

    @property
    def duration(self) -> float:
        """Seconds, at the chip's clock."""
        return self._number("gpu__time_duration.sum") * 1e-9

    @property
    def cycles(self) -> int:
        """SM cycles from the launch to the end of its last block and the drain."""
        return int(self._number("gpc__cycles_elapsed.max"))

    @property
    def registers(self) -> int:
        """Per thread."""
        return int(self._number("launch__registers_per_thread"))

    @property
    def warp_instructions(self) -> int:
        """Executed by all warps."""
        return int(self._number("smsp__inst_executed.sum"))

    @property
    def dram_bytes_read(self) -> int:
        """From DRAM."""
        return int(self._number("dram__bytes_read.sum"))

    @property
    def dram_bytes_written(self) -> int:
        """To DRAM, before the kernel's end."""
        return int(self._number("dram__bytes_write.sum"))

    @property
    def theoretical_occupancy(self) -> float | None:
        """Percent: resident warps that the launch allows, over warp slots."""
        return self.metrics["sm__maximum_warps_per_active_cycle_pct"]

    @property
    def achieved_occupancy(self) -> float | None:
        """Percent: mean resident warps of an active SM, over its warp slots."""
        return self.metrics["sm__warps_active.avg.pct_of_peak_sustained_active"]

    @property
    def compute_throughput(self) -> float | None:
        """Percent: the busiest of issue slots, pipes and the memory unit's input."""
        return self.metrics["sm__throughput.avg.pct_of_peak_sustained_elapsed"]

    @property
    def memory_throughput(self) -> float | None:
        """Percent: the busiest of L1, the network, L2 and DRAM."""
        return self.metrics["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"]

    @property
    def dram_throughput(self) -> float | None:
        """Percent of the cycles of DRAM's data buses."""
        return self.metrics["dram__throughput.avg.pct_of_peak_sustained_elapsed"]

    @property
    def l1_hit_rate(self) -> float | None:
        """Percent of the sectors that were looked up in L1."""
        return self.metrics["l1tex__t_sector_hit_rate.pct"]

    @property
    def l2_hit_rate(self) -> float | None:
        """Percent of the sectors that were looked up in L2."""
        return self.metrics["lts__t_sector_hit_rate.pct"]

    @property
    def instructions(self) -> list[Instruction]:
        return [Instruction(**row) for row in self._entry["instructions"]]

    @property
    def gains(self) -> list[Gain]:
        """The largest first; empty where they were not asked for."""
        base = self._entry.get("gains_base", self.cycles)
        gains = [Gain(g["key"], g["words"], g["cycles"], base / g["cycles"]) for g in self._entry.get("gains", [])]
        return sorted(gains, key=lambda gain: gain.cycles)

    @property
    def over_time(self) -> dict[str, list[int]] | None:
        """By slice of the launch what was counted in it (docs/json.md, over_time); None where the launch was sampled."""
        rows: dict[str, list[int]] | None = self._entry.get("over_time")
        return rows

    @property
    def sms(self) -> dict[str, list[int]] | None:
        """By SM its active cycles, instructions and blocks; None where the launch was sampled."""
        rows: dict[str, list[int]] | None = self._entry.get("sms")
        return rows

    def lines(self) -> dict[tuple[str, int], int]:
        """Warp-cycles by source file and line, the most first. Needs -lineinfo, which sources are compiled with."""
        found: collections.Counter[tuple[str, int]] = collections.Counter()
        for row in self.instructions:
            if row.file is not None and row.line is not None:
                found[row.file, row.line] += row.warp_cycles
        return dict(found.most_common())

    def __repr__(self) -> str:
        return f"<{self.launch or self.kernel} on {self.arch}: {self.cycles:,} cycles, {self.duration * 1e6:.2f} us, {self.limiter}>"


class Results(list[Prediction]):
    """The predictions of one call, a list, with the document that they came from."""

    def __init__(self, document: dict[str, Any]):
        super().__init__(Prediction(entry) for entry in document["predictions"])
        self.document = document

    def __add__(self, other: "Results") -> "Results":  # type: ignore[override]
        return Results({**self.document, "predictions": self.document["predictions"] + other.document["predictions"]})

    def to_dataframe(self) -> Any:
        """A pandas DataFrame: a row per prediction, a column per metric. Needs pandas."""
        import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return pandas.DataFrame([{"launch": p.launch, "kernel": p.kernel, "arch": p.arch, "set": " ".join(p.set), "limiter": p.limiter,
                                  **p.metrics} for p in self])

    def save(self, path: PathLike) -> None:
        """Writes the result document, which `foretrace report` and `foretrace compare` read."""
        _command.write(path, json.dumps(self.document))

    def html(self, path: PathLike) -> None:
        """Writes the page of the whole report (docs/page.md)."""
        with tempfile.TemporaryDirectory() as folder:
            document = pathlib.Path(folder) / "result.json"
            self.save(document)
            _program.run(["report", str(document), "--html", str(path)])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("Launch", "Chip", "Duration", "Cycles", "Achieved occupancy", "What limits it"))
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in
                             (p.launch or p.kernel, " ".join([p.arch, *p.set]), f"{p.duration * 1e6:.2f} us", f"{p.cycles:,}",
                              "n/a" if p.achieved_occupancy is None else f"{p.achieved_occupancy:.0f}%", p.sentence)) + "</tr>"
            for p in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


@dataclasses.dataclass(frozen=True)
class Occupancy:
    """How many blocks an SM holds, and what limits it."""

    arch: str
    blocks: int
    warps: int
    percent: float
    limiter: str
    limit_registers: int
    limit_shared_mem: int
    limit_warps: int
    limit_blocks: int
    limit_barriers: int
    registers_per_block: int
    shared_per_block: int
    shared_config: int
    next_step: str


def read(path: PathLike) -> Results:
    """Reads a result document that --json wrote. Throws ForetraceError where the file is none."""
    _program.refuse_device(path)
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return Results(json.loads(pathlib.Path(path).read_text(encoding="utf-8")))
    raise _program.ForetraceError(f"{path}: no result document; expected one that --json wrote")


def of_process(words: Sequence[str]) -> Results:
    """What a command that takes --json predicts in a process of its own: a study's points and a baseline's launches, of which many run side by side,
    each on one thread, and each of which may be killed or run out of memory alone."""
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "result.json"
        _program.run([*words, "--json", str(document)])
        return read(document)
