"""The jobs of a farm and their results, in one SQLite file.

A process that dies at any moment leaves a store that another can go on with: a job is recorded in one transaction, and
jobs that were running wait again.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tileir.farm.job import SETTLED, Attempt, Ending, FarmJob, JobLimits, Json, canonical
from tileir.ir.usage import UsageError

FORMAT = 1
"""Version of the tables, kept as SQLite's `user_version`."""
WAITING = "waiting"
STATES = (WAITING, *(ending.value for ending in Ending if ending is not Ending.LOST))
"""States of a job: waiting, or the ending of its last attempt. LOST is the ending of an attempt only."""

_TABLES = """
CREATE TABLE contents (hash TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE jobs (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, spec TEXT NOT NULL,
  content TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting', tries INTEGER NOT NULL DEFAULT 0,
  losses INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '', answer TEXT NOT NULL DEFAULT '',
  figures TEXT NOT NULL DEFAULT '{}', seconds REAL NOT NULL DEFAULT 0, peak INTEGER NOT NULL DEFAULT 0,
  log TEXT NOT NULL DEFAULT '', worker TEXT NOT NULL DEFAULT '', finished REAL
);
CREATE INDEX jobs_by_state ON jobs (state, number);
CREATE TABLE files (job TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (job, name));
CREATE TABLE conflicts (job TEXT NOT NULL, kept TEXT NOT NULL, other TEXT NOT NULL, worker TEXT NOT NULL);
"""
_ROW = "key, kind, spec, state, tries, reason, answer, figures, seconds, peak, log, worker"


@dataclass(frozen=True)
class JobRow:
    """A job and what came of it."""

    key: str
    kind: str
    spec: dict[str, Json]
    state: str
    tries: int
    reason: str
    answer: dict[str, Json]
    figures: dict[str, Json]
    seconds: float
    peak: int
    log: str
    worker: str

    def to_json(self) -> dict[str, Json]:
        return dict(vars(self))


class JobStore:
    """The store in the file `path`, made if it is not there. Raises UsageError for what is no store."""

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise UsageError(f"no store '{path}'")
        with self._faults():
            self._db = sqlite3.connect(self.path, isolation_level=None, timeout=30.0)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._make_tables()

    def _make_tables(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version == 0 and tables == 0:
            self._db.executescript(f"BEGIN IMMEDIATE;{_TABLES}PRAGMA user_version={FORMAT};COMMIT;")
        elif version != FORMAT:
            raise UsageError(f"'{self.path}' is no store of this version: expected format {FORMAT}, got {version}")

    def __enter__(self) -> JobStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Raise faults of the file and the disk as errors of the user's."""
        try:
            yield
        except sqlite3.Error as error:
            raise UsageError(f"the store '{self.path}': {error}") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._faults():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def driven(self) -> Iterator[None]:
        """Let no other process drive the store while the body runs; the system frees it when this one ends."""
        lock = sqlite3.connect(f"{self.path}.lock", isolation_level=None, timeout=0.0)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            lock.close()
            raise UsageError(f"the store '{self.path}' is in use: another process runs its jobs") from None
        try:
            yield
        finally:
            lock.close()

    # ------------------------------------------------------------ jobs

    def add(self, jobs: Iterable[FarmJob]) -> int:
        """Add the jobs that are not there yet; how many these are."""
        contents, rows = dict[str, bytes](), []
        for job in jobs:
            contents[job.content_hash] = job.content
            rows.append((job.key, job.kind, job.text, job.content_hash))
        contents.pop("", None)
        with self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO contents VALUES (?, ?)", contents.items())
            words = "INSERT OR IGNORE INTO jobs (key, kind, spec, content) VALUES (?, ?, ?, ?)"
            return self._db.executemany(words, rows).rowcount

    def waiting(self, limit: int, after: int = -1) -> list[tuple[int, FarmJob]]:
        """Return the next jobs that wait, behind the number `after`, in the order in which they were added."""
        query = (
            "SELECT number, kind, spec, coalesce(data, x'') FROM jobs LEFT JOIN contents ON content = hash "
            "WHERE state = 'waiting' AND number > ? ORDER BY number LIMIT ?"
        )
        with self._faults():
            rows = self._db.execute(query, (after, limit)).fetchall()
        return [(number, FarmJob(kind, json.loads(spec), data)) for number, kind, spec, data in rows]

    def state_of(self, key: str) -> str | None:
        """Return the state of a job; None if it is not there."""
        row = self._db.execute("SELECT state FROM jobs WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def record(self, attempts: Iterable[tuple[str, Attempt]], limits: JobLimits) -> list[str]:
        """Record how attempts at jobs, given by their keys, ended; gives the jobs' states. An answer that is there
        stays, and one that differs from it is kept beside it, as a conflict."""
        with self._transaction():
            return [self._recorded(key, attempt, limits) for key, attempt in attempts]

    def _recorded(self, key: str, attempt: Attempt, limits: JobLimits) -> str:
        state, tries, losses, answer = self._db.execute(
            "SELECT state, tries, losses, answer FROM jobs WHERE key = ?", (key,)
        ).fetchone()
        if state == Ending.DONE.value:
            self._compare(key, answer, attempt)
            return str(state)
        lost = attempt.ending is Ending.LOST
        tries, losses = tries + (not lost), losses + lost
        again = losses < limits.losses if lost else attempt.ending not in SETTLED and tries < limits.tries
        state = WAITING if again else Ending.CRASHED.value if lost else attempt.ending.value
        self._write(key, state, tries, losses, attempt)
        return state

    def _compare(self, key: str, answer: str, attempt: Attempt) -> None:
        if attempt.ending is Ending.DONE and attempt.answer != answer:
            row = (key, answer, attempt.answer, attempt.worker)
            self._db.execute("INSERT INTO conflicts VALUES (?, ?, ?, ?)", row)

    def _write(self, key: str, state: str, tries: int, losses: int, attempt: Attempt) -> None:
        figures = canonical(attempt.result.figures) if attempt.result is not None else "{}"
        self._db.execute(
            "UPDATE jobs SET state=?, tries=?, losses=?, reason=?, answer=?, figures=?, seconds=?, peak=?, log=?, "
            "worker=?, finished=? WHERE key=?",
            (state, tries, losses, attempt.reason, attempt.answer, figures, attempt.seconds, attempt.peak,
             attempt.log, attempt.worker, time.time(), key),
        )  # fmt: skip
        files = {} if attempt.result is None else attempt.result.files
        for name, data in files.items():
            self._db.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", (key, name, data))

    def retry(self, states: Iterable[str]) -> int:
        """Let jobs in one of `states` wait again; how many these are. Answers stay."""
        chosen = [state for state in states if state in STATES and state not in (WAITING, Ending.DONE.value)]
        marks = ", ".join("?" * len(chosen))
        with self._transaction():
            update = f"UPDATE jobs SET state='waiting', tries=0, losses=0 WHERE state IN ({marks})"
            return self._db.execute(update, chosen).rowcount

    # ------------------------------------------------------------ results

    def counts(self) -> dict[str, int]:
        """Return how many jobs are in each state; empty states are left out."""
        with self._faults():
            rows = self._db.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall()
        return {state: count for state in STATES for name, count in rows if name == state}

    def rows(self, state: str | None = None, kind: str | None = None) -> Iterator[JobRow]:
        """Yield jobs in the order in which they were added, all or those of a state and a kind."""
        query = (
            f"SELECT {_ROW} FROM jobs WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR kind = ?2) ORDER BY number"
        )
        with self._faults():
            for key, of, spec, *rest in self._db.execute(query, (state, kind)):
                where, tries, reason, answer, figures, *last = rest
                found = json.loads(answer) if answer else {}
                yield JobRow(key, of, json.loads(spec), where, tries, reason, found, json.loads(figures), *last)

    def files(self, key: str) -> dict[str, bytes]:
        """Return the files of a job by name."""
        with self._faults():
            return dict(self._db.execute("SELECT name, data FROM files WHERE job = ? ORDER BY name", (key,)))

    def conflicts(self) -> list[tuple[str, str, str]]:
        """Return jobs that gave two answers: the key, the answer that is kept, the other."""
        with self._faults():
            return self._db.execute("SELECT job, kept, other FROM conflicts").fetchall()
