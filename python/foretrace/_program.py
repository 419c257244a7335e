"""The program that does the work: where it is, and how it is started."""

import json
import os
import pathlib
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any


class ForetraceError(Exception):
    """What foretrace refused, in its own words."""


def refuse_device(path: str | os.PathLike[str]) -> None:
    """Before a file is read whole: /dev/zero has no end."""
    if pathlib.Path(path).is_char_device():
        raise ForetraceError(f"{path}: is a device; expected a file")


def program() -> str:
    """The program's path: $FORETRACE, the one in this package, a build tree around this file, or the one in PATH."""
    named = os.environ.get("FORETRACE")
    if named:
        return named
    here = pathlib.Path(__file__).resolve().parent
    for candidate in (here / "installed/bin/foretrace", here.parent.parent / "build/bin/foretrace", here.parent.parent.parent / "bin/foretrace"):
        if candidate.is_file():
            return str(candidate)
    found = shutil.which("foretrace-program")
    if found:
        return found
    raise ForetraceError("no program foretrace: the package has none, and $FORETRACE names none")


def tools() -> dict[str, str]:
    """The compiler that `pip install foretrace[compiler]` put beside this package, by the variables that name its parts."""
    folder = pathlib.Path(__file__).resolve().parent.parent / "nvidia/cu13/bin"
    return {"FORETRACE_" + tool.upper(): str(folder / tool) for tool in ("nvcc", "nvdisasm", "ptxas") if (folder / tool).is_file()}


def environment() -> dict[str, str]:
    """The process's, with these tools."""
    return {**tools(), **os.environ}


def run(words: Sequence[str]) -> str:
    """Runs the program and returns what it printed. Throws ForetraceError with its one line where it refuses."""
    done = subprocess.run([program(), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment())
    if done.returncode != 0:
        raise ForetraceError(done.stderr.strip().removeprefix("foretrace: ") or f"foretrace ended with code {done.returncode}")
    return done.stdout


def version() -> str:
    return run(["--version"]).split()[1]


def about() -> dict[str, Any]:
    """Which foretrace this is, by version, commit and hash, and the tools that it would call."""
    try:
        told: dict[str, Any] = json.loads(run(["--version", "--json"]))
        return told
    except ValueError:
        raise ForetraceError(f"{program()}: an older foretrace than this package; expected one that knows --version --json") from None


def chip(arch: str) -> dict[str, Any]:
    """A chip as `foretrace arch NAME --json` describes it. Throws ForetraceError where there is none of that name."""
    described: dict[str, Any] = json.loads(run(["arch", arch, "--json", "-"]))["chips"][0]
    return described
