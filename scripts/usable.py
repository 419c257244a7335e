"""What a script was given that it cannot use is said in one line, with exit code 2: options that it does not know, files that are missing or hold
something else, programs that fail."""
import argparse
import contextlib
import json
import pathlib
import subprocess
import sys


class Parser(argparse.ArgumentParser):
    """Says what is wrong with the words without argparse's usage before it."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; '{self.prog} --help' says what is expected\n")


class Unusable(Exception):
    """Says what, where and what was expected."""


@contextlib.contextmanager
def told():
    """Around a script's main()."""
    script = pathlib.Path(sys.argv[0]).name
    try:
        yield
        return
    except Unusable as error:
        words = str(error)
    except OSError as error:
        words = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except subprocess.CalledProcessError as error:  # which has said itself what it had against its input
        words = f"{error.cmd[0]} ended with exit code {error.returncode}"
    print(f"{script}: {words}", file=sys.stderr)
    sys.exit(2)


def lines_of(path):
    """(number, line) of a text's lines that are neither empty nor begin with #."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Unusable(f"{path}: no text; expected a table") from None
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]


def table(path, **columns):
    """Rows of a text with tabs: the columns by name and type in their order; more may follow."""
    rows = []
    for number, line in lines_of(path):
        cells = line.split("\t")
        try:
            rows.append([kind(cells[i]) for i, kind in enumerate(columns.values())])
        except (ValueError, IndexError):
            raise Unusable(f"{path}:{number}: expected columns with tabs: {', '.join(name.replace('_', ' ') for name in columns)}") from None
    return rows


def json_lines(path, *keys):
    """An object per line, which has these keys."""
    found = []
    for number, line in lines_of(path):
        with contextlib.suppress(ValueError):
            row = json.loads(line)
            if isinstance(row, dict) and all(key in row for key in keys):
                found.append(row)
                continue
        raise Unusable(f"{path}:{number}: expected a JSON object with {', '.join(keys)}")
    return found


def positive(word):
    """An option's whole number of at least 1."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word}: expected a whole number of at least 1")
    return int(word)
