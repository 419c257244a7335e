"""The file of a study: which kernels or traces, on which chips, with which values of keys."""

import functools
import itertools
import pathlib

from foretrace import _command, _origin
from foretrace._origin import StudyError

_KEYS = {"arch", "set", "trace", "kernel", "database", "traces"}
_FORMS = {"arch": (_command.is_texts, "a list of chips"), "trace": (_command.is_texts, "a list of files"), "kernel": (_command.is_tables, "[[kernel]]"),
          "set": (_command.is_table, "[set], with a list of values for each key"), "database": (_command.is_text, "a file's name"),
          "traces": (_command.is_text, "a folder's name")}
_KERNEL_FORMS = {"name": (_command.is_text, "a text"), "defines": (_command.is_table, "a table with a list of values for each name"), "shape": (_command.is_tables, "a list of tables of grid, block and args"),
                 "define": (_command.is_texts, "a list of texts"), "kernel": (_command.is_text, "its name")}
_KERNEL_KEYS = {"name", "source", "kernel", "define", "grid", "block", "args", "shared", "nvcc", "cluster", "symbols"}


def _lists(values: dict, where: str) -> dict[str, list]:
    if not all(isinstance(each, list) and each and all(isinstance(value, (int, float, str)) for value in each) for each in values.values()):
        raise StudyError(f"{where}: expected a list of numbers or texts for each key")
    return values


class Study:
    def __init__(self, path, further=frozenset()):
        """`further`: keys beside a study's own, which `extra` then holds."""
        self.path = pathlib.Path(path)
        self.text, values = _command.read_toml(self.path)
        unknown = sorted(set(values) - _KEYS - further)
        if unknown:
            raise StudyError(f"{path}: unknown key {unknown[0]}; expected {', '.join(sorted(_KEYS | further))}")
        _command.check_forms(str(path), values, _FORMS)
        self.extra = {key: values[key] for key in further if key in values}
        if not values.get("arch") or not (values.get("trace") or values.get("kernel")):
            raise StudyError(f"{path}: expected arch, and trace or [[kernel]]")
        folder = self.path.parent
        self.arch = values["arch"]
        self.sets = _lists(values.get("set", {}), f"{path}: set")
        self.database = folder / values.get("database", self.path.stem + ".sqlite")
        self.traces = folder / values.get("traces", self.path.stem + ".traces")
        self.works = [(str(trace), None) for trace in values.get("trace", [])]
        self.parts = {name: (name, {}) for name, _ in self.works}  # of a work: its kernel's name, and the alternatives that it is made of
        self.sized = set()  # kernels whose shapes have arguments of their own: each is another problem
        for kernel in values.get("kernel", []):
            self.works += self._variants(kernel)
        self.folder = folder
        names = [name for name, _ in self.works]
        if len(set(names)) != len(names):
            raise StudyError(f"{path}: two kernels or traces of one name")

    def _variants(self, kernel: dict) -> list[tuple[str, dict]]:
        """Every combination of a kernel's defines and shapes; `shape` lists tables of grid, block and args that go together."""
        unknown = sorted(set(kernel) - _KERNEL_KEYS - {"defines", "shape"})
        if unknown:
            raise StudyError(f"{self.path}: kernel: unknown key {unknown[0]}")
        _command.check_forms(f"{self.path}: kernel", kernel, _KERNEL_FORMS)
        defines = _lists(kernel.get("defines", {}), f"{self.path}: defines")
        shapes = kernel.get("shape", [{}])
        found = []
        if any("args" in shape for shape in shapes):
            self.sized.add(kernel.get("name", kernel.get("kernel", "kernel")))
        for shape in shapes:
            for values in itertools.product(*defines.values()):
                chosen = [f"{name}={value}" for name, value in zip(defines, values)]
                one = {key: value for key, value in kernel.items() if key not in ("defines", "shape")} | shape
                one["define"] = [*kernel.get("define", []), *chosen]
                base = kernel.get("name", kernel.get("kernel", "kernel"))
                size = "x".join(map(str, one.get("grid", []))) if len(shapes) > 1 else ""
                name = " ".join(filter(None, [base, *chosen, size]))
                self.parts[name] = (base, {**dict(zip(defines, values)), **({"shape": size or "none"} if len(shapes) > 1 else {})})
                found.append((name, one))
        return found

    def combinations(self):
        """(name of the work, chip, changes) of every point, in a fixed order."""
        for name, _ in self.works:
            for arch in self.arch:
                for values in itertools.product(*self.sets.values()):
                    yield name, arch, dict(zip(self.sets, values))

    @functools.cached_property
    def origins(self) -> _origin.Origins:
        """What the points are made of, as it is when this is first asked for: a study that is to see changed files is opened again."""
        return _origin.Origins(self)

    def points(self):
        """(id, name of the work, chip, changes) in a fixed order. Throws StudyError where a file of the study cannot be read."""
        for name, arch, changes in self.combinations():
            yield self.origins.identity(name, arch, changes), name, arch, changes
