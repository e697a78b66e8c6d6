"""The tables, as append-only named migrations, each in one transaction with its own record."""

from collections.abc import Callable
from typing import Final

from veles_core.errors import ConfigurationError
from veles_core.ledger.connect import Database


def migrate(db: Database) -> None:
    """Bring the ledger to this version's schema; refuse one that a newer version wrote."""
    with db.reading():
        applied = _applied(db)
    unknown = applied - MIGRATIONS.keys()
    if unknown:
        raise ConfigurationError(
            f"the memory was written by a newer version of this program (its schema has "
            f"{', '.join(sorted(unknown))}); upgrade veles-memory to open it"
        )
    for name, migration in MIGRATIONS.items():
        if name in applied:
            continue
        with db.transaction():
            if name not in _applied(db):  # another process may have been here first
                migration(db)
                db.run("INSERT INTO migrations(name) VALUES (?)", (name,))


def _applied(db: Database) -> set[str]:
    if not db.rows("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'"):
        return set()
    return {name for (name,) in db.rows("SELECT name FROM migrations")}


def _initial(db: Database) -> None:
    """Ids are stored minus 2^63, which keeps the unsigned order in SQLite's signed integers.

    A fact's key is ``changed``, the sequence of its last change that derived indexes must
    follow: facts and vectors are appended however random their ids, and what changed since
    a position is one range. ``state`` holds one row: counters, the sequence, the last deletion
    whose tombstone was dropped, and what filled the store.
    """
    for statement in (
        "CREATE TABLE migrations(name TEXT PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE state(one INTEGER PRIMARY KEY CHECK (one = 1), token TEXT NOT NULL,"
        " sequence INTEGER NOT NULL, forgotten INTEGER NOT NULL DEFAULT 0,"
        " facts INTEGER NOT NULL, edges INTEGER NOT NULL,"
        " dimension INTEGER, model TEXT, semantic INTEGER)",
        "INSERT INTO state(one, token, sequence, facts, edges)"
        " VALUES (1, lower(hex(randomblob(8))), 0, 0, 0)",
        "CREATE TABLE facts(changed INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE,"
        " content TEXT NOT NULL, metadata TEXT NOT NULL, confidence REAL NOT NULL,"
        " expires_at REAL, hub INTEGER NOT NULL)",
        "CREATE INDEX facts_expiry ON facts(expires_at, hub) WHERE expires_at IS NOT NULL",
        "CREATE TABLE vectors(changed INTEGER PRIMARY KEY, vector BLOB NOT NULL)",
        "CREATE TABLE fields(field TEXT, hub INTEGER, value BLOB, fact_id INTEGER,"
        " PRIMARY KEY(field, hub, value, fact_id)) WITHOUT ROWID",
        "CREATE TABLE edges(id INTEGER PRIMARY KEY, source INTEGER NOT NULL,"
        " target INTEGER NOT NULL, relation TEXT NOT NULL, scaffold INTEGER NOT NULL)",
        "CREATE INDEX edges_source ON edges(source, id)",
        "CREATE INDEX edges_target ON edges(target, id)",
        "CREATE INDEX edges_leaving ON edges(source, id) WHERE NOT scaffold",
        "CREATE INDEX edges_entering ON edges(target, id) WHERE NOT scaffold",
        "CREATE TABLE documents(namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,"
        " expires_at REAL)",
        "CREATE UNIQUE INDEX documents_key ON documents(namespace, key)",
        "CREATE INDEX documents_expiry ON documents(expires_at) WHERE expires_at IS NOT NULL",
        "CREATE TABLE tombstones(sequence INTEGER, id INTEGER,"
        " PRIMARY KEY(sequence, id)) WITHOUT ROWID",
    ):
        db.run(statement)


MIGRATIONS: Final[dict[str, Callable[[Database], None]]] = {"initial": _initial}
