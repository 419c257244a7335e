"""What a point of a study is made of, by content: the trace, or all that a trace is recorded from; the chip; and this foretrace.

A point is the same one only where all of it is the same, so that a study that is run again computes what changed in the meantime. Of a kernel
these are its source and what that includes, the launch table with the files that its arguments name, the environment that a compiler reads, and the
compiler's version, which stands for the toolkit's own headers.
"""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shlex

from foretrace import _launch, _program

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)
_FOLDERS = ("CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH")
_ENVIRONMENT = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CUDA_HOME", "CUDA_PATH", *_FOLDERS)


class StudyError(Exception):
    """What is wrong with a study."""


def digest(value) -> str:
    """Of anything that JSON can say."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _state(file: pathlib.Path) -> tuple:
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


@dataclasses.dataclass(frozen=True)
class Launch:
    """A kernel of a study as it is recorded: the launch file's text, and the files whose contents it depends on, with their hashes."""

    text: str
    sources: dict[pathlib.Path, str]  #: the source first, then what it includes
    files: dict[pathlib.Path, str]    #: what arguments and options name


class Files:
    """Hashes of files, each read once, and what they were then."""

    def __init__(self):
        self._known = {}

    def hash(self, file: pathlib.Path) -> str:
        if file not in self._known:
            _program.refuse_device(file)
            state = _state(file)
            try:
                with open(file, "rb") as opened:
                    self._known[file] = hashlib.file_digest(opened, "sha256").hexdigest(), state
            except OSError as error:
                raise StudyError(f"{file}: {error.strerror}; expected a file of the study") from None
        return self._known[file][0]

    def changed(self, files) -> pathlib.Path | None:
        """The first that is no longer what was read."""
        return next((file for file in files if _state(file) != self._known[file][1]), None)


def _option_paths(options: list[str], folder: pathlib.Path) -> tuple[list[pathlib.Path], list[pathlib.Path]]:
    """(folders, files) that the compiler's options name."""
    folders, files = [], []
    for word in options:
        for text in (word, word.partition("=")[2], word[2:] if word.startswith("-I") else ""):
            path = folder / text
            if text and path.is_dir():
                folders.append(path)
            elif text and path.is_file():
                files.append(path)
    return folders, files


def _with_includes(source: pathlib.Path, folders: list[pathlib.Path]) -> list[pathlib.Path]:
    """The source and, in turn, what it includes from its own folder and from `folders`. What is found in neither is the toolkit's or the system's."""
    found, at = [source], 0
    while at < len(found):
        file, at = found[at], at + 1
        _program.refuse_device(file)
        try:
            text = file.read_text(errors="replace")
        except OSError as error:
            raise StudyError(f"{file}: {error.strerror}; expected a source of the study") from None
        for name in _INCLUDE.findall(text):
            included = next((path for path in (each / name for each in (file.parent, *folders)) if path.is_file()), None)
            if included is not None and included.resolve() not in found:
                found.append(included.resolve())
    return found


def _argument_file(form: str) -> str | None:
    """The file that an argument's form names: "buf:f32:64:file=x.bin", "bytes:@x.bin"."""
    kind, _, rest = form.partition(":")
    if kind == "bytes" and rest.startswith("@"):
        return rest[1:]
    return next((part[5:] for part in rest.split(":") if part.startswith("file=")), None)


def _absolute(form: str, folder: pathlib.Path) -> str:
    """A form whose file is named from anywhere."""
    name, mark = _argument_file(form), "@" if form.startswith("bytes:") else "file="
    return form if name is None else form.replace(mark + name, mark + str(folder / name))


def _words(options: str) -> list[str]:
    try:
        return shlex.split(options)
    except ValueError as error:
        raise StudyError(f"nvcc = {options!r}: {error}") from None


def launch_of(kernel: dict, folder: pathlib.Path, files: Files) -> Launch:
    """`kernel`: a table of a study, whose paths are relative to `folder`. Throws StudyError where one of its files cannot be read."""
    folder = folder.resolve()
    if not isinstance(kernel.get("source"), str):
        raise StudyError(f"kernel {kernel.get('name', kernel.get('kernel', ''))}: expected source, the file that it is in")
    source = (folder / kernel["source"]).resolve()
    options, lists = kernel.get("nvcc", ""), [kernel.get(key, []) for key in ("args", "symbols")]
    forms = [form for each in lists if isinstance(each, list) for form in each]
    if not isinstance(options, str) or not all(isinstance(each, list) for each in lists) or not all(isinstance(form, str) for form in forms):
        raise StudyError(f"kernel {kernel.get('name', kernel.get('kernel', ''))}: expected nvcc as one text, args and symbols as lists of texts")
    folders, named = _option_paths(_words(options), pathlib.Path.cwd())
    folders += [pathlib.Path(each) for name in _FOLDERS for each in os.environ.get(name, "").split(os.pathsep) if each]
    named += [folder / name for name in map(_argument_file, forms) if name is not None]
    named += [beside for beside in [source.with_name(source.name + ".sass")] if beside.is_file()]  # a cubin's disassembly
    table = {key: value for key, value in kernel.items() if key not in ("source", "name")}
    for key in ("args", "symbols"):
        if key in table:
            table[key] = [_absolute(form, folder) for form in table[key]]
    text = _launch._toml({"source": str(source)}) + "\n[[launch]]\n" + _launch._toml({"name": "point", **table}) + ("" if table.get("args") else "args = []\n")
    return Launch(text, {file: files.hash(file) for file in _with_includes(source, folders)}, {file: files.hash(file) for file in named})


class Origins:
    """Of every point of a study. What it reads it reads once: an object is the study's files at one time."""

    def __init__(self, study):
        self._study, self._files = study, Files()
        self._works, self._kernels, self._chips, self._launches = dict(study.works), {}, {}, {}
        self.about = _program.about()
        self.program = {key: self.about[key] for key in ("version", "commit", "program_sha256")}
        self.tools = {name: (self.about[name] or {}).get("version") for name in ("nvcc", "nvdisasm")}
        for arch in study.arch:
            chip = _program.chip(arch)
            self._chips[arch] = {"name": chip["name"], "sm": chip["sm"], "config_sha256": chip["sha256"]}

    def machine_code(self, arch: str) -> str:
        """What a trace is recorded for: chips of one machine code share it."""
        return f"sm_{self._chips[arch]['sm']}"

    def launch(self, work: str) -> Launch:
        if work not in self._launches:
            self._launches[work] = launch_of(self._works[work], self._study.folder, self._files)
        return self._launches[work]

    def trace(self, work: str) -> pathlib.Path:
        """The file of a work that is a trace."""
        return self._study.folder / work

    def of(self, work: str, arch: str) -> dict:
        """Everything that a point is made of but the values that the study changes, in words to be kept."""
        kernel = self._works[work]
        if kernel is None:
            made = {"trace": {"file": work, "sha256": self._files.hash(self.trace(work))}}
        else:
            made = {"kernel": self._kernel(work, arch)}
        return {"work": work, "arch": arch, "chip": self._chips[arch], "foretrace": self.program, **made}

    def _kernel(self, work: str, arch: str) -> dict:
        key = work, self.machine_code(arch)
        if key not in self._kernels:
            launch, kernel = self.launch(work), {name: value for name, value in self._works[work].items() if name not in ("source", "name")}
            self._kernels[key] = {
                "source": self._works[work]["source"], "sources": {str(file): value for file, value in launch.sources.items()}, "launch": kernel,
                "files": {str(file): value for file, value in launch.files.items()}, "machine_code": key[1], "tools": self.tools,
                "environment": {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}}
        return self._kernels[key]

    def recipe(self, work: str, arch: str) -> str:
        """Hash of all that a kernel's trace is recorded from, without names and places of files."""
        made = self._kernel(work, arch)
        return digest([list(made["sources"].values()), list(made["files"].values()), made["launch"], made["machine_code"], made["tools"], made["environment"],
                       self.program])

    def identity(self, work: str, arch: str, changes: dict) -> str:
        """Of a point: its name, and the content of all that it is made of."""
        content = self._files.hash(self.trace(work)) if self._works[work] is None else self.recipe(work, arch)
        return digest([content, work, arch, self._chips[arch], self.program, changes])[:24]

    def check_unchanged(self, work: str) -> None:
        """Throws StudyError where a file of the work is no longer what its points are called after."""
        launch = None if self._works[work] is None else self.launch(work)
        changed = self._files.changed([self.trace(work)] if launch is None else [*launch.sources, *launch.files])
        if changed is not None:
            raise StudyError(f"{changed}: changed while the study ran; start it again")

    def sources(self, work: str) -> dict[pathlib.Path, str]:
        """Hashes of the sources of a work; none of a trace."""
        return {} if self._works[work] is None else self.launch(work).sources
