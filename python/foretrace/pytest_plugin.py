"""pytest collects files whose name ends with bench.toml: a test for every launch and program on every chip (foretrace.baseline)."""

import pytest

from foretrace import baseline


def pytest_collect_file(parent, file_path):
    if file_path.name.endswith("bench.toml"):
        return BenchFile.from_parent(parent, path=file_path)
    return None


class BenchFile(pytest.File):
    def collect(self):
        bench = baseline.Bench(self.path)
        kinds = (("launch", baseline.load(bench), baseline.measure, baseline.compare),
                 ("program", baseline.load_programs(bench), baseline.measure_programs, baseline.compare_program))
        for kind, before, measure, compare in kinds:
            now = _Now(bench, kind, measure)
            for name, arch in before:
                yield BenchItem.from_parent(self, name=f"{name}[{arch}]", bench=bench, before=before[name, arch], now=now, compare=compare)


class _Now:
    """What the launches, or the programs, of a bench take; predicted when the first is asked for."""

    def __init__(self, bench, kind, measure):
        self.bench, self.kind, self.measure, self.entries = bench, kind, measure, None

    def of(self, entry):
        if self.entries is None:
            self.entries = {(each[self.kind], each["arch"]): each for each in self.measure(self.bench)}
        return self.entries.get((entry[self.kind], entry["arch"]))


class BenchItem(pytest.Item):
    def __init__(self, *, bench, before, now, compare, **others):
        super().__init__(**others)
        self.bench, self.before, self.now, self.compare = bench, before, now, compare

    def runtest(self):
        now = self.now.of(self.before)
        if now is None:
            raise Slower(f"{self.name} is in the baseline, but no longer in {self.bench.path}")
        good, text = self.compare(self.bench, self.before, now)
        if not good:
            raise Slower(text)

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value) if isinstance(excinfo.value, Slower) else super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, self.name


class Slower(Exception):
    pass
