"""Connections to one epoch of one database: a pool, transactions, claims, typed failures."""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from hashlib import blake2b
from typing import Any, Final

import psycopg
from pgvector.psycopg import register_vector
from psycopg_pool import ConnectionPool, PoolTimeout

from veles_core.errors import BackendUnavailable, StoreError
from veles_core.settings import mask_url
from veles_plugins.store_postgres import schema

Connection = psycopg.Connection[Any]

CONNECT_SECONDS: Final = 10  # a database that is away is an error after this
POOL_SIZE: Final = 8  # connections of one process; more threads wait for each other
# A claim must end soon after its machine has vanished without a word: 2 + 3 × 1 seconds.
DEATH_WATCH: Final = (
    "-c tcp_keepalives_idle=2 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3"
)


class Database:
    """Opened lazily: nothing is contacted before the first use, and each use tries again."""

    def __init__(self, url: str, epoch: str) -> None:
        self._url = url
        self._schema = f"veles_{epoch}"
        self._local = threading.local()  # the connection of this thread's open transaction
        self._opening = threading.Lock()
        self._pool: ConnectionPool[Connection] | None = None
        self._alone: Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for queries; inside a transaction, that transaction's."""
        held: Connection | None = getattr(self._local, "connection", None)
        if held is not None:
            with self._typed_failures():
                yield held
            return
        with self._typed_failures(), self._ready().connection() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that no other writer of the epoch overlaps. Re-entrant."""
        if getattr(self._local, "connection", None) is None:
            with self._transaction() as connection:
                yield connection
        else:
            with self.reading() as connection:
                yield connection

    def claim(self, duty: str) -> AbstractContextManager[None] | None:
        """A lock that the server frees when its connection ends, however it ends."""
        with self._typed_failures(), ExitStack() as undo:
            self._ready()
            connection = undo.enter_context(self._connect(options=DEATH_WATCH))
            row = connection.execute(
                "SELECT pg_try_advisory_lock(%s)", [self._lock(f"duty {duty}")]
            ).fetchone()
            if row is None or not row[0]:
                return None
            # The end of a connection reaches the server some time after close() has returned.
            undo.callback(_unlock, connection)
            kept = undo.pop_all()
        return _closing(kept)

    def run_alone(self, *statements: str) -> None:
        """Run statements outside of any transaction, on a connection of their own."""
        with self._typed_failures(), self._connect() as connection:
            self._alone = connection
            schema.use(connection, self._schema)
            for statement in statements:
                connection.execute(statement)

    def cancel(self) -> None:
        """Break off what ``run_alone`` is running, if it is."""
        if self._alone is not None and not self._alone.closed:
            self._alone.cancel_safe(timeout=CONNECT_SECONDS)

    def drop(self) -> None:
        """Close, and remove the epoch's schema with everything in it."""
        self.close()
        self.run_alone(f'DROP SCHEMA IF EXISTS "{self._schema}" CASCADE')

    def close(self) -> None:
        """Close the pool; idempotent."""
        with self._opening:
            if self._pool is not None:
                self._pool.close()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with (
            self._typed_failures(),
            self._ready().connection() as connection,
            connection.transaction(),
        ):
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [self._lock("writers")])
            self._local.connection = connection
            try:
                yield connection
            finally:
                self._local.connection = None

    def _ready(self) -> "ConnectionPool[Connection]":
        """The pool, after the schema has been brought up to date once."""
        with self._opening:
            if self._pool is None:
                self._prepare()
                self._pool = ConnectionPool(
                    self._url,
                    kwargs={"autocommit": True, "connect_timeout": CONNECT_SECONDS},
                    min_size=1,
                    max_size=POOL_SIZE,
                    timeout=CONNECT_SECONDS,
                    configure=self._configure,
                    check=ConnectionPool.check_connection,
                    open=True,
                )
            return self._pool

    def _prepare(self) -> None:
        with self._connect() as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", [self._lock("schema")])
            schema.prepare(connection, self._schema)

    def _configure(self, connection: Connection) -> None:
        schema.use(connection, self._schema)
        register_vector(connection)

    def _connect(self, **options: Any) -> Connection:
        return psycopg.connect(
            self._url, autocommit=True, connect_timeout=CONNECT_SECONDS, **options
        )

    def _lock(self, purpose: str) -> int:
        """A 64-bit number for an advisory lock of this epoch."""
        digest = blake2b(f"{self._schema}\0{purpose}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)

    @contextmanager
    def _typed_failures(self) -> Iterator[None]:
        """Turn the driver's errors into ours, without the password that a URL may hold."""
        try:
            yield
        except (psycopg.OperationalError, PoolTimeout) as error:
            raise BackendUnavailable(
                f"PostgreSQL at {mask_url(self._url)} did not answer or broke off: "
                f"{_first_line(error)}; trying again may help"
            ) from error
        except psycopg.Error as error:
            raise StoreError(f"PostgreSQL refused: {_first_line(error)}") from error


@contextmanager
def _closing(kept: ExitStack) -> Iterator[None]:
    with kept:
        yield


def _unlock(connection: Connection) -> None:
    with suppress(psycopg.Error):  # a connection that is gone has freed its locks already
        connection.execute("SELECT pg_advisory_unlock_all()")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
