"""One SQLite connection a process: how it is opened, guarded, and how its errors read.

The rules here are scars of other memory servers: no SQLite with the WAL-reset bug, no
mmap, one way into a write transaction, no checkpoint on close, and nobody ever deletes
``-wal`` or ``-shm`` files.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from veles_core.errors import ConfigurationError, StoreError

OLDEST_SQLITE: Final = (3, 51, 3)  # 3.7.0 to 3.51.2 can corrupt a WAL shared by several writers
BUSY_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.001  # SQLite's own handler backs off to 100 ms and starves
LONG_WRITE_SECONDS: Final = 0.02  # a writer that held the lock longer lets the others in
GAP_SECONDS: Final = 0.004  # … for so long: a few polls
CACHE_KIB: Final = 8192
WAL_KEPT_BYTES: Final = 32 << 20  # what a burst of writes leaves on disk for the next one

Row = tuple[Any, ...]

_FULL: Final = (
    "the disk that holds the memory is full; nothing of this call was stored: "
    "free some space and try again"
)
_SENTENCES: Final[tuple[tuple[type[apsw.Error], str], ...]] = (
    (apsw.FullError, _FULL),
    (
        apsw.BusyError,
        f"another process kept the memory locked for over {BUSY_SECONDS:.0f} s; "
        "nothing was stored: try again, or end the process that hangs",
    ),
    (
        apsw.NotADBError,
        "the memory's database is not a SQLite file; restore a backup, or move the file away "
        "to start anew",
    ),
    (
        apsw.CorruptError,
        "the memory's database is damaged; run `veles-memory check`, export what can be read "
        "and restore a backup",
    ),
    (apsw.ReadOnlyError, "the memory is read-only; nothing was stored: make it writable"),
)


class Database:
    """A guarded connection. One thread at a time is inside; ``transaction`` keeps it there.

    ``reads`` and ``writes`` of several threads queue up at the lock. All statements must
    run inside ``reading()`` or ``transaction()``, which turn SQLite's errors into
    StoreError sentences without a path or a value.
    """

    def __init__(self, path: Path) -> None:
        check_library(apsw.sqlite_lib_version())
        self.path = path
        self._lock = threading.RLock()
        self._depth = 0
        self._failed = False
        self._waiting_since = 0.0
        self._connection = self._open(path)

    def _open(self, path: Path) -> apsw.Connection:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = apsw.Connection(str(path))
            try:
                connection.set_busy_handler(self._wait)
                # Without it, a range compared with a parameter is planned anew at each call.
                connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
                if connection.readonly("main"):
                    raise apsw.ReadOnlyError
                for pragma in (
                    "journal_mode = WAL",
                    "synchronous = FULL",
                    f"journal_size_limit = {WAL_KEPT_BYTES}",
                    "mmap_size = 0",
                    f"cache_size = -{CACHE_KIB}",
                    "temp_store = MEMORY",
                ):
                    connection.execute(f"PRAGMA {pragma}").fetchall()
            except BaseException:
                connection.close()
                raise
        except OSError as error:
            raise ConfigurationError(
                f"the memory can't be kept in {path.parent} ({error.strerror}); "
                "point VELESDB_MEMORY_PATH to a directory you can write to"
            ) from None
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError):
            raise ConfigurationError(
                f"the memory in {path.parent} can't be written; make the directory and its "
                "files writable, or point VELESDB_MEMORY_PATH elsewhere"
            ) from None
        except apsw.Error as error:
            raise _translated(error, f" ({path})") from None
        return connection

    def _wait(self, tries: int) -> bool:
        """SQLite asks whether to go on waiting for another process's lock."""
        now = time.monotonic()
        if tries == 0:
            self._waiting_since = now
        time.sleep(POLL_SECONDS)
        return now - self._waiting_since < BUSY_SECONDS

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """The only way to write: everything inside is stored, or nothing. Re-entrant."""
        with self._lock:
            if self._depth:
                if self._failed:
                    raise StoreError("an earlier write of this transaction failed; nothing of it "
                                     "is stored")  # fmt: skip
                self._depth += 1
                try:
                    with self._errors():
                        yield
                finally:
                    self._depth -= 1
                return
            with self._errors():
                self._connection.execute("BEGIN IMMEDIATE")
                started = time.monotonic()
                self._depth, self._failed = 1, False
                try:
                    yield
                    self._connection.execute("COMMIT")
                finally:
                    self._depth = 0
                    if self._open_transaction():
                        self._connection.execute("ROLLBACK")
        if time.monotonic() - started > LONG_WRITE_SECONDS:
            time.sleep(GAP_SECONDS)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All reads inside see the store at one instant; inside a transaction, that one's."""
        with self._lock, self._errors():
            if self._open_transaction():
                yield
                return
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                if self._open_transaction():
                    self._connection.execute("ROLLBACK")

    @property
    def depth(self) -> int:
        """How many transactions are open around the calling thread."""
        return self._depth

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Keep other threads out without touching the database."""
        with self._lock:
            yield

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and read all it gives."""
        return self._connection.execute(sql, bindings).fetchall()

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> Row | None:
        """The first row of a statement, or None."""
        row: Row | None = self._connection.execute(sql, bindings).fetchone()
        return row

    def scan(self, sql: str, bindings: Sequence[Any] = ()) -> Iterator[Row]:
        """Read a statement's rows one by one, for results that may be large."""
        return iter(self._connection.execute(sql, bindings))

    def run(self, sql: str, bindings: Sequence[Any] = ()) -> int:
        """Run one writing statement; how many rows it changed."""
        self._connection.execute(sql, bindings)
        return self._connection.changes()

    def run_many(self, sql: str, bindings: Iterable[Sequence[Any]]) -> int:
        """Run a writing statement once for each row of bindings; how many rows they changed."""
        before = self._connection.total_changes()
        self._connection.executemany(sql, bindings)
        return self._connection.total_changes() - before

    def compact(self) -> None:
        """Rewrite the file without free pages; writers of all processes wait meanwhile."""
        with self._lock, self._errors():
            self._connection.execute("VACUUM")

    def version(self) -> tuple[int, int]:
        """Differs whenever this or any other process has written since it was last asked."""
        row = self.row("PRAGMA data_version")
        return (row[0] if row else 0, self._connection.total_changes())

    def close(self) -> None:
        """Close the connection; SQLite keeps or folds its WAL as it sees fit. Idempotent."""
        with self._lock:
            self._connection.close()

    def _open_transaction(self) -> bool:
        return self._connection.in_transaction

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except apsw.ConnectionClosedError:
            raise StoreError("the memory is closed") from None
        except apsw.Error as error:
            self._failed = True
            raise _translated(error) from error


def check_library(version: str) -> None:
    """Refuse a SQLite library whose WAL several processes can't safely share."""
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise ConfigurationError(
            f"SQLite {version} can corrupt a store that several processes write; "
            f"at least {oldest} is needed: upgrade the package apsw"
        )


def _translated(error: apsw.Error, where: str = "") -> StoreError:
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return StoreError(sentence + where)
    return StoreError(f"the memory's database failed ({error}); nothing was stored{where}")
