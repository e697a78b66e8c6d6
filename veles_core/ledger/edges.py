"""Edges: both their ends are always stored, so an edge is visible while its ends are."""

from collections.abc import Iterable, Sequence
from typing import Final

from veles_core.ledger import state
from veles_core.ledger.connect import Database
from veles_core.ledger.ids import signed, unsigned
from veles_core.records import ABOUT, MENTIONS, Edge

_ENDS_VISIBLE: Final = (
    " EXISTS (SELECT 1 FROM facts WHERE id = source AND (expires_at IS NULL OR expires_at > ?))"
    " AND EXISTS (SELECT 1 FROM facts WHERE id = target AND (expires_at IS NULL OR expires_at > ?))"
)
_PUT: Final = (
    "INSERT OR IGNORE INTO edges(id, source, relation, target, scaffold) VALUES (?, ?, ?, ?, ?)"
)
_KIND: Final = "SELECT hub FROM facts WHERE id = ? AND (expires_at IS NULL OR expires_at > ?)"


def put(db: Database, edges: Iterable[Edge], now: float) -> None:
    """Insert edges between visible facts; others would never be seen and are left out."""
    with db.transaction():
        kinds: dict[int, int | None] = {}  # of each end: a hub, a fact, or nothing visible
        rows = []
        for edge in edges:
            ends = signed(edge.source), signed(edge.target)
            for end in ends:
                if end not in kinds:
                    row = db.row(_KIND, (end, now))
                    kinds[end] = row[0] if row else None
            source, target = kinds[ends[0]], kinds[ends[1]]
            if source is not None and target is not None:
                scaffold = _is_scaffold(edge.relation, bool(source), bool(target))
                rows.append((signed(edge.id), ends[0], edge.relation, ends[1], scaffold))
        state.count(db, edges=db.run_many(_PUT, rows))


def _is_scaffold(relation: str, from_hub: bool, to_hub: bool) -> bool:
    """Whether an edge links a fact with an entity that it is about."""
    if from_hub:
        return relation == MENTIONS and not to_hub
    return relation == ABOUT and to_hub


def delete(db: Database, ids: Iterable[int], now: float) -> int:
    """Delete edges; how many were visible."""
    with db.transaction():
        visible = removed = 0
        for id in map(signed, dict.fromkeys(ids)):
            row = db.row(f"SELECT 1 FROM edges WHERE id = ? AND {_ENDS_VISIBLE}", (id, now, now))
            visible += row is not None
            removed += db.run("DELETE FROM edges WHERE id = ?", (id,))
        state.count(db, edges=-removed)
        return visible


def detach(db: Database, fact_id: int) -> None:
    """Delete all edges of a fact; takes the stored form of its id."""
    removed = db.run("DELETE FROM edges WHERE source = ?", (fact_id,))
    removed += db.run("DELETE FROM edges WHERE target = ?", (fact_id,))
    state.count(db, edges=-removed)


def outgoing(db: Database, sources: Sequence[int], limit: int, now: float) -> list[Edge]:
    """Visible edges leaving each source, at most ``limit`` each, by id."""
    return _of(db, "source", sources, limit, now)


def incoming(db: Database, targets: Sequence[int], limit: int, now: float) -> list[Edge]:
    """Visible edges entering each target, at most ``limit`` each, by id."""
    return _of(db, "target", targets, limit, now)


def of_entity(db: Database, hub: int, incoming: bool, limit: int, now: float) -> list[Edge]:
    """Visible edges of a hub in one direction that are not scaffold, by id."""
    end = "target" if incoming else "source"
    return _of(db, f"NOT scaffold AND {end}", [hub], limit, now)


def _of(db: Database, end: str, ids: Sequence[int], limit: int, now: float) -> list[Edge]:
    sql = (
        f"SELECT id, source, relation, target FROM edges WHERE {end} = ? AND {_ENDS_VISIBLE}"
        " ORDER BY id LIMIT ?"
    )
    return [
        Edge(unsigned(edge), unsigned(source), relation, unsigned(target))
        for id in ids
        for edge, source, relation, target in db.rows(sql, (signed(id), now, now, limit))
    ]


def count_expired(db: Database, now: float) -> int:
    """How many of the counted edges have an expired end."""
    row = db.row(
        "SELECT count(*) FROM (SELECT edges.id FROM facts CROSS JOIN edges ON source = facts.id"
        " WHERE expires_at <= ?1 UNION SELECT edges.id FROM facts CROSS JOIN edges"
        " ON target = facts.id WHERE expires_at <= ?1)",
        (now,),
    )
    return row[0] if row else 0
