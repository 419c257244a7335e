"""foretrace optimise DESIGN.toml: which combinations of a chip's numbers are worth their cost, over some traces or kernels.

A design is a study (foretrace sweep) of one chip with a cost formula. Where its combinations are more than the budget, a part of them is
simulated: some at first, spread evenly, then the neighbours of those that nothing beats, until no neighbour is better. Every point is kept in
the study's database: a second call goes on. docs/studies.md.
"""

import ast
import itertools
import json
import math
import operator
import random
import sqlite3
import sys

from foretrace import _chip_values, _command, _picture, _program, sweep

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
              ast.USub: operator.neg, ast.UAdd: operator.pos}
_FUNCTIONS = {"sqrt": math.sqrt, "log2": math.log2, "min": min, "max": max}


class Formula:
    """A sum of products of a chip's keys: "sm.count * 2.5 + l2.bytes / 1e6". Numbers, + - * / **, sqrt, log2, min and max."""

    def __init__(self, text: str):
        self.text = text
        try:
            self._tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise sweep.StudyError(f"cost: {text!r}: {error.msg}") from None

    def __call__(self, values: dict) -> float:
        """Throws StudyError where a key is not in `values`, or the arithmetic fails."""
        try:
            return float(self._value(self._tree, values))
        except (ArithmeticError, ValueError) as error:
            raise sweep.StudyError(f"cost: {self.text!r}: {error}") from None

    def _value(self, node, values):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self._value(node.left, values), self._value(node.right, values))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self._value(node.operand, values))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords:
            return _FUNCTIONS[node.func.id](*(self._value(each, values) for each in node.args))
        if isinstance(node, (ast.Attribute, ast.Name)):
            key = ast.unparse(node)
            if key in values:
                return values[key]
            raise sweep.StudyError(f"cost: {key}: no key of the chip with one number")
        raise sweep.StudyError(f"cost: {ast.unparse(node)!r}: expected numbers, keys, + - * / ** and {', '.join(sorted(_FUNCTIONS))}")


def front(points):
    """Those of (cost, time, ...) that no other beats in one without losing in the other, the cheapest first."""
    best, found = math.inf, []
    for point in sorted(points, key=lambda p: (p[0], p[1])):
        if point[1] < best:
            best = point[1]
            found.append(point)
    return found


class Design:
    """A study with one chip, the cost of a combination, and how many combinations may be simulated."""

    def __init__(self, path):
        self.study = sweep.Study(path, {"cost", "budget"})
        self.path = self.study.path
        if len(self.study.arch) != 1 or not self.study.sets:
            raise sweep.StudyError(f"{path}: expected one chip in arch, and [set] with the values to choose from")
        cost = self.study.extra.get("cost")
        self.cost = Formula(cost if _command.is_text(cost) else self._missing())
        self.budget = self.study.extra.get("budget", 0)
        if not isinstance(self.budget, int) or self.budget < 0:
            raise sweep.StudyError(f"{path}: budget: expected a whole number of combinations; 0: all of them")
        self.arch = self.study.arch[0]
        self.base = {key: value.number for key, value in _chip_values.values(self.arch).items() if value.number is not None}

    def _missing(self):
        raise sweep.StudyError(f"{self.path}: cost: expected a formula of the chip's keys, 'sm.count * 2 + l2.bytes / 1e6'")

    def cost_of(self, combination: tuple) -> float:
        return self.cost({**self.base, **dict(zip(self.study.sets, combination))})

    def combinations(self) -> list[tuple]:
        return list(itertools.product(*self.study.sets.values()))

    def neighbours(self, combination: tuple):
        """One value per step up or down."""
        for i, values in enumerate(self.study.sets.values()):
            at = values.index(combination[i])
            for step in (at - 1, at + 1):
                if 0 <= step < len(values):
                    yield combination[:i] + (values[step],) + combination[i + 1:]


def _evaluate(design: Design, combinations, jobs, say) -> dict[tuple, float]:
    """Time of each combination as the geometric mean over the works, in nanoseconds."""
    keys = list(design.study.sets)
    wanted = {json.dumps(dict(zip(keys, combination)), sort_keys=True): combination for combination in combinations}
    sweep.run(design.study, jobs=jobs, say=say, only=lambda changes: json.dumps(changes, sort_keys=True) in wanted)
    times = {}
    for _, changes, nanoseconds in sweep.durations(design.study):
        combination = wanted.get(json.dumps(changes, sort_keys=True))
        if combination is not None:
            times.setdefault(combination, []).append(nanoseconds)
    whole = len(design.study.works)  # the mean of a part of the traces is another chip's
    return {combination: math.exp(sum(map(math.log, each)) / len(each)) for combination, each in times.items() if len(each) == whole}


def search(design: Design, jobs: int | None = None, say=lambda text: None):
    """(points, front, today): each point (cost, time relative to the chip as it is, text, combination)."""
    everything = design.combinations()
    budget = design.budget or len(everything)
    base_time = _evaluate_base(design, jobs, say)
    if budget >= len(everything):
        done = set(everything)
    else:
        done = set(random.Random(1).sample(everything, max(1, budget // 2)))
    times = _evaluate(design, done, jobs, say)
    while len(done) < budget:
        points = [(design.cost_of(c), t, "", c) for c, t in times.items()]
        fresh = [n for point in front(points) for n in design.neighbours(point[3]) if n not in done]
        fresh = list(dict.fromkeys(fresh))[: budget - len(done)]
        if not fresh:
            break
        done.update(fresh)
        times.update(_evaluate(design, fresh, jobs, say))
    points = sorted((design.cost_of(c), t / base_time, " ".join(f"{k}={v}" for k, v in zip(design.study.sets, c)), c) for c, t in times.items())
    return points, front(points), (design.cost(design.base), 1.0, f"{design.arch} as it is")


def _evaluate_base(design: Design, jobs, say) -> float:
    plain = sweep.Study(design.path, {"cost", "budget"})
    plain.sets = {}
    sweep.run(plain, jobs=jobs, say=say)
    failed = sweep.failures(plain)
    if failed:
        raise sweep.StudyError(f"{design.path}: {failed[0][0]} on {design.arch} as it is: {failed[0][3]}")
    each = [nanoseconds for _, _, nanoseconds in sweep.durations(plain)]
    return math.exp(sum(map(math.log, each)) / len(each))


EXAMPLES = """examples:
  foretrace optimise design.toml --html front.html --csv combinations.csv
"""


def main(words=None) -> int:
    parser = _command.Parser("optimise", f"{__doc__.split(chr(10))[0]} {sweep.CODES}", EXAMPLES)
    parser.add_argument("design", metavar="DESIGN.toml", help="a study of one chip with a formula of cost (docs/studies.md)")
    parser.add_argument("--html", metavar="FILE", help="write the picture of time over cost")
    parser.add_argument("--csv", metavar="FILE", help="write every simulated combination, and whether it is on the front")
    parser.add_argument("--jobs", type=_command.positive, metavar="N", help="simulations at a time (default: one per processor)")
    chosen = parser.chosen(words)
    try:
        _command.check_writable(chosen.html, chosen.csv, read=chosen.design)
        design = Design(chosen.design)
        points, best, today = search(design, chosen.jobs, sweep.progress())
        failed = sweep.failures(design.study)
        if not points:
            raise sweep.StudyError(f"{design.path}: no combination could be simulated, the first: {failed[0][3]}")
        if sys.stderr.isatty():
            print(file=sys.stderr)
        print(f"{design.path}: {len(points)} of {len(design.combinations())} combinations simulated; cost {design.cost.text}")
        print(f"  {'cost':>12} {'time':>8}  of {design.arch} as it is (cost {today[0]:,.4g}, time 1)")
        for cost, time, text, _ in best:
            print(f"  {cost:12,.4g} {time:8.4f}  {text}")
        if chosen.html:
            _command.write(chosen.html, _picture.pareto(f"{design.path.name} on {design.arch}", design.cost.text, points, best, today))
        if chosen.csv:
            keys = ",".join(design.study.sets)
            rows = [f"{keys},cost,time,front"] + [",".join(map(str, [*c, cost, time, int((cost, time, text, c) in best)])) for cost, time, text, c in points]
            _command.write(chosen.csv, "\n".join(rows) + "\n")
    except (sweep.StudyError, _program.ForetraceError, OSError, sqlite3.Error) as error:
        print(f"foretrace: {_command.one_line(error)}", file=sys.stderr)
        return 2
    return sweep.say_failures(design.path, failed, len(points) + len(failed))
