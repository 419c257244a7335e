"""The database of a study: a row per point under its identity (_origin.py), what the points were made of, and the study itself.

Table study is the last start's: the study's text, the foretrace and the tools that it had. Table origins says of each point what it was made of, table sources
keeps the sources' text. A point that failed has its message and no numbers; it is tried again at the next start.
"""

import datetime
import hashlib
import json
import pathlib
import sqlite3

from foretrace import _command
from foretrace._origin import StudyError, digest

SCHEMA = 2
_TABLES = """
CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE sources (sha256 TEXT PRIMARY KEY, file TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE origins (id TEXT PRIMARY KEY, origin TEXT NOT NULL);
CREATE TABLE points (
  id TEXT PRIMARY KEY, origin TEXT NOT NULL REFERENCES origins (id), work TEXT NOT NULL, arch TEXT NOT NULL, changes TEXT NOT NULL,
  cycles INTEGER, duration_ns REAL, limiter TEXT, config_sha256 TEXT, code_sha256 TEXT, foretrace TEXT NOT NULL, metrics TEXT, failed TEXT,
  CHECK ((failed IS NULL) = (cycles IS NOT NULL)));
"""
_COLUMNS = ("id", "origin", "work", "arch", "changes", "cycles", "duration_ns", "limiter", "config_sha256", "code_sha256", "foretrace", "metrics", "failed")


class Points:
    """An open database. Throws StudyError where it is no study's, or one of another schema."""

    def __init__(self, database: pathlib.Path):
        self.path = database
        try:
            with _command.made(database) as new:  # on a full disk no file of no tables is left
                if new is not None:
                    self._connection = sqlite3.connect(new)
                    self._prepare()
                    self._connection.close()
            self._connection = sqlite3.connect(database, timeout=60)
            self._prepare()
        except sqlite3.Error as error:
            raise StudyError(_command.database_error(database, error, "a study's database")) from None

    def _prepare(self) -> None:
        found = self._connection.execute("PRAGMA user_version").fetchone()[0]
        tables = {row[0] for row in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if found == SCHEMA:
            return
        if found == 0 and "points" in tables:
            raise StudyError(f"{self.path}: schema 1, an earlier foretrace's, which does not say what its points were made from; expected schema {SCHEMA}: move the "
                             "file away, or name another one with database, and the points are computed again")
        if found != 0 or tables:
            raise StudyError(f"{self.path}: {f'schema {found}' if found else 'not a study'}; expected a study's database of schema {SCHEMA}, or none")
        with self._connection:  # all of it or none: another shard may open the file at the same time
            self._connection.execute("BEGIN IMMEDIATE")
            if self._connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in filter(str.strip, _TABLES.split(";")):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def close(self) -> None:
        self._connection.close()

    def begin(self, study) -> None:
        """A start of the study: what it is now."""
        about, now = study.origins.about, datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        values = {"file": str(study.path.resolve()), "text": study.text, "foretrace": f"foretrace {about['version']} {about['commit']}".strip(),
                  "program_sha256": about["program_sha256"], "nvcc": json.dumps(about["nvcc"]), "nvdisasm": json.dumps(about["nvdisasm"]), "last_start": now}
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO study VALUES (?,?)", values.items())
            self._connection.execute("INSERT OR IGNORE INTO study VALUES ('first_start', ?)", (now,))

    def done(self) -> set[str]:
        return {row[0] for row in self._connection.execute("SELECT id FROM points WHERE failed IS NULL")}

    def put(self, identity: str, study, point: tuple[str, str, dict], prediction=None, failed: str | None = None) -> None:
        """A point and what it was made of, in one transaction: its prediction, or why there is none."""
        work, arch, changes = point
        about, origin = study.origins.about, study.origins.of(work, arch)
        row = {"id": identity, "origin": digest(origin)[:24], "work": work, "arch": origin["chip"]["name"], "changes": json.dumps(changes), "failed": failed,
               "foretrace": f"foretrace {about['version']} {about['commit']}".strip()}
        if prediction is not None:
            row |= {"cycles": prediction.cycles, "duration_ns": prediction["gpu__time_duration.sum"], "limiter": prediction.limiter,
                    "config_sha256": prediction._entry["config_sha256"], "code_sha256": prediction._entry["code_sha256"],
                    "metrics": json.dumps(prediction.metrics)}
        with self._connection:
            for file, sha256 in study.origins.sources(work).items():
                if not self._connection.execute("SELECT 1 FROM sources WHERE sha256 = ?", (sha256,)).fetchone():
                    content = file.read_bytes()
                    if hashlib.sha256(content).hexdigest() == sha256:
                        self._connection.execute("INSERT INTO sources VALUES (?,?,?)", (sha256, str(file), content.decode(errors="replace")))
            self._connection.execute("INSERT OR IGNORE INTO origins VALUES (?,?)", (row["origin"], json.dumps(origin, default=str)))
            self._insert([tuple(row.get(column) for column in _COLUMNS)])

    def _insert(self, rows) -> None:
        self._connection.executemany(f"INSERT OR REPLACE INTO points VALUES ({','.join('?' * len(_COLUMNS))})", rows)

    def take(self, part: "Points") -> None:
        """All that a shard's database has."""
        with self._connection:
            for table, width in (("sources", 3), ("origins", 2), ("study", 2)):
                self._connection.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({','.join('?' * width)})", part._connection.execute(f"SELECT * FROM {table}"))
            self._insert(part._connection.execute(f"SELECT {','.join(_COLUMNS)} FROM points"))

    def rows(self) -> dict[str, dict]:
        """Every point by its identity, with a study's earlier ones."""
        return {row[0]: dict(zip(_COLUMNS, row)) for row in self._connection.execute(f"SELECT {','.join(_COLUMNS)} FROM points")}

    def study(self) -> dict[str, str]:
        return dict(self._connection.execute("SELECT key, value FROM study"))

    def origins(self) -> dict[str, dict]:
        return {identity: json.loads(origin) for identity, origin in self._connection.execute("SELECT id, origin FROM origins")}
