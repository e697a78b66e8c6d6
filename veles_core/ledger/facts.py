"""Facts and hubs with their vectors: put, get, delete, scan, expiry."""

import itertools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw
import numpy as np

from veles_core.errors import StoreError
from veles_core.ledger import changes, edges, fields, state
from veles_core.ledger.connect import Database, Row
from veles_core.ledger.ids import OFFSET, signed, unsigned, unsigned_array
from veles_core.limits import MAX_ID
from veles_core.records import Fact, FactRecord

if TYPE_CHECKING:
    from veles_core.protocols import Ids

VECTOR_ITEM: Final = "<f4"
VECTOR_ITEM_BYTES: Final = 4

VISIBLE: Final = "(facts.expires_at IS NULL OR facts.expires_at > ?)"
_COLUMNS: Final = "facts.id, content, metadata, confidence, expires_at, hub"

_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class _Row(NamedTuple):
    """A fact as the ledger holds it: its row, its fields, its vector's bytes and its key."""

    id: int
    content: str
    metadata: str
    confidence: float
    expires_at: float | None
    hub: bool
    fields: frozenset[fields.Field]
    vector: bytes | None
    changed: int

    def expired(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def looks_like(self, other: "_Row | None") -> bool:
        """Whether the derived indexes see no difference."""
        return (
            other is not None
            and self.content == other.content
            and self.expires_at == other.expires_at
            and self.hub == other.hub
            and self.vector == other.vector
        )


def put(db: Database, records: Sequence[FactRecord], now: float) -> None:
    """Insert or replace facts. One that had expired starts anew, without its old edges."""
    fresh = {row.id: row for row in map(_encode, records)}  # the last of one id stays
    if not fresh:
        return
    with db.transaction():
        for length in {len(row.vector) for row in fresh.values() if row.vector is not None}:
            state.admit_dimension(db, length // VECTOR_ITEM_BYTES)
        stored = _stored(db, fresh)
        for old in stored.values():
            if old.expired(now):
                edges.detach(db, old.id)
        _write(db, sorted(fresh.values()), stored)  # neighbours share a page


def _encode(record: FactRecord) -> _Row:
    fact = record.fact
    vector = None
    if record.vector is not None:
        array = np.ascontiguousarray(record.vector, dtype=VECTOR_ITEM)
        if not np.isfinite(array).all():
            raise StoreError("a vector holds NaN or infinity; nothing was stored")
        vector = array.tobytes()
    return _Row(
        fact.id - OFFSET,
        fact.content,
        _to_json(dict(fact.metadata)),
        float(fact.confidence),
        fact.expires_at,
        fact.kind == "entity",
        fields.of(fact.metadata, fact.kind == "entity"),
        vector,
        changed=0,
    )


def _stored(db: Database, ids: Collection[int]) -> dict[int, _Row]:
    """What the ledger holds of these ids, by id, expired or not."""
    if not ids:
        return {}
    found = db.rows(
        f"SELECT {_COLUMNS}, vector, facts.changed FROM carray(?) AS asked"
        " CROSS JOIN facts ON facts.id = asked.value LEFT JOIN vectors USING (changed)",
        (_carray(ids),),
    )
    return {
        id: _Row(
            id,
            content,
            metadata,
            confidence,
            expires_at,
            bool(hub),
            fields.of(json.loads(metadata), bool(hub)),
            vector,
            changed,
        )
        for id, content, metadata, confidence, expires_at, hub, vector, changed in found
    }


def _write(db: Database, fresh: Collection[_Row], stored: Mapping[int, _Row]) -> None:
    """Bring rows, fields, vectors, sequence and counter from ``stored`` to ``fresh``."""
    sequence = itertools.count(
        state.advance(db, sum(not row.looks_like(stored.get(row.id)) for row in fresh))
    )
    facts_: list[tuple[Any, ...]] = []
    vectors: list[tuple[int, bytes]] = []
    left: list[tuple[int]] = []  # keys that changed facts leave behind
    for row in fresh:
        old = stored.get(row.id)
        if old is not None and row.looks_like(old):
            changed = old.changed
        else:
            changed = next(sequence)
            if old is not None:
                left.append((old.changed,))
            if row.vector is not None:
                vectors.append((changed, row.vector))
        facts_.append((changed, *row[:6]))
    db.run_many("DELETE FROM vectors WHERE changed = ?", left)
    db.run_many(
        "INSERT OR REPLACE INTO"
        " facts(changed, id, content, metadata, confidence, expires_at, hub)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        facts_,
    )
    db.run_many("INSERT INTO vectors(changed, vector) VALUES (?, ?)", vectors)
    none = frozenset[fields.Field]()
    fields.replace(
        db,
        [
            (row.id, stored[row.id].fields if row.id in stored else none, row.fields)
            for row in fresh
        ],
    )
    state.count(
        db,
        facts=sum(not row.hub for row in fresh) - sum(not row.hub for row in stored.values()),
    )


def get(db: Database, ids: Sequence[int], now: float) -> list[Fact]:
    """The visible ones, in the order asked."""
    return _facts(_rows(db, ids, now, _COLUMNS, ""))


def get_records(db: Database, ids: Sequence[int], now: float) -> list[FactRecord]:
    """As ``get``, with vectors."""
    rows = _rows(db, ids, now, _COLUMNS + ", vector", " LEFT JOIN vectors USING (changed)")
    vectors = (
        None if vector is None else np.frombuffer(vector, VECTOR_ITEM) for *_, vector in rows
    )
    return list(map(FactRecord, _facts([row[:-1] for row in rows]), vectors))


def _rows(db: Database, ids: Sequence[int], now: float, columns: str, join: str) -> list[Row]:
    if not ids:  # SQLite takes no empty array
        return []
    # The join keeps the order of the array, and repeats what it repeats.
    return db.rows(
        f"SELECT {columns} FROM carray(?) AS asked CROSS JOIN facts ON facts.id = asked.value"
        f"{join} WHERE {VISIBLE}",
        (_carray(list(map(signed, ids))), now),
    )


def _carray(ids: Collection[int]) -> Any:
    return apsw.carray(np.fromiter(ids, np.int64, len(ids)))


def _facts(rows: Sequence[Row]) -> list[Fact]:
    # One array to parse is several times as fast as an object each.
    metadata = json.loads(f"[{','.join(row[2] for row in rows)}]")
    return [
        Fact(unsigned(id), content, own, confidence, expires_at, "entity" if hub else "fact")
        for (id, content, _, confidence, expires_at, hub), own in zip(rows, metadata, strict=True)
    ]


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
        stored = _stored(db, {signed(id) for id in ids})
        for id in stored:
            edges.detach(db, id)
        keys = [(row.changed,) for row in stored.values()]
        db.run_many("DELETE FROM facts WHERE changed = ?", keys)
        db.run_many("DELETE FROM vectors WHERE changed = ?", keys)
        fields.replace(db, [(row.id, row.fields, frozenset()) for row in stored.values()])
        changes.bury(db, [row.id for row in stored.values() if not row.hub])
        state.count(db, facts=-sum(not row.hub for row in stored.values()))
        return sum(not row.expired(now) for row in stored.values())


def reclaim(db: Database, limit: int, now: float) -> int:
    """Delete up to ``limit`` expired facts and hubs; how many."""
    rows = db.rows("SELECT id FROM facts WHERE expires_at <= ? LIMIT ?", (now, limit))
    if rows:
        delete(db, (unsigned(id) for (id,) in rows), now)
    return len(rows)


def scan(db: Database, after: int | None, limit: int, now: float, internal: bool) -> list[Fact]:
    """Visible facts above an id, ascending."""
    if after == MAX_ID:
        return []
    kinds = "" if internal else " AND hub = 0"
    first = 0 if after is None else after + 1
    return _facts(
        db.rows(
            f"SELECT {_COLUMNS} FROM facts WHERE id >= ? AND {VISIBLE}{kinds} ORDER BY id LIMIT ?",
            (signed(first), now, limit),
        )
    )


def expired(db: Database, now: float) -> "Ids":
    """Ids of facts and hubs that have expired and wait to be reclaimed, ascending."""
    found = unsigned_array(db.scan("SELECT id FROM facts WHERE expires_at <= ?", (now,)))
    found.sort()
    return found


def count_expired(db: Database, now: float) -> int:
    """How many of the counted facts have expired."""
    row = db.row("SELECT count(*) FROM facts WHERE expires_at <= ? AND hub = 0", (now,))
    return row[0] if row else 0
