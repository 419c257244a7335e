"""The page of a study (foretrace sweep --html): what it is, a chart over each thing that changes, the best points, and all points.

A chart has a line per kernel or trace. What else the study changes is averaged over: the geometric mean over those combinations that were done for
every value of the chart's key, so that no point of a line is made of others than its neighbours are.
"""

import dataclasses
import html
import math

from foretrace import _chip_values, _picture, _program

_COLOURS = ["--a", "--b", "--good", "--c4", "--c5", "--c6", "--c7", "--c8"]
_ARCH, _SHAPE = "arch", "shape"
_SORT = """<script>
"use strict";
for (const table of document.querySelectorAll(".rows table")) {
  const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows];
  const value = (row, i) => row.cells[i].dataset.v === undefined ? row.cells[i].textContent : Number(row.cells[i].dataset.v);
  heads.forEach((head, i) => head.firstChild.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const order = (x, y) => typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    table.tBodies[0].append(...rows.sort((a, b) => (falling ? -1 : 1) * order(value(a, i), value(b, i))));
  }));
}
</script>"""


@dataclasses.dataclass(frozen=True)
class Point:
    """One prediction: its kernel, the problem that it solves (the kernel, with its shape where that says the arguments too), where it stands on each
    axis, and what came out."""

    kernel: str
    problem: str
    at: dict
    cycles: int
    ns: float
    limiter: str


@dataclasses.dataclass(frozen=True)
class Line:
    """A kernel's way over an axis: (value, mean) for each value; `others`: of how many combinations of everything else each is the mean."""

    kernel: str
    points: list
    others: int


def points_of(study, done) -> list[Point]:
    found = []
    for work, arch, changes, cycles, ns, limiter, _ in done:
        kernel, alternatives = study.parts[work]
        problem = f"{kernel} {alternatives[_SHAPE]}" if kernel in study.sized and _SHAPE in alternatives else kernel
        found.append(Point(kernel, problem, {**changes, **alternatives, _ARCH: arch}, cycles, ns, limiter))
    return found


def axes_of(study) -> dict[str, list]:
    """What changes, with its values in the study's order: keys, defines, shapes, and the chips."""
    axes = {key: list(dict.fromkeys(values)) for key, values in study.sets.items()}
    for _, alternatives in study.parts.values():
        for name, value in alternatives.items():
            if value not in axes.setdefault(name, []):
                axes[name].append(value)
    axes[_ARCH] = list(dict.fromkeys(study.arch))
    return axes


def mean(numbers) -> float:
    numbers = list(numbers)
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def in_time(axis: str) -> bool:
    """Whether a chart over this is of time: cycles of unlike clocks do not compare."""
    return axis == _ARCH or axis.startswith("clock.")


def lines_over(axis: str, points: list[Point]) -> list[Line]:
    found = []
    for kernel in dict.fromkeys(point.kernel for point in points):
        groups, values = {}, {}
        for point in points:
            if point.kernel == kernel and axis in point.at:
                rest = tuple(sorted((key, str(value)) for key, value in point.at.items() if key != axis))
                groups.setdefault(rest, {})[point.at[axis]] = point.ns / 1000 if in_time(axis) else point.cycles
                values[point.at[axis]] = None
        whole = [group for group in groups.values() if len(group) == len(values)]
        if whole and len(values) > 1:
            found.append(Line(kernel, [(value, mean(group[value] for group in whole)) for value in values], len(whole)))
    return found


def _text(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 or number == int(number) else f"{number:,.4g}"


def _places(values: list) -> list[float]:
    """From 0 to 1: by size where all are numbers (by ratio where they span eight times and more), else evenly."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        low, high = min(values), max(values)
        if low > 0 and high >= 8 * low:
            return [math.log(value / low) / math.log(high / low) for value in values]
        return [(value - low) / (high - low) for value in values]
    return [i / max(1, len(values) - 1) for i in range(len(values))]


def _ticks(low: float, high: float, ratio: bool) -> list[float]:
    """Round numbers within the axis: of its decades where it is logarithmic."""
    if ratio:
        steps = [f * 10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for f in (1, 2, 5)]
        inside = [step for step in steps if low <= step <= high]
        return inside if len(inside) < 7 else [step for step in inside if math.log10(step) % 1 < 1e-9]
    base = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(f * base for f in (1, 2, 5, 10) if (high - low) / (f * base) <= 5)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _style(i: int) -> tuple[str, str]:
    return f"var({_COLOURS[i % len(_COLOURS)]})", "" if i < len(_COLOURS) else ' stroke-dasharray="6 3"'


def _chart(axis: str, values: list, lines: list[Line], styles: dict) -> str:
    """The chart's SVG: the values of the axis to the right, cycles or time upwards."""
    width, height, x0, x1, y0, y1 = 520, 244, 76, 440, 210, 14
    unit = "us" if in_time(axis) else "cycles"
    ends = [number for line in lines for _, number in line.points]
    ratio = max(ends) > 10 * min(ends)
    if ratio:
        low, high = min(ends) / 1.2, max(ends) * 1.2
    else:
        middle, half = (min(ends) + max(ends)) / 2, max(0.6 * (max(ends) - min(ends)), 0.01 * max(ends))
        low, high = max(0.0, middle - half), middle + half
    at = dict(zip(map(str, values), _places(values)))

    def x(value) -> float:
        return x0 + 10 + at[str(value)] * (x1 - x0 - 20)

    def y(number: float) -> float:
        share = math.log(number / low) / math.log(high / low) if ratio else (number - low) / (high - low)
        return y0 - share * (y0 - y1)

    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(f"{unit} over {axis}", quote=True)}">']
    for tick in _ticks(low, high, ratio):
        parts.append(f'<line x1="{x0}" x2="{x1}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
                     f'<text x="{x0 - 8}" y="{y(tick) + 4:.1f}" text-anchor="end" class="faint">{_text(tick)}</text>')
    last = -1e9
    for value in sorted(values, key=lambda each: at[str(each)]):
        label = str(value) if not isinstance(value, float) else f"{value:g}"
        if x(value) - last >= 7 * len(label) + 6:
            parts.append(f'<text x="{x(value):.1f}" y="{y0 + 20}" text-anchor="middle" class="faint">{html.escape(label)}</text>')
            last = x(value)
    parts.append(f'<text x="{x1 + 4}" y="{y1 + 4}" class="faint">{unit}</text>')
    free = [y1]  # heights at which something is written
    for line in lines:
        colour, dashes = styles[line.kernel]
        ordered = sorted(line.points, key=lambda point: at[str(point[0])])
        first, (_, end) = line.points[0], ordered[-1]
        path = "".join(f"{'L' if i else 'M'}{x(value):.1f} {y(number):.1f}" for i, (value, number) in enumerate(ordered))
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        for value, number in ordered:
            title = f"{line.kernel}\n{axis} = {value}: {_text(number)} {unit}, {100 * (number / first[1] - 1):+.1f}% against {first[0]}"
            parts.append(f'<circle cx="{x(value):.1f}" cy="{y(number):.1f}" r="4" fill="{colour}"><title>{html.escape(title)}</title></circle>')
        if all(abs(y(end) - other) > 13 for other in free):
            free.append(y(end))
            parts.append(f'<text x="{x1 + 4}" y="{y(end) + 4:.1f}" style="fill:{colour}">{100 * (end / ordered[0][1] - 1):+.1f}%</text>')
    return "".join(parts) + "</svg>"


def _own_values(study, key: str) -> str:
    """What the chips have themselves for a key that the study changes."""
    own = []
    for arch in study.arch:
        try:
            value = _chip_values.values(arch).get(key)
        except _program.ForetraceError:
            continue
        own.append(f"{arch} {'none' if value is None else value.value}{'' if value is None or not value.unit else ' ' + value.unit}")
    return ", ".join(own)


def _averaged(axis: str, axes: dict, lines: list[Line], points: list[Point]) -> str:
    """What a chart's points are the mean over, in words."""
    kernels = {line.kernel for line in lines}
    over = [key for key in axes if key != axis and len({str(point.at[key]) for point in points if point.kernel in kernels and key in point.at}) > 1]
    counts = sorted({line.others for line in lines})
    if not over:
        return "Nothing else changes."
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"Geometric mean over {number} combination{'' if counts == [1] else 's'} of {', '.join(over)}."


def _charts(study, axes: dict, points: list[Point], styles: dict) -> str:
    parts = []
    for axis, values in axes.items():
        lines = lines_over(axis, points)
        if not lines:
            continue
        own = _own_values(study, axis) if axis in study.sets else ""
        words = _averaged(axis, axes, lines, points) + (f" As it is: {own}." if own else "") + (" Time: clocks differ." if in_time(axis) else "")
        parts.append(f'<div><h3>{html.escape(axis)}</h3>{_chart(axis, values, lines, styles)}<p class="faint">{html.escape(words)}</p></div>')
    if not parts:
        return "<h2>What each changes</h2><p>Nothing has two values for which points are done.</p>"
    legend = "".join(f'<i style="background:{styles[kernel][0]}"></i>{html.escape(kernel)}' for kernel in styles) if len(styles) > 1 else ""
    return ('<h2>What each changes</h2><p class="faint">' + legend + (legend and ". ") + "On the right each line's change from its leftmost to its rightmost value. "
            'The axes do not begin at zero.</p><div class="charts">' + "".join(parts) + "</div>")


def _microseconds(ns: float) -> tuple[float, str]:
    return ns / 1000, f"{ns / 1000:,.3f}"


def _shown(cell) -> tuple:
    """(number that the cell is sorted by, None of a text; what stands in it). A pair stands for itself."""
    if isinstance(cell, tuple):
        return cell
    return (cell, _text(cell)) if isinstance(cell, (int, float)) and not isinstance(cell, bool) else (None, str(cell))


def _table(titles: list[str], rows: list[list], sortable: bool, label: str) -> str:
    """Columns of numbers to the right, of text to the left."""
    cells = [[_shown(cell) for cell in row] for row in rows]
    kinds = ["" if all(row[i][0] is not None for row in cells) else " class=t" for i in range(len(titles))]
    head = "".join(f'<th scope="col"{kind}>' + (f"<button>{html.escape(title)}</button>" if sortable else html.escape(title)) + "</th>" for title, kind in zip(titles, kinds))
    body = "".join("<tr>" + "".join(f'<td{kind}{"" if number is None else f" data-v={number!r}"}>{html.escape(text)}</td>' for (number, text), kind in zip(row, kinds)) + "</tr>"
                   for row in cells)
    around = f'<div class="rows" tabindex="0" role="region" aria-label="{html.escape(label, quote=True)}">' if sortable else '<div class="wide">'
    return f"{around}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def best_points(axes: dict, points: list[Point]) -> list[tuple[str, str, Point, float]]:
    """(chip, problem, the fastest point, how many times as long the slowest takes) of every problem on every chip."""
    found = []
    for arch in axes[_ARCH]:
        for problem in dict.fromkeys(point.problem for point in points):
            own = [point for point in points if point.problem == problem and point.at[_ARCH] == arch]
            if own:
                fastest = min(own, key=lambda point: point.ns)
                found.append((arch, problem, fastest, max(point.ns for point in own) / fastest.ns))
    return found


def best_of_all(axes: dict, keys: list[str], points: list[Point]) -> list[tuple[str, dict, float]]:
    """(chip, values of the keys, geometric mean of each problem's fastest time in ns), where there are several problems: the fastest of each chip."""
    problems, found = {point.problem for point in points}, []
    for arch in axes[_ARCH] if len(problems) > 1 and keys else []:
        times = {}
        for point in points:
            if point.at[_ARCH] == arch:
                each = times.setdefault(tuple(point.at[key] for key in keys), {})
                each[point.problem] = min(point.ns, each.get(point.problem, math.inf))
        whole = {values: mean(each.values()) for values, each in times.items() if len(each) == len(problems)}
        if whole:
            fastest = min(whole, key=whole.get)
            found.append((arch, dict(zip(keys, fastest)), whole[fastest]))
    return found


def _best(study, axes: dict, points: list[Point]) -> str:
    columns = [axis for axis in axes if axis != _ARCH]
    rows = [[arch, problem, *(point.at.get(axis, "") for axis in columns), point.cycles, _microseconds(point.ns), point.limiter, (slowest, f"{slowest:.2f}")]
            for arch, problem, point, slowest in best_points(axes, points)]
    together = "".join(f"<p>All kernels together on {html.escape(arch)}: <b>{html.escape(' '.join(f'{key}={value}' for key, value in changes.items()))}</b>, "
                       f"geometric mean {_microseconds(ns)[1]} us.</p>" for arch, changes, ns in best_of_all(axes, list(study.sets), points))
    titles = ["Chip", "Kernel", *columns, "Cycles", "Time, us", "What limits it", "Slowest / best"]
    return ('<h2>Best point of each chip</h2><p class="faint">The fastest; of equal ones the first.</p>' + together +
            _table(titles, rows, False, "Best points"))


def _failed(study, axes: dict, failed) -> str:
    if not failed:
        return ""
    columns = [axis for axis in axes if axis != _ARCH]
    rows = [[kernel, arch, *({**changes, **alternatives}.get(axis, "") for axis in columns), message]
            for work, arch, changes, message in failed for kernel, alternatives in [study.parts[work]]]
    return "<h2>Points that failed</h2>" + _table(["Kernel", "Chip", *columns, "Why"], rows, False, "Points that failed")


def _asked(study, axes: dict, total: int, failed: int, points: list[Point], versions) -> str:
    kernels = list(dict.fromkeys(point.kernel for point in points))
    words = (f"<p>{len(points):,} of {total:,} points" + (f", <b>{failed:,} failed</b>" if failed else "") +
             ("" if len(points) + failed == total else ": <b>the others are not done yet</b>") +
             f". {len(kernels)} kernel{'s' if len(kernels) > 1 else ''} or trace{'s' if len(kernels) > 1 else ''} ({html.escape(', '.join(kernels))}) on {html.escape(', '.join(axes[_ARCH]))}. "
             f'<span class="faint">Predicted by {html.escape(", ".join(versions))}. No GPU was used.</span></p>')
    rows = []
    for axis, values in axes.items():
        kind = "chip" if axis == _ARCH else "key" if axis in study.sets else "grid, block and arguments" if axis == _SHAPE else "define"
        rows.append([axis, kind, ", ".join(map(str, values)), _own_values(study, axis) if axis in study.sets else ""])
    return words + _table(["Changed", "Is", "Values", "As it is"], rows, False, "What is changed")


def page(study, done: list[tuple], failed: list[tuple] = ()) -> str:
    """`done`: what sweep.results() gives, at least one point; `failed`: what sweep.failures() gives."""
    points, axes = points_of(study, done), axes_of(study)
    styles = {kernel: _style(i) for i, kernel in enumerate(dict.fromkeys(point.kernel for point in points))}
    columns = [axis for axis in axes if axis != _ARCH]
    rows = [[point.kernel, point.at[_ARCH], *(point.at.get(axis, "") for axis in columns), point.cycles, _microseconds(point.ns), point.limiter] for point in points]
    every = _table(["Kernel", "Chip", *columns, "Cycles", "Time, us", "What limits it"], rows, True, "All points")
    body = (_asked(study, axes, sum(1 for _ in study.combinations()), len(failed), points, dict.fromkeys(row[-1] for row in done)) + _charts(study, axes, points, styles) +
            _best(study, axes, points) + "<h2>All points</h2>" + '<p class="faint">A column\'s title sorts.</p>' + every + _failed(study, axes, failed) + _SORT)
    return _picture._page(f"{study.path.name}: a study", body)
