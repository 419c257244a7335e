"""The numbers of a chip with their kinds and ranges, as `foretrace arch NAME --json` lists them."""

import dataclasses
import functools

from foretrace import _program


@dataclasses.dataclass(frozen=True)
class ChipValue:
    """A key of a chip: "l2.latency". `form`: "integer", "real", "list", or, of no quantity, "switch" (0 or 1) or "mask" (bits). `low` and `high`: the range
    that its evidence leaves; None where it states none."""

    key: str
    value: str
    numbers: tuple[float, ...]
    unit: str
    form: str
    kind: str
    low: float | None
    high: float | None
    source: str

    @property
    def number(self) -> float | None:
        """The value where it is one number."""
        return self.numbers[0] if len(self.numbers) == 1 else None


@functools.cache
def values(arch: str) -> dict[str, ChipValue]:
    """By key. Throws ForetraceError where there is no chip of that name."""
    return {row["key"]: ChipValue(**{**row, "numbers": tuple(row["numbers"])}) for row in _program.chip(arch)["values"]}
