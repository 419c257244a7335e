"""What the package's commands have in common: what is wrong is said in one line, as the program says it, with exit code 2."""

import argparse
import contextlib
import datetime
import errno
import os
import pathlib
import sqlite3
import tomllib
import uuid
from collections.abc import Iterator, Sequence
from typing import NoReturn

from foretrace._program import ForetraceError, refuse_device


class Parser(argparse.ArgumentParser):
    def __init__(self, command: str, description: str, examples: str | None = None):
        super().__init__(prog=f"foretrace {command}", description=description, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter)

    def chosen(self, words: Sequence[str] | None) -> argparse.Namespace:
        """What the words say; an empty one would say nothing."""
        values = self.parse_args(words)
        if any(value == "" or (isinstance(value, list) and "" in value) for value in vars(values).values()):
            self.error("an empty word is given; expected a value")
        return values

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"foretrace: {message}; '{self.prog} --help' says what is expected\n")


def positive(word: str) -> int:
    """An option's whole number of at least 1."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word}: expected a whole number of at least 1")
    return int(word)


def percentage(word: str) -> float:
    """An option's percentage between 0 and 100, without them."""
    with contextlib.suppress(ValueError):
        if 0 < float(word) < 100:
            return float(word)
    raise argparse.ArgumentTypeError(f"{word}: expected a percentage above 0 and below 100")


def is_text(value: object) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def is_table(value: object) -> bool:
    return isinstance(value, dict)


def is_tables(value: object) -> bool:
    return isinstance(value, list) and all(map(is_table, value))


def check_forms(where: str, values: dict, forms: dict) -> None:
    """`forms`: of each key that may be there what it has to be, as a test and in words. Throws ForetraceError."""
    for key, (holds, words) in forms.items():
        if key in values and not holds(values[key]):
            raise ForetraceError(f"{where}: {key}: expected {words}")


def check_writable(*paths: str | None, read: str | os.PathLike[str] | None = None) -> None:
    """Before anything is computed: throws ForetraceError where one of these files (None: not asked for) cannot be written afterwards, or is
    another one or that which is read."""
    for i, path in enumerate(paths):
        if not path:
            continue
        if path == "-":
            raise ForetraceError("-: expected a file's name, not standard output")
        if path in paths[:i] or (read is not None and os.path.exists(path) and os.path.exists(read) and os.path.samefile(path, read)):
            raise ForetraceError(f"{path}: expected a file of its own for each result")
        target = pathlib.Path(os.path.realpath(path))
        folder = target.parent
        reason = (errno.EISDIR if target.is_dir() else errno.ELOOP if target.is_symlink() else errno.ENOENT if not folder.exists() else
                  errno.ENOTDIR if not folder.is_dir() else errno.EACCES if not os.access(target if target.exists() else folder, os.W_OK) else 0)
        if reason:
            raise ForetraceError(f"{path}: {os.strerror(reason)}")


@contextlib.contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[pathlib.Path]:
    """Gives a file to write into, which takes the place of `path` when all of it is there: a process that is killed leaves the old one as it was."""
    target = pathlib.Path(path)
    special = target.exists() and not target.is_file()  # a device or a pipe
    if not special:
        target = pathlib.Path(os.path.realpath(target))  # links stay
    partial = target if special else target.with_name(f"{target.name}.partial-{uuid.uuid4().hex}")
    try:
        yield partial
        if not special:
            os.replace(partial, target)
    except OSError as error:
        if error.filename in (None, str(partial)):  # a full disk's says no name
            error.filename = str(path)
        raise
    finally:
        if not special:
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def made(path: pathlib.Path) -> Iterator[pathlib.Path | None]:
    """Where `path` is not there: gives a file to make it from, which takes its name when all of it is there and nobody has made it meanwhile. None: it is there."""
    target = pathlib.Path(os.path.realpath(path))
    if target.exists():
        yield None
        return
    partial = target.with_name(f"{target.name}.partial-{uuid.uuid4().hex}")
    try:
        yield partial
        try:
            os.link(partial, target)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            if not target.exists():
                os.replace(partial, target)
    finally:
        for file in (partial, partial.with_name(f"{partial.name}-journal")):
            file.unlink(missing_ok=True)


def database_error(path: str | os.PathLike[str], error: sqlite3.Error, expected: str) -> str:
    """Why a database cannot be opened; a full disk is not the file's fault."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return f"{path}: {error}" if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) else f"{path}: {error}; expected {expected}, or none"


def write(path: str | os.PathLike[str], text: str) -> None:
    with whole(path) as file:
        file.write_text(text, encoding="utf-8")


def one_line(error: Exception) -> str:
    """`error` in one line: of the system's errors the file and what is wrong with it."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split())


def _refuse_dates(path: pathlib.Path, value: object, key: str = "") -> None:
    """No key of ours is a date or a time, which JSON and launch files have no form for."""
    if isinstance(value, (datetime.date, datetime.time)):
        raise ForetraceError(f"{path}: {key}: expected a number or a text, not a date or time")
    if isinstance(value, dict):
        for name, each in value.items():
            _refuse_dates(path, each, name)
    elif isinstance(value, list):
        for each in value:
            _refuse_dates(path, each, key)


def read_toml(path: pathlib.Path) -> tuple[str, dict]:
    """A file's text, and what it says."""
    try:
        refuse_device(path)
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
        _refuse_dates(path, values)
        return text, values
    except OSError as error:
        raise ForetraceError(one_line(error)) from None
    except UnicodeDecodeError:
        raise ForetraceError(f"{path}: no text; expected a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise ForetraceError(f"{path}: {error}") from None


def read_launches(path: pathlib.Path) -> dict:
    """A launch file with its source, and its launches as tables; what else is wrong in it is said by the program."""
    _, contents = read_toml(path)
    check_forms(str(path), contents, {"source": (is_text, "the file that the launches are in"), "launch": (is_tables, "[[launch]]")})
    missing = [key for key in ("source", "launch") if key not in contents]
    if missing:
        raise ForetraceError(f"{path}: expected {missing[0]}, as a launch file has it")
    return contents
