"""Facts and hubs with their vectors: put, get, delete, scan, expiry."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw
import numpy as np

from veles_core.errors import StoreError
from veles_core.ledger import edges, fields, state
from veles_core.ledger.connect import Database, Row
from veles_core.ledger.ids import signed, unsigned, unsigned_array
from veles_core.records import Fact, FactRecord

if TYPE_CHECKING:
    from veles_core.protocols import Ids

VISIBLE = "(facts.expires_at IS NULL OR facts.expires_at > ?)"
_COLUMNS = "facts.id, content, metadata, confidence, expires_at, hub"


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A fact as its row will hold it."""

    id: int
    content: str
    metadata: str
    confidence: float
    expires_at: float | None
    hub: bool
    vector: bytes | None
    fields: frozenset[fields.Field]


@dataclass(frozen=True, slots=True)
class _Stored:
    """What an earlier row of the same id says."""

    content: str
    fields: frozenset[fields.Field]
    expires_at: float | None
    hub: bool
    changed: int
    vector: bytes | None


def put(db: Database, records: Sequence[FactRecord], now: float) -> None:
    """Insert or replace facts. One that had expired starts anew, without its old edges."""
    encoded = sorted({r.fact.id: _encode(r) for r in records}.values(), key=lambda fact: fact.id)
    if not encoded:
        return
    with db.transaction():
        for length in {len(fact.vector) for fact in encoded if fact.vector is not None}:
            state.admit_dimension(db, length // 4)
        change = state.advance(db, len(encoded))
        added = 0
        for fact in encoded:
            stored = _stored(db, fact.id)
            if stored is not None and stored.expires_at is not None and stored.expires_at <= now:
                edges.detach(db, fact.id)
            added += (not fact.hub) - (stored is not None and not stored.hub)
            _write(db, fact, stored, change)
            change += 1
        state.count(db, facts=added)


def _encode(record: FactRecord) -> _Encoded:
    fact = record.fact
    vector = None
    if record.vector is not None:
        if not np.isfinite(record.vector).all():
            raise StoreError("a vector holds NaN or infinity; nothing was stored")
        vector = np.ascontiguousarray(record.vector, dtype="<f4").tobytes()
    return _Encoded(
        signed(fact.id),
        fact.content,
        json.dumps(dict(fact.metadata), ensure_ascii=False, allow_nan=False, separators=(",", ":")),
        float(fact.confidence),
        fact.expires_at,
        fact.kind == "entity",
        vector,
        fields.of(fact.metadata),
    )


def _stored(db: Database, id: int) -> _Stored | None:
    row = db.row(
        "SELECT content, metadata, expires_at, hub, changed, vector FROM facts"
        " LEFT JOIN vectors ON fact_id = id WHERE id = ?",
        (id,),
    )
    if row is None:
        return None
    content, metadata, expires_at, hub, changed, vector = row
    return _Stored(content, fields.of(json.loads(metadata)), expires_at, bool(hub), changed, vector)


def _write(db: Database, fact: _Encoded, stored: _Stored | None, change: int) -> None:
    if stored is not None and (
        (stored.content, stored.expires_at, stored.hub, stored.vector)
        == (fact.content, fact.expires_at, fact.hub, fact.vector)
    ):
        change = stored.changed  # the indexes see no difference
    db.run(
        "INSERT OR REPLACE INTO facts(id, content, metadata, confidence, expires_at, hub, changed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (fact.id, fact.content, fact.metadata, fact.confidence, fact.expires_at, fact.hub, change),
    )
    fields.replace(db, fact.id, stored.fields if stored else frozenset(), fact.fields)
    if fact.vector is not None:
        if stored is None or stored.vector != fact.vector:
            db.run("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (fact.id, fact.vector))
    elif stored is not None and stored.vector is not None:
        db.run("DELETE FROM vectors WHERE fact_id = ?", (fact.id,))


def get(db: Database, ids: Sequence[int], now: float) -> list[Fact]:
    """The visible ones, in the order asked."""
    return [_fact(row) for row in _rows(db, ids, now, _COLUMNS, "")]


def get_records(db: Database, ids: Sequence[int], now: float) -> list[FactRecord]:
    """As ``get``, with vectors."""
    join = " LEFT JOIN vectors ON fact_id = facts.id"
    return [
        FactRecord(_fact(row[:-1]), None if row[-1] is None else np.frombuffer(row[-1], "<f4"))
        for row in _rows(db, ids, now, _COLUMNS + ", vector", join)
    ]


def _rows(db: Database, ids: Sequence[int], now: float, columns: str, join: str) -> Iterable[Row]:
    if len(ids) == 1:  # a plain look-up is three times as fast
        return db.rows(
            f"SELECT {columns} FROM facts{join} WHERE facts.id = ? AND {VISIBLE}",
            (signed(ids[0]), now),
        )
    keys = np.fromiter(map(signed, ids), np.int64, len(ids))
    # The join keeps the order of the array, and repeats what it repeats.
    return db.rows(
        f"SELECT {columns} FROM carray(?) AS asked CROSS JOIN facts ON facts.id = asked.value"
        f"{join} WHERE {VISIBLE}",
        (apsw.carray(keys), now),
    )


def _fact(row: Row) -> Fact:
    id, content, metadata, confidence, expires_at, hub = row
    return Fact(
        unsigned(id),
        content,
        {} if metadata == "{}" else json.loads(metadata),
        confidence,
        expires_at,
        "entity" if hub else "fact",
    )


def set_confidence(db: Database, id: int, confidence: float, now: float) -> bool:
    """Set a visible fact's confidence; the indexes don't care."""
    with db.transaction():
        return bool(
            db.run(
                f"UPDATE facts SET confidence = ? WHERE id = ? AND {VISIBLE}",
                (float(confidence), signed(id), now),
            )
        )


def delete(db: Database, ids: Iterable[int], now: float) -> int:
    """Delete facts and hubs with their vectors, fields and edges; how many were visible."""
    with db.transaction():
        return sum(_delete(db, signed(id), now) for id in dict.fromkeys(ids))


def _delete(db: Database, id: int, now: float) -> bool:
    stored = _stored(db, id)
    if stored is None:
        return False
    edges.detach(db, id)
    fields.replace(db, id, stored.fields, frozenset())
    db.run("DELETE FROM vectors WHERE fact_id = ?", (id,))
    db.run("DELETE FROM facts WHERE id = ?", (id,))
    if not stored.hub:
        sequence = state.advance(db, 1)
        state.count(db, facts=-1)
        db.run("INSERT INTO tombstones(sequence, id) VALUES (?, ?)", (sequence, id))
        db.run("DELETE FROM tombstones WHERE sequence <= ?", (sequence - state.HISTORY,))
    return stored.expires_at is None or stored.expires_at > now


def reclaim(db: Database, limit: int, now: float) -> int:
    """Delete up to ``limit`` expired facts and hubs; how many."""
    rows = db.rows("SELECT id FROM facts WHERE expires_at <= ? LIMIT ?", (now, limit))
    if rows:
        delete(db, (unsigned(id) for (id,) in rows), now)
    return len(rows)


def scan(db: Database, after: int | None, limit: int, now: float, internal: bool) -> list[Fact]:
    """Visible facts above an id, ascending."""
    kinds = "" if internal else " AND hub = 0"
    bound = -1 if after is None else after
    rows = db.rows(
        f"SELECT {_COLUMNS} FROM facts WHERE id >= ? AND {VISIBLE}{kinds} ORDER BY id LIMIT ?",
        (signed(bound + 1), now, limit),
    ) if bound < 2**64 - 1 else []  # fmt: skip
    return [_fact(row) for row in rows]


def expired(db: Database, now: float) -> "Ids":
    """Ids of facts that have expired and wait to be reclaimed, ascending."""
    found = unsigned_array(
        db.scan("SELECT id FROM facts WHERE expires_at <= ? AND hub = 0", (now,))
    )
    found.sort()
    return found


def count_expired(db: Database, now: float) -> int:
    """How many of the counted facts have expired."""
    row = db.row("SELECT count(*) FROM facts WHERE expires_at <= ? AND hub = 0", (now,))
    return row[0] if row else 0
