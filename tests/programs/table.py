"""Programs and packages under `foretrace run`: table.toml says what is run, this runs it and writes the tables of docs/programs.md.

    scripts/programs [--list] [--only NAME,NAME] [--again] [--record] [--folder DIR] [CHIP ...]

Without names: every row, on its chips, those of CHIP alone if any are named. An environment (a venv under build/programs, with the exact versions
of table.toml) is made when a row asks for it; those that stand over another one (`over`) see its packages too. What a row came to is kept in
DIR/state.json with a digest of Foretrace, the row and its files, and not run again while that is the same. --record takes the results into
tests/programs/results.json and writes docs/programs.md anew. FORETRACE names the program; build/bin/foretrace without it. Exit status 1: a
row went wrong.
"""

import argparse
import datetime
import fcntl
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib

import builds

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(REPOSITORY, "scripts"))
import usable  # noqa: E402
CHIPS = {"a100": "A100", "h100": "H100", "rtx5070ti": "RTX 5070 Ti"}
BEGIN, END = "<!-- programs: written by scripts/programs --record -->", "<!-- end of programs -->"
LIMIT = 600  # seconds, where a row says nothing
KEYS = {"name", "section", "program", "environment", "packages", "chips", "options", "variables", "limit", "expect", "note", "module"}


class Wrong(Exception):
    """Bad input: one line, exit status 2."""


class NoPackages(Wrong):
    """An environment could not be made: no network, or no such wheel for this machine."""


def read_table(path):
    with open(path, "rb") as file:
        table = tomllib.load(file)
    rows = {}
    for row in table["row"]:
        name = row.get("name", "?")
        if unknown := row.keys() - KEYS:
            raise Wrong(f"{path}: {name}: unknown key {', '.join(sorted(unknown))}")
        if name in rows:
            raise Wrong(f"{path}: {name}: twice")
        if row["section"] not in table["sections"]:
            raise Wrong(f"{path}: {name}: no section {row['section']}; expected one of {', '.join(table['sections'])}")
        environment = row.setdefault("environment", "")
        if environment and environment not in table["environments"]:
            raise Wrong(f"{path}: {name}: no environment {environment}")
        row.setdefault("chips", list(CHIPS))
        rows[name] = row
    for name, environment in table["environments"].items():
        for package in environment["packages"]:
            if not re.fullmatch(r"[\w.\-]+==[\w.+\-]+", package):
                raise Wrong(f"{path}: {name}: {package}; expected NAME==VERSION")
    return table, rows


def build_rows():
    """The programs of builds.py as rows."""
    rows = {}
    for build in builds.BUILDS:
        chips = [chip for chip in CHIPS if chip in builds.NEEDS.get(build[0], CHIPS)]
        rows[build[0]] = {"name": build[0], "section": "builds", "build": build, "chips": chips, "program": builds.command_text(build[1])}
    return rows


class Environments:
    """Python environments in a folder, made on demand."""

    def __init__(self, table, folder):
        self.table, self.folder = table["environments"], folder

    def python(self, name):
        if not name:
            return sys.executable
        environment, place = self.table[name], os.path.join(self.folder, name)
        program, stamp = os.path.join(place, "bin", "python"), os.path.join(self.folder, name + ".packages")
        wanted = "\n".join(environment["packages"]) + "\n"
        under = [self.site(other) for other in environment.get("over", [])]
        if os.path.exists(program) and read(stamp) == wanted:
            return program
        print(f"making the environment {name}: {len(environment['packages'])} packages", flush=True)
        try:
            self.make(name, environment, place, under)
        except subprocess.CalledProcessError as error:
            raise NoPackages(f"the environment {name} cannot be made: {error}") from None
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(wanted)
        return program

    def make(self, name, environment, place, under):
        packages = environment["packages"]
        subprocess.run([sys.executable, "-m", "venv", "--clear", *([] if packages else ["--without-pip"]), place], check=True)
        with open(os.path.join(self.site(name, made=True), "zz_over.pth"), "w", encoding="utf-8") as file:
            file.write("".join(path + "\n" for path in under))
        if not packages:
            return
        pip = [os.path.join(place, "bin", "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir", "--no-deps", *packages]
        subprocess.run(pip, check=True, env={**os.environ, **environment.get("variables", {})})

    def site(self, name, made=False):
        program = os.path.join(self.folder, name, "bin", "python") if made else self.python(name)
        return subprocess.run([program, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True,
                              check=True).stdout.strip()


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def digest(foretrace, row, table):
    """Of all that a row's result is made of."""
    total = hashlib.sha256(json.dumps([row, table["environments"].get(row.get("environment", ""))], sort_keys=True).encode())
    ours = os.path.join(os.path.dirname(os.path.dirname(foretrace)), "lib", "foretrace")
    paths = [foretrace] + [os.path.join(ours, name) for name in sorted(os.listdir(ours))] if os.path.isdir(ours) else [foretrace]
    if "build" not in row:
        folder = os.path.join(HERE, "python")
        words = row["program"].split()
        paths += [os.path.join(folder, name) for name in ("checks.py", "device_array.py", *words) if name.endswith((".py", ".cu"))]
    for path in paths:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def run_python(foretrace, row, chip, python, folder):
    """What became of a row, in the words of the table."""
    words = row["program"].split()
    with_module = ["-m", row["module"]] if "module" in row else []
    command = [foretrace, "run", "--arch", chip, *row.get("options", "").split(), "--", python, "-B", *with_module, *words]
    environment = {**os.environ, "PYTHONPATH": os.path.join(REPOSITORY, "python"), **row.get("variables", {})}
    log = os.path.join(folder, "log", f"{row['name']}.{chip}.txt")
    os.makedirs(os.path.dirname(log), exist_ok=True)
    with open(log, "w", encoding="utf-8") as file:
        child = subprocess.Popen(command, cwd=os.path.join(HERE, "python"), env=environment, stdout=file, stderr=subprocess.STDOUT,
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        limit = row.get("limit", LIMIT)
        try:
            code = child.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return f"no end within {limit} s"
    with open(log, encoding="utf-8", errors="replace") as file:
        return said(row, code, file.read())


def said(row, code, output):
    """`works` with the largest error that the program printed, `fails` where that is what is expected, or the line that says what went wrong."""
    if "expect" in row:
        return "stops so" if code != 0 and row["expect"] in output else f"WRONG: expected to stop with {row['expect']}"
    if code == 0:
        errors = [float(number) for number in re.findall(r"largest (?:error|difference) ([\d.e+-]+\d)", output)]
        return f"works, {max(errors):.0e}".replace("0e+00", "exact").replace("e-0", "e-") if errors else "works"
    lines = output.strip().splitlines() or ["nothing was printed"]
    tellers = [line for line in lines if re.search(r"^foretrace: .*(not|has)|Error|WRONG", line)]
    return f"WRONG ({code}): " + (tellers or lines)[-1].strip()[:200]


class Builds:
    """The programs of builds.py: compiled once for all chips."""

    def __init__(self, foretrace, folder):
        self.foretrace, self.folder = foretrace, os.path.join(folder, "builds")
        self.variables, self.refused = None, {}

    def run(self, row, chip):
        if self.variables is None:
            os.makedirs(self.folder, exist_ok=True)
            self.variables = builds.environment(self.foretrace, REPOSITORY, builds.nvcc(REPOSITORY))
        name, commands, program, expected, _ = row["build"]
        if name not in self.refused:
            self.refused[name] = builds.build(commands, self.folder, self.variables)
        if self.refused[name]:
            print(self.refused[name])
            return "WRONG: not built"
        text = builds.run(self.foretrace, chip, program, self.folder, [])
        if builds.as_expected(expected, text):
            return "works"
        print(text)
        return "WRONG"


def keep(path, name, chip, known):
    """Writes one result down, beside what another scripts/programs may have written meanwhile; the whole state."""
    with open(path + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = json.loads(read(path) or "{}")
        state.setdefault(name, {})[chip] = known
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(state, file, indent=1)
        os.replace(path + ".new", path)
    return state


def run_rows(options, table, rows):
    """Runs what is not known yet; the results of all rows that were asked for, and whether one went wrong."""
    foretrace = os.path.realpath(options.foretrace)
    if not os.access(foretrace, os.X_OK):
        raise Wrong(f"no {options.foretrace}; build it, or name one in FORETRACE")
    os.makedirs(options.folder, exist_ok=True)
    state_path = os.path.join(options.folder, "state.json")
    state = json.loads(read(state_path) or "{}")
    environments, compiled, failed = Environments(table, options.folder), Builds(foretrace, options.folder), False
    for row in rows.values():
        own = digest(foretrace, row, table)
        for chip in options.chips or row["chips"]:
            if chip not in row["chips"]:
                continue
            known = state.get(row["name"], {}).get(chip)
            if options.again or known is None or known["digest"] != own or known["result"].startswith(("WRONG", "no end")):
                begin = time.time()
                result = (compiled.run(row, chip) if "build" in row
                          else run_python(foretrace, row, chip, environments.python(row["environment"]), options.folder))
                known = {"result": result, "date": datetime.date.today().isoformat(), "digest": own, "seconds": round(time.time() - begin)}
                state = keep(state_path, row["name"], chip, known)
            failed = failed or known["result"].startswith(("WRONG", "no end"))
            print(f"{row['name']:32} {chip:8} {known['result']} ({known['seconds']} s)", flush=True)
    return state, failed


def cell(row, results, chip):
    """One chip's cell: a result, with the row's note on it."""
    if chip not in row["chips"]:
        return row.get("note", {}).get(chip, "-")
    known = results.get(row["name"], {}).get(chip)
    if known is None:
        return "not run yet"
    note = row.get("note", {}).get(chip)
    result = f"stops: {row['expect']}" if known["result"] == "stops so" else known["result"]
    return result + (f"; {note}" if note else "")


def command_of(row):
    """As it would be typed in tests/programs/python, behind `foretrace run OPTIONS --`."""
    variables = "".join(f"{name}={value} " for name, value in row.get("variables", {}).items())
    return variables + ("python -m " + row["module"] + " " if "module" in row else "") + row["program"]


def tables(table, rows, results):
    """The generated part of docs/programs.md."""
    lines = []
    for section, title in table["sections"].items():
        lines += [f"## {title}", ""]
        if about := table.get("about", {}).get(section):
            lines += [about.strip(), ""]
        heads = " | ".join(CHIPS.values())
        packages = section != "builds"
        lines += [f"| name | {'command | packages' if packages else 'built with'} | {heads} | on |", "|---" * (6 + packages) + "|"]
        for row in (row for row in rows.values() if row["section"] == section):
            options = row.get("options", "")
            command = f"`{command_of(row)}`" + (f", `{options}`" if options else "")
            dates = sorted(known["date"] for known in results.get(row["name"], {}).values())
            lines.append(f"| {row['name']} | {command} | " + (f"{row.get('packages', 'none')} | " if packages else "") +
                         " | ".join(cell(row, results, chip) for chip in CHIPS) + f" | {dates[-1] if dates else '-'} |")
        lines.append("")
    return "\n".join(lines)


def document(text, generated):
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise Wrong(f"docs/programs.md: expected {BEGIN} and {END}, once each")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{generated}\n{END}{rest.split(END)[1]}"


def committed():
    return json.loads(read(os.path.join(HERE, "results.json")) or "{}")


def record(table, rows, state):
    """Results of today's state into results.json, those of rows and chips that are no more out of it, and the document anew."""
    results = committed()
    for name, chips in state.items():
        for chip, known in chips.items():
            results.setdefault(name, {})[chip] = {"result": known["result"], "date": known["date"]}
    results = {name: {chip: results[name][chip] for chip in CHIPS if chip in results[name] and chip in row["chips"]}
               for name, row in rows.items() if name in results}
    with open(os.path.join(HERE, "results.json"), "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(chips)}" for name, chips in results.items()) + "\n}\n")
    path = os.path.join(REPOSITORY, "docs", "programs.md")
    text = read(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(document(text, tables(table, rows, results)))


def chosen(rows, only):
    if not only:
        return rows
    wanted = only.split(",")
    if unknown := [name for name in wanted if not any(name in (row["name"], row["section"]) for row in rows.values())]:
        raise Wrong(f"--only {unknown[0]}: no such row or section; --list prints them")
    return {name: row for name, row in rows.items() if name in wanted or row["section"] in wanted}


def main(words):
    parser = usable.Parser(prog="scripts/programs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the rows and run nothing")
    parser.add_argument("--only", metavar="NAMES", help="rows or sections, separated by commas")
    parser.add_argument("--again", action="store_true", help="also what is known for this build")
    parser.add_argument("--or-skip", action="store_true",
                        help="exit status 77 where packages cannot be had, unless FORETRACE_REQUIRE_ALL is 1 (for ctest)")
    parser.add_argument("--record", action="store_true", help="take the results into the repository")
    parser.add_argument("--folder", default=os.path.join(REPOSITORY, "build", "programs"), help="where environments and results are kept")
    parser.add_argument("--table", default=os.path.join(HERE, "table.toml"), help=argparse.SUPPRESS)
    parser.add_argument("chips", nargs="*", metavar="CHIP", choices=[*CHIPS, []], help=f"of {', '.join(CHIPS)}")
    options = parser.parse_args(words)
    options.folder = os.path.abspath(options.folder)
    options.foretrace = os.environ.get("FORETRACE") or os.path.join(REPOSITORY, "build", "bin", "foretrace")
    try:
        table, rows = read_table(options.table)
        if "builds" in table["sections"]:
            rows = {**build_rows(), **rows}
        wanted = chosen(rows, options.only)
        if options.list:
            for row in wanted.values():
                print(f"{row['section']:12} {row['name']:32} {row.get('environment') or '-':10} {command_of(row)}")
            return 0
        state, failed = run_rows(options, table, wanted)
        if options.record:
            record(table, rows, state)
        return 1 if failed else 0
    except Wrong as error:
        print(f"scripts/programs: {error}", file=sys.stderr)
        return 77 if isinstance(error, NoPackages) and options.or_skip and os.environ.get("FORETRACE_REQUIRE_ALL") != "1" else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
