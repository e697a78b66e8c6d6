"""Documents: bytes under a namespace and a key, with an optional expiry."""

from collections.abc import Iterable
from typing import Final

from veles_core.ledger.connect import Database
from veles_core.records import Document

_VISIBLE: Final = "(expires_at IS NULL OR expires_at > ?)"


def put(db: Database, namespace: str, documents: Iterable[Document]) -> None:
    """Insert or replace documents."""
    with db.transaction():
        db.run_many(
            "INSERT INTO documents(namespace, key, value, expires_at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT(namespace, key)"
            " DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at",
            [(namespace, d.key, d.value, d.expires_at) for d in documents],
        )


def get(db: Database, namespace: str, keys: Iterable[str], now: float) -> dict[str, Document]:
    """The visible ones of these, by key."""
    sql = (
        "SELECT key, value, expires_at FROM documents"
        f" WHERE namespace = ? AND key = ? AND {_VISIBLE}"
    )
    found = (db.row(sql, (namespace, key, now)) for key in keys)
    return {row[0]: Document(*row) for row in found if row is not None}


def delete(db: Database, namespace: str, keys: Iterable[str], now: float) -> int:
    """Delete documents; how many were visible."""
    with db.transaction():
        visible = len(get(db, namespace, keys := list(keys), now))
        db.run_many(
            "DELETE FROM documents WHERE namespace = ? AND key = ?",
            [(namespace, key) for key in keys],
        )
        return visible


def scan(db: Database, namespace: str, after: str | None, limit: int, now: float) -> list[Document]:
    """Visible documents above a key, by key."""
    rows = db.rows(
        "SELECT key, value, expires_at FROM documents"
        f" WHERE namespace = ?1 AND (?2 IS NULL OR key > ?2) AND {_VISIBLE.replace('?', '?3')}"
        " ORDER BY key LIMIT ?4",
        (namespace, after, now, limit),
    )
    return [Document(*row) for row in rows]


def namespaces(db: Database, now: float) -> list[str]:
    """The namespaces with a visible document; one look-up each, however many documents."""
    found: list[str] = []
    row = db.row("SELECT min(namespace) FROM documents")
    while row is not None and row[0] is not None:
        (name,) = row
        if db.rows(
            f"SELECT 1 FROM documents WHERE namespace = ? AND {_VISIBLE} LIMIT 1", (name, now)
        ):
            found.append(name)
        row = db.row("SELECT min(namespace) FROM documents WHERE namespace > ?", (name,))
    return found


def reclaim(db: Database, limit: int, now: float) -> int:
    """Delete up to ``limit`` expired documents; how many."""
    rows = db.rows("SELECT rowid FROM documents WHERE expires_at <= ? LIMIT ?", (now, limit))
    db.run_many("DELETE FROM documents WHERE rowid = ?", rows)
    return len(rows)
