"""pytest collects files whose name ends with bench.toml: a test for every launch on every chip (foretrace.baseline)."""

import pytest

from foretrace import baseline


def pytest_collect_file(parent, file_path):
    if file_path.name.endswith("bench.toml"):
        return BenchFile.from_parent(parent, path=file_path)
    return None


class BenchFile(pytest.File):
    def collect(self):
        bench = baseline.Bench(self.path)
        before = baseline.load(bench)
        measured = {}

        def entry_of(key):
            if not measured:
                measured.update({(entry["launch"], entry["arch"]): entry for entry in baseline.measure(bench)})
            return measured.get(key)

        for key, entry in before.items():
            yield LaunchItem.from_parent(self, name=f"{key[0]}[{key[1]}]", bench=bench, before=entry, entry_of=entry_of)


class LaunchItem(pytest.Item):
    def __init__(self, *, bench, before, entry_of, **others):
        super().__init__(**others)
        self.bench, self.before, self.entry_of = bench, before, entry_of

    def runtest(self):
        now = self.entry_of((self.before["launch"], self.before["arch"]))
        if now is None:
            raise Slower(f"{self.before['launch']} is in the baseline, but no longer in {self.bench.path}")
        good, text = baseline.compare(self.bench, self.before, now)
        if not good:
            raise Slower(text)

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value) if isinstance(excinfo.value, Slower) else super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, self.name


class Slower(Exception):
    pass
